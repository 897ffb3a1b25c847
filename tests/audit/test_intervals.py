"""Coverage of the intervals: exact sums for Clopper–Pearson, simulation for the anytime kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from flagstone.audit import anytime_interval, clopper_pearson
from flagstone.audit.intervals import log_evidence
from flagstone.errors import InputError


def coins(ones, n):
    return [1] * int(ones) + [0] * int(n - ones)


@pytest.mark.parametrize("n", [1, 7, 30])
@pytest.mark.parametrize("p", [0.0, 0.01, 0.2, 0.5, 0.97, 1.0])
def test_clopper_pearson_covers_exactly(n, p):
    """The probability of covering p, summed over all outcomes."""
    covered = math.fsum(
        binom.pmf(k, n, p)
        for k in range(n + 1)
        if clopper_pearson(k, n, 0.9)[0] <= p <= clopper_pearson(k, n, 0.9)[1]
    )
    assert covered >= 0.9


def test_clopper_pearson_is_not_valid_under_optional_stopping_but_the_anytime_interval_is():
    """Looking after every pair until the claim looks false: what verdicts must survive."""
    rng = np.random.RandomState(3)
    runs, longest, p = 300, 400, 0.3
    looks = range(5, longest, 5)
    # The limits that would reject p, once for each number of pairs.
    fixed = {n: binom.ppf(0.975, n, p) for n in looks}
    excluded = {"fixed": 0, "anytime": 0}
    for _ in range(runs):
        wrong = np.cumsum(rng.random_sample(longest) < p)
        for name, rejects in (
            ("fixed", lambda n, s: s > fixed[n]),
            ("anytime", lambda n, s: log_evidence(coins(s, n), p) >= math.log(20) and s > n * p),
        ):
            excluded[name] += any(rejects(n, float(wrong[n - 1])) for n in looks)
    assert excluded["fixed"] / runs > 0.12  # far above the 2.5 % it promises for one look
    assert excluded["anytime"] / runs <= 0.05


SPREADS = {
    "binary": (0.2, lambda rng, n: (rng.random_sample(n) < 0.2).astype(float)),
    "steady": (0.2, lambda rng, n: 0.2 + 0.1 * rng.uniform(-1, 1, n)),
    "skewed": (0.1, lambda rng, n: rng.beta(0.3, 2.7, n)),
    "rare": (0.02, lambda rng, n: 0.5 * (rng.random_sample(n) < 0.04)),
    "high": (0.97, lambda rng, n: 1.0 - rng.beta(0.3, 9.7, n)),
}


@pytest.mark.parametrize("spread", SPREADS)
def test_betting_covers_over_whole_paths(spread):
    """Ville: the true mean is excluded at *any* of the looks with probability at most 5 %."""
    rng = np.random.RandomState(17)
    mean, draw = SPREADS[spread]
    runs, longest = 250, 120
    missed = 0
    for _ in range(runs):
        z = draw(rng, longest)
        missed += any(
            log_evidence(z[:n], mean) >= math.log(20)
            for n in (1, 2, 3, 5, 8, *range(10, longest + 1, 10))
        )
    # Binomial(250, 0.05) exceeds 26 with probability below 1e-3.
    assert missed <= 26


@pytest.mark.parametrize("p", [0.01, 0.3, 0.9])
def test_every_bet_is_fair(p):
    """The mean of the e-value of one and of two values is 1, for laws of mean p."""
    for law in ({0.0: 1 - p, 1.0: p}, {p: 1.0}, {p / 2: 0.5, min(1.5 * p, 1.0): 0.5}):
        mean = sum(z * w for z, w in law.items())
        one = sum(w * math.exp(log_evidence([z], mean)) for z, w in law.items())
        two = sum(
            v * w * math.exp(log_evidence([y, z], mean))
            for y, v in law.items()
            for z, w in law.items()
        )
        assert one == pytest.approx(1, rel=1e-9)
        assert two == pytest.approx(1, rel=1e-9)


def mixture(ones, n, p):
    """The log e-value of coins by Krichevsky and Trofimov, in closed form."""
    zeros = n - ones
    beta = math.lgamma(ones + 0.5) + math.lgamma(zeros + 0.5) - math.lgamma(n + 1)
    return beta - math.log(math.pi) - ones * math.log(p) - zeros * math.log1p(-p)


@pytest.mark.parametrize(("ones", "n"), [(0, 30), (3, 40), (100, 200), (7, 2000)])
def test_for_coins_it_is_the_mixture_of_krichevsky_and_trofimov(ones, n):
    low, high = anytime_interval(coins(ones, n))
    for end, inwards in ((low, 2e-4), (high, -2e-4)):
        if 0 < end < 1:
            assert mixture(ones, n, end - inwards) > math.log(20) > mixture(ones, n, end + inwards)


@settings(max_examples=40, deadline=None)
@given(z=st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_the_interval_is_where_the_evidence_is_small(z):
    low, high = anytime_interval(z)
    assert 0 <= low <= np.mean(z) + 1e-12
    assert np.mean(z) - 1e-12 <= high <= 1
    for p in (low - 1e-6, high + 1e-6):
        if 0 < p < 1:
            assert log_evidence(z, p) >= math.log(20)


@pytest.mark.parametrize("n", [40, 200, 1000])
def test_values_that_vary_little_give_much_narrower_intervals(n):
    z = np.random.RandomState(n).beta(2, 28, n)
    low, high = anytime_interval(z)
    plain = anytime_interval(coins(round(z.sum()), n))
    assert 1.7 * (high - low) < plain[1] - plain[0]
    if n >= 200:
        assert 3 * (high - low) < plain[1] - plain[0]


def test_values_outside_the_unit_interval_are_refused():
    for bad in ([0.5, 1.1], [-0.1], [math.nan]):
        with pytest.raises(InputError, match=r"\[0, 1\]"):
            anytime_interval(bad)


def test_no_data_says_nothing():
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert anytime_interval([]) == (0.0, 1.0)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(InputError, match="confidence"):
        clopper_pearson(1, 2, confidence)
    with pytest.raises(InputError, match="confidence"):
        anytime_interval([0.5], confidence)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_clopper_pearson_is_that_of_scipy(confidence):
    for n in (1, 2, 25):
        for k in range(n + 1):
            theirs = binomtest(k, n).proportion_ci(confidence, method="exact")
            assert clopper_pearson(k, n, confidence) == pytest.approx(tuple(theirs), abs=1e-9)


@pytest.mark.parametrize("successes", [-1, 11])
def test_successes_are_among_the_trials(successes):
    with pytest.raises(InputError, match=rf"successes must lie in 0\.\.10, got {successes}"):
        clopper_pearson(successes, 10)


def test_evidence_at_the_ends_of_the_unit_interval():
    """A rate of 0 is impossible after a one, and as good as any other without."""
    never = math.prod((i + 0.5) / (i + 1) for i in range(20))
    for p in (0.0, 1.0):
        assert log_evidence([p] * 20, p) == pytest.approx(math.log(never), abs=0.01)
    for s, p in ((1, 0.0), (20, 0.0), (19, 1.0), (0, 1.0)):
        assert log_evidence(coins(s, 20), p) == math.inf
    assert log_evidence([0.5] * 3, 0.0) == math.inf
    assert log_evidence([0.5] * 3, 1.0) == math.inf
    assert log_evidence([], 0.0) == pytest.approx(0)


@pytest.mark.parametrize("n", [10, 2048, 2049, 5000])
def test_evidence_of_many_values_is_the_mean_over_the_bets(n):
    """The whole product at once, for 256 bets at the midpoints of Jeffreys' law."""
    z = np.random.RandomState(n).random_sample(n)
    p = 0.48
    q = np.sin(np.pi * (np.arange(256) + 0.5) / 512)[:, np.newaxis] ** 2
    logs = np.log(z * q / p + (1 - z) * (1 - q) / (1 - p)).sum(axis=1)
    expected = np.logaddexp.reduce(logs) - math.log(256)
    assert log_evidence(z, p) == pytest.approx(expected, rel=1e-9)
    twice = np.logaddexp.reduce(2 * logs) - math.log(256)
    assert log_evidence(np.repeat(z, 2), p) == pytest.approx(twice, rel=1e-9)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_intervals_end_where_the_evidence_reaches_its_limit(confidence):
    """Neither narrower nor wider, up to a billionth; at an end of [0, 1] they stop."""
    limit = -math.log(1 - confidence)
    for values in ([0.1, 0.4, 0.4, 0.75] * 12, coins(30, 80)):
        low, high = anytime_interval(values, confidence)
        for end, inwards in ((low, 1e-9), (high, -1e-9)):
            assert log_evidence(values, end) >= limit
            assert log_evidence(values, end + inwards) < limit
    assert anytime_interval([0] * 80, confidence)[0] == 0.0
    assert anytime_interval([1] * 80, confidence)[1] == 1.0


@pytest.mark.parametrize(
    "values", [[0.0, 7.12e-307], [5e-324], [0.0, 5e-324, 1.0], [1e-310, 1e-300]]
)
def test_values_next_to_zero_are_no_matter(values):
    low, high = anytime_interval(values)
    assert 0.0 <= low <= sum(values) / len(values) <= high <= 1.0
    assert math.isfinite(log_evidence([*values, 1.0], 1e-320))
