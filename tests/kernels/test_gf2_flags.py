"""The flag kernels over GF(2) against the partition by definition: every V_j, not only counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.kernels import (
    _eights,
    _tiles,
    bits,
    gf2_blocks,
    gf2_eights,
    gf2_linalg,
    gf2_sweep,
    gf2_tiles,
    gf2_wide,
)
from flagstone.kernels.gf2 import narrow_kernel
from tests.kernels.gf2 import KINDS, WIDTHS, Span, chain, integers, kernel, partition, sample

NARROW = [dim for dim in WIDTHS if dim < 256]


#: Kernels that hold the full coordinate map, as far as this processor can.
MAPS = [
    gf2_sweep,
    *([gf2_eights] if _eights.AVAILABLE else []),
    *([gf2_tiles] if _tiles.AVAILABLE else []),
]


@pytest.fixture(params=[True, False], ids=["tiles", "no tiles"])
def any_processor(request, monkeypatch):
    """The choices of this processor, and of one without tiles and permutations of bytes."""
    if not request.param:
        monkeypatch.setattr(gf2_wide, "AVAILABLE", False)
        monkeypatch.setattr(_eights, "AVAILABLE", False)


def inserted(dim, parts, weights=None, family=None):
    family = family or kernel(dim)
    state = family.new(dim, dim)
    for i, part in enumerate(parts):
        family.insert(state, part, None if weights is None else weights[i])
    return state


def same_flag(left, right):
    """Whether two adapted bases have the same counts and span the same spaces."""
    (X, cx), (Y, cy) = left, right
    if cx.tolist() != cy.tolist():
        return False
    X, Y = integers(X), integers(Y)
    return all(
        Span(X[:r]) == Span(Y[:r])
        for r in range(1, len(X) + 1)
        if r == len(X) or cx[r - 1] != cx[r]
    )


@st.composite
def small_samples(draw):
    """Few vectors and their sums, so that ties and exchanges abound; any representation."""
    dim = draw(
        st.sampled_from(
            [1, 2, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 257, 513, 769]
        )
    )
    vector = st.integers(0, 2**dim - 1)
    pool = draw(st.lists(vector, min_size=1, max_size=6))
    pairs = st.tuples(st.sampled_from(pool), st.sampled_from([0, *pool]))
    rows = draw(st.lists(pairs.map(lambda pair: pair[0] ^ pair[1]), max_size=24))
    weights = draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows)))
    width = -(-dim // 64)
    words = np.array([list(row.to_bytes(8 * width, "little")) for row in rows], np.uint8)
    return dim, rows, weights, words.reshape(-1, 8 * width).view(np.uint64)


@given(small_samples())
def test_flag_equals_the_partition(drawn):
    dim, rows, _, words = drawn
    assert chain(*kernel(dim).dump(inserted(dim, [words]))) == partition(rows)


@given(small_samples())
def test_weights_are_repeated_rows(drawn):
    dim, rows, weights, words = drawn
    state = inserted(dim, [words], [np.array(weights, np.int64)])
    assert chain(*kernel(dim).dump(state)) == partition(rows, weights)


@given(small_samples(), st.integers(0, 24))
def test_maps_equal_the_partition(drawn, cut):
    """Rows, the same with weights, some of them once more; read, copied, loaded in between."""
    dim, rows, weights, words = drawn
    ones = [1] * len(rows)
    once = partition(rows)
    twice = partition(rows * 2, ones + weights)
    thrice = partition(rows * 3, ones + weights + ones)
    for family in MAPS:
        state = inserted(dim, [words[:cut], words[cut:]], family=family)
        assert chain(*family.dump(state)) == once
        copied = family.copy(state)
        family.insert(state, words, np.array(weights, np.int64))
        assert chain(*family.dump(state)) == twice
        loaded = family.load(dim, *family.dump(state))
        for flag in (state, loaded):
            family.insert(flag, words, None)
            assert chain(*family.dump(flag)) == thrice
        assert chain(*family.dump(copied)) == once


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [60, 100, 180, 270])
def test_maps_serve_every_kind_of_data(dim, kind):
    """Rows alone, with weights, and rows alone after them, when many counts are the same."""
    words = sample(kind, 2 * dim + 40, dim, seed=1)
    weights = np.random.default_rng(dim).integers(0, 3, len(words))
    last = words[: dim // 2]
    once = partition(integers(words))
    rows, times = integers(words) * 2, [1] * len(words) + weights.tolist()
    twice, more = partition(rows, times), partition(rows + integers(last), times + [1] * len(last))
    for family in MAPS:
        state = inserted(dim, np.split(words, [1, 9, 50, dim]), family=family)
        assert chain(*family.dump(state)) == once
        family.insert(state, words, weights)
        assert chain(*family.dump(state)) == twice
        loaded = family.load(dim, *family.dump(state))
        for flag in (state, loaded):
            family.insert(flag, last, None)
            assert chain(*family.dump(flag)) == more


@pytest.mark.skipif(gf2_tiles not in MAPS, reason="this processor does not multiply tiles")
@given(
    st.lists(
        st.sets(st.sampled_from([0, 63, 64, 511, 512, 513, 1023, 1024, 1099]), max_size=3),
        max_size=40,
    )
)
def test_tiles_find_ties_that_lie_far_apart(rows):
    X = np.zeros((len(rows), 1100), np.uint8)
    for i, columns in enumerate(rows):
        X[i, list(columns)] = 1
    words = bits.pack(X)[0]
    state = inserted(1100, [words], family=gf2_tiles)
    assert chain(*gf2_tiles.dump(state)) == partition(integers(words))


@given(small_samples(), st.integers(0, 24))
def test_a_flag_may_be_dumped_and_loaded_at_any_moment(drawn, cut):
    dim, rows, _, words = drawn
    family = kernel(dim)
    state = family.load(dim, *family.dump(inserted(dim, [words[:cut]])), dim)
    family.insert(state, words[cut:], None)
    assert chain(*family.dump(state)) == partition(rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", NARROW)
def test_every_width_and_kind_of_data(dim, kind):
    rng = np.random.default_rng(dim)
    words = sample(kind, 3 * dim + 40, dim, seed=1)
    parts = np.split(words, np.sort(rng.integers(0, len(words), 3)))
    state = inserted(dim, parts)
    assert chain(*kernel(dim).dump(state)) == partition(integers(words))


@pytest.mark.parametrize("dim", [20, 64, 65, 128, 129, 300])
def test_large_weights_in_one_step(dim):
    words = sample("ties", 200, dim, seed=2)
    weights = np.random.default_rng(dim).integers(0, 40, len(words))
    state = inserted(dim, [words], [weights])
    assert chain(*kernel(dim).dump(state)) == partition(integers(words), weights.tolist())


@pytest.mark.parametrize("dim", [40, 100, 250])
@pytest.mark.parametrize("scale", [1, 10**4, 10**8, 2**50])
def test_weights_of_every_size(dim, scale):
    """Counts that differ by little, by far more than keys can tell, and by both."""
    rng = np.random.default_rng([dim, scale % 1023])
    words = sample("ties", 150, dim, seed=3)
    weights = rng.integers(0, 4, len(words)) * scale + rng.integers(0, 3, len(words))
    batches = [weights, weights[::-1]]
    expected = gf2_blocks.dump(inserted(dim, [words, words], batches, gf2_blocks))
    for family in MAPS:
        state = inserted(dim, [words, words], batches, family)
        assert same_flag(family.dump(state), expected)


@pytest.mark.parametrize("dim", [40, 100, 250])
def test_an_element_that_rises_again_and_again_stays_below_a_far_one(dim):
    """Keys hold gaps of some size only, and are made anew before counts have risen by as much."""
    words = np.zeros((24, -(-dim // 64)), np.uint64)
    words[:, 0] = [1, *[2] * 22, 3]
    some = 2**32 // (64 * words.shape[1]) // dim // 10
    weights = np.array([2**40, *[some] * 22, 5])
    expected = gf2_blocks.dump(inserted(dim, [words], [weights], gf2_blocks))
    assert expected[1].tolist() == [2**40, 22 * some + 5]
    for family in MAPS:
        assert same_flag(family.dump(inserted(dim, [words], [weights], family)), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dim", "number"), [(300, 2900), (512, 2100), (770, 1500)])
def test_wide_flags_equal_the_partition(dim, number, kind):
    """Many sets, so that bulks, batches, the cache and spaces of their own all come into play."""
    words = sample(kind, number, dim, seed=3)
    cut = number - 301
    state = inserted(dim, [words[:cut], words[cut:]], family=gf2_wide)
    assert chain(*gf2_wide.dump(state)) == partition(integers(words))


@pytest.mark.parametrize("dim", [129, 200, 300])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_one_at_a_time_give_the_same_flag(dim, kind):
    words = sample(kind, 900, dim, seed=4)
    single, family = kernel(dim).new(dim), kernel(dim)
    for i in range(len(words)):
        family.insert(single, words[i : i + 1], None)
    batch = inserted(dim, [words])
    assert chain(*family.dump(batch)) == chain(*family.dump(single))


@pytest.mark.parametrize("dim", [65, 129, 300])
def test_rows_known_by_heart_are_exact_with_weights_too(dim):
    """Frequent rows whose counts pass each other again and again, with and without weights."""
    rng = np.random.default_rng(dim)
    words = sample("ties", 60, dim, seed=9)[rng.integers(0, 60, 1500)]
    for weights in (None, rng.integers(0, 30, len(words))):
        state = gf2_blocks.new(dim)
        gf2_blocks.insert(state, words, weights)
        expected = partition(integers(words), None if weights is None else weights.tolist())
        assert chain(*gf2_blocks.dump(state)) == expected


def test_a_ceiling_stops_before_the_first_row_past_it():
    dim = 150
    words = sample("ties", 400, dim, seed=12)
    for ceiling in (1, 2, 3, 5):
        state = gf2_blocks.new(dim)
        done = gf2_blocks.insert_up_to(state, words, ceiling)
        sets = partition(integers(words[: done + 1]))
        assert len(partition(integers(words[:done]))) <= ceiling < len(sets)
        assert chain(*gf2_blocks.dump(state)) == sets[:ceiling]


def concentrated(rng, number, rank, dim, outliers):
    """Rows of a subspace of the given rank in random columns, some of them outside."""
    basis = rng.integers(0, 2, (rank, dim), np.uint8)
    X = rng.integers(0, 2, (number, rank)) @ basis % 2
    stray = rng.random(number) < outliers
    X[stray] = rng.integers(0, 2, (stray.sum(), dim))
    words, _ = bits.pack(X[:, rng.permutation(dim)].astype(np.uint8))
    return words


@pytest.mark.parametrize("rank", [60, 65, 256, 300])
@pytest.mark.parametrize("outliers", [0, 0.03])
@pytest.mark.usefixtures("any_processor")
def test_a_space_that_holds_most_rows_gets_a_flag_of_its_own(rank, outliers):
    """Whatever is done with the open space, read, copied, fed row by row: one flag."""
    dim, number = 920 if gf2_wide.AVAILABLE else 460, 2600
    words = concentrated(np.random.default_rng(rank), number, rank, dim, outliers)
    state = inserted(dim, [words[:2500]])
    assert state.within.kernel is (narrow_kernel(rank) or gf2_blocks)
    assert len(state.within.space.columns) == rank
    expected_chain = partition(integers(words[:2500]))
    assert chain(*gf2_wide.dump(state)) == expected_chain
    copied = gf2_wide.copy(state)
    for i in range(2500, number):
        gf2_wide.insert(state, words[i : i + 1], None)
    assert chain(*gf2_wide.dump(state)) == partition(integers(words))
    assert chain(*gf2_wide.dump(copied)) == expected_chain
    gf2_wide.insert(copied, words[2500:], np.ones(100, np.int64))
    assert (copied.within is not None) == gf2_wide.AVAILABLE
    assert copied.within is None or copied.within.base == 0
    assert chain(*gf2_wide.dump(copied)) == partition(integers(words))


def test_spaces_within_spaces_are_not_nested(monkeypatch):
    """Rows that keep to ever narrower spaces: the wider one is closed, not held open for each."""
    monkeypatch.setattr(gf2_wide, "_alone", lambda dim: None)
    dim, rng = 500, np.random.default_rng(10)
    state, seen, sizes = gf2_wide.new(dim), [], []
    for size in range(dim - 8, 300, -32):
        X = np.zeros((3 * size, dim), np.uint8)
        X[:, :size] = rng.integers(0, 2, (3 * size, size))
        seen.append(bits.pack(X)[0])
        gf2_wide.insert(state, seen[-1], None)
        if state.within:
            assert state.within.kernel is gf2_blocks
            sizes.append(len(state.within.space.columns))
    assert len(set(sizes)) > 1
    assert gf2_wide.nbytes(state) < 8 * gf2_wide.nbytes(gf2_wide.new(dim))
    assert chain(*gf2_wide.dump(state)) == partition(integers(np.concatenate(seen)))


@pytest.mark.parametrize(("rank", "family"), [*enumerate(MAPS, 398)])
def test_rows_that_come_alone_have_a_kernel_of_their_own(rank, family, monkeypatch):
    """In a space of most rows and in all of it; asked again at times, with weights in between."""
    monkeypatch.setattr(gf2_wide, "_TERM", 8)
    monkeypatch.setattr(gf2_wide, "_alone", lambda dim: family)
    dim, rng = 400, np.random.default_rng(12)
    X = np.zeros((9000, dim), np.uint8)
    X[np.arange(len(X))[:, None], rng.integers(0, rank, (len(X), 3))] = 1
    X[rng.integers(0, len(X), 20)] = rng.integers(0, 2, (20, dim))
    words, seen, start = bits.pack(X)[0], set(), 0
    weights = np.ones(len(X), np.int64)
    state = gf2_wide.new(dim)
    while start < len(words):
        part = slice(start, start + 700)
        if start == 4200:
            weights[part] = rng.integers(0, 4, 700)
            gf2_wide.insert(state, words[part], weights[part])
            assert state.within.base == 0
        else:
            gf2_wide.insert(state, words[part], None)
        seen.add(state.within.kernel if state.within else None)
        start = part.stop
    assert {None, family} <= seen
    state = gf2_wide.copy(state)
    assert gf2_wide.nbytes(state) > 0
    assert chain(*gf2_wide.dump(state)) == partition(integers(words), weights.tolist())


@pytest.mark.usefixtures("any_processor")
def test_a_space_of_most_rows_is_not_left_for_good(monkeypatch):
    """Neither after many rows, nor when rows outside have filled the sets below it."""
    monkeypatch.setattr(gf2_wide, "_TERM", 16)
    dim, rank = 460, 70
    words = concentrated(np.random.default_rng(9), 40_000, rank, dim, 0.15)
    state, bases = gf2_wide.new(dim), []
    for start in range(0, len(words), 500):
        gf2_wide.insert(state, words[start : start + 500], None)
        bases.append(state.within.base if state.within else 0)
    assert bases.count(0) < 5
    assert max(bases[:10]) < 50 < bases[-1]
    assert state.within.kernel is narrow_kernel(rank)
    expected = gf2_blocks.dump(inserted(dim, [words], family=gf2_blocks))
    assert same_flag(gf2_wide.dump(state), expected)


@pytest.mark.usefixtures("any_processor")
def test_a_space_that_misses_its_rows_is_given_up():
    dim = 460
    rng = np.random.default_rng(6)
    first, second = concentrated(rng, 2000, 70, dim, 0.02), concentrated(rng, 2500, dim, dim, 0)
    state = inserted(dim, [first])
    assert state.within is not None
    gf2_wide.insert(state, second, None)
    assert state.within is None
    assert state.pause > 0
    seen = [first, second]
    while state.pause:  # small batches count, too
        waited = state.pause
        seen.append(concentrated(rng, 40, 70, dim, 0))
        gf2_wide.insert(state, seen[-1], None)
        assert state.pause == max(0, waited - 40)
    assert chain(*gf2_wide.dump(state)) == partition(integers(np.concatenate(seen)))


@pytest.mark.usefixtures("any_processor")
def test_a_set_that_grows_under_a_batch_ends_it():
    """Rows outside V that pass the set of V itself: the one case in which order matters to both."""
    dim, rank, first = 460, 100, 1300
    rng = np.random.default_rng(5)
    X = np.zeros((first + 600, dim), np.uint8)
    X[:, :rank] = rng.integers(0, 2, (len(X), rank))
    X[first:, rank : rank + 2] = rng.random((600, 2)) < 0.1
    words, _ = bits.pack(X)
    state = inserted(dim, [words[:first]])
    assert state.within.base > 0
    gf2_wide.insert(state, words[first:], None)
    assert chain(*gf2_wide.dump(state)) == partition(integers(words))


@pytest.mark.parametrize("dim", WIDTHS)
def test_insert_is_the_merge_with_one_vector(dim):
    words = sample("lowrank", 2 * dim + 5, dim, seed=6)
    family = kernel(dim)
    state = inserted(dim, [words])
    basis, counts = family.dump(state)
    for row in sample("uniform", 3, dim, seed=7)[:, None]:
        if row.any():
            merged = gf2_linalg.merge(dim, basis, counts, row, np.ones(1, np.int64))
            copied = family.copy(state)
            family.insert(copied, row, None)
            assert chain(*merged) == chain(*family.dump(copied))
    assert family.dump(state)[1].tolist() == counts.tolist()


@pytest.mark.parametrize("dim", WIDTHS)
def test_zero_rows_and_empty_batches_change_nothing(dim):
    family = kernel(dim)
    state = family.new(dim, dim)
    for weights in (None, np.ones(5, np.int64)):
        family.insert(state, np.zeros((5, -(-dim // 64)), np.uint64), weights)
    family.insert(state, np.zeros((0, -(-dim // 64)), np.uint64), None)
    basis, counts = family.dump(state)
    assert basis.shape == (0, -(-dim // 64))
    assert counts.shape == (0,)


def test_words_may_lie_apart():
    words = sample("uniform", 100, 64, seed=11)
    apart = np.repeat(words, 2, axis=1)[:, :1]
    assert not apart.flags.c_contiguous
    assert chain(*kernel(64).dump(inserted(64, [apart]))) == partition(integers(words))


@pytest.mark.parametrize("dim", [129, 257])
def test_enormous_counts_do_not_overflow(dim):
    words = sample("ties", 300, dim, seed=8)
    family = kernel(dim)
    state, plain = family.new(dim), family.new(dim)
    shift = 2**61
    unit = np.zeros((1, words.shape[1]), np.uint64)
    unit[0, -1] = 1
    family.insert(state, unit, np.array([shift]))
    family.insert(plain, unit, np.array([10_000]))
    for flag in (state, plain):
        family.insert(flag, words, None)
    (_, counts), (_, expected) = family.dump(state), family.dump(plain)
    assert counts[0] - shift == expected[0] - 10_000
    assert counts[1:].tolist() == expected[1:].tolist()


def test_state_is_small():
    state = gf2_wide.new(1024)
    assert gf2_wide.nbytes(state) < 4 * 2**20
    rows = concentrated(np.random.default_rng(9), 3000, 500, 1024, 0)
    gf2_wide.insert(state, rows, None)
    assert state.within is not None
    assert gf2_wide.nbytes(state) < 4 * 2**20
