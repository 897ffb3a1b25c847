"""From lines of hexadecimal digits or bits straight to packed rows.

Only plain lines are read here: ``{41}``, one prefix, digits with blanks, ``_`` or one separator
between bytes, a comment. Every other line is named, and whoever asks reads it with care. A line
that looks like the one before, digits aside, is read a word of its row at a time.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._characters import copy_word, hex_word, not_hex
from flagstone.kernels._jit import frozen, helper, jit, merged
from flagstone.kernels._llvm import exceeding, word_at

Text: TypeAlias = bytes | NDArray[np.uint8]

_BLANK, _FILLER, _SEPARATOR, _END, _OTHER = 16, 17, 18, 19, 20
_LINE, _HASH, _COMMA, _SLASH, _COLON, _SEMICOLON, _BRACE, _BRACE_END = (
    10,
    35,
    44,
    47,
    58,
    59,
    123,
    125,
)
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
    hard = np.empty((len(text) // 2 + 1, 3), dtype=np.int64)
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
        p = _after_blanks(text, p, table)
        before, others, digits, easy = n_rows, 0, 0, True
        more = not _is_over(text, p)
        while more:
            p, digits, found = _frame(text, p, table, width, prefix, n_bits, words, n_rows)
            if found == n_bits:
                lines[n_rows] = number
                n_rows += 1
            else:
                others += 1
                easy = found > 0 and keep_only
            more = easy and text[p] == _BRACE
        semicolons = 0
        while text[p] != _LINE:
            semicolons += text[p] == _SEMICOLON
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
                length = _shape(text, start, p, table, digits, fixed, copies)
                tail = digits - (n_words - 1) * (64 // width)
                refused = former if length == 0 else 0
        former = min(p - start, _LONGEST)
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
    if text[p] == _BRACE:
        p += 1
        announced = 0
        first = p
        while 48 <= text[p] <= 57 and p - first < 9:
            announced = 10 * announced + int(text[p]) - 48
            p += 1
        if announced == 0 or text[p] != _BRACE_END:
            return p, 0, 0
        p = _after_blanks(text, p + 1, table)
    digits = separator = shift = k = 0
    groups = marks = since = parted = 0  # those with 0x; digits before this group, this separator
    fresh, gaps, whole = True, False, True  # a group begins; blanks between digits; whole bytes
    word, value = _NONE, np.uint8(0)
    while True:
        c = text[p]
        v = table[c]
        if fresh and (v < _BLANK or v == _FILLER):
            whole = groups == 0 or (whole and digits > since and (digits - since) % 2 == 0)
            since = digits
            fresh = False
            if c == 48 and (text[p + 1] | 32) == prefix:
                if marks < groups:
                    return p, 0, 0
                marks += 1
                p += 2
            groups += 1
        elif v < _BLANK:
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
        elif v == _FILLER:
            p += 1
        elif v == _END or c == _BRACE:
            break
        elif v == _BLANK:
            p = _after_blanks(text, p, table)
            if _is_over(text, p):
                break
            v = table[text[p]]
            gaps = gaps or (digits > parted and v != _SEPARATOR and text[p] != _BRACE)
            fresh = True
        elif v == _SEPARATOR and digits > parted:
            ahead = _after_blanks(text, p + 1, table)
            is_last = text[ahead] in (_LINE, _BRACE) or (ahead > p + 1 and _is_over(text, ahead))
            if is_last and c in (_COMMA, _SEMICOLON):
                p = ahead
                break
            if (
                c == _COLON and separator == marks == 0 and announced > 0 and width > 1
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
    if digits == 0 or (text[p] == _BRACE and announced < 0) or 1 < marks < groups:
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
    while not _is_over(text, p):
        bit = np.int64(text[p]) - 48
        if n == n_bits or np.int64(words[row, n >> 6] >> np.uint64(n & 63) & _ONE) != bit:
            return -1
        n += 1
        p += 1
        if table[text[p]] == _BLANK:
            p = _after_blanks(text, p, table)
        elif text[p] != _LINE and not 48 <= text[p] <= 49:
            return -1
    return p if n == n_bits else -1


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


@merged
def _after_blanks(text: Any, p: int, table: Any) -> Any:
    while table[text[p]] == _BLANK:
        p += 1
    return p


@merged
def _is_over(text: Any, p: int) -> Any:
    """Say whether nothing follows in a line, after a blank, but a comment."""
    c = text[p]
    return c in (_LINE, _HASH, _SEMICOLON) or (c == _SLASH and text[p + 1] == _SLASH)
