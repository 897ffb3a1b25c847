"""Rows over GF(p) and GF(p^k) in plain NumPy: linear algebra, flags, counts (see `small`)."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels import prime, table
from flagstone.kernels.small import twin

Array = NDArray[Any]
Counts = NDArray[np.int64]

#: Wider flags take more time than they save.
MOST = 64
#: So many rows get their coordinates at once.
_PORTION = 32


def _of(ar: Any) -> ModuleType:
    return prime if isinstance(ar, prime.Prime) else table


def _minus(ar: Any, rows: Array, factors: Array, row: Array) -> Array:
    """Subtract the multiples of one row from rows."""
    home = _of(ar)
    minus = home.neg(ar, factors)[:, np.newaxis]
    left: Array = home.add(ar, rows, home.mul(ar, minus, row))
    return left


def _passes(number: int, n_rows: int, dim: int) -> float:
    """About how long it takes to go over rows so many times."""
    return number * (20 + n_rows * dim / 80)


@twin("finite", lambda ar, M: _passes(min(M.shape), *M.shape))
def rref(ar: Any, M: Array) -> tuple[Array, Counts]:
    """Return the non-zero rows of the reduced row echelon form of M and their pivot columns."""
    rows, pivots = M.copy(), list[int]()
    for column in range(M.shape[1]):
        rank = len(pivots)
        below = np.flatnonzero(rows[rank:, column])
        if len(below):
            first = rank + int(below[0])
            pivot = _of(ar).mul(ar, rows[first], _of(ar).inv(ar, rows[first, column]))
            rows[first] = rows[rank]
            rows = _minus(ar, rows, rows[:, column], pivot)
            rows[rank] = pivot
            pivots.append(column)
    return rows[: len(pivots)], np.array(pivots, np.int64)


@twin("finite", lambda ar, X, R, pivots: _passes(len(R), *X.shape))
def reduce(ar: Any, X: Array, R: Array, pivots: Counts) -> Array:
    """Return X minus the combinations of R (reduced echelon) that clear its pivot columns."""
    left = X.copy()
    for row, column in zip(R, pivots.tolist(), strict=True):
        left = _minus(ar, left, X[:, column], row)
    return left


@twin("finite", lambda ar, X, W: _passes(X.shape[1], len(X), len(W)))
def dot(ar: Any, X: Array, W: Array) -> Array:
    """Return the products ⟨x_i, w_j⟩ as an array of shape (len(X), len(W))."""
    return _products(ar, X, W)


def _products(ar: Any, X: Array, W: Array) -> Array:
    total = np.zeros((len(X), len(W)), X.dtype)
    for column in range(X.shape[1]):
        total = _minus(ar, total, X[:, column], _of(ar).neg(ar, W[:, column]))
    return total


def merge(ar: Any, X: Array, cx: Counts, Y: Array, cy: Counts) -> tuple[Array, Counts]:
    """Return an adapted basis of the merge of two flags; always compiled."""
    from flagstone.kernels import finite

    return finite.merge(ar, X, cx, Y, cy)


@twin("counting", lambda values, weights, counts: 20 + len(values) / 20)
def count(values: Array, weights: Counts | None, counts: Counts) -> None:
    """Add one, or its weight, to ``counts[value]`` for each value, in place."""
    np.add.at(counts, values, 1 if weights is None else weights)


class State(NamedTuple):
    """Basis of the whole space, coordinates of the unit vectors in it, counts."""

    ar: Any
    basis: Array
    table: Array
    counts: Counts


def row_cost(dim: int) -> float:
    """About how long it takes to insert a row, in microseconds."""
    return 30 + 2 * dim


def new(ar: Any, dim: int, dtype: Any = None) -> State:
    """Return the empty flag: unit vectors, all with count 0."""
    units = np.eye(dim, dtype=_of(ar).dtype(ar))
    return State(ar, units, units.copy(), np.zeros(dim, np.int64))


def copy(state: State) -> State:
    """Return an independent copy."""
    return State(state.ar, *(array.copy() for array in state[1:]))


def load(ar: Any, basis: Array, counts: Counts, dim: int) -> State:
    """Return the flag of an adapted basis, given by falling counts."""
    state = new(ar, dim)
    insert(state, basis, counts)
    return state


def dump(state: State) -> tuple[Array, Counts]:
    """Return an adapted basis and its counts, falling."""
    falling = np.argsort(-state.counts, kind="stable")[: np.count_nonzero(state.counts)]
    return state.basis[falling], state.counts[falling]


def insert(state: State, rows: Array, weights: Counts | None = None) -> None:
    """Insert rows in their order, each ``weights[i]`` times; zero rows and weights are skipped."""
    ar, basis, map_, counts = state
    home, dim = _of(ar), len(basis)
    times = [1] * len(rows) if weights is None else weights.tolist()
    for start in range(0, len(rows), _PORTION):
        portion = rows[start : start + _PORTION]
        held = np.concatenate([map_, _products(ar, portion, map_.T)])
        for i, row in enumerate(portion):
            coords, weight = held[dim + i], times[start + i]
            support = np.flatnonzero(coords)
            if not len(support) or weight <= 0:
                continue
            seen = counts[support]
            element, lowest = support[seen.argmin()], np.sort(seen)[:2]
            # A tie, or the only smallest count passes the next one in the support.
            if len(lowest) == 2 and lowest[1] < lowest[0] + weight:
                basis[element] = row
                column = home.mul(ar, held[:, element], home.inv(ar, coords[element]))
                held = _minus(ar, held, column, coords)
                held[:, element] = column
            counts[element] += weight
        map_[:] = held[:dim]
