"""Row operations that the algorithms of :mod:`flagstone.kernels.finite` are written in.

Each operation has one implementation per arithmetic (:mod:`~flagstone.kernels.prime`,
:mod:`~flagstone.kernels.table`). Numba picks it by the type of ``ar`` while compiling, so that the
inner loops carry no dispatch; without the compiler the same functions dispatch in plain Python.

============  =====================================================================
``lift``      working row ← row
``axpy``      working row += c · row, c ≠ 0; at most ``ar.budget`` times in between
``settle``    bring the working row to normal form: restores the budget
``lower``     row ← c · working row, c ≠ 0; the working row must be settled
``value``     the field element that one lane stands for
``negate``, ``times``, ``inverse``   scalars
============  =====================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from flagstone.kernels import prime, table

_HOMES = {prime.Prime: prime, table.Table: table}


def narrowest(ar: Any) -> np.dtype[Any]:
    """Return the narrowest dtype for the field's elements (not for compiled code)."""
    return _HOMES[type(ar)].dtype(ar)


def lift(ar: Any, w: Any, row: Any) -> None:
    _HOMES[type(ar)].row_lift(ar, w, row)


def axpy(ar: Any, w: Any, row: Any, c: Any) -> None:
    _HOMES[type(ar)].row_axpy(ar, w, row, c)


def settle(ar: Any, w: Any) -> None:
    _HOMES[type(ar)].row_settle(ar, w)


def lower(ar: Any, row: Any, w: Any, c: Any) -> None:
    _HOMES[type(ar)].row_lower(ar, row, w, c)


def value(ar: Any, x: Any) -> Any:
    return _HOMES[type(ar)].scalar_value(ar, x)


def negate(ar: Any, a: Any) -> Any:
    return _HOMES[type(ar)].scalar_neg(ar, a)


def times(ar: Any, a: Any, b: Any) -> Any:
    return _HOMES[type(ar)].scalar_mul(ar, a, b)


def inverse(ar: Any, a: Any) -> Any:
    return _HOMES[type(ar)].scalar_inv(ar, a)


# `strict` would compare annotations, which rightly differ between an overload and its target.
def _implementation(ar: Any, name: str) -> Any:
    if isinstance(ar, types.BaseNamedTuple) and ar.instance_class in _HOMES:
        return getattr(_HOMES[ar.instance_class], name)
    return None


for _home in _HOMES.values():
    register_jitable(_home.scalar_value)
    register_jitable(_home.scalar_mul)


@overload(lift, strict=False)
def _lift(ar: Any, w: Any, row: Any) -> Any:
    return _implementation(ar, "row_lift")


@overload(axpy, strict=False)
def _axpy(ar: Any, w: Any, row: Any, c: Any) -> Any:
    return _implementation(ar, "row_axpy")


@overload(settle, strict=False)
def _settle(ar: Any, w: Any) -> Any:
    return _implementation(ar, "row_settle")


@overload(lower, strict=False)
def _lower(ar: Any, row: Any, w: Any, c: Any) -> Any:
    return _implementation(ar, "row_lower")


@overload(value, strict=False)
def _value(ar: Any, x: Any) -> Any:
    return _implementation(ar, "scalar_value")


@overload(negate, strict=False)
def _negate(ar: Any, a: Any) -> Any:
    return _implementation(ar, "scalar_neg")


@overload(times, strict=False)
def _times(ar: Any, a: Any, b: Any) -> Any:
    return _implementation(ar, "scalar_mul")


@overload(inverse, strict=False)
def _inverse(ar: Any, a: Any) -> Any:
    return _implementation(ar, "scalar_inv")
