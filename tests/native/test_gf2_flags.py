"""Flags over GF(2) in every version against the partition by definition: every V_j."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.native.gf2 import (
    KINDS,
    WIDTHS,
    chain,
    combinations,
    levels,
    partition,
    partitions,
    sample,
)
from tests.native.versions import NATIVE, VERSIONS, pack


@pytest.fixture(params=list(VERSIONS))
def version(request):
    return VERSIONS[request.param]


def inserted(version, dim, parts, weights=None):
    state = version.gf2.flag(dim)
    for i, part in enumerate(parts):
        state.insert(part, None if weights is None else weights[i])
    return state


@st.composite
def small_samples(draw):
    """Few vectors and their sums, so that ties and exchanges abound; any width."""
    dim = draw(
        st.one_of(
            st.integers(1, 700),
            st.sampled_from(
                [1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 383, 384, 385, 511, 512, 513, 769]
            ),
        )
    )
    vector = st.integers(0, 2**dim - 1)
    pool = draw(st.lists(vector, min_size=1, max_size=6))
    pairs = st.tuples(st.sampled_from(pool), st.sampled_from([0, *pool]))
    rows = draw(st.lists(pairs.map(lambda pair: pair[0] ^ pair[1]), max_size=24))
    weights = draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows)))
    width = -(-dim // 64)
    words = np.array([list(row.to_bytes(8 * width, "little")) for row in rows], np.uint8)
    return dim, np.array(weights, np.int64), words.reshape(-1, 8 * width).view(np.uint64)


@given(drawn=small_samples(), cut=st.integers(0, 24))
def test_flags_equal_the_partition(drawn, cut):
    """Rows, the same with weights, some of them once more; read, copied, loaded in between."""
    dim, weights, words = drawn
    ones = np.ones(len(words), np.int64)
    n, times = len(words), np.concatenate([ones, weights, ones])
    once, twice, thrice = partitions(np.tile(words, (3, 1)), times, [n, 2 * n, 3 * n])
    for version in VERSIONS.values():
        state = inserted(version, dim, [words[:cut], words[cut:]])
        assert chain(*state.dump()) == once
        copied = state.copy()
        state.insert(words, weights)
        assert chain(*state.dump()) == twice
        loaded = version.gf2.flag_load(dim, *state.dump())
        for flag in (state, loaded):
            flag.insert(words, None)
            assert chain(*flag.dump()) == thrice
        assert chain(*copied.dump()) == once


@given(drawn=small_samples(), cut=st.integers(0, 24))
def test_a_flag_may_be_dumped_and_loaded_at_any_moment(drawn, cut):
    dim, _, words = drawn
    expected = partition(words)
    for version in VERSIONS.values():
        state = version.gf2.flag_load(dim, *inserted(version, dim, [words[:cut]]).dump())
        state.insert(words[cut:], None)
        assert chain(*state.dump()) == expected


def widths_and_kinds():
    """Every width with every kind of rows; `make validate` tries half of the wide ones."""
    for i, dim in enumerate(WIDTHS):
        for j, kind in enumerate(KINDS):
            marks = [pytest.mark.slow] if dim > 200 and (i + j) % 2 else []
            yield pytest.param(dim, kind, marks=marks)


@pytest.mark.parametrize(("dim", "kind"), list(widths_and_kinds()))
def test_every_width_and_kind_of_rows(dim, kind):
    """Rows alone, with weights, and rows alone after them, when many counts are the same."""
    rng = np.random.default_rng(dim)
    words = sample(kind, 2 * dim + 40, dim, seed=1)
    parts = np.split(words, np.sort(rng.integers(0, len(words), 3)))
    weights = rng.integers(0, 3, len(words))
    last = words[: dim // 2]
    everything, n = np.concatenate([words, words, last]), len(words)
    times = np.concatenate([np.ones(n, np.int64), weights, np.ones(len(last), np.int64)])
    once, twice, more = partitions(everything, times, [n, 2 * n, len(everything)])
    for name in NATIVE if dim > 200 else VERSIONS:
        state = inserted(VERSIONS[name], dim, parts)
        assert chain(*state.dump()) == once
        state.insert(words, weights)
        assert chain(*state.dump()) == twice
        state.insert(last, None)
        assert chain(*state.dump()) == more


@pytest.mark.parametrize("dim", [20, 64, 65, 128, 129, 300])
def test_large_weights_in_one_step(dim):
    words = sample("ties", 200, dim, seed=2)
    weights = np.random.default_rng(dim).integers(0, 40, len(words))
    expected = partition(words, weights)
    for version in VERSIONS.values():
        state = inserted(version, dim, [words], [weights])
        assert chain(*state.dump()) == expected


@pytest.mark.parametrize("dim", [40, 100, 250])
@pytest.mark.parametrize("scale", [1, 10**4, 10**8, 2**50])
def test_weights_of_every_size(dim, scale):
    """Counts that differ by little, by very much, and by both."""
    rng = np.random.default_rng([dim, scale % 1023])
    words = sample("ties", 150, dim, seed=3)
    weights = rng.integers(0, 4, len(words)) * scale + rng.integers(0, 3, len(words))
    batches = [weights, weights[::-1].copy()]
    expected = levels(*inserted(VERSIONS["python"], dim, [words, words], batches).dump())
    for name in NATIVE:
        state = inserted(VERSIONS[name], dim, [words, words], batches)
        assert levels(*state.dump()) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dim", "number"), [(300, 2900), (512, 2100), (770, 1500)])
def test_wide_flags_equal_the_partition(dim, number, kind):
    """Many sets, so that every level of blocks and spaces of most rows come into play."""
    words = sample(kind, number, dim, seed=3)
    cut = number - 301
    expected = partition(words)
    for name in NATIVE:
        state = inserted(VERSIONS[name], dim, [words[:cut], words[cut:]])
        assert chain(*state.dump()) == expected


@pytest.mark.parametrize("dim", [65, 129, 300])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_one_at_a_time_give_the_same_flag(dim, kind):
    words = sample(kind, 700, dim, seed=4)
    expected = partition(words)
    for name in NATIVE:
        single = inserted(VERSIONS[name], dim, [words[i : i + 1] for i in range(len(words))])
        assert chain(*single.dump()) == expected


def concentrated(rng, number, rank, dim, outliers):
    """Rows of a subspace of the given rank in random columns, some of them outside."""
    basis = rng.integers(0, 2, (rank, dim), np.uint8)
    X = combinations(rng, number, basis)
    stray = rng.random(number) < outliers
    X[stray] = rng.integers(0, 2, (stray.sum(), dim))
    return pack(X[:, rng.permutation(dim)])


@pytest.mark.parametrize("rank", [60, 65, 256, 300])
@pytest.mark.parametrize("outliers", [0, pytest.param(0.03, marks=pytest.mark.slow), 0.15])
def test_rows_that_keep_to_a_subspace(rank, outliers):
    """With few rows outside of it; read, copied and fed row by row on the way."""
    dim, number = 460, 2600
    words = concentrated(np.random.default_rng(rank), number, rank, dim, outliers)
    first, everything = partitions(words, None, [2500, number])
    for name in NATIVE:
        state = inserted(VERSIONS[name], dim, [words[:2500]])
        assert chain(*state.dump()) == first
        copied = state.copy()
        for i in range(2500, number):
            state.insert(words[i : i + 1], None)
        assert chain(*state.dump()) == everything
        assert chain(*copied.dump()) == first
        copied.insert(words[2500:], np.ones(100, np.int64))
        assert chain(*copied.dump()) == everything


def test_rows_that_keep_to_ever_narrower_spaces_and_leave_them_again():
    dim, rng = 500, np.random.default_rng(10)
    seen = []
    for size in [*range(dim - 8, 200, -64), dim, 100, dim]:
        X = np.zeros((3 * size, dim), np.uint8)
        X[:, :size] = rng.integers(0, 2, (3 * size, size))
        seen.append(pack(X))
    expected = partition(np.concatenate(seen))
    for name in NATIVE:
        assert chain(*inserted(VERSIONS[name], dim, seen).dump()) == expected


def test_a_set_that_grows_under_a_block():
    """Rows outside V that pass the set of V itself: the case in which order matters to both."""
    dim, rank, first = 460, 100, 1300
    rng = np.random.default_rng(5)
    X = np.zeros((first + 1200, dim), np.uint8)
    X[:, :rank] = rng.integers(0, 2, (len(X), rank))
    X[first:, rank : rank + 2] = rng.random((1200, 2)) < 0.1
    words = pack(X)
    expected = partition(words)
    for name in NATIVE:
        state = inserted(VERSIONS[name], dim, [words[:first], words[first:]])
        assert chain(*state.dump()) == expected


@pytest.mark.parametrize("dim", [1, 20, 64, 65, 129, 257])
def test_insert_is_the_merge_with_one_vector(dim):
    words = sample("lowrank", 2 * dim + 5, dim, seed=6)
    for version in VERSIONS.values():
        state = inserted(version, dim, [words])
        basis, counts = state.dump()
        for row in sample("uniform", 3, dim, seed=7)[:, None]:
            if row.any():
                merged = version.gf2.merge(dim, basis, counts, row, np.ones(1, np.int64))
                copied = state.copy()
                copied.insert(row, None)
                assert chain(*merged) == chain(*copied.dump())
        assert state.dump()[1].tolist() == counts.tolist()


@pytest.mark.parametrize("dim", WIDTHS)
def test_zero_rows_and_empty_batches_change_nothing(dim):
    for version in VERSIONS.values():
        state = version.gf2.flag(dim)
        for weights in (None, np.ones(5, np.int64)):
            state.insert(np.zeros((5, -(-dim // 64)), np.uint64), weights)
        state.insert(np.zeros((0, -(-dim // 64)), np.uint64), None)
        basis, counts = state.dump()
        assert basis.shape == (0, -(-dim // 64))
        assert counts.shape == (0,)


@pytest.mark.parametrize("dim", [129, 257])
def test_enormous_counts_do_not_overflow(version, dim):
    words = sample("ties", 300, dim, seed=8)
    state, plain = version.gf2.flag(dim), version.gf2.flag(dim)
    shift = 2**61
    unit = np.zeros((1, words.shape[1]), np.uint64)
    unit[0, -1] = 1
    state.insert(unit, np.array([shift]))
    plain.insert(unit, np.array([10_000]))
    for flag in (state, plain):
        flag.insert(words, None)
    (_, counts), (_, expected) = state.dump(), plain.dump()
    assert counts[0] - shift == expected[0] - 10_000
    assert counts[1:].tolist() == expected[1:].tolist()
