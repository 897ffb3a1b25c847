"""Coverage of the intervals: exact sums for Clopper–Pearson, simulation for the anytime kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from flagstone.audit import anytime_interval, clopper_pearson
from flagstone.audit.intervals import log_evidence
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
            ("anytime", lambda n, s: log_evidence((n, s, s), p) >= math.log(20) and s > n * p),
        ):
            excluded[name] += any(rejects(n, float(wrong[n - 1])) for n in looks)
    assert excluded["fixed"] / runs > 0.12  # far above the 2.5 % it promises for one look
    assert excluded["anytime"] / runs <= 0.05


@pytest.mark.parametrize("spread", ["binary", "steady", "skewed"])
def test_anytime_coverage_for_integrated_values(spread):
    """Ville: over a whole path the true mean is excluded with probability at most 5 %."""
    rng = np.random.RandomState(17)
    runs, longest = 250, 120
    missed = 0
    for _ in range(runs):
        if spread == "binary":
            z, mean = (rng.random_sample(longest) < 0.2).astype(float), 0.2
        elif spread == "steady":
            z, mean = 0.2 + 0.1 * rng.uniform(-1, 1, longest), 0.2
        else:
            z, mean = rng.beta(0.3, 2.7, longest), 0.1
        n = s = squares = 0.0
        for value in z:
            centre = (s + 0.5) / (n + 1)
            n, s, squares = n + 1, s + value, squares + (value - centre) ** 2
            if log_evidence((int(n), s, squares), mean, integrated=True) >= math.log(20):
                missed += 1
                break
    # Binomial(250, 0.05) exceeds 26 with probability below 1e-3.
    assert missed <= 26


def test_fans_inequality_behind_the_bernstein_part():
    """exp(bx − ψ(b)x²) ≤ 1 + bx for x ≥ −1, on a fine grid."""
    x = np.linspace(-1, 1, 4001)
    for b in (0.001, 0.1, 0.5, 0.9, 0.99):
        psi = -math.log1p(-b) - b
        assert (np.exp(b * x - psi * x * x) <= 1 + b * x + 1e-12).all()


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 2000),
    share=st.floats(0, 1),
    spread=st.floats(0, 1),
    integrated=st.booleans(),
)
def test_the_interval_is_where_the_evidence_is_small(n, share, spread, integrated):
    s = share * n
    moments = (n, s, spread * n)
    low, high = anytime_interval(moments, integrated=integrated)
    assert 0 <= low <= s / n <= high <= 1
    for p in (low - 1e-6, high + 1e-6):
        if 0 < p < 1:
            assert log_evidence(moments, p, integrated=integrated) >= math.log(20)


def test_steady_values_give_much_narrower_intervals():
    plain = anytime_interval((500, 50.0, 50.0))
    steady = anytime_interval((500, 50.0, 500 * 0.05**2), integrated=True)
    assert (plain[1] - plain[0]) > 2 * (steady[1] - steady[0])


def test_no_data_says_nothing():
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert anytime_interval((0, 0.0, 0.0)) == (0.0, 1.0)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(InputError, match="confidence"):
        clopper_pearson(1, 2, confidence)
    with pytest.raises(InputError, match="confidence"):
        anytime_interval((2, 1.0, 1.0), confidence)
