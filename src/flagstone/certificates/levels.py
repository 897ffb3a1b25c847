"""Rows outside the answer, and outside larger levels of the flag: counted, with their runs.

Counts certify how rare violations are (S42), and so that fresh answers contain the equations (S43).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from flagstone.algebra.fields import Array, Field, Rows
from flagstone.algebra.flag import Flag
from flagstone.guarantees.coverage import start_points
from flagstone.guarantees.promise import Counted

#: At most this many of the first rows are asked whether they span a space beyond the answer.
_FIRST = 1 << 11


class LevelCounts:
    """Of nested spaces U_0 ⊂ U_1 ⊂ …: first rows that span each, rows outside each, runs of them.

    Parameters
    ----------
    field, ambient_dim
        Of the rows.
    dims : sequence of int
        The dimensions of the spaces, the smallest first: the answer V*, then levels that hold it.
    n_rows : int
        Of the whole sample; decides at which numbers of rows it is asked what they span.
    n_before : int
        Rows of the sample that come before these, where these are a part of it.

    Examples
    --------
    >>> from flagstone import GF
    >>> line = GF(2).rows([[1, 0]] * 20 + [[1, 1]] * 3 + [[1, 0]] * 10)
    >>> place = np.array([0] * 20 + [1] * 3 + [0] * 10)
    >>> counts = LevelCounts(GF(2), 2, [1], 33)
    >>> counts.update(line, place)
    >>> counts.first, counts.outside.tolist(), counts.runs.tolist()
    ([(2, 0)], [3], [1])
    """

    def __init__(
        self, field: Field, ambient_dim: int, dims: Sequence[int], n_rows: int, n_before: int = 0
    ) -> None:
        self.dims, self.n_rows = tuple(dims), 0
        self.first: list[tuple[int, int] | None] = [None] * len(self.dims)
        self.outside: Array = np.zeros(len(self.dims), dtype=np.int64)
        self.runs: Array = np.zeros(len(self.dims), dtype=np.int64)
        self._before = n_before
        self._points = [n for n in start_points(n_rows, ambient_dim)[::-1] if n > n_before]
        self._spans = [Flag(ambient_dim, field) for _ in self.dims]
        self._last = 0  # how many of the spaces do not hold the last row

    def update(self, rows: Rows, place: Array) -> None:
        """Take more rows, and how many of the spaces do not hold each of them."""
        start = 0
        while start < len(rows) and self._points and (asked := self._asked()):
            stop = min(len(rows), start + self._points[-1] - self._before - self.n_rows)
            for i in asked:
                self._spans[i].update(rows[start:stop][place[start:stop] <= i])
            self._count(place[start:stop])
            n = self._before + self.n_rows
            if n == self._points[-1]:
                self._points.pop()
                for i in asked:
                    if self._spans[i].rank == self.dims[i]:
                        self.first[i] = n, int(self.outside[i])
            start = stop
        self._count(place[start:])

    def _asked(self) -> list[int]:
        """The spaces of which it is not known yet how many rows span them."""
        few = self.n_rows < _FIRST
        return [i for i, first in enumerate(self.first) if first is None and (few or i == 0)]

    def _count(self, place: Array) -> None:
        if not len(place):
            return
        self.n_rows += len(place)
        both = np.minimum(place, np.concatenate([[self._last], place[:-1]]))
        self._last = int(place[-1])
        outside = self._tally(place)
        self.outside = self.outside + outside
        self.runs = self.runs + outside - self._tally(both)

    def _tally(self, place: Array) -> Array:
        """For each space, the number of entries of ``place`` that are larger than its number."""
        some = place[place > 0]
        found = np.bincount(some, minlength=len(self.dims) + 1)[::-1].cumsum()[::-1]
        return found[1 : len(self.dims) + 1]

    def merge(self, other: LevelCounts) -> LevelCounts:
        """Return the counts of both; the rows of ``other`` come after."""
        both = copy.copy(self)
        both.first = [
            mine or (theirs and (theirs[0], int(outside) + theirs[1]))
            for mine, theirs, outside in zip(self.first, other.first, self.outside, strict=True)
        ]
        both.n_rows, both._last = self.n_rows + other.n_rows, other._last
        both.outside, both.runs = self.outside + other.outside, self.runs + other.runs
        return both

    def counted(self, confidence: float) -> tuple[Counted, ...]:
        """Return what the counts certify of each space."""
        ambient, m = self._spans[0].dim, self.n_rows
        return tuple(
            Counted.of(
                dim,
                first and first[0],
                first and first[1],
                int(outside),
                int(runs),
                ambient,
                m,
                confidence,
            )
            for dim, first, outside, runs in zip(
                self.dims, self.first, self.outside, self.runs, strict=True
            )
        )
