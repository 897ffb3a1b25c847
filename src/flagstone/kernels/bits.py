"""Packing of 0/1 arrays into 64-bit words and back; column i is bit i mod 64 of word i div 64.

Eight bytes b_0..b_7 that are 0 or 1, read as one little-endian word, become eight neighbouring bits
by one multiplication: 2^(8i) · 2^(56 − 7i) = 2^(56 + i), and no two other terms meet above bit 55.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import frozen, jit
from flagstone.kernels._llvm import exceeding, word_at
from flagstone.kernels.small_gf2 import unpack

__all__ = ["pack", "pack_columns", "unpack"]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_GATHER = np.uint64(0x0102040810204080)
_NOT_BITS = np.uint64(0xFEFEFEFEFEFEFEFE)
_SMALL = 1 << 16
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
#: Fewer rows than this are quicker turned around than packed by one call per column.
_FEW = 1 << 12


def pack(X: NDArray[Any]) -> tuple[NDArray[np.uint64], int]:
    """Pack a 2-D array of integers or booleans in C or Fortran order, in one pass.

    Returns the words and the flat C-order index of the first entry that is not 0 or 1, or -1.
    """
    shape = (X.shape[0], max(1, -(-X.shape[1] // 64)))
    if X.size == 0:
        return np.zeros(shape, np.uint64), -1
    if X.flags.f_contiguous and len(X) >= _FEW:
        words, fits = pack_columns(list(X.T))
    else:
        # Signed and boolean entries are 0 or 1 exactly if their unsigned images are.
        plain = np.ascontiguousarray(X).view(f"u{X.dtype.itemsize}")
        if not plain.flags.writeable and plain.nbytes <= _SMALL:
            plain = plain.copy()  # a read-only array would have the kernel compiled once more
        words = np.empty(shape, np.uint64)
        if plain.dtype == np.uint8 and X.shape[1] >= 8:
            fits = not _pack_bytes(plain.reshape(-1), X.shape[1], words)
        else:
            fits = not _pack_rows(plain, words)
    return words, -1 if fits else int(np.argmax(np.asarray(X > 1) | np.asarray(X < 0)))


def pack_columns(columns: Sequence[NDArray[Any]]) -> tuple[NDArray[np.uint64], bool]:
    """Pack columns of integers or booleans, each of its own type; say whether all are 0 or 1.

    Nothing is copied: what a reader decoded is read once. One word of all rows after the other is
    filled, in memory of its own, so that the loop over columns, four at once, runs over neighbours.
    The last four of a word may be in it already.
    """
    n_rows = len(columns[0])
    by_word = np.empty((max(1, -(-len(columns) // 64)), n_rows), np.uint64)
    seen = 0
    for k, words in enumerate(by_word):
        mine = columns[64 * k : 64 * k + 64]
        for first in range(0, len(mine), 4):
            at = max(0, min(first, len(mine) - 4))
            four = list(mine[at : at + 4])
            if len({column.dtype.itemsize for column in four}) > 1:
                four = [column.astype(np.uint64) for column in four]
            while len(four) < 4:
                four.append(np.zeros(n_rows, four[0].dtype))
            # read-only: one kernel for columns of a file and for all others
            a, b, c, d = (frozen(x).view(_UNSIGNED[x.dtype.itemsize]) for x in four)
            seen |= int(_add_columns(a, b, c, d, words, np.uint64(at), first == 0))
    return np.ascontiguousarray(by_word.T), seen <= 1


@jit
def _pack_bytes(X: Any, dim: int, words: Any) -> Any:
    """Rows of at least eight bytes.

    What is left of a row after its full words is read with the bytes of the rows after it, where
    there are any; else in eights, the last of which may overlap those before.
    """
    bad = _NONE
    too_large = _NONE
    full = dim >> 6
    octets = (dim >> 3) & 7
    unused = np.uint64(8 * (-dim & 7))
    rest = dim & 63
    mine = (_ONE << np.uint64(rest)) - _ONE
    for i in range(len(words)):
        place = i * dim
        for k in range(full):
            words[i, k] = exceeding(X, place, 0)
            too_large |= exceeding(X, place, 1)
            place += 64
        if rest and place + 64 <= len(X):
            words[i, full] = exceeding(X, place, 0) & mine
            too_large |= exceeding(X, place, 1) & mine
            continue
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
def _add_columns(a: Any, b: Any, c: Any, d: Any, words: Any, shift: Any, first: bool) -> Any:
    """Put four columns at their bits of one word of every row, beside those that are there.

    The first ones are alone: new memory that is read before it is written costs twice. Returns the
    union of all entries.
    """
    seen = _NONE
    for i in range(len(words)):
        w, x, y, z = np.uint64(a[i]), np.uint64(b[i]), np.uint64(c[i]), np.uint64(d[i])
        seen |= w | x | y | z
        entries = (w | x << _ONE | y << _TWO | z << _THREE) << shift
        words[i] = entries if first else words[i] | entries
    return seen
