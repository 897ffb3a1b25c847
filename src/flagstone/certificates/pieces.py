"""Cutting rows into pieces whose sets add up: docs/theory/certificates.md, S30 and S31.

A piece starts with an empty flag and ends by its own rows alone, so the pieces of independent rows
are independent and alike. Two kinds, one for each side of a space V:

*inside* (rows of V in its coordinates, zero for a row outside V): the value of a piece is the
number of sets that span V. A piece has a credit of rows, every full set adds some, and it ends when
the credit is used up or k sets are full.

*outside* (images modulo V, zero for a row of V): the value is the number of sets. A piece has a
credit of sets, every row adds a part of one, and it ends when the credit is overdrawn, or after u
rows.

So a piece that does badly is given up early, before it can do much harm: what one piece can cost
is a credit, however long the pieces are.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone._kernels import kernels
from flagstone.algebra.fields import Array, Field


@dataclass(frozen=True)
class Cut:
    """The rule by which one kind of piece ends. Public numbers, fixed before the rows are seen.

    Attributes
    ----------
    inside : bool
    dim : int
        Columns of the rows: dim V inside, the codimension of V outside.
    credit : int
        Of rows (inside) or sets (outside), at the beginning.
    pace : float
        Rows for one more set.
    most : int
        k, the full sets after which a piece inside ends; u, the rows after which one outside does.

    Examples
    --------
    >>> cut = Cut(inside=True, dim=3, credit=8, pace=3.5, most=4)
    >>> [cut.allowed(sets) for sets in range(4)], cut.longest
    ([8, 11, 15, 18], 18)
    >>> [Cut(inside=False, dim=2, credit=2, pace=2.0, most=6).allowed(rows) for rows in range(6)]
    [2, 2, 3, 3, 4, 4]
    """

    inside: bool
    dim: int
    credit: int
    pace: float
    most: int

    def allowed(self, reached: int) -> int:
        """How many rows with so many full sets (inside), how many sets after so many rows."""
        more = self.pace * reached if self.inside else reached / self.pace
        return self.credit + math.floor(more)

    @property
    def longest(self) -> int:
        """No piece has more rows than this."""
        return self.allowed(self.most - 1) if self.inside else self.most

    @property
    def looks(self) -> tuple[int, int]:
        """Inside: from which length on a piece is looked at between credits, and how often."""
        return math.floor(0.9 * self.most * self.pace), max(1, int(self.pace / 8))

    @property
    def extremes(self) -> tuple[Array, Array]:
        """Values and lengths such that no possible piece does worse than all of them."""
        if self.inside:
            values = np.arange(self.most)
            return values, np.array([self.allowed(value) for value in values.tolist()])
        # Overdrawn by one set, as early as can be; or at the very end.
        overdrawn = range(self.credit + 1, self.allowed(self.most) + 2)
        lengths = [max(x, math.floor((x - 1 - self.credit) * self.pace)) for x in overdrawn]
        return np.array([*overdrawn, overdrawn[-1]]), np.array([*lengths, self.most])


class Cutter:
    """Cuts a run of rows into pieces, as they come, and counts what comes of them.

    Attributes
    ----------
    outcomes : Counter of (int, int)
        How many pieces had this value and this length. A piece counts once the run has gone on
        for ``cut.longest`` rows after its beginning, however short it was: whether it counts is
        then known before it begins (S32).

    Examples
    --------
    >>> from flagstone import GF
    >>> cutter = Cutter(GF(2), Cut(inside=True, dim=2, credit=3, pace=1.0, most=1))
    >>> x, y = [1, 0], [0, 1]
    >>> rows = GF(2).rows([x, y, x, x, x, y, x])
    >>> cutter.update(GF(2).matrix(rows)).outcomes  # the third piece began too late to count
    Counter({(1, 2): 1, (0, 3): 1})
    """

    def __init__(self, field: Field, cut: Cut) -> None:
        self.cut = cut
        self.outcomes: Counter[tuple[int, int]] = Counter()
        self._field = field
        self._open = _new_piece(field, cut)
        self._seen = 0
        self._pending: list[tuple[int, int, int]] = []

    def __getstate__(self) -> dict[str, Any]:
        """The open piece as arrays: its kernel's own state is not the same on all processors."""
        return vars(self) | {"_open": self._open.dump()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open = _new_piece(self._field, self.cut)
        self._open.load(*state["_open"])

    def copy(self) -> Cutter:
        """Return an independent copy."""
        twin = object.__new__(Cutter)
        vars(twin).update(vars(self))
        twin.outcomes, twin._pending = self.outcomes.copy(), self._pending.copy()
        twin._open = self._open.copy()
        return twin

    def update(self, matrix: Array, ticks: Array | None = None, size: int = 0) -> Cutter:
        """Take more rows of the run, as the array that kernels take, and return self.

        With ``ticks``, the rows are those with these numbers among ``size`` rows; the others are
        zero rows. Outside, no other row may be zero.
        """
        if ticks is None:
            ticks, size = np.arange(len(matrix)), len(matrix)
        for end, value, length in self._open.cut(matrix, ticks, size).tolist():
            self._pending.append((self._seen + end - length, value, length))
        self._seen += size
        settled = self._seen - self.cut.longest
        self.outcomes.update((x, n) for begin, x, n in self._pending if begin <= settled)
        self._pending = [piece for piece in self._pending if piece[0] > settled]
        return self


def _new_piece(field: Field, cut: Cut) -> Any:
    """Return what cuts rows over this field, at the beginning of a piece."""
    if field.order != 2:
        return _Pieces(field, cut)
    rule = cut.inside, cut.credit, cut.pace, cut.most, *cut.looks
    return kernels.gf2_piece_cutter(cut.dim, *rule)


class _Pieces:
    """Cuts rows over any field, as the kernel ``gf2_piece_cutter`` does over GF(2)."""

    def __init__(self, field: Field, cut: Cut) -> None:
        self._field, self._cut = field, cut
        self._flag = field.new_flag(cut.dim)
        self._filled = 0  # rows in the piece
        self._wait = self._wait_after(0)  # rows (outside: non-zero rows) before the next look

    def copy(self) -> _Pieces:
        twin = _Pieces(self._field, self._cut)
        twin._flag, twin._filled, twin._wait = self._flag.copy(), self._filled, self._wait
        return twin

    def dump(self) -> tuple[Array, Array, int, int]:
        return *self._flag.dump(), self._filled, self._wait

    def load(self, basis: Array, counts: Array, filled: int, wait: int) -> None:
        self._flag = self._field.load_flag(self._cut.dim, basis, counts)
        self._filled, self._wait = filled, wait

    def _wait_after(self, value: int) -> int:
        """How long until the next look; 0 if the piece is over."""
        cut, filled = self._cut, self._filled
        if not cut.inside:  # each non-zero row adds one set at most
            return 0 if filled == cut.most else max(0, cut.allowed(filled) - value + 1)
        if value >= cut.most:
            return 0
        fine, step = cut.looks
        end = min(cut.allowed(value), cut.longest)
        return max(0, min(end, filled + step if filled >= fine else fine) - filled)

    def cut(self, matrix: Array, ticks: Array, size: int) -> Array:
        """Return where pieces end, their values and lengths."""
        cut, ends, i, j = self._cut, [], 0, 0
        while i < size:
            if cut.inside:
                stop = min(size, i + self._wait)
                self._wait -= stop - i
                end = int(np.searchsorted(ticks, stop))
            else:
                stop = min(size, i + cut.most - self._filled)
                end = min(j + self._wait, int(np.searchsorted(ticks, stop)))
                self._wait -= end - j
                if self._wait == 0:
                    stop = int(ticks[end - 1]) + 1
            self._flag.insert(matrix[j:end], None)
            self._filled += stop - i
            i, j = stop, end
            if self._wait == 0 or (not cut.inside and self._filled == cut.most):
                value = self._value()
                self._wait = self._wait_after(value)
                if self._wait == 0:
                    ends.append((i, value, self._filled))
                    self._flag, self._filled = self._field.new_flag(cut.dim), 0
                    self._wait = self._wait_after(0)
        return np.array(ends, np.int64).reshape(-1, 3)

    def _value(self) -> int:
        counts = self._flag.dump()[1]
        if self._cut.inside:
            return int(counts[-1]) if len(counts) == self._cut.dim else 0
        return int(counts[0]) if len(counts) else 0
