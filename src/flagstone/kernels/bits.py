"""Packing of 0/1 arrays into 64-bit words and back; column i is bit i mod 64 of word i div 64.

Eight bytes b_0..b_7 that are 0 or 1, read as one little-endian word, become eight neighbouring bits
by one multiplication: 2^(8i) · 2^(56 − 7i) = 2^(56 + i), and no two other terms meet above bit 55.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import jit
from flagstone.kernels._llvm import exceeding, word_at

__all__ = ["pack", "unpack"]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_GATHER = np.uint64(0x0102040810204080)
_NOT_BITS = np.uint64(0xFEFEFEFEFEFEFEFE)
_TILE = 512
_SMALL = 1 << 16


def pack(X: NDArray[Any]) -> tuple[NDArray[np.uint64], int]:
    """Pack a 2-D array of integers or booleans in C or Fortran order, in one pass.

    Returns the words and the flat C-order index of the first entry that is not 0 or 1, or -1.
    """
    words = np.zeros((X.shape[0], max(1, -(-X.shape[1] // 64))), np.uint64)
    if X.size == 0:
        return words, -1
    # Signed and boolean entries are 0 or 1 exactly if their unsigned images are.
    by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
    plain = np.ascontiguousarray(X.T if by_columns else X).view(f"u{X.dtype.itemsize}")
    if not plain.flags.writeable and plain.nbytes <= _SMALL:
        plain = plain.copy()  # a read-only array would have the kernel compiled once more
    if by_columns:
        bad = _pack_columns(plain, words)
    elif plain.dtype == np.uint8 and X.shape[1] >= 8:
        bad = _pack_bytes(plain.reshape(-1), X.shape[1], words)
    else:
        bad = _pack_rows(plain, words)
    return words, int(np.argmax(np.asarray(X > 1) | np.asarray(X < 0))) if bad else -1


def unpack(words: NDArray[np.uint64], dim: int) -> NDArray[np.uint8]:
    """The first ``dim`` columns as 0/1."""
    octets = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=dim, bitorder="little")


@jit
def _pack_bytes(X: Any, dim: int, words: Any) -> Any:
    """Rows of at least eight bytes; the last eight of a row may overlap those before."""
    bad = _NONE
    too_large = _NONE
    full = dim >> 6
    octets = (dim >> 3) & 7
    unused = np.uint64(8 * (-dim & 7))
    for i in range(len(words)):
        place = i * dim
        for k in range(full):
            words[i, k] = exceeding(X, place, 0)
            too_large |= exceeding(X, place, 1)
            place += 64
        total = _NONE
        for octet in range(octets):
            block = word_at(X, place)
            bad |= block
            total |= ((block * _GATHER) >> np.uint64(56)) << np.uint64(8 * octet)
            place += 8
        if unused:
            block = word_at(X, (i + 1) * dim - 8) >> unused
            bad |= block
            total |= ((block * _GATHER) >> np.uint64(56)) << np.uint64(8 * octets)
        if full < words.shape[1]:
            words[i, full] = total
    return (bad & _NOT_BITS) | too_large != _NONE


@jit
def _pack_rows(X: Any, words: Any) -> Any:
    bad = _NONE
    for i in range(X.shape[0]):
        for k in range(words.shape[1]):
            total = _NONE
            for bit in range(min(64, X.shape[1] - 64 * k)):
                value = np.uint64(X[i, 64 * k + bit])
                bad |= value
                total |= (value & _ONE) << np.uint64(bit)
            words[i, k] = total
    return bad > _ONE


@jit
def _pack_columns(columns: Any, words: Any) -> Any:
    """Column by column over a tile of rows whose words stay in the first cache."""
    bad = _NONE
    tile = np.empty(_TILE, np.uint64)
    for start in range(0, len(words), _TILE):
        number = min(_TILE, len(words) - start)
        for k in range(words.shape[1]):
            tile[:] = _NONE
            first = 64 * k
            last = min(first + 64, len(columns))
            while first + 4 <= last:
                shift = np.uint64(first & 63)
                for i in range(start, start + number):
                    a, b = np.uint64(columns[first, i]), np.uint64(columns[first + 1, i])
                    c, d = np.uint64(columns[first + 2, i]), np.uint64(columns[first + 3, i])
                    bad |= a | b | c | d
                    tile[i - start] |= (a | b << _ONE | c << _TWO | d << _THREE) << shift
                first += 4
            for column in range(first, last):
                for i in range(number):
                    value = np.uint64(columns[column, start + i])
                    bad |= value
                    tile[i] |= value << np.uint64(column & 63)
            for i in range(number):
                words[start + i, k] = tile[i]
    return bad > _ONE
