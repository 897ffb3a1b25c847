"""From lines of hexadecimal digits or bits straight to packed rows.

Only plain lines are read here: one or several frames with ``{41}``, one or all bytes with ``0x``,
digits with blanks, ``_`` or one separator between bytes, the same bits once more, a comment. Every
other line is named, and whoever asks reads it with care. Lines that look like the one before,
digits aside, are read by `_shapes`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import frozen, helper, jit
from flagstone.kernels._shapes import GATHERED, LONGEST, alike, shape
from flagstone.kernels._text import (
    BLANK,
    BRACE,
    BRACE_END,
    COLON,
    COMMA,
    END,
    FILLER,
    LINE,
    OTHER,
    SEMICOLON,
    SEPARATOR,
    after_blanks,
    is_over,
)

Text: TypeAlias = bytes | NDArray[np.uint8]

_NONE, _ONE = np.uint64(0), np.uint64(1)
#: Bytes of a block, which a long line makes larger, whose lines are counted.
_LARGE = 1 << 22


class Classes(NamedTuple):
    """What bytes are, the bits of a digit, the x of 0x."""

    table: NDArray[np.uint8]  #: below 16 for a digit, whose bits are turned around
    width: int
    prefix: int


@functools.cache
def classes(digits: bytes, width: int, prefix: bytes) -> Classes:
    """Return the classes of a notation: its digits, the bits of each, and what may come first."""
    table = np.full(256, OTHER, dtype=np.uint8)
    table[list(b" \t\r\v\f")] = BLANK
    table[ord("_")] = FILLER
    table[list(b":,;-")] = SEPARATOR
    table[ord("\n")] = END
    for digit in digits:
        text = f"{int(bytes([digit]), 16):0{width}b}"
        table[digit] = int(text[::-1], 2)
    return Classes(table, width, prefix[1])


def parse(
    block: Text, line: int, kinds: Classes, n_bits: int, keep_only: bool
) -> tuple[NDArray[np.uint64], range | NDArray[np.int64], NDArray[np.int64], int, int]:
    """Read whole lines, each with its end, the first of which has the number ``line``.

    Returns the packed rows of ``n_bits`` bits, the line of each, the hard lines (line,
    start, stop), the rows of another length (if only those of ``n_bits`` are to be kept; they are
    hard otherwise), and the number of lines.
    """
    text = frozen(np.frombuffer(block, dtype=np.uint8))
    # room for as many as there can be: memory that is not written to costs nothing
    most = len(text) // (-(-n_bits // kinds.width) + 1) + 1
    words = np.empty((most, -(-n_bits // 64)), dtype=np.uint64)
    lines = np.empty(most, dtype=np.int64)
    n_hard = len(text) // 2 if len(text) < _LARGE else int(np.count_nonzero(text == LINE))
    hard = np.empty((n_hard, 3), dtype=np.int64)
    n_rows, n_hard, skipped, n_lines, each = _parse(
        text, line, *kinds, n_bits, keep_only, words, lines, hard
    )
    words, lines = words[:n_rows], lines[:n_rows]
    if 2 * n_rows < most:
        words, lines = words.copy(), lines.copy()  # the room is not kept with them
    return words, range(line, line + n_lines) if each else lines, hard[:n_hard], skipped, n_lines


@jit
def _parse(
    text: Any, number: int, table: Any, width: int, prefix: int, n_bits: int, keep_only: bool,
    words: Any, lines: Any, hard: Any,
) -> Any:  # fmt: skip
    n_rows = n_hard = skipped = p = 0
    first_line, each = number, True  # whether each line is a row
    n_words = words.shape[1]
    length = tail = 0  # the bytes of a line that the next may look like; digits of its last word
    former = refused = 0  # the bytes of the last line; those of lines that have no such shape
    fixed = np.empty((LONGEST // 8 + 2, 3), np.uint64)
    copies = np.empty((LONGEST + 1, 3), np.int64)
    gathered = np.empty(max(GATHERED, 64 // width * n_words) + 8, np.uint8)
    while p < len(text):
        start = p
        if length > 0:
            n_alike = alike(
                text, p, length, width, tail, n_bits, fixed, copies, gathered, words, n_rows
            )
            for i in range(n_alike):
                lines[n_rows + i] = number + i
            n_rows += n_alike
            number += n_alike
            p += n_alike * length
            length = 0
            continue
        p = after_blanks(text, p)
        before, others, digits, easy = n_rows, 0, 0, True
        more = not is_over(text, p)
        while more:
            p, digits, found = _frame(text, p, table, width, prefix, n_bits, words, n_rows)
            if found == n_bits:
                lines[n_rows] = number
                n_rows += 1
            else:
                others += 1
                easy = found > 0 and keep_only
            more = easy and text[p] == BRACE
        semicolons = 0
        while text[p] != LINE:
            semicolons += text[p] == SEMICOLON
            p += 1
        p += 1
        # a comment that goes on like bytes between semicolons is for the careful reader
        if not easy or (semicolons > 1 and digits > 0):
            hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = number, start, p - 1
            n_hard += 1
            n_rows = before
        else:
            skipped += others
            if n_rows == before + 1 and others == 0 and refused != p - start == former:
                length = shape(text, start, p, table, digits, fixed, copies)
                tail = digits - (n_words - 1) * (64 // width)
                refused = former if length == 0 else 0
        former = min(p - start, LONGEST)
        each = each and n_rows == before + 1
        number += 1
    return n_rows, n_hard, skipped, number - first_line, each


@helper
def _frame(
    text: Any, p: int, table: Any, width: int, prefix: int, n_bits: int, words: Any, row: int
) -> Any:
    """Read a frame into a row, and return where it ends, its digits, and its bits.

    The latter are 0 if it takes a closer look; if they are not ``n_bits``, the row is anything.
    """
    n_words = words.shape[1]
    announced = -1
    if text[p] == BRACE:
        p += 1
        announced = 0
        first = p
        while 48 <= text[p] <= 57 and p - first < 9:
            announced = 10 * announced + int(text[p]) - 48
            p += 1
        if announced == 0 or text[p] != BRACE_END:
            return p, 0, 0
        p = after_blanks(text, p + 1)
    digits = separator = shift = k = 0
    groups = marks = since = parted = 0  # those with 0x; digits before this group, this separator
    fresh, gaps, whole = True, False, True  # a group begins; blanks between digits; whole bytes
    word, value = _NONE, np.uint8(0)
    while True:
        c = text[p]
        v = table[c]
        if fresh and (v < BLANK or v == FILLER):
            whole = groups == 0 or (whole and digits > since and (digits - since) % 2 == 0)
            since = digits
            fresh = False
            if c == 48 and (text[p + 1] | 32) == prefix:
                if marks < groups:
                    return p, 0, 0
                marks += 1
                p += 2
            groups += 1
        elif v < BLANK:
            value = v
            word |= np.uint64(v) << np.uint64(shift)
            shift += width
            digits += 1
            p += 1
            if shift == 64:
                if k < n_words:
                    words[row, k] = word
                k += 1
                shift = 0
                word = _NONE
        elif v == FILLER:
            p += 1
        elif v == END or c == BRACE:
            break
        elif v == BLANK:
            p = after_blanks(text, p)
            if is_over(text, p):
                break
            v = table[text[p]]
            gaps = gaps or (digits > parted and v != SEPARATOR and text[p] != BRACE)
            fresh = True
        elif v == SEPARATOR and digits > parted:
            ahead = after_blanks(text, p + 1)
            is_last = text[ahead] in (LINE, BRACE) or (ahead > p + 1 and is_over(text, ahead))
            if is_last and c in (COMMA, SEMICOLON):
                p = ahead
                break
            if (
                c == COLON and separator == marks == 0 and announced > 0 and width > 1
                and text[p - 1] == text[p + 1] == 32 and announced <= width * digits <= 64 * n_words
            ):  # fmt: skip
                if shift > 0:
                    words[row, k] = word
                ahead = _repeated(text, ahead, table, announced, words, row)
                if ahead < 0:
                    return p, 0, 0
                p = ahead
                break
            if separator == 0:
                separator = c
            if separator != c or (width > 1 and (digits - parted) % 2) or table[text[ahead]] > 15:
                return p, 0, 0
            parted = digits
            p = ahead
            fresh = True
        else:
            return p, 0, 0
    odd = width > 1 and (digits - since) % 2 == 1 and announced < 0
    if digits == 0 or (text[p] == BRACE and announced < 0) or 1 < marks < groups:
        return p, 0, 0
    if separator != 0 and (gaps or odd):
        return p, 0, 0
    if marks > 1 and (digits == since or odd or (width > 1 and not whole)):
        return p, 0, 0
    held = width * digits
    wanted = held if announced < 0 else announced
    left = held - wanted  # bits past the length, which must be zeros
    if wanted == n_bits and held <= 64 * n_words:
        if shift > 0:
            words[row, k] = word
        word = words[row, n_words - 1]
        unused = np.uint64(64 * n_words - n_bits)
        return p, digits, n_bits if left >= 0 and (word << unused) >> unused == word else 0
    if left == 0 or (0 < left < width and value >> np.uint8(width - left) == 0):
        return p, digits, wanted if wanted != n_bits else 0
    return p, 0, 0


@helper
def _repeated(text: Any, p: int, table: Any, n_bits: int, words: Any, row: int) -> Any:
    """Return where the bits of a row, shown once more, end; -1 if they are others."""
    n = 0
    while not is_over(text, p):
        bit = np.int64(text[p]) - 48
        if n == n_bits or np.int64(words[row, n >> 6] >> np.uint64(n & 63) & _ONE) != bit:
            return -1
        n += 1
        p += 1
        if table[text[p]] == BLANK:
            p = after_blanks(text, p)
        elif text[p] != LINE and not 48 <= text[p] <= 49:
            return -1
    return p if n == n_bits else -1
