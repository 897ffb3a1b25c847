"""S14, S15: the paper's constants, printed and corrected, and 100 times below."""

from itertools import product

import pytest

from flagstone.algebra.subspace import Subspace
from flagstone.guarantees import paper_gap, paper_length, paper_rows
from tests.statistical.tools import (
    Sample,
    answer,
    disagreements,
    hard_laws,
    holds,
    np,
    pairs,
    rising_gaps,
    violated,
    window_of,
)

RHO = EPS = 0.1
CORRECTED = [False, True]


@pytest.mark.parametrize("corrected", CORRECTED)
@pytest.mark.parametrize(
    ("dim", "m", "count"),
    [(6, 10_000, 400), pytest.param(10, 100_000, 1500, marks=pytest.mark.statistical)],
)
def test_threshold(dim, m, count, corrected):
    T = paper_length(dim, RHO, m, corrected=corrected)
    for length, verdict in ((T, holds), (T / 100, violated)):
        law = rising_gaps(dim, length, m)
        values = disagreements(window_of("heavy", length), law, m, count=count, seed=5)
        assert verdict(values, RHO), (length, sum(values) / len(values))


def gaps(law, m, count, seed):
    """max_V |n_1(V) - n_2(V)| of fresh pairs."""
    found = []
    for pair in pairs(law, m, count, seed):
        n, other = (
            {s.flag.span_at(lv.first): lv.multiplicity for lv in s.flag.levels()} for s in pair
        )
        found.append(max(abs(n.get(V, 0) - other.get(V, 0)) for V in n.keys() | other.keys()))
    return found


@pytest.mark.parametrize("corrected", CORRECTED)
def test_gap_lemma(corrected):
    """|n_1(V) - n_2(V)| exceeds the bound with probability ≤ δ; a hundredth of it, far more."""
    m, delta = 10_000, 0.1
    bound = paper_gap(m, delta, corrected=corrected)
    found = gaps(rising_gaps(6, 200, m), m, count=150, seed=7)
    assert holds([gap >= bound for gap in found], delta)
    assert violated([gap >= bound / 100 for gap in found], delta)


def test_printed_lemma_for_small_delta_and_near_one():
    """Its constant follows from the sum of S15 for δ ≤ e⁻⁴; for δ = 0.9 one row refutes it."""
    m = 10_000
    for delta, proven in ((0.018, True), (0.019, False)):
        needed = 2 * np.sqrt(m) + 2 * np.sqrt(m * np.log(1 / delta))
        assert (needed <= paper_gap(m, delta, corrected=False)) == proven
    spans = [Subspace.span([row]) for row in product((0, 1), repeat=5) if any(row)]
    differ = sum(V != W for V, W in product(spans, repeat=2)) / len(spans) ** 2
    assert paper_gap(1, 0.9) < 1 < paper_gap(1, 0.9, corrected=True)
    assert differ == pytest.approx(30 / 31)
    assert differ > 0.9


@pytest.mark.parametrize("dim", [6, pytest.param(10, marks=pytest.mark.statistical)])
@pytest.mark.parametrize("corrected", CORRECTED)
def test_coverage_at_the_papers_size(dim, corrected):
    """At the paper's m every run covers 1 - ε: trillions of rows from one multinomial draw."""
    m = paper_rows(dim, RHO, EPS, corrected=corrected)
    T = paper_length(dim, RHO, m, corrected=corrected)
    assert dim**2 * T <= EPS * m * (1 + 1e-9)
    rng = np.random.RandomState(8)
    for law in hard_laws(dim, m, window_of("heavy", T)).values():
        sample = Sample(law, m, rng)
        for share in (1.0, 0.7, 0.01):
            assert sample.uncovered(answer("heavy", sample.flag, share * T)) <= EPS * m
