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

from flagstone import _reference as reference
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
        """Rows with this many full sets (inside), and sets after this many rows."""
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
        self._flag, self._piece = field.new_flag(cut.dim), (0, 0)  # of the open piece
        self._seen = 0
        self._pending: list[tuple[int, int, int]] = []

    def __getstate__(self) -> dict[str, Any]:
        """The flag as arrays: a kernel's own state is not the same on all processors."""
        return vars(self) | {"_flag": self._flag.dump()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._flag = self._field.load_flag(self.cut.dim, *state["_flag"])

    def copy(self) -> Cutter:
        """Return an independent copy."""
        twin = object.__new__(Cutter)
        vars(twin).update(vars(self))
        twin.outcomes, twin._pending = self.outcomes.copy(), self._pending.copy()
        twin._flag = self._flag.copy()
        return twin

    def update(self, matrix: Array, ticks: Array | None = None, size: int = 0) -> Cutter:
        """Take more rows of the run, as the array that kernels take, and return self.

        With ``ticks``, the rows are those with these numbers among ``size`` rows; the others are
        zero rows. Outside, no other row may be zero.
        """
        if ticks is None:
            ticks, size = np.arange(len(matrix)), len(matrix)
        rule = self.cut.inside, self.cut.credit, self.cut.pace, self.cut.most, *self.cut.looks
        # Flags over the rationals are Python's own.
        cut_pieces = kernels.cut_pieces if self._field.order else reference.cut_pieces
        ends, self._piece = cut_pieces(self._flag, rule, self._piece, matrix, ticks, size)
        for end, value, length in ends.tolist():
            self._pending.append((self._seen + end - length, value, length))
        self._seen += size
        settled = self._seen - self.cut.longest
        self.outcomes.update((x, n) for begin, x, n in self._pending if begin <= settled)
        self._pending = [piece for piece in self._pending if piece[0] > settled]
        return self
