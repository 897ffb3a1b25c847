"""Packed rows of a few words, as tuples that stay in registers, and tables of such rows.

The compiler knows the length of a tuple, so nothing here loops over words at run time. Bit i of
``words`` is bit ``i % 64`` of ``words[i // 64]``. ``table[k, i]`` is word k of entry i.
With ``NUMBA_DISABLE_JIT=1`` (coverage runs) the same names are plain Python.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from flagstone.kernels._llvm import _PYTHON, _WORD, _data, _rows, _splat, _vector_at, _xor_lanes

__all__ = [
    "below",
    "is_none",
    "lowest",
    "odd",
    "place",
    "plus",
    "put_row",
    "rotate",
    "row_at",
    "shift_down",
    "since",
    "sweep",
    "turn",
]

_NONE, _ONE = ir.Constant(_WORD, 0), ir.Constant(_WORD, 1)
_LANES = ir.VectorType(_WORD, 8)


def _words(builder: Any, arg: Any, kind: Any) -> list[Any]:
    return [builder.extract_value(arg, k) for k in range(len(kind))]


def _join(builder: Any, arg: Any, kind: Any) -> Any:
    """Words as one wide number."""
    wide = ir.IntType(64 * len(kind))
    shifted = (
        builder.shl(builder.zext(word, wide), ir.Constant(wide, 64 * k)) if k else word
        for k, word in enumerate(_words(builder, arg, kind))
    )
    return reduce(lambda a, b: builder.or_(builder.zext(a, wide), b), shifted)


def _split(context: Any, builder: Any, number: Any, kind: Any) -> Any:
    if len(kind) == 1:
        return context.make_tuple(builder, kind, [number])
    parts = (builder.lshr(number, ir.Constant(number.type, 64 * k)) for k in range(len(kind)))
    return context.make_tuple(builder, kind, [builder.trunc(part, _WORD) for part in parts])


@intrinsic
def _lowest(_typingctx: Any, words: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = _join(builder, args[0], words)
        return _split(context, builder, builder.and_(number, builder.neg(number)), words)

    return words(words), codegen


@intrinsic
def _since(_typingctx: Any, words: Any, bit: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, low = (_join(builder, arg, words) for arg in args)
        return _split(context, builder, builder.and_(number, builder.neg(low)), words)

    return words(words, bit), codegen


@intrinsic
def _below(_typingctx: Any, words: Any, bit: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, low = (_join(builder, arg, words) for arg in args)
        low = builder.lshr(low, ir.Constant(low.type, 1))
        return _split(context, builder, builder.or_(number, low), words)

    return words(words, bit), codegen


@intrinsic
def _place(_typingctx: Any, words: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        start = _NONE
        parts = _words(builder, args[0], words)
        for k, part in enumerate(parts[1:], 1):
            here = builder.icmp_unsigned("!=", part, _NONE)
            start = builder.select(here, ir.Constant(_WORD, 64 * k), start)
        zeros = builder.cttz(reduce(builder.or_, parts), ir.Constant(ir.IntType(1), 1))
        return builder.or_(start, zeros)

    return types.uint64(words), codegen


@intrinsic
def _is_none(_typingctx: Any, words: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        whole = reduce(builder.or_, _words(builder, args[0], words))
        return builder.icmp_unsigned("==", whole, _NONE)

    return types.boolean(words), codegen


@intrinsic
def _odd(_typingctx: Any, left: Any, right: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        pairs = zip(*(_words(builder, arg, left) for arg in args), strict=True)
        folded = reduce(builder.xor, [builder.and_(*pair) for pair in pairs])
        return builder.neg(builder.and_(builder.ctpop(folded), _ONE))

    return types.uint64(left, right), codegen


@intrinsic
def _plus(_typingctx: Any, left: Any, right: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pairs = zip(*(_words(builder, arg, left) for arg in args[:2]), strict=True)
        words = [builder.xor(one, builder.and_(two, args[2])) for one, two in pairs]
        return context.make_tuple(builder, left, words)

    return left(left, right, types.uint64), codegen


@intrinsic
def _row_at(_typingctx: Any, rows: Any, i: Any, like: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = _places(context, builder, rows, args[0], args[1], len(like))
        return context.make_tuple(builder, like, [builder.load(place) for place in places])

    return like(rows, types.int64, like), codegen


@intrinsic
def _put_row(_typingctx: Any, rows: Any, i: Any, words: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = _places(context, builder, rows, args[0], args[1], len(words))
        for place, word in zip(places, _words(builder, args[2], words), strict=True):
            builder.store(word, place)
        return context.get_dummy_value()

    return types.void(rows, types.int64, words), codegen


def _places(context: Any, builder: Any, kind: Any, rows: Any, i: Any, n: int) -> list[Any]:
    """Where the words of a row stand."""
    first = builder.mul(i, ir.Constant(_WORD, n))
    data = _data(context, builder, kind, rows)
    return [builder.gep(data, [builder.add(first, ir.Constant(_WORD, k))]) for k in range(n)]


class _Sweep:
    """What a pass over a table needs: eight entries at a time, word by word."""

    def __init__(self, context: Any, builder: Any, kind: Any, table: Any, n: int) -> None:
        ((data, size),) = _rows(context, builder, [kind], [table], [_NONE])
        self.builder, self.n = builder, n
        self.starts = [
            builder.gep(data, [builder.mul(size, ir.Constant(_WORD, k))]) for k in range(n)
        ]
        self.stride, self.data = size, data
        self.number = builder.lshr(size, ir.Constant(_WORD, 3))

    def word(self, place: Any) -> Any:
        """Where the word begins that holds the bit at ``place``."""
        if self.n == 1:
            return self.data
        word = self.builder.lshr(place, ir.Constant(_WORD, 6))
        return self.builder.gep(self.data, [self.builder.mul(self.stride, word)])

    def bit(self, place: Any) -> Any:
        place = self.builder.and_(place, ir.Constant(_WORD, 63))
        return self.builder.shl(_ONE, place)

    def spread(self, arg: Any) -> list[Any]:
        return [_splat(self.builder, self.builder.extract_value(arg, k), 8) for k in range(self.n)]

    def at(self, start: Any, index: Any) -> Any:
        first = self.builder.shl(index, ir.Constant(_WORD, 3))
        return _vector_at(self.builder, self.builder.gep(start, [first]), 0, _LANES)

    def hits(self, start: Any, index: Any, bits: Any) -> Any:
        """Which of eight entries have a bit."""
        both = self.builder.and_(self.builder.load(self.at(start, index), align=8), bits)
        return self.builder.icmp_unsigned("!=", both, ir.Constant(_LANES, None))

    def odd_hits(self, low: Any, high: Any) -> Any:
        """Tell, for eight entries at a time, which have an odd number of one or two bits."""
        builder = self.builder
        pair = builder.icmp_unsigned("!=", low, high)
        first, second = builder.select(pair, self.bit(low), _NONE), self.bit(high)
        if self.n > 1:
            tests = [
                (self.word(place), _splat(builder, bit, 8))
                for place, bit in ((low, first), (high, second))
            ]
            return lambda index: builder.xor(
                *(self.hits(start, index, bits) for start, bits in tests)
            )
        # Of two bits one is set iff the number is from 1 to one less than both.
        both = builder.or_(first, second)
        bound = _splat(builder, builder.sub(both, builder.zext(pair, _WORD)), 8)
        both = _splat(builder, both, 8)

        def compare(index: Any) -> Any:
            value = builder.and_(builder.load(self.at(self.data, index), align=8), both)
            return builder.icmp_unsigned("<", builder.sub(value, _every(1)), bound)

        return compare


@intrinsic
def _sweep(_typingctx: Any, table: Any, first: Any, second: Any, rows: Any, i: Any, j: Any) -> Any:
    words = first[2]
    result = types.UniTuple(words, 2)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sweep = _Sweep(context, builder, table, args[0], len(words))
        zero = ir.Constant(_LANES, None)
        changes = []
        for change in args[1:3]:
            low, high, _, add = (builder.extract_value(change, k) for k in range(4))
            changes.append((sweep.odd_hits(low, high), sweep.spread(add)))
        octets = ir.IntType(8).as_pointer()
        named = [_places(context, builder, rows, args[3], row, len(words))[0] for row in args[4:]]
        named = [builder.bitcast(row, octets) for row in named]
        totals = [[cgutils.alloca_once_value(builder, zero) for _ in words] for _ in named]

        def walk(update: bool) -> None:
            with cgutils.for_range(builder, sweep.number) as loop:
                hits = [odd_hits(loop.index) for odd_hits, _ in changes if update]
                used = [
                    builder.bitcast(
                        builder.load(builder.gep(row, [loop.index]), align=1),
                        ir.VectorType(ir.IntType(1), 8),
                    )
                    for row in named
                ]
                for k, start in enumerate(sweep.starts):
                    spot = sweep.at(start, loop.index)
                    value = builder.load(spot, align=8)
                    for hit, (_, adds) in zip(hits, changes, strict=False):
                        value = builder.xor(value, builder.select(hit, adds[k], zero))
                    if update:
                        builder.store(value, spot, align=8)
                    for mask, total in zip(used, totals, strict=True):
                        chosen = builder.select(mask, value, zero)
                        builder.store(builder.xor(builder.load(total[k]), chosen), total[k])

        summands = [
            word
            for change in args[1:3]
            for word in _words(builder, builder.extract_value(change, 3), words)
        ]
        anything = builder.icmp_unsigned("!=", reduce(builder.or_, summands), _NONE)
        with builder.if_else(anything) as (then, otherwise):
            with then:
                walk(True)
            with otherwise:
                walk(False)
        sums = [[_xor_lanes(builder, builder.load(part)) for part in total] for total in totals]
        return context.make_tuple(
            builder, result, [context.make_tuple(builder, words, total) for total in sums]
        )

    index = types.int64
    return result(table, first, second, rows, index, index), codegen


@intrinsic
def _rotate(_typingctx: Any, table: Any, low: Any, high: Any, add: Any, rows: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        n = len(add)
        sweep = _Sweep(context, builder, table, args[0], n)
        zero = ir.Constant(_LANES, None)
        wide = ir.IntType(64 * n)

        def spread(value: Any) -> list[Any]:
            return sweep.spread(_split(context, builder, value, add))

        low_bit, high_bit = (_bit_of(builder, place, wide) for place in args[1:3])
        double = [builder.shl(bit, ir.Constant(wide, 1)) for bit in (low_bit, high_bit)]
        between = builder.sub(double[1], double[0])
        keep = spread(builder.not_(builder.or_(between, low_bit)))
        moving, top = spread(between), spread(high_bit)
        adds = sweep.spread(args[3])
        tested, bits = sweep.word(args[1]), _splat(builder, sweep.bit(args[1]), 8)
        row = _places(context, builder, rows, args[4], args[5], n)[0]
        row = builder.bitcast(row, ir.IntType(8).as_pointer())
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(n)]
        with cgutils.for_range(builder, sweep.number) as loop:
            hit = sweep.hits(tested, loop.index, bits)
            octet = builder.load(builder.gep(row, [loop.index]), align=1)
            used = builder.bitcast(octet, ir.VectorType(ir.IntType(1), 8))
            spots = [sweep.at(start, loop.index) for start in sweep.starts]
            values = [
                builder.xor(builder.load(spot, align=8), builder.select(hit, adds[k], zero))
                for k, spot in enumerate(spots)
            ]
            for k, spot in enumerate(spots):
                moved = builder.lshr(builder.and_(values[k], moving[k]), _every(1))
                if k + 1 < n:
                    carried = builder.and_(values[k + 1], moving[k + 1])
                    moved = builder.or_(moved, builder.shl(carried, _every(63)))
                value = builder.or_(builder.and_(values[k], keep[k]), moved)
                value = builder.or_(value, builder.select(hit, top[k], zero))
                builder.store(value, spot, align=8)
                chosen = builder.select(used, value, zero)
                builder.store(builder.xor(builder.load(totals[k]), chosen), totals[k])
        sums = [_xor_lanes(builder, builder.load(part)) for part in totals]
        return context.make_tuple(builder, add, sums)

    place = types.uint64
    return add(table, place, place, add, rows, types.int64), codegen


@intrinsic
def _turn(_typingctx: Any, words: Any, low: Any, high: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = _join(builder, args[0], words)
        places = [_bit_of(builder, place, number.type) for place in args[1:]]
        one = ir.Constant(number.type, 1)
        between = builder.sub(*(builder.shl(bit, one) for bit in reversed(places)))
        hit = builder.icmp_unsigned(
            "!=", builder.and_(number, places[0]), ir.Constant(number.type, 0)
        )
        kept = builder.and_(number, builder.not_(builder.or_(between, places[0])))
        moved = builder.lshr(builder.and_(number, between), one)
        top = builder.select(hit, places[1], ir.Constant(number.type, 0))
        return _split(context, builder, builder.or_(builder.or_(kept, moved), top), words)

    return words(words, types.uint64, types.uint64), codegen


def _bit_of(builder: Any, place: Any, wide: Any) -> Any:
    shift = builder.zext(place, wide) if wide.width > 64 else place
    return builder.shl(ir.Constant(wide, 1), shift)


@intrinsic
def _shift_down(_typingctx: Any, rows: Any, low: Any, high: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        view = context.make_array(rows)(context, builder, args[0])
        size = builder.extract_value(view.strides, 0)
        data = builder.bitcast(view.data, ir.IntType(8).as_pointer())
        target = builder.gep(data, [builder.mul(size, args[1])])
        source = builder.gep(target, [size])
        cgutils.raw_memmove(builder, target, source, builder.sub(args[2], args[1]), size)
        return context.get_dummy_value()

    return types.void(rows, types.uint64, types.uint64), codegen


def _every(value: int) -> Any:
    return ir.Constant(_LANES, [value] * 8)


def _number(words: Any) -> int:
    return sum(int(word) << 64 * k for k, word in enumerate(words))


def _tuple(number: int, n: int) -> tuple[Any, ...]:
    return tuple(np.uint64(number >> 64 * k & (1 << 64) - 1) for k in range(n))


def _lowest_python(words: Any) -> Any:
    number = _number(words)
    return _tuple(number & -number, len(words))


def _since_python(words: Any, bit: Any) -> Any:
    return _tuple(_number(words) & -_number(bit), len(words))


def _below_python(words: Any, bit: Any) -> Any:
    return _tuple(_number(words) | _number(bit) >> 1, len(words))


def _place_python(words: Any) -> Any:
    return np.uint64(_number(words).bit_length() - 1)


def _is_none_python(words: Any) -> bool:
    return _number(words) == 0


def _odd_python(left: Any, right: Any) -> Any:
    return -np.uint64((_number(left) & _number(right)).bit_count() & 1)


def _plus_python(left: Any, right: Any, mask: Any) -> Any:
    return tuple(one ^ two & mask for one, two in zip(left, right, strict=True))


def _row_at_python(rows: Any, i: Any, like: Any) -> Any:
    return tuple(rows[i])


def _put_row_python(rows: Any, i: Any, words: Any) -> None:
    rows[i] = words


def _named_python(table: Any, row: Any) -> Any:
    used = np.unpackbits(row.astype("<u8").view(np.uint8), bitorder="little")
    return tuple(np.bitwise_xor.reduce(table[:, used[: table.shape[1]] != 0], axis=1, initial=0))


def _sweep_python(table: Any, first: Any, second: Any, rows: Any, i: Any, j: Any) -> Any:
    hits = [
        np.array([bool(_odd_python(tuple(entry), change[2])) for entry in table.T])
        for change in (first, second)
    ]
    for hit, change in zip(hits, (first, second), strict=True):
        table[:, hit] ^= np.array(change[3], np.uint64)[:, None]
    return _named_python(table, rows[i]), _named_python(table, rows[j])


def _rotate_python(table: Any, low: Any, high: Any, add: Any, rows: Any, i: Any) -> Any:
    bit = _tuple(1 << int(low), len(table))
    for k, entry in enumerate(table.T):
        table[:, k] = _turn_python(_plus_python(entry, add, _odd_python(entry, bit)), low, high)
    return _named_python(table, rows[i])


def _turn_python(words: Any, low: Any, high: Any) -> Any:
    number, low, high = _number(words), int(low), int(high)
    between = (2 << high) - (2 << low)
    kept = number & ~(between | 1 << low)
    return _tuple(kept | (number & between) >> 1 | (number >> low & 1) << high, len(words))


def _shift_down_python(rows: Any, low: Any, high: Any) -> None:
    rows[low:high] = rows[low + np.uint64(1) : high + np.uint64(1)].copy()


lowest: Any = _lowest_python if _PYTHON else _lowest
"""``lowest(words)``: the lowest bit alone."""

since: Any = _since_python if _PYTHON else _since
"""``since(words, bit)``: the bits from the only one of ``bit`` on; none for none."""

below: Any = _below_python if _PYTHON else _below
"""``below(words, bit)``: the words, and the neighbour below the only one of ``bit``."""

place: Any = _place_python if _PYTHON else _place
"""``place(bit)``: the index of the only bit."""

is_none: Any = _is_none_python if _PYTHON else _is_none
"""``is_none(words)``: whether no bit is set."""

odd: Any = _odd_python if _PYTHON else _odd
"""``odd(left, right)``: all ones if an odd number of bits is common to both, zero otherwise."""

plus: Any = _plus_python if _PYTHON else _plus
"""``plus(left, right, mask)``: the sum, if ``mask`` is all ones; ``left``, if it is zero."""

row_at: Any = _row_at_python if _PYTHON else _row_at
"""``row_at(rows, i, like)``: the words of ``rows[i]``, as many as ``like`` has."""

put_row: Any = _put_row_python if _PYTHON else _put_row
"""``put_row(rows, i, words)``: ``rows[i] = words``."""

sweep: Any = _sweep_python if _PYTHON else _sweep
"""``sweep(table, first, second, rows, i, j)``, one pass over the entries of a table: add to each
the ``add`` of those of two changes ``(low, high, mask, add)`` of whose ``mask`` it has an odd
number of bits, which are those at ``low`` and ``high``, or one if they are the same; then return
the sums of the entries that ``rows[i]`` and ``rows[j]`` name."""

rotate: Any = _rotate_python if _PYTHON else _rotate
"""``rotate(table, low, high, add, rows, i)``, one pass over the entries of a table: add ``add`` to
each that has the bit at ``low``; then :func:`turn` it; return the sum of those that ``rows[i]``
names."""

turn: Any = _turn_python if _PYTHON else _turn
"""``turn(words, low, high)``: the bit at ``low`` moved to ``high``, and those above it one down."""

shift_down: Any = _shift_down_python if _PYTHON else _shift_down
"""``shift_down(rows, low, high)``: ``rows[low:high] = rows[low + 1 : high + 1]``."""
