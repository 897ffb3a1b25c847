"""Counted flags over GF(2) in dimensions up to 256 by the full coordinate map, row by row.

The description is that of :mod:`flagstone.kernels.gf2_word`, for rows of any few words: a basis of
GF(2)^d with counts and its coordinate map, ``table[w, i]`` = word w of the coordinates of the unit
vector e_i. The update for a row is done in the sweep that reads the coordinates of the next. For
rows that neither come in bulk nor again, one such sweep is cheaper than many small steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned, jit
from flagstone.kernels._lanes import meet, sweep_words
from flagstone.kernels._llvm import trailing_zeros
from flagstone.kernels.gf2_levels import ABOVE, COUNT, number_levels, raise_count

__all__ = ["State", "copy", "dump", "insert", "load", "nbytes", "new"]

Words = NDArray[np.uint64]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_LANES = (0,)
_NO_WEIGHTS = np.zeros(0, np.int64)


class State(NamedTuple):
    """A basis, its coordinate map, and its counts."""

    basis: Words
    table: Words
    counts: NDArray[np.int64]


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    width = max(1, -(-ar // 64))
    columns = np.arange(ar)
    basis = np.zeros((ar, width), np.uint64)
    basis[columns, columns // 64] = _ONE << (columns % 64).astype(np.uint64)
    table = np.zeros((width, -(-ar // 8) * 8), np.uint64)
    table[:, :ar] = basis.T
    return State(basis, aligned(table), np.zeros(ar, np.int64))


def insert(state: State, rows: Words, weights: NDArray[np.int64] | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    rows = np.ascontiguousarray(rows).view()
    weights = (_NO_WEIGHTS if weights is None else weights).view()
    rows.flags.writeable = weights.flags.writeable = False  # or there are more types to compile for
    _insert(*state, np.argsort(state.counts), rows, weights, (0,) * rows.shape[1])


def load(ar: int, basis: Words, counts: NDArray[np.int64], dim: int | None = None) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    insert(state, basis, counts)
    return state


def dump(state: State) -> tuple[Words, NDArray[np.int64]]:
    """An adapted basis, by falling count."""
    order = np.argsort(-state.counts, kind="stable")[: np.count_nonzero(state.counts)]
    return state.basis[order], state.counts[order]


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    return State(state.basis.copy(), aligned(state.table), state.counts.copy())


def nbytes(state: State) -> int:
    """Memory held by the state."""
    return sum(array.nbytes for array in state)


@jit
def _insert(
    basis: Any, table: Any, counts: Any, order: Any, rows: Any, weights: Any, n: Any
) -> None:
    dim, width = basis.shape
    levels = np.empty((dim + 2, 4), np.int64)
    level = np.empty(dim, np.int64)
    masks = np.zeros((dim + 2, 4), np.uint64)
    number_levels(counts, order, levels, level, masks)
    coords = np.zeros((1, 4), np.uint64)
    add = np.zeros((1, 4), np.uint64)
    word: Any = np.int64(0)
    bit = _NONE
    for i in range(len(rows)):
        sweep_words(table, word, bit, add, rows, i, coords, n)
        bit = _NONE
        weight = np.int64(1)
        if len(weights):
            weight = weights[i]
        if weight == 0 or coords[0, 0] | coords[0, 1] | coords[0, 2] | coords[0, 3] == _NONE:
            continue
        m = levels[0, ABOVE]
        while meet(coords, 0, masks, m, _LANES) == _NONE:
            m = levels[m, ABOVE]
        place = -1
        rest = _NONE
        for k in range(width):
            both = coords[0, k] & masks[m, k]
            if both != _NONE:
                if place < 0:
                    place = 64 * k + trailing_zeros(both)
                    both &= both - _ONE
                rest |= both
        if rest == _NONE and weight > 1:
            # The only smallest count: does it pass the next one in the support?
            above = levels[m, ABOVE]
            count = levels[m, COUNT] + weight
            while levels[above, COUNT] < count and rest == _NONE:
                rest = meet(coords, 0, masks, above, _LANES)
                above = levels[above, ABOVE]
        if rest != _NONE:
            word = place >> 6
            bit = _ONE << np.uint64(place & 63)
            for k in range(width):
                basis[place, k] = rows[i, k]
                add[0, k] = coords[0, k]
            add[0, word] ^= bit
        raise_count(masks, levels, level, place, weight)
    if len(rows):
        sweep_words(table, word, bit, add, rows, 0, coords, n)
    for q in range(dim):
        counts[q] = levels[level[q], COUNT]
