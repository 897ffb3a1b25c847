"""Vector code for panels over GF(p^k), beside that of :mod:`~flagstone.kernels._vectors`.

A lane holds one bit field per digit, in one word of 32 bits or two (characteristic 2: 16 bits).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from flagstone.kernels._vectors import INDEX, LANES, WORD, constant, each_column, panel_row, splat

#: Room for so many multiples of the rows of a panel.
_MOST = 128


def _words(lane: Any) -> Any:
    """Return the vector of the 32-bit words of one row of a panel."""
    return ir.VectorType(WORD, LANES * lane.width // 32)


@intrinsic
def panel_products(
    typingctx: Any, W: Any, columns: Any, first: Any, stop: Any, rows: Any, s: Any, A: Any, i: Any,
    powers: Any, parts: Any, sums: Any, k: Any, groups: Any, p: Any, digits: Any, tops: Any,
) -> Any:  # fmt: skip
    """Add powers[A[i, b]] · rows[s, j] to W[j, b], for j in columns[first:stop] and all b.

    powers[a + t] is the t-th multiple by x of powers[a]. So the product with an element is the sum
    of its digits' multiples of these; those for several digits at once are summed up beforehand, in
    digits reduced modulo p. ``parts`` tells which to add, and how many times.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane = context.get_data_type(signature.args[0].dtype)
        panel, table, factors, elements, parts, sums = (
            context.make_array(signature.args[n])(context, builder, args[n])
            for n in (0, 4, 6, 8, 9, 10)
        )
        k, groups, p, digits, tops = args[11:]
        vector, odd = _words(lane), lane.width > 16
        row = builder.gep(table.data, [builder.mul(args[5], builder.extract_value(table.shape, 1))])
        logs = builder.load(panel_row(builder, factors, args[7], WORD), align=1)
        multiples = cgutils.alloca_once(builder, vector, size=INDEX(_MOST))
        builder.store(constant(vector, 0), multiples)
        with cgutils.for_range(builder, k) as loop:
            multiple = ir.Constant(ir.VectorType(lane, LANES), ir.Undefined)
            for b in range(LANES):
                log = builder.zext(builder.extract_element(logs, WORD(b)), INDEX)
                power = builder.load(builder.gep(elements.data, [builder.add(log, loop.index)]))
                multiple = builder.insert_element(multiple, power, WORD(b))
            place = builder.gep(multiples, [builder.add(loop.index, INDEX(1))])
            builder.store(builder.bitcast(multiple, vector), place)
        beyond = builder.add(k, INDEX(1))

        def entry(number: Any) -> Any:
            return builder.load(builder.gep(multiples, [builder.zext(number, INDEX)]))

        with cgutils.for_range(builder, builder.extract_value(sums.shape, 0)) as loop:
            at = builder.gep(sums.data, [builder.shl(loop.index, INDEX(1))])
            pair = [entry(builder.load(builder.gep(at, [INDEX(n)]))) for n in range(2)]
            if odd:
                total = builder.add(*pair)
                # The highest bit of a field, half of which is the digit minus p, tells if it is p.
                high = splat(builder, builder.trunc(tops, WORD), vector)
                low = builder.trunc(builder.sub(digits, INDEX(1)), WORD)
                low = splat(builder, low, vector)
                modulus = splat(builder, builder.trunc(p, WORD), vector)
                ones = builder.lshr(high, low)
                lifted = builder.add(total, builder.sub(high, builder.mul(ones, modulus)))
                least = builder.lshr(builder.and_(lifted, high), low)
                total = builder.sub(total, builder.mul(least, modulus))
            else:
                total = builder.xor(*pair)
            builder.store(total, builder.gep(multiples, [builder.add(beyond, loop.index)]))
        sum_ = cgutils.alloca_once(builder, vector)
        with each_column(context, builder, signature.args[1], *args[1:4]) as column:
            x = builder.zext(builder.load(builder.gep(row, [column])), INDEX)
            part = builder.load(builder.gep(parts.data, [x]))
            place = panel_row(builder, panel, column, lane)
            place = builder.bitcast(place, vector.as_pointer())
            builder.store(builder.load(place, align=1), sum_)
            with cgutils.for_range(builder, groups) as loop:
                part_ = builder.lshr(part, builder.shl(loop.index, INDEX(4)))
                multiple = entry(builder.trunc(part_, ir.IntType(8)))
                if odd:
                    times = builder.lshr(builder.trunc(part_, ir.IntType(16)), ir.IntType(16)(8))
                    times = splat(builder, builder.zext(times, WORD), vector)
                    total = builder.add(builder.load(sum_), builder.mul(times, multiple))
                else:
                    total = builder.xor(builder.load(sum_), multiple)
                builder.store(total, sum_)
            builder.store(builder.load(sum_), place, align=1)
        return context.get_dummy_value()

    kinds = (
        W, columns, first, stop, rows, s, A, i, powers, parts, sums, k, groups, p, digits, tops,
    )  # fmt: skip
    return types.void(*kinds), codegen


@contextmanager
def _positions(builder: Any, number: Any, digits: Any) -> Any:
    """Loop over the digits of a word: number, lowest bit, and the mask of one digit."""
    rest = builder.trunc(builder.sub(ir.Constant(INDEX, 32), digits), WORD)
    mask = builder.lshr(ir.Constant(WORD, -1), rest)
    with cgutils.for_range(builder, number) as loop:
        yield loop.index, builder.mul(loop.index, digits), mask


def _modulo(builder: Any, words: Any, place: Any, mask: Any, p: Any, reciprocal: Any) -> Any:
    """Return one digit of each word, reduced modulo p < 2^8, which takes 32-bit arithmetic only."""
    vector = words.type
    p, reciprocal = (splat(builder, builder.trunc(x, WORD), vector) for x in (p, reciprocal))
    sixteen = constant(vector, 16)
    low = constant(vector, 0xFFFF)

    def barrett(field: Any) -> Any:
        """Reduce a field below 2^16, where reciprocal = floor(2^16 / p): off by p at most."""
        quotient = builder.lshr(builder.mul(field, reciprocal), sixteen)
        r = builder.sub(field, builder.mul(quotient, p))
        return builder.select(builder.icmp_unsigned("<", r, p), r, builder.sub(r, p))

    field = builder.lshr(words, splat(builder, builder.trunc(place, WORD), vector))
    field = builder.and_(field, splat(builder, mask, vector))
    kept = cgutils.alloca_once_value(builder, field)
    with builder.if_then(builder.icmp_unsigned(">", mask, ir.Constant(WORD, 0xFFFF))):
        # 2^16 = c: with its upper half reduced, a field folds to below 2^17, and again to 2^16.
        c = barrett(constant(vector, 0xFFFF))
        c = builder.add(c, constant(vector, 1))
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
        row = panel_row(builder, panel, args[1], lane)
        row = builder.bitcast(row, vector.as_pointer())
        words = builder.load(row, align=1)
        total = cgutils.alloca_once_value(builder, constant(vector, 0))
        with _positions(builder, *args[4:]) as (_, place, mask):
            r = _modulo(builder, words, place, mask, *args[2:4])
            r = builder.shl(r, splat(builder, builder.trunc(place, WORD), vector))
            builder.store(builder.or_(builder.load(total), r), total)
        builder.store(builder.load(total), row, align=1)
        return context.get_dummy_value()

    return types.void(W, j, p, reciprocal, half, digits), codegen


@intrinsic
def panel_elements(
    typingctx: Any, W: Any, i: Any, A: Any, j: Any, p: Any, reciprocal: Any, half: Any, digits: Any
) -> Any:
    """LANES cells of A from j on ← the elements of GF(p^k), p odd, of those of W from i on.

    Both are taken as flat; reciprocal = floor(2^16 / p).
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lane, cell = (context.get_data_type(signature.args[n].dtype) for n in (0, 2))
        places = []
        for n, kind in ((0, lane), (2, cell)):
            array = context.make_array(signature.args[n])(context, builder, args[n])
            start = builder.gep(array.data, [args[n + 1]])
            places.append(builder.bitcast(start, ir.VectorType(kind, LANES).as_pointer()))
        vector = ir.VectorType(WORD, LANES)
        lanes = builder.load(places[0], align=1)
        total = cgutils.alloca_once_value(builder, constant(vector, 0))
        power = cgutils.alloca_once_value(builder, WORD(1))
        for shift in range(0, lane.width, 32):
            words = builder.lshr(lanes, constant(lanes.type, shift))
            words = words if lane == WORD else builder.trunc(words, vector)
            with _positions(builder, *args[6:]) as (_, place, mask):
                r = _modulo(builder, words, place, mask, *args[4:6])
                scale = builder.load(power)
                r = builder.mul(r, splat(builder, scale, vector))
                builder.store(builder.add(builder.load(total), r), total)
                builder.store(builder.mul(scale, builder.trunc(args[4], WORD)), power)
        result = builder.load(total)
        if cell != WORD:
            result = builder.trunc(result, ir.VectorType(cell, LANES))
        builder.store(result, places[1], align=1)
        return context.get_dummy_value()

    return types.void(W, i, A, j, p, reciprocal, half, digits), codegen
