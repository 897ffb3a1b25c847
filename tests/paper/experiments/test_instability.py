"""instability: the sizes of the proposition, and rates that an enumeration confirms."""

import itertools
import math

import numpy as np
import pytest

from flagstone.audit.intervals import clopper_pearson
from flagstone.paper.experiments.instability import Instability


def measure(unit, **changes):
    [row] = Instability(**changes).compute(unit, np.random.RandomState(0))
    return row


def bound(n):
    """Hoeffding at confidence 1 - 1e-9, two-sided."""
    return math.sqrt(math.log(2e9) / (2 * n))


def test_sizes_reach_from_the_side_to_beyond_the_proposition():
    """Powers of two from √d on; an eighth of the side apart for wide rows; then those of D_m."""
    config = Instability(dims=(16, 20, 64, 225, 256, 1024), rare_dim=6, rare_sizes=(10, 300))
    found = config.units()
    powers = {
        dim: [u["log2_m"] for u in found if u["law"] == "blocks" and u["dim"] == dim]
        for dim in config.dims
    }
    assert powers == {
        16: [2, 3, 4, 5, 6],
        20: [2, 3, 4, 5, 6],
        64: [3, 4, 5, 6, 7, 8, 9, 10],
        225: list(range(4, 18)),
        256: [4, 6, 8, 10, 12, 14, 16, 18],
        1024: [5, 9, 13, 17, 21, 25, 29, 33],
    }
    assert found[-2:] == [
        {"law": "rare", "dim": 6, "m": 10},
        {"law": "rare", "dim": 6, "m": 300},
    ]


@pytest.mark.parametrize("dim", [4, 16, 64])
def test_the_proposition_speaks_of_at_most_half_of_two_to_the_side(dim):
    """m ≤ 2^(√d − 1): the last size included, the next one not."""
    side = math.isqrt(dim)
    for log2_m in range(side + 2):
        row = measure({"law": "blocks", "dim": dim, "log2_m": log2_m}, pairs=2)
        assert row["m"] == 2**log2_m
        assert row["in_printed_range"] == (log2_m <= side - 1)


def test_rates_of_blocks_are_those_of_all_samples_listed():
    """Four draws of five points: the seen unit vectors, with their probabilities."""
    masses = [1 / 4, 1 / 4, 1 / 8, 1 / 8, 1 / 4]  # the last is the zero row
    chances: dict[frozenset[int], float] = {}
    for draws in itertools.product(range(5), repeat=4):
        seen = frozenset(draws) - {4}
        chances[seen] = chances.get(seen, 0) + math.prod(masses[i] for i in draws)
    pairs = 4000
    row = measure({"law": "blocks", "dim": 4, "log2_m": 2}, pairs=pairs)
    same = sum(p * p for p in chances.values())
    gap = sum(p * q * len(a ^ b) for a, p in chances.items() for b, q in chances.items())
    assert (row["law"], row["dim"], row["m"], row["pairs"]) == ("blocks", 4, 4, pairs)
    assert abs(row["same_span"] - same) <= bound(pairs)
    assert abs(row["dimension_gap"] - gap) <= 4 * bound(pairs)
    equal = round(row["same_span"] * pairs)
    interval = clopper_pearson(equal, pairs)
    assert (row["same_span_low"], row["same_span_high"]) == pytest.approx(interval)
    missed = [(1 - p) ** 4 for p in masses[:4]]
    product = math.prod(p * p + (1 - p) ** 2 for p in missed)
    assert row["same_span_product"] == pytest.approx(product, rel=1e-12)


def test_samples_that_see_everything_always_agree():
    row = measure({"law": "blocks", "dim": 4, "log2_m": 30}, pairs=25)
    assert (row["same_span"], row["dimension_gap"], row["dimension_gap_sem"]) == (1.0, 0.0, 0.0)


def test_the_error_of_a_mean_gap_is_that_of_its_sample():
    """Of two pairs: half the difference of two whole numbers whose mean is reported."""
    differences = set()
    for seed in range(12):
        unit = {"law": "blocks", "dim": 16, "log2_m": 3}
        [row] = Instability(pairs=2).compute(unit, np.random.RandomState(seed))
        total, difference = 2 * row["dimension_gap"], 2 * row["dimension_gap_sem"]
        assert difference == pytest.approx(round(difference), abs=1e-9)
        assert (round(difference) - round(total)) % 2 == 0
        differences.add(round(difference))
    assert len(differences) > 2


def test_rates_of_the_rare_direction():
    m, pairs = 40, 1500
    row = measure({"law": "rare", "m": m}, rare_dim=4, rare_pairs=pairs)
    assert (row["law"], row["dim"], row["m"], row["pairs"]) == ("rare", 4, m, pairs)
    q = (1 - 1 / m) ** m
    assert row["missed_exact"] == pytest.approx(q, rel=1e-12)
    assert abs(row["missed"] - q) <= bound(2 * pairs)
    # forty rows span the three dimensions of V but for a chance of 1e-11
    assert abs(row["same_span"] - (q * q + (1 - q) ** 2)) <= bound(pairs)
    missed, agree = round(row["missed"] * 2 * pairs), round(row["same_span"] * pairs)
    interval = clopper_pearson(missed, 2 * pairs)
    assert (row["missed_low"], row["missed_high"]) == pytest.approx(interval)
    interval = clopper_pearson(agree, pairs)
    assert (row["same_span_low"], row["same_span_high"]) == pytest.approx(interval)


def test_a_single_row_of_the_rare_law_is_always_the_rare_one():
    row = measure({"law": "rare", "m": 1}, rare_dim=4, rare_pairs=20)
    assert (row["same_span"], row["missed"], row["missed_exact"]) == (1.0, 0.0, 0.0)


def test_quick_is_smaller_in_everything():
    config, quick = Instability(), Instability(**Instability.small)
    assert set(quick.dims) < set(config.dims)
    assert set(quick.rare_sizes) < set(config.rare_sizes)
    assert quick.pairs < config.pairs
    assert quick.rare_pairs < config.rare_pairs
