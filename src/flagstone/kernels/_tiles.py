"""Products over GF(2) by tiles of 8 × 8 bits: one instruction multiplies eight of them (GFNI).

A tile is a word. Byte r of it is row r; or, as a *map*, byte 7 − i is column i: the instruction
takes bytes x, tiles as maps, and gives the sums of the rows that the bits of x name.

A row of maps has eight of them for each word of columns, and ``maps[k]``, for word k of the columns
of a matrix, one such vector of eight after the other for each eight rows.
With ``NUMBA_DISABLE_JIT=1`` (coverage runs) the same names are plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from flagstone.kernels._jit import FEATURES, LLVM
from flagstone.kernels._llvm import _PYTHON, _WORD, _call, _data, _rows, _splat, _vector_at

#: Whether this processor has the instruction, and a compiler that does not make it another: up to
#: LLVM 15, a map that stands for all eight becomes a wrong one.
AVAILABLE = _PYTHON or ({"+gfni", "+avx2"} <= FEATURES and LLVM >= 20)
#: How many bytes it takes at a time.
_SIZE = 64 if "+avx512bw" in FEATURES else 32
#: The tile with ones on its diagonal, as a map.
UNIT = np.uint64(0x0102040810204080)

_EIGHT = ir.VectorType(_WORD, 8)
_BYTES = ir.VectorType(ir.IntType(8), 64)


def _word(value: int) -> Any:
    return ir.Constant(_WORD, value)


def _times(builder: Any, octets: Any, maps: Any) -> Any:
    """Eight bytes for each of eight maps."""
    octet, part = ir.IntType(8), ir.VectorType(ir.IntType(8), _SIZE)
    name = f"x86.vgf2p8affineqb.{8 * _SIZE}"
    operands = [builder.bitcast(operand, _BYTES) for operand in (octets, maps)]
    results = []
    for start in range(0, 64, _SIZE):
        places = range(start, start + _SIZE)
        parts = [_shuffled(builder, operand, operand, places) for operand in operands]
        results.append(_call(builder, name, part, *parts, ir.Constant(octet, 0)))
    whole = _shuffled(builder, results[0], results[-1], range(64))
    return builder.bitcast(whole, _EIGHT)


def _shuffled(builder: Any, left: Any, right: Any, order: Any) -> Any:
    order = ir.Constant(ir.VectorType(ir.IntType(32), len(order)), list(order))
    return builder.shuffle_vector(left, right, order)


def _transposed(builder: Any, maps: Any) -> Any:
    """Maps that go the other way; or the rows of tiles, last row first, as maps."""
    return _times(builder, ir.Constant(_EIGHT, [int(UNIT)] * 8), maps)


def _exchanged(builder: Any, words: Any) -> Any:
    """Byte b of word r becomes byte r of word b."""
    octets = builder.bitcast(words, _BYTES)
    order = [8 * (i % 8) + i // 8 for i in range(64)]
    return builder.bitcast(_shuffled(builder, octets, octets, order), _EIGHT)


def _collected(builder: Any, places: Any) -> Any:
    vector = ir.Constant(_EIGHT, None)
    for r, place in enumerate(places):
        index = ir.Constant(ir.IntType(32), r)
        vector = builder.insert_element(vector, builder.load(place), index)
    return vector


def _eight_at(builder: Any, start: Any, index: Any) -> Any:
    """Where the eight words of number ``index`` stand."""
    return _vector_at(builder, builder.gep(start, [builder.shl(index, _word(3))]), 0, _EIGHT)


@intrinsic
def _tile_rows(_typingctx: Any, target: Any, t: Any, rows: Any, first: Any, last: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ((tiles, _),) = _rows(context, builder, [target], [args[0]], [args[1]])
        starts = []
        for r in range(8):
            place = builder.add(args[3], _word(r))
            place = builder.select(builder.icmp_signed("<", place, args[4]), place, args[4])
            ((row, width),) = _rows(context, builder, [rows], [args[2]], [place])
            starts.append(row)
        with cgutils.for_range(builder, width) as loop:
            words = _collected(builder, [builder.gep(row, [loop.index]) for row in starts])
            place = _eight_at(builder, tiles, loop.index)
            builder.store(_exchanged(builder, words), place, align=8)
        return context.get_dummy_value()

    index = types.int64
    return types.void(target, index, rows, index, index), codegen


@intrinsic
def _map_tiles(_typingctx: Any, target: Any, t: Any, tiles: Any, g: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (maps, _), (start, size) = _rows(context, builder, [target, tiles], args[:4:2], args[1:4:2])
        last_first = [i ^ 7 for i in range(64)]
        with cgutils.for_range(builder, builder.lshr(size, _word(3))) as loop:
            value = builder.load(_eight_at(builder, start, loop.index), align=8)
            octets = builder.bitcast(value, _BYTES)
            value = builder.bitcast(_shuffled(builder, octets, octets, last_first), _EIGHT)
            value = _transposed(builder, value)
            builder.store(value, _eight_at(builder, maps, loop.index), align=8)
        return context.get_dummy_value()

    index = types.int64
    return types.void(target, index, tiles, index), codegen


@intrinsic
def _map_columns(_typingctx: Any, target: Any, maps: Any, places: Any, groups: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        listed = _data(context, builder, places, args[2])
        ((_, size),) = _rows(context, builder, [maps], [args[1]], [_word(0)])
        chosen = _data(context, builder, target, args[0])
        octets = _data(context, builder, maps, args[1])
        octets = builder.bitcast(octets, ir.IntType(8).as_pointer())
        starts = []
        for s in range(8 * len(groups)):
            place = builder.load(builder.gep(listed, [_word(s ^ 7)]))
            word, rest = builder.lshr(place, _word(6)), builder.and_(place, _word(63))
            start = builder.mul(word, builder.shl(size, _word(3)))
            start = builder.add(start, builder.xor(rest, _word(7)))
            starts.append(builder.gep(octets, [start]))
        with cgutils.for_range(builder, builder.lshr(size, _word(3))) as loop:
            at = builder.shl(loop.index, _word(6))
            vector = ir.Constant(_BYTES, None)
            for s, start in enumerate(starts):
                octet = builder.load(builder.gep(start, [at]))
                vector = builder.insert_element(vector, octet, ir.Constant(ir.IntType(32), s))
            vector = builder.bitcast(vector, _EIGHT)
            place = _eight_at(builder, chosen, loop.index)
            builder.store(_transposed(builder, vector), place, align=8)
        return context.get_dummy_value()

    return types.void(target, maps, places, groups), codegen


@intrinsic
def _set_product(
    _typingctx: Any, target: Any, t: Any, tiles: Any, g: Any, maps: Any, used: Any, number: Any,
    groups: Any,
) -> Any:  # fmt: skip
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (row, width), (factor, size) = _rows(
            context, builder, [target, tiles], args[:4:2], args[1:4:2]
        )
        factors = [builder.gep(factor, [builder.mul(size, _word(g))]) for g in range(len(groups))]
        listed = _data(context, builder, used, args[5])
        zero = ir.Constant(_EIGHT, None)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in groups]
        view = context.make_array(maps)(context, builder, args[4])
        with cgutils.for_range(builder, builder.extract_value(view.shape, 0)) as outer:
            ((matrix, _),) = _rows(context, builder, [maps], [args[4]], [outer.index])
            for total in totals:
                builder.store(zero, total)
            with cgutils.for_range(builder, args[6]) as loop:
                octet = builder.load(builder.gep(listed, [loop.index]))
                value = builder.load(_eight_at(builder, matrix, octet), align=8)
                for total, start in zip(totals, factors, strict=True):
                    tile = _splat(builder, builder.load(builder.gep(start, [octet])), 8)
                    summand = _times(builder, tile, value)
                    builder.store(builder.xor(builder.load(total), summand), total)
            for g, total in enumerate(totals):
                place = builder.gep(row, [builder.mul(width, _word(g))])
                place = _eight_at(builder, place, outer.index)
                builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    index = types.int64
    return types.void(target, index, tiles, index, maps, used, index, groups), codegen


@intrinsic
def _add_product(_typingctx: Any, maps: Any, columns: Any, rows: Any, groups: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ((row, size),) = _rows(context, builder, [maps], [args[0]], [_word(0)])
        octets = builder.lshr(size, _word(3))
        names = _data(context, builder, columns, args[1])
        view = context.make_array(maps)(context, builder, args[0])
        with cgutils.for_range(builder, builder.extract_value(view.shape, 0)) as outer:
            matrix = builder.gep(row, [builder.mul(size, outer.index)])
            factors = []
            for g in range(len(groups)):
                ((start, _),) = _rows(context, builder, [rows], [args[2]], [_word(g)])
                factors.append(builder.load(_eight_at(builder, start, outer.index), align=8))
            with cgutils.for_range(builder, octets) as loop:
                place = _eight_at(builder, matrix, loop.index)
                value = builder.load(place, align=8)
                first = builder.shl(loop.index, _word(3))
                for g, factor in enumerate(factors):
                    name = builder.load(builder.gep(names, [builder.add(first, _word(g))]))
                    value = builder.xor(value, _times(builder, factor, _splat(builder, name, 8)))
                builder.store(value, place, align=8)
        return context.get_dummy_value()

    return types.void(maps, columns, rows, groups), codegen


@intrinsic
def _common_words(_typingctx: Any, left: Any, i: Any, right: Any, j: Any, k: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _rows(context, builder, [left, right], args[:4:2], args[1:4:2])
        places = [builder.gep(row, [args[4]]) for row, _ in rows]
        vectors = [builder.load(_vector_at(builder, place, 0, _EIGHT), align=8) for place in places]
        both = builder.and_(*vectors)
        some = builder.icmp_unsigned("!=", both, ir.Constant(_EIGHT, None))
        return builder.zext(builder.bitcast(some, ir.IntType(8)), _WORD)

    index = types.int64
    return types.uint64(left, index, right, index, index), codegen


@intrinsic
def _take_row(_typingctx: Any, target: Any, t: Any, tiles: Any, g: Any, r: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (row, _), (start, size) = _rows(context, builder, [target, tiles], args[:4:2], args[1:4:2])
        shift = _splat(builder, builder.shl(args[4], _word(3)), 8)
        with cgutils.for_range(builder, builder.lshr(size, _word(3))) as loop:
            value = builder.load(_eight_at(builder, start, loop.index), align=8)
            octets = builder.trunc(builder.lshr(value, shift), ir.VectorType(ir.IntType(8), 8))
            builder.store(builder.bitcast(octets, _WORD), builder.gep(row, [loop.index]))
        return context.get_dummy_value()

    index = types.int64
    return types.void(target, index, tiles, index, index), codegen


@intrinsic
def _add_row(_typingctx: Any, tiles: Any, g: Any, rows: Any, i: Any, which: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (start, size), (row, _) = _rows(context, builder, [tiles, rows], args[:4:2], args[1:4:2])
        chosen = _splat(builder, args[4], 8)
        order = [i // 8 for i in range(64)]
        with cgutils.for_range(builder, builder.lshr(size, _word(3))) as loop:
            word = _splat(builder, builder.load(builder.gep(row, [loop.index])), 8)
            octets = builder.bitcast(word, _BYTES)
            summand = builder.bitcast(_shuffled(builder, octets, octets, order), _EIGHT)
            place = _eight_at(builder, start, loop.index)
            value = builder.load(place, align=8)
            builder.store(builder.xor(value, builder.and_(summand, chosen)), place, align=8)
        return context.get_dummy_value()

    index = types.int64
    return types.void(tiles, index, rows, index, types.uint64), codegen


@intrinsic
def _add_sums(_typingctx: Any, tiles: Any, g: Any, names: Any, maps: Any, t: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (start, size), (factor, _) = _rows(
            context, builder, [tiles, maps], [args[0], args[3]], [args[1], args[4]]
        )
        octets = _splat(builder, args[2], 8)
        with cgutils.for_range(builder, builder.lshr(size, _word(3))) as loop:
            place = _eight_at(builder, start, loop.index)
            value = builder.load(place, align=8)
            summand = builder.load(_eight_at(builder, factor, loop.index), align=8)
            value = builder.xor(value, _times(builder, octets, summand))
            builder.store(value, place, align=8)
        return context.get_dummy_value()

    index = types.int64
    return types.void(tiles, index, types.uint64, maps, index), codegen


def _bits(words: Any) -> Any:
    """The bytes of each word, and their bits."""
    octets = np.ascontiguousarray(words).astype("<u8").view(np.uint8)
    return np.unpackbits(octets, bitorder="little").reshape(*words.shape, 8, 8)


def _packed(bits: Any) -> Any:
    octets = np.packbits(np.ascontiguousarray(bits), axis=-1, bitorder="little")
    return octets.reshape(*bits.shape[:-2], 8).view("<u8")[..., 0].astype(np.uint64)


def _as_map(bits: Any) -> Any:
    """Rows of tiles as maps, or the other way round."""
    return np.swapaxes(bits, -1, -2)[..., ::-1, :]


def _from_map(bits: Any) -> Any:
    return np.swapaxes(bits[..., ::-1, :], -1, -2)


def _tile_rows_python(target: Any, t: int, rows: Any, first: int, last: int) -> None:
    chosen = _bits(rows[np.minimum(np.arange(first, first + 8), last)])
    target[t] = _packed(chosen.transpose(1, 2, 0, 3).reshape(-1, 8, 8))


def _map_tiles_python(target: Any, t: int, tiles: Any, g: int) -> None:
    target[t] = _packed(_as_map(_bits(tiles[g])))


def _map_columns_python(target: Any, maps: Any, places: Any, groups: Any) -> None:
    chosen = _matrix(maps)[:, places[: 8 * len(groups)]]
    turned = np.swapaxes(chosen.reshape(-1, 8, len(groups), 8), 1, 2)
    for g in range(len(groups)):
        target[g::8] = _packed(turned[:, g, ::-1])


def _matrix(maps: Any) -> Any:
    """All of a matrix, bit by bit."""
    tiles = _from_map(_bits(maps.reshape(len(maps), -1, 8)))  # word, octet of rows, octet, 8, 8
    return tiles.transpose(1, 3, 0, 2, 4).reshape(8 * tiles.shape[1], -1)


def _set_product_python(
    target: Any, t: int, tiles: Any, g: int, maps: Any, used: Any, number: int, groups: Any
) -> None:
    matrix = _matrix(maps).astype(np.int64)
    for k in range(len(groups)):
        left = np.zeros((8, tiles.shape[1], 8), np.int64)
        left[:, used[:number]] = _bits(tiles[g + k, used[:number]]).transpose(1, 0, 2)
        product = left.reshape(8, -1)[:, : len(matrix)] @ matrix & 1
        target[t + k] = _packed(product.astype(np.uint8).reshape(8, -1, 8).transpose(1, 0, 2))


def _add_product_python(maps: Any, columns: Any, rows: Any, groups: Any) -> None:
    for g in range(len(groups)):
        names = _bits(columns[g::8])[:, ::-1].reshape(-1, 8)
        summands = _from_map(_bits(rows[g])).transpose(1, 0, 2).reshape(8, -1)
        product = (names.astype(np.int64) @ summands & 1).astype(np.uint8)
        blocks = product.reshape(len(names) // 8, 8, len(maps), 8, 8).transpose(2, 0, 3, 1, 4)
        maps ^= _packed(_as_map(blocks)).reshape(maps.shape)


def _take_row_python(target: Any, t: int, tiles: Any, g: int, r: int) -> None:
    octets = (tiles[g] >> np.uint64(8 * r)).astype(np.uint8)
    target[t, : len(octets) // 8] = octets.view("<u8")


def _add_row_python(tiles: Any, g: int, rows: Any, i: int, which: Any) -> None:
    octets = rows[i, : tiles.shape[1] // 8].astype("<u8").view(np.uint8)
    tiles[g] ^= octets.astype(np.uint64) * np.uint64(0x0101010101010101) & which


def _add_sums_python(tiles: Any, g: int, names: Any, maps: Any, t: int) -> None:
    sums = _bits(np.array([names])).astype(np.int64) @ _from_map(_bits(maps[t])) & 1
    tiles[g] ^= _packed(sums.astype(np.uint8))


def _common_words_python(left: Any, i: int, right: Any, j: int, k: int) -> Any:
    some = (left[i, k : k + 8] & right[j, k : k + 8]) != 0
    return np.uint64(np.packbits(some, bitorder="little")[0])


tile_rows: Any = _tile_rows_python if _PYTHON else _tile_rows
"""``tile_rows(target, t, rows, first, last)``: let ``target[t]`` be the tiles of eight rows from
``first`` on, with row ``last`` once more for each behind it."""

map_tiles: Any = _map_tiles_python if _PYTHON else _map_tiles
"""``map_tiles(target, t, tiles, g)``: let ``target[t]`` be the tiles in ``tiles[g]`` as maps."""

map_columns: Any = _map_columns_python if _PYTHON else _map_columns
"""``map_columns(target, maps, places, groups)``: let ``target``, eight words for each eight rows of
the matrix ``maps``, be its columns at some ``places``, eight to a tile, as maps that go the other
way: as many tiles as the tuple ``groups`` is long."""

set_product: Any = _set_product_python if _PYTHON else _set_product
"""``set_product(target, t, tiles, g, maps, used, number, groups)``: let ``target[t]``,
``target[t + 1]``, … be the tiles of the product of the rows in ``tiles[g]``, ``tiles[g + 1]``, …,
as many as the tuple ``groups`` is long, with the matrix ``maps``. Tiles that are not among the
first ``number`` of ``used`` count as zero."""

add_product: Any = _add_product_python if _PYTHON else _add_product
"""``add_product(maps, columns, rows, groups)``: add to the matrix ``maps`` the product of
``columns``, made by :func:`map_columns`, with ``rows``, made by :func:`map_tiles`; of both, as many
as the tuple ``groups`` is long."""

take_row: Any = _take_row_python if _PYTHON else _take_row
"""``take_row(target, t, tiles, g, r)``: let ``target[t]`` be row r of the eight in ``tiles[g]``."""

add_row: Any = _add_row_python if _PYTHON else _add_row
"""``add_row(tiles, g, rows, i, which)``: add ``rows[i]`` to those of the eight rows in ``tiles[g]``
whose byte in ``which`` is 255; the others are 0."""

add_sums: Any = _add_sums_python if _PYTHON else _add_sums
"""``add_sums(tiles, g, names, maps, t)``: add to each of the eight rows in ``tiles[g]`` the sum of
those in ``maps[t]``, made by :func:`map_tiles`, that its byte in ``names`` names."""

common_words: Any = _common_words_python if _PYTHON else _common_words
"""``common_words(left, i, right, j, k)``: in which of the eight words from k on two rows have bits
in common, a bit each."""
