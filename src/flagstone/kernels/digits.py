"""From lines of hexadecimal digits or bits straight to packed rows.

Only plain lines are read here: ``{41}``, one prefix, digits with blanks, ``_`` or one separator
between bytes, a comment. Every other line is named, and whoever asks reads it with care. A line
that looks like the one before, digits aside, is read eight characters at a time.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import inline, jit
from flagstone.kernels._llvm import word_at

_BLANK, _FILLER, _SEPARATOR, _END, _OTHER = 16, 17, 18, 19, 20
_LINE, _HASH, _SLASH, _SEMICOLON, _BRACE, _BRACE_END = 10, 35, 47, 59, 123, 125
_NONE, _ONE = np.uint64(0), np.uint64(1)
#: Eight characters 0, what must not differ from them in eight bits, and how bits are gathered.
_ZEROS, _NOT_A_BIT = np.uint64(0x3030303030303030), np.uint64(0xFEFEFEFEFEFEFEFE)
_BYTE, _PAIR = np.uint64(0xFF), np.uint64(0xFFFF)
_LOWEST, _GATHER = np.uint64(0x0101010101010101), np.uint64(0x0102040810204080)
#: Bytes of a line whose shape is kept, to read lines of the same shape faster.
_LONGEST = 4096


class Classes(NamedTuple):
    """What bytes are: each alone, two of them, the bits of a digit, the x of 0x."""

    table: NDArray[np.uint8]  #: below 16 for a digit, whose bits are turned around
    pairs: NDArray[np.uint16]  #: the same for two digits, above 255 for anything else
    width: int
    prefix: int


@functools.cache
def classes(digits: bytes, width: int, prefix: bytes) -> Classes:
    """Return the classes of a notation: its digits, the bits of each, and what may come first."""
    table = np.full(256, _OTHER, dtype=np.uint8)
    table[list(b" \t\r\v\f")] = _BLANK
    table[ord("_")] = _FILLER
    table[list(b":,;-")] = _SEPARATOR
    table[ord("\n")] = _END
    for digit in digits:
        text = f"{int(bytes([digit]), 16):0{width}b}"
        table[digit] = int(text[::-1], 2)
    low, high = table.astype(np.uint16), table.astype(np.uint16)[:, np.newaxis]
    pairs = np.where((low < 16) & (high < 16), low | high << width, 1 << 15)
    return Classes(table, pairs.astype(np.uint16).reshape(-1), width, prefix[1])


def parse(
    block: bytes, line: int, kinds: Classes, n_bits: int, fields: int, keep_only: bool
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], int, int]:
    """Read whole lines, the first of which has the number ``line``.

    Returns the packed rows of ``n_bits`` bits, the line of each, the hard lines (line,
    start, stop), the rows of another length (if only those of ``n_bits`` are to be kept; they are
    hard otherwise), and the number of lines.
    """
    if not block.endswith(b"\n"):
        block += b"\n"
    text = np.frombuffer(block, dtype=np.uint8)
    n_lines = _count(text)
    words = np.zeros((n_lines, -(-n_bits // 64)), dtype=np.uint64)
    lines = np.empty(n_lines, dtype=np.int64)
    hard = np.empty((n_lines, 3), dtype=np.int64)
    n_rows, n_hard, skipped = _parse(
        text, line, *kinds, n_bits, fields, keep_only, words, lines, hard
    )
    return words[:n_rows], lines[:n_rows], hard[:n_hard], skipped, n_lines


@jit
def _count(text: Any) -> int:
    n_lines = 0
    for c in text:
        n_lines += c == _LINE
    return n_lines


@jit
def _parse(
    text: Any, number: int, table: Any, pairs: Any, width: int, prefix: int, n_bits: int,
    fields: int, keep_only: bool, words: Any, lines: Any, hard: Any,
) -> Any:  # fmt: skip
    n_rows = n_hard = skipped = p = 0
    n_words = words.shape[1]
    unused = np.uint64(64 * n_words - n_bits)
    octets = words.reshape(-1).view(np.uint8)
    length = last = 0  # the bytes of a line that the next may look like; digits of its last octet
    fixed = np.empty((_LONGEST // 8 + 2, 3), np.uint64)
    places = np.empty(-(-n_bits // 8), np.int64)
    while p < len(text):
        start = p
        if length > 0:
            n_alike = _alike(
                text, p, length, pairs, width, n_bits, last, fixed, places, octets, n_rows
            )
            for i in range(n_alike):
                lines[n_rows + i] = number + i
            n_rows += n_alike
            number += n_alike
            p += n_alike * length
            length = 0
            continue
        while table[text[p]] == _BLANK:
            p += 1
        if text[p] == _LINE or _comments(text, p):
            while text[p] != _LINE:
                p += 1
            p += 1
            number += 1
            continue
        easy = True
        for _ in range(fields):
            while table[text[p]] != _BLANK and text[p] != _LINE:
                p += 1
            while table[text[p]] == _BLANK:
                p += 1
            easy = easy and not _comments(text, p)
        announced = -1
        if text[p] == _BRACE:
            p += 1
            announced = 0
            first = p
            while 48 <= text[p] <= 57 and p - first < 9:
                announced = 10 * announced + int(text[p]) - 48
                p += 1
            if announced == 0 or text[p] != _BRACE_END:
                easy = False
            else:
                p += 1
                while table[text[p]] == _BLANK:
                    p += 1
        if text[p] == 48 and (text[p + 1] | 32) == prefix:
            p += 2
        digits = run = separator = shift = k = 0
        gaps = False  # a blank between digits
        word = _NONE
        value = np.uint8(0)
        while easy:
            v = table[text[p]]
            if v < _BLANK:
                value = v
                word |= np.uint64(v) << np.uint64(shift)
                shift += width
                run += 1
                p += 1
                if shift == 64:
                    if k < n_words:
                        words[n_rows, k] = word
                    k += 1
                    shift = 0
                    word = _NONE
            elif v == _END:
                break
            elif v == _FILLER:
                p += 1
            elif v == _BLANK:
                while table[text[p]] == _BLANK:
                    p += 1
                if _comments(text, p):
                    break
                v = table[text[p]]
                gaps = gaps or (run > 0 and v != _END and v != _SEPARATOR)
            elif v == _SEPARATOR and run > 0:
                if separator == 0:
                    separator = text[p]
                easy = separator == text[p] and (width == 1 or run % 2 == 0)
                digits += run
                run = 0
                p += 1
                while table[text[p]] == _BLANK:
                    p += 1
                easy = easy and table[text[p]] < _BLANK
            else:
                easy = False
        digits += run
        semicolons = 0
        while text[p] != _LINE:
            semicolons += text[p] == _SEMICOLON
            p += 1
        p += 1
        # a comment that goes on like bytes between semicolons is for the careful reader
        easy = easy and digits > 0 and semicolons < 2
        if separator != 0 and (gaps or (width > 1 and run % 2 == 1 and announced < 0)):
            easy = False
        held = width * digits
        wanted = held if announced < 0 else announced
        left = held - wanted  # bits past the length, which must be zeros
        if easy and wanted == n_bits and held <= 64 * n_words:
            if shift > 0:
                words[n_rows, k] = word
            word = words[n_rows, n_words - 1]
            if left >= 0 and (word << unused) >> unused == word:
                lines[n_rows] = number
                n_rows += 1
                number += 1
                if fields == 0 and p - start <= _LONGEST and held <= 8 * len(places):
                    length = _shape(text, start, p, table, width, digits, fixed, places)
                    last = digits - (len(places) - 1) * (8 // width)
                continue
            easy = False
        for i in range(n_words):
            words[n_rows, i] = _NONE
        if left != 0:
            easy = easy and 0 < left < width and value >> np.uint8(width - left) == 0
        if easy and keep_only and wanted != n_bits:
            skipped += 1
        else:
            hard[n_hard, 0] = number
            hard[n_hard, 1] = start
            hard[n_hard, 2] = p - 1
            n_hard += 1
        number += 1
    return n_rows, n_hard, skipped


@jit
def _shape(
    text: Any, start: int, stop: int, table: Any, width: int, n: int, fixed: Any, places: Any
) -> Any:
    """Note how a line is made: where each octet of its bits begins, and what stands elsewhere.

    The latter as (place, mask, bytes under the mask), the last mask being 0. Returns the length of
    the line, or 0 where the digits of an octet do not stand side by side, or a comment has some.
    """
    n_fixed = digits = 0
    inside = False  # a length in braces
    for i in range(stop - start):
        c = text[start + i]
        inside = (inside or c == _BRACE) and c != _BRACE_END
        marks = c == 48 and table[text[start + i + 1]] == _OTHER  # the 0 of 0x
        if table[c] < _BLANK and not inside and not marks:
            octet, part = divmod(width * digits, 8)
            if digits == n:
                return 0
            if part == 0:
                places[octet] = i
            elif places[octet] != i - part // width:
                return 0
            digits += 1
        else:
            if n_fixed == 0 or i >= np.int64(fixed[n_fixed - 1, 0]) + 8:
                fixed[n_fixed] = _NONE
                fixed[n_fixed, 0] = i
                n_fixed += 1
            shift = np.uint64(8 * (i - np.int64(fixed[n_fixed - 1, 0])))
            fixed[n_fixed - 1, 1] |= _BYTE << shift
            fixed[n_fixed - 1, 2] |= np.uint64(c) << shift
    fixed[n_fixed] = _NONE
    return stop - start


@jit
def _alike(
    text: Any, p: int, length: int, pairs: Any, width: int, n_bits: int, last: int, fixed: Any,
    places: Any, octets: Any, row: int,
) -> Any:  # fmt: skip
    """Read lines of a known shape, as many as follow each other; return their number."""
    n_octets = len(places)
    per_row = (n_octets + 7) // 8 * 8
    first = row
    kept = ~_NONE if last == 8 else (_ONE << np.uint64(8 * last)) - _ONE
    zeros = _ZEROS & ~kept
    over = _BYTE << np.uint64(n_bits % 8) & _BYTE if n_bits % 8 else _NONE  # past the length
    quads, n_quads = octets.view(np.uint32), 0  # octets whose digits stand side by side
    while 4 * n_quads + 4 < n_octets and places[4 * n_quads + 3] == places[4 * n_quads] + 6:
        n_quads += 1
    while p + length + 8 <= len(text):
        unlike = found = _NONE
        bad = np.uint32(0)
        i = 0
        while fixed[i, 1] != _NONE:
            unlike |= (word_at(text, p + np.int64(fixed[i, 0])) & fixed[i, 1]) ^ fixed[i, 2]
            i += 1
        out = row * per_row
        w = (word_at(text, p + places[n_octets - 1]) & kept) | zeros
        if width == 1:
            for i in range(n_octets - 1):
                found = word_at(text, p + places[i])
                unlike |= (found & _NOT_A_BIT) ^ _ZEROS
                octets[out + i] = ((found & _LOWEST) * _GATHER) >> np.uint64(56)
            unlike |= (w & _NOT_A_BIT) ^ _ZEROS
            found = ((w & _LOWEST) * _GATHER) >> np.uint64(56)
        else:
            for i in range(n_quads):
                q = word_at(text, p + places[4 * i])
                a = np.uint32(pairs[q & _PAIR])
                b = np.uint32(pairs[(q >> np.uint64(16)) & _PAIR])
                c = np.uint32(pairs[(q >> np.uint64(32)) & _PAIR])
                d = np.uint32(pairs[q >> np.uint64(48)])
                bad |= a | b | c | d
                quads[out // 4 + i] = (
                    a | b << np.uint32(8) | c << np.uint32(16) | d << np.uint32(24)
                )
            for i in range(4 * n_quads, n_octets - 1):
                pair = pairs[word_at(text, p + places[i]) & _PAIR]
                bad |= pair
                octets[out + i] = pair
            found = np.uint64(pairs[w & _PAIR])
        octets[out + n_octets - 1] = found
        if unlike | (found & over) | found >> np.uint64(8) != _NONE or bad > _BYTE:
            octets[out : out + n_octets] = 0
            break
        row += 1
        p += length
    return row - first


@inline
def _comments(text: Any, p: int) -> Any:
    c = text[p]
    return c in (_HASH, _SEMICOLON) or (c == _SLASH and text[p + 1] == _SLASH)
