"""Packing in every version: the same words, and whether all entries are bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.versions import NATIVE, VERSIONS

DTYPES = [np.bool_, *(np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8))]
DIMS = (1, 7, 8, 9, 20, 63, 64, 65, 72, 127, 128, 129, 255, 256, 257, 385, 513)


@pytest.fixture(params=VERSIONS)
def kernels(request):
    return VERSIONS[request.param]


def words_of(X):
    """The words by definition, row by row."""
    n_words = max(1, -(-X.shape[1] // 64))
    rows = [sum(int(x) << j for j, x in enumerate(row)) for row in X.tolist()]
    words = [[row >> 64 * k & 2**64 - 1 for k in range(n_words)] for row in rows]
    return np.array(words, np.uint64).reshape(len(X), n_words)


@st.composite
def tables(draw):
    """Arrays of 0 and 1 of any type and any strides."""
    dtype = draw(st.sampled_from(DTYPES))
    rows = draw(st.sampled_from([0, 1, 2, 3, 70, 2047, 2048, 2049]))
    dim = draw(st.sampled_from(DIMS) | st.integers(0, 40))
    dim = min(dim, 70) if rows > 2000 else dim
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    step = draw(st.sampled_from([(1, 1), (2, 1), (1, 3), (-1, 1), (1, -1), (-2, -2)]))
    shape = [n * abs(by) + draw(st.integers(0, 2)) for n, by in zip((rows, dim), step, strict=True)]
    X = rng.integers(0, 2, shape).astype(dtype, order=draw(st.sampled_from("CF")))
    return X[:: step[0], :: step[1]][:rows, :dim]


@settings(max_examples=100)
@given(X=tables())
def test_words_hold_the_entries(X):
    expected = words_of(X)
    for kernels in VERSIONS.values():
        words, fits = kernels.pack(X)
        assert fits is True
        assert words.dtype == np.uint64
        assert words.flags.c_contiguous
        assert np.array_equal(words, expected)
        if X.shape[1]:
            words, fits = kernels.pack_columns(list(X.T))
            assert fits is True
            assert np.array_equal(words, expected)


@pytest.mark.parametrize("order", ["C", "F", "columns", "unaligned"])
def test_an_entry_that_is_not_a_bit_is_seen(kernels, order):
    rng = np.random.default_rng(2)
    for dtype in DTYPES[1:]:
        for dim in (1, 8, 20, 65, 129):
            most = np.iinfo(dtype).max
            for value in (2, 3, most, *([-1, -most - 1] if dtype.kind == "i" else [])):
                X = laid_out(rng.integers(0, 2, (33, dim)).astype(dtype), order)
                X[np.unravel_index(rng.integers(X.size), X.shape)] = value
                assert kernels.pack(X)[1] is False
                assert kernels.pack_columns(list(X.T))[1] is False


def laid_out(X, order):
    if order == "columns":
        return np.asfortranarray(np.hstack([X, X]))[:, : X.shape[1]]
    if order == "unaligned":
        record = np.zeros(len(X), np.dtype([("odd", "u1"), ("X", X.dtype, (X.shape[1],))]))
        record["X"] = X
        return record["X"]
    return X.copy(order=order)


def test_bytes_beside_the_array_are_not_its_entries(kernels):
    """The kernel looks ahead, but only at entries."""
    for dim in (20, 64, 70):
        wide = np.full((40, dim + 9), 7, np.uint8)
        wide[:, :dim] = 1
        assert kernels.pack(wide[:, :dim])[1] is True
        assert kernels.pack(wide.T[:dim].T)[1] is True


def test_columns_of_different_types(kernels):
    rng = np.random.default_rng(3)
    for n in (1, 5, 64, 150):
        X = rng.integers(0, 2, (300, n))
        columns = [X[:, j].astype(DTYPES[j % len(DTYPES)]) for j in range(n)]
        columns[0] = np.repeat(columns[0], 3)[::3]
        columns[-1].flags.writeable = False
        words, fits = kernels.pack_columns(columns)
        assert fits
        assert np.array_equal(words, words_of(X))


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 100), (0, 0)])
def test_nothing_is_packed_into_zeros(kernels, shape):
    words, fits = kernels.pack(np.zeros(shape, np.uint8))
    assert words.tolist() == [[0] * max(1, -(-shape[1] // 64))] * shape[0]
    assert fits is True


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("pack", [np.zeros((2, 2))]),
        ("pack", [np.zeros(4, np.uint8)]),
        ("pack", [np.zeros((2, 2, 2), np.uint8)]),
        ("pack", [np.zeros((2, 2), ">i4")]),
        ("pack", [np.zeros((2, 2), object)]),
        ("pack", [[[0, 1]]]),
        ("pack", [None]),
        ("pack_columns", [[]]),
        ("pack_columns", [[np.zeros(2, np.uint8), np.zeros(3, np.uint8)]]),
        ("pack_columns", [[np.zeros(2, np.float32)]]),
        ("pack_columns", [[np.zeros((2, 2), np.uint8)]]),
        ("pack_columns", [3]),
    ],
)
def test_what_cannot_be_is_refused(name, function, arguments):
    with pytest.raises((TypeError, ValueError)):
        getattr(VERSIONS[name], function)(*arguments)
