"""Linear algebra and counted flags over GF(p) and GF(p^k).

Every function takes the arithmetic first: :class:`flagstone.kernels.prime.Prime` or
:class:`flagstone.kernels.table.Table`. Rows are 2-D C-contiguous arrays of field elements.

The flag is held as an **echelon chain**: basis rows in order of falling count, row i with a pivot
column in which it is 1 and *every later row is 0*. Reducing v through the chain from the front
finds its coordinates one after another, and the last position that was needed is the element of
smallest count in the support of v. All that matters of the exchange (replace that element by v,
with one more in count) is the span of the rows up to each count. So v may first be reduced by the
rows of *larger* count, and may replace *any* row of its class (rows of equal count) in its support:
we let the residual replace the first row of the class that it hits, which leaves at most the few
rows before that one to be cleared in the pivot column. Coordinates are never stored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import jit
from flagstone.kernels.rowops import (
    axpy,
    inverse,
    lift,
    lower,
    narrowest,
    negate,
    settle,
    times,
    value,
)

_ONE = np.uint64(1)
_NO_WEIGHTS = np.zeros(0, np.int64)


class State(NamedTuple):
    """An echelon chain; every per-row array but ``rows`` goes by position in the chain.

    Invariant: with x_i = rows[order[i]], counts fall, x_i[pivot[i]] = 1 and x_j[pivot[i]] = 0 for
    j > i; V_j is the span of the x_i with count[i] ≥ j. ``size[0]`` is the length of the chain.
    """

    ar: Any
    rows: NDArray[Any]
    order: NDArray[np.int64]
    pivot: NDArray[np.int64]
    count: NDArray[np.int64]
    size: NDArray[np.int64]


def new(ar: Any, dim: int, dtype: Any = None) -> State:
    """Return the empty flag of F^dim; its rows have the given dtype, or the narrowest."""
    return State(
        ar,
        np.zeros((dim, dim), narrowest(ar) if dtype is None else dtype),
        np.arange(dim, dtype=np.int64),
        np.zeros(dim, np.int64),
        np.zeros(dim, np.int64),
        np.zeros(1, np.int64),
    )


def copy(state: State) -> State:
    """Return an independent copy."""
    return State(state.ar, *(array.copy() for array in state[1:]))


def nbytes(state: State) -> int:
    """Return the memory held by the chain (tables of the arithmetic, shared by all, excluded)."""
    return sum(array.nbytes for array in state[1:])


def load(ar: Any, basis: NDArray[Any], counts: NDArray[np.int64], dim: int) -> State:
    """Return the flag of an adapted basis, given by falling counts."""
    state = new(ar, dim, basis.dtype)
    _load(state, np.ascontiguousarray(basis), np.ascontiguousarray(counts, np.int64))
    return state


def dump(state: State) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return an adapted basis and its counts, falling."""
    size = int(state.size[0])
    return state.rows[state.order[:size]], state.count[:size].copy()


def insert(state: State, rows: NDArray[Any], weights: NDArray[np.int64] | None = None) -> None:
    """Insert rows in their order, each ``weights[i]`` times; zero rows and weights are skipped."""
    given = _NO_WEIGHTS if weights is None else np.ascontiguousarray(weights, np.int64)
    if len(rows):
        _insert(state, np.ascontiguousarray(rows), given)


def rref(ar: Any, M: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the non-zero rows of the reduced row echelon form of M and their pivot columns."""
    dim = M.shape[1]
    state = new(ar, dim, M.dtype)
    _span(state, np.ascontiguousarray(M))
    rank = int(state.size[0])
    pivots = state.pivot[:rank].copy()
    by_column = np.argsort(pivots)
    return state.rows[state.order[by_column]], pivots[by_column]


def reduce(ar: Any, X: NDArray[Any], R: NDArray[Any], pivots: NDArray[np.int64]) -> NDArray[Any]:
    """Return X minus the combinations of R (reduced echelon) that clear its pivot columns."""
    out = np.empty_like(X, order="C")
    _reduce(ar, np.ascontiguousarray(X), np.ascontiguousarray(R), pivots, out)
    return out


def dot(ar: Any, X: NDArray[Any], W: NDArray[Any]) -> NDArray[Any]:
    """Return the products ⟨x_i, w_j⟩ as an array of shape (len(X), len(W))."""
    out = np.zeros((X.shape[0], W.shape[0]), X.dtype)
    _dot(ar, np.ascontiguousarray(X), np.ascontiguousarray(W.T, dtype=X.dtype), out)
    return out


def merge(
    ar: Any,
    X: NDArray[Any],
    cx: NDArray[np.int64],
    Y: NDArray[Any],
    cy: NDArray[np.int64],
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return an adapted basis, by falling counts, of the merge of two flags given by such.

    The two chains get a common adapted basis, on which counts add. Every y, by falling count,
    is written in the chain of X (extended, with count 0, by what lies outside); while the last
    element of its support is claimed, the claimer's multiple is subtracted; then y claims it.
    """
    dim = X.shape[1]
    state = load(ar, X, cx, dim)
    cz = np.zeros(dim, np.int64)
    cz[: len(cx)] = cx
    Z = np.zeros((dim, dim), X.dtype)
    _merge(state, np.ascontiguousarray(Y), np.ascontiguousarray(cy, np.int64), Z, cz)
    size = int(state.size[0])
    falling = np.argsort(-cz[:size], kind="stable")
    return Z[falling], cz[falling]


@jit
def _first_nonzero(w):
    for j in range(w.shape[0]):
        if w[j] != 0:
            return j
    return -1


@jit
def _add(ar, w, row, a, credit):
    """Add a · row (a ≠ 0) to the working row; return what is left of its budget."""
    if credit == 0:
        settle(ar, w)
        credit = ar.budget
    axpy(ar, w, row, a)
    return credit - 1


@jit
def _reduce_through(state, w, stop):
    """Clear the working row in the pivots of the first ``stop`` rows of the chain; settle it."""
    ar, rows, order, pivot = state.ar, state.rows, state.order, state.pivot
    credit = ar.budget
    for i in range(stop):
        a = value(ar, w[pivot[i]])
        if a != 0:
            credit = _add(ar, w, rows[order[i]], negate(ar, a), credit)
    settle(ar, w)


@jit
def _append(state, w, column, count):
    """Put the settled working row, scaled to 1 in ``column``, at the end of the chain."""
    ar = state.ar
    i = state.size[0]
    lower(ar, state.rows[state.order[i]], w, inverse(ar, value(ar, w[column])))
    state.pivot[i] = column
    state.count[i] = count
    state.size[0] = i + 1


@jit
def _load(state, basis, counts):
    w = np.zeros(basis.shape[1], state.ar.lane.dtype)
    for i in range(basis.shape[0]):
        lift(state.ar, w, basis[i])
        _reduce_through(state, w, state.size[0])
        _append(state, w, _first_nonzero(w), counts[i])


@jit
def _span(state, M):
    """Fill the chain with the reduced row echelon form of M, its rows in any order."""
    ar, rows, order, pivot = state.ar, state.rows, state.order, state.pivot
    w = np.zeros(M.shape[1], ar.lane.dtype)
    for i in range(M.shape[0]):
        if state.size[0] == M.shape[1]:
            break
        lift(ar, w, M[i])
        _reduce_through(state, w, state.size[0])
        column = _first_nonzero(w)
        if column >= 0:
            _append(state, w, column, 0)
    # Leading columns are leftmost, so clearing a row with later ones never moves its own.
    for i in range(state.size[0] - 2, -1, -1):
        row = rows[order[i]]
        lift(ar, w, row)
        credit = ar.budget
        for j in range(i + 1, state.size[0]):
            a = row[pivot[j]]
            if a != 0:
                credit = _add(ar, w, rows[order[j]], negate(ar, a), credit)
        settle(ar, w)
        lower(ar, row, w, _ONE)


@jit
def _reduce(ar, X, R, pivots, out):
    w = np.zeros(X.shape[1], ar.lane.dtype)
    for i in range(X.shape[0]):
        lift(ar, w, X[i])
        credit = ar.budget
        for j in range(R.shape[0]):
            a = X[i, pivots[j]]
            if a != 0:
                credit = _add(ar, w, R[j], negate(ar, a), credit)
        settle(ar, w)
        lower(ar, out[i], w, _ONE)


@jit
def _dot(ar, X, Wt, out):
    w = np.zeros(Wt.shape[1], ar.lane.dtype)
    for i in range(X.shape[0]):
        w[:] = 0
        credit = ar.budget
        for j in range(X.shape[1]):
            if X[i, j] != 0:
                credit = _add(ar, w, Wt[j], X[i, j], credit)
        settle(ar, w)
        lower(ar, out[i], w, _ONE)


@jit
def _class_start(count, i):
    """Return the first position whose count equals count[i] (counts fall)."""
    low, high = 0, i
    while low < high:
        middle = (low + high) // 2
        if count[middle] > count[i]:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _promote(state, f, u, w):
    """Let the settled residual u replace row f of its class and lead it; return its position.

    u is 0 in the pivots of all larger classes and of the rows before f in its own class. Those
    rows now come after it, so they are cleared in its pivot column (w: scratch).
    """
    ar, rows, order, pivot = state.ar, state.rows, state.order, state.pivot
    start = _class_start(state.count, f)
    slot, column = order[f], pivot[f]
    lower(ar, rows[slot], u, inverse(ar, value(ar, u[column])))
    for i in range(f - 1, start - 1, -1):
        row = rows[order[i]]
        a = row[column]
        if a != 0:
            lift(ar, w, row)
            axpy(ar, w, rows[slot], negate(ar, a))
            settle(ar, w)
            lower(ar, row, w, _ONE)
        order[i + 1] = order[i]
        pivot[i + 1] = pivot[i]
    order[start] = slot
    pivot[start] = column
    return start


@jit
def _insert(state, X, weights):
    """Insert the rows of X one after another.

    On the way through the chain, ``hits`` stacks the first hit position of each class and ``kept``
    the residual there. Weight 1 needs the last of them only. A larger weight lifts the row through
    several classes, one exchange in each, just as repeated single inserts would.
    """
    ar, rows, order, pivot, count = state.ar, state.rows, state.order, state.pivot, state.count
    dim = X.shape[1]
    depth = dim + 1 if weights.shape[0] > 0 else 1
    kept = np.zeros((depth, dim), ar.lane.dtype)
    hits = np.zeros(depth, np.int64)
    w = np.zeros(dim, ar.lane.dtype)
    for r in range(X.shape[0]):
        weight = weights[r] if weights.shape[0] > 0 else 1
        if weight <= 0:
            continue
        lift(ar, w, X[r])
        size = state.size[0]
        # In a chain of full rank, the last class need not be walked: what is left lies in it.
        stop = size if size < dim else _class_start(count, dim - 1)
        top = -1
        current = np.int64(-1)
        credit = ar.budget
        for i in range(stop):
            a = value(ar, w[pivot[i]])
            if a != 0:
                if count[i] != current:
                    current = count[i]
                    top = min(top + 1, depth - 1)
                    hits[top] = i
                    kept[top] = w
                credit = _add(ar, w, rows[order[i]], negate(ar, a), credit)
        settle(ar, w)
        column = _first_nonzero(w)
        if column >= 0:
            top = min(top + 1, depth - 1)
            kept[top] = w
            if size < dim:
                _append(state, w, column, 0)
                hits[top] = size
            else:
                i = stop
                while w[pivot[i]] == 0:
                    i += 1
                hits[top] = i
        if top < 0:
            continue
        f = hits[top]
        while weight > 0:
            settle(ar, kept[top])
            start = _promote(state, f, kept[top], w)
            step = weight if start == 0 else min(weight, count[start - 1] - count[start])
            count[start] += step
            weight -= step
            f = start
            if weight > 0 and top > 0 and count[hits[top - 1]] == count[start]:
                top -= 1
                f = hits[top]


@jit
def _merge(state, Y, cy, Z, cz):
    """Write the common basis to Z and its counts to cz, by position in the chain of X."""
    ar, rows, order, pivot = state.ar, state.rows, state.order, state.pivot
    dim = Y.shape[1]
    w = np.zeros(dim, ar.lane.dtype)
    # C[i]: the coordinates of y_i in the chain, as changed by subtracting claimers.
    C = np.zeros((Y.shape[0], dim), Y.dtype)
    claimer = np.full(dim, -1, np.int64)
    for y in range(Y.shape[0]):
        lift(ar, w, Y[y])
        credit = ar.budget
        for i in range(state.size[0]):
            a = value(ar, w[pivot[i]])
            if a != 0:
                credit = _add(ar, w, rows[order[i]], negate(ar, a), credit)
                C[y, i] = a
        settle(ar, w)
        column = _first_nonzero(w)
        if column >= 0:
            C[y, state.size[0]] = value(ar, w[column])
            _append(state, w, column, 0)
        last = state.size[0] - 1
        lift(ar, w, C[y])
        credit = ar.budget
        while True:
            a = value(ar, w[last])
            if a != 0:
                if claimer[last] < 0:
                    break
                other = C[claimer[last]]
                credit = _add(
                    ar, w, other, negate(ar, times(ar, a, inverse(ar, other[last]))), credit
                )
            last -= 1
        settle(ar, w)
        lower(ar, C[y], w, _ONE)
        claimer[last] = y
        cz[last] += cy[y]
    for i in range(state.size[0]):
        if claimer[i] < 0:
            Z[i] = rows[order[i]]
        else:
            w[:] = 0
            credit = ar.budget
            for j in range(i + 1):
                a = C[claimer[i], j]
                if a != 0:
                    credit = _add(ar, w, rows[order[j]], a, credit)
            settle(ar, w)
            lower(ar, Z[i], w, _ONE)
