"""Machine instructions that Numba does not offer: bit counts, bit scans, sums of rows.

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
def _leading_zeros(_typingctx: Any, word: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


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


def _xor_lanes(builder: Any, vector: Any) -> Any:
    return reduce_lanes(builder, vector, "xor")


def reduce_lanes(builder: Any, vector: Any, operation: str) -> Any:
    element = vector.type.element
    name = f"vector.reduce.{operation}.v{vector.type.count}i{element.width}"
    return _call(builder, name, element, vector)


def _call(builder: Any, name: str, result: Any, *operands: Any) -> Any:
    """What LLVM has under that name."""
    signature = ir.FunctionType(result, [operand.type for operand in operands])
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}")
    return builder.call(function, operands)


def _popcount_python(word: Any) -> int:
    return int(word).bit_count()


def _trailing_zeros_python(word: Any) -> int:
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


def _leading_zeros_python(word: Any) -> int:
    return 64 - int(word).bit_length()


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

leading_zeros: Any = _leading_zeros_python if _PYTHON else _leading_zeros
"""How many bits of a 64-bit word stand above its highest set bit; 64 for zero."""

set_sum: Any = _set_sum_python if _PYTHON else _set_sum
"""``set_sum(target, t, left, i, right, j, start)``: ``target[t] = left[i] ^ right[j]`` from word
``start`` on; all three have the same width, and it and ``start`` are multiples of four."""

byte_at: Any = _byte_at_python if _PYTHON else _byte_at
"""``byte_at(rows, i, octet)``: columns 8·octet to 8·octet + 7 of a packed row (little-endian)."""

word_at: Any = _word_at_python if _PYTHON else _word_at
"""``word_at(octets, place)``: the eight bytes from ``place`` on as one little-endian word."""

exceeding: Any = _exceeding_python if _PYTHON else _exceeding
"""``exceeding(octets, place, bound)``: which of the 64 bytes from ``place`` on exceed ``bound``."""
