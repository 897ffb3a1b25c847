"""Inserting many rows at once into an echelon chain, with the result of one after another.

The rows of a batch stand side by side in a panel and are reduced through the chain together. That
uses the chain of the batch's start; yet the exchanges that the rows then make, in their order, need
little correction. An exchange in a class changes neither the span nor the pivot columns of that
class with those before it, and the residual of a row at the start of its class depends on these
alone. So the residual of a later row stands, unless an earlier row left the *same* class: then that
row has joined the larger ones, and is subtracted. Only when nothing is left of a residual does the
row belong to another class than it seemed; then the batch ends before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned_zeros, helper, inline, leaf
from flagstone.kernels._vectors import LANES
from flagstone.kernels.chain import (
    Array,
    State,
    append,
    class_start,
    first_nonzero,
    insert_row,
    promote_merged,
)
from flagstone.kernels.rowops import (
    GROUP,
    cell,
    clear_panel,
    element,
    factors,
    fused,
    lift,
    negate,
    normal,
    panel_axpy,
    settle_panel,
)

#: Batches shorter than this are not worth a panel.
SHORTEST = 4

#: Residuals are kept at the start of classes of at least dim / KEPT rows; below, recomputed.
KEPT = 16


class Workspace(NamedTuple):
    """Scratch memory of one call, in lanes where nothing else is said.

    ``W`` is the panel, ``A`` its factors by position (scratch at the end), ``kept`` the panel at
    the start of some classes, ``starts`` (positions) of these, ``levels`` the count of each row's
    class; ``u`` and ``w`` are working rows, ``U`` the memory of u as a panel of its own (one row of
    the flag in the order of memory); ``hits`` and ``residuals`` serve :func:`insert_row`, ``T`` and
    ``R`` (some pivot columns of the panel, and of the chain) ``clear_panel``.
    """

    W: Array
    A: Array
    kept: Array
    starts: NDArray[np.int64]
    levels: NDArray[np.int64]
    U: Array
    u: Array
    w: Array
    hits: NDArray[np.int64]
    residuals: Array
    T: Array
    R: Array


def workspace(ar: Any, dim: int, weighted: bool) -> Workspace:
    """Return the scratch memory for rows of this width (outside the compiler: it allocates)."""
    lane = ar.lane.dtype
    depth = dim + 1 if weighted else 1
    U = aligned_zeros((-(-dim // LANES), LANES), lane)
    return Workspace(
        aligned_zeros((dim, LANES), lane),
        aligned_zeros((dim + GROUP, LANES), ar.factor.dtype),
        aligned_zeros((KEPT, dim, LANES), lane),
        np.zeros(KEPT, np.int64),
        np.zeros(LANES, np.int64),
        U,
        U.ravel()[:dim],
        np.zeros(dim, lane),
        np.zeros(depth, np.int64),
        aligned_zeros((depth, dim), lane),
        aligned_zeros((GROUP, LANES), lane),
        aligned_zeros((GROUP, GROUP), cell(ar)),
    )


@helper
def fill_panel(ar: Any, X: Array, first: int, n: int, weights: NDArray[np.int64], W: Array) -> None:
    """Put X[first : first + n] into the panel, zero for weight 0, and zero in the other lanes."""
    for b in range(W.shape[1]):
        if b < n and (weights.shape[0] == 0 or weights[first + b] > 0):
            for j in range(W.shape[0]):
                W[j, b] = lift(ar, X[first + b, j])
        else:
            for j in range(W.shape[0]):
                W[j, b] = 0


@inline
def starts_large(counts: NDArray[np.int64], i: int, large: int, stop: int) -> bool:
    """Say whether a class of at least ``large`` positions begins at i."""
    if i + large > stop or counts[i + large - 1] != counts[i]:
        return False
    return bool(i == 0 or counts[i] != counts[i - 1])


@helper
def reduce_panel(state: State, work: Workspace, stop: int) -> int:
    """Reduce the panel through the first ``stop`` rows of the chain, and settle it.

    Record the factors, and the panel at the start of each large class; return how many there are.
    """
    ar, counts, W = state.ar, state.counts, work.W
    large = W.shape[0] // KEPT + 1
    most = min(ar.budget, GROUP)
    n_kept = 0
    credit = ar.budget
    i: Any = np.int64(0)
    while i < stop:
        if starts_large(counts, i, large, stop):
            for j in range(W.shape[0]):
                for b in range(W.shape[1]):
                    work.kept[n_kept, j, b] = W[j, b]
            work.starts[n_kept] = i
            n_kept += 1
        n: Any = np.int64(1)
        while n < most and i + n < stop and not starts_large(counts, i + n, large, stop):
            n += 1
        if credit < n:
            settle_panel(ar, W)
            credit = ar.budget
        clear_panel(ar, W, state.rows, state.order, state.pivots, work.A, i, n, work.T, work.R)
        credit -= n
        i += n
    settle_panel(ar, W)
    return n_kept


@helper
def find_classes(state: State, work: Workspace, stop: int, n_kept: int) -> None:
    """Find the count of each row's class (−1: the row is zero), and its residual at the start."""
    ar, counts = state.ar, state.counts
    W, A, levels = work.W, work.A, work.levels
    rest = counts[stop] if state.size[0] == W.shape[0] else 0
    for b in range(levels.shape[0]):
        levels[b] = -1
    for j in range(W.shape[0]):
        for b in range(levels.shape[0]):
            levels[b] = rest if W[j, b] != 0 else levels[b]
    for b in range(levels.shape[0]):
        if levels[b] >= 0:
            continue
        last = stop - 1
        while last >= 0 and A[last, b] == ar.nil:
            last -= 1
        if last < 0:
            continue
        levels[b] = counts[last]
        start = class_start(counts, counts[last], last)
        k = n_kept - 1
        while k >= 0 and work.starts[k] != start:
            k -= 1
        if k >= 0:
            for j in range(W.shape[0]):
                W[j, b] = normal(ar, work.kept[k, j, b])
        else:
            for i in range(start, last + 1):
                if A[i, b] != ar.nil:
                    a = negate(ar, element(ar, A[i, b]))
                    for j in range(W.shape[0]):
                        W[j, b] = fused(ar, W[j, b], a, state.rows[state.order[i], j])


@helper
def first_hit(state: State, u: Array, level: int, start: int) -> int:
    """Return the first position of the class that its settled residual u hits, −1 if none.

    Level 0 is outside the chain: the residual is then appended, and the position is its own.
    """
    size = state.size[0]
    if level == 0:
        column = first_nonzero(u)
        if column < 0:
            return -1
        append(state, u, column)
        return size
    for i in range(start, size):
        if state.counts[i] != level:
            break
        if u[state.pivots[i]] != 0:
            return i
    return -1


@helper
def insert_panel(state: State, work: Workspace, n: int) -> int:
    """Insert the first n rows of the panel; return how many were done."""
    ar, pivots, counts = state.ar, state.pivots, state.counts
    W, A, levels, u = work.W, work.A, work.levels, work.u
    dim, size = W.shape[0], state.size[0]
    stop = size if size < dim else class_start(counts, counts[dim - 1], dim)
    find_classes(state, work, stop, reduce_panel(state, work, stop))
    credit = ar.budget
    start: Any = np.int64(0)
    known = np.int64(-1)  # the level whose class begins at ``start``
    for b in range(n):
        level = levels[b]
        if level < 0:
            continue
        if level != known:
            start = class_start(counts, level, state.size[0])
            known = level
        for j in range(dim):
            u[j] = W[j, b]
        settle_panel(ar, work.U)
        f = first_hit(state, u, level, start)
        if f < 0:
            return b
        promote_merged(state, f, start, u, work.w)
        counts[start] += 1
        factors(ar, W, pivots[start], A, dim)
        for other in range(levels.shape[0]):
            if levels[other] != level:
                A[dim, other] = ar.nil
        if credit == 0:
            settle_panel(ar, W)
            credit = ar.budget
        panel_axpy(ar, W, state.rows, state.order[start], A, dim)
        credit -= 1
        start += 1  # the row has left the class
    return n


@leaf
def insert_rows(state: State, X: Array, weights: NDArray[np.int64], work: Workspace) -> None:
    """Insert the rows of X in their order; no weights: once each."""
    weighted = weights.shape[0] > 0
    r: Any = np.int64(0)  # a plain 0 would compile everything twice, for a literal and an integer
    singles = 0  # rows to insert one by one before another panel is tried
    while r < X.shape[0]:
        n: Any = np.int64(0)
        while n < LANES and r + n < X.shape[0] and (not weighted or weights[r + n] <= 1):
            n += 1
        if singles == 0 and n >= SHORTEST:
            fill_panel(state.ar, X, r, n, weights, work.W)
            done = insert_panel(state, work, n)
            r += done
            if done == n:
                continue
            if done < SHORTEST:
                singles = LANES
        weight: Any = weights[r] if weighted else np.int64(1)
        if weight > 0:
            insert_row(state, X, r, weight, work.hits, work.residuals, work.w)
        r += 1
        singles = max(singles - 1, 0)
