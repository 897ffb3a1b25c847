"""Products by tiles: compiled and plain, against products of matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.kernels import _tiles
from flagstone.kernels._jit import jit
from flagstone.kernels.bits import pack, unpack

pytestmark = pytest.mark.skipif(not _tiles.AVAILABLE, reason="needs a processor with GFNI")


@jit
def _product(target, tiles, maps, rows, used, groups):
    for g in range(len(tiles)):
        _tiles.tile_rows(tiles, g, rows, 8 * g, len(rows) - 1)
    _tiles.set_product(target, 0, tiles, 0, maps, used, len(used), groups)


@jit
def _change(maps, columns, summands, rows, octets, groups):
    _tiles.map_columns(columns, maps, octets, groups)
    for g in range(len(summands)):
        _tiles.map_rows(summands, g, rows, 8 * g)
    _tiles.add_product(maps, columns, summands, groups)


def plain(name, *args):
    return getattr(_tiles, f"_{name}_python")(*args)


def random_words(rng, *shape):
    return rng.integers(0, 2**64, shape, dtype=np.uint64)


@given(st.integers(0, 2**32), st.integers(1, 3), st.sampled_from([(0,), (0, 0), (0, 0, 0, 0)]))
def test_products_are_those_of_matrices(seed, width, groups):
    rng = np.random.default_rng(seed)
    maps = random_words(rng, width, 64 * width)
    rows = random_words(rng, int(rng.integers(1, 8 * len(groups) + 1)), width)
    used = np.flatnonzero(rng.random(8 * width) < 0.7)
    tiles, target = random_words(rng, len(groups), 8 * width), random_words(rng, 32, width + 1)
    copied = tiles.copy(), target.copy()
    _product(target, tiles, maps, rows, used, groups)
    for g in range(len(groups)):
        plain("tile_rows", copied[0], g, rows, 8 * g, len(rows) - 1)
    plain("set_product", copied[1], 0, copied[0], 0, maps, used, len(used), groups)
    assert (copied[0] == tiles).all()
    assert (copied[1] == target).all()
    left = unpack(rows, 64 * width)
    left[:, ~np.isin(np.arange(64 * width) // 8, used)] = 0
    expected = left.astype(int) @ _tiles._matrix(maps).astype(int) % 2
    assert (target[: len(rows), :width] == pack(expected.astype(np.uint8))[0]).all()


@given(st.integers(0, 2**32), st.integers(1, 3), st.sampled_from([2, 4, 8]))
def test_changes_are_products_of_matrices(seed, width, number):
    rng = np.random.default_rng(seed)
    maps, groups = random_words(rng, width, 64 * width), (0,) * number
    matrix = _tiles._matrix(maps)
    rows, octets = random_words(rng, 64, width + 1), rng.integers(0, 8 * width, 8)
    columns, summands = random_words(rng, 64 * width), random_words(rng, 8, 8 * width)
    copied = maps.copy(), columns.copy(), summands.copy()
    _change(maps, columns, summands, rows, octets, groups)
    plain("map_columns", copied[1], copied[0], octets, groups)
    for g in range(8):
        plain("map_rows", copied[2], g, rows, 8 * g)
    plain("add_product", copied[0], copied[1], copied[2], groups)
    assert (copied[0] == maps).all()
    for g in range(number):
        assert (copied[1][g::8] == columns[g::8]).all()
    assert (copied[2] == summands).all()
    names = matrix.reshape(64 * width, -1, 8)[:, octets[:number]].reshape(64 * width, -1)
    right = unpack(rows[: 8 * number, :width].copy(), 64 * width)
    expected = (matrix + names.astype(int) @ right) % 2
    assert (_tiles._matrix(maps) == expected).all()
