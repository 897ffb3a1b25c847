"""Lines of digits that look like the one before, digits aside: a word of a row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.kernels._characters import hex_word, not_hex, put_word
from flagstone.kernels._jit import helper
from flagstone.kernels._llvm import exceeding, word_at
from flagstone.kernels._text import BLANK, BRACE, BRACE_END, OTHER

#: Bytes of a line whose shape is noted.
LONGEST = 4096
#: Digits that are laid side by side before they are turned into words.
GATHERED = 1 << 13
_NONE, _ALL, _BYTE = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0xFF)
#: Two digits, three times, with a byte between them, and how far the second and third are moved.
_PAIRS = np.uint64(0xFFFF), np.uint64(0xFFFF0000), np.uint64(0xFFFF00000000)
_ONE_BYTE, _TWO_BYTES = np.uint64(8), np.uint64(16)


@helper
def shape(
    text: Any, start: int, stop: int, table: Any, n: int, fixed: Any, copies: Any
) -> Any:  # fmt: skip
    """Note how a line is made: where its digits stand, up to eight side by side, and what else.

    The former as (place in the line, place among the digits, whether they stand two by two, a byte
    between them), the last place among the digits being -1; the latter as (place, mask, bytes under
    the mask), the last mask being 0. Returns the length of the line, or 0 where a comment has
    digits, too.
    """
    n_fixed = n_copies = digits = 0
    inside = False  # a length in braces
    for i in range(stop - start):
        c = text[start + i]
        inside = (inside or c == BRACE) and c != BRACE_END
        marks = c == 48 and table[text[start + i + 1]] == OTHER  # the 0 of 0x
        if table[c] < BLANK and not inside and not marks:
            if digits == n:
                return 0
            last = copies[max(0, n_copies - 1)]
            gone, away = digits - last[1], i - last[0]
            if n_copies > 0 and gone == 2 and away == 3:
                last[2] = 1
            if n_copies == 0 or gone == 8 - 2 * last[2] or away != gone + (gone >> 1) * last[2]:
                copies[n_copies, 0] = i
                copies[n_copies, 1] = digits
                copies[n_copies, 2] = 0
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
def alike(
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
                word = word_at(text, p + copies[i, 0])
                if copies[i, 2]:
                    second, third = word >> _ONE_BYTE & _PAIRS[1], word >> _TWO_BYTES & _PAIRS[2]
                    word = word & _PAIRS[0] | second | third
                put_word(digits, n * per_row + copies[i, 1], word)
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
