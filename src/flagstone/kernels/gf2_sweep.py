"""Counted flags over GF(2) of up to 448 columns by the full coordinate map, row by row.

The state holds a basis of all of GF(2)^d, with counts; V_j is spanned by the elements with count
≥ j, and unit vectors, count 0, stand for what the sample does not span yet. Beside the basis stands
its coordinate map: entry i of ``table`` has the coordinates of the unit vector e_i, so the
coordinates of a row are the sum of the entries that the row names.

Elements stand by rising count. So the lowest bit p of the coordinates of a row v tells the smallest
count κ of its support; v takes a place with count κ + 1, and since elements of one count may stand
in any order, that place is the last one of count κ, at e. If v has a coordinate at e, it takes the
place of b_e. Otherwise b_p + b_e + v comes to p and v to e: the new elements span what the old ones
did, count by count. Either way, with F = {e} or {p, e}, every set of coordinates c becomes

    c + ⟨c, F⟩ · (coords + e),

a rank-one update of the map in place. Nothing here depends on the kind of rows: no search, no
branch that a processor could guess wrongly.

Two rows go together: one sweep makes the updates for the two rows before and reads the coordinates
of the two rows behind. What the rows in between miss is put right on their coordinates alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned, frozen, jit, leaf, merged
from flagstone.kernels._sweeps import sweep
from flagstone.kernels._words import (
    below,
    is_none,
    least,
    lowest,
    odd,
    place,
    plus,
    put_row,
    row_at,
    since,
)

Words = NDArray[np.uint64]

#: The most columns a map is kept for.
WIDEST = 448

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_ALL = ~_NONE
_MOST = 2**63 - 1


class State(NamedTuple):
    """A basis by rising count, its coordinate map, its counts, and one more past the last of them.

    ``ends`` is a packed row: the last element of each count.
    """

    basis: Words
    table: Words
    counts: NDArray[np.int64]
    ends: Words


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    width = max(1, -(-ar // 64))
    columns = np.arange(ar)
    basis = np.zeros((ar, width), np.uint64)
    basis[columns, columns // 64] = _ONE << (columns % 64).astype(np.uint64)
    table = np.zeros((width, -(-ar // 8) * 8), np.uint64)
    table[:, :ar] = basis.T
    counts = np.zeros(ar + 1, np.int64)
    counts[ar] = _MOST
    ends = basis[-1:].copy() if ar else np.zeros((1, 1), np.uint64)
    return State(basis, aligned(table), counts, ends)


def insert(state: State, rows: Words, weights: NDArray[np.int64] | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if len(rows):
        none = (_NONE,) * rows.shape[1]
        if weights is None:
            _insert(*state, frozen(rows), None, none)
        else:
            counts = np.full(64 * rows.shape[1], _MOST)
            counts[: len(state.basis)] = state.counts[:-1]
            basis, table, _, ends = state
            _insert(basis, table, counts, ends, frozen(rows), frozen(weights), none)
            _arrange(*state, counts, np.argsort(counts[: len(basis)], kind="stable"))


def load(ar: int, basis: Words, counts: NDArray[np.int64], dim: int | None = None) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    insert(state, basis, counts)
    return state


def dump(state: State) -> tuple[Words, NDArray[np.int64]]:
    """An adapted basis, by falling count."""
    first = int(np.searchsorted(state.counts, 1))
    falling = slice(len(state.basis) - 1, first - 1 if first else None, -1)
    return np.ascontiguousarray(state.basis[falling]), state.counts[falling].copy()


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    copied = State._make(array.copy() for array in state)
    return copied._replace(table=aligned(state.table))


def nbytes(state: State) -> int:
    """Memory held by the state."""
    return sum(array.nbytes for array in state)


@leaf
def _insert(
    basis: Any, table: Any, counts: Any, bounds: Any, rows: Any, weights: Any, none: Any
) -> None:
    last = len(rows) - 1
    ends = row_at(bounds, 0, none)
    first = second = (_NONE, _NONE, none, none)
    ahead = sweep(table, first, second, rows, 0, min(1, last))
    for i in range(0, len(rows), 2):
        now, then = _image(ahead[0], first, second), _image(ahead[1], first, second)
        ahead = sweep(table, first, second, rows, min(i + 2, last), min(i + 3, last))
        first, ends = _exchange(basis, counts, ends, rows, weights, i, now)
        then = plus(then, first[3], odd(then, first[2]))
        if i == last:
            then = none
        second, ends = _exchange(basis, counts, ends, rows, weights, min(i + 1, last), then)
        # Now both may be tested at once: what the second does to the first is in its summand.
        add = plus(first[3], second[3], odd(first[3], second[2]))
        first = first[0], first[1], first[2], add
    sweep(table, first, second, rows, 0, 0)
    put_row(bounds, 0, ends)


@merged
def _image(coords: Any, first: Any, second: Any) -> Any:
    """What two changes make of coordinates."""
    image = plus(coords, first[3], odd(coords, first[2]))
    return plus(image, second[3], odd(coords, second[2]))


@merged
def _exchange(
    basis: Any, counts: Any, ends: Any, rows: Any, weights: Any, i: Any, coords: Any
) -> Any:
    """Put a row in its place; return what changes in the map, and the ends of the counts.

    A row with a weight, as if it came so many times, takes the place of b_p and adds to its count;
    elements then stand as they come, until all rows are there.
    """
    low = high = _NONE
    mask = add = coords
    row = row_at(rows, i, coords)
    if weights is not None:
        coords = plus(coords, coords, _NONE - np.uint64(weights[i] <= 0))
        mask = add = coords
        if not is_none(coords):
            mask = lowest(least(coords, counts))
            low = high = place(mask)
            add = plus(coords, mask, _ALL)
            put_row(basis, high, row)
            counts[high] += weights[i]
    elif not is_none(coords):
        bit = lowest(coords)
        end = lowest(since(ends, bit))
        pair = ~odd(coords, end)  # not a branch, which nobody could foretell
        high = place(end)
        low = high ^ ((place(bit) ^ high) & pair)
        mask = plus(end, bit, pair)
        add = plus(coords, end, _ALL)
        moved = plus(row_at(basis, low, coords), row_at(basis, high, coords), _ALL)
        put_row(basis, low, plus(moved, row, _ALL))
        put_row(basis, high, row)
        count = counts[high] + 1
        counts[high] = count
        ends = plus(below(ends, end), end, _NONE - np.uint64(counts[high + _ONE] == count))
    return (low, high, mask, add), ends


@jit
def _arrange(basis: Any, table: Any, counts: Any, ends: Any, new_counts: Any, order: Any) -> None:
    """Let elements that stand as they came stand in ``order``, that of their counts."""
    old_basis, old_table = basis.copy(), table.copy()
    table[:] = _NONE
    ends[:] = _NONE
    for q in range(len(order)):
        basis[q] = old_basis[order[q]]
        counts[q] = new_counts[order[q]]
        word, source = q >> 6, order[q] >> 6
        shift, bit = np.uint64(order[q] & 63), np.uint64(q & 63)
        for i in range(table.shape[1]):
            table[word, i] |= (old_table[source, i] >> shift & _ONE) << bit
    for q in range(len(order)):
        ends[0, q >> 6] |= np.uint64(counts[q] != counts[q + 1]) << np.uint64(q & 63)
