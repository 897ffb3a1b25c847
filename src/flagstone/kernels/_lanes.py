"""Vector instructions on packed rows, and on panels of 64 words, for the kernels of wide flags.

Where rows of a known width are meant, a tuple ``lanes`` tells it, since the compiler knows the
length of a tuple: rows have 4 · len(lanes) words. An empty tuple stands for any multiple of four.
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

from flagstone.kernels._llvm import (
    _PYTHON,
    _WORD,
    _row_loop,
    _rows,
    _splat,
    _vector_at,
    _where,
    _xor_lanes,
    reduce_lanes,
)


@intrinsic
def _coordinates(_typingctx: Any, inverse: Any, k: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ((panel, _),) = _rows(context, builder, signature.args[:1], args[:1], args[1:2])
        total = ir.Constant(ir.VectorType(_WORD, 8), None)
        for _, vector, columns in _panel(builder, panel):
            total = builder.xor(
                total, _where(builder, columns, _splat(builder, args[2], 8), vector)
            )
        return _xor_lanes(builder, total)

    return types.uint64(inverse, types.int64, types.uint64), codegen


@intrinsic
def _exchange(_typingctx: Any, inverse: Any, k: Any, bit: Any, add: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ((panel, _),) = _rows(context, builder, signature.args[:1], args[:1], args[1:2])
        bits, adds = (_splat(builder, arg, 8) for arg in args[2:])
        for place, vector, _ in _panel(builder, panel):
            vector = builder.xor(vector, _where(builder, vector, bits, adds))
            builder.store(vector, place, align=8)
        return context.get_dummy_value()

    return types.void(inverse, types.int64, types.uint64, types.uint64), codegen


def _panel(builder: Any, panel: Any) -> Any:
    """The words of a panel, eight at a time: where, what, and the columns they stand for."""
    vector = ir.VectorType(_WORD, 8)
    for start in range(0, 64, 8):
        place = _vector_at(builder, panel, start, vector)
        columns = ir.Constant(vector, [1 << (start + lane) for lane in range(8)])
        yield place, builder.load(place, align=8), columns


@intrinsic
def _tabulate(
    _typingctx: Any, tables: Any, t: Any, rows: Any, first: Any, start: Any, lanes: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (data, _), (row, width) = _rows(
            context, builder, signature.args[:4:2], args[:4:2], args[1:4:2]
        )
        row = builder.gep(row, [args[4]])
        own = ir.Constant(_WORD, 4 * len(lanes))
        with cgutils.for_range(builder, ir.Constant(_WORD, 16)) as loop:
            four = builder.mul(loop.index, ir.Constant(_WORD, 4))
            sums = [[ir.Constant(part.type, None) for part in _parts(lanes)]]
            for j in range(4):
                place = builder.add(four, ir.Constant(_WORD, j))
                vectors = _load_parts(builder, builder.gep(row, [builder.mul(place, width)]), lanes)
                sums += [
                    [builder.xor(*pair) for pair in zip(s, vectors, strict=True)] for s in sums
                ]
            for k, total in enumerate(sums):
                place = builder.add(builder.mul(four, ir.Constant(_WORD, 4)), ir.Constant(_WORD, k))
                _store_parts(builder, total, builder.gep(data, [builder.mul(place, own)]), lanes)
        return context.get_dummy_value()

    index = types.int64
    return types.void(tables, index, rows, index, index, lanes), codegen


@intrinsic
def _add_named_rows(
    _typingctx: Any, target: Any, t: Any, start: Any, tables: Any, i: Any, names: Any, lanes: Any
) -> Any:
    width = 4 * len(lanes)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (row, _), (data, _) = _rows(
            context, builder, signature.args[:4:3], args[:4:3], [args[1], args[4]]
        )
        row = builder.gep(row, [args[2]])
        totals = _load_parts(builder, row, lanes)
        for four in range(16):
            name = builder.lshr(args[5], ir.Constant(_WORD, 4 * four))
            name = builder.and_(name, ir.Constant(_WORD, 15))
            name = builder.mul(name, ir.Constant(_WORD, width))
            table = builder.gep(data, [builder.add(name, ir.Constant(_WORD, 16 * width * four))])
            summands = _load_parts(builder, table, lanes)
            totals = [builder.xor(*pair) for pair in zip(totals, summands, strict=True)]
        _store_parts(builder, totals, row, lanes)
        return context.get_dummy_value()

    index = types.int64
    return types.void(target, index, index, tables, index, types.uint64, lanes), codegen


@intrinsic
def _change_sums(
    _typingctx: Any, tables: Any, t: Any, j: Any, rows: Any, i: Any, start: Any, lanes: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        width = ir.Constant(_WORD, 4 * len(lanes))
        places = [args[1], args[4]]
        (data, _), (row, _) = _rows(context, builder, signature.args[:4:3], args[:4:3], places)
        changes = _load_parts(builder, builder.gep(row, [args[5]]), lanes)
        four = builder.mul(builder.lshr(args[2], ir.Constant(_WORD, 2)), ir.Constant(_WORD, 16))
        bit = builder.shl(ir.Constant(_WORD, 1), builder.and_(args[2], ir.Constant(_WORD, 3)))
        below = builder.sub(bit, ir.Constant(_WORD, 1))
        for k in range(8):
            # The number k with a one put in at that bit.
            high = builder.and_(ir.Constant(_WORD, k), builder.not_(below))
            place = builder.add(ir.Constant(_WORD, k), builder.add(high, bit))
            place = builder.mul(builder.add(four, place), width)
            sums = builder.gep(data, [place])
            values = zip(_load_parts(builder, sums, lanes), changes, strict=True)
            _store_parts(builder, [builder.xor(*pair) for pair in values], sums, lanes)
        return context.get_dummy_value()

    index = types.int64
    return types.void(tables, index, index, rows, index, index, lanes), codegen


@intrinsic
def _add_where(
    _typingctx: Any, target: Any, i: Any, j: Any, word: Any, bit: Any, s: Any, lanes: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = ir.Constant(_WORD, 0)
        ((rows, width),) = _rows(context, builder, signature.args[:1], args[:1], [first])
        source = builder.gep(rows, [builder.mul(args[5], width)])
        summands = _load_parts(builder, source, lanes)
        step = ir.Constant(_WORD, 1)
        with cgutils.for_range_slice(builder, args[1], args[2], step, inc=True) as (index, _):
            row = builder.gep(rows, [builder.mul(index, width)])
            tested = builder.load(builder.gep(row, [args[3]]))
            if lanes:
                totals = []
                for total, summand in zip(_load_parts(builder, row, lanes), summands, strict=True):
                    size = total.type.count
                    bits = _splat(builder, args[4], size)
                    chosen = _where(builder, _splat(builder, tested, size), bits, summand)
                    totals.append(builder.xor(total, chosen))
                _store_parts(builder, totals, row, lanes)
            else:
                tested = builder.and_(tested, args[4])
                with builder.if_then(builder.icmp_unsigned("!=", tested, first)):
                    _row_loop(
                        context, builder, (row, width), [(row, width), (source, width)], first
                    )
        return context.get_dummy_value()

    index = types.int64
    return types.void(target, index, index, index, types.uint64, index, lanes), codegen


@intrinsic
def _set_row(_typingctx: Any, target: Any, t: Any, source: Any, s: Any, lanes: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _rows(context, builder, signature.args[:4:2], args[:4:2], args[1:4:2])
        if not lanes:
            return _row_loop(context, builder, rows[0], rows[1:], ir.Constant(_WORD, 0))
        _store_parts(builder, _load_parts(builder, rows[1][0], lanes), rows[0][0], lanes)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64, lanes), codegen


@intrinsic
def _meet(_typingctx: Any, left: Any, i: Any, right: Any, j: Any, lanes: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _rows(context, builder, signature.args[:4:2], args[:4:2], args[1:4:2])

        def common(at: Any, lanes: Any) -> Any:
            left, right = (_load_parts(builder, builder.gep(row, [at]), lanes) for row, _ in rows)
            both = [builder.and_(*pair) for pair in zip(left, right, strict=True)]
            return reduce_lanes(builder, reduce(builder.or_, both), "or")

        start, step = ir.Constant(_WORD, 0), ir.Constant(_WORD, 4)
        if lanes:
            return common(start, lanes)
        total = cgutils.alloca_once_value(builder, start)
        with cgutils.for_range_slice(builder, start, rows[0][1], step, inc=True) as (word, _):
            builder.store(builder.or_(builder.load(total), common(word, (0,))), total)
        return builder.load(total)

    return types.uint64(left, types.int64, right, types.int64, lanes), codegen


def _parts(lanes: Any) -> list[Any]:
    """The vectors that make up a row of ``4 * len(lanes)`` words: 512 bits each where it fits."""
    size = 8 if len(lanes) % 2 == 0 else 4
    return [ir.Constant(ir.VectorType(_WORD, size), None)] * (4 * len(lanes) // size)


def _load_parts(builder: Any, row: Any, lanes: Any) -> list[Any]:
    return [
        builder.load(_vector_at(builder, row, part.type.count * k, part.type), align=8)
        for k, part in enumerate(_parts(lanes))
    ]


def _store_parts(builder: Any, values: Any, row: Any, lanes: Any) -> None:
    for k, value in enumerate(values):
        place = _vector_at(builder, row, value.type.count * k, value.type)
        builder.store(value, place, align=8)


def _tabulate_python(tables: Any, t: int, rows: Any, first: int, start: int, lanes: Any) -> None:
    tables[t : t + 256 : 16] = 0
    for j in range(64):
        known, size = t + 16 * (j >> 2), 1 << (j & 3)
        row = rows[first + j, start : start + tables.shape[1]]
        tables[known + size : known + 2 * size] = tables[known : known + size] ^ row


def _add_named_rows_python(
    target: Any, t: int, start: int, tables: Any, i: int, names: Any, lanes: Any
) -> None:
    fours = np.arange(16, dtype=np.uint64)
    chosen = (np.uint64(names) >> (np.uint64(4) * fours) & np.uint64(15)) + np.uint64(16) * fours
    target[t, start : start + 4 * len(lanes)] ^= np.bitwise_xor.reduce(tables[i:][chosen])


def _change_sums_python(
    tables: Any, t: int, j: int, rows: Any, i: int, start: int, lanes: Any
) -> None:
    places = [t + 16 * (j >> 2) + k for k in range(16) if k >> (j & 3) & 1]
    tables[places] ^= rows[i, start : start + 4 * len(lanes)]


def _add_where_python(target: Any, i: int, j: int, word: int, bit: Any, s: int, lanes: Any) -> None:
    target[i:j][target[i:j, word] & bit != 0] ^= target[s].copy()


def _set_row_python(target: Any, t: int, source: Any, s: int, lanes: Any) -> None:
    target[t] = source[s]


def _meet_python(left: Any, i: int, right: Any, j: int, lanes: Any) -> Any:
    return np.bitwise_or.reduce(left[i] & right[j])


def _coordinates_python(inverse: Any, k: int, word: Any) -> Any:
    used = (np.uint64(word) >> np.arange(64, dtype=np.uint64)) & np.uint64(1) != 0
    return np.bitwise_xor.reduce(inverse[k, used], initial=np.uint64(0))


def _exchange_python(inverse: Any, k: int, bit: Any, add: Any) -> None:
    inverse[k, inverse[k] & bit != 0] ^= add


coordinates: Any = _coordinates_python if _PYTHON else _coordinates
"""``coordinates(inverse, k, word)``: the sum of the entries of ``inverse[k, 64]`` that ``word``
names."""

exchange: Any = _exchange_python if _PYTHON else _exchange
"""``exchange(inverse, k, bit, add)``: add ``add`` to the entries of ``inverse[k, 64]`` that contain
``bit``."""

tabulate: Any = _tabulate_python if _PYTHON else _tabulate
"""``tabulate(tables, t, rows, first, start, lanes)``: let ``tables[t : t + 256]`` be the sums by
fours of the 64 rows from ``first`` on, in the words from ``start`` on."""

add_named_rows: Any = _add_named_rows_python if _PYTHON else _add_named_rows
"""``add_named_rows(target, t, start, tables, i, names, lanes)``: add to ``target[t]``, in the words
from ``start`` on, the sixteen rows of ``tables[i : i + 256]`` that ``names`` tells by four bits
each. Rows of tables have 4 · len(lanes) words: the compiler knows the length of a tuple."""

change_sums: Any = _change_sums_python if _PYTHON else _change_sums
"""``change_sums(tables, t, j, rows, i, start, lanes)``: add ``rows[i]``, from word ``start`` on, to
those of the sums in ``tables[t : t + 256]`` that contain row j of the 64."""

add_where: Any = _add_where_python if _PYTHON else _add_where
"""``add_where(target, i, j, word, bit, s, lanes)``: add ``target[s]`` to those of ``target[i:j]``
that have ``bit`` in ``word``; rows of 4 · len(lanes) words, or, with no lanes, of any multiple of
four."""

set_row: Any = _set_row_python if _PYTHON else _set_row
"""``set_row(target, t, source, s, lanes)``: ``target[t] = source[s]``."""

meet: Any = _meet_python if _PYTHON else _meet
"""``meet(left, i, right, j, lanes)``: not zero iff the two rows have a bit in common."""
