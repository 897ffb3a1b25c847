"""Eight rows against a coordinate map of a few words in tiles of 8 × 8 bits, all in registers.

Row o of a table has what eight entries, 8·o and on, say: a vector of eight tiles, as maps (see
:mod:`flagstone.kernels._tiles`), for each word. So a column of these entries is a byte, and any
eight columns of them are one permutation of bytes.

What ``scratch`` makes has a row of vectors for each of

- ``LANES``: the coordinates of eight rows, one beside the other; of those that are in place, what
  the others add that have a coordinate in their places;
- ``MAPS``: the lanes of the eight rows before, as maps;
- ``TILES``: the tiles of the eight rows behind;
- ``TOTALS``: the tiles of their coordinates.

What ``nameless`` makes is for the places of eight rows, a byte of a word for each row: one place
of each; or two, and whether the second one does not count; then, with more than four words, what
of the places no byte holds.

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

LANES, MAPS, TILES, TOTALS = range(4)

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

    def changes(self, names: list[Any]) -> Any:
        """A function of the vectors of eight entries."""
        builder, maps, two = self.builder, self.load(MAPS), len(names) > 2

        def octets(words: list[Any]) -> Any:
            both = builder.insert_element(_splat(builder, words[0], 2), words[-1], _word(1))
            return builder.bitcast(_shuffled(builder, both, both, [0, 1] * 4), _BYTES)

        def every(value: int) -> Any:
            return ir.Constant(_BYTES, [value] * 64)

        places = octets(names[: 1 + two])
        index = builder.xor(places, every(7))  # the last of eight comes first
        pair = builder.lshr(places, every(7))  # of words
        if self.n > 4:
            far = octets(names[-1 - two :])
            pair = builder.or_(pair, builder.shl(far, every(1)))
        if two:
            pair = builder.or_(pair, octets([_word(0), names[2]]))
        here = [
            builder.icmp_unsigned("==", pair, every(start // 2)) for start in range(0, self.n, 2)
        ]

        def change(values: list[Any]) -> list[Any]:
            columns = every(0)
            for k, mask in enumerate(here):
                named = _permuted(builder, values[2 * k : 2 * k + 2], index)
                columns = builder.select(mask, named, columns)
            sums = builder.bitcast(columns, _EIGHT)
            if two:
                others = _shuffled(builder, sums, sums, [1, 0, 3, 2, 5, 4, 7, 6])
                sums = builder.xor(sums, others)
            odd = _transposed(builder, sums)
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
        vectors = ir.ArrayType(_EIGHT, 4 * len(like))
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
def _walk(_typingctx: Any, table: Any, work: Any, names: Any, like: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = _Work(builder, args[1], len(like))
        change = held.changes(_words(builder, args[2], names))
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

    return types.void(table, work, names, like), codegen


@intrinsic
def _settle(_typingctx: Any, work: Any, names: Any, like: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = _Work(builder, args[0], len(like))
        summands = [_reordered(builder, lane, _TURN) for lane in held.load(LANES)]
        held.store(MAPS, [_transposed(builder, summand) for summand in summands])
        change = held.changes(_words(builder, args[1], names))
        values = change([_transposed(builder, total) for total in held.load(TOTALS)])
        tiles = [_transposed(builder, value) for value in values]
        held.store(LANES, [_reordered(builder, tile, _TURN_BACK) for tile in tiles])
        return context.get_dummy_value()

    return types.void(work, names, like), codegen


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
        own = builder.bitcast(builder.trunc(args[1], _OCTET), ir.VectorType(ir.IntType(1), 8))
        odd = builder.or_(builder.trunc(number, own.type), own)
        kept = [builder.select(own, _NOTHING, lane) for lane in lanes]
        added = [builder.select(odd, add, _NOTHING) for add in adds]
        held.store(LANES, [builder.xor(*pair) for pair in zip(kept, added, strict=True)])
        return context.get_dummy_value()

    return types.void(work, types.int64, mask, add), codegen


@intrinsic
def _nameless(_typingctx: Any, weights: Any, like: Any) -> Any:
    two = isinstance(weights, types.NoneType)
    names = types.UniTuple(types.uint64, _size_of_names(two, len(like)))

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.make_tuple(builder, names, [_word(0)] * len(names))

    return names(weights, like), codegen


@intrinsic
def _named(_typingctx: Any, names: Any, high: Any, low: Any, single: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words, two = _words(builder, args[0], names), len(names) > 2
        added = list(args[1:4] if two else args[1:2])
        added += [builder.lshr(place, _word(8)) for place in added[: len(names) - len(added)]]
        words = [
            builder.or_(builder.shl(word, _word(8)), builder.and_(octet, _word(255)))
            for word, octet in zip(words, added, strict=True)
        ]
        return context.make_tuple(builder, names, words)

    number = types.uint64
    return names(names, number, number, number), codegen


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


def _changed(work: Any, names: Any, bits: Any) -> Any:
    """What the changes of eight rows make of entries, bit by bit."""
    octets = np.array(names, "<u8").view(np.uint8).reshape(-1, 8)[:, ::-1].astype(np.int64)
    two = len(names) > 2
    odd = np.zeros((len(bits), 8), np.uint8)
    for i in range(1 + two):
        columns = octets[i] + (256 * octets[i - 1 - two] if bits.shape[1] > 256 else 0)
        known = octets[2] == 0 if i else columns < bits.shape[1]
        odd[:, known] ^= bits[:, columns[known]]
    return bits ^ (odd.astype(np.int64) @ matrix(work[MAPS][None]) & 1).astype(np.uint8)


def _scratch_python(like: Any) -> Any:
    return np.zeros((4, 8 * len(like)), np.uint64)


def _take_rows_python(work: Any, rows: Any, first: int, like: Any) -> None:
    chosen = np.zeros((8, rows.shape[1]), np.uint64)
    some = rows[first : first + 8]
    chosen[: len(some)] = some
    work[TILES] = _bit_tiles(
        np.unpackbits(chosen.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    )


def _walk_python(table: Any, work: Any, names: Any, like: Any) -> None:
    entries = _changed(work, names, matrix(table))
    table[:] = table_of(entries)
    rows = _tile_bits(work[TILES])[:, : len(entries)]
    product = (rows.astype(np.int64) @ entries & 1).astype(np.uint8)
    work[TOTALS] = _bit_tiles(product)


def _settle_python(work: Any, names: Any, like: Any) -> None:
    work[MAPS] = table_of(_lane_bits(work[LANES]))[0]
    work[LANES] = _bit_lanes(_changed(work, names, _tile_bits(work[TOTALS])))


def _lane_python(work: Any, r: int, like: Any) -> Any:
    return tuple(work[LANES, r % 8 :: 8])


def _change_lanes_python(work: Any, own: int, mask: Any, add: Any) -> None:
    lanes = work[LANES].reshape(-1, 8)
    common = np.bitwise_xor.reduce(lanes & np.array(mask, np.uint64)[:, None])
    odd = np.array([int(word).bit_count() & 1 for word in common], bool)
    summand = np.array(add, np.uint64)
    lanes[:, odd] ^= summand[:, None]
    lanes[:, own.bit_length() - 1] = summand


def _named_python(names: Any, high: Any, low: Any, single: Any) -> Any:
    added = [int(high), int(low), int(single)] if len(names) > 2 else [int(high)]
    added += [place >> 8 for place in added[: len(names) - len(added)]]
    octets = (np.uint64(octet & 255) for octet in added)
    return tuple(word << np.uint64(8) | octet for word, octet in zip(names, octets, strict=True))


def _nameless_python(weights: Any, like: Any) -> Any:
    return (np.uint64(0),) * _size_of_names(weights is None, len(like))


def _size_of_names(two: bool, n: int) -> int:
    return (5 if two else 2) if n > 4 else (3 if two else 1)


scratch: Any = _scratch_python if _PYTHON else _scratch
"""``scratch(like)``: room for rows of so many words, empty."""

take_rows: Any = _take_rows_python if _PYTHON else _take_rows
"""``take_rows(work, rows, first, like)``: take in the tiles of eight rows from ``first`` on, or of
zeros where there are no more."""

walk: Any = _walk_python if _PYTHON else _walk
"""``walk(table, work, names, like)``, one pass: make the changes of the rows before in all entries,
then find the totals of the rows behind, sums of the entries that they name."""

settle: Any = _settle_python if _PYTHON else _settle
"""``settle(work, names, like)``: the rows in the lanes are in place, so they become those before;
the rows behind come to the lanes, changed as all entries will be."""

lane: Any = _lane_python if _PYTHON else _lane
"""``lane(work, r, like)``: the coordinates of row r; anything for one past the last."""

change_lanes: Any = _change_lanes_python if _PYTHON else _change_lanes
"""``change_lanes(work, own, mask, add)``: add ``add`` to the lanes with an odd number of bits of
``mask``, and let the lane of the only bit of ``own`` be it."""

nameless: Any = _nameless_python if _PYTHON else _nameless
"""``nameless(weights, like)``: room for places, one for each row with a weight, two without."""

named: Any = _named_python if _PYTHON else _named
"""``named(names, high, low, single)``: the places of the rows so far, and of one more: ``high``,
and if there is room for two, ``low``, unless ``single`` has all bits set."""
