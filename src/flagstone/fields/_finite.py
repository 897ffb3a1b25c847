"""GF(p) and GF(p^k): rows are arrays of the smallest unsigned integer that holds q − 1."""

from __future__ import annotations

from functools import cache, cached_property
from types import ModuleType
from typing import Any

import numpy as np

from flagstone.exact import Array, exact_modulo
from flagstone.fields._base import Field, Rows
from flagstone.fields._tables import fail_value, whole_numbers
from flagstone.kernels.small import Growing


class FiniteField(Field):
    """GF(p^k) other than GF(2); elements are the integers 0..q−1.

    For k > 1 the base-p digits of an element are its polynomial coefficients (lowest first)
    modulo the Conway polynomial, as in the galois package.
    """

    order: int

    def __init__(self, p: int, k: int) -> None:
        self.order = p**k
        self.characteristic = p
        self.degree = k
        self.name = f"GF({p})" if k == 1 else f"GF({p}^{k})"
        self.dtype = np.min_scalar_type(self.order - 1)

    @cached_property
    def _ar(self) -> Any:
        if self.degree == 1:
            from flagstone.kernels import prime

            return prime.build(self.characteristic)
        from flagstone.kernels import conway, table

        p, k = self.characteristic, self.degree
        return table.build(p, k, conway.CONWAY[p, k])

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
        return np.ascontiguousarray(whole, dtype=self.dtype)

    def add(self, a: Any, b: Any) -> Array:
        return self._elementwise("add", a, b)

    def neg(self, a: Any) -> Array:
        return self._elementwise("neg", a)

    def mul(self, a: Any, b: Any) -> Array:
        return self._elementwise("mul", a, b)

    def inv(self, a: Any) -> Array:
        if not np.all(a):
            raise ZeroDivisionError(f"0 has no inverse in {self.name}")
        return self._elementwise("inv", a)

    def _elementwise(self, operation: str, *operands: Any) -> Array:
        from flagstone.kernels import prime, table

        module = prime if self.degree == 1 else table
        arrays = [np.asarray(x, self.dtype) for x in operands]
        return np.asarray(getattr(module, operation)(self._ar, *arrays), self.dtype)

    def nonzero(self, rows: Rows) -> Array:
        return np.asarray(self.matrix(rows).any(axis=1))

    def flag_kernel(self, dim: int) -> Growing:
        from flagstone.kernels import small_finite

        return Growing(small_finite, _compiled)

    def _linalg(self) -> ModuleType:
        from flagstone.kernels import small_finite

        return small_finite

    def _arithmetic(self, dim: int) -> Any:
        return self._ar


@cache
def _compiled(dim: int) -> ModuleType:
    from flagstone.kernels import finite

    return finite
