"""QQ: exact rationals; rows are object arrays of ``Fraction``, python-flint computes."""

from __future__ import annotations

import importlib.util
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from flagstone.algebra.fields._base import Field, Rows
from flagstone.algebra.fields._tables import fail_value, whole_numbers
from flagstone.errors import EntryTypeError, MissingDependencyError
from flagstone.exact import Array, exact_rational, is_missing

_BINARY_FLOAT = (
    "a binary float that is no whole number; write it exactly, as Fraction(3, 4) or '3/4'"
)


class RationalField(Field):
    """The rationals."""

    order = None
    characteristic = 0
    degree = 1
    name = "QQ"
    dtype = np.dtype(object)

    def empty(self, n_rows: int, dim: int) -> Rows:
        return np.full((n_rows, dim), Fraction(0), dtype=object)

    def format(self, value: Any) -> str:
        try:
            return str(value)
        except ValueError:  # more digits than Python writes out by default
            return str(self.kernel.text(value))

    def _canonical(self, table: Array, name: str, reduce: bool) -> Rows:
        if table.dtype.kind in "bui" or reduce:
            values = [Fraction(int(v)) for v in whole_numbers(table, name, floor=reduce).ravel()]
        else:
            values = [self._parse(v, table, flat, name) for flat, v in enumerate(table.ravel())]
        out = np.empty(table.size, dtype=object)
        out[:] = values
        return out.reshape(table.shape)

    def _parse(self, value: Any, table: Array, flat: int, name: str) -> Fraction:
        if isinstance(value, (Rational, np.bool_)):
            return Fraction(int(value)) if isinstance(value, np.bool_) else Fraction(value)
        if isinstance(value, (float, np.floating)) and value.is_integer():
            return Fraction(int(value))
        if is_missing(value):
            fail_value(table, flat, name, "a missing value; fill or drop the row first")
        if isinstance(value, (str, Decimal)):
            try:
                return exact_rational(str(value))
            except ValueError as error:
                fail_value(table, flat, name, f"which {error}")
        if isinstance(value, (float, np.floating)):
            infinite = "an infinite value; correct it, or drop the row first"
            fail_value(table, flat, name, infinite if np.isinf(value) else _BINARY_FLOAT)
        return fail_value(
            table,
            flat,
            name,
            "no rational; give ints, Fractions, Decimals or texts such as '3/4'",
            EntryTypeError,
        )

    def add(self, a: Any, b: Any) -> Array:
        return np.asarray(np.asarray(a, object) + np.asarray(b, object), object)

    def neg(self, a: Any) -> Array:
        return np.asarray(-np.asarray(a, object), object)

    def mul(self, a: Any, b: Any) -> Array:
        return np.asarray(np.asarray(a, object) * np.asarray(b, object), object)

    def inv(self, a: Any) -> Array:
        return np.asarray(Fraction(1) / np.asarray(a, object), object)

    @property
    def kernel(self) -> Any:
        """The module that computes with python-flint, an optional package."""
        if importlib.util.find_spec("flint") is None:
            raise MissingDependencyError(
                "linear algebra over QQ needs python-flint: pip install 'flagstone[rationals]'"
            )
        from flagstone.algebra.fields import _flint

        return _flint
