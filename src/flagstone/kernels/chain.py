"""The echelon chain: how a counted flag over GF(p) or GF(p^k) is held, and exchanged row by row.

Basis rows stand in order of falling count, row i with a pivot column in which it is 1 and *every
later row is 0*. Reducing v through the chain from the front finds its coordinates one after
another, and the last position that was needed is the element of smallest count in the support of v.
All that matters of the exchange (replace that element by v, with one more in count) is the span of
the rows up to each count. So v may first be reduced by the rows of *larger* count, and may replace
*any* row of its class (the rows of equal count) in its support: we let the residual replace the
first row of the class that it hits, which leaves at most the few rows before that one to be cleared
in the pivot column. Coordinates are never stored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import apart, helper, leaf
from flagstone.kernels.rowops import (
    axpy,
    element,
    inverse,
    lift,
    lower,
    negate,
    settle,
    times,
    value,
)

Array = NDArray[Any]

ONE = np.uint64(1)


class State(NamedTuple):
    """An echelon chain; every array but ``rows`` goes by position in the chain.

    Invariant: with x_i = rows[order[i]], counts fall, x_i[pivots[i]] = 1 and x_j[pivots[i]] = 0 for
    j > i; V_j is the span of the x_i with counts[i] ≥ j. ``size[0]`` is the length of the chain;
    beyond it, ``order`` and ``pivots`` name the slots and columns that are left. In a chain of full
    rank, the last class spans the whole space with the others, whatever its rows are: they need not
    stand in ``rows``, and :func:`~flagstone.kernels.finite.dump` makes unit vectors of them.
    """

    ar: Any
    rows: Array
    order: NDArray[np.int64]
    pivots: NDArray[np.int64]
    counts: NDArray[np.int64]
    size: NDArray[np.int64]


@helper
def lift_row(ar: Any, w: Array, rows: Array, s: int) -> None:
    """Let w be rows[s]."""
    for j in range(w.shape[0]):
        w[j] = lift(ar, rows[s, j])


@helper
def keep(stack: Array, i: int, w: Array) -> None:
    """Copy w to stack[i]; a plain loop compiles far faster than a slice."""
    for j in range(w.shape[0]):
        stack[i, j] = w[j]


@helper
def first_nonzero(w: Array) -> int:
    """Return the first column in which a settled working row is not 0, or −1."""
    for j in range(w.shape[0]):
        if w[j] != 0:
            return j
    return -1


@helper
def class_start(counts: NDArray[np.int64], level: int, size: int) -> int:
    """Return the first of the positions 0..size whose count does not exceed the level."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if counts[middle] > level:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def add(ar: Any, w: Array, rows: Array, s: int, a: Any, credit: int) -> int:
    """Add a · rows[s] to the working row; return what is left of its budget."""
    if credit == 0:
        settle(ar, w)
        credit = ar.budget
    axpy(ar, w, rows, s, a)
    return credit - 1


@helper
def combine(
    ar: Any, w: Array, C: Array, c: int, rows: Array, order: NDArray[np.int64], n: int
) -> None:
    """Let w be the sum of C[c, i] · rows[order[i]] over i < n, settled."""
    for j in range(w.shape[0]):
        w[j] = 0
    credit = ar.budget
    for i in range(n):
        if C[c, i] != 0:
            credit = add(ar, w, rows, order[i], np.uint64(C[c, i]), credit)
    settle(ar, w)


@apart
def reduce_through(state: State, w: Array, first: int, stop: int, credit: int) -> None:
    """Clear a working row in the pivot columns of some positions, and settle it."""
    ar, rows, order, pivots = state.ar, state.rows, state.order, state.pivots
    for i in range(first, stop):
        a = value(ar, w[pivots[i]])
        if a != 0:
            credit = add(ar, w, rows, order[i], negate(ar, a), credit)
    settle(ar, w)


@apart
def append(state: State, w: Array, column: int) -> None:
    """Put the settled working row, scaled to 1 in ``column``, at the end, with count 0."""
    i = state.size[0]
    lower(state.ar, state.rows, state.order[i], w, inverse(state.ar, element(state.ar, w[column])))
    k = i
    while state.pivots[k] != column:
        k += 1
    state.pivots[k] = state.pivots[i]
    state.pivots[i] = column
    state.counts[i] = 0
    state.size[0] = i + 1


@helper
def promote(state: State, f: int, start: int, u: Array, w: Array) -> None:
    """Let the settled residual u replace row f of its class, which begins at start, and lead it.

    u is 0 in the pivots of all larger classes and of the rows before f in its own class. Those
    rows now come after it, so they are cleared in its pivot column (w: scratch), unless nobody
    will read them.
    """
    ar, rows, order, pivots = state.ar, state.rows, state.order, state.pivots
    slot, column, last = order[f], pivots[f], u.shape[0] - 1
    unread = state.size[0] > last and state.counts[last] == state.counts[start]
    lower(ar, rows, slot, u, inverse(ar, element(ar, u[column])))
    for i in range(f - 1, start - 1, -1):
        a = np.uint64(rows[order[i], column])
        if a != 0 and not unread:
            lift_row(ar, w, rows, order[i])
            axpy(ar, w, rows, slot, negate(ar, a))
            settle(ar, w)
            lower(ar, rows, order[i], w, ONE)
        order[i + 1] = order[i]
        pivots[i + 1] = pivots[i]
    order[start] = slot
    pivots[start] = column


@apart
def insert_row(
    state: State, X: Array, r: int, weight: int, hits: NDArray[np.int64], kept: Array, w: Array
) -> None:
    """Insert X[r], weight ≥ 1 times.

    On the way through the chain, ``hits`` stacks the first hit position of each class and ``kept``
    the residual there. Weight 1 needs the last of them only, and may come with room for just one.
    A larger weight lifts the row through several classes, one exchange in each, just as repeated
    single inserts would.
    """
    ar, rows, order, pivots, counts = (
        state.ar, state.rows, state.order, state.pivots, state.counts,
    )  # fmt: skip
    dim, size, depth = w.shape[0], state.size[0], kept.shape[0]
    # In a chain of full rank, the last class need not be walked: what is left lies in it.
    stop = size if size < dim else class_start(counts, counts[dim - 1], dim)
    top = -1
    level = np.int64(-1)
    credit = ar.budget
    lift_row(ar, w, X, r)
    for i in range(stop):
        a = value(ar, w[pivots[i]])
        if a != 0:
            if counts[i] != level:
                level = counts[i]
                top = min(top + 1, depth - 1)
                hits[top] = i
                keep(kept, top, w)
            credit = add(ar, w, rows, order[i], negate(ar, a), credit)
    settle(ar, w)
    column = first_nonzero(w)
    if column >= 0:
        top = min(top + 1, depth - 1)
        keep(kept, top, w)
        if size < dim:
            append(state, w, column)
            hits[top] = size
        else:
            i = stop
            while w[pivots[i]] == 0:
                i += 1
            hits[top] = i
    if top < 0:
        return
    f = hits[top]
    while weight > 0:
        u = kept[top]
        settle(ar, u)
        start = class_start(counts, counts[f], f)
        promote(state, f, start, u, w)
        step = weight if start == 0 else min(weight, counts[start - 1] - counts[start])
        counts[start] += step
        weight -= step
        f = start
        if weight > 0 and top > 0 and counts[hits[top - 1]] == counts[start]:
            top -= 1
            f = hits[top]


@leaf
def merge_into(
    state: State,
    Y: Array,
    cy: NDArray[np.int64],
    Z: Array,
    cz: NDArray[np.int64],
    C: Array,
    claimer: NDArray[np.int64],
    w: Array,
) -> None:
    """Write the common basis of the chain and Y to Z, and its counts to cz, by position.

    C[y] holds the coordinates of y in the chain, as changed by subtracting claimers; it comes
    zero, ``claimer`` −1 throughout. w is scratch.
    """
    ar, rows, order, pivots = state.ar, state.rows, state.order, state.pivots
    for y in range(Y.shape[0]):
        lift_row(ar, w, Y, y)
        credit = ar.budget
        for i in range(state.size[0]):
            a = value(ar, w[pivots[i]])
            if a != 0:
                C[y, i] = a
                credit = add(ar, w, rows, order[i], negate(ar, a), credit)
        settle(ar, w)
        column = first_nonzero(w)
        if column >= 0:
            C[y, state.size[0]] = value(ar, w[column])
            append(state, w, column)
        lift_row(ar, w, C, y)
        credit = ar.budget
        last = state.size[0] - 1
        while True:
            a = value(ar, w[last])
            if a != 0:
                other = claimer[last]
                if other < 0:
                    break
                a = times(ar, a, inverse(ar, np.uint64(C[other, last])))
                credit = add(ar, w, C, other, negate(ar, a), credit)
            last -= 1
        settle(ar, w)
        lower(ar, C, y, w, ONE)
        claimer[last] = y
        cz[last] += cy[y]
    for i in range(state.size[0]):
        if claimer[i] < 0:
            lift_row(ar, w, rows, order[i])
        else:
            combine(ar, w, C, claimer[i], rows, order, i + 1)
        lower(ar, Z, i, w, ONE)
