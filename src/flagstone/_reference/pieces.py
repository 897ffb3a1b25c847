"""Cutting a stream of rows over GF(2) into pieces (docs/theory/certificates.md, S31)."""

from __future__ import annotations

import math

import numpy as np

from flagstone._reference.gf2 import Counts, Words, gf2_flag, gf2_flag_load


class PieceCutter:
    """Cuts rows into pieces by the rule of `flagstone.certificates.pieces.Cut`.

    Parameters
    ----------
    dim : int
    inside : bool
        Whether the value of a piece is the number of its sets that span GF(2)^dim, or of all sets.
    credit : int
        Of rows (inside) or sets (outside), at the beginning.
    pace : float
        Rows for one more set.
    most : int
        Full sets (inside) or rows (outside) after which a piece ends.
    fine, step : int
        Inside: the length from which on a piece is looked at every ``step`` rows.
    """

    def __init__(
        self, dim: int, inside: bool, credit: int, pace: float, most: int, fine: int, step: int
    ) -> None:
        self._rule = dim, inside, credit, pace, most, fine, step
        self._flag = gf2_flag(dim)
        self._filled = 0  # rows in the piece
        self._wait = self._wait_after(0)  # rows (outside: given rows) before the next look

    def cut(self, words: Words, ticks: Counts, size: int) -> Counts:
        """Take more rows; return where pieces end, their values and their lengths.

        The rows are those with the numbers ``ticks`` among ``size`` rows, the others being zero.
        """
        dim, inside, _, _, most, _, _ = self._rule
        pieces, given = list[tuple[int, int, int]](), dict(zip(ticks.tolist(), words, strict=True))
        for i in range(size):
            if i in given:
                self._flag.insert(given[i][None])
            self._filled += 1
            self._wait -= inside or i in given
            if self._wait == 0 or (not inside and self._filled == most):
                counts = self._flag.dump()[1].tolist()
                counts += [0] * (dim - len(counts))
                value = min(counts, default=0) if inside else max(counts, default=0)
                self._wait = self._wait_after(value)
                if self._wait == 0:
                    pieces.append((i + 1, value, self._filled))
                    self._flag, self._filled = gf2_flag(dim), 0
                    self._wait = self._wait_after(0)
        return np.array(pieces, np.int64).reshape(-1, 3)

    def _wait_after(self, value: int) -> int:
        """Return how many rows come before the next look; 0 if the piece is over."""
        _, inside, credit, pace, most, fine, step = self._rule
        if not inside:  # each given row adds one set at most
            allowed = credit + math.floor(self._filled / pace)
            return 0 if self._filled == most else max(0, allowed - value + 1)
        if value >= most:
            return 0
        allowed = credit + math.floor(pace * value)
        look = self._filled + step if self._filled >= fine else fine
        return max(0, min(allowed, look) - self._filled)

    def copy(self) -> PieceCutter:
        """Return a cutter that shares nothing with this one."""
        twin = PieceCutter(*self._rule)
        twin._flag, twin._filled, twin._wait = self._flag.copy(), self._filled, self._wait
        return twin

    def dump(self) -> tuple[Words, Counts, int, int]:
        """Return the arguments of `load`."""
        return *self._flag.dump(), self._filled, self._wait

    def load(self, basis: Words, counts: Counts, filled: int, wait: int) -> None:
        """Go on with a piece that has this flag and length, and this wait for a look."""
        self._flag = gf2_flag_load(self._rule[0], basis, counts)
        self._filled, self._wait = filled, wait


def gf2_piece_cutter(
    dim: int, inside: bool, credit: int, pace: float, most: int, fine: int, step: int
) -> PieceCutter:
    """Return a cutter at the beginning of a piece."""
    return PieceCutter(dim, inside, credit, pace, most, fine, step)
