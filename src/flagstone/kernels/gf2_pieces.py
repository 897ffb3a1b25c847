"""Cutting a stream of one-word rows over GF(2) into pieces, each with a flag of its own.

The loop of :class:`flagstone.certificates.pieces.Cutter`: it looks at the flag of a piece every few
dozen rows, and calls from Python would cost more than these rows do.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import frozen, inline, jit
from flagstone.kernels.gf2 import flag_kernel
from flagstone.kernels.gf2_sweep import State

_NONE = np.uint64(0)
_kernel = flag_kernel(64)
_insert = _kernel._insert


def cut(
    state: State,
    progress: NDArray[np.int64],
    rows: tuple[NDArray[np.uint64], NDArray[np.int64], int],
    inside: bool,
    numbers: tuple[int, float, int],
    looks: tuple[int, int],
) -> NDArray[np.int64]:
    """Go on cutting; return, for each piece that ends, where it does, its value, its length.

    Parameters
    ----------
    state : State
        The flag of the piece so far, which is brought up to date.
    progress : array
        Rows in the piece so far, and how many (inside: all; outside: given ones) come before the
        next look. Brought up to date.
    rows : (array, array, int)
        Words, their numbers, and among how many rows; the others are zero.
    inside, numbers, looks
        The `Cut`: its kind; credit, pace and most; where looks become frequent, and how frequent.
    """
    words, ticks, size = rows
    # A piece may have a single row: constant rows fill a set each.
    ends = np.empty((size, 3), np.int64)
    empty, words = _empty(len(state.basis)), frozen(words)
    number = _cut(*state, *empty, progress, words, ticks, size, inside, *numbers, *looks, ends)
    return ends[:number]


@functools.cache
def _empty(dim: int) -> State:
    """The flag of no rows, which is only read."""
    empty: State = _kernel.new(dim)
    return empty


@inline
def _wait(
    inside: bool, value: int, filled: int, credit: int, pace: float, most: int, fine: int, step: int
) -> int:
    """How long until the next look; 0 if the piece is over."""
    if not inside:
        return 0 if filled == most else max(0, credit + math.floor(filled / pace) - value + 1)
    if value >= most:
        return 0
    end = credit + math.floor(pace * value)
    return max(0, min(end, filled + step if filled >= fine else fine) - filled)


@inline
def _copy(target: Any, source: Any) -> None:
    """Copy entry by entry: assigning rows takes seconds to compile."""
    for i in range(target.shape[0]):
        for k in range(target.shape[1]):
            target[i, k] = source[i, k]


@jit
def _cut(
    basis: Any, table: Any, counts: Any, bounds: Any,
    no_basis: Any, no_table: Any, no_counts: Any, no_bounds: Any,
    progress: Any, rows: Any, ticks: Any, size: int,
    inside: bool, credit: int, pace: float, most: int, fine: int, step: int, ends: Any,
) -> int:  # fmt: skip
    filled, wait = progress[0], progress[1]
    i = j = number = 0
    while i < size:
        stop = min(size, i + (wait if inside else most - filled))
        end = j
        while end < len(ticks) and ticks[end] < stop and (inside or end - j < wait):
            end += 1
        wait -= stop - i if inside else end - j
        if not inside and wait == 0:
            stop = ticks[end - 1] + 1
        if end > j:
            _insert(basis, table, counts, bounds, rows[j:end], None, (_NONE,))
        filled += stop - i
        i = stop
        j = end
        if wait == 0 or (not inside and filled == most):
            value = counts[0] if inside else counts[len(basis) - 1]
            wait = _wait(inside, value, filled, credit, pace, most, fine, step)
            if wait == 0:
                ends[number, 0] = i
                ends[number, 1] = value
                ends[number, 2] = filled
                number += 1
                _copy(basis, no_basis)
                _copy(table, no_table)
                for k in range(len(counts)):
                    counts[k] = no_counts[k]
                _copy(bounds, no_bounds)
                filled = 0
                wait = _wait(inside, 0, 0, credit, pace, most, fine, step)
    progress[0] = filled
    progress[1] = wait
    return number
