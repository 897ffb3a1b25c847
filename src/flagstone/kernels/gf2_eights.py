"""Counted flags over GF(2) of some hundred columns by the full coordinate map, eight rows at once.

Elements stand by rising count, and a row changes the map by

    c + ⟨c, F⟩ · (coords + e),  F = {e} or {p, e},

as :mod:`flagstone.kernels.gf2_sweep` says. One after another, eight such changes make

    c + Σ ⟨c, F_i⟩ · A_i,

where A_i is the summand of row i as the rows after it change it. So do the coordinates of the rows
that wait: they stand in lanes side by side, and a row's lane becomes its summand once it is in
place. The sum is a product of two narrow matrices: the sums of one or two columns of the map, and
the A_i. While it is made, entry by entry, the coordinates of the next eight rows are found, and put
right by the same sum.

This is the way where processors multiply tiles and permute bytes
(:mod:`flagstone.kernels._eights`).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels import gf2_sweep
from flagstone.kernels._eights import (
    change_lanes,
    lane,
    named,
    nameless,
    scratch,
    settle,
    take_rows,
    walk,
)
from flagstone.kernels._jit import aligned_zeros, frozen, leaf
from flagstone.kernels._tiles import UNIT
from flagstone.kernels._words import (
    cut_below,
    held_keys,
    is_none,
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
from flagstone.kernels.gf2_sweep import State, copy, dump, insert_weighted, loaded, nbytes

__all__ = ["WIDEST", "State", "copy", "dump", "insert", "load", "nbytes", "new"]

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

#: Up to how many columns this is the fastest way for all kinds of rows.
WIDEST = 384

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_ALL = ~_NONE


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    return copy(_empty(ar))


@functools.lru_cache(maxsize=16)
def _empty(ar: int) -> State:
    """The same, to be copied: certificates begin a handful of flags, of two or three widths."""
    octets = np.arange(-(-ar // 8))
    table = aligned_zeros((len(octets), 8 * max(1, -(-ar // 64))))
    table[octets, octets] = UNIT
    return gf2_sweep.new(ar)._replace(table=table)


def insert(state: State, rows: Words, weights: Counts | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if len(rows) == 0:
        return
    none = (_NONE,) * rows.shape[1]
    if weights is None:
        _insert(*state, frozen(rows), None, none)
        return
    order = insert_weighted(state, rows, weights, _insert, none)
    places = np.arange(8 * state.table.shape[1])
    places[: len(order)] = order
    octets = state.table.view(np.uint8)
    octets[:, np.arange(len(places)) ^ 7] = octets[:, places ^ 7]  # a column of eight entries each


def load(ar: int, basis: Words, counts: Counts, dim: int | None = None) -> State:
    """The flag that an adapted basis with falling counts describes."""
    return loaded(new(ar), insert, basis, counts)


@leaf
def _insert(
    basis: Any, table: Any, counts: Any, bounds: Any, rows: Any, weights: Any, none: Any
) -> int:
    runs, work = row_at(bounds, 0, none), scratch(none)
    keys, names = held_keys(weights, none), nameless(weights, none)
    done, worn = len(rows), False
    for i in range(-8, len(rows), 8):
        take_rows(work, rows, i + 8, none)
        walk(table, work, names, none)
        coords, own = lane(work, 0, none), 1
        for r in range(8):
            then = lane(work, r + 1, none)
            low = high = single = _NONE
            if not is_none(coords):
                if weights is not None:
                    weight = weights[0][i + r]
                    low = high = raise_least(coords, keys, min(weight, weights[1]))
                    mask = end = unit(high, none)
                    counts[high] += weight
                    worn |= counts[high] > weights[3][high]
                else:
                    bit = lowest(coords)
                    end = run_end(runs, bit)
                    single = odd(coords, end)  # not a branch, which nobody could foretell
                    high = place(end)
                    low = place(bit)
                    mask = plus(end, bit, ~single)
                    count = counts[high] + 1
                    counts[high] = count
                    joined = _NONE - np.uint64(counts[high + _ONE] == count)
                    runs = plus(cut_below(runs, end), end, joined)
                add = plus(coords, end, _ALL)
                then = plus(then, add, odd(then, mask))
                change_lanes(work, own, mask, add)
                take_place(basis, low ^ ((low ^ high) & single), high, rows, i + r, none)
            names = named(names, high, low, single)
            coords = then
            own += own
        settle(work, names, none)
        if worn:
            done = min(i + 8, done)
            break
    walk(table, work, names, none)
    put_row(bounds, 0, runs)
    return done
