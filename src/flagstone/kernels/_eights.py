"""Eight rows against a coordinate map of a few words in tiles of 8 × 8 bits, all in registers.

Row o of a table has what eight entries, 8·o and on, say: a vector of eight tiles, as maps (see
:mod:`flagstone.kernels._tiles`), for each word. So a column of these entries is a byte, and any
eight columns of them are one permutation of bytes.

What ``scratch`` makes has a row of vectors for each of

- ``LANES``: the coordinates of eight rows, one beside the other; of those that are in place, what
  the others add that have a coordinate in their places;
- ``NAMES``: these places, a byte each, with the pair of words that they are in, as two times eight
  bytes: one place of each row, then another one, or none;
- ``MAPS``: the lanes of the eight rows before, as maps;
- ``TILES``: the tiles of the eight rows behind;
- ``TOTALS``: the tiles of their coordinates.

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

from flagstone.kernels import _tiles
from flagstone.kernels._jit import FEATURES
from flagstone.kernels._llvm import _PYTHON, _WORD, _call, _rows, _splat, _vector_at
from flagstone.kernels._tiles import _BYTES, _EIGHT, _shuffled, _times, _transposed, _word
from flagstone.kernels._words import _words

#: Whether this processor also permutes bytes of long vectors.
AVAILABLE = _PYTHON or (_tiles.AVAILABLE and "+avx512vbmi" in FEATURES)

LANES, NAMES, MAPS, TILES, TOTALS = range(5)

_OCTET = ir.IntType(8)
_NOTHING = ir.Constant(_EIGHT, None)
#: Byte b of word r becomes byte 7 − r of word b; and back.
_TURN = [8 * (7 - i % 8) + i // 8 for i in range(64)]
_TURN_BACK = [8 * (i % 8) + 7 - i // 8 for i in range(64)]


class _Work:
    """The vectors of a scratch, and what the changes of eight rows make of entries."""

    def __init__(self, builder: Any, work: Any, n: int) -> None:
        self.builder, self.data, self.n = builder, work, n

    def place(self, row: int, k: int = 0) -> Any:
        return _vector_at(self.builder, self.data, 8 * (self.n * row + k), _EIGHT)

    def load(self, row: int) -> list[Any]:
        return _load(self.builder, self.place(row), self.n)

    def store(self, row: int, values: Any) -> None:
        _store(self.builder, self.place(row), values)

    def changes(self) -> Any:
        """A function of the vectors of eight entries."""
        builder, maps = self.builder, self.load(MAPS)
        names = builder.bitcast(self.place(NAMES), ir.VectorType(_WORD, 2).as_pointer())
        index, pair = (
            builder.bitcast(_shuffled(builder, words, words, [0, 1] * 4), _BYTES)
            for words in (builder.load(builder.gep(names, [_word(i)]), align=8) for i in range(2))
        )
        index = builder.xor(index, ir.Constant(_BYTES, [7] * 64))  # the last of eight comes first
        pairs = range(0, self.n, 2)
        here = [
            builder.icmp_unsigned("==", pair, ir.Constant(_BYTES, [start // 2] * 64))
            for start in pairs
        ]

        def change(values: list[Any]) -> list[Any]:
            none = ir.Constant(_BYTES, None)
            columns = [
                builder.select(mask, _permuted(builder, values[start : start + 2], index), none)
                for start, mask in zip(pairs, here, strict=True)
            ]
            both = builder.bitcast(reduce(builder.xor, columns), _EIGHT)
            other = _shuffled(builder, both, both, [1, 0, 3, 2, 5, 4, 7, 6])
            odd = _transposed(builder, builder.xor(both, other))
            return [
                builder.xor(value, _times(builder, summand, odd))
                for value, summand in zip(values, maps, strict=True)
            ]

        return change


def _load(builder: Any, place: Any, n: int) -> list[Any]:
    return [builder.load(builder.gep(place, [_word(k)]), align=8) for k in range(n)]


def _store(builder: Any, place: Any, values: Any) -> None:
    for k, value in enumerate(values):
        builder.store(value, builder.gep(place, [_word(k)]), align=8)


def _permuted(builder: Any, parts: Any, index: Any) -> Any:
    """The bytes of one or two vectors that ``index`` names."""
    first, *second = (builder.bitcast(part, _BYTES) for part in parts)
    name = "vpermi2var" if second else "permvar"
    return _call(builder, f"x86.avx512.{name}.qi.512", _BYTES, first, index, *second)


def _load_some(builder: Any, place: Any, inside: Any) -> Any:
    """Eight words, of which those outside are zero, and not looked at."""
    aligned = ir.Constant(ir.IntType(32), 8)
    return _call(builder, "masked.load.v8i64.p0", _EIGHT, place, aligned, inside, _NOTHING)


def _reordered(builder: Any, words: Any, order: Any) -> Any:
    octets = builder.bitcast(words, _BYTES)
    return builder.bitcast(_shuffled(builder, octets, octets, order), _EIGHT)


@intrinsic
def _scratch(_typingctx: Any, like: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        vectors = ir.ArrayType(_EIGHT, 5 * len(like))
        work = cgutils.alloca_once(builder, vectors)
        work.align = 64
        builder.store(ir.Constant(vectors, None), work)
        return builder.bitcast(work, _WORD.as_pointer())

    return types.CPointer(types.uint64)(like), codegen


@intrinsic
def _take_rows(_typingctx: Any, work: Any, rows: Any, first: Any, like: Any) -> Any:
    n = len(like)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ((start, _),) = _rows(context, builder, [rows], [args[1]], [args[2]])
        view = context.make_array(rows)(context, builder, args[1])
        left = builder.sub(builder.extract_value(view.shape, 0), args[2])
        left = _splat(builder, builder.mul(left, _word(n)), 8)
        vectors = []
        for k in range(n):
            order = ir.Constant(_EIGHT, list(range(8 * k, 8 * k + 8)))
            inside = builder.icmp_signed("<", order, left)
            vectors.append(_load_some(builder, _vector_at(builder, start, 8 * k, _EIGHT), inside))
        tiles = []
        for k in range(n):
            places = [divmod(n * r + k, 8) for r in range(8)]  # of word k of each row
            words = vectors[0]
            for v in range(n):
                order = [8 + q if v == vector else r for r, (vector, q) in enumerate(places)]
                words = _shuffled(builder, words, vectors[v], order)
            tiles.append(_reordered(builder, words, _TURN))
        _Work(builder, args[0], n).store(TILES, tiles)
        return context.get_dummy_value()

    return types.void(work, rows, types.int64, like), codegen


@intrinsic
def _walk(_typingctx: Any, table: Any, work: Any, like: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = _Work(builder, args[1], len(like))
        change = held.changes()
        factors = builder.bitcast(held.place(TILES), _WORD.as_pointer())
        totals = [cgutils.alloca_once_value(builder, _NOTHING) for _ in like]
        view = context.make_array(table)(context, builder, args[0])
        with cgutils.for_range(builder, builder.extract_value(view.shape, 0)) as loop:
            row = builder.bitcast(view.data, _EIGHT.as_pointer())
            row = builder.gep(row, [builder.mul(loop.index, _word(len(like)))])
            values = change(_load(builder, row, len(like)))
            _store(builder, row, values)
            tile = _splat(builder, builder.load(builder.gep(factors, [loop.index])), 8)
            for value, total in zip(values, totals, strict=True):
                summand = _times(builder, tile, value)
                builder.store(builder.xor(builder.load(total), summand), total)
        held.store(TOTALS, [builder.load(total) for total in totals])
        return context.get_dummy_value()

    return types.void(table, work, like), codegen


@intrinsic
def _settle(_typingctx: Any, work: Any, like: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = _Work(builder, args[0], len(like))
        summands = [_reordered(builder, lane, _TURN) for lane in held.load(LANES)]
        held.store(MAPS, [_transposed(builder, summand) for summand in summands])
        values = held.changes()([_transposed(builder, total) for total in held.load(TOTALS)])
        tiles = [_transposed(builder, value) for value in values]
        held.store(LANES, [_reordered(builder, tile, _TURN_BACK) for tile in tiles])
        return context.get_dummy_value()

    return types.void(work, like), codegen


@intrinsic
def _lane(_typingctx: Any, work: Any, r: Any, like: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = builder.gep(args[0], [args[1]])
        places = [builder.gep(first, [_word(8 * k)]) for k in range(len(like))]
        return context.make_tuple(builder, like, [builder.load(place) for place in places])

    return like(work, types.int64, like), codegen


@intrinsic
def _change_lanes(_typingctx: Any, work: Any, own: Any, mask: Any, add: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = _Work(builder, args[0], len(mask))
        lanes = held.load(LANES)
        bits, adds = ([_splat(builder, w, 8) for w in _words(builder, a, mask)] for a in args[2:])
        common = [builder.and_(*pair) for pair in zip(lanes, bits, strict=True)]
        number = _call(builder, "ctpop.v8i64", _EIGHT, reduce(builder.xor, common))
        odd = builder.trunc(number, ir.VectorType(ir.IntType(1), 8))
        own = builder.bitcast(builder.trunc(args[1], _OCTET), odd.type)
        changed = []
        for lane, summand in zip(lanes, adds, strict=True):
            total = builder.xor(lane, builder.select(odd, summand, _NOTHING))
            changed.append(builder.select(own, summand, total))
        held.store(LANES, changed)
        return context.get_dummy_value()

    return types.void(work, types.int64, mask, add), codegen


@intrinsic
def _note(_typingctx: Any, work: Any, r: Any, high: Any, low: Any, single: Any, like: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = _Work(builder, args[0], len(like))
        names = builder.bitcast(held.place(NAMES), _OCTET.as_pointer())
        names = builder.gep(names, [builder.sub(_word(7), args[1])])

        def put(word: int, value: Any) -> None:
            octet = builder.trunc(value, _OCTET)
            builder.store(octet, builder.gep(names, [_word(8 * word)]))

        high, low, single = args[2:5]
        put(0, high)
        put(1, low)
        if len(like) > 2:
            put(2, builder.lshr(high, _word(7)))
            single = builder.or_(single, builder.lshr(low, _word(7)))
        put(3, single)
        return context.get_dummy_value()

    number = types.uint64
    return types.void(work, types.int64, number, number, number, like), codegen


def matrix(table: Any) -> Any:
    """All bits of a table: a row for each entry."""
    octets = np.ascontiguousarray(table).astype("<u8").view(np.uint8)
    return np.unpackbits(octets[:, np.arange(octets.shape[1]) ^ 7], axis=0, bitorder="little")


def table_of(bits: Any) -> Any:
    """The table whose matrix is ``bits``."""
    octets = np.packbits(bits, axis=0, bitorder="little")[:, np.arange(bits.shape[1]) ^ 7]
    return np.ascontiguousarray(octets).view("<u8").astype(np.uint64)


def _tile_bits(tiles: Any) -> Any:
    """The rows of tiles, last row first in memory, bit by bit."""
    octets = tiles.astype("<u8").view(np.uint8).reshape(-1, 8)[:, ::-1]
    bits = np.unpackbits(octets, axis=1, bitorder="little").reshape(len(tiles), 8, 8)
    return bits.transpose(1, 0, 2).reshape(8, -1)


def _bit_tiles(bits: Any) -> Any:
    octets = np.packbits(bits, axis=1, bitorder="little").T[:, ::-1]
    return np.ascontiguousarray(octets).view("<u8")[:, 0].astype(np.uint64)


def _lane_bits(lanes: Any) -> Any:
    """Lanes bit by bit: a row for each."""
    words = np.ascontiguousarray(lanes.reshape(-1, 8).T).astype("<u8")
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")


def _bit_lanes(bits: Any) -> Any:
    words = np.packbits(bits, axis=1, bitorder="little").view("<u8")
    return words.T.reshape(-1).astype(np.uint64)


def _changed(work: Any, bits: Any) -> Any:
    """What the changes of eight rows make of entries, bit by bit."""
    index, pair = work[NAMES, :4].astype("<u8").view(np.uint8).reshape(2, 2, 8)[..., ::-1]
    odd = np.zeros((len(bits), 8), np.uint8)
    for places, pairs in zip(index, pair, strict=True):
        columns = 128 * pairs.astype(np.int64) + (places & 127)
        known = columns < bits.shape[1]
        odd[:, known] ^= bits[:, columns[known]]
    return bits ^ (odd.astype(np.int64) @ matrix(work[MAPS][None]) & 1).astype(np.uint8)


def _scratch_python(like: Any) -> Any:
    return np.zeros((5, 8 * len(like)), np.uint64)


def _take_rows_python(work: Any, rows: Any, first: int, like: Any) -> None:
    chosen = np.zeros((8, rows.shape[1]), np.uint64)
    some = rows[first : first + 8]
    chosen[: len(some)] = some
    work[TILES] = _bit_tiles(
        np.unpackbits(chosen.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    )


def _walk_python(table: Any, work: Any, like: Any) -> None:
    entries = _changed(work, matrix(table))
    table[:] = table_of(entries)
    rows = _tile_bits(work[TILES])[:, : len(entries)]
    product = (rows.astype(np.int64) @ entries & 1).astype(np.uint8)
    work[TOTALS] = _bit_tiles(product)


def _settle_python(work: Any, like: Any) -> None:
    work[MAPS] = table_of(_lane_bits(work[LANES]))[0]
    work[LANES] = _bit_lanes(_changed(work, _tile_bits(work[TOTALS])))


def _lane_python(work: Any, r: int, like: Any) -> Any:
    return tuple(work[LANES, r % 8 :: 8])


def _change_lanes_python(work: Any, own: int, mask: Any, add: Any) -> None:
    lanes = work[LANES].reshape(-1, 8)
    common = np.bitwise_xor.reduce(lanes & np.array(mask, np.uint64)[:, None])
    odd = np.array([int(word).bit_count() & 1 for word in common], bool)
    summand = np.array(add, np.uint64)
    lanes[:, odd] ^= summand[:, None]
    lanes[:, own.bit_length() - 1] = summand


def _note_python(work: Any, r: int, high: Any, low: Any, single: Any, like: Any) -> None:
    octets = work[NAMES, :4].astype("<u8").view(np.uint8)
    octets[7 - r :: 8] = [
        int(value) & 255 for value in (high, low, int(high) >> 7, int(low) >> 7 | int(single))
    ]
    work[NAMES, :4] = octets.view("<u8")


scratch: Any = _scratch_python if _PYTHON else _scratch
"""``scratch(like)``: room for rows of so many words, empty."""

take_rows: Any = _take_rows_python if _PYTHON else _take_rows
"""``take_rows(work, rows, first, like)``: take in the tiles of eight rows from ``first`` on, or of
zeros where there are no more."""

walk: Any = _walk_python if _PYTHON else _walk
"""``walk(table, work, like)``, one pass: make the changes of the rows before in all entries, then
find the totals of the rows behind, sums of the entries that they name."""

settle: Any = _settle_python if _PYTHON else _settle
"""``settle(work, like)``: the rows in the lanes are in place, so they become those before; the rows
behind come to the lanes, changed as all entries will be."""

lane: Any = _lane_python if _PYTHON else _lane
"""``lane(work, r, like)``: the coordinates of row r; anything for one past the last."""

change_lanes: Any = _change_lanes_python if _PYTHON else _change_lanes
"""``change_lanes(work, own, mask, add)``: add ``add`` to the lanes with an odd number of bits of
``mask``, and let the lane of the only bit of ``own`` be it."""

note: Any = _note_python if _PYTHON else _note
"""``note(work, r, high, low, single, like)``: the places of row r are ``high`` and, unless
``single`` has all bits set, ``low``."""
