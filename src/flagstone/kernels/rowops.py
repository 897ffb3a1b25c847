"""The operations that the algorithms over GF(p) and GF(p^k) are written in.

Each has one implementation per arithmetic (:mod:`~flagstone.kernels.prime`,
:mod:`~flagstone.kernels.table`). Numba picks it by the type of ``ar`` while compiling, so that the
inner loops carry no dispatch; without the compiler the same functions dispatch in plain Python.

A *working row* w holds one row in lanes; a *panel* W of shape (dim, LANES) holds many, one per
column, so that vector instructions run across rows. At most ``ar.budget`` multiples may be added to
either before it is settled.

=================  ==================================================================
``lift``           the lane of a field element
``value``          the field element of a lane
``normal``         the settled form of a lane
``fused``          the lane x + a · b, settled
``axpy``           working row += c · rows[s]
``settle``         bring the working row to settled form: restores the budget
``lower``          rows[s] ← c · working row, which must be settled
``settle_panel``   the same for the panel
``factors``        A[i] ← what clears column j of every row in the panel
``panel_axpy``     every row b of the panel += A[i, b] · rows[s]
``clear_panel``    both of these, for n ≤ GROUP positions of a chain from i on
``element``        the field element of a factor
``negate``, ``times``, ``inverse``   scalars
=================  ==================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from flagstone.kernels import _vectors, prime, table
from flagstone.kernels._jit import PRIVATE

_MERGED: Any = PRIVATE | {"forceinline": True}

#: So many rows of a chain are added to a panel at once: it is loaded and stored once for all.
GROUP = 4

_HOMES = {prime.Prime: prime, table.Table: table}

# Intrinsics are called without their first argument, the typing context: more than mypy can know.
_negate_lanes: Any = _vectors.panel_negate
_axpy_lanes: Any = _vectors.panel_axpy
_xor_lanes: Any = _vectors.panel_xor
_add_lanes: Any = _vectors.panel_add
_settle_lanes: Any = _vectors.panel_settle
_elements: Any = _vectors.panel_elements


def narrowest(ar: Any) -> np.dtype[Any]:
    """Return the narrowest dtype for the field's elements (not for compiled code)."""
    return _HOMES[type(ar)].dtype(ar)


def cell(ar: Any) -> np.dtype[Any]:
    """Return the dtype in which flags keep their rows (not for compiled code)."""
    return _HOMES[type(ar)].cell(ar)


def lift(ar: Any, a: Any) -> Any:
    return _HOMES[type(ar)].scalar_lift(ar, a)


def value(ar: Any, x: Any) -> Any:
    return _HOMES[type(ar)].scalar_value(ar, x)


def normal(ar: Any, x: Any) -> Any:
    return _HOMES[type(ar)].scalar_settle(ar, x)


def fused(ar: Any, x: Any, a: Any, b: Any) -> Any:
    return _HOMES[type(ar)].scalar_fma(ar, x, a, b)


def axpy(ar: Any, w: Any, rows: Any, s: Any, c: Any) -> None:
    _HOMES[type(ar)].row_axpy(ar, w, rows, s, c)


def settle(ar: Any, w: Any) -> None:
    _HOMES[type(ar)].row_settle(ar, w)


def lower(ar: Any, rows: Any, s: Any, w: Any, c: Any) -> None:
    _HOMES[type(ar)].row_lower(ar, rows, s, w, c)


def factors(ar: Any, W: Any, j: Any, A: Any, i: Any) -> None:
    _HOMES[type(ar)].panel_factors(ar, W, j, A, i)


def settle_panel(ar: Any, W: Any) -> None:
    _HOMES[type(ar)].panel_settle(ar, W)


def panel_axpy(ar: Any, W: Any, rows: Any, s: Any, A: Any, i: Any) -> None:
    _HOMES[type(ar)].panel_axpy(ar, W, rows, s, A, i)


def clear_panel(
    ar: Any, W: Any, rows: Any, order: Any, pivots: Any, A: Any, i: Any, n: Any, T: Any, R: Any
) -> None:
    for k in range(i, i + n):
        factors(ar, W, pivots[k], A, k)
        panel_axpy(ar, W, rows, order[k], A, k)


def element(ar: Any, factor: Any) -> Any:
    return _HOMES[type(ar)].scalar_of_factor(ar, factor)


def negate(ar: Any, a: Any) -> Any:
    return _HOMES[type(ar)].scalar_neg(ar, a)


def times(ar: Any, a: Any, b: Any) -> Any:
    return _HOMES[type(ar)].scalar_mul(ar, a, b)


def inverse(ar: Any, a: Any) -> Any:
    return _HOMES[type(ar)].scalar_inv(ar, a)


register_jitable(**PRIVATE)(prime.scalar_settle)
register_jitable(**PRIVATE)(prime.scalar_neg)
register_jitable(**PRIVATE)(table.scalar_neg)
register_jitable(**PRIVATE)(table.scalar_mul)
register_jitable(**_MERGED)(table.digit)


def _lane_bits(ar: Any) -> int:
    return int(ar.types[ar.fields.index("lane")].dtype.bitwidth)


def _implementation(ar: Any, name: str) -> Any:
    if isinstance(ar, types.BaseNamedTuple) and ar.instance_class in _HOMES:  # type: ignore[attr-defined]
        return getattr(_HOMES[ar.instance_class], name)  # type: ignore[attr-defined]
    return None


# `strict` would compare annotations, which rightly differ between an overload and its target.
@overload(lift, strict=False, jit_options=PRIVATE)
def _lift(ar: Any, a: Any) -> Any:
    return _implementation(ar, "scalar_lift")


# Merged into the caller: handing over a tuple with so many fields takes longer than the work.
@overload(value, strict=False, jit_options=_MERGED)
@overload(prime.scalar_value, strict=False, jit_options=_MERGED)
@overload(table.scalar_value, strict=False, jit_options=_MERGED)
def _value(ar: Any, x: Any) -> Any:
    bits = _lane_bits(ar)
    if ar.instance_class is table.Table:
        return _implementation(ar, "scalar_value") if bits > 16 else lambda ar, x: np.uint64(x)
    remainder = _vectors.remainder[bits]
    return lambda ar, x: remainder(x, ar.p, ar.reciprocal)


@overload(normal, strict=False, jit_options=_MERGED)
@overload(table.scalar_settle, strict=False, jit_options=_MERGED)
def _normal(ar: Any, x: Any) -> Any:
    if ar.instance_class is prime.Prime:
        return _implementation(ar, "scalar_settle")
    return _implementation(ar, "scalar_settle") if _lane_bits(ar) > 16 else lambda ar, x: x


@overload(fused, strict=False, jit_options=PRIVATE)
def _fused(ar: Any, x: Any, a: Any, b: Any) -> Any:
    return _implementation(ar, "scalar_fma")


@overload(axpy, strict=False, jit_options=PRIVATE)
def _axpy(ar: Any, w: Any, rows: Any, s: Any, c: Any) -> Any:
    return _implementation(ar, "row_axpy")


@overload(settle, strict=False, jit_options=PRIVATE)
def _settle(ar: Any, w: Any) -> Any:
    return _implementation(ar, "row_settle")


@overload(lower, strict=False, jit_options=PRIVATE)
def _lower(ar: Any, rows: Any, s: Any, w: Any, c: Any) -> Any:
    return _implementation(ar, "row_lower")


@overload(element, strict=False, jit_options=PRIVATE)
def _element(ar: Any, factor: Any) -> Any:
    return _implementation(ar, "scalar_of_factor")


@overload(negate, strict=False, jit_options=PRIVATE)
def _negate(ar: Any, a: Any) -> Any:
    return _implementation(ar, "scalar_neg")


@overload(times, strict=False, jit_options=PRIVATE)
def _times(ar: Any, a: Any, b: Any) -> Any:
    return _implementation(ar, "scalar_mul")


@overload(inverse, strict=False, jit_options=PRIVATE)
def _inverse(ar: Any, a: Any) -> Any:
    return _implementation(ar, "scalar_inv")


@overload(factors, strict=False, jit_options=PRIVATE)
def _factors(ar: Any, W: Any, j: Any, A: Any, i: Any) -> Any:
    if ar.instance_class is prime.Prime:

        def vectorised(ar: Any, W: Any, j: Any, A: Any, i: Any) -> None:
            _negate_lanes(W, j, A, i, ar.p, ar.reciprocal)

        return vectorised
    if ar.instance_class is table.Table and W.dtype.bitwidth > 16:

        def by_digits(ar: Any, W: Any, j: Any, A: Any, i: Any) -> None:
            _elements(W, j, A, i, ar.p, ar.short, ar.half, ar.digits)
            for b in range(A.shape[1]):
                A[i, b] = ar.minus[A[i, b]]

        return by_digits
    return _implementation(ar, "panel_factors")


@overload(settle_panel, strict=False, jit_options=PRIVATE)
def _settle_panel(ar: Any, W: Any) -> Any:
    if ar.instance_class is prime.Prime:
        return _implementation(ar, "panel_settle")
    if W.dtype.bitwidth == 16:  # characteristic 2
        return lambda ar, W: None

    def vectorised(ar: Any, W: Any) -> None:
        _settle_lanes(W, ar.p, ar.short, ar.half, ar.digits)

    return vectorised


@overload(panel_axpy, strict=False, jit_options=PRIVATE)
def _panel_axpy(ar: Any, W: Any, rows: Any, s: Any, A: Any, i: Any) -> Any:
    if ar.instance_class is prime.Prime:

        def vectorised(ar: Any, W: Any, rows: Any, s: Any, A: Any, i: Any) -> None:
            _axpy_lanes(W, rows, (s,), A, i)

        return vectorised
    if W.dtype.bitwidth == 16:  # characteristic 2

        def vectorised_xor(ar: Any, W: Any, rows: Any, s: Any, A: Any, i: Any) -> None:
            _xor_lanes(W, rows, s, A, i, ar.exp, ar.k)

        return vectorised_xor

    def vectorised_add(ar: Any, W: Any, rows: Any, s: Any, A: Any, i: Any) -> None:
        _add_lanes(W, rows, s, A, i, ar.spread, ar.lanes, ar.k, ar.half, ar.digits)

    return vectorised_add


@overload(clear_panel, strict=False, jit_options=PRIVATE)
def _clear_panel(
    ar: Any, W: Any, rows: Any, order: Any, pivots: Any, A: Any, i: Any, n: Any, T: Any, R: Any
) -> Any:
    if ar.instance_class is not prime.Prime:
        return clear_panel

    def together(
        ar: Any, W: Any, rows: Any, order: Any, pivots: Any, A: Any, i: Any, n: Any, T: Any, R: Any
    ) -> None:
        """The factors first, in the pivot columns alone; then every other column once for all."""
        for k in range(n):
            for other in range(n):
                R[k, other] = rows[order[i + k], pivots[i + other]]
            for b in range(W.shape[1]):
                T[k, b] = W[pivots[i + k], b]
        for k in range(n):
            _negate_lanes(T, k, A, i + k, ar.p, ar.reciprocal)
            _axpy_lanes(T, R, (k,), A, i + k)
        for k in range(n, GROUP):
            for b in range(A.shape[1]):
                A[i + k, b] = 0
        last = i + n - 1
        names = order[i], order[min(i + 1, last)], order[min(i + 2, last)], order[last]
        _axpy_lanes(W, rows, names, A, i)

    return together
