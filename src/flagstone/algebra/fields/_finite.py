"""GF(p) and GF(p^k): rows are arrays of the smallest unsigned integer that holds q − 1."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from flagstone._kernels import kernels
from flagstone._reference.finite import ArrayField
from flagstone.algebra.fields._base import Field, Rows
from flagstone.algebra.fields._conway import CONWAY
from flagstone.algebra.fields._tables import fail_value, whole_numbers
from flagstone.exact import Array, exact_modulo


class FiniteField(Field):
    """GF(p^k) other than GF(2); elements are the integers 0..q−1.

    For k > 1 the base-p digits of an element are its polynomial coefficients (lowest first)
    modulo the Conway polynomial, as in python-flint and galois.
    """

    order: int

    def __init__(self, p: int, k: int) -> None:
        self.order = p**k
        self.characteristic = p
        self.degree = k
        self.name = f"GF({p})" if k == 1 else f"GF({p}^{k})"
        self.dtype = np.min_scalar_type(self.order - 1)

    @cached_property
    def kernel(self) -> Any:
        p, k = self.characteristic, self.degree
        return kernels.finite_field(p, k, () if k == 1 else CONWAY[p, k])

    def empty(self, n_rows: int, dim: int) -> Rows:
        return np.zeros((n_rows, dim), dtype=self.dtype)

    def _canonical(self, table: Array, name: str, reduce: bool) -> Rows:
        whole = whole_numbers(table, name, floor=reduce)
        if reduce:
            whole = exact_modulo(whole, self.order)
        elif whole.size and (whole.min() < 0 or whole.max() >= self.order):
            fail_value(
                table,
                (whole < 0) | (whole >= self.order),
                name,
                f"which is not in {self.name}; entries must be 0..{self.order - 1}",
            )
        return np.require(whole, self.dtype, ("C", "A"))

    def add(self, a: Any, b: Any) -> Array:
        return self._elements.add(a, b)

    def neg(self, a: Any) -> Array:
        return self._elements.neg(a)

    def mul(self, a: Any, b: Any) -> Array:
        return self._elements.mul(a, b)

    def inv(self, a: Any) -> Array:
        if not np.all(a):
            raise ZeroDivisionError(f"0 has no inverse in {self.name}")
        return self._elements.inv(a)

    @cached_property
    def _elements(self) -> ArrayField:
        """Arithmetic on arrays, entry by entry."""
        p, k = self.characteristic, self.degree
        return ArrayField(p, k, () if k == 1 else CONWAY[p, k])
