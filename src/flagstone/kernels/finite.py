"""Linear algebra and counted flags over GF(p) and GF(p^k).

Every function takes the arithmetic first: :class:`flagstone.kernels.prime.Prime` or
:class:`flagstone.kernels.table.Table`. Rows are 2-D C-contiguous arrays of field elements. How a
flag is held is told in :mod:`flagstone.kernels.chain`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import frozen, leaf
from flagstone.kernels._vectors import LANES
from flagstone.kernels.chain import (
    ONE,
    Array,
    State,
    add,
    append,
    combine,
    first_nonzero,
    lift_row,
    merge_into,
    reduce_through,
)
from flagstone.kernels.panel import insert_rows, workspace
from flagstone.kernels.rowops import cell, lower, narrowest, negate, settle

_NO_WEIGHTS = np.zeros(0, np.int64)


def new(ar: Any, dim: int, dtype: Any = None) -> State:
    """Return the empty flag of F^dim; its rows are kept in the cells of the arithmetic."""
    return State(
        ar,
        np.zeros((dim, dim), cell(ar)),
        np.arange(dim, dtype=np.int64),
        np.arange(dim, dtype=np.int64),
        np.zeros(dim, np.int64),
        np.zeros(1, np.int64),
    )


def copy(state: State) -> State:
    """Return an independent copy."""
    return State(state.ar, *(array.copy() for array in state[1:]))


def nbytes(state: State) -> int:
    """Return the memory held by the chain (tables of the arithmetic, shared by all, excluded)."""
    return sum(array.nbytes for array in state[1:])


def load(ar: Any, basis: Array, counts: NDArray[np.int64], dim: int) -> State:
    """Return the flag of an adapted basis, given by falling counts."""
    state = new(ar, dim)
    insert(state, basis, counts)  # a kernel less to compile
    return state


def dump(state: State) -> tuple[Array, NDArray[np.int64]]:
    """Return an adapted basis and its counts, falling."""
    size = int(state.size[0])
    rows = state.rows[state.order[:size]].astype(narrowest(state.ar))
    if 0 < size == len(state.rows):
        last = state.counts == state.counts[-1]
        rows[last] = state.pivots[last, np.newaxis] == np.arange(size)
    return rows, state.counts[:size].copy()


def insert(state: State, rows: Array, weights: NDArray[np.int64] | None = None) -> None:
    """Insert rows in their order, each ``weights[i]`` times; zero rows and weights are skipped."""
    given = _NO_WEIGHTS if weights is None else np.ascontiguousarray(weights, np.int64)
    n, dim = rows.shape
    if n:
        if n < LANES:  # panels are filled from so many rows
            rows = np.concatenate([rows, np.zeros((LANES - n, dim), rows.dtype)])
        X = _read_only(rows, narrowest(state.ar))
        insert_rows(state, X, n, given, workspace(state.ar, dim, weights is not None))


def rref(ar: Any, M: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return the non-zero rows of the reduced row echelon form of M and their pivot columns."""
    state = new(ar, M.shape[1])
    _span(state, _cells(ar, M), _working_row(ar, M.shape[1]))
    rank = int(state.size[0])
    pivots = state.pivots[:rank].copy()
    by_column = np.argsort(pivots)
    return state.rows[state.order[by_column]].astype(M.dtype), pivots[by_column]


def reduce(ar: Any, X: Array, R: Array, pivots: NDArray[np.int64]) -> Array:
    """Return X minus the combinations of R (reduced echelon) that clear its pivot columns."""
    out = np.empty(X.shape, cell(ar))
    _reduce(ar, _cells(ar, X), _cells(ar, R), pivots, out, _working_row(ar, X.shape[1]))
    return out.astype(X.dtype, copy=False)


def dot(ar: Any, X: Array, W: Array) -> Array:
    """Return the products ⟨x_i, w_j⟩ as an array of shape (len(X), len(W))."""
    out = np.zeros((X.shape[0], W.shape[0]), cell(ar))
    in_order = np.arange(X.shape[1])
    _dot(ar, _cells(ar, X), _cells(ar, W.T), in_order, out, _working_row(ar, W.shape[0]))
    return out.astype(X.dtype, copy=False)


def merge(
    ar: Any, X: Array, cx: NDArray[np.int64], Y: Array, cy: NDArray[np.int64]
) -> tuple[Array, NDArray[np.int64]]:
    """Return an adapted basis, by falling counts, of the merge of two flags given by such.

    The two chains get a common adapted basis, on which counts add. Every y, by falling count,
    is written in the chain of X (extended, with count 0, by what lies outside); while the last
    element of its support is claimed, the claimer's multiple is subtracted; then y claims it.
    """
    dim = X.shape[1]
    state = load(ar, X, cx, dim)
    cz = np.zeros(dim, np.int64)
    cz[: len(cx)] = cx
    Z = np.zeros((dim, dim), cell(ar))
    merge_into(
        state,
        _cells(ar, Y),
        np.ascontiguousarray(cy, np.int64),
        Z,
        cz,
        np.zeros((Y.shape[0], dim), cell(ar)),
        np.full(dim, -1, np.int64),
        _working_row(ar, dim),
    )
    falling = np.argsort(-cz[: int(state.size[0])], kind="stable")
    return Z[falling].astype(X.dtype), cz[falling]


def _cells(ar: Any, rows: Array) -> Array:
    """Return rows as most kernels take them, in the cells of flags."""
    return _read_only(rows, cell(ar))


def _read_only(rows: Array, dtype: Any) -> Array:
    """Return rows as kernels take them: all read-only, or each would be compiled for both kinds."""
    return frozen(rows.astype(dtype, copy=False))


def _working_row(ar: Any, dim: int) -> Array:
    return np.zeros(dim, ar.lane.dtype)


@leaf
def _span(state: State, M: Array, w: Array) -> None:
    """Fill the chain with the reduced row echelon form of M, its rows in any order."""
    ar, rows, order, pivots = state.ar, state.rows, state.order, state.pivots
    for i in range(M.shape[0]):
        if state.size[0] == M.shape[1]:
            break
        lift_row(ar, w, M, i)
        reduce_through(state, w, 0, state.size[0], ar.budget)
        column = first_nonzero(w)
        if column >= 0:
            append(state, w, column)
    # Pivots are leading columns, so clearing a row with later ones never moves its own.
    for i in range(state.size[0] - 2, -1, -1):
        lift_row(ar, w, rows, order[i])
        credit = ar.budget
        for j in range(i + 1, state.size[0]):
            a = np.uint64(rows[order[i], pivots[j]])
            if a != 0:
                credit = add(ar, w, rows, order[j], negate(ar, a), credit)
        settle(ar, w)
        lower(ar, rows, order[i], w, ONE)


@leaf
def _reduce(ar: Any, X: Array, R: Array, pivots: NDArray[np.int64], out: Array, w: Array) -> None:
    for i in range(X.shape[0]):
        lift_row(ar, w, X, i)
        credit = ar.budget
        for j in range(R.shape[0]):
            a = np.uint64(X[i, pivots[j]])
            if a != 0:
                credit = add(ar, w, R, j, negate(ar, a), credit)
        settle(ar, w)
        lower(ar, out, i, w, ONE)


@leaf
def _dot(ar: Any, X: Array, Wt: Array, in_order: NDArray[np.int64], out: Array, w: Array) -> None:
    for i in range(X.shape[0]):
        combine(ar, w, X, i, Wt, in_order, X.shape[1])
        lower(ar, out, i, w, ONE)
