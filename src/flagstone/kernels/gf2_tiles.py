"""Counted flags over GF(2) of any dimension by the full coordinate map, in tiles of 8 × 8 bits.

The state holds a basis of all of GF(2)^d, sample rows with counts and unit vectors with count 0 at
first, and its coordinate map: row i has the coordinates of the unit vector e_i, so those of some
rows are a product of them with the map. V_j is spanned by the elements with count ≥ j.

Say that κ is the smallest count in the support of a row v. If one element has it, nothing changes
but its count. Otherwise v takes the place p of any of them, with count κ + 1, and every set of
coordinates c becomes c + c_p · a for a = coords(v) + e_p. Changes a_1, a_2, … at p_1, p_2, … make

    c + Σ_s c_{p_s} · A_s,

where A_s is a_s with all later changes made: a product again. So 32 rows go together. Where the
coordinates of a row stood, a_s stands when its turn is over, and is then treated as coordinates
are, which makes it A_s. A change is made at once for the eight rows of one tile only; for the
others, eight of them are one more product.

On processors that multiply tiles (:mod:`flagstone.kernels._tiles`), this is the way for rows of all
kinds but those that come again and again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned, aligned_zeros, frozen, helper, jit
from flagstone.kernels._llvm import trailing_zeros
from flagstone.kernels._tiles import (
    UNIT,
    add_product,
    add_row,
    add_sums,
    common_words,
    map_columns,
    map_tiles,
    set_product,
    take_row,
    tile_rows,
)
from flagstone.kernels.gf2_levels import ABOVE, BELOW, COUNT, number_levels, raise_count

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_OCTET = np.uint64(255)
_COLUMN = np.uint64(0x0101010101010101)
_NO_WEIGHTS = np.zeros(0, np.int64)
#: Tiles of rows that go together, and their rows.
_GROUPS = (0, 0, 0, 0)
_ROWS = 8 * len(_GROUPS)


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
    columns, octets = np.arange(ar), np.arange(-(-ar // 8))
    basis = np.zeros((ar, width), np.uint64)
    basis[columns, columns // 64] = _ONE << (columns % 64).astype(np.uint64)
    tiles = aligned_zeros((width, 8 * len(octets)))
    tiles[octets // 8, 8 * octets + octets % 8] = UNIT
    levels, level = np.empty((4, ar + 2), np.int64), np.empty(ar, np.int64)
    masks = aligned_zeros((ar + 2, -(-width // 8) * 8))
    number_levels(np.zeros(ar, np.int64), columns, levels, level, masks)
    return State(basis, tiles, levels, level, masks)


def insert(state: State, rows: Words, weights: Counts | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    _insert(*state, frozen(rows), frozen(_NO_WEIGHTS if weights is None else weights))


def load(ar: int, basis: Words, counts: Counts, dim: int | None = None) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    insert(state, basis, counts)
    return state


def dump(state: State) -> tuple[Words, Counts]:
    """An adapted basis, by falling count."""
    counts = state.levels[COUNT, state.level]
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
    basis: Any, entries: Any, levels: Any, level: Any, masks: Any, rows: Any, weights: Any
) -> None:
    width = rows.shape[1]
    tiles = np.empty((len(_GROUPS), 8 * width), np.uint64)
    used = np.empty(8 * width, np.int64)
    work = np.empty((len(_GROUPS), 8 * width), np.uint64)  # coordinates of rows to come; A_s
    summands = np.empty((len(_GROUPS), 8 * width), np.uint64)
    columns = np.empty(entries.shape[1], np.uint64)
    places = np.zeros(_ROWS, np.int64)
    row = np.zeros((1, masks.shape[1]), np.uint64)
    newest = np.full(len(basis), -1, np.int64)  # the row that each element now is
    for first in range(0, len(rows), _ROWS):
        number = min(_ROWS, len(rows) - first)
        _coordinates(work, tiles, entries, rows, first, number, used)
        for s in range(_ROWS):
            g, r = s >> 3, s & 7
            take_row(row, 0, work, g, r)
            which = _OCTET << np.uint64(8 * r)  # itself, so that nothing is left of it
            weight = np.int64(s < number)
            if weight and len(weights):
                weight = weights[first + s]
            n = np.int64(0)
            while weight > 0:
                place, more = np.int64(-1), _NONE
                while place < 0:
                    n = levels[ABOVE, n]
                    if n == 0:
                        break
                    place, more = _ties(row, masks, n)
                if place < 0:
                    break  # a row of zeros
                step = weight
                if more != _NONE:
                    newest[place] = first + s
                    places[s] = place
                    row[0, place >> 6] ^= _ONE << np.uint64(place & 63)
                    work[g, place >> 3] ^= _ONE << np.uint64(8 * r + (place & 7))
                    which = _column(work, g, place) * _OCTET
                elif weight > 1:
                    # Alone until it meets the next count in the support.
                    m = levels[ABOVE, n]
                    while m != 0 and _ties(row, masks, m)[0] < 0:
                        m = levels[ABOVE, m]
                    step = min(weight, levels[COUNT, m] - levels[COUNT, n])
                raise_count(masks, levels, level, place, step)
                weight -= step
                n = levels[BELOW, level[place]]
            add_row(work, g, row, 0, which)
            if r == 7:
                _pass_on(work, summands, places, g)
        map_columns(columns, entries, places, _GROUPS)
        for g in range(len(_GROUPS)):
            map_tiles(summands, g, work, g)
        add_product(entries, columns, summands, _GROUPS)
    for q in range(len(basis)):
        if newest[q] >= 0:
            for k in range(width):
                basis[q, k] = rows[newest[q], k]


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
    if groups == len(_GROUPS) and 2 * own_used > 5 * all_used:
        set_product(work, 0, tiles, 0, entries, used, all_used, _GROUPS)
        return
    for g in range(groups):
        own_used = 0
        for octet in range(tiles.shape[1]):
            used[own_used] = octet
            own_used += tiles[g, octet] != _NONE
        set_product(work, g, tiles, g, entries, used, own_used, (0,))


@helper
def _ties(row: Any, masks: Any, n: Any) -> Any:
    """The first element of level n in a support, or −1, and whether there are others (not 0)."""
    for k in range(0, masks.shape[1], 8):
        some = common_words(row, 0, masks, n, k)
        if some != _NONE:
            word = k + trailing_zeros(some)
            both = row[0, word] & masks[n, word]
            more = (some & (some - _ONE)) | (both & (both - _ONE))
            for later in range(k + 8, masks.shape[1], 8):
                if more != _NONE:
                    break
                more = common_words(row, 0, masks, n, later)
            return 64 * word + trailing_zeros(both), more
    return np.int64(-1), _NONE


@helper
def _column(tiles: Any, g: int, place: Any) -> Any:
    """One column of eight rows: its bits are the lowest of the bytes."""
    return tiles[g, place >> 3] >> np.uint64(place & 7) & _COLUMN


@helper
def _pass_on(work: Any, summands: Any, places: Any, g: int) -> None:
    """Make the changes of eight rows for all the others."""
    map_tiles(summands, g, work, g)
    for h in range(len(work)):
        if h != g:
            names = _NONE
            for r in range(8):
                names |= _column(work, h, places[8 * g + r]) << np.uint64(r)
            add_sums(work, h, names, summands, g)
