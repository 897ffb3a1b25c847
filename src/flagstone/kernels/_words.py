"""Packed rows of a few words, as tuples that stay in registers.

The compiler knows the length of a tuple, so nothing here loops over words at run time. Bit i of
``words`` is bit ``i % 64`` of ``words[i // 64]``.
With ``NUMBA_DISABLE_JIT=1`` (coverage runs) the same names are plain Python.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from flagstone.kernels._llvm import _PYTHON, _WORD, _data, _splat, _vector_at, reduce_lanes

_NONE, _ONE = ir.Constant(_WORD, 0), ir.Constant(_WORD, 1)


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


@intrinsic
def _least(_typingctx: Any, words: Any, counts: Any) -> Any:
    """Twice through the counts, eight at a time: the least of those named, and where it is."""
    vector = ir.VectorType(_WORD, 8)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, counts, args[1])
        most = ir.Constant(vector, [2**63 - 1] * 8)
        named = []
        for k, word in enumerate(_words(builder, args[0], words)):
            for start in range(0, 64, 8):
                octet = builder.trunc(builder.lshr(word, ir.Constant(_WORD, start)), ir.IntType(8))
                used = builder.bitcast(octet, ir.VectorType(ir.IntType(1), 8))
                values = builder.load(_vector_at(builder, data, 64 * k + start, vector), align=8)
                named.append(builder.select(used, values, most))

        def lesser(left: Any, right: Any) -> Any:
            return builder.select(builder.icmp_signed("<", left, right), left, right)

        least = _splat(builder, reduce_lanes(builder, reduce(lesser, named), "smin"), 8)
        found = [_NONE] * len(words)
        for i, values in enumerate(named):
            octet = builder.bitcast(builder.icmp_signed("==", values, least), ir.IntType(8))
            octet = builder.shl(builder.zext(octet, _WORD), ir.Constant(_WORD, 8 * (i % 8)))
            found[i // 8] = builder.or_(found[i // 8], octet)
        return context.make_tuple(builder, words, found)

    return words(words, counts), codegen


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


def _least_python(words: Any, counts: Any) -> Any:
    number = _number(words)
    named = [q for q in range(number.bit_length()) if number >> q & 1]
    least = min(counts[q] for q in named)
    return _tuple(sum(1 << q for q in named if counts[q] == least), len(words))


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

least: Any = _least_python if _PYTHON else _least
"""``least(words, counts)``: the bits, of at least one, that have the least of ``counts``, of which
there are as many as words have bits."""
