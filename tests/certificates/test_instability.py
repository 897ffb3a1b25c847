"""S39: the span of all rows is unstable, for the sizes that are proven and not for all."""

import math
from itertools import product

import pytest

from flagstone import distributions as laws


def probability_of(shown, masses, m):
    """P[a sample shows exactly these vectors], by inclusion and exclusion over what is missing."""
    rest = 1 - sum(masses)
    inside = [mass for mass, is_shown in zip(masses, shown, strict=True) if is_shown]
    return math.fsum(
        (-1) ** (len(inside) - sum(keep)) * (rest + math.fsum(
            mass for mass, kept in zip(inside, keep, strict=True) if kept
        )) ** m
        for keep in product((0, 1), repeat=len(inside))
    )  # fmt: skip


def same_span(n, m):
    """P[two samples have the same span], exactly: block j has n vectors of mass 2^-j/n."""
    masses = [2.0**-j / n for j in range(1, n + 1) for _ in range(n)]
    return math.fsum(
        probability_of(shown, masses, m) ** 2 for shown in product((0, 1), repeat=n * n)
    )


def test_the_law_is_the_papers():
    law = laws.blocks(9)
    masses = sorted((2.0**-j / 3 for j in (1, 2, 3) for _ in range(3)), reverse=True)
    nonzero = law.support.any(axis=1)
    assert sorted(law.probabilities[nonzero].tolist(), reverse=True) == pytest.approx(masses)


@pytest.mark.parametrize("n", [2])
def test_same_span_is_unlikely_in_the_proven_range(n):
    for m in range(n, n * 2**n + 1):
        assert same_span(n, m) <= (15 / 16) ** n


def test_one_row_is_enough_to_refute_the_printed_range():
    """For m = 1 the probability falls like 1/(3√d), not exponentially in √d."""
    for n in (2, 3):
        assert same_span(n, 1) == pytest.approx((1 - 4.0**-n) / (3 * n) + 4.0**-n)
    # The bound that the printed proof would give at m = 1 for some γ > 0 fails for large n.
    agrees = {n: (1 - 4.0**-n) / (3 * n) + 4.0**-n for n in (10, 1000, 10**5)}
    assert all(p > (15 / 16) ** n for n, p in agrees.items() if n > 10)
    assert agrees[10**5] > 1e-6


def test_m_th_power_of_one_row_is_a_lower_bound():
    for m in range(1, 6):
        assert same_span(2, m) >= same_span(2, 1) ** m


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_one_block_is_half_seen(n):
    """The steps of the proof: a block with ½ ≤ m·p ≤ 1, and its vectors seen in one sample only."""
    for m in range(n, min(n * 2**n, 5000) + 1):
        j = max(1, math.ceil(math.log2(m / n) - 1e-12))
        p = 2.0**-j / n
        assert 1 <= j <= n
        assert 0.5 - 1e-12 <= m * p <= 1 + 1e-12
        q = (1 - p) ** m
        assert 0.31 <= q <= math.exp(-0.5)
        assert 2 * q * (1 - q) >= 0.42
        for absent in range(n + 1):
            assert (1 - absent * p) ** m <= math.exp(-absent / 2) * (1 + 1e-9)
            conditional = p / (1 - absent * p)
            assert (1 - conditional) ** m >= 1 / 16
