"""Coverage of the intervals: exact sums for Clopper–Pearson, simulation for the anytime kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from flagstone.audit import anytime_interval, betting_interval, clopper_pearson
from flagstone.audit.intervals import log_evidence, log_evidence_of_values
from flagstone.errors import InputError


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
            ("anytime", lambda n, s: log_evidence(s, n, p) >= math.log(20) and s > n * p),
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
            log_evidence_of_values(z[:n], mean) >= math.log(20)
            for n in (1, 2, 3, 5, 8, *range(10, longest + 1, 10))
        )
    # Binomial(250, 0.05) exceeds 26 with probability below 1e-3.
    assert missed <= 26


@pytest.mark.parametrize("p", [0.01, 0.3, 0.9])
def test_every_bet_is_fair(p):
    """The mean of the e-value of one and of two values is 1, for laws of mean p."""
    for law in ({0.0: 1 - p, 1.0: p}, {p: 1.0}, {p / 2: 0.5, min(1.5 * p, 1.0): 0.5}):
        mean = sum(z * w for z, w in law.items())
        one = sum(w * math.exp(log_evidence_of_values([z], mean)) for z, w in law.items())
        two = sum(
            v * w * math.exp(log_evidence_of_values([y, z], mean))
            for y, v in law.items()
            for z, w in law.items()
        )
        assert one == pytest.approx(1, rel=1e-9)
        assert two == pytest.approx(1, rel=1e-9)


def test_for_coins_betting_is_the_plain_interval():
    for ones, n in ((0, 30), (3, 40), (100, 200)):
        values = betting_interval([1.0] * ones + [0.0] * (n - ones))
        assert values == pytest.approx(anytime_interval(ones, n), abs=2e-4)


@settings(max_examples=40, deadline=None)
@given(z=st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_the_interval_is_where_the_evidence_is_small(z):
    low, high = betting_interval(z)
    assert 0 <= low <= np.mean(z) + 1e-12
    assert np.mean(z) - 1e-12 <= high <= 1
    for p in (low - 1e-6, high + 1e-6):
        if 0 < p < 1:
            assert log_evidence_of_values(z, p) >= math.log(20)
    plain = anytime_interval(math.fsum(z) if sum(z) <= len(z) else len(z), len(z))
    assert high - low <= plain[1] - plain[0] + 1e-3  # never wider than coins of the same mean


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 2000), share=st.floats(0, 1))
def test_the_plain_interval_is_where_the_evidence_is_small(n, share):
    s = round(share * n)
    low, high = anytime_interval(s, n)
    assert 0 <= low <= s / n <= high <= 1
    for p in (low - 1e-6, high + 1e-6):
        if 0 < p < 1:
            assert log_evidence(s, n, p) >= math.log(20)


@pytest.mark.parametrize("n", [40, 200, 1000])
def test_values_that_vary_little_give_much_narrower_intervals(n):
    z = np.random.RandomState(n).beta(2, 28, n)
    low, high = betting_interval(z)
    plain = anytime_interval(float(z.sum()), n)
    assert 1.7 * (high - low) < plain[1] - plain[0]
    if n >= 200:
        assert 3 * (high - low) < plain[1] - plain[0]


def test_values_outside_the_unit_interval_are_refused():
    for bad in ([0.5, 1.1], [-0.1], [math.nan]):
        with pytest.raises(InputError, match=r"\[0, 1\]"):
            betting_interval(bad)


def test_no_data_says_nothing():
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert anytime_interval(0, 0) == (0.0, 1.0)
    assert betting_interval([]) == (0.0, 1.0)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(InputError, match="confidence"):
        clopper_pearson(1, 2, confidence)
    with pytest.raises(InputError, match="confidence"):
        anytime_interval(1, 2, confidence)
    with pytest.raises(InputError, match="confidence"):
        betting_interval([0.5], confidence)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_clopper_pearson_is_that_of_scipy(confidence):
    for n in (1, 2, 25):
        for k in range(n + 1):
            theirs = binomtest(k, n).proportion_ci(confidence, method="exact")
            assert clopper_pearson(k, n, confidence) == pytest.approx(tuple(theirs), abs=1e-9)


@pytest.mark.parametrize("successes", [-1, 11])
def test_successes_are_among_the_trials(successes):
    for interval in (clopper_pearson, anytime_interval):
        with pytest.raises(InputError, match=rf"successes must lie in 0\.\.10, got {successes}"):
            interval(successes, 10)


@given(coins=st.lists(st.booleans(), max_size=40), p=st.floats(0.01, 0.99))
def test_evidence_of_coins_is_that_of_the_sequential_gambler(coins, p):
    """Krichevsky and Trofimov: after s ones of n the next is one with (s + ½)/(n + 1)."""
    wealth, ones = 0.0, 0
    for n, coin in enumerate(coins):
        q = (ones + 0.5) / (n + 1)
        wealth += math.log(q / p if coin else (1 - q) / (1 - p))
        ones += coin
    assert log_evidence(ones, len(coins), p) == pytest.approx(wealth, abs=1e-9)


def test_evidence_at_the_ends_of_the_unit_interval():
    """A rate of 0 is impossible after a one, and as good as any other without."""
    never = math.prod((i + 0.5) / (i + 1) for i in range(20))
    for s, p in ((0, 0.0), (20, 1.0)):
        assert log_evidence(s, 20, p) == pytest.approx(math.log(never))
        values = log_evidence_of_values([p] * 20, p)
        assert values == pytest.approx(math.log(never), abs=0.01)
    for s, p in ((1, 0.0), (20, 0.0), (19, 1.0), (0, 1.0)):
        assert log_evidence(s, 20, p) == math.inf
        assert log_evidence_of_values([1.0] * s + [0.0] * (20 - s), p) == math.inf
    assert log_evidence_of_values([0.5] * 3, 0.0) == math.inf
    assert log_evidence_of_values([0.5] * 3, 1.0) == math.inf
    assert log_evidence_of_values([], 0.0) == pytest.approx(0)


@pytest.mark.parametrize("n", [10, 2048, 2049, 5000])
def test_evidence_of_many_values_is_the_mean_over_the_bets(n):
    """The whole product at once, for 256 bets at the midpoints of Jeffreys' law."""
    z = np.random.RandomState(n).random_sample(n)
    p = 0.48
    q = np.sin(np.pi * (np.arange(256) + 0.5) / 512)[:, np.newaxis] ** 2
    logs = np.log(z * q / p + (1 - z) * (1 - q) / (1 - p)).sum(axis=1)
    expected = np.logaddexp.reduce(logs) - math.log(256)
    assert log_evidence_of_values(z, p) == pytest.approx(expected, rel=1e-9)
    twice = np.logaddexp.reduce(2 * logs) - math.log(256)
    assert log_evidence_of_values(np.repeat(z, 2), p) == pytest.approx(twice, rel=1e-9)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_intervals_end_where_the_evidence_reaches_its_limit(confidence):
    """Neither narrower nor wider, up to a billionth; at an end of [0, 1] they stop."""
    limit = -math.log(1 - confidence)
    values = [0.1, 0.4, 0.4, 0.75] * 12
    for evidence, (low, high) in (
        (lambda p: log_evidence(30, 80, p), anytime_interval(30, 80, confidence)),
        (lambda p: log_evidence_of_values(values, p), betting_interval(values, confidence)),
    ):
        for end, inwards in ((low, 1e-9), (high, -1e-9)):
            assert evidence(end) >= limit
            assert evidence(end + inwards) < limit
    assert anytime_interval(0, 80, confidence)[0] == 0.0
    assert anytime_interval(80, 80, confidence)[1] == 1.0
    assert betting_interval([0.0] * 80, confidence)[0] == 0.0
    assert betting_interval([1.0] * 80, confidence)[1] == 1.0


@pytest.mark.parametrize(
    "values", [[0.0, 7.12e-307], [5e-324], [0.0, 5e-324, 1.0], [1e-310, 1e-300]]
)
def test_values_next_to_zero_are_no_matter(values):
    low, high = betting_interval(values)
    assert 0.0 <= low <= sum(values) / len(values) <= high <= 1.0
    assert math.isfinite(log_evidence_of_values([*values, 1.0], 1e-320))
