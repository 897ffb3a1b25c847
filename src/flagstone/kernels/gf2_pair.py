"""Counted flags over GF(2) in dimensions 65 to 128: two words per row.

The description is that of :mod:`flagstone.kernels.gf2_word`: a basis of GF(2)^d with counts, its
coordinate map, one mask per distinct count, and updates that run one row late. Here coordinates,
masks and rows are pairs of words, and ``table[0]``, ``table[1]`` hold the two words of each entry.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned, jit
from flagstone.kernels._llvm import sweep_pair, trailing_zeros

__all__ = ["State", "copy", "dump", "insert", "load", "nbytes", "new"]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)


class State(NamedTuple):
    """Basis, coordinate map, and the elements of each distinct count, by rising count.

    ``masks[:n]`` are disjoint and not empty, ``counts[:n]`` rise, n = ``levels[0]``.
    """

    basis: NDArray[np.uint64]
    table: NDArray[np.uint64]
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    levels: NDArray[np.int64]


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    basis = np.zeros((128, 2), np.uint64)
    columns = np.arange(128)
    basis[columns, columns // 64] = _ONE << (columns % 64).astype(np.uint64)
    masks = np.zeros((128, 2), np.uint64)
    masks[0] = np.bitwise_or.reduce(basis[:ar])
    counts = np.full(128 + 1, -1, np.int64)
    counts[0] = 0
    return State(basis[:ar].copy(), aligned(basis.T), masks, counts, np.array([1]))


def insert(state: State, rows: NDArray[np.uint64], weights: NDArray[np.int64] | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if weights is None:
        _insert(*state, rows)
    else:
        _insert_weighted(*state, rows, weights)


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
    columns = np.arange(len(counts))
    shifts = (columns % 64).astype(np.uint64)
    for level in range(state.levels[0]):
        members = (state.masks[level, columns // 64] >> shifts) & _ONE
        counts[members != 0] = state.counts[level]
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    return state.basis[order], counts[order]


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    copied = State._make(array.copy() for array in state)
    return copied._replace(table=aligned(state.table))


def nbytes(state: State) -> int:
    """Memory held by the state."""
    return sum(array.nbytes for array in state)


@jit
def _insert(basis: Any, table: Any, masks: Any, counts: Any, levels: Any, rows: Any) -> None:
    size = len(rows)
    bit0 = bit1 = add0 = add1 = ahead0 = ahead1 = next0 = next1 = _NONE
    if size:
        next0, next1 = rows[0, 0], rows[0, 1]
        ahead0, ahead1 = sweep_pair(table, bit0, bit1, add0, add1, next0, next1)
    for i in range(size):
        row0, row1 = next0, next1
        missed = (ahead0 & bit0) | (ahead1 & bit1)
        coords0 = ahead0 ^ (add0 if missed else _NONE)
        coords1 = ahead1 ^ (add1 if missed else _NONE)
        if i + 1 < size:
            next0, next1 = rows[i + 1, 0], rows[i + 1, 1]
        ahead0, ahead1 = sweep_pair(table, bit0, bit1, add0, add1, next0, next1)
        bit0 = bit1 = add0 = add1 = _NONE
        if coords0 | coords1 != _NONE:
            level = _NONE  # unsigned: no index from the end has to be thought of
            tie0 = coords0 & masks[0, 0]
            tie1 = coords1 & masks[0, 1]
            while tie0 | tie1 == _NONE and level < _THREE:
                level += _ONE
                tie0 = coords0 & masks[level, 0]
                tie1 = coords1 & masks[level, 1]
            if tie0 | tie1 == _NONE:
                # Most rows are sums of frequent ones: go down until the whole support is met.
                level = np.uint64(levels[0])
                rest0, rest1 = coords0, coords1
                while rest0 | rest1 != _NONE:
                    level -= _TWO
                    rest0 &= ~(masks[level, 0] | masks[level + _ONE, 0])
                    rest1 &= ~(masks[level, 1] | masks[level + _ONE, 1])
                here = coords0 & masks[level, 0] | coords1 & masks[level, 1]
                level += np.uint64(here == _NONE)
                tie0 = coords0 & masks[level, 0]
                tie1 = coords1 & masks[level, 1]
            first0 = tie0 & (~tie0 + _ONE)
            first1 = tie1 & (~tie1 + _ONE) if tie0 == _NONE else _NONE
            if tie0 ^ first0 | tie1 ^ first1 != _NONE:
                place = trailing_zeros(first0) if first0 else 64 + trailing_zeros(first1)
                basis[place, 0] = row0
                basis[place, 1] = row1
                bit0, bit1 = first0, first1
                add0, add1 = coords0 ^ first0, coords1 ^ first1
            # Written out: Numba counts references around every call that takes an array.
            count = counts[level] + 1
            left0 = masks[level, 0] ^ first0
            left1 = masks[level, 1] ^ first1
            if counts[level + _ONE] == count and left0 | left1 != _NONE:
                masks[level, 0] = left0
                masks[level, 1] = left1
                masks[level + _ONE, 0] |= first0
                masks[level + _ONE, 1] |= first1
            elif counts[level + _ONE] != count and left0 | left1 == _NONE:
                counts[level] = count
            else:
                _raise(masks, counts, levels, np.int64(level), first0, first1, count)
    sweep_pair(table, bit0, bit1, add0, add1, _NONE, _NONE)


@jit
def _insert_weighted(
    basis: Any, table: Any, masks: Any, counts: Any, levels: Any, rows: Any, weights: Any
) -> None:
    bit0 = bit1 = add0 = add1 = _NONE
    for i in range(len(rows)):
        coords0, coords1 = sweep_pair(table, bit0, bit1, add0, add1, rows[i, 0], rows[i, 1])
        bit0 = bit1 = add0 = add1 = _NONE
        if coords0 | coords1 != _NONE and weights[i] > 0:
            level = _first_meeting(masks, coords0, coords1, 0)
            tie0 = coords0 & masks[level, 0]
            tie1 = coords1 & masks[level, 1]
            first0 = tie0 & (~tie0 + _ONE)
            first1 = tie1 & (~tie1 + _ONE) if tie0 == _NONE else _NONE
            count = counts[level] + weights[i]
            exchange = tie0 ^ first0 | tie1 ^ first1 != _NONE
            if not exchange and (coords0 ^ tie0) | (coords1 ^ tie1) != _NONE:
                # The only smallest count of the support: does it pass the next one?
                above = _first_meeting(masks, coords0, coords1, level + 1)
                exchange = count > counts[above]
            if exchange:
                place = trailing_zeros(first0) if first0 else 64 + trailing_zeros(first1)
                basis[place, 0] = rows[i, 0]
                basis[place, 1] = rows[i, 1]
                bit0, bit1 = first0, first1
                add0, add1 = coords0 ^ first0, coords1 ^ first1
            _raise(masks, counts, levels, level, first0, first1, count)
    sweep_pair(table, bit0, bit1, add0, add1, _NONE, _NONE)


@jit
def _first_meeting(masks: Any, coords0: Any, coords1: Any, level: int) -> int:
    """The first level from ``level`` on with an element in the support; there must be one."""
    while (coords0 & masks[level, 0]) | (coords1 & masks[level, 1]) == _NONE:
        level += 1
    return level


@jit
def _raise(
    masks: Any, counts: Any, levels: Any, level: Any, bit0: Any, bit1: Any, count: int
) -> None:
    """Give an element of ``level`` a larger count, opening and closing levels as needed."""
    number = levels[0]
    masks[level, 0] ^= bit0
    masks[level, 1] ^= bit1
    if masks[level, 0] | masks[level, 1] == _NONE:
        number -= 1
        for k in range(level, number):
            masks[k, 0] = masks[k + 1, 0]
            masks[k, 1] = masks[k + 1, 1]
            counts[k] = counts[k + 1]
        counts[number] = -1
    while level < number and counts[level] < count:
        level += 1
    if counts[level] != count:
        for k in range(number, level, -1):
            masks[k, 0] = masks[k - 1, 0]
            masks[k, 1] = masks[k - 1, 1]
            counts[k] = counts[k - 1]
        number += 1
        masks[level, 0] = _NONE
        masks[level, 1] = _NONE
        counts[level] = count
    masks[level, 0] |= bit0
    masks[level, 1] |= bit1
    levels[0] = number
