"""Counted flags over GF(2) for any dimension: the counted echelon basis.

The state holds, for some columns p, a row x_p whose *first* set bit is p, with a count c(p) ≥ 1;
V_j is spanned by the rows with c(p) ≥ j. Leading bits of a subspace are leading bits of every
larger one, so each flag has such a basis. To insert v, eliminate v from the left; the rows used
are its support. When the support's smallest count κ first appears, at x_p, the vector left at that
moment has the leading bit p and differs from v by rows of larger count only: it may replace x_p,
with count κ + 1. No other row changes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import inline, jit
from flagstone.kernels._llvm import trailing_zeros

__all__ = ["State", "copy", "dump", "insert", "load", "nbytes", "new"]

_MOST = np.int64(2**63 - 1)


class State(NamedTuple):
    """Row p of ``rows`` has the leading bit p and count ``counts[p]``; no row where that is 0."""

    rows: NDArray[np.uint64]
    counts: NDArray[np.int64]


def new(ar: int, dim: int | None = None, dtype: Any = None) -> State:
    """The flag of the empty sample in GF(2)^dim."""
    width = max(1, -(-ar // 64))
    return State(np.zeros((ar, width), np.uint64), np.zeros(ar, np.int64))


def insert(state: State, rows: NDArray[np.uint64], weights: NDArray[np.int64] | None) -> None:
    """Insert ``rows`` in order, each as often as its weight says."""
    if weights is None:
        weights = np.ones(len(rows), np.int64)
    _insert(state.rows, state.counts, rows, weights)


def load(
    ar: int, basis: NDArray[np.uint64], counts: NDArray[np.int64], dim: int | None = None
) -> State:
    """The flag that an adapted basis with falling counts describes."""
    state = new(ar)
    insert(state, basis, counts)
    return state


def dump(state: State) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """An adapted basis, by falling count."""
    order = np.argsort(-state.counts, kind="stable")[: np.count_nonzero(state.counts)]
    return state.rows[order], state.counts[order]


def copy(state: State) -> State:
    """A state that shares nothing with the first."""
    return State(*(array.copy() for array in state))


def nbytes(state: State) -> int:
    """Memory held by the state."""
    return sum(array.nbytes for array in state)


@inline
def _leading(vector: Any, start: int) -> int:
    """First set bit at or after the word of ``start``, -1 if there is none."""
    for word in range(start >> 6, len(vector)):
        if vector[word] != 0:
            return 64 * word + trailing_zeros(vector[word])
    return -1


@jit
def _insert(basis: Any, counts: Any, rows: Any, weights: Any) -> None:
    width = basis.shape[1]
    left = np.empty(width, np.uint64)
    best = np.empty(width, np.uint64)
    for i in range(len(rows)):
        if weights[i] > 0:
            left[:] = rows[i]
            lowest = _MOST
            place = -1
            p = _leading(left, 0)
            while p >= 0 and lowest > 0:
                if counts[p] < lowest:
                    lowest = counts[p]
                    place = p
                    best[:] = left
                for k in range(p >> 6, width):
                    left[k] ^= basis[p, k]
                if lowest > 0:
                    p = _leading(left, p)
            if place >= 0:
                if weights[i] == 1:
                    basis[place] = best
                    counts[place] = lowest + 1
                else:
                    left[:] = rows[i]
                    _settle(basis, counts, left, lowest + weights[i])


@inline
def _settle(basis: Any, counts: Any, carry: Any, count: int) -> None:
    """Put ``carry`` with ``count`` into the basis, which thereby loses its smallest count.

    Where two rows share a leading bit the one with the larger count stays, and their sum, with the
    smaller count, moves on: both descriptions span the same spaces.
    """
    p = _leading(carry, 0)
    while p >= 0:
        if counts[p] < count:
            count, counts[p] = counts[p], count
            for k in range(len(carry)):
                carry[k], basis[p, k] = basis[p, k], carry[k]
            if count == 0:
                return
        for k in range(len(carry)):
            carry[k] ^= basis[p, k]
        p = _leading(carry, p)
