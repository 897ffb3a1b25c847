"""Vector code that the compiler does not find by itself, written in LLVM's portable vectors.

A *panel* is a working matrix of shape (dim, LANES): column b is one row being worked on, so that
one vector instruction serves many rows at once, whatever their width. LLVM splits the vectors into
what the machine has. Arrays must be C-contiguous.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from flagstone.kernels._jit import FEATURES
from flagstone.kernels._llvm import _call

#: Rows per panel.
LANES = 32

INDEX = ir.IntType(64)
WORD = ir.IntType(32)


def splat(builder: Any, scalar: Any, vector: Any) -> Any:
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, mask)


def spread(builder: Any, x: Any, vector: Any) -> Any:
    """Return an unsigned integer in every lane of a vector."""
    lane = vector.element
    if (lane.width, x.type.width) == (64, 32):
        # Right from memory, in both halves: a product takes only the lower one.
        halves = splat(builder, x, ir.VectorType(x.type, 2 * vector.count))
        return builder.and_(builder.bitcast(halves, vector), constant(vector, 2**32 - 1))
    return splat(builder, x if x.type == lane else builder.zext(x, lane), vector)


def _add_product(builder: Any, w: Any, c: Any, x: Any) -> Any:
    return builder.add(w, builder.mul(c, x))


def _add_short_product(builder: Any, w: Any, c: Any, x: Any) -> Any:
    """The same by one instruction for eight lanes of 64 bits, for products below 2^52."""

    def joined(left: Any, right: Any, start: int, stop: int) -> Any:
        names = ir.Constant(ir.VectorType(WORD, stop - start), list(range(start, stop)))
        return builder.shuffle_vector(left, right, names)

    sums = []
    for k in range(0, LANES, 8):
        operands = [joined(vector, vector, k, k + 8) for vector in (w, c, x)]
        sums.append(_call(builder, "x86.avx512.vpmadd52l.uq.512", operands[0].type, *operands))
    while len(sums) > 1:
        size = 2 * sums[0].type.count
        sums = [joined(*pair, 0, size) for pair in zip(sums[::2], sums[1::2], strict=True)]
    return sums[0]


def panel_row(builder: Any, array: Any, row: Any, cell: Any) -> Any:
    """Return a pointer to the LANES cells of one row of a panel."""
    start = builder.gep(array.data, [builder.mul(row, ir.Constant(INDEX, LANES))])
    return builder.bitcast(start, ir.VectorType(cell, LANES).as_pointer())


@contextmanager
def each_column(context: Any, builder: Any, kind: Any, columns: Any, first: Any, stop: Any) -> Any:
    """Loop over columns[first:stop]."""
    names = context.make_array(kind)(context, builder, columns)
    with cgutils.for_range(builder, stop, start=first, intp=INDEX) as loop:
        yield builder.load(builder.gep(names.data, [loop.index]))


@intrinsic
def panel_axpy(
    typingctx: Any, W: Any, columns: Any, first: Any, stop: Any, rows: Any, s: Any, A: Any, i: Any,
    p: Any,
) -> Any:  # fmt: skip
    """W[j, b] += Σ_k A[i + k, b] · rows[s[k], j] for all j in columns[first:stop] and all b.

    Integers of W's dtype, the factors below p; several rows at once: the panel is loaded and stored
    once for all.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        panel_type, rows_type, factors_type = (signature.args[n] for n in (0, 4, 6))
        lane = context.get_data_type(panel_type.dtype)
        factor = context.get_data_type(factors_type.dtype)
        vector = ir.VectorType(lane, LANES)
        panel = context.make_array(panel_type)(context, builder, args[0])
        table = context.make_array(rows_type)(context, builder, args[4])
        factors = context.make_array(factors_type)(context, builder, args[6])
        width = builder.extract_value(table.shape, 1)
        rows, multiples = [], []
        for k in range(len(signature.args[5])):
            start = builder.mul(builder.extract_value(args[5], k), width)
            rows.append(builder.gep(table.data, [start]))
            name = builder.add(args[7], ir.Constant(INDEX, k))
            c = builder.load(panel_row(builder, factors, name, factor), align=1)
            multiples.append(c if factor == lane else builder.zext(c, vector))

        def each(add_product: Any) -> None:
            with each_column(context, builder, signature.args[1], *args[1:4]) as column:
                place = panel_row(builder, panel, column, lane)
                w = builder.load(place, align=1)
                for row, c in zip(rows, multiples, strict=True):
                    x = builder.load(builder.gep(row, [column]))
                    w = add_product(builder, w, c, spread(builder, x, vector))
                builder.store(w, place, align=1)

        if lane.width == 64 and "+avx512ifma" in FEATURES:
            short = builder.icmp_unsigned("<", args[8], INDEX(2**26))
            with builder.if_else(short) as (then, otherwise):
                with then:
                    each(_add_short_product)
                with otherwise:
                    each(_add_product)
        else:
            each(_add_product)
        return context.get_dummy_value()

    return types.void(W, columns, first, stop, rows, s, A, i, p), codegen


@intrinsic
def panel_fill(typingctx: Any, W: Any, X: Any, first: Any) -> Any:
    """W[j, b] ← X[first + b, j] for all j and b; the rows of X are read in words of 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = context.get_data_type(signature.args[0].dtype)
        cell = context.get_data_type(signature.args[1].dtype)
        panel = context.make_array(signature.args[0])(context, builder, args[0])
        table = context.make_array(signature.args[1])(context, builder, args[1])
        width = builder.extract_value(table.shape, 1)
        corner = builder.gep(table.data, [builder.mul(args[2], width)])

        def turn(word: Any, begin: Any, end: Any) -> None:
            vector = ir.VectorType(word, LANES)
            count = word.width // cell.width
            with cgutils.for_range_slice(builder, begin, end, ir.Constant(INDEX, count), INDEX) as (
                column,
                _,
            ):
                words = ir.Constant(vector, ir.Undefined)
                for b in range(LANES):
                    row = builder.mul(width, ir.Constant(INDEX, b))
                    place = builder.gep(corner, [builder.add(row, column)])
                    loaded = builder.load(builder.bitcast(place, word.as_pointer()), align=1)
                    words = builder.insert_element(words, loaded, ir.Constant(WORD, b))
                for k in range(count):
                    part = builder.lshr(words, ir.Constant(vector, [k * cell.width] * LANES))
                    part = builder.trunc(part, ir.VectorType(cell, LANES)) if count > 1 else part
                    part = part if cell == lane else builder.zext(part, ir.VectorType(lane, LANES))
                    to = builder.add(column, ir.Constant(INDEX, k))
                    builder.store(part, panel_row(builder, panel, to, lane), align=1)

        whole = builder.and_(width, ir.Constant(INDEX, -(64 // cell.width)))
        turn(INDEX, ir.Constant(INDEX, 0), whole)
        turn(cell, whole, width)
        return context.get_dummy_value()

    return types.void(W, X, first), codegen


@intrinsic
def panel_move(
    typingctx: Any, V: Any, i: Any, W: Any, n: Any, seen: Any, columns: Any, first: Any, stop: Any
) -> Any:
    """V[i + j, b] ← W[n + j, b] for all j in columns[first:stop], and all b with seen[b] ≠ 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = context.get_data_type(signature.args[0].dtype)
        to, panel, mask = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2, 4)
        )
        wanted = builder.load(panel_row(builder, mask, INDEX(0), lane), align=1)
        wanted = builder.icmp_unsigned("!=", wanted, constant(wanted.type, 0))
        with each_column(context, builder, signature.args[5], *args[5:]) as column:
            w = builder.load(panel_row(builder, panel, builder.add(args[3], column), lane), align=1)
            place = panel_row(builder, to, builder.add(args[1], column), lane)
            builder.store(builder.select(wanted, w, builder.load(place, align=1)), place, align=1)
        return context.get_dummy_value()

    return types.void(V, i, W, n, seen, columns, first, stop), codegen


@intrinsic
def panel_union(typingctx: Any, seen: Any, W: Any, columns: Any, first: Any, stop: Any) -> Any:
    """seen[b] ← the bits set in any W[j, b], for j in columns[first:stop]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = context.get_data_type(signature.args[1].dtype)
        place = context.make_array(signature.args[0])(context, builder, args[0])
        place = panel_row(builder, place, INDEX(0), lane)
        panel = context.make_array(signature.args[1])(context, builder, args[1])
        total = cgutils.alloca_once_value(builder, constant(ir.VectorType(lane, LANES), 0))
        with each_column(context, builder, signature.args[2], *args[2:]) as column:
            w = builder.load(panel_row(builder, panel, column, lane), align=1)
            builder.store(builder.or_(builder.load(total), w), total)
        builder.store(builder.load(total), place, align=1)
        return context.get_dummy_value()

    return types.void(seen, W, columns, first, stop), codegen


@intrinsic
def panel_take(
    typingctx: Any, u: Any, W: Any, i: Any, b: Any, columns: Any, first: Any, stop: Any
) -> Any:
    """u[j] ← W[i + j, b] for all j in columns[first:stop]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row = context.make_array(signature.args[0])(context, builder, args[0])
        panel = context.make_array(signature.args[1])(context, builder, args[1])
        with each_column(context, builder, signature.args[4], *args[4:]) as column:
            at = builder.mul(builder.add(args[2], column), ir.Constant(INDEX, LANES))
            lane = builder.load(builder.gep(panel.data, [builder.add(at, args[3])]))
            builder.store(lane, builder.gep(row.data, [column]))
        return context.get_dummy_value()

    return types.void(u, W, i, b, columns, first, stop), codegen


def _remainder(builder: Any, w: Any, p: Any, reciprocal: Any) -> Any:
    """Reduce w, a scalar or a vector of n-bit integers, modulo p; reciprocal = floor(2^n / p)."""
    lane = w.type

    def of(element: Any) -> Any:
        return ir.VectorType(element, lane.count) if isinstance(lane, ir.VectorType) else element

    bits = lane.element.width if isinstance(lane, ir.VectorType) else lane.width
    if bits == 64:
        # The quotient by floating point, below 2^51 for p > 2^13, is off by one at most.
        real = of(ir.DoubleType())
        inverse = builder.fdiv(constant(real, 1.0), builder.uitofp(p, real))
        quotient = builder.fmul(builder.uitofp(w, real), inverse)
        r = builder.sub(w, builder.mul(builder.fptoui(quotient, lane), p))
        more = builder.add(r, p)
        r = builder.select(builder.icmp_unsigned("<", r, more), r, more)
    else:
        if bits == 16 and isinstance(lane, ir.VectorType) and "+avx512bw" in FEATURES:
            # One instruction, which LLVM does not find where the reciprocal was made wide before.
            quotient = _call(builder, "x86.avx512.pmulhu.w.512", lane, w, reciprocal)
        else:
            wide = of(ir.IntType(2 * bits))
            product = builder.mul(builder.zext(w, wide), builder.zext(reciprocal, wide))
            quotient = builder.trunc(builder.lshr(product, constant(wide, bits)), lane)
        # The quotient is short by at most one.
        r = builder.sub(w, builder.mul(quotient, p))
    return builder.select(builder.icmp_unsigned("<", r, p), r, builder.sub(r, p))


def constant(kind: Any, value: Any) -> Any:
    """Return a number, or a vector of the same number, as a constant of this type."""
    many = isinstance(kind, ir.VectorType)
    return ir.Constant(kind, [value] * kind.count if many else value)


def _scalar_remainder(bits: int) -> Any:
    lane = ir.IntType(bits)

    def remainder(typingctx: Any, x: Any, c: Any, p: Any, reciprocal: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            fits = {True: builder.trunc, False: builder.zext}
            w, c, modulus, inverse = (
                arg if arg.type == lane else fits[arg.type.width > bits](arg, lane) for arg in args
            )
            result = _remainder(builder, builder.mul(w, c), modulus, inverse)
            return result if bits == 64 else builder.zext(result, ir.IntType(64))

        return types.uint64(x, c, p, reciprocal), codegen

    return intrinsic(remainder)


#: c · x mod p in arithmetic no wider than the lanes: loops over lanes stay in narrow vectors.
remainder = {bits: _scalar_remainder(bits) for bits in (16, 32, 64)}


def _reduced(
    context: Any, builder: Any, kind: Any, row: Any, constants: Any, times: Any = None
) -> Any:
    """Return where row j of W stands, its lanes (times a number) mod p, and p in every lane."""
    W, j = row
    lane = context.get_data_type(kind.dtype)
    vector = ir.VectorType(lane, LANES)
    place = panel_row(builder, context.make_array(kind)(context, builder, W), j, lane)
    modulus, inverse = (splat(builder, _narrowed(builder, arg, lane), vector) for arg in constants)
    w = builder.load(place, align=1)
    if times is not None:
        w = builder.mul(w, splat(builder, _narrowed(builder, times, lane), vector))
    return place, _remainder(builder, w, modulus, inverse), modulus


def _narrowed(builder: Any, scalar: Any, lane: Any) -> Any:
    return scalar if lane == INDEX else builder.trunc(scalar, lane)


@intrinsic
def panel_add(typingctx: Any, W: Any, j: Any, rows: Any, at: Any, c: Any) -> Any:
    """Row j of W += c times the LANES cells from ``at`` on (all rows of a matrix in one)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane, cell = (context.get_data_type(signature.args[k].dtype) for k in (0, 2))
        panel, table = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2)
        )
        vector = ir.VectorType(lane, LANES)
        place = panel_row(builder, panel, args[1], lane)
        source = builder.gep(table.data, [args[3]])
        x = builder.load(builder.bitcast(source, ir.VectorType(cell, LANES).as_pointer()), align=1)
        x = x if cell == lane else builder.zext(x, vector)
        c = splat(builder, _narrowed(builder, args[4], lane), vector)
        w = builder.add(builder.load(place, align=1), builder.mul(x, c))
        builder.store(w, place, align=1)
        return context.get_dummy_value()

    return types.void(W, j, rows, at, c), codegen


@intrinsic
def panel_scale(
    typingctx: Any, W: Any, j: Any, c: Any, rows: Any, at: Any, p: Any, reciprocal: Any
) -> Any:
    """The LANES cells from ``at`` on ← c times row j of W, mod p."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cell = context.get_data_type(signature.args[3].dtype)
        table = context.make_array(signature.args[3])(context, builder, args[3])
        _, r, _ = _reduced(context, builder, signature.args[0], args[:2], args[5:], args[2])
        vector = ir.VectorType(cell, LANES)
        place = builder.bitcast(builder.gep(table.data, [args[4]]), vector.as_pointer())
        builder.store(r if cell == r.type.element else builder.trunc(r, vector), place, align=1)
        return context.get_dummy_value()

    return types.void(W, j, c, rows, at, p, reciprocal), codegen


@intrinsic
def panel_reduce(typingctx: Any, W: Any, j: Any, p: Any, reciprocal: Any) -> Any:
    """W[j, b] ← W[j, b] mod p for all b; lanes of n bits, reciprocal = floor(2^n / p)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place, r, _ = _reduced(context, builder, signature.args[0], args[:2], args[2:])
        builder.store(r, place, align=1)
        return context.get_dummy_value()

    return types.void(W, j, p, reciprocal), codegen


@intrinsic
def panel_negate(
    typingctx: Any, W: Any, j: Any, A: Any, i: Any, seen: Any, p: Any, reciprocal: Any
) -> Any:
    """A[i, b] ← −W[j, b] mod p, or 0 where seen[b] = 0; reciprocal = floor(2^n / p)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        factor = context.get_data_type(signature.args[2].dtype)
        factors = context.make_array(signature.args[2])(context, builder, args[2])
        _, r, modulus = _reduced(context, builder, signature.args[0], args[:2], args[5:])
        mask = context.make_array(signature.args[4])(context, builder, args[4])
        wanted = builder.load(panel_row(builder, mask, INDEX(0), r.type.element), align=1)
        zero = ir.Constant(r.type, [0] * LANES)
        nothing = builder.or_(
            builder.icmp_unsigned("==", wanted, zero), builder.icmp_unsigned("==", r, zero)
        )
        result = builder.select(nothing, zero, builder.sub(modulus, r))
        if factor != r.type.element:
            result = builder.trunc(result, ir.VectorType(factor, LANES))
        builder.store(result, panel_row(builder, factors, args[3], factor), align=1)
        return context.get_dummy_value()

    return types.void(W, j, A, i, seen, p, reciprocal), codegen
