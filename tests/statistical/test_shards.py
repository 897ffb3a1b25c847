"""S23: R merged shards, at the threshold that pays for them and 100 times below."""

import pytest

from flagstone.algebra.flag import Flag, merge_flags
from flagstone.algebra.subspace import Subspace
from flagstone.guarantees import (
    heavy_length,
    index_length,
    index_uncovered,
    uncovered_bracket,
)
from tests.statistical.tools import (
    Sample,
    answer,
    disagreements,
    hard_laws,
    holds,
    np,
    rising_gaps,
    staircase,
    violated,
    window_of,
)

RHO = 0.1


@pytest.mark.parametrize(
    ("shards", "count"), [(2, 150), pytest.param(5, 700, marks=pytest.mark.statistical)]
)
def test_index_threshold(shards, count):
    dim = 5
    T = index_length(dim, RHO, shards=shards)
    for length, verdict in ((T, holds), (T // 100, violated)):
        m = 10 * dim * length
        law = staircase(dim, length, m)
        window = window_of("index", length)
        values = disagreements(window, law, m, count=count, seed=18, shards=shards)
        assert verdict(values, RHO), (length, sum(values) / len(values))


def test_heavy_threshold():
    dim, shards = 5, 2
    T = heavy_length(dim, RHO, shards=shards)
    for length, verdict in ((T, holds), (T / 100, violated)):
        m = int(dim**2 * length)
        law = rising_gaps(dim, length, m)
        window = window_of("heavy", length)
        values = disagreements(window, law, m, count=700, seed=19, shards=shards)
        assert verdict(values, RHO), (length, sum(values) / len(values))


@pytest.mark.parametrize("shards", [2, 3, 8])
def test_no_sample_loses_more_rows(shards):
    dim, T, rng = 4, 100, np.random.RandomState(20)
    bound = index_uncovered(dim, T, shards=shards)
    m = 4 * bound
    for law in hard_laws(dim, m, window_of("index", T)).values():
        sample = Sample(law, m, rng, shards)
        for t in rng.randint(1, T + 1, size=20).tolist():
            uncovered = sample.uncovered(answer("index", sample.flag, t))
            low, high = uncovered_bracket(sample.flag.counts.tolist(), t, shards=shards)
            assert low <= uncovered <= high <= bound


def test_bad_shards_lose_nearly_as_many_rows_as_the_bound_allows():
    """Two hyperplanes, no row in both: V_{a+1} is their meet and misses 2(d-1)·a of 2d·a rows."""
    d, a = 5, 1000
    eye = np.eye(d, dtype=int)
    H, K = Subspace.span(eye[:-1]), Subspace.span(eye[1:])
    shift = [eye[0], eye[-1]]  # the direction of each hyperplane that the other one lacks
    rows = [
        np.array([(row + (0 if (row == v).all() else v)) % 2 for row in space.basis.astype(int)])
        for space, v in zip((H, K), shift, strict=True)
    ]
    assert [Subspace.span(r) for r in rows] == [H, K]
    merged = merge_flags([Flag(d).update(r, [a] * len(r)) for r in rows])
    space = merged.span_at(a + 1)
    assert space == H & K
    missed = sum(a * int((~space.contains(r)).sum()) for r in rows)
    assert missed == 2 * (d - 1) * a
    assert index_uncovered(d, a + 1) < missed <= index_uncovered(d, a + 1, shards=2)
    assert missed > index_uncovered(d, (a + 1) // 100, shards=2)
