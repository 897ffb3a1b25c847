"""Counted flags over GF(2) in dimension at most 64: one word per row.

The state holds a basis of all of GF(2)^d: sample rows with counts ≥ 1, and unit vectors, count 0,
for what the sample does not span yet. V_j is spanned by the elements with count ≥ j. Beside the
basis stands its coordinate map, ``table[i]`` = coordinates of the unit vector e_i, so the
coordinates of a row are the sum of the entries that the row names.

Inserting v exchanges it for an element of smallest count κ in its support, with count κ + 1; a
support with a single element of count κ needs no exchange, only the new count. The exchange at
position q adds ``coords ^ (1 << q)`` to every entry of the table with bit q: a rank-one update.

Two things keep the loop short. One bit mask per distinct count finds the candidates of an exchange
with an AND. And the update for row i is done in the sweep that reads the coordinates of row i + 2:
what row i + 1 misses is put right on its coordinates alone, since the update is linear.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned, jit
from flagstone.kernels._llvm import sweep, trailing_zeros

__all__ = ["State", "copy", "dump", "insert", "load", "nbytes", "new"]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)


class State(NamedTuple):
    """Basis, coordinate map, and the elements of each distinct count, by rising count.

    ``masks[:n]`` are disjoint and not empty, ``counts[:n]`` rise, n = ``levels[0]``.
    """

    basis: NDArray[np.uint64]
    table: NDArray[Any]
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    levels: NDArray[np.int64]


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    units = _ONE << np.arange(64, dtype=np.uint64)
    masks = np.zeros(64, np.uint64)
    masks[0] = np.bitwise_or.reduce(units[:ar], initial=0)
    counts = np.full(64 + 1, -1, np.int64)
    counts[0] = 0
    table = units[:32].astype(np.uint32) if ar <= 32 else units.copy()
    return State(units[:ar].copy(), aligned(table), masks, counts, np.array([min(ar, 1)]))


def insert(state: State, rows: NDArray[np.uint64], weights: NDArray[np.int64] | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if len(rows) == 0:
        return
    words = np.ascontiguousarray(rows).reshape(-1)
    if weights is None:
        _insert(*state, words)
    else:
        _insert_weighted(*state, words, weights)


def load(
    ar: int, basis: NDArray[np.uint64], counts: NDArray[np.int64], dim: int | None = None
) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    insert(state, basis, counts)
    return state


def dump(state: State) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """An adapted basis, by falling count."""
    counts = np.zeros(len(state.basis), np.int64)
    for level in range(state.levels[0]):
        members = (state.masks[level] >> np.arange(len(counts), dtype=np.uint64)) & _ONE
        counts[members != 0] = state.counts[level]
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    return state.basis[order, None], counts[order]


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    copied = State._make(array.copy() for array in state)
    return copied._replace(table=aligned(state.table))


def nbytes(state: State) -> int:
    """Memory held by the state."""
    return sum(array.nbytes for array in state)


@jit
def _insert(basis: Any, table: Any, masks: Any, counts: Any, levels: Any, rows: Any) -> None:
    last = len(rows) - 1
    bit = _NONE
    add = _NONE
    ahead = sweep(table, bit, add, rows, 0)
    for i in range(len(rows)):
        coords = ahead ^ (add if ahead & bit else _NONE)
        ahead = sweep(table, bit, add, rows, min(i + 1, last))
        bit = _NONE
        add = _NONE
        if coords != _NONE:
            level = _NONE  # unsigned: no index from the end has to be thought of
            tie = coords & masks[0]
            while tie == _NONE and level < _THREE:
                level += _ONE
                tie = coords & masks[level]
            if tie == _NONE:
                # Most rows are sums of frequent ones: go down until the whole support is met.
                level = np.uint64(levels[0])
                rest = coords
                while rest != _NONE:
                    level -= _FOUR
                    one = masks[level]
                    two = one | masks[level + _ONE]
                    three = two | masks[level + _TWO]
                    rest &= ~(three | masks[level + _THREE])
                level += np.uint64(coords & one == _NONE)
                level += np.uint64(coords & two == _NONE)
                level += np.uint64(coords & three == _NONE)
                tie = coords & masks[level]
            first = tie & (~tie + _ONE)
            if tie != first:
                basis[trailing_zeros(first)] = rows[i]
                bit = first
                add = coords ^ first
            # Written out: Numba counts references around every call that takes an array.
            count = counts[level] + 1
            left = masks[level] ^ first
            if counts[level + _ONE] == count and left != _NONE:
                masks[level] = left
                masks[level + _ONE] |= first
            elif counts[level + _ONE] != count and left == _NONE:
                counts[level] = count
            else:
                _raise(masks, counts, levels, np.int64(level), first, count)
    sweep(table, bit, add, rows, 0)


@jit
def _insert_weighted(
    basis: Any, table: Any, masks: Any, counts: Any, levels: Any, rows: Any, weights: Any
) -> None:
    bit = _NONE
    add = _NONE
    for i in range(len(rows)):
        coords = sweep(table, bit, add, rows, i)
        bit = _NONE
        add = _NONE
        if coords != _NONE and weights[i] > 0:
            level = 0
            while coords & masks[level] == _NONE:
                level += 1
            tie = coords & masks[level]
            first = tie & (~tie + _ONE)
            if tie != first or _passes(masks, counts, coords ^ tie, level, weights[i]):
                basis[trailing_zeros(first)] = rows[i]
                bit = first
                add = coords ^ first
            _raise(masks, counts, levels, level, first, counts[level] + weights[i])
    sweep(table, bit, add, rows, 0)


@jit
def _raise(masks: Any, counts: Any, levels: Any, level: Any, bit: Any, count: int) -> None:
    """Give an element of ``level`` a larger count, opening and closing levels as needed."""
    number = levels[0]
    masks[level] ^= bit
    if masks[level] == _NONE:
        number -= 1
        for k in range(level, number):
            masks[k] = masks[k + 1]
            counts[k] = counts[k + 1]
        counts[number] = -1
    while level < number and counts[level] < count:
        level += 1
    if counts[level] != count:
        for k in range(number, level, -1):
            masks[k] = masks[k - 1]
            counts[k] = counts[k - 1]
        number += 1
        masks[level] = _NONE
        counts[level] = count
    masks[level] |= bit
    levels[0] = number


@jit
def _passes(masks: Any, counts: Any, others: Any, level: int, weight: int) -> bool:
    """Whether ``weight`` lifts the only smallest count above the next one in the support."""
    if others == _NONE:
        return False
    above = level + 1
    while others & masks[above] == _NONE:
        above += 1
    return counts[level] + weight > counts[above]
