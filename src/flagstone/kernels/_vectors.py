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

#: Rows per panel.
LANES = 32

_INDEX = ir.IntType(64)
_WORD = ir.IntType(32)


def _words(lane: Any) -> Any:
    """Return the vector of the 32-bit words of one row of a panel."""
    return ir.VectorType(_WORD, LANES * lane.width // 32)


def _splat(builder: Any, scalar: Any, vector: Any) -> Any:
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, mask)


def _panel_row(builder: Any, array: Any, row: Any, cell: Any) -> Any:
    """Return a pointer to the LANES cells of one row of a panel."""
    start = builder.gep(array.data, [builder.mul(row, ir.Constant(_INDEX, LANES))])
    return builder.bitcast(start, ir.VectorType(cell, LANES).as_pointer())


@contextmanager
def _columns(context: Any, builder: Any, kind: Any, columns: Any, first: Any, stop: Any) -> Any:
    """Loop over columns[first:stop]."""
    names = context.make_array(kind)(context, builder, columns)
    with cgutils.for_range(builder, stop, start=first, intp=_INDEX) as loop:
        yield builder.load(builder.gep(names.data, [loop.index]))


@intrinsic
def panel_axpy(
    typingctx: Any, W: Any, columns: Any, first: Any, stop: Any, rows: Any, s: Any, A: Any, i: Any
) -> Any:
    """W[j, b] += Σ_k A[i + k, b] · rows[s[k], j] for all j in columns[first:stop] and all b.

    Integers of W's dtype; several rows at once: the panel is loaded and stored once for all.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        panel_type, rows_type, factors_type = (signature.args[n] for n in (0, 4, 6))
        lane = context.get_data_type(panel_type.dtype)
        cell = context.get_data_type(rows_type.dtype)
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
            name = builder.add(args[7], ir.Constant(_INDEX, k))
            c = builder.load(_panel_row(builder, factors, name, factor), align=1)
            multiples.append(c if factor == lane else builder.zext(c, vector))
        with _columns(context, builder, signature.args[1], *args[1:4]) as column:
            place = _panel_row(builder, panel, column, lane)
            w = builder.load(place, align=1)
            for row, c in zip(rows, multiples, strict=True):
                x = builder.load(builder.gep(row, [column]))
                x = x if cell == lane else builder.zext(x, lane)
                w = builder.add(w, builder.mul(c, _splat(builder, x, vector)))
            builder.store(w, place, align=1)
        return context.get_dummy_value()

    return types.void(W, columns, first, stop, rows, s, A, i), codegen


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
            with cgutils.for_range_slice(
                builder, begin, end, ir.Constant(_INDEX, count), _INDEX
            ) as (column, _):
                words = ir.Constant(vector, ir.Undefined)
                for b in range(LANES):
                    row = builder.mul(width, ir.Constant(_INDEX, b))
                    place = builder.gep(corner, [builder.add(row, column)])
                    loaded = builder.load(builder.bitcast(place, word.as_pointer()), align=1)
                    words = builder.insert_element(words, loaded, ir.Constant(_WORD, b))
                for k in range(count):
                    part = builder.lshr(words, ir.Constant(vector, [k * cell.width] * LANES))
                    part = builder.trunc(part, ir.VectorType(cell, LANES)) if count > 1 else part
                    part = part if cell == lane else builder.zext(part, ir.VectorType(lane, LANES))
                    to = builder.add(column, ir.Constant(_INDEX, k))
                    builder.store(part, _panel_row(builder, panel, to, lane), align=1)

        whole = builder.and_(width, ir.Constant(_INDEX, -(64 // cell.width)))
        turn(_INDEX, ir.Constant(_INDEX, 0), whole)
        turn(cell, whole, width)
        return context.get_dummy_value()

    return types.void(W, X, first), codegen


@intrinsic
def panel_keep(typingctx: Any, V: Any, i: Any, W: Any, columns: Any, first: Any, stop: Any) -> Any:
    """V[i + j] ← W[j] for all j in columns[first:stop]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = context.get_data_type(signature.args[2].dtype)
        copies = context.make_array(signature.args[0])(context, builder, args[0])
        panel = context.make_array(signature.args[2])(context, builder, args[2])
        with _columns(context, builder, signature.args[3], *args[3:]) as column:
            w = builder.load(_panel_row(builder, panel, column, lane), align=1)
            to = builder.add(args[1], column)
            builder.store(w, _panel_row(builder, copies, to, lane), align=1)
        return context.get_dummy_value()

    return types.void(V, i, W, columns, first, stop), codegen


@intrinsic
def panel_union(typingctx: Any, seen: Any, W: Any, columns: Any, first: Any, stop: Any) -> Any:
    """seen[b] ← the bits set in any W[j, b], for j in columns[first:stop]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = context.get_data_type(signature.args[1].dtype)
        place = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(place, ir.VectorType(lane, LANES).as_pointer())
        panel = context.make_array(signature.args[1])(context, builder, args[1])
        total = cgutils.alloca_once_value(builder, _constant(ir.VectorType(lane, LANES), 0))
        with _columns(context, builder, signature.args[2], *args[2:]) as column:
            w = builder.load(_panel_row(builder, panel, column, lane), align=1)
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
        with _columns(context, builder, signature.args[4], *args[4:]) as column:
            at = builder.mul(builder.add(args[2], column), ir.Constant(_INDEX, LANES))
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
        inverse = builder.fdiv(_constant(real, 1.0), builder.uitofp(p, real))
        quotient = builder.fmul(builder.uitofp(w, real), inverse)
        r = builder.sub(w, builder.mul(builder.fptoui(quotient, lane), p))
        more = builder.add(r, p)
        r = builder.select(builder.icmp_unsigned("<", r, more), r, more)
    else:
        wide = of(ir.IntType(2 * bits))
        product = builder.mul(builder.zext(w, wide), builder.zext(reciprocal, wide))
        quotient = builder.trunc(builder.lshr(product, _constant(wide, bits)), lane)
        # The quotient is short by at most one.
        r = builder.sub(w, builder.mul(quotient, p))
    return builder.select(builder.icmp_unsigned("<", r, p), r, builder.sub(r, p))


def _constant(kind: Any, value: Any) -> Any:
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


def _reduced(context: Any, builder: Any, kind: Any, W: Any, j: Any, constants: Any) -> Any:
    """Return where W[j] stands, its lanes modulo p, and p in every lane."""
    lane = context.get_data_type(kind.dtype)
    vector = ir.VectorType(lane, LANES)
    place = _panel_row(builder, context.make_array(kind)(context, builder, W), j, lane)
    modulus, inverse = (
        _splat(builder, arg if lane == _INDEX else builder.trunc(arg, lane), vector)
        for arg in constants
    )
    return place, _remainder(builder, builder.load(place, align=1), modulus, inverse), modulus


@intrinsic
def panel_reduce(typingctx: Any, W: Any, j: Any, p: Any, reciprocal: Any) -> Any:
    """W[j, b] ← W[j, b] mod p for all b; lanes of n bits, reciprocal = floor(2^n / p)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place, r, _ = _reduced(context, builder, signature.args[0], *args[:2], args[2:])
        builder.store(r, place, align=1)
        return context.get_dummy_value()

    return types.void(W, j, p, reciprocal), codegen


@intrinsic
def panel_negate(typingctx: Any, W: Any, j: Any, A: Any, i: Any, p: Any, reciprocal: Any) -> Any:
    """A[i, b] ← −W[j, b] mod p for all b; lanes of n bits, reciprocal = floor(2^n / p)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        factor = context.get_data_type(signature.args[2].dtype)
        factors = context.make_array(signature.args[2])(context, builder, args[2])
        _, r, modulus = _reduced(context, builder, signature.args[0], *args[:2], args[4:])
        zero = ir.Constant(r.type, [0] * LANES)
        is_zero = builder.icmp_unsigned("==", r, zero)
        result = builder.select(is_zero, zero, builder.sub(modulus, r))
        if factor != r.type.element:
            result = builder.trunc(result, ir.VectorType(factor, LANES))
        builder.store(result, _panel_row(builder, factors, args[3], factor), align=1)
        return context.get_dummy_value()

    return types.void(W, j, A, i, p, reciprocal), codegen


def _panel_products(context: Any, builder: Any, signature: Any, args: Any, form: Any) -> None:
    """Add to each row b of the panel the multiple of rows[s] by the factor A[i, b], a logarithm.

    powers[a + t] is the t-th multiple by x of powers[a]. So the product with an element is the sum
    of its digits' multiples of these: few lookups per row of the panel, none per product. ``form``
    is (number of digits, vector to calculate in, the digits of an element by t, how to add one).
    """
    panel_type, rows_type, factors_type, powers_type = (signature.args[n] for n in (0, 4, 6, 8))
    degree, vector, digit_of, add = form
    lane = context.get_data_type(panel_type.dtype)
    panel = context.make_array(panel_type)(context, builder, args[0])
    table = context.make_array(rows_type)(context, builder, args[4])
    factors = context.make_array(factors_type)(context, builder, args[6])
    powers = context.make_array(powers_type)(context, builder, args[8])
    width = builder.extract_value(table.shape, 1)
    row = builder.gep(table.data, [builder.mul(args[5], width)])
    factor = context.get_data_type(factors_type.dtype)
    logs = builder.load(_panel_row(builder, factors, args[7], factor), align=1)
    multiples = cgutils.alloca_once(builder, vector, size=ir.Constant(_INDEX, 16))
    with cgutils.for_range(builder, degree) as loop:
        multiple = ir.Constant(ir.VectorType(lane, LANES), ir.Undefined)
        for b in range(LANES):
            at = ir.Constant(ir.IntType(32), b)
            log = builder.zext(builder.extract_element(logs, at), _INDEX)
            power = builder.load(builder.gep(powers.data, [builder.add(log, loop.index)]))
            multiple = builder.insert_element(multiple, power, at)
        builder.store(builder.bitcast(multiple, vector), builder.gep(multiples, [loop.index]))
    total = cgutils.alloca_once(builder, vector)
    with _columns(context, builder, signature.args[1], *args[1:4]) as column:
        x = builder.load(builder.gep(row, [column]))
        place = _panel_row(builder, panel, column, lane)
        place = builder.bitcast(place, vector.as_pointer())
        builder.store(builder.load(place, align=1), total)
        with digit_of(x) as (t, digit):
            multiple = builder.load(builder.gep(multiples, [t]))
            digit = _splat(builder, digit, vector)
            builder.store(add(builder.load(total), digit, multiple), total)
        builder.store(builder.load(total), place, align=1)


@intrinsic
def panel_xor(
    typingctx: Any, W: Any, columns: Any, first: Any, stop: Any, rows: Any, s: Any, A: Any, i: Any,
    exp: Any, k: Any,
) -> Any:  # fmt: skip
    """W[j, b] ^= exp[A[i, b]] · rows[s, j] in GF(2^k), for j in columns[first:stop] and all b."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = context.get_data_type(signature.args[0].dtype)

        @contextmanager
        def bits(x: Any) -> Any:
            x = x if x.type == lane else builder.zext(x, lane)
            with cgutils.for_range(builder, args[9]) as loop:
                bit = builder.lshr(x, builder.trunc(loop.index, lane))
                yield loop.index, builder.neg(builder.and_(bit, ir.Constant(lane, 1)))

        def add(total: Any, mask: Any, multiple: Any) -> Any:
            return builder.xor(total, builder.and_(mask, multiple))

        form = args[9], ir.VectorType(lane, LANES), bits, add
        _panel_products(context, builder, signature, args, form)
        return context.get_dummy_value()

    return types.void(W, columns, first, stop, rows, s, A, i, exp, k), codegen


@intrinsic
def panel_add(
    typingctx: Any, W: Any, columns: Any, first: Any, stop: Any, rows: Any, s: Any, A: Any, i: Any,
    spread: Any, lanes: Any, k: Any, half: Any, digits: Any,
) -> Any:  # fmt: skip
    """W[j, b] += spread[A[i, b]] · rows[s, j] in GF(p^k), p odd, likewise, unreduced."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        k, half, digits = args[10:]
        vector = _words(context.get_data_type(signature.args[0].dtype))
        count = ir.Constant(_INDEX, vector.count // LANES)
        elements = context.make_array(signature.args[9])(context, builder, args[9])

        @contextmanager
        def spread_digits(x: Any) -> Any:
            lane = builder.load(builder.gep(elements.data, [builder.zext(x, _INDEX)]))
            lane = builder.zext(lane, _INDEX) if lane.type == _WORD else lane
            with cgutils.for_range(builder, count) as words:
                word = builder.lshr(lane, builder.shl(words.index, ir.Constant(_INDEX, 5)))
                word = builder.trunc(word, _WORD)
                first = builder.mul(words.index, half)
                number = builder.sub(k, first)  # odd k: one digit less in the second word
                number = builder.select(builder.icmp_signed("<", number, half), number, half)
                with _positions(builder, number, digits) as (t, place, mask):
                    digit = builder.lshr(word, builder.trunc(place, _WORD))
                    yield builder.add(first, t), builder.and_(digit, mask)

        def add(total: Any, digit: Any, multiple: Any) -> Any:
            return builder.add(total, builder.mul(digit, multiple))

        form = k, vector, spread_digits, add
        _panel_products(context, builder, signature, args, form)
        return context.get_dummy_value()

    kinds = W, columns, first, stop, rows, s, A, i, spread, lanes, k, half, digits
    return types.void(*kinds), codegen


@contextmanager
def _positions(builder: Any, number: Any, digits: Any) -> Any:
    """Loop over the digits of a word: number, lowest bit, and the mask of one digit."""
    rest = builder.trunc(builder.sub(ir.Constant(_INDEX, 32), digits), _WORD)
    mask = builder.lshr(ir.Constant(_WORD, -1), rest)
    with cgutils.for_range(builder, number) as loop:
        yield loop.index, builder.mul(loop.index, digits), mask


def _modulo(builder: Any, words: Any, place: Any, mask: Any, p: Any, reciprocal: Any) -> Any:
    """Return one digit of each word, reduced modulo p < 2^8, which takes 32-bit arithmetic only."""
    vector = words.type
    p, reciprocal = (_splat(builder, builder.trunc(x, _WORD), vector) for x in (p, reciprocal))
    sixteen = ir.Constant(vector, [16] * vector.count)
    low = ir.Constant(vector, [0xFFFF] * vector.count)

    def barrett(field: Any) -> Any:
        """Reduce a field below 2^16, where reciprocal = floor(2^16 / p): off by p at most."""
        quotient = builder.lshr(builder.mul(field, reciprocal), sixteen)
        r = builder.sub(field, builder.mul(quotient, p))
        return builder.select(builder.icmp_unsigned("<", r, p), r, builder.sub(r, p))

    field = builder.lshr(words, _splat(builder, builder.trunc(place, _WORD), vector))
    field = builder.and_(field, _splat(builder, mask, vector))
    kept = cgutils.alloca_once_value(builder, field)
    with builder.if_then(builder.icmp_unsigned(">", mask, ir.Constant(_WORD, 0xFFFF))):
        # 2^16 = c: with its upper half reduced, a field folds to below 2^17, and again to 2^16.
        c = barrett(ir.Constant(vector, [0xFFFF] * vector.count))
        c = builder.add(c, ir.Constant(vector, [1] * vector.count))
        upper = barrett(builder.lshr(field, sixteen))
        folded = builder.add(builder.and_(field, low), builder.mul(upper, c))
        upper = builder.lshr(folded, sixteen)
        builder.store(builder.add(builder.and_(folded, low), builder.mul(upper, c)), kept)
    return barrett(builder.load(kept))


@intrinsic
def panel_settle(
    typingctx: Any, W: Any, j: Any, p: Any, reciprocal: Any, half: Any, digits: Any
) -> Any:
    """Reduce every digit of W[j] modulo p; reciprocal = floor(2^16 / p)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        panel = context.make_array(signature.args[0])(context, builder, args[0])
        lane = context.get_data_type(signature.args[0].dtype)
        vector = _words(lane)
        row = _panel_row(builder, panel, args[1], lane)
        row = builder.bitcast(row, vector.as_pointer())
        words = builder.load(row, align=1)
        total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0] * vector.count))
        with _positions(builder, *args[4:]) as (_, place, mask):
            r = _modulo(builder, words, place, mask, *args[2:4])
            r = builder.shl(r, _splat(builder, builder.trunc(place, _WORD), vector))
            builder.store(builder.or_(builder.load(total), r), total)
        builder.store(builder.load(total), row, align=1)
        return context.get_dummy_value()

    return types.void(W, j, p, reciprocal, half, digits), codegen


@intrinsic
def panel_elements(
    typingctx: Any, W: Any, j: Any, A: Any, i: Any, p: Any, reciprocal: Any, half: Any, digits: Any
) -> Any:
    """A[i, b] ← the element of GF(p^k), p odd, of W[j, b]; reciprocal = floor(2^16 / p)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        panel = context.make_array(signature.args[0])(context, builder, args[0])
        factors = context.make_array(signature.args[2])(context, builder, args[2])
        vector = ir.VectorType(_WORD, LANES)
        lane = context.get_data_type(signature.args[0].dtype)
        lanes = builder.load(_panel_row(builder, panel, args[1], lane), align=1)
        total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0] * LANES))
        power = cgutils.alloca_once_value(builder, ir.Constant(_WORD, 1))
        for shift in range(0, lane.width, 32):
            words = builder.lshr(lanes, ir.Constant(lanes.type, [shift] * LANES))
            words = words if lane == _WORD else builder.trunc(words, vector)
            with _positions(builder, *args[6:]) as (_, place, mask):
                r = _modulo(builder, words, place, mask, *args[4:6])
                scale = builder.load(power)
                r = builder.mul(r, _splat(builder, scale, vector))
                builder.store(builder.add(builder.load(total), r), total)
                builder.store(builder.mul(scale, builder.trunc(args[4], _WORD)), power)
        builder.store(builder.load(total), _panel_row(builder, factors, args[3], _WORD), align=1)
        return context.get_dummy_value()

    return types.void(W, j, A, i, p, reciprocal, half, digits), codegen
