"""Products and picked columns over GF(2) against plain arithmetic on 0/1 arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.kernels import bits, gf2_linalg, gf2_product
from flagstone.kernels.gf2_product import add_named, choose, pick
from flagstone.kernels.gf2_space import Space


def packed(X):
    return bits.pack(np.ascontiguousarray(X, np.uint8))[0]


@st.composite
def columns_of_rows(draw):
    dim = draw(st.integers(1, 300))
    columns = np.flatnonzero(draw(st.lists(st.booleans(), min_size=dim, max_size=dim)))
    return dim, columns, draw(st.integers(0, 2**32))


@given(columns_of_rows())
def test_picked_columns_stand_side_by_side(drawn):
    dim, columns, seed = drawn
    X = np.random.default_rng(seed).integers(0, 2, (7, dim))
    words = packed(X)
    picked = pick(words, choose(columns, words.shape[1]))
    assert picked.shape == (7, max(1, -(-len(columns) // 64)))
    assert np.array_equal(bits.unpack(picked, len(columns)), X[:, columns])


@pytest.mark.parametrize("inner", [1, 7, 63, 64, 65, 130, 512])
@pytest.mark.parametrize("dim", [1, 64, 128, 129, 500, 512, 700, 1100])
@pytest.mark.parametrize("number", [0, 5, 40, 1025])
@pytest.mark.parametrize("tiles", [True, False] if gf2_product.AVAILABLE else [False])
def test_add_named_is_the_matrix_product(inner, dim, number, tiles, monkeypatch):
    """Tiles, narrow and wide tables; the last portion, word and block are not full."""
    monkeypatch.setattr(gf2_product, "AVAILABLE", tiles)
    rng = np.random.default_rng([inner, dim])
    names, rows = rng.integers(0, 2, (number, inner)), rng.integers(0, 2, (inner, dim))
    start = rng.integers(0, 2, (number, dim))
    result = packed(start)
    apart = np.repeat(packed(names), 2, axis=1)[:, ::2]  # words may lie apart
    add_named(apart, packed(rows), result)
    assert np.array_equal(bits.unpack(result, dim), (start + names @ rows) % 2)


@pytest.mark.parametrize(("rank", "dim"), [(1, 3), (30, 64), (65, 130), (128, 512), (300, 600)])
def test_a_space_tells_inside_from_outside(rank, dim):
    rng = np.random.default_rng(rank)
    basis, columns = gf2_linalg.rref(dim, packed(rng.integers(0, 2, (rank, dim))))
    coordinates = rng.integers(0, 2, (200, len(columns)))
    X = coordinates @ bits.unpack(basis, dim) % 2
    stray = rng.random(200) < 0.3
    free = np.setdiff1d(np.arange(dim), columns)
    X[stray, rng.choice(free, stray.sum())] ^= 1
    # Any echelon basis will do: add to each row the one below it.
    echelon = basis.copy()
    echelon[:-1] ^= basis[1:]
    space = Space(echelon, columns)
    assert np.array_equal(space.basis, basis)
    inside, outside = space.split(packed(X))
    assert np.array_equal(outside, np.flatnonzero(stray))
    assert np.array_equal(bits.unpack(inside, len(columns)), coordinates[~stray])
    assert np.array_equal(space.combine(inside), packed(X[~stray]))
    assert np.array_equal(space.coordinates(packed(X[~stray])), inside)
    assert space.nbytes > basis.nbytes
