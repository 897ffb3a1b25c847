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
from numba.core import cgutils
from numba.extending import intrinsic

from flagstone.kernels._llvm import _PYTHON, _WORD, _data, _splat, reduce_lanes

_SIXTEEN = ir.VectorType(ir.IntType(32), 16)
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
def _run_end(_typingctx: Any, runs: Any, bit: Any) -> Any:
    """A carry goes up the run, and stays where it ends."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, low = (_join(builder, arg, runs) for arg in args)
        end = builder.and_(builder.add(number, low), builder.not_(number))
        return _split(context, builder, end, runs)

    return runs(runs, bit), codegen


@intrinsic
def _cut_below(_typingctx: Any, runs: Any, bit: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, low = (_join(builder, arg, runs) for arg in args)
        low = builder.lshr(low, ir.Constant(low.type, 1))
        return _split(context, builder, builder.and_(number, builder.not_(low)), runs)

    return runs(runs, bit), codegen


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


@intrinsic
def _take_place(
    _typingctx: Any, basis: Any, low: Any, high: Any, rows: Any, i: Any, like: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        given = (basis, args[0], args[1]), (basis, args[0], args[2]), (rows, args[3], args[4])
        places = [_places(context, builder, a, b, i, len(like)) for a, b, i in given]
        k = 0
        while k < len(like):
            vector = ir.VectorType(_WORD, 1 << (len(like) - k).bit_length() - 1)
            low, high, new = (builder.bitcast(words[k], vector.as_pointer()) for words in places)
            row = builder.load(new, align=8)
            both = builder.xor(builder.load(low, align=8), builder.load(high, align=8))
            builder.store(builder.xor(both, row), low, align=8)
            builder.store(row, high, align=8)
            k += vector.count
        return context.get_dummy_value()

    index = types.int64
    return types.void(basis, index, index, rows, index, like), codegen


def _places(context: Any, builder: Any, kind: Any, rows: Any, i: Any, n: int) -> list[Any]:
    """Where the words of a row stand."""
    first = builder.mul(i, ir.Constant(_WORD, n))
    data = _data(context, builder, kind, rows)
    return [builder.gep(data, [builder.add(first, ir.Constant(_WORD, k))]) for k in range(n)]


@intrinsic
def _unit(_typingctx: Any, place: Any, like: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bit = builder.shl(_ONE, builder.and_(args[0], ir.Constant(_WORD, 63)))
        word = builder.lshr(args[0], ir.Constant(_WORD, 6))
        words = [
            builder.select(builder.icmp_unsigned("==", word, ir.Constant(_WORD, k)), bit, _NONE)
            for k in range(len(like))
        ]
        return context.make_tuple(builder, like, words)

    return like(types.uint64, like), codegen


@intrinsic
def _held_keys(_typingctx: Any, weights: Any, like: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if isinstance(weights, types.NoneType):
            return ir.Constant(_SIXTEEN.element.as_pointer(), None)
        vectors = ir.ArrayType(_SIXTEEN, 4 * len(like))
        held = cgutils.alloca_once(builder, vectors)
        data = _data(context, builder, weights[2], builder.extract_value(args[0], 2))
        given = builder.bitcast(data, vectors.as_pointer())
        builder.store(builder.load(given, align=4), held)
        return builder.bitcast(held, _SIXTEEN.element.as_pointer())

    return types.CPointer(types.uint32)(weights, like), codegen


@intrinsic
def _raise_least(_typingctx: Any, words: Any, keys: Any, amount: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        data = builder.bitcast(args[1], _SIXTEEN.as_pointer())
        most = ir.Constant(_SIXTEEN, [2**32 - 1] * 16)
        spots, values, named = [], [], []
        for i in range(4 * len(words)):
            word = builder.extract_value(args[0], i // 4)
            used = builder.trunc(
                builder.lshr(word, ir.Constant(_WORD, 16 * (i % 4))), ir.IntType(16)
            )
            spots.append(builder.gep(data, [ir.Constant(_WORD, i)]))
            values.append(builder.load(spots[i]))
            used = builder.bitcast(used, ir.VectorType(ir.IntType(1), 16))
            named.append(builder.select(used, values[i], most))
        while len(named) > 1:
            pairs = zip(named[::2], named[1::2], strict=False)
            lesser = [builder.select(builder.icmp_unsigned("<", *pair), *pair) for pair in pairs]
            named = lesser + named[len(named) & ~1 :]
        least = reduce_lanes(builder, named[0], "umin")
        amount = builder.shl(args[2], ir.Constant(_WORD, key_bits(len(words))))
        amount = builder.trunc(amount, least.type)
        every, amounts = (_splat(builder, number, 16) for number in (least, amount))
        for spot, value in zip(spots, values, strict=True):
            here = builder.icmp_unsigned("==", value, every)
            builder.store(builder.select(here, builder.add(value, amounts), value), spot)
        place = builder.and_(least, ir.Constant(least.type, (1 << key_bits(len(words))) - 1))
        return builder.zext(place, _WORD)

    return types.uint64(words, keys, types.int64), codegen


def key_bits(n: int) -> int:
    """How many of the bits of a key tell the place of an element, in rows of n words."""
    return (64 * n - 1).bit_length()


def _number(words: Any) -> int:
    return sum(int(word) << 64 * k for k, word in enumerate(words))


def _tuple(number: int, n: int) -> tuple[Any, ...]:
    return tuple(np.uint64(number >> 64 * k & (1 << 64) - 1) for k in range(n))


def _lowest_python(words: Any) -> Any:
    number = _number(words)
    return _tuple(number & -number, len(words))


def _run_end_python(runs: Any, bit: Any) -> Any:
    number = _number(runs)
    return _tuple(number + _number(bit) & ~number, len(runs))


def _cut_below_python(runs: Any, bit: Any) -> Any:
    return _tuple(_number(runs) & ~(_number(bit) >> 1), len(runs))


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


def _take_place_python(basis: Any, low: Any, high: Any, rows: Any, i: int, like: Any) -> None:
    basis[low] ^= basis[high] ^ rows[i]
    basis[high] = rows[i]


def _unit_python(place: Any, like: Any) -> Any:
    return _tuple(1 << int(place), len(like))


def _held_keys_python(weights: Any, like: Any) -> Any:
    return weights and weights[2].copy()


def _raise_least_python(words: Any, keys: Any, amount: Any) -> Any:
    number = _number(words)
    place = min((q for q in range(number.bit_length()) if number >> q & 1), key=keys.__getitem__)
    keys[place] += np.uint32(amount << key_bits(len(words)))
    return np.uint64(place)


lowest: Any = _lowest_python if _PYTHON else _lowest
"""``lowest(words)``: the lowest bit alone."""

run_end: Any = _run_end_python if _PYTHON else _run_end
"""``run_end(runs, bit)``: the first place, from that of ``bit`` on, where ``runs`` has no bit."""

cut_below: Any = _cut_below_python if _PYTHON else _cut_below
"""``cut_below(runs, bit)``: the same without the neighbour below the only one of ``bit``."""

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

take_place: Any = _take_place_python if _PYTHON else _take_place
"""``take_place(basis, low, high, rows, i, like)``: add ``rows[i]`` and ``basis[high]`` to
``basis[low]``, and let ``basis[high]`` be ``rows[i]``."""

unit: Any = _unit_python if _PYTHON else _unit
"""``unit(place, like)``: the bit of that index alone."""

held_keys: Any = _held_keys_python if _PYTHON else _held_keys
"""``held_keys(weights, like)``: ``weights[2]``, if there are weights, in registers: the keys of
elements, one for each bit of a row, with their places in the lowest ``key_bits``."""

raise_least: Any = _raise_least_python if _PYTHON else _raise_least
"""``raise_least(words, keys, amount)``: let the least key of the bits that are set rise above its
place by ``amount``, and return that place."""
