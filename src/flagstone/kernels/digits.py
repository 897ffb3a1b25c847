"""From lines of hexadecimal digits or bits straight to packed rows.

Only plain lines are read here: ``{41}``, one prefix, digits with blanks, ``_`` or one separator
between bytes, a comment. Every other line is named, and whoever asks reads it with care. A line
that looks like the one before, digits aside, is read a word of its row at a time.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._characters import copy_word, hex_word, not_hex
from flagstone.kernels._jit import helper, inline, jit
from flagstone.kernels._llvm import exceeding, word_at

_BLANK, _FILLER, _SEPARATOR, _END, _OTHER = 16, 17, 18, 19, 20
_LINE, _HASH, _SLASH, _SEMICOLON, _BRACE, _BRACE_END = 10, 35, 47, 59, 123, 125
_NONE, _ONE = np.uint64(0), np.uint64(1)
_ALL, _BYTE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0xFF)
#: Bytes of a line whose shape is kept, to read lines of the same shape faster.
_LONGEST = 4096
#: Digits that are laid side by side before they are turned into words.
_GATHERED = 1 << 13


class Classes(NamedTuple):
    """What bytes are, the bits of a digit, the x of 0x."""

    table: NDArray[np.uint8]  #: below 16 for a digit, whose bits are turned around
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
    return Classes(table, width, prefix[1])


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
    # room for as many as there can be: memory that is not written to costs nothing
    most = len(text) // (-(-n_bits // kinds.width) + 1) + 1
    words = np.empty((most, -(-n_bits // 64)), dtype=np.uint64)
    lines = np.empty(most, dtype=np.int64)
    hard = np.empty((len(text) // 2 + 1, 3), dtype=np.int64)
    n_rows, n_hard, skipped, n_lines = _parse(
        text, line, *kinds, n_bits, fields, keep_only, words, lines, hard
    )
    return words[:n_rows], lines[:n_rows], hard[:n_hard], skipped, n_lines


@jit
def _parse(
    text: Any, number: int, table: Any, width: int, prefix: int, n_bits: int, fields: int,
    keep_only: bool, words: Any, lines: Any, hard: Any,
) -> Any:  # fmt: skip
    n_rows = n_hard = skipped = p = 0
    first_line = number
    n_words = words.shape[1]
    unused = np.uint64(64 * n_words - n_bits)
    length = tail = 0  # the bytes of a line that the next may look like; digits of its last word
    fixed = np.empty((_LONGEST // 8 + 2, 3), np.uint64)
    copies = np.empty((_LONGEST + 1, 2), np.int64)
    gathered = np.empty(max(_GATHERED, 64 // width * n_words) + 8, np.uint8)
    while p < len(text):
        start = p
        if length > 0:
            n_alike = _alike(
                text, p, length, width, tail, n_bits, fixed, copies, gathered, words, n_rows
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
                if fields == 0 and p - start <= _LONGEST:
                    length = _shape(text, start, p, table, digits, fixed, copies)
                    tail = digits - (n_words - 1) * (64 // width)
                continue
            easy = False
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
    return n_rows, n_hard, skipped, number - first_line


@helper
def _shape(
    text: Any, start: int, stop: int, table: Any, n: int, fixed: Any, copies: Any
) -> Any:  # fmt: skip
    """Note how a line is made: where its digits stand, up to eight side by side, and what else.

    The former as (place in the line, place among the digits), the last place being -1; the latter
    as (place, mask, bytes under the mask), the last mask being 0. Returns the length of the line,
    or 0 where a comment has digits, too.
    """
    n_fixed = n_copies = digits = 0
    inside = False  # a length in braces
    for i in range(stop - start):
        c = text[start + i]
        inside = (inside or c == _BRACE) and c != _BRACE_END
        marks = c == 48 and table[text[start + i + 1]] == _OTHER  # the 0 of 0x
        if table[c] < _BLANK and not inside and not marks:
            if digits == n:
                return 0
            gone = digits - copies[n_copies - 1, 1] if n_copies > 0 else 8
            if gone == 8 or i - copies[n_copies - 1, 0] != gone:
                copies[n_copies, 0] = i
                copies[n_copies, 1] = digits
                n_copies += 1
            digits += 1
        else:
            if n_fixed == 0 or i >= np.int64(fixed[n_fixed - 1, 0]) + 8:
                for part in range(3):
                    fixed[n_fixed, part] = _NONE
                fixed[n_fixed, 0] = i
                n_fixed += 1
            shift = np.uint64(8 * (i - np.int64(fixed[n_fixed - 1, 0])))
            fixed[n_fixed - 1, 1] |= _BYTE << shift
            fixed[n_fixed - 1, 2] |= np.uint64(c) << shift
    fixed[n_fixed, 1] = _NONE
    copies[n_copies, 1] = -1
    return stop - start


@helper
def _alike(
    text: Any, p: int, length: int, width: int, tail: int, n_bits: int, fixed: Any, copies: Any,
    digits: Any, words: Any, row: int,
) -> Any:  # fmt: skip
    """Read lines of a known shape, as many as follow each other; return their number.

    Digits of some lines are laid side by side first, and then turned into words.
    """
    first = row
    per_row = 64 // width * words.shape[1]
    most = (len(digits) - 8) // per_row
    while True:
        n = 0
        while n < most and p + length + 8 <= len(text):
            unlike = _NONE
            i = 0
            while fixed[i, 1] != _NONE:
                unlike |= (word_at(text, p + np.int64(fixed[i, 0])) & fixed[i, 1]) ^ fixed[i, 2]
                i += 1
            if unlike != _NONE:
                break
            i = 0
            while copies[i, 1] >= 0:
                copy_word(text, p + copies[i, 0], digits, n * per_row + copies[i, 1])
                i += 1
            n += 1
            p += length
        good = _words_of(digits, n, width, tail, n_bits, words, row)
        row += good
        if good < most:
            return row - first


@helper
def _words_of(
    digits: Any, n_rows: int, width: int, tail: int, n_bits: int, words: Any, row: int
) -> Any:
    """Turn digits into rows, the last word of each from ``tail`` of them; stop at what is none."""
    last = words.shape[1] - 1
    per_word = 64 // width
    counts = _ALL >> np.uint64(64 - tail)
    over = (_ALL >> np.uint64(64 - width * tail)) & ~(_ALL >> np.uint64(64 * last + 64 - n_bits))
    kept = _ALL >> np.uint64(64 * last + 64 - n_bits)
    for i in range(n_rows):
        bad = _NONE
        for k in range(last + 1):
            place = per_word * (i * (last + 1) + k)
            if width == 1:
                word = exceeding(digits, place, 48)
                odd = exceeding(digits, place, 49) | ~exceeding(digits, place, 47)
            else:
                word, odd = hex_word(digits, place), not_hex(digits, place)
            if k < last:
                words[row + i, k] = word
                bad |= odd
            else:
                words[row + i, k] = word & kept
                bad |= (odd & counts) | (word & over)
        if bad != _NONE:
            return i
    return n_rows


@inline
def _comments(text: Any, p: int) -> Any:
    c = text[p]
    return c in (_HASH, _SEMICOLON) or (c == _SLASH and text[p + 1] == _SLASH)
