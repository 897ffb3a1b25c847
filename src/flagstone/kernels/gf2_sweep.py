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

from flagstone.kernels._jit import aligned, frozen, leaf, merged
from flagstone.kernels._sweeps import sweep
from flagstone.kernels._words import (
    cut_below,
    held_keys,
    is_none,
    key_bits,
    lowest,
    odd,
    place,
    plus,
    put_row,
    raise_least,
    row_at,
    run_end,
    take_place,
    unit,
)
from flagstone.kernels.small_gf2 import pack_bits, unpack

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

#: Up to how many columns this is the fastest way for all kinds of rows; for rows that come neither
#: in bulk nor again.
WIDEST, WIDEST_ALONE = 128, 448

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_ALL = ~_NONE
_MOST = 2**63 - 1


class State(NamedTuple):
    """A basis by rising count, its coordinate map, its counts, and one more past the last of them.

    ``runs`` is a packed row: all elements but the last of each count.
    """

    basis: Words
    table: Words
    counts: Counts
    runs: Words


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
    state = State(basis, aligned(table), counts, np.zeros((1, width), np.uint64))
    count_again(state, counts[:-1])
    return state


def insert(state: State, rows: Words, weights: Counts | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if len(rows) == 0:
        return
    none = (_NONE,) * rows.shape[1]
    if weights is None:
        _insert(*state, frozen(rows), None, none)
        return
    order = insert_weighted(state, rows, weights, _insert, none)
    entries = unpack(np.ascontiguousarray(state.table.T), len(order))
    state.table[:] = pack_bits(entries[:, order]).T


def insert_weighted(
    state: State, rows: Words, weights: Counts, kernel: Any, none: tuple[Any, ...]
) -> Counts:
    """Insert rows by the keys of elements, then let these stand by rising count.

    Keys are 32-bit numbers: how counts follow each other, then the place of an element. While
    counts rise by less than ``wide``, it does not matter what lies between counts that are further
    apart. ``kernel`` takes rows, and their weights with the most by which a key may rise at once,
    the keys, and the counts that elements should not exceed: at most seven rows after one does, it
    must stop. It returns how many rows are in place. Returned is where elements stood.
    """
    if weights.min() <= 0:
        rows, weights = rows[weights > 0], weights[weights > 0]
    dim, bits = len(state.basis), key_bits(rows.shape[1])
    wide = (2**32 >> bits) // (dim + 2)
    most = wide // 8 - 1
    heavy = np.flatnonzero(weights > most) + 1 if weights.max(initial=0) > most else ()
    start = 0
    for stop in (*heavy, len(rows)):
        while start < stop:
            keys = np.zeros(64 * rows.shape[1], np.uint32)
            order = np.argsort(state.counts[:dim], kind="stable")
            gaps = np.minimum(np.diff(state.counts[order], prepend=0), wide)
            keys[order] = np.cumsum(gaps) << bits | order
            given = most, frozen(keys), frozen(state.counts[:-1] + most)
            part = frozen(rows[start:stop]), (frozen(weights[start:stop]), *given)
            start += kernel(*state, *part, none)
    order = np.argsort(state.counts[:-1], kind="stable")
    state.basis[:] = state.basis[order]
    count_again(state, state.counts[order])
    return order


def count_again(state: State, counts: Counts) -> None:
    """Give elements their counts, which must rise."""
    state.counts[:-1] = counts
    if len(counts):
        state.runs[:] = pack_bits((state.counts[:-1] == state.counts[1:])[None])


def load(ar: int, basis: Words, counts: Counts, dim: int | None = None) -> State:
    """The flag that an adapted basis with falling counts describes."""
    return loaded(new(ar), insert, basis, counts)


def loaded(state: State, insert: Any, basis: Words, counts: Counts) -> State:
    """An empty flag, filled: independent rows, once each, take the last places one by one."""
    insert(state, basis, None)
    rising = np.zeros(len(state.basis), np.int64)
    rising[len(rising) - len(counts) :] = counts[::-1]
    count_again(state, rising)
    return state


def dump(state: State) -> tuple[Words, Counts]:
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
) -> int:
    last = len(rows) - 1
    done = len(rows)
    runs = row_at(bounds, 0, none)
    keys = held_keys(weights, none)
    first = second = (_NONE, _NONE, none, none)
    ahead = sweep(table, first, second, rows, 0, min(1, last))
    for i in range(0, len(rows), 2):
        now, then = _image(ahead[0], first, second), _image(ahead[1], first, second)
        ahead = sweep(table, first, second, rows, min(i + 2, last), min(i + 3, last))
        first, runs = _exchange(basis, counts, runs, rows, weights, keys, i, now)
        then = plus(then, first[3], odd(then, first[2]))
        if i == last:
            then = none
        second, runs = _exchange(basis, counts, runs, rows, weights, keys, min(i + 1, last), then)
        # Now both may be tested at once: what the second does to the first is in its summand.
        add = plus(first[3], second[3], odd(first[3], second[2]))
        first = first[0], first[1], first[2], add
        if weights is not None:
            most = weights[3]
            if counts[first[1]] > most[first[1]] or counts[second[1]] > most[second[1]]:
                done = min(i + 2, done)
                break
    sweep(table, first, second, rows, 0, 0)
    put_row(bounds, 0, runs)
    return done


@merged
def _image(coords: Any, first: Any, second: Any) -> Any:
    """What two changes make of coordinates."""
    image = plus(coords, first[3], odd(coords, first[2]))
    return plus(image, second[3], odd(coords, second[2]))


@merged
def _exchange(
    basis: Any, counts: Any, runs: Any, rows: Any, weights: Any, keys: Any, i: Any, coords: Any
) -> Any:
    """Put a row in its place; return what changes in the map, and the runs.

    A row with a weight, as if it came so many times, takes the place of the least of its support
    and adds to its count. Elements then stand as they come, until all rows are there.
    """
    low = high = _NONE
    mask = add = coords
    if weights is not None:
        if not is_none(coords):
            low = high = raise_least(coords, keys, min(weights[0][i], weights[1]))
            mask = unit(high, coords)
            add = plus(coords, mask, _ALL)
            take_place(basis, high, high, rows, i, coords)
            counts[high] += weights[0][i]
    elif not is_none(coords):
        bit = lowest(coords)
        end = run_end(runs, bit)
        pair = ~odd(coords, end)  # not a branch, which nobody could foretell
        high = place(end)
        low = high ^ ((place(bit) ^ high) & pair)
        mask = plus(end, bit, pair)
        add = plus(coords, end, _ALL)
        take_place(basis, low, high, rows, i, coords)
        count = counts[high] + 1
        counts[high] = count
        runs = plus(cut_below(runs, end), end, _NONE - np.uint64(counts[high + _ONE] == count))
    return (low, high, mask, add), runs
