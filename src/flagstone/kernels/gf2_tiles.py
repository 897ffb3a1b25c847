"""Counted flags over GF(2) of any dimension by the full coordinate map, in tiles of 8 × 8 bits.

The state holds a basis of all of GF(2)^d, sample rows with counts and unit vectors with count 0 at
first, and its coordinate map: row i has the coordinates of the unit vector e_i, so those of some
rows are a product of them with the map. V_j is spanned by the elements with count ≥ j.

Say that κ is the smallest count in the support of a row v. If one element has it, nothing changes
but its count. Otherwise v takes the place p of any of them, with count κ + 1, and every set of
coordinates c becomes c + c_p · a for a = coords(v) + e_p. One after another, changes at places P
make c + Σ c_p · A_p, a sum over P, where each new one adds a to the A_q with a bit at p, and to
A_p: another product. So they wait until rows enough have come, or until their places take up more
than eight octets; those that are open come first where v has a choice.

This is the way for rows that neither come in bulk nor again, on processors that multiply tiles
(:mod:`flagstone.kernels._tiles`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned, aligned_zeros, frozen, helper, jit
from flagstone.kernels._lanes import add_where, meet, set_common
from flagstone.kernels._llvm import popcount, set_sum, trailing_zeros
from flagstone.kernels._tiles import (
    UNIT,
    add_product,
    map_columns,
    map_rows,
    set_product,
    tile_rows,
)
from flagstone.kernels.gf2_levels import ABOVE, BELOW, COUNT, number_levels, raise_count

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_OCTET = np.uint64(255)
_NO_WEIGHTS = np.zeros(0, np.int64)
#: Rows whose coordinates are found together; octets of places that may be open at a time.
_ROWS, _MOST_OPEN = 32, 8
#: Where the coordinates of rows, the places that are open, and those that tie stand in ``work``.
_SLOTS = 8 * _MOST_OPEN
_OPEN, _TIES = _SLOTS + _ROWS, _SLOTS + _ROWS + 1


class State(NamedTuple):
    """A basis, its coordinate map, and its counts as :mod:`flagstone.kernels.gf2_levels` does."""

    basis: Words
    map: Words
    levels: NDArray[np.int64]
    level: NDArray[np.int64]
    masks: Words


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    width = -(-ar // 64)
    columns, octets = np.arange(ar), np.arange(8 * width)
    basis = np.zeros((ar, width), np.uint64)
    basis[columns, columns // 64] = _ONE << (columns % 64).astype(np.uint64)
    tiles = aligned_zeros((width, 64 * width))
    tiles[octets // 8, 8 * octets + octets % 8] = UNIT
    levels, level = np.empty((ar + 2, 4), np.int64), np.empty(ar, np.int64)
    masks = aligned_zeros((ar + 2, -(-width // 4) * 4))
    number_levels(np.zeros(ar, np.int64), columns, levels, level, masks)
    return State(basis, tiles, levels, level, masks)


def insert(state: State, rows: Words, weights: Counts | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    lanes = state.masks.shape[1] // 4
    known = (0,) * lanes if lanes <= 6 else ()  # longer rows are worth a loop
    _insert(*state, frozen(rows), frozen(_NO_WEIGHTS if weights is None else weights), known)


def load(ar: int, basis: Words, counts: Counts, dim: int | None = None) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    insert(state, basis, counts)
    return state


def dump(state: State) -> tuple[Words, Counts]:
    """An adapted basis, by falling count."""
    counts = state.levels[state.level, COUNT]
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    return state.basis[order], counts[order]


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    return State._make(aligned(array) for array in state)


def nbytes(state: State) -> int:
    """Memory held by the state."""
    return sum(array.nbytes for array in state)


@jit
def _insert(
    basis: Any, entries: Any, levels: Any, level: Any, masks: Any,
    rows: Any, weights: Any, lanes: Any,
) -> None:  # fmt: skip
    width = rows.shape[1]
    # A_p for the places of open octets; coordinates of rows to come; places that are open; ties.
    work = np.zeros((_TIES + 1, masks.shape[1]), np.uint64)
    tiles = np.empty((_ROWS // 8, 8 * width), np.uint64)
    used = np.empty(8 * width, np.int64)
    columns = np.empty(64 * width, np.uint64)
    summands = np.empty((_MOST_OPEN, 8 * width), np.uint64)
    octets = np.zeros(_MOST_OPEN, np.int64)
    slots = np.empty(8 * width, np.int64)
    newest = np.full(len(basis), -1, np.int64)  # the row that each element now is
    n_open = 0
    for first in range(0, len(rows), _ROWS):
        end = _SLOTS + min(_ROWS, len(rows) - first)
        _coordinates(work, tiles, entries, rows, first, end - _SLOTS, used)
        for s in range(_SLOTS, end):
            i = first + s - _SLOTS
            weight = weights[i] if len(weights) else np.int64(1)
            n = np.int64(0)
            while weight > 0:
                number = 0
                while number == 0:
                    n = levels[n, ABOVE]
                    if n == 0:
                        break
                    number = set_common(work, _TIES, work, s, masks, n, lanes)
                if number == 0:
                    break  # a row of zeros
                step = weight
                if number == 1:
                    place = _first(work, _TIES)
                    if weight > 1:
                        # Alone until it meets the next count in the support.
                        m = levels[n, ABOVE]
                        while m != 0 and meet(work, s, masks, m, lanes) == _NONE:
                            m = levels[m, ABOVE]
                        step = min(weight, levels[m, COUNT] - levels[n, COUNT])
                else:
                    if meet(work, _TIES, work, _OPEN, lanes) != _NONE:
                        set_common(work, _TIES, work, _TIES, work, _OPEN, lanes)
                        place = _first(work, _TIES)
                    else:
                        if n_open == _MOST_OPEN:
                            _apply(entries, work, columns, summands, octets, n_open)
                            n_open = 0
                        place = _richest(work, _TIES, width)
                        octets[n_open] = place >> 3
                        slots[place >> 3] = 8 * n_open
                        work[_OPEN, place >> 6] |= _OCTET << np.uint64(place & 56)
                        n_open += 1
                    newest[place] = i
                    word = place >> 6
                    bit = _ONE << np.uint64(place & 63)
                    slot = slots[place >> 3] + (place & 7)
                    work[s, word] ^= bit
                    add_where(work, 0, 8 * n_open, word, bit, s, lanes)
                    add_where(work, s + 1, end, word, bit, s, lanes)
                    set_sum(work, slot, work, slot, work, s, 0)
                raise_count(masks, levels, level, place, step)
                weight -= step
                n = levels[level[place], BELOW]
        _apply(entries, work, columns, summands, octets, n_open)
        n_open = 0
    for place in range(len(basis)):
        if newest[place] >= 0:
            for k in range(width):
                basis[place, k] = rows[newest[place], k]


@helper
def _coordinates(
    work: Any, tiles: Any, entries: Any, rows: Any, first: int, number: int, used: Any
) -> None:
    """The product of some rows with the map: all at once, or by eights if they are sparse."""
    groups = (number + 7) // 8
    last = first + number - 1
    all_used = own_used = 0
    for g in range(groups):
        tile_rows(tiles, g, rows, first + 8 * g, last)
    for octet in range(tiles.shape[1]):
        some = 0
        for g in range(groups):
            some += tiles[g, octet] != _NONE
        used[all_used] = octet
        all_used += some > 0
        own_used += some
    if groups == len(tiles) and 2 * own_used > 5 * all_used:
        set_product(work, _SLOTS, tiles, 0, entries, used, all_used, (0, 0, 0, 0))
        return
    for g in range(groups):
        own_used = 0
        for octet in range(tiles.shape[1]):
            used[own_used] = octet
            own_used += tiles[g, octet] != _NONE
        set_product(work, _SLOTS + 8 * g, tiles, g, entries, used, own_used, (0,))


@helper
def _first(rows: Any, i: int) -> int:
    """The first bit of a row that has one."""
    k = 0
    while rows[i, k] == _NONE:
        k += 1
    return 64 * k + int(trailing_zeros(rows[i, k]))


@helper
def _richest(rows: Any, i: int, width: int) -> int:
    """A bit in an octet with many others: of the word that has most, the octet that does."""
    most = best = 0
    for k in range(width):
        number = popcount(rows[i, k])
        if number > most:
            most = number
            best = k
    most = shift = 0
    for start in range(0, 64, 8):
        number = popcount(rows[i, best] >> np.uint64(start) & _OCTET)
        if number > most:
            most = number
            shift = start
    return 64 * best + shift + int(trailing_zeros(rows[i, best] >> np.uint64(shift)))


@helper
def _apply(entries: Any, work: Any, columns: Any, summands: Any, octets: Any, number: int) -> None:
    """Make the changes at the places of some octets in all of the map, and close the octets."""
    if number == 0:
        return
    if number <= 2:
        _add(entries, work, columns, summands, octets, (0, 0))
    elif number <= 4:
        _add(entries, work, columns, summands, octets, (0, 0, 0, 0))
    else:
        _add(entries, work, columns, summands, octets, (0, 0, 0, 0, 0, 0, 0, 0))
    for k in range(work.shape[1]):
        work[_OPEN, k] = _NONE
        for slot in range(8 * number):
            work[slot, k] = _NONE


@helper
def _add(entries: Any, work: Any, columns: Any, summands: Any, octets: Any, groups: Any) -> None:
    map_columns(columns, entries, octets, groups)
    for g in range(len(groups)):
        map_rows(summands, g, work, 8 * g)
    add_product(entries, columns, summands, groups)
