"""S20, S21, S22: outliers at a rate, and two adversaries; a hundredth of each bound is broken."""

import pytest

from flagstone import distributions as laws
from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace
from flagstone.coins import Coins
from flagstone.errors import ReplicabilityWarning
from flagstone.guarantees import (
    adaptive_adversary_rho,
    blind_adversary_rho,
    containment_failure,
    index_length,
    index_rho,
    outlier_start_for_failure,
)
from tests.bridge import span_of
from tests.statistical.tools import (
    Sample,
    answer,
    disagreement,
    disagreements,
    holds,
    np,
    pairs,
    staircase,
    violated,
    window_of,
)

RHO = 0.1


@pytest.mark.parametrize("dim", [4, 8])
def test_threshold_with_a_start(dim):
    """T² ≥ A(k+T): hard masses sit in the window, which starts at k."""
    k = 2000
    T = index_length(dim, RHO, start=k)
    assert T > index_length(dim, RHO)
    for length, verdict in ((T, holds), (T // 100, violated)):
        m = 4 * dim * (k + length)
        law = staircase(dim, length, m, start=k)
        values = disagreements(window_of("index", length, k), law, m, count=120, seed=12)
        assert verdict(values, RHO), (length, sum(values) / len(values))


PLANE = Subspace.span(np.eye(5, dtype=int)[:3])
OUTLIERS = laws.Finite([[0, 0, 0, 1, 0], [0, 0, 1, 0, 1]], [0.5, 0.5])


@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_outliers_stay_out(rule):
    """Unless more than k of them are drawn; a start of k/100 lets them in."""
    m, rate = 20_000, 0.02
    law = laws.planted_subspace(PLANE, rate, OUTLIERS)
    k = outlier_start_for_failure(m, rate, 0.01)
    rng = np.random.RandomState(13)
    entered, entered_early = [], []
    for _ in range(200):
        sample = Sample(law, m, rng)
        entered.append(not answer(rule, sample.flag, k + 1) <= PLANE)
        entered_early.append(not answer(rule, sample.flag, k // 100 + 1) <= PLANE)
    assert holds(entered, 0.01)
    assert violated(entered_early, 0.01)


@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_agreement_and_containment_together(rule):
    """Planted subspace, 2 % outliers, 2.5 % tolerated: equal as often as promised, and clean."""
    m, rho = 400_000, 0.3
    law = laws.planted_subspace(PLANE, 0.02, OUTLIERS)
    differ = 0
    for i, samples in enumerate(pairs(law, m, 100, 25)):
        found = set()
        for sample in samples:
            with pytest.warns(ReplicabilityWarning, match=r"coverage \(eps = 0.1\) not proven"):
                result = span_of(sample.flag, Coins(i), rule=rule, rho=rho, contamination=0.025)
            assert result.guarantee.is_replicable_proven
            assert result.subspace <= PLANE
            found.add(result.subspace)
        differ += len(found) > 1
    assert differ <= rho * 100


def test_binomial_tail():
    m, rate = 5000, 0.02
    rng = np.random.RandomState(14)
    outliers = rng.binomial(m, rate, size=4000)
    for k in (95, 100, 110, 115):
        tail = containment_failure(m, k, rate)
        assert holds(outliers > k, tail)
        assert holds(outliers <= k, 1 - tail)
        assert violated(outliers > k, tail / 100)


def shifted(sample, changes):
    """The sample's flag after an adversary adds to (or takes from) the counts of unit vectors."""
    counts = np.zeros(sample.flag.dim + 1, dtype=int)
    for row, weight in zip(sample.rows, sample.weights, strict=True):
        counts[int(np.argmax(row)) if row.any() else -1] += weight
    counts[:-1] += changes
    counts[-1] -= sum(changes)  # rows are replaced: zero rows make up for the difference
    d = sample.flag.dim
    return Flag(d).update(np.vstack([np.eye(d, dtype=int), np.zeros((1, d), dtype=int)]), counts)


def test_blind_adversary():
    """Moves two counts of each sample apart, by k: 4k indices of the window turn bad."""
    d, T, k = 2, 40_000, 4000
    m = 10 * T
    law = staircase(d, T, m)
    values = []
    for first, second in pairs(law, m, 60, 15):
        a, b = shifted(first, [k, -k]), shifted(second, [-k, k])
        values.append(disagreement(window_of("index", T), a, b))
    clean = index_rho(d, T, start=0)
    assert holds(values, clean + blind_adversary_rho(T, k))
    assert violated(values, clean + blind_adversary_rho(T, k) / 100)


def test_adaptive_adversary():
    """Knows t: spoils whatever level is within reach of it, in one of the samples."""
    d, T, k = 4, 40_000, 1200
    m = 10 * T
    law = staircase(d, T, m)
    rng = np.random.RandomState(16)
    differ = []
    for first, second in pairs(law, m, 400, 17):
        t = int(rng.randint(1, T + 1))
        counts = first.weights[first.rows.any(axis=1)]
        changes = [0] * d
        for row, count in zip(first.rows[first.rows.any(axis=1)], counts, strict=True):
            if abs(count - t) < k:
                changes[int(np.argmax(row))] = -k if count >= t else k
                break  # k replaced rows move one count by k
        spoiled = answer("index", shifted(first, changes), t)
        differ.append(spoiled != answer("index", second.flag, t))
    clean = index_rho(d, T)
    assert holds(differ, clean + adaptive_adversary_rho(d, T, k))
    assert violated(differ, clean + adaptive_adversary_rho(d, T, k) / 100)
