"""One pass over a table of packed rows of a few words: changed, and some of its entries summed up.

``table[k, i]`` is word k of entry i; entries are a multiple of eight. Rows are tuples, as in
:mod:`flagstone.kernels._words`. With ``NUMBA_DISABLE_JIT=1`` the same names are plain Python.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from flagstone.kernels._llvm import _PYTHON, _WORD, _rows, _splat, _vector_at, _xor_lanes
from flagstone.kernels._words import (
    _odd_python,
    _places,
    _words,
)

_NONE, _ONE = ir.Constant(_WORD, 0), ir.Constant(_WORD, 1)
_LANES = ir.VectorType(_WORD, 8)


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


def _every(value: int) -> Any:
    return ir.Constant(_LANES, [value] * 8)


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


sweep: Any = _sweep_python if _PYTHON else _sweep
"""``sweep(table, first, second, rows, i, j)``, one pass over the entries of a table: add to each
the ``add`` of those of two changes ``(low, high, mask, add)`` of whose ``mask`` it has an odd
number of bits, which are those at ``low`` and ``high``, or one if they are the same; then return
the sums of the entries that ``rows[i]`` and ``rows[j]`` name."""
