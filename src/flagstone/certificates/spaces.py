"""Nested spaces U_1 ⊊ U_2 ⊊ … of a flag: where rows lie among them, and counts of those outside.

Counts certify how rare violations are (S42), and so that fresh answers contain the equations (S43).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from flagstone.algebra import Array, BitRows, Field, Flag, Rows, Subspace, width
from flagstone.guarantees.coverage import start_points
from flagstone.guarantees.promise import Counted

#: At most this many of the first rows are asked whether they span a space beyond the answer.
_FIRST = 1 << 11


class NestedSpaces:
    """Spaces of a flag, with coordinates in which each of them is spanned by first axes.

    The first r rows of ``basis`` span the space of dimension r, for each r of the rising ``dims``.
    In these coordinates a row lies in that space iff all entries past the r-th are zero; the first
    r are then its coordinates in the space, and the others of any row are its image modulo the
    space. One product serves all spaces.

    >>> flag = Flag(3).update([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> spaces = NestedSpaces.of_flag(flag, [1, 2])
    >>> spaces.subspace(0).basis.tolist()
    [[1, 1, 0]]
    >>> rows = flag.field.rows([[0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 0]])
    >>> spaces.first_space(spaces.coordinates(rows)).tolist()  # 0: the zero row
    [0, 1, 2, 3]
    """

    def __init__(self, field: Field, basis: Rows, dims: Any) -> None:
        self.field, self.basis, self.dims = field, basis, tuple(dims)
        self.dim = width(basis)
        # v = y·full, so y = v·inverse
        self._inverse = field.trusted(field.completed_inverse(basis))

    @classmethod
    def of_flag(cls, flag: Flag, dims: Any) -> NestedSpaces:
        """Return the spaces of a flag that have these dimensions."""
        basis = flag.adapted_basis(canonical=False)[0][: max(dims, default=0)]
        return cls(flag.field, basis, dims)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NestedSpaces):
            return NotImplemented
        return self._subspaces() == other._subspaces()

    def __hash__(self) -> int:
        return hash((self.field, self.dims))

    def _subspaces(self) -> list[Subspace]:
        return [self.subspace(i) for i in range(len(self.dims))]

    def subspace(self, i: int) -> Subspace:
        """Return the space with index i, the smallest first."""
        return Subspace.of_rows(self.basis[: self.dims[i]], self.field)

    def coordinates(self, rows: Rows) -> Rows:
        """Return the coordinates of rows."""
        if self.dims == (self.dim,):
            return rows  # in the whole space any will do
        if isinstance(rows, BitRows) and isinstance(self._inverse, BitRows):
            left = self.field.kernel.reduce(rows.words, self._inverse.words, np.arange(self.dim))
            return BitRows.trusted(rows.words ^ left, self.dim)  # what was taken away
        return self.field.rows(self.field.dot(rows, self.field.array(self._inverse).T))

    def first_space(self, coordinates: Rows) -> Array:
        """Say of each row how many of {0}, U_1, U_2, … do not hold it."""
        few = len(self.dims) < 255
        if isinstance(coordinates, BitRows):
            places: Array = np.zeros(len(coordinates), np.uint8 if few else np.int64)
            for r in (0, *self.dims):
                places += coordinates.reaches(r)
            return places
        # by the number of entries up to the last one that is not zero
        places = np.searchsorted([0, *self.dims], np.arange(self.dim + 1))
        places = places.astype(np.uint8 if few else np.int64)
        needed = self.field.matrix(coordinates) != 0
        last = self.dim - needed[:, ::-1].argmax(axis=1)
        return places.take(np.where(needed.any(axis=1), last, 0))

    def inside(self, coordinates: Rows, i: int) -> Array:
        """Return the coordinates in space i of rows that lie in it, for kernels."""
        r = self.dims[i]
        width = -(-r // 64) if isinstance(coordinates, BitRows) else r
        return np.ascontiguousarray(self.field.matrix(coordinates)[:, :width])

    def outside(self, coordinates: Rows, i: int) -> Array:
        """Return the images modulo space i, for kernels."""
        r = self.dims[i]
        if isinstance(coordinates, BitRows):
            return coordinates.columns_from(r).words
        return np.ascontiguousarray(coordinates[:, r:])


class LevelCounts:
    """Of nested spaces U_0 ⊂ U_1 ⊂ …: first rows that span each, rows outside each, runs of them.

    ``dims`` are the dimensions, the smallest first: the answer V*, then levels that hold it. The
    whole sample has ``n_rows`` rows, which decides at which numbers of rows it is asked what they
    span; ``n_before`` of them come before these.

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
        found, ambient_dim = [], self._spans[0].dim
        for i, dim in enumerate(self.dims):
            first, skipped = self.first[i] or (None, None)
            outside, runs = int(self.outside[i]), int(self.runs[i])
            counted = Counted(dim, first, skipped, self.n_rows, outside, runs)
            found.append(counted.certified(ambient_dim, confidence))
        return tuple(found)
