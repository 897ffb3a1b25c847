"""Nested spaces U_1 ⊊ U_2 ⊊ … of a pilot, and where rows lie among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone._kernels import kernels
from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields import Array, Field, Rows, width
from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace


class NestedSpaces:
    """Spaces of a flag, with coordinates in which each of them is spanned by first axes.

    In these coordinates a row lies in the space of dimension r iff all entries past the r-th are
    zero; the first r are then its coordinates in the space, and the others of any row are its image
    modulo the space. One product serves all spaces.

    Parameters
    ----------
    field : Field
    basis : rows
        The first r rows span the space of dimension r, for each r in ``dims``.
    dims : sequence of int
        Rising, from 1 on.

    Examples
    --------
    >>> flag = Flag(3).update([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> spaces = NestedSpaces.of_flag(flag, [1, 2])
    >>> spaces.subspace(0).basis.tolist()
    [[1, 1, 0]]
    >>> rows = flag.field.rows([[0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 0]])
    >>> spaces.first_space(spaces.coordinates(rows)).tolist()  # 0: the zero row
    [0, 1, 2, 3]
    """

    def __init__(self, field: Field, basis: Rows, dims: Any, flag: Flag | None = None) -> None:
        self.field, self.basis, self.dims = field, basis, tuple(dims)
        self.dim, self._flag = width(basis), flag
        # v = y·full, so y = v·inverse
        self._inverse = field.trusted(field.completed_inverse(basis))

    @classmethod
    def of_flag(cls, flag: Flag, dims: Any) -> NestedSpaces:
        """Return the spaces of a flag that have these dimensions."""
        basis = flag.adapted_basis(canonical=False)[0][: max(dims, default=0)]
        return cls(flag.field, basis, dims, flag.copy())

    @property
    def canonical(self) -> Rows:
        """The basis to write down: the same for equal flags. To place rows, any will do."""
        basis = self.basis if self._flag is None else self._flag.adapted_basis()[0]
        return basis[: len(self.basis)]

    def subspace(self, i: int) -> Subspace:
        """Return the space with index i, the smallest first."""
        return Subspace.of_rows(self.basis[: self.dims[i]], self.field)

    def coordinates(self, rows: Rows) -> Rows:
        """Return the coordinates of rows."""
        if self.dims == (self.dim,):
            return rows  # in the whole space any will do
        if isinstance(rows, BitRows) and isinstance(self._inverse, BitRows):
            words = kernels.gf2_multiply(rows.words, self._inverse.words)
            return BitRows.trusted(words, self.dim)
        return self.field.rows(self.field.dot(rows, self.field.array(self._inverse).T))

    def first_space(self, coordinates: Rows) -> Array:
        """Say of each row how many of {0}, U_1, U_2, … do not hold it."""
        matrix, few = self.field.matrix(coordinates), len(self.dims) < 255
        # by the number of entries up to the last one that is not zero
        places = np.searchsorted([0, *self.dims], np.arange(self.dim + 1))
        places = places.astype(np.uint8 if few else np.int64)
        if isinstance(coordinates, BitRows):
            lengths: Array = kernels.gf2_lengths(matrix)
            return places.take(lengths)
        needed = matrix != 0
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
