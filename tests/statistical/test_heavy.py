"""S16, S17: the paper's Algorithm 1 at its two sharp thresholds, and 100 times below."""

import pytest

from flagstone.guarantees import heavy_length, heavy_rows
from tests.statistical.promises import check_both_promises
from tests.statistical.tools import (
    HARD,
    disagreements,
    hard_laws,
    holds,
    rising_gaps,
    violated,
    window_of,
)

RHO = EPS = 0.1


@pytest.mark.parametrize("name", HARD)
def test_both_promises_at_the_proven_size(name):
    m = heavy_rows(6, RHO, EPS)
    law = hard_laws(6, m, window_of("heavy", heavy_length(6, RHO, n_rows=m)))[name]
    check_both_promises(law, "heavy", m, rho=RHO, eps=EPS, count=50, seed=6)


@pytest.mark.statistical
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("dim", [6, 10])
def test_both_promises_at_the_proven_size_over_many_pairs(dim, name):
    m = heavy_rows(dim, RHO, EPS)
    law = hard_laws(dim, m, window_of("heavy", heavy_length(dim, RHO, n_rows=m)))[name]
    check_both_promises(law, "heavy", m, rho=RHO, eps=EPS, count=300, seed=dim)


@pytest.mark.parametrize("dim", [6, 10])
def test_first_threshold(dim):
    """T = 2√(2dm)/ρ (S16)."""
    m = 10_000
    T = heavy_length(dim, RHO, n_rows=m)
    assert T < heavy_length(dim, RHO)
    for length, verdict in ((T, holds), (T / 100, violated)):
        law = rising_gaps(dim, length, m)
        values = disagreements(window_of("heavy", length), law, m, count=120, seed=3)
        assert verdict(values, RHO), (length, sum(values) / len(values))


@pytest.mark.parametrize("dim", [6, 10])
def test_second_threshold(dim):
    """T = ⌈8d³/ρ²⌉, whatever the number of rows (S17)."""
    T = heavy_length(dim, RHO)
    for length, verdict in ((T, holds), (T / 100, violated)):
        m = int(dim**2 * length)
        law = rising_gaps(dim, length, m)
        values = disagreements(window_of("heavy", length), law, m, count=200, seed=4)
        assert verdict(values, RHO), (length, sum(values) / len(values))
