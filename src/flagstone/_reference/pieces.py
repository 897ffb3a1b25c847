"""Cutting a stream of rows into pieces (docs/theory/certificates.md, S31)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
#: inside; credit of rows (inside) or sets (outside), at the beginning; rows for one more set; full
#: sets (inside) or rows (outside) after which a piece ends; inside, the length from which on a
#: piece is looked at whenever this many rows have come.
Rule = tuple[bool, int, float, int, int, int]


def cut_pieces(
    flag: Any, rule: Rule, piece: tuple[int, int], rows: Array, ticks: Array, size: int
) -> tuple[Array, tuple[int, int]]:
    """Take more rows; return where pieces end, their values and lengths, and the open piece.

    Parameters
    ----------
    flag : flag
        That of the open piece. Its value is the number of sets that span the whole space (inside)
        or of all sets (outside).
    rule : tuple
    piece : (int, int)
        The rows in the open piece, and the rows (outside: given rows) before the next look; zeros
        if it has not begun.
    rows, ticks : array
        The rows with these numbers among ``size`` rows, the others being zero.
    size : int
    """
    inside, credit, pace, most, fine, step = rule
    filled, wait = piece

    def next_look(value: int) -> int:
        """Return how many rows come before the next look; 0 if the piece is over."""
        if not inside:  # each given row adds one set at most
            return 0 if filled == most else max(0, credit + math.floor(filled / pace) - value + 1)
        if value >= most:
            return 0
        look = filled + step if filled >= fine else fine
        return max(0, min(credit + math.floor(pace * value), look) - filled)

    ends, i, j = list[tuple[int, int, int]](), 0, 0
    while i < size:
        wait = wait or next_look(0)
        stop = min(size, i + (wait if inside else most - filled))
        end = int(np.searchsorted(ticks, stop))
        if not inside and end - j >= wait:
            end = j + wait
            stop = int(ticks[end - 1]) + 1
        wait -= stop - i if inside else end - j
        flag.insert(rows[j:end], None)
        filled += stop - i
        i, j = stop, end
        if wait == 0 or (not inside and filled == most):
            counts = flag.dump()[1].tolist()
            value = (counts[-1] if len(counts) == flag.dim else 0) if inside else max([0, *counts])
            wait = next_look(value)
            if wait == 0:
                ends.append((i, value, filled))
                flag.reset()
                filled = 0
    return np.array(ends, np.int64).reshape(-1, 3), (filled, wait)
