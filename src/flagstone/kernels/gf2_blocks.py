"""Counted flags over GF(2) of any dimension, in panels of 64 columns.

The basis of GF(2)^d, sample rows with counts and unit vectors with count 0 at first, is in echelon
form by panels: element q belongs to panel k = q div 64, vanishes left of it, and within the panel
the elements of it are a basis of GF(2)^64. Beside them stands the inverse of that small basis: the
coordinates of each unit vector of the panel.

The coordinates of a row come panel by panel: those of its word in the inverse name the elements to
subtract, by tables, and leave nothing in this panel. When the smallest count κ of the support first
appears, in panel k, what is left of the row vanishes left of k and differs from it by elements of
larger count only. So it may replace an element of count κ in panel k, with count κ + 1: one row of
the basis, one rank-one update of a 64 × 64 inverse, and nothing else changes.

Three things spare most of this.

In bulk
    If V_c is the whole space, all rows pass the sets 1..c, and set c + 1 takes those of them that
    are independent of the ones before. Panel by panel, a row that meets an element of count c
    replaces it and is done with; the others go on. A row is left over iff nothing remains of it.

By heart
    Say that v has x_p in its support, and that all other elements of it have counts ≥ L > c(p).
    Then v, coming again, only adds to c(p). This stays true whatever comes in between, until x_p is
    exchanged or c(p) = L: an exchange at another x_q of the support puts in elements of counts
    ≥ c(q) ≥ L alone. So frequent rows are looked up, each with its p and L.

In batches
    The coordinates of some rows at once, in the basis of the first moment; an exchange corrects
    those of the rows still to come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned, aligned_zeros, frozen, jit
from flagstone.kernels._lanes import coordinates, exchange
from flagstone.kernels._llvm import set_sum, trailing_zeros
from flagstone.kernels.gf2_panels import TRIAL, insert_many

Words = NDArray[np.uint64]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_NO_WEIGHTS = np.zeros(0, np.int64)
_MOST = 2**63 - 1
#: Fewer rows than this are not worth tables; fewer do not tell how rows come.
_FEW, _SOME = 16, 1024


class State(NamedTuple):
    """Row q of ``basis`` has count ``counts[q]``; ``inverse[k]`` belongs to panel k.

    ``mood`` tells which of the ways in have paid lately, and how many rows came neither in bulk nor
    by heart, of how many; it changes nothing but speed.
    """

    basis: Words
    inverse: Words
    counts: NDArray[np.int64]
    mood: NDArray[np.int64]


def _lanes(dim: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many vectors of 256 bits make a chunk of columns, and a row (none: any number)."""
    number = max(1, -(-dim // 256))
    if number <= 3:
        return (0,) * number, (0,) * number
    return ((0, 0, 0) if number % 3 == 0 else (0, 0)), ()


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim: every element has count 0."""
    panels = max(1, -(-ar // 64))
    chunk = 4 * len(_lanes(ar)[0])
    basis = aligned_zeros((64 * panels, -(-panels // chunk) * chunk))  # first: it may be too large
    columns = np.arange(64 * panels)
    units = _ONE << (columns % 64).astype(np.uint64)
    basis[columns, columns // 64] = units
    inverse = aligned(units.reshape(panels, 64))
    return State(basis, inverse, np.zeros(ar, np.int64), np.array([0, TRIAL, 0, 0, 0]))


def insert(state: State, rows: Words, weights: NDArray[np.int64] | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if weights is None and len(rows) < _FEW:
        _insert_few(*state[:3], frozen(rows))
    else:
        _insert(state, rows, weights)


def insert_up_to(state: State, rows: Words, ceiling: int) -> int:
    """Insert ``rows`` until one comes past set ``ceiling``; return the number inserted."""
    return _insert(state, rows, ceiling=ceiling)


def insert_until(state: State, rows: Words, share: int) -> int:
    """Insert ``rows`` until more than one in ``share`` comes alone; return the number inserted."""
    if len(rows) >= _FEW:
        return _insert(state, rows, share=share)
    insert(state, rows, None)
    return len(rows)


def _insert(
    state: State,
    rows: Words,
    weights: NDArray[np.int64] | None = None,
    ceiling: int = _MOST,
    share: int = 0,
) -> int:
    weights = _NO_WEIGHTS if weights is None else weights
    order = np.argsort(state.counts, kind="stable")  # the faster kind where most are equal
    lanes = _lanes(len(state.counts))
    return int(insert_many(*state, order, frozen(rows), frozen(weights), ceiling, share, *lanes))


def come_alone(state: State, share: int) -> bool:
    """Whether lately, since this was asked and there were enough, rows came one by one.

    That is, more than one row in ``share``; if that was 0, more than half.
    """
    _, trial, _, alone, number = state.mood.tolist()
    if alone < TRIAL if share else number < max(len(state.counts), _SOME):
        return False
    state.mood[3:] = 0
    return trial < 0 and (share or 2) * alone > number


def load(ar: int, basis: Words, counts: NDArray[np.int64], dim: int | None = None) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    insert(state, basis, counts)
    state.mood[3:] = 0
    return state


def dump(state: State) -> tuple[Words, NDArray[np.int64]]:
    """An adapted basis, by falling count."""
    order = np.argsort(-state.counts, kind="stable")[: np.count_nonzero(state.counts)]
    return np.ascontiguousarray(state.basis[order, : len(state.inverse)]), state.counts[order]


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    basis, inverse = aligned(state.basis), aligned(state.inverse)
    return State(basis, inverse, state.counts.copy(), state.mood.copy())


def nbytes(state: State) -> int:
    """Memory held by the state."""
    return sum(array.nbytes for array in state)


@jit
def _insert_few(basis: Any, inverse: Any, counts: Any, rows: Any) -> None:
    """Insert a few rows: no tables, no levels."""
    width = rows.shape[1]
    scratch = np.zeros((2, basis.shape[1]), np.uint64)
    for i in range(len(rows)):
        for k in range(width):
            scratch[0, k] = rows[i, k]
        lowest = np.int64(_MOST)
        place = -1
        name = _NONE
        for k in range(width):
            if scratch[0, k] != _NONE:
                names = coordinates(inverse, k, scratch[0, k])
                word = names
                while word != _NONE:
                    q = 64 * k + trailing_zeros(word)
                    if counts[q] < lowest:
                        if place >> 6 != k:
                            for w in range(width):
                                scratch[1, w] = scratch[0, w]
                        lowest = counts[q]
                        place = q
                        name = names
                    word &= word - _ONE
                if lowest == 0:
                    break  # no count is smaller, so the rest of the support does not matter
                while names != _NONE:
                    q = 64 * k + trailing_zeros(names)
                    set_sum(scratch, 0, scratch, 0, basis, q, k & ~3)
                    names &= names - _ONE
        if place >= 0:
            bit = _ONE << np.uint64(place & 63)
            exchange(inverse, place >> 6, bit, name ^ bit)
            for w in range(width):
                basis[place, w] = scratch[1, w] if w >= place >> 6 else _NONE
            counts[place] = lowest + 1
