"""S23: R merged shards, at the threshold that pays for them and 100 times below."""

import pytest

from flagstone.flag import Flag, merge_flags
from flagstone.guarantees import (
    heavy_threshold,
    index_threshold,
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
    T = index_threshold(dim, RHO, shards=shards)
    for length, verdict in ((T, holds), (T // 100, violated)):
        m = 10 * dim * length
        law = staircase(dim, length, m)
        window = window_of("index", length)
        values = disagreements(window, law, m, count=count, seed=18, shards=shards)
        assert verdict(values, RHO), (length, sum(values) / len(values))


def test_heavy_threshold():
    dim, shards = 5, 2
    T = heavy_threshold(dim, RHO, shards=shards)
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


def test_bad_shards_do_lose_that_many():
    """Each shard knows one direction, t - 1 times over: M_t = {0} misses R·(t-1) rows."""
    R, T = 4, 1000
    flags = [Flag(R).update([row], [T - 1]) for row in np.eye(R, dtype=int)]
    merged = merge_flags(flags)
    assert merged.dim_at(T) == 0
    assert merged.n_rows > index_uncovered(R, T // 100, shards=R)
