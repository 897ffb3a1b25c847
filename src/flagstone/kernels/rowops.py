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
``element``        the same of a settled lane
``axpy``           working row += c · rows[s]
``settle``         bring the working row to settled form: restores the budget
``lower``          rows[s] ← c · working row, which must be settled
``fill``           the panel holds X[first : first + LANES]
``move_panel``     V[i + j, b] ← W[n + j, b] for j in columns[first:stop], where seen[b] ≠ 0
``left_over``      seen[b] ← not 0 if row b of the panel is not 0 in columns[first:stop]
``take_row``       u ← row b of the panel, in columns[first:stop]; W begins at i
``settle_column``  bring column j of the panel to settled form
``factors``        A[i, b] ← what clears column j of row b of the panel; nothing where seen[b] = 0
``panel_axpy``     every row b of the panel += A[i, b] · rows[s], in columns[first:stop]
``clear_panel``    both of these, for n ≤ GROUP positions of a chain from i on
``negate``, ``times``, ``inverse``   scalars
=================  ==================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from flagstone.kernels import _products, _vectors, prime, table
from flagstone.kernels._jit import APART, MERGED, PRIVATE

#: So many rows of a chain are added to a panel at once: it is loaded and stored once for all.
GROUP = 4

_HOMES = {prime.Prime: prime, table.Table: table}

# Intrinsics are called without their first argument, the typing context: more than mypy can know.
_negate_lanes: Any = _vectors.panel_negate
_axpy_lanes: Any = _vectors.panel_axpy
_add_products: Any = _products.panel_products
_reduce_lanes: Any = _vectors.panel_reduce
_add_lanes: Any = _vectors.panel_add
_scale_lanes: Any = _vectors.panel_scale
_settle_lanes: Any = _products.panel_settle
_elements: Any = _products.panel_elements
_fill_lanes: Any = _vectors.panel_fill
_move_lanes: Any = _vectors.panel_move
_union_of_lanes: Any = _vectors.panel_union
_take_lane: Any = _vectors.panel_take


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


def element(ar: Any, x: Any) -> Any:
    return value(ar, x)


def axpy(ar: Any, w: Any, rows: Any, s: Any, c: Any) -> None:
    _HOMES[type(ar)].row_axpy(ar, w, rows, s, c)


def settle(ar: Any, w: Any) -> None:
    _HOMES[type(ar)].row_settle(ar, w)


def lower(ar: Any, rows: Any, s: Any, w: Any, c: Any) -> None:
    _HOMES[type(ar)].row_lower(ar, rows, s, w, c)


def factors(ar: Any, W: Any, j: Any, A: Any, i: Any, seen: Any) -> None:
    _HOMES[type(ar)].panel_factors(ar, W, j, A, i, seen)


def fill(ar: Any, W: Any, X: Any, first: Any) -> None:
    for j in range(W.shape[0]):
        for b in range(W.shape[1]):
            W[j, b] = lift(ar, X[first + b, j])


def move_panel(
    V: Any, i: Any, W: Any, n: Any, seen: Any, columns: Any, first: Any, stop: Any
) -> None:
    used, wanted = columns[first:stop, np.newaxis], np.flatnonzero(seen)
    V[i + used, wanted] = W[n + used, wanted]


def left_over(seen: Any, W: Any, columns: Any, first: Any, stop: Any) -> None:
    seen[:] = W[columns[first:stop]].any(axis=0)


def take_row(u: Any, W: Any, i: Any, b: Any, columns: Any, first: Any, stop: Any) -> None:
    u[columns[first:stop]] = W[i + columns[first:stop], b]


def settle_column(ar: Any, W: Any, j: Any) -> None:
    for b in range(W.shape[1]):
        W[j, b] = lift(ar, value(ar, W[j, b]))


def panel_axpy(
    ar: Any, W: Any, columns: Any, first: Any, stop: Any, rows: Any, s: Any, A: Any, i: Any
) -> None:
    _HOMES[type(ar)].panel_axpy(ar, W, columns[first:stop], rows, s, A[i])


def clear_panel(
    ar: Any, W: Any, columns: Any, rows: Any, order: Any, A: Any, seen: Any, i: Any, n: Any
) -> None:
    for k in range(i, i + n):
        factors(ar, W, columns[k], A, k, seen)
        panel_axpy(ar, W, columns, k + 1, columns.shape[0], rows, order[k], A, k)


def negate(ar: Any, a: Any) -> Any:
    return _HOMES[type(ar)].scalar_neg(ar, a)


def times(ar: Any, a: Any, b: Any) -> Any:
    return _HOMES[type(ar)].scalar_mul(ar, a, b)


def inverse(ar: Any, a: Any) -> Any:
    return _HOMES[type(ar)].scalar_inv(ar, a)


register_jitable(**PRIVATE)(prime.scalar_neg)
register_jitable(**PRIVATE)(table.scalar_neg)
register_jitable(**PRIVATE)(table.scalar_mul)
register_jitable(**MERGED)(table.digit)


@overload(table.joined, strict=False, jit_options=MERGED)
def _joined(ar: Any, x: Any, y: Any) -> Any:
    return (lambda ar, x, y: x ^ y) if _lane_bits(ar) == 16 else (lambda ar, x, y: x + y)


def _lane_bits(ar: Any) -> int:
    return int(ar.types[ar.fields.index("lane")].bitwidth)


def _implementation(ar: Any, name: str) -> Any:
    if isinstance(ar, types.BaseNamedTuple) and ar.instance_class in _HOMES:  # type: ignore[attr-defined]
        return getattr(_HOMES[ar.instance_class], name)  # type: ignore[attr-defined]
    return None


# `strict` would compare annotations, which rightly differ between an overload and its target.
@overload(lift, strict=False, jit_options=PRIVATE)
def _lift(ar: Any, a: Any) -> Any:
    return _implementation(ar, "scalar_lift")


# Merged into the caller: handing over a tuple with so many fields takes longer than the work.
@overload(value, strict=False, jit_options=MERGED)
@overload(prime.scalar_value, strict=False, jit_options=MERGED)
@overload(table.scalar_value, strict=False, jit_options=MERGED)
def _value(ar: Any, x: Any) -> Any:
    bits = _lane_bits(ar)
    if ar.instance_class is table.Table:
        return _implementation(ar, "scalar_value") if bits > 16 else lambda ar, x: np.uint64(x)
    remainder = _vectors.remainder[bits]
    return lambda ar, x: remainder(x, 1, ar.p, ar.reciprocal)


@overload(element, strict=False, jit_options=MERGED)
def _element(ar: Any, x: Any) -> Any:
    return (lambda ar, x: np.uint64(x)) if ar.instance_class is prime.Prime else _value(ar, x)


@overload(axpy, strict=False, jit_options=APART)
def _axpy(ar: Any, w: Any, rows: Any, s: Any, c: Any) -> Any:
    if ar.instance_class is table.Table:
        return _implementation(ar, "row_axpy")

    def in_lanes(ar: Any, w: Any, rows: Any, s: Any, c: Any) -> None:
        dim, lanes = w.shape[0], _vectors.LANES
        for t in range(dim // lanes):
            _add_lanes(w, t, rows, s * dim + t * lanes, np.uint64(c))
        for j in range(dim - dim % lanes, dim):
            w[j] += np.uint64(c) * np.uint64(rows[s, j])

    return in_lanes


@overload(settle, strict=False, jit_options=APART)
def _settle(ar: Any, w: Any) -> Any:
    if w.dtype.bitwidth == 16 and ar.instance_class is table.Table:  # characteristic 2
        return lambda ar, w: None
    if ar.instance_class is table.Table:
        return _implementation(ar, "row_settle")

    def in_lanes(ar: Any, w: Any) -> None:
        dim, lanes = w.shape[0], _vectors.LANES
        for t in range(dim // lanes):
            _reduce_lanes(w, t, ar.p, ar.reciprocal)
        for j in range(dim - dim % lanes, dim):
            w[j] = value(ar, w[j])

    return in_lanes


@overload(lower, strict=False, jit_options=APART)
def _lower(ar: Any, rows: Any, s: Any, w: Any, c: Any) -> Any:
    if ar.instance_class is table.Table:
        if w.dtype.bitwidth == 16:  # characteristic 2
            return _implementation(ar, "row_lower")

        def by_elements(ar: Any, rows: Any, s: Any, w: Any, c: Any) -> None:
            dim, lanes, j = w.shape[0], _vectors.LANES, 0
            while j + lanes <= dim:
                _elements(w, j, rows, s * dim + j, ar.p, ar.short, ar.half, ar.digits)
                j += lanes
            while j < dim:
                rows[s, j] = value(ar, w[j])
                j += 1
            for k in range(dim):
                rows[s, k] = times(ar, rows[s, k], c)

        return by_elements
    remainder = _vectors.remainder[_lane_bits(ar)]

    def in_lanes(ar: Any, rows: Any, s: Any, w: Any, c: Any) -> None:
        dim, lanes = w.shape[0], _vectors.LANES
        for t in range(dim // lanes):
            _scale_lanes(w, t, np.uint64(c), rows, s * dim + t * lanes, ar.p, ar.reciprocal)
        for j in range(dim - dim % lanes, dim):
            rows[s, j] = remainder(w[j], c, ar.p, ar.reciprocal)

    return in_lanes


@overload(negate, strict=False, jit_options=PRIVATE)
def _negate(ar: Any, a: Any) -> Any:
    return _implementation(ar, "scalar_neg")


@overload(times, strict=False, jit_options=PRIVATE)
def _times(ar: Any, a: Any, b: Any) -> Any:
    return _implementation(ar, "scalar_mul")


@overload(inverse, strict=False, jit_options=APART)
def _inverse(ar: Any, a: Any) -> Any:
    return _implementation(ar, "scalar_inv")


@overload(factors, strict=False, jit_options=PRIVATE)
def _factors(ar: Any, W: Any, j: Any, A: Any, i: Any, seen: Any) -> Any:
    if ar.instance_class is prime.Prime:

        def vectorised(ar: Any, W: Any, j: Any, A: Any, i: Any, seen: Any) -> None:
            _negate_lanes(W, j, A, i, seen, ar.p, ar.reciprocal)

        return vectorised
    if ar.instance_class is table.Table and W.dtype.bitwidth > 16:

        def by_digits(ar: Any, W: Any, j: Any, A: Any, i: Any, seen: Any) -> None:
            lanes = _vectors.LANES
            _elements(W, j * lanes, A, i * lanes, ar.p, ar.short, ar.half, ar.digits)
            for b in range(lanes):
                A[i, b] = ar.minus[A[i, b]] if seen[b] != 0 else ar.nil

        return by_digits
    return _implementation(ar, "panel_factors")


@overload(fill, strict=False, jit_options=PRIVATE)
def _fill(ar: Any, W: Any, X: Any, first: Any) -> Any:
    if ar.instance_class is prime.Prime or W.dtype.bitwidth == 16:  # or characteristic 2
        return lambda ar, W, X, first: _fill_lanes(W, X, first)

    def spread(ar: Any, W: Any, X: Any, first: Any) -> None:
        _fill_lanes(W, X, first)
        for j in range(W.shape[0]):
            for b in range(_vectors.LANES):
                W[j, b] = ar.lanes[W[j, b]]

    return spread


@overload(move_panel, strict=False, jit_options=PRIVATE)
def _move_panel(
    V: Any, i: Any, W: Any, n: Any, seen: Any, columns: Any, first: Any, stop: Any
) -> Any:
    return lambda V, i, W, n, seen, columns, first, stop: _move_lanes(
        V, i, W, n, seen, columns, first, stop
    )


@overload(left_over, strict=False, jit_options=PRIVATE)
def _left_over(seen: Any, W: Any, columns: Any, first: Any, stop: Any) -> Any:
    return lambda seen, W, columns, first, stop: _union_of_lanes(seen, W, columns, first, stop)


@overload(take_row, strict=False, jit_options=PRIVATE)
def _take_row(u: Any, W: Any, i: Any, b: Any, columns: Any, first: Any, stop: Any) -> Any:
    return lambda u, W, i, b, columns, first, stop: _take_lane(u, W, i, b, columns, first, stop)


@overload(settle_column, strict=False, jit_options=PRIVATE)
def _settle_column(ar: Any, W: Any, j: Any) -> Any:
    if ar.instance_class is prime.Prime:
        return lambda ar, W, j: _reduce_lanes(W, j, ar.p, ar.reciprocal)
    if W.dtype.bitwidth == 16:  # characteristic 2
        return lambda ar, W, j: None
    return lambda ar, W, j: _settle_lanes(W, j, ar.p, ar.short, ar.half, ar.digits)


@overload(panel_axpy, strict=False, jit_options=PRIVATE)
def _panel_axpy(
    ar: Any, W: Any, columns: Any, first: Any, stop: Any, rows: Any, s: Any, A: Any, i: Any
) -> Any:
    if ar.instance_class is prime.Prime:
        return lambda ar, W, columns, first, stop, rows, s, A, i: _axpy_lanes(
            W, columns, first, stop, rows, (s,), A, i, ar.p
        )

    def by_parts(
        ar: Any, W: Any, columns: Any, first: Any, stop: Any, rows: Any, s: Any, A: Any, i: Any
    ) -> None:
        _add_products(
            W, columns, first, stop, rows, s, A, i,
            ar.spread, ar.parts, ar.sums, ar.k, ar.groups, ar.p, ar.digits, ar.tops,
        )  # fmt: skip

    return by_parts


@overload(clear_panel, strict=False, jit_options=PRIVATE)
def _clear_panel(
    ar: Any, W: Any, columns: Any, rows: Any, order: Any, A: Any, seen: Any, i: Any, n: Any
) -> Any:
    if ar.instance_class is not prime.Prime:
        return clear_panel

    def together(
        ar: Any, W: Any, columns: Any, rows: Any, order: Any, A: Any, seen: Any, i: Any, n: Any
    ) -> None:
        """The factors first, in the pivot columns alone; then every other column once for all."""
        last = i + n - 1
        for k in range(i, last + 1):
            factors(ar, W, columns[k], A, k, seen)
            panel_axpy(ar, W, columns, k + 1, last + 1, rows, order[k], A, k)
        for k in range(last + 1, i + GROUP):
            for b in range(_vectors.LANES):
                A[k, b] = 0
        names = order[i], order[min(i + 1, last)], order[min(i + 2, last)], order[last]
        _axpy_lanes(W, columns, last + 1, columns.shape[0], rows, names, A, i, ar.p)

    return together
