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

from flagstone.fields import Array, Field


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
        self._kernel = field.flag_kernel(cut.dim)
        self._empty = field.flag_state(cut.dim)  # copied for each piece
        self._state = self._kernel.copy(self._empty)
        # Rows in the piece; rows (inside) or non-zero rows (outside) before the next look.
        self._progress = np.array([0, self._wait(0, 0)])
        self._seen = 0
        self._pending: list[tuple[int, int, int]] = []

    def __getstate__(self) -> dict[str, Any]:
        """The flag as a counted basis: kernels are not the same on all processors."""
        values = {name: v for name, v in vars(self).items() if name not in ("_kernel", "_empty")}
        return values | {"_state": self._kernel.dump(self._state)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._kernel = self._field.flag_kernel(self.cut.dim)
        self._empty = self._field.flag_state(self.cut.dim)
        self._state = self._field.flag_state(self.cut.dim, *state["_state"])

    def copy(self) -> Cutter:
        """Return an independent copy."""
        twin = object.__new__(Cutter)
        vars(twin).update(vars(self))
        twin.outcomes, twin._pending = self.outcomes.copy(), self._pending.copy()
        twin._state, twin._progress = self._kernel.copy(self._state), self._progress.copy()
        return twin

    def update(self, matrix: Array, ticks: Array | None = None, size: int = 0) -> Cutter:
        """Take more rows of the run, as the array that kernels take, and return self.

        With ``ticks``, the rows are those with these numbers among ``size`` rows; the others are
        zero rows. Outside, no other row may be zero.
        """
        if ticks is None:
            ticks, size = np.arange(len(matrix)), len(matrix)
        ends = (self._ends_of_words if self._in_words(len(matrix)) else self._ends)(
            matrix, ticks, size
        )
        self._pending += [(self._seen + end - length, value, length) for end, value, length in ends]
        self._seen += size
        settled = self._seen - self.cut.longest
        self.outcomes.update((x, n) for begin, x, n in self._pending if begin <= settled)
        self._pending = [piece for piece in self._pending if piece[0] > settled]
        return self

    def _wait(self, value: int, filled: int) -> int:
        """How long until the next look; 0 if the piece is over."""
        cut = self.cut
        if not cut.inside:  # each non-zero row adds one set at most
            return 0 if filled == cut.most else max(0, cut.allowed(filled) - value + 1)
        if value >= cut.most:
            return 0
        fine, step = cut.looks
        end = min(cut.allowed(value), cut.longest)
        return max(0, min(end, filled + step if filled >= fine else fine) - filled)

    def _ends(self, matrix: Array, ticks: Array, size: int) -> list[tuple[int, int, int]]:
        """Where pieces end, their values and lengths; the loop of `kernels.gf2_pieces`."""
        cut, ends, i, j = self.cut, [], 0, 0
        filled, wait = self._progress.tolist()
        while i < size:
            if cut.inside:
                stop = min(size, i + wait)
                wait -= stop - i
                end = int(np.searchsorted(ticks, stop))
            else:
                stop = min(size, i + cut.most - filled)
                end = min(j + wait, int(np.searchsorted(ticks, stop)))
                wait -= end - j
                if wait == 0:
                    stop = int(ticks[end - 1]) + 1
            self._kernel.insert(self._state, matrix[j:end], None)
            i, j, filled = stop, end, filled + stop - i
            if wait == 0 or (not cut.inside and filled == cut.most):
                value = self._value()
                wait = self._wait(value, filled)
                if wait == 0:
                    ends.append((i, value, filled))
                    self._state = self._kernel.copy(self._empty)
                    filled, wait = 0, self._wait(0, 0)
        self._progress[:] = filled, wait
        return ends

    def _in_words(self, n_rows: int) -> bool:
        """Say whether the compiled loop is there for these rows, and worth it."""
        if self._field.order != 2 or self.cut.dim > 64:
            return False
        self._kernel.prepare(self._state, n_rows)
        return bool(self._state.compiled)

    def _ends_of_words(self, matrix: Array, ticks: Array, size: int) -> list[tuple[int, int, int]]:
        from flagstone.kernels import gf2_pieces

        cut = self.cut
        ends = gf2_pieces.cut(
            self._state.state,
            self._progress,
            (matrix, ticks, size),
            cut.inside,
            (cut.credit, cut.pace, cut.most),
            cut.looks,
        )
        return [(end, value, length) for end, value, length in ends.tolist()]

    def _value(self) -> int:
        counts = self._kernel.dump(self._state)[1]
        if self.cut.inside:
            return int(counts[-1]) if len(counts) == self.cut.dim else 0
        return int(counts[0]) if len(counts) else 0
