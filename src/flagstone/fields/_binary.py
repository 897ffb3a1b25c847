"""GF(2): rows are packed into 64-bit words."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from flagstone.bitrows import BitRows
from flagstone.exact import Array
from flagstone.fields._base import Field, Rows
from flagstone.fields._tables import fail_value, whole_numbers
from flagstone.kernels import small_gf2
from flagstone.kernels.small import Growing


class BinaryField(Field):
    """GF(2)."""

    order = 2
    characteristic = 2
    degree = 1
    name = "GF(2)"
    dtype = np.dtype(np.uint8)

    def empty(self, n_rows: int, dim: int) -> Rows:
        return BitRows.trusted(np.zeros((n_rows, max(1, -(-dim // 64))), dtype=np.uint64), dim)

    def trusted(self, elements: Array) -> Rows:
        return BitRows.trusted(small_gf2.pack(elements)[0], elements.shape[1])

    def _packed(self, rows: BitRows, name: str) -> Rows:
        return rows

    def _canonical(self, table: Array, name: str, reduce: bool) -> Rows:
        whole = whole_numbers(table, name, floor=reduce)
        if whole.dtype == object or reduce:
            if reduce:
                whole = (whole % 2).astype(np.uint8)
            elif whole.size:
                fail_value(table, (whole < 0) | (whole > 1), name, _OUTSIDE)
        words, bad = small_gf2.pack(whole)
        if bad >= 0:
            fail_value(table, int(bad), name, _OUTSIDE)
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
        if words.shape[1] == 1:
            return np.asarray(words[:, 0] != 0)
        some = np.arange(64 * words.shape[1] + 1, dtype=np.int64) > 0
        return small_gf2.place(words, some.view(np.uint8)).view(np.bool_)

    def flag_kernel(self, dim: int) -> Growing:
        from flagstone.kernels import gf2

        return Growing(small_gf2, gf2.flag_kernel)

    def _linalg(self) -> ModuleType:
        return small_gf2

    def _arithmetic(self, dim: int) -> int:
        return dim

    def wrap(self, matrix: Array, dim: int) -> Rows:
        return BitRows.trusted(matrix, dim)


_OUTSIDE = "which is not in GF(2); entries must be 0 or 1"
