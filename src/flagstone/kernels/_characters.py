"""Machine instructions on text: sixteen hexadecimal digits at once, eight bytes from here to there.

With ``NUMBA_DISABLE_JIT=1`` (coverage runs) the same names are plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from flagstone.kernels._llvm import _PYTHON, _WORD, _call, _data

_BYTE = ir.IntType(8)
_DIGITS = ir.VectorType(_BYTE, 16)


def _hex(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Sixteen digits as (their values, which of them are digits), vectors both."""

    def every(value: int) -> Any:
        return ir.Constant(_DIGITS, [value] * 16)

    place = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
    text = builder.load(builder.bitcast(place, _DIGITS.as_pointer()), align=1)
    number = builder.sub(text, every(ord("0")))
    letter = builder.sub(builder.or_(text, every(32)), every(ord("a")))
    is_number = builder.icmp_unsigned("<", number, every(10))
    is_letter = builder.icmp_unsigned("<", letter, every(6))
    value = builder.select(is_letter, builder.add(letter, every(10)), number)
    return value, builder.or_(is_number, is_letter)


@intrinsic
def _hex_word(_typingctx: Any, octets: Any, place: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value, _ = _hex(context, builder, signature, args)
        pairs = ir.VectorType(ir.IntType(16), 8)
        # a value turned around stands in the upper half of its byte; the first byte is the lower
        turned = builder.bitcast(_call(builder, "bitreverse.v16i8", _DIGITS, value), pairs)

        def every(value: int) -> Any:
            return ir.Constant(pairs, [value] * 8)

        first = builder.and_(builder.lshr(turned, every(4)), every(0x0F))
        second = builder.and_(builder.lshr(turned, every(8)), every(0xF0))
        both = builder.trunc(builder.or_(first, second), ir.VectorType(_BYTE, 8))
        return builder.bitcast(both, _WORD)

    return types.uint64(octets, types.int64), codegen


@intrinsic
def _not_hex(_typingctx: Any, octets: Any, place: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, fits = _hex(context, builder, signature, args)
        return builder.zext(builder.bitcast(builder.not_(fits), ir.IntType(16)), _WORD)

    return types.uint64(octets, types.int64), codegen


@intrinsic
def _put_word(_typingctx: Any, octets: Any, place: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
        builder.store(args[2], builder.bitcast(at, _WORD.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(octets, types.int64, types.uint64), codegen


@intrinsic
def _unlike(_typingctx: Any, octets: Any, place: Any, shapes: Any, which: Any, letters: Any) -> Any:
    vector = ir.VectorType(_BYTE, 64)

    def every(value: int) -> Any:
        return ir.Constant(vector, [value] * 64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def load(k: int, place: Any) -> Any:
            data = builder.gep(_data(context, builder, signature.args[k], args[k]), [place])
            return builder.load(builder.bitcast(data, vector.as_pointer()), align=1)

        def kind(text: Any) -> Any:
            number = builder.sub(text, every(ord("0")))
            letter = builder.sub(builder.or_(text, every(32)), every(ord("a")))
            is_number = builder.icmp_unsigned("<", number, every(10))
            is_letter = builder.icmp_unsigned("<", letter, most)
            return builder.select(builder.or_(is_number, is_letter), every(ord("0")), text)

        is_wanted = builder.icmp_unsigned("!=", args[4], ir.Constant(_WORD, 0))
        most = builder.select(is_wanted, every(6), every(0))
        text, shape = load(0, args[1]), load(2, builder.mul(args[3], ir.Constant(_WORD, 64)))
        return builder.bitcast(builder.icmp_unsigned("!=", kind(text), kind(shape)), _WORD)

    index = types.int64
    return types.uint64(octets, index, shapes, index, index), codegen


def _hex_word_python(octets: Any, place: int) -> Any:
    nibbles = [_TURNED.get(c, 0) for c in octets[place : place + 16].tobytes()]
    return np.uint64(sum(value << 4 * i for i, value in enumerate(nibbles)))


def _not_hex_python(octets: Any, place: int) -> Any:
    found = octets[place : place + 16].tobytes()
    return np.uint64(sum((c not in _TURNED) << i for i, c in enumerate(found)))


def _put_word_python(octets: Any, place: int, word: Any) -> None:
    octets[place : place + 8].view("<u8")[0] = word


def _unlike_python(octets: Any, place: int, shapes: Any, which: int, letters: int) -> Any:
    alike = b"0123456789ABCDEFabcdef" if letters else b"0123456789"

    def kind(text: Any) -> Any:
        return np.where(np.isin(text, list(alike)), ord("0"), text)

    unlike = kind(octets[place : place + 64]) != kind(shapes[which])
    return np.packbits(unlike, bitorder="little").view(np.uint64)[0]


#: The value of each digit, its bits turned around.
_TURNED = {c: int(f"{int(chr(c), 16):04b}"[::-1], 2) for c in b"0123456789abcdefABCDEF"}

hex_word: Any = _hex_word_python if _PYTHON else _hex_word
"""``hex_word(octets, place)``: the bits of the sixteen digits from ``place`` on, the most
significant of the first being column 0; anything for what is no digit."""

not_hex: Any = _not_hex_python if _PYTHON else _not_hex
"""``not_hex(octets, place)``: which of the sixteen characters from ``place`` on are no digits."""

put_word: Any = _put_word_python if _PYTHON else _put_word
"""``put_word(octets, place, word)``: eight bytes from ``place`` on, as `word_at` reads them."""

unlike: Any = _unlike_python if _PYTHON else _unlike
"""``unlike(octets, place, shapes, which, letters)``: which of the 64 bytes from ``place`` on differ
from a row of ``shapes``, where digits are alike; with ``letters``, hexadecimal ones."""
