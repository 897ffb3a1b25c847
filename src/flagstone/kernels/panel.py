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


@helper
def clear_between(
    state: State, work: Workspace, first: int, stop: int, lowest: int, credit: int
) -> int:
    """Clear the rows with seen[b] ≠ 0 in the pivot columns of positions; return the credit left.

    The panel is settled, where it must be, from the lowest position on that any row still needs.
    """
    i: Any = first
    while i < stop:
        n: Any = stop - i if stop - i < GROUP else np.int64(GROUP)
        if credit < n:
            settle_from(state, work.W, lowest if lowest < i else i)
            credit = state.ar.budget
        clear_panel(
            state.ar, work.W, state.pivots, state.rows, state.order, work.A, work.seen, i, n
        )
        credit -= n
        i += n
    return credit


@apart
def reduce_panel(state: State, work: Workspace, stop: int) -> int:
    """Reduce the panel through the first ``stop`` rows of the chain, and settle what is left.

    Record the factors, and the panel at the start of each large class; return how many there are.
    """
    counts, W = state.counts, work.W
    dim = W.shape[0]
    for b in range(LANES):
        work.seen[b] = 1
    credit: Any = state.ar.budget
    n_kept: Any = np.int64(0)
    begin: Any = np.int64(0)
    done: Any = begin
    for end in range(1, stop + 1):
        if end == stop or counts[end] != counts[begin]:
            if KEPT * (end - begin) > dim:
                credit = clear_between(state, work, done, begin, dim, credit)
                done = begin
                work.starts[n_kept] = begin
                work.counts[n_kept] = counts[begin]
                move_panel(
                    work.kept, n_kept * dim, W, np.int64(0), work.seen, state.pivots, begin, dim
                )
                n_kept += 1
            begin = np.int64(end)
    clear_between(state, work, done, stop, dim, credit)
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
    state: State, work: Workspace, b: int, clear: int, start: int, level: int, credit: int
) -> int:
    """Return the first position that row b of the panel hits of the class at ``start``, −1 if none.

    The panel is cleared through the positions before ``clear``. The row's residual is left in u.
    Level 0 is outside the chain: the residual is then appended.
    """
    u, U, size = work.u, work.U, state.size[0]
    for j in range(u.shape[0]):
        u[j] = 0
    take_row(u, work.W, np.int64(0), b, state.pivots, clear, u.shape[0])
    if clear < start:
        reduce_through(state, u, clear, start, credit)
    else:
        for t in range(U.shape[0]):
            settle_column(state.ar, U, t)
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
    ar, counts, levels = state.ar, state.counts, work.levels
    dim, size = work.W.shape[0], state.size[0]
    stop = size if size < dim else class_start(counts, counts[dim - 1], dim)
    n_kept = reduce_panel(state, work, stop)
    find_classes(state, work, stop, n_kept)
    credit: Any = ar.budget
    lowest: Any = np.int64(dim)  # where a row was promoted
    # Rows of the level ``known`` leave its class at ``start``. Those from ``clear`` on are not yet
    # subtracted from the panel: several at once are, when there are enough or the level changes.
    known: Any = np.int64(-1)
    start: Any = np.int64(0)
    clear: Any = start
    for b in range(first, n):
        if levels[b] < 0 or (weights.shape[0] > 0 and weights[base + b] == 0):
            continue
        f = -1
        while f < 0:
            if levels[b] != known or start - clear == ar.together:
                if clear < start:
                    for other in range(LANES):
                        work.seen[other] = levels[other] == known
                    credit = clear_between(state, work, clear, start, lowest, credit)
                known = levels[b]
                start = clear = class_start(counts, known, state.size[0])
            f = first_hit(state, work, b, clear, start, known, credit)
            if f < 0:  # nothing is left: the row belongs to a class before
                k = n_kept - 1
                while k >= 0 and work.counts[k] != counts[start - 1]:
                    k -= 1
                if k < 0 or work.starts[k] > lowest:
                    return b
                begin = work.starts[k]
                # All others of the level do, too, if nothing is left of its class.
                over = start == dim or counts[start] != known
                for other in range(LANES):
                    work.seen[other] = other == b or (over and levels[other] == known)
                    if work.seen[other] != 0:
                        levels[other] = work.counts[k]
                move_panel(
                    work.W, np.int64(0), work.kept, k * dim, work.seen, state.pivots, begin, dim
                )
                settle_from(state, work.W, begin)
                left = class_start(counts, work.counts[k], state.size[0])
                credit = clear_between(state, work, begin, left, lowest, ar.budget)
        lowest = start if start < lowest else lowest
        promote(state, f, start, work.u, work.w)
        counts[start] += 1
        start += 1  # the row has left the class
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
