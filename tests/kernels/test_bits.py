"""Packing: every dtype and order, and the place of the first entry that is not a bit."""

from __future__ import annotations

import numpy as np
import pytest

from flagstone.kernels import bits

DTYPES = [np.bool_, np.uint8, np.int8, np.int16, np.uint32, np.int64]
DIMS = (1, 7, 8, 9, 20, 63, 64, 65, 72, 129)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pack_is_the_little_endian_bit_order(dtype, order):
    rng = np.random.default_rng(1)
    for dim in DIMS:
        X = rng.integers(0, 2, (600, dim)).astype(dtype, order=order)
        for view in (X, X[::7], X[:, ::-1]):
            words, bad = bits.pack(view)
            assert bad == -1
            expected = [sum(int(x) << i for i, x in enumerate(row)) for row in view]
            assert [int.from_bytes(row.tobytes(), "little") for row in words] == expected


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_pack_names_the_first_bad_entry_in_row_order(dtype, order):
    rng = np.random.default_rng(2)
    for dim in DIMS:
        for value in (2, 3, 127, *([-1, -2] if np.issubdtype(dtype, np.signedinteger) else [])):
            X = rng.integers(0, 2, (30, dim)).astype(dtype, order=order)
            first, second = sorted(rng.choice(X.size, 2, replace=False))
            X[np.unravel_index([first, second], X.shape)] = value
            assert bits.pack(X)[1] == first


@pytest.mark.parametrize("dim", DIMS)
def test_unpack_inverts_pack(dim):
    X = np.random.default_rng(dim).integers(0, 2, (40, dim), dtype=np.uint8)
    plain = bits.unpack(bits.pack(X)[0], dim)
    assert plain.dtype == np.uint8
    assert np.array_equal(plain, X)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 100)])
def test_pack_of_nothing(shape):
    words, bad = bits.pack(np.zeros(shape, np.uint8))
    assert words.shape == (shape[0], max(1, -(-shape[1] // 64)))
    assert not words.any()
    assert bad == -1
