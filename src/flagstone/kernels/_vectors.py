"""Vector code that the compiler does not find by itself, written in LLVM's portable vectors.

A *panel* is a working matrix of shape (dim, LANES): column b is one row being worked on, so that
one vector instruction serves many rows at once, whatever their width. LLVM splits the vectors into
what the machine has. Arrays must be C-contiguous.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

#: Rows per panel.
LANES = 32

_INDEX = ir.IntType(64)


def _splat(builder: Any, scalar: Any, vector: Any) -> Any:
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, mask)


def _panel_row(builder: Any, array: Any, row: Any, cell: Any) -> Any:
    """Return a pointer to the LANES cells of one row of a panel."""
    start = builder.gep(array.data, [builder.mul(row, ir.Constant(_INDEX, LANES))])
    return builder.bitcast(start, ir.VectorType(cell, LANES).as_pointer())


@intrinsic
def panel_axpy(typingctx: Any, W: Any, rows: Any, s: Any, A: Any, i: Any) -> Any:
    """W[j, b] += A[i, b] · rows[s, j] for all j and b, in the integers of W's dtype."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        panel_type, rows_type, _, factors_type, _ = signature.args
        lane = context.get_data_type(panel_type.dtype)
        cell = context.get_data_type(rows_type.dtype)
        factor = context.get_data_type(factors_type.dtype)
        vector = ir.VectorType(lane, LANES)
        panel = context.make_array(panel_type)(context, builder, args[0])
        table = context.make_array(rows_type)(context, builder, args[1])
        factors = context.make_array(factors_type)(context, builder, args[3])
        width = builder.extract_value(table.shape, 1)
        row = builder.gep(table.data, [builder.mul(args[2], width)])
        c = builder.load(_panel_row(builder, factors, args[4], factor), align=1)
        if factor != lane:
            c = builder.zext(c, vector)
        with cgutils.for_range(builder, width) as loop:
            x = builder.load(builder.gep(row, [loop.index]))
            if cell != lane:
                x = builder.zext(x, lane)
            place = _panel_row(builder, panel, loop.index, lane)
            w = builder.load(place, align=1)
            w = builder.add(w, builder.mul(c, _splat(builder, x, vector)))
            builder.store(w, place, align=1)
        return context.get_dummy_value()

    return types.void(W, rows, s, A, i), codegen


def _barrett(builder: Any, w: Any, p: Any, reciprocal: Any, lane: Any, wide: Any) -> Any:
    """Reduce w modulo p; the types are n and 2n bits wide, and reciprocal = floor(2^n / p)."""
    product = builder.mul(builder.zext(w, wide), builder.zext(reciprocal, wide))
    bits = wide.element.width // 2 if isinstance(wide, ir.VectorType) else wide.width // 2
    shift = [bits] * LANES if isinstance(wide, ir.VectorType) else bits
    quotient = builder.trunc(builder.lshr(product, ir.Constant(wide, shift)), lane)
    # The quotient is short by at most one.
    r = builder.sub(w, builder.mul(quotient, p))
    return builder.select(builder.icmp_unsigned("<", r, p), r, builder.sub(r, p))


def _scalar_remainder(bits: int) -> Any:
    lane, wide = ir.IntType(bits), ir.IntType(2 * bits)

    def remainder(typingctx: Any, x: Any, p: Any, reciprocal: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            w, modulus, inverse = (
                arg if arg.type == lane else builder.trunc(arg, lane) for arg in args
            )
            result = _barrett(builder, w, modulus, inverse, lane, wide)
            return builder.zext(result, ir.IntType(64))

        return types.uint64(x, p, reciprocal), codegen

    return intrinsic(remainder)


#: x mod p in arithmetic no wider than the lanes, which keeps loops over lanes in narrow vectors.
remainder16 = _scalar_remainder(16)
remainder32 = _scalar_remainder(32)


@intrinsic
def panel_negate(typingctx: Any, W: Any, j: Any, A: Any, i: Any, p: Any, reciprocal: Any) -> Any:
    """A[i, b] ← −W[j, b] mod p for all b; lanes of n ≤ 32 bits, reciprocal = floor(2^n / p)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = context.get_data_type(signature.args[0].dtype)
        vector = ir.VectorType(lane, LANES)
        wide = ir.VectorType(ir.IntType(2 * lane.width), LANES)
        panel = context.make_array(signature.args[0])(context, builder, args[0])
        factors = context.make_array(signature.args[2])(context, builder, args[2])
        w = builder.load(_panel_row(builder, panel, args[1], lane), align=1)
        modulus = _splat(builder, builder.trunc(args[4], lane), vector)
        inverse = _splat(builder, builder.trunc(args[5], lane), vector)
        r = _barrett(builder, w, modulus, inverse, vector, wide)
        zero = ir.Constant(vector, [0] * LANES)
        is_zero = builder.icmp_unsigned("==", r, zero)
        result = builder.select(is_zero, zero, builder.sub(modulus, r))
        builder.store(result, _panel_row(builder, factors, args[3], lane), align=1)
        return context.get_dummy_value()

    return types.void(W, j, A, i, p, reciprocal), codegen


@intrinsic
def panel_xor(typingctx: Any, W: Any, rows: Any, s: Any, A: Any, i: Any, exp: Any, k: Any) -> Any:
    """W[j, b] ^= exp[A[i, b]] · rows[s, j] in GF(2^k), for all j and b.

    exp[a + t] is the t-th multiple by x of exp[a]. So the product with an element is the exclusive
    or of those whose bit t is set in it: k lookups per row of the panel, none per product.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        panel_type, rows_type, _, factors_type, _, exp_type, _ = signature.args
        lane = context.get_data_type(panel_type.dtype)
        cell = context.get_data_type(rows_type.dtype)
        factor = context.get_data_type(factors_type.dtype)
        vector = ir.VectorType(lane, LANES)
        panel = context.make_array(panel_type)(context, builder, args[0])
        table = context.make_array(rows_type)(context, builder, args[1])
        factors = context.make_array(factors_type)(context, builder, args[3])
        powers = context.make_array(exp_type)(context, builder, args[5])
        width = builder.extract_value(table.shape, 1)
        row = builder.gep(table.data, [builder.mul(args[2], width)])
        logs = builder.load(_panel_row(builder, factors, args[4], factor), align=1)
        multiples = cgutils.alloca_once(builder, vector, size=ir.Constant(_INDEX, 16))
        with cgutils.for_range(builder, args[6]) as loop:
            multiple = ir.Constant(vector, ir.Undefined)
            for b in range(LANES):
                at = ir.Constant(ir.IntType(32), b)
                log = builder.zext(builder.extract_element(logs, at), _INDEX)
                power = builder.load(builder.gep(powers.data, [builder.add(log, loop.index)]))
                multiple = builder.insert_element(multiple, power, at)
            builder.store(multiple, builder.gep(multiples, [loop.index]))
        total = cgutils.alloca_once(builder, vector)
        with cgutils.for_range(builder, width) as columns:
            x = builder.load(builder.gep(row, [columns.index]))
            if cell != lane:
                x = builder.zext(x, lane)
            place = _panel_row(builder, panel, columns.index, lane)
            builder.store(builder.load(place, align=1), total)
            with cgutils.for_range(builder, args[6]) as bits:
                bit = builder.and_(
                    builder.lshr(x, builder.trunc(bits.index, lane)), ir.Constant(lane, 1)
                )
                mask = _splat(builder, builder.neg(bit), vector)
                multiple = builder.load(builder.gep(multiples, [bits.index]))
                product = builder.and_(mask, multiple)
                builder.store(builder.xor(builder.load(total), product), total)
            builder.store(builder.load(total), place, align=1)
        return context.get_dummy_value()

    return types.void(W, rows, s, A, i, exp, k), codegen
