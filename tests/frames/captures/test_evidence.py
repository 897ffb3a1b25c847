"""The two tests for a type of its own err no more often than they say."""

import math

import numpy as np
import pytest

from flagstone.algebra.subspace import Subspace
from flagstone.answers import Constraints
from flagstone.frames.captures import FALSE_ALARMS
from flagstone.frames.captures.types import most_frequent, obey_their_own, syndrome_beyond_chance

HAMMING = Constraints(
    [[1, 0, 1, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1]], [0] * 3
)


def checks(k, d, seed=0):
    """Equations that look at every bit, most of the columns different."""
    rng = np.random.default_rng(seed)
    return Constraints(rng.integers(0, 2, (k, d)), np.zeros(k, dtype=int))


def flipped(rng, n, d, weight):
    """Rows of zeros, each with this many bits flipped."""
    rows = np.zeros((n, d), dtype=np.uint8)
    for row in rows:
        row[rng.choice(d, weight, replace=False)] = 1
    return rows


@pytest.mark.parametrize("failure", [0.3, 0.05])
@pytest.mark.parametrize(
    ("equations", "weight"), [(HAMMING, 1), (checks(6, 24), 1), (checks(6, 24), 5)]
)
def test_random_damage_seldom_has_one_syndrome(equations, weight, failure):
    rng, trials, n, alarms = np.random.default_rng(1), 400, 8, 0
    for _ in range(trials):
        syndromes = equations.syndrome(flipped(rng, n, equations.dim, weight))
        seen = syndromes[syndromes.any(axis=1)]  # other rows fit, and are not looked at
        if len(seen):
            most = int(np.unique(seen, axis=0, return_counts=True)[1].max())
            alarms += syndrome_beyond_chance(equations, 1, len(seen), most, failure)
    assert alarms / trials <= failure + 3 * math.sqrt(failure / trials)


def test_many_rows_with_one_syndrome_are_no_damage():
    equations = checks(8, 40)
    verdicts = [syndrome_beyond_chance(equations, 1, 10, most, 1e-3) for most in range(1, 11)]
    assert verdicts == sorted(verdicts)
    assert verdicts[1:7].count(True) >= 1
    # where all bits stand in the same equations, a syndrome says nothing
    parity = Constraints([[1] * 8], [0])
    assert not syndrome_beyond_chance(parity, 1, 50, 50, FALSE_ALARMS)
    # nor where there are no equations
    nothing = Constraints(np.zeros((0, 8), dtype=int), [])
    assert not syndrome_beyond_chance(nothing, 1, 50, 50, FALSE_ALARMS)


@pytest.mark.parametrize("failure", [0.3, 0.05])
def test_damaged_rows_seldom_obey_equations_of_their_own(failure):
    """Whatever the damage is, as long as it does not depend on what a row says."""
    rng, trials, alarms = np.random.default_rng(2), 300, 0
    for trial in range(trials):
        known = (rng.random((120, 12)) < np.linspace(0.05, 0.6, 12)).astype(np.uint8)
        rows = (rng.random((10, 12)) < np.linspace(0.05, 0.6, 12)).astype(np.uint8)
        if trial % 2:
            rows ^= rng.integers(0, 2, 12, dtype=np.uint8)  # always the same damage
        U = Subspace.span(known[:3] if trial % 3 else np.eye(12, dtype=int)[4:])
        alarms += obey_their_own(U, [known], rows, failure)
    assert alarms / trials <= failure + 3 * math.sqrt(failure / trials)


def test_rows_of_a_subspace_obey_equations_of_their_own():
    rng = np.random.default_rng(3)
    known = rng.integers(0, 2, (200, 12))
    own = np.hstack([rng.integers(0, 2, (20, 6)), np.zeros((20, 6), dtype=int)])
    U = Subspace.span(np.eye(12, dtype=int)[:6])
    assert obey_their_own(U, [known], own, FALSE_ALARMS)
    assert not obey_their_own(U, [known, own], own, FALSE_ALARMS)  # they are known already
    assert not obey_their_own(Subspace.full(12), [known], own, FALSE_ALARMS)
    assert most_frequent(U, [known[:0]], 0.01) == 1.0
