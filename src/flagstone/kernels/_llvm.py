"""Machine instructions that Numba does not offer: bit counts, bit scans, vector sweeps.

With ``NUMBA_DISABLE_JIT=1`` (coverage runs) the same names are plain Python.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = [
    "byte_at",
    "exceeding",
    "popcount",
    "set_sum",
    "sweep",
    "sweep_pair",
    "trailing_zeros",
    "word_at",
]

_PYTHON = bool(vars(config)["DISABLE_JIT"])
if _PYTHON:
    np.seterr(over="ignore")  # words wrap around, as they do when compiled

_WORD = ir.IntType(64)
_VECTOR_BITS = 256


@intrinsic
def _popcount(_typingctx: Any, word: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _trailing_zeros(_typingctx: Any, word: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def _sweep(_typingctx: Any, table: Any, bit: Any, add: Any, rows: Any, i: Any) -> Any:
    element = ir.IntType(table.dtype.bitwidth)
    lanes = _VECTOR_BITS // element.width

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        bits, adds = (
            _splat(builder, builder.trunc(arg, element) if element.width < 64 else arg, lanes)
            for arg in args[1:3]
        )
        row = _data(context, builder, signature.args[3], args[3])
        row = builder.bitcast(builder.gep(row, [args[4]]), ir.IntType(8).as_pointer())
        total = ir.Constant(bits.type, None)
        for octet in range(element.width // 8):
            byte = builder.load(builder.gep(row, [ir.Constant(_WORD, octet)]), align=1)
            named = _lanes_named(builder, builder.zext(byte, _WORD), bits.type)
            for k, mask in enumerate(named):
                place = _vector_at(builder, data, 8 * octet + k * lanes, bits.type)
                vector = builder.load(place, align=8)
                vector = builder.xor(vector, _where(builder, vector, bits, adds))
                builder.store(vector, place, align=8)
                total = builder.xor(total, builder.and_(vector, mask))
        result = _xor_lanes(builder, total)
        return builder.zext(result, _WORD) if element.width < 64 else result

    return types.uint64(table, types.uint64, types.uint64, rows, types.int64), codegen


@intrinsic
def _sweep_pair(
    _typingctx: Any, table: Any, bit0: Any, bit1: Any, add0: Any, add1: Any, row0: Any, row1: Any
) -> Any:
    lanes = _VECTOR_BITS // 64

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        # Let "near" be the word that holds the tested bit: only that word needs the test.
        low = builder.icmp_unsigned("!=", args[1], ir.Constant(_WORD, 0))
        halves = data, builder.gep(data, [ir.Constant(_WORD, 128)])
        near_data = builder.select(low, *halves)
        far_data = builder.select(low, *reversed(halves))
        near_add = _splat(builder, builder.select(low, args[3], args[4]), lanes)
        far_add = _splat(builder, builder.select(low, args[4], args[3]), lanes)
        bits = _splat(builder, builder.or_(args[1], args[2]), lanes)
        rows = [_splat(builder, arg, lanes) for arg in args[5:]]
        near_total = far_total = zero = ir.Constant(bits.type, None)
        for start in range(0, 128, lanes):
            near_place = _vector_at(builder, near_data, start, bits.type)
            far_place = _vector_at(builder, far_data, start, bits.type)
            near, far = builder.load(near_place, align=8), builder.load(far_place, align=8)
            hit = builder.icmp_unsigned("!=", builder.and_(near, bits), zero)
            near = builder.xor(near, builder.select(hit, near_add, zero))
            far = builder.xor(far, builder.select(hit, far_add, zero))
            builder.store(near, near_place, align=8)
            builder.store(far, far_place, align=8)
            columns = ir.Constant(bits.type, [1 << (start % 64 + lane) for lane in range(lanes)])
            used = builder.icmp_unsigned("!=", builder.and_(rows[start // 64], columns), zero)
            near_total = builder.xor(near_total, builder.select(used, near, zero))
            far_total = builder.xor(far_total, builder.select(used, far, zero))
        near_word, far_word = _xor_lanes(builder, near_total), _xor_lanes(builder, far_total)
        words = [
            builder.select(low, near_word, far_word),
            builder.select(low, far_word, near_word),
        ]
        return context.make_tuple(builder, signature.return_type, words)

    return types.UniTuple(types.uint64, 2)(table, *[types.uint64] * 6), codegen


@intrinsic
def _set_sum(
    _typingctx: Any, target: Any, t: Any, left: Any, i: Any, right: Any, j: Any, start: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _rows(context, builder, signature.args[:6:2], args[:6:2], args[1:6:2])
        return _row_loop(context, builder, rows[0], rows[1:], args[6])

    index = types.int64
    return types.void(target, index, left, index, right, index, index), codegen


def _rows(context: Any, builder: Any, array_types: Any, arrays: Any, indices: Any) -> Any:
    """Pointers to rows of 2-D arrays of one width, and that width."""
    pointers = []
    for array_type, array, index in zip(array_types, arrays, indices, strict=True):
        _check_layout(array_type)
        view = context.make_array(array_type)(context, builder, array)
        width = builder.extract_value(view.shape, 1)
        pointers.append((builder.gep(view.data, [builder.mul(index, width)]), width))
    return pointers


def _row_loop(context: Any, builder: Any, target: Any, rows: Any, start: Any) -> Any:
    """``target`` = sum of ``rows`` from word ``start`` on, 256 bits at a time."""
    vector = ir.VectorType(_WORD, _VECTOR_BITS // 64)
    step = ir.Constant(_WORD, vector.count)
    with cgutils.for_range_slice(builder, start, target[1], step, inc=True) as (word, _):

        def place(row: Any) -> Any:
            return builder.bitcast(builder.gep(row[0], [word]), vector.as_pointer())

        blocks = [builder.load(place(row), align=8) for row in rows]
        builder.store(reduce(builder.xor, blocks), place(target), align=8)
    return context.get_dummy_value()


@intrinsic
def _byte_at(_typingctx: Any, rows: Any, i: Any, octet: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ((row, _),) = _rows(context, builder, signature.args[:1], args[:1], args[1:2])
        place = builder.gep(builder.bitcast(row, ir.IntType(8).as_pointer()), [args[2]])
        return builder.zext(builder.load(place, align=1), _WORD)

    return types.int64(rows, types.int64, types.int64), codegen


@intrinsic
def _exceeding(_typingctx: Any, octets: Any, place: Any, bound: Any) -> Any:
    vector = ir.VectorType(ir.IntType(8), 64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
        block = builder.load(builder.bitcast(data, vector.as_pointer()), align=1)
        least = _splat(builder, builder.trunc(args[2], ir.IntType(8)), 64)
        return builder.bitcast(builder.icmp_unsigned(">", block, least), _WORD)

    return types.uint64(octets, types.int64, types.int64), codegen


@intrinsic
def _word_at(_typingctx: Any, octets: Any, place: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
        return builder.load(builder.bitcast(data, _WORD.as_pointer()), align=1)

    return types.uint64(octets, types.int64), codegen


def _check_layout(array_type: Any) -> None:
    if array_type.layout != "C":
        raise TypeError(f"entries must lie one behind the other, got {array_type}")


def _data(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    _check_layout(array_type)
    return context.make_array(array_type)(context, builder, array).data


def _vector_at(builder: Any, data: Any, start: int, vector: Any) -> Any:
    place = builder.gep(data, [ir.Constant(_WORD, start)])
    return builder.bitcast(place, vector.as_pointer())


def _splat(builder: Any, scalar: Any, lanes: int) -> Any:
    vector = ir.VectorType(scalar.type, lanes)
    first = builder.insert_element(
        ir.Constant(vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0)
    )
    every = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), every)


def _where(builder: Any, vector: Any, bits: Any, value: Any) -> Any:
    """``value`` in the lanes where ``vector & bits`` is not zero."""
    zero = ir.Constant(vector.type, None)
    hit = builder.icmp_unsigned("!=", builder.and_(vector, bits), zero)
    return builder.select(hit, value, zero)


def _lanes_named(builder: Any, byte: Any, vector: Any) -> list[Any]:
    """Masks over eight lanes, as one vector or two: all ones where the bit of ``byte`` is set."""
    parts = 8 // vector.count
    masks = [
        ir.Constant(
            vector, [-(name >> (part * vector.count + lane) & 1) for lane in range(vector.count)]
        )
        for name in range(256)
        for part in range(parts)
    ]
    table = ir.Constant(ir.ArrayType(vector, len(masks)), masks)
    table = cgutils.global_constant(builder, f"masks{vector.count}", table)
    first = builder.mul(byte, ir.Constant(_WORD, parts))
    places = [builder.add(first, ir.Constant(_WORD, part)) for part in range(parts)]
    zero = ir.Constant(_WORD, 0)
    return [builder.load(builder.gep(table, [zero, place]), align=32) for place in places]


def _xor_lanes(builder: Any, vector: Any) -> Any:
    return reduce_lanes(builder, vector, "xor")


def reduce_lanes(builder: Any, vector: Any, operation: str) -> Any:
    element = vector.type.element
    name = f"llvm.vector.reduce.{operation}.v{vector.type.count}i{element.width}"
    signature = ir.FunctionType(element, [vector.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), [vector])


def _popcount_python(word: Any) -> int:
    return int(word).bit_count()


def _trailing_zeros_python(word: Any) -> int:
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


def _sweep_python(table: Any, bit: Any, add: Any, rows: Any, i: Any) -> Any:
    table ^= np.where(table & bit, table.dtype.type(add), 0).astype(table.dtype)
    used = (rows[i] >> np.arange(len(table), dtype=np.uint64)) & np.uint64(1) != 0
    return np.uint64(np.bitwise_xor.reduce(table[used], initial=0))


def _sweep_pair_python(
    table: Any, bit0: Any, bit1: Any, add0: Any, add1: Any, row0: Any, row1: Any
) -> Any:
    hit = (table[0] & bit0) | (table[1] & bit1) != 0
    table[0, hit] ^= add0
    table[1, hit] ^= add1
    shifts = np.arange(64, dtype=np.uint64)
    used = np.concatenate([row0 >> shifts, row1 >> shifts]) & np.uint64(1) != 0
    words = np.bitwise_xor.reduce(table[:, used], axis=1, initial=0)
    return np.uint64(words[0]), np.uint64(words[1])


def _set_sum_python(target: Any, t: int, left: Any, i: int, right: Any, j: int, start: int) -> None:
    target[t, start:] = left[i, start:] ^ right[j, start:]


def _byte_at_python(rows: Any, i: int, octet: int) -> int:
    return int(rows[i, octet >> 3]) >> 8 * (octet & 7) & 255


def _exceeding_python(octets: Any, place: int, bound: int) -> Any:
    return np.packbits(octets[place : place + 64] > bound, bitorder="little").view(np.uint64)[0]


def _word_at_python(octets: Any, place: int) -> Any:
    return np.uint64(int.from_bytes(octets[place : place + 8].tobytes(), "little"))


popcount: Any = _popcount_python if _PYTHON else _popcount
"""Number of set bits of a 64-bit word."""

trailing_zeros: Any = _trailing_zeros_python if _PYTHON else _trailing_zeros
"""Index of the lowest set bit of a 64-bit word; 64 for zero."""

sweep: Any = _sweep_python if _PYTHON else _sweep
"""``sweep(table, bit, add, rows, i)``, one pass over the 32 or 64 entries of a square bit table:
add ``add`` to the entries that contain ``bit``, then return Σ of those that ``rows[i]`` names."""

sweep_pair: Any = _sweep_pair_python if _PYTHON else _sweep_pair
"""The same for ``table[2, 128]``, where entry i has the words ``table[0, i]``, ``table[1, i]``."""

set_sum: Any = _set_sum_python if _PYTHON else _set_sum
"""``set_sum(target, t, left, i, right, j, start)``: ``target[t] = left[i] ^ right[j]`` from word
``start`` on; all three have the same width, and it and ``start`` are multiples of four."""

byte_at: Any = _byte_at_python if _PYTHON else _byte_at
"""``byte_at(rows, i, octet)``: columns 8·octet to 8·octet + 7 of a packed row (little-endian)."""

word_at: Any = _word_at_python if _PYTHON else _word_at
"""``word_at(octets, place)``: the eight bytes from ``place`` on as one little-endian word."""

exceeding: Any = _exceeding_python if _PYTHON else _exceeding
"""``exceeding(octets, place, bound)``: which of the 64 bytes from ``place`` on exceed ``bound``."""
