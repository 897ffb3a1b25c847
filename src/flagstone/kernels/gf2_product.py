"""Products over GF(2) on packed rows: sums of the rows that bits name, and bits picked out of rows.

The sums go through tables of all sums of a few neighbouring rows (the "method of the four
Russians"), small enough to stay in the first cache while a portion of the result passes by.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import aligned_zeros, helper, jit
from flagstone.kernels._lanes import add_named_rows
from flagstone.kernels._llvm import byte_at, leading_zeros, trailing_zeros
from flagstone.kernels._tiles import AVAILABLE, map_tiles, set_product, take_row, tile_rows

Words = NDArray[np.uint64]

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_BYTE = np.uint64(255)
#: Fewer names than this are not worth tables; so many go through each set of tables at a time.
_FEW, _PORTION = 24, 1024
#: Columns go by two vectors of 256 bits.
LANES = (0, 0)


class Columns(NamedTuple):
    """Some columns of packed rows, and how they close up within each word.

    A bit with s unpicked ones below it moves by each power of two in s, small powers first, and
    never meets another. ``masks[k]``: the bits of word k that move by 1, 2, 4, …, 32, and those
    that are picked; ``starts[k]``: where they begin in the result.
    """

    masks: Words
    starts: NDArray[np.int64]
    number: int


def choose(columns: NDArray[np.int64], width: int) -> Columns:
    """Rising ``columns`` of rows of ``width`` words."""
    masks = np.zeros((width, 7), np.uint64)
    starts = np.searchsorted(columns, 64 * np.arange(width))
    _choose(columns, masks, starts)
    return Columns(masks, starts, len(columns))


@jit
def _choose(columns: Any, masks: Any, starts: Any) -> None:
    for index in range(len(columns)):
        word = columns[index] >> 6
        place = columns[index] & 63
        shift = place - (index - starts[word])
        masks[word, 6] |= _ONE << np.uint64(place)
        for power in range(6):
            if shift >> power & 1:
                masks[word, power] |= _ONE << np.uint64(place)
                place -= 1 << power


def pick(rows: Words, chosen: Columns) -> Words:
    """The chosen columns of packed ``rows``, side by side."""
    result = np.zeros((len(rows), max(1, -(-chosen.number // 64))), np.uint64)
    _pick(rows, chosen.masks, chosen.starts, result)
    return result


@jit
def _pick(rows: Any, masks: Any, starts: Any, result: Any) -> None:
    for k in range(rows.shape[1]):
        if masks[k, 6] != _NONE:
            word = starts[k] >> 6
            shift = np.uint64(starts[k] & 63)
            last = min(word + 1, result.shape[1] - 1)  # nothing is left over for a word beyond
            whole = masks[k, 6] == ~_NONE
            for i in range(len(rows)):
                bits = rows[i, k] & masks[k, 6]
                if not whole:
                    for power in range(6):
                        moving = bits & masks[k, power]
                        bits = bits ^ moving | moving >> np.uint64(1 << power)
                result[i, word] |= bits << shift
                result[i, last] |= bits >> _ONE >> (np.uint64(63) - shift)


def place(rows: Words, places: NDArray[Any]) -> NDArray[Any]:
    """``places[k]`` for each row, where k columns reach up to its last bit; 0 of them if none."""
    found = np.empty(len(rows), places.dtype)
    _place(np.ascontiguousarray(rows), places, found)
    return found


@jit
def _place(rows: Any, places: Any, found: Any) -> None:
    for i in range(len(rows)):
        k = rows.shape[1] - 1
        while k > 0 and rows[i, k] == _NONE:
            k -= 1
        found[i] = places[64 * k + 64 - leading_zeros(rows[i, k])]


def add_named(names: Words, rows: Words, result: Words) -> None:
    """Add ``rows[j]`` to ``result[i]`` wherever ``names[i]`` has bit j."""
    names = np.ascontiguousarray(names)
    if len(names) < _FEW:
        _add_few(names, rows, result)
    elif names.shape[1] == rows.shape[1] == 1:
        _add_words(names, rows, result)
    elif rows.shape[1] <= 2:
        _add_narrow(names, rows, result)
    elif AVAILABLE:
        _add_tiles(names, rows, result, aligned_zeros((rows.shape[1], 64 * names.shape[1])))
    else:
        padded = _padded(result)
        _add_wide(names, _padded(rows), padded)
        if padded is not result:
            result[:] = padded[:, : result.shape[1]]


def _padded(rows: Words) -> Words:
    """The rows, filled up to a multiple of 512 columns where they are not."""
    if rows.shape[1] % 8 == 0:
        return rows
    padded = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), np.uint64)
    padded[:, : rows.shape[1]] = rows
    return padded


@jit
def _add_few(names: Any, rows: Any, result: Any) -> None:
    """Row by row: tables would not pay."""
    for i in range(len(names)):
        for word in range(names.shape[1]):
            bits = names[i, word]
            while bits != _NONE:
                j = 64 * word + trailing_zeros(bits)
                for k in range(result.shape[1]):
                    result[i, k] ^= rows[j, k]
                bits &= bits - _ONE


@jit
def _add_words(names: Any, rows: Any, result: Any) -> None:
    """One word each: eight look-ups, written out, are twice as fast as a loop over them."""
    tables = np.zeros((8, 256), np.uint64)
    for octet in range((len(rows) + 7) // 8):
        for byte in range(1, 256):
            low = byte & -byte
            j = 8 * octet + trailing_zeros(np.uint64(low))
            tables[octet, byte] = tables[octet, byte ^ low]
            if j < len(rows):
                tables[octet, byte] ^= rows[j, 0]
    for i in range(len(names)):
        word = names[i, 0]
        result[i, 0] ^= (
            tables[0, word & _BYTE]
            ^ tables[1, word >> np.uint64(8) & _BYTE]
            ^ tables[2, word >> np.uint64(16) & _BYTE]
            ^ tables[3, word >> np.uint64(24) & _BYTE]
            ^ tables[4, word >> np.uint64(32) & _BYTE]
            ^ tables[5, word >> np.uint64(40) & _BYTE]
            ^ tables[6, word >> np.uint64(48) & _BYTE]
            ^ tables[7, word >> np.uint64(56)]
        )


@jit
def _add_narrow(names: Any, rows: Any, result: Any) -> None:
    """All tables at once; for up to 64 rows they fit the first cache."""
    width = rows.shape[1]
    octets = (len(rows) + 7) // 8
    tables = np.zeros((octets, 256, width), np.uint64)
    for octet in range(octets):
        for byte in range(1, 256):
            low = byte & -byte
            j = 8 * octet + trailing_zeros(np.uint64(low))
            for k in range(width):
                tables[octet, byte, k] = tables[octet, byte ^ low, k]
                if j < len(rows):
                    tables[octet, byte, k] ^= rows[j, k]
    for i in range(len(names)):
        for k in range(width):
            total = result[i, k]
            for octet in range(octets):
                total ^= tables[octet, byte_at(names, i, octet), k]
            result[i, k] = total


@jit
def _add_wide(names: Any, rows: Any, result: Any) -> None:
    """The 64 rows of one word of names by fours, 512 columns at a time."""
    tables = np.zeros((256, 8), np.uint64)
    for first in range(0, len(names), _PORTION):
        for start in range(0, rows.shape[1], 8):
            for word in range((len(rows) + 63) // 64):
                _tabulate(tables, rows, 64 * word, start)
                for i in range(first, min(first + _PORTION, len(names))):
                    add_named_rows(result, i, start, tables, 0, names[i, word], LANES)


@jit
def _add_tiles(names: Any, rows: Any, result: Any, maps: Any) -> None:
    """By tiles, 32 names at a time; room for the tiles of ``rows`` is in ``maps``."""
    width = rows.shape[1]
    eight = np.zeros((8, width), np.uint64)
    turned = np.zeros((1, 8 * width), np.uint64)
    for octet in range((len(rows) + 7) // 8):
        for r in range(8):
            for k in range(width):
                eight[r, k] = rows[8 * octet + r, k] if 8 * octet + r < len(rows) else _NONE
        tile_rows(turned, 0, eight, 0, 7)
        map_tiles(turned, 0, turned, 0)
        for k in range(width):
            for j in range(8):
                maps[k, 8 * octet + j] = turned[0, 8 * k + j]
    tiles = np.empty((4, 8 * names.shape[1]), np.uint64)
    used = np.arange((len(rows) + 7) // 8)
    product = np.empty((4, 8 * width), np.uint64)
    summands = np.empty((32, width), np.uint64)
    for first in range(0, len(names), 32):
        for g in range(4):
            tile_rows(tiles, g, names, first + 8 * g, len(names) - 1)
        set_product(product, 0, tiles, 0, maps, used, len(used), (0, 0, 0, 0))
        for s in range(32):
            take_row(summands, s, product, s >> 3, s & 7)
        for i in range(first, min(first + 32, len(names))):
            for k in range(width):
                result[i, k] ^= summands[i - first, k]


@helper
def _tabulate(tables: Any, rows: Any, first: int, start: int) -> None:
    """Sums of fours of the 64 rows from ``first`` on, in eight words from ``start`` on."""
    for j in range(64):
        known = 16 * (j >> 2)
        size = 1 << (j & 3)
        for k in range(known, known + size):
            for word in range(8):
                row = rows[first + j, start + word] if first + j < len(rows) else _NONE
                tables[k + size, word] = tables[k, word] ^ row
