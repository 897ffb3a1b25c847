"""GF(2): rows are packed into 64-bit words."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone._kernels import kernels
from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields._base import Field, Rows
from flagstone.algebra.fields._tables import fail_value, whole_numbers
from flagstone.exact import Array


class BinaryField(Field):
    """GF(2)."""

    order = 2
    characteristic = 2
    degree = 1
    name = "GF(2)"
    dtype = np.dtype(np.uint8)
    kernel: Any = kernels.gf2

    def empty(self, n_rows: int, dim: int) -> Rows:
        return BitRows.trusted(np.zeros((n_rows, max(1, -(-dim // 64))), dtype=np.uint64), dim)

    def trusted(self, elements: Array) -> Rows:
        return BitRows.trusted(kernels.pack(elements)[0], elements.shape[1])

    def _packed(self, rows: BitRows, name: str) -> Rows:
        return rows

    def _canonical(self, table: Array, name: str, reduce: bool) -> Rows:
        whole = whole_numbers(table, name, floor=reduce)
        if whole.dtype == object or reduce:
            if reduce:
                whole = (whole % 2).astype(np.uint8)
            elif whole.size:
                fail_value(table, (whole < 0) | (whole > 1), name, _OUTSIDE)
        words, fits = kernels.pack(whole)
        if not fits:
            fail_value(table, (whole < 0) | (whole > 1), name, _OUTSIDE)
        return BitRows.trusted(words, table.shape[1])

    def add(self, a: Any, b: Any) -> Array:
        return np.asarray(np.bitwise_xor(a, b), self.dtype)

    def neg(self, a: Any) -> Array:
        return np.asarray(a, self.dtype)

    def mul(self, a: Any, b: Any) -> Array:
        return np.asarray(np.bitwise_and(a, b), self.dtype)

    def inv(self, a: Any) -> Array:
        out = np.asarray(a, self.dtype)
        if not out.all():
            raise ZeroDivisionError("0 has no inverse in GF(2)")
        return out

    def nonzero(self, rows: Rows) -> Array:
        words = self.matrix(rows)
        return BitRows.trusted(words, 64 * words.shape[1]).reaches(0)

    def wrap(self, matrix: Array, dim: int) -> Rows:
        return BitRows.trusted(matrix, dim)


_OUTSIDE = "which is not in GF(2); entries must be 0 or 1"
