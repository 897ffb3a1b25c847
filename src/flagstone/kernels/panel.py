"""Inserting many rows at once into an echelon chain, with the result of one after another.

The rows of a batch stand side by side in a panel and are reduced through the chain together. That
uses the chain of the batch's start; yet the exchanges that the rows then make, in their order, need
little correction. An exchange in a class changes neither the span nor the pivot columns of that
class with those before it, and the residual of a row at the start of its class depends on these
alone. So the residual of a later row stands, unless an earlier row left the *same* class: then that
row has joined the larger ones, and is subtracted. Only when nothing is left of a residual does the
row belong to another class than it seemed; then the batch ends before it.

A residual is 0 in the pivot columns of all rows before its class, so the columns that are still of
use stand last among the pivots: products go over these alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned_zeros, apart, helper, leaf
from flagstone.kernels._vectors import LANES
from flagstone.kernels.chain import (
    Array,
    State,
    append,
    class_start,
    first_nonzero,
    insert_row,
    promote,
    reduce_through,
)
from flagstone.kernels.rowops import (
    GROUP,
    clear_panel,
    factors,
    fill,
    left_over,
    move_panel,
    panel_axpy,
    settle_column,
    take_row,
)

#: Batches shorter than this are not worth a panel.
SHORTEST = 4

#: Residuals are kept at the start of classes of at least dim / KEPT rows; below, recomputed.
KEPT = 16


class Workspace(NamedTuple):
    """Scratch memory of one call, in lanes where nothing else is said.

    ``W`` is the panel, ``A`` its factors by position (scratch at the end), ``kept`` the panel at
    the start of some classes, with the ``starts`` and ``counts`` of these; ``levels`` the count of
    each row's class, ``seen`` what is left of it, ``begins`` whence its factors are added up;
    ``u`` and ``w`` are working rows, ``U`` the memory of u as a panel of its own (one row of the
    flag in the order of memory); ``hits`` and ``residuals`` serve :func:`insert_row`.
    """

    W: Array
    A: Array
    kept: Array
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    levels: NDArray[np.int64]
    seen: Array
    begins: NDArray[np.int64]
    U: Array
    u: Array
    w: Array
    hits: NDArray[np.int64]
    residuals: Array


def workspace(ar: Any, dim: int, weighted: bool) -> Workspace:
    """Return the scratch memory for rows of this width (outside the compiler: it allocates)."""
    lane = ar.lane.dtype
    depth = dim + 1 if weighted else 1
    U = aligned_zeros((-(-dim // LANES), LANES), lane)
    return Workspace(
        aligned_zeros((dim, LANES), lane),
        aligned_zeros((dim + GROUP, LANES), ar.factor.dtype),
        aligned_zeros((KEPT * dim, LANES), lane),
        np.zeros(KEPT, np.int64),
        np.zeros(KEPT, np.int64),
        np.zeros(LANES, np.int64),
        aligned_zeros((LANES,), lane),
        np.zeros(LANES, np.int64),
        U,
        U.ravel()[:dim],
        np.zeros(dim, lane),
        np.zeros(depth, np.int64),
        np.zeros((depth, dim), lane),
    )


@apart
def settle_from(state: State, W: Array, first: int) -> None:
    """Settle the panel in the pivot columns of all positions from the first on."""
    for t in range(first, W.shape[0]):
        settle_column(state.ar, W, state.pivots[t])


@apart
def reduce_panel(state: State, work: Workspace, stop: int) -> int:
    """Reduce the panel through the first ``stop`` rows of the chain, and settle what is left.

    Record the factors, and the panel at the start of each large class; return how many there are.
    """
    ar, counts, pivots, W = state.ar, state.counts, state.pivots, work.W
    dim = W.shape[0]
    for b in range(LANES):
        work.seen[b] = 1
    n_kept: Any = np.int64(0)
    begin = 0
    for end in range(1, stop + 1):
        if end == stop or counts[end] != counts[begin]:
            if KEPT * (end - begin) > dim:
                work.starts[n_kept] = begin
                work.counts[n_kept] = counts[begin]
                n_kept += 1
            begin = end
    credit = ar.budget
    i: Any = np.int64(0)
    k: Any = np.int64(0)
    while i < stop:
        if k < n_kept and work.starts[k] == i:
            move_panel(work.kept, k * dim, W, np.int64(0), work.seen, pivots, i, dim)
            k += 1
        n: Any = (work.starts[k] if k < n_kept else stop) - i
        if n > GROUP:
            n = np.int64(GROUP)
        if credit < n:
            settle_from(state, W, i)
            credit = ar.budget
        clear_panel(ar, W, pivots, state.rows, state.order, work.A, i, n)
        credit -= n
        i += n
    settle_from(state, W, stop)
    return n_kept


@apart
def find_classes(state: State, work: Workspace, stop: int, n_kept: int) -> None:
    """Find the count of each row's class (−1: the row is zero), and its residual at the start.

    Where that was not kept, what was subtracted since is added up again: with the factors as they
    are, which is minus the residual, and as good.
    """
    ar, counts, pivots = state.ar, state.counts, state.pivots
    W, A, levels, begins = work.W, work.A, work.levels, work.begins
    dim = W.shape[0]
    rest = counts[stop] if state.size[0] == dim else 0
    left_over(work.seen, W, pivots, stop, dim)
    lowest = stop
    for b in range(LANES):
        begins[b], levels[b] = stop, rest
        if work.seen[b] == 0:
            last = stop - 1
            while last >= 0 and A[last, b] == ar.nil:
                last -= 1
            levels[b] = -1
            if last >= 0:
                levels[b] = counts[last]
                begins[b] = class_start(counts, counts[last], last)
                if begins[b] < lowest:
                    lowest = begins[b]
    if lowest == stop:
        return
    for k in range(n_kept):
        start = work.starts[k]
        if start >= lowest:
            for b in range(LANES):
                work.seen[b] = begins[b] == start
                if begins[b] == start:
                    begins[b] = stop
            move_panel(W, np.int64(0), work.kept, k * dim, work.seen, pivots, start, dim)
    credit = ar.budget
    for i in range(stop - 1, lowest - 1, -1):
        used = False
        for b in range(LANES):
            if begins[b] <= i:
                W[pivots[i], b] = 0
            else:
                A[i, b] = ar.nil
            used |= A[i, b] != ar.nil
        if used:
            if credit == 0:
                settle_from(state, W, i)
                credit = ar.budget
            panel_axpy(ar, W, pivots, i, dim, state.rows, state.order[i], A, i)
            credit -= 1
    settle_from(state, W, lowest)


@helper
def first_hit(
    state: State, V: Array, i: int, b: int, first: int, level: int, start: int, U: Array, u: Array
) -> int:
    """Return the first position that row b of a panel hits of the class at ``start``, −1 if none.

    The panel stands from V[i] on, and is reduced through the positions before the first. The row's
    residual is left in u. Level 0 is outside the chain: the residual is then appended.
    """
    dim, size = u.shape[0], state.size[0]
    for j in range(dim):
        u[j] = 0
    take_row(u, V, i, b, state.pivots, first, dim)
    for t in range(U.shape[0]):
        settle_column(state.ar, U, t)
    if first < start:
        reduce_through(state, u, first, start)
    if level == 0:
        column = first_nonzero(u)
        if column < 0:
            return -1
        append(state, u, column)
        return size
    for t in range(start, size):
        if state.counts[t] != level:
            break
        if u[state.pivots[t]] != 0:
            return t
    return -1


@helper
def insert_panel(
    state: State, work: Workspace, weights: NDArray[np.int64], base: int, first: int, n: int
) -> int:
    """Insert the rows of the panel from the first up to n; return where it ended.

    Row b of the panel stands for row base + b of the call, whose weight is 0 or 1.
    """
    ar, pivots, counts = state.ar, state.pivots, state.counts
    W, A, levels, u = work.W, work.A, work.levels, work.u
    dim, size = W.shape[0], state.size[0]
    stop = size if size < dim else class_start(counts, counts[dim - 1], dim)
    n_kept = reduce_panel(state, work, stop)
    find_classes(state, work, stop, n_kept)
    credit = ar.budget
    zero: Any = np.int64(0)  # a plain 0 would compile all that it is handed to once more
    start: Any = zero
    lowest = dim  # where a row was promoted
    known = np.int64(-1)  # the level whose class begins at ``start``
    for b in range(first, n):
        level = levels[b]
        if level < 0 or (weights.shape[0] > 0 and weights[base + b] == 0):
            continue
        if level != known:
            start = class_start(counts, level, state.size[0])
        f = first_hit(state, W, zero, b, start, level, start, work.U, u)
        while f < 0:  # nothing is left: the row belongs to a class before
            level = counts[start - 1]
            k = n_kept - 1
            while k >= 0 and work.counts[k] != level:
                k -= 1
            if k < 0 or work.starts[k] > lowest:
                return b
            start = class_start(counts, level, state.size[0])
            begin = work.starts[k]
            f = first_hit(state, work.kept, k * dim, b, begin, level, start, work.U, u)
        known = levels[b] = level
        lowest = start if start < lowest else lowest
        promote(state, f, start, u, work.w)
        counts[start] += 1
        factors(ar, W, pivots[start], A, dim)
        for other in range(LANES):
            if levels[other] != level:
                A[dim, other] = ar.nil
        slot = state.order[start]
        start += 1  # the row has left the class
        if credit == 0:
            settle_from(state, W, lowest)
            credit = ar.budget
        panel_axpy(ar, W, pivots, start, dim, state.rows, slot, A, dim)
        credit -= 1
    return n


@leaf
def insert_rows(
    state: State, X: Array, n_rows: int, weights: NDArray[np.int64], work: Workspace
) -> None:
    """Insert the first rows of X, which has at least LANES, in their order; no weights: once each.

    The last panel begins with rows that were inserted before.
    """
    weighted = weights.shape[0] > 0
    r: Any = np.int64(0)  # no plain 0, again
    singles = 0  # rows to insert one by one before another panel is tried
    while r < n_rows:
        base: Any = r if r + LANES < X.shape[0] else X.shape[0] - LANES
        n: Any = r - base
        while n < LANES and base + n < n_rows and (not weighted or weights[base + n] <= 1):
            n += 1
        if singles == 0 and base + n - r >= SHORTEST:
            fill(state.ar, work.W, X, base)
            done = base + insert_panel(state, work, weights, base, r - base, n)
            if done - r < SHORTEST:
                singles = LANES
            r = done
            if done == base + n:
                continue
        weight: Any = weights[r] if weighted else np.int64(1)
        if weight > 0:
            insert_row(state, X, r, weight, work.hits, work.residuals, work.w)
        r += 1
        singles -= singles > 0
