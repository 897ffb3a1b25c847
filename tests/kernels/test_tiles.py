"""Products by tiles: compiled and plain, against products of matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.kernels import _tiles
from flagstone.kernels._jit import jit
from flagstone.kernels.bits import unpack

pytestmark = pytest.mark.skipif(not _tiles.AVAILABLE, reason="needs a processor with GFNI")


@jit
def _product(target, tiles, maps, rows, used, groups):
    for g in range(len(tiles)):
        _tiles.tile_rows(tiles, g, rows, 8 * g, len(rows) - 1)
    _tiles.set_product(target, 1, tiles, 0, maps, used, len(used), groups)


@jit
def _change(maps, columns, summands, tiles, places, groups):
    _tiles.map_columns(columns, maps, places, groups)
    for g in range(len(summands)):
        _tiles.map_tiles(summands, g, tiles, g)
    _tiles.add_product(maps, columns, summands, groups)


@jit
def _put_right(tiles, row, names, which, maps):
    _tiles.take_row(row, 0, tiles, 1, 5)
    _tiles.add_row(tiles, 0, row, 0, which)
    _tiles.map_tiles(maps, 0, tiles, 0)
    _tiles.add_sums(tiles, 1, names, maps, 0)


@jit
def _common(left, right, k):
    return _tiles.common_words(left, 1, right, 0, k)


def plain(name, *args):
    return getattr(_tiles, f"_{name}_python")(*args)


def random_words(rng, *shape):
    return rng.integers(0, 2**64, shape, dtype=np.uint64)


def eights(tiles, dim):
    """The rows in tiles, bit by bit."""
    bits = _tiles._bits(tiles).transpose(0, 2, 1, 3)
    return bits.reshape(8 * len(tiles), -1)[:, :dim].astype(int)


@given(st.integers(0, 2**32), st.integers(1, 150), st.sampled_from([(0,), (0, 0), (0, 0, 0, 0)]))
def test_products_are_those_of_matrices(seed, dim, groups):
    rng = np.random.default_rng(seed)
    width, octets = -(-dim // 64), -(-dim // 8)
    maps = random_words(rng, width, 8 * octets)
    rows = random_words(rng, int(rng.integers(1, 8 * len(groups) + 1)), width)
    used = np.flatnonzero(rng.random(octets) < 0.7)
    tiles = random_words(rng, len(groups), 8 * width)
    target = random_words(rng, len(groups) + 1, 8 * width)
    copied = tiles.copy(), target.copy()
    _product(target, tiles, maps, rows, used, groups)
    for g in range(len(groups)):
        plain("tile_rows", copied[0], g, rows, 8 * g, len(rows) - 1)
    plain("set_product", copied[1], 1, copied[0], 0, maps, used, len(used), groups)
    assert (copied[0] == tiles).all()
    assert (copied[1] == target).all()
    left = unpack(rows, 8 * octets)
    left[:, ~np.isin(np.arange(8 * octets) // 8, used)] = 0
    expected = left.astype(int) @ _tiles._matrix(maps).astype(int) % 2
    assert (eights(target[1:], 64 * width)[: len(rows)] == expected).all()


@given(st.integers(0, 2**32), st.integers(1, 150), st.sampled_from([1, 4]))
def test_changes_are_products_of_matrices(seed, dim, number):
    rng = np.random.default_rng(seed)
    width, octets = -(-dim // 64), -(-dim // 8)
    maps, groups = random_words(rng, width, 8 * octets), (0,) * number
    matrix = _tiles._matrix(maps)
    tiles, places = random_words(rng, number, 8 * width), rng.integers(0, dim, 32)
    columns, summands = random_words(rng, 8 * octets), random_words(rng, number, 8 * width)
    copied = maps.copy(), columns.copy(), summands.copy()
    _change(maps, columns, summands, tiles, places, groups)
    plain("map_columns", copied[1], copied[0], places, groups)
    for g in range(number):
        plain("map_tiles", copied[2], g, tiles, g)
    plain("add_product", copied[0], copied[1], copied[2], groups)
    assert (copied[0] == maps).all()
    for g in range(number):
        assert (copied[1][g::8] == columns[g::8]).all()
    assert (copied[2] == summands).all()
    names = matrix[:, places[: 8 * number]].astype(int)
    expected = (matrix + names @ eights(tiles, 64 * width)) % 2
    assert (_tiles._matrix(maps) == expected).all()


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(0, 255))
def test_rows_that_wait_are_put_right(seed, width, chosen):
    rng = np.random.default_rng(seed)
    tiles, row = random_words(rng, 2, 8 * width), random_words(rng, 1, width + 1)
    names, maps = rng.integers(0, 2**64, dtype=np.uint64), random_words(rng, 1, 8 * width)
    which = np.uint64(sum(255 << 8 * r for r in range(8) if chosen >> r & 1))
    before, copied = eights(tiles, 64 * width), (tiles.copy(), row.copy(), maps.copy())
    _put_right(tiles, row, names, which, maps)
    plain("take_row", copied[1], 0, copied[0], 1, 5)
    plain("add_row", copied[0], 0, copied[1], 0, which)
    plain("map_tiles", copied[2], 0, copied[0], 0)
    plain("add_sums", copied[0], 1, names, copied[2], 0)
    for compiled, expected in zip((tiles, row, maps), copied, strict=True):
        assert (compiled == expected).all()
    first, second = before[:8], before[8:]
    assert (unpack(row, 64 * width) == second[5]).all()
    first = first ^ np.outer(chosen >> np.arange(8) & 1, second[5])
    sums = int(names) >> np.arange(64, dtype=object).reshape(8, 8) & 1
    assert (eights(tiles, 64 * width) == np.r_[first, second ^ sums.astype(int) @ first % 2]).all()


@given(st.lists(st.sampled_from([0, 1, 2, 3, 1 << 63]), min_size=32, max_size=32))
def test_words_in_common(words):
    left, right = np.array(words, np.uint64).reshape(2, 16), np.full((1, 16), 2, np.uint64)
    for k in (0, 8):
        expected = sum(1 << j for j in range(8) if words[16 + k + j] & 2)
        assert _common(left, right, k) == expected
        assert plain("common_words", left, 1, right, 0, k) == expected
