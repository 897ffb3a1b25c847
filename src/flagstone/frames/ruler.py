"""Bits of frames under a ruler of bytes, and places in a frame in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from flagstone.frames.digests.digest import runs

#: Bytes in a line of bits, and of hexadecimal digits.
_BYTES, _DIGIT_BYTES = 8, 16
#: Longer patterns are written in hexadecimal digits.
_LONGEST = 2 * 8 * _BYTES
#: The most bytes of a frame that is written as a whole; of longer ones, the marks that are shown.
_LONGEST_FRAME, _MOST_MARKS = 32, 4
#: The most lines of a pattern, and how many of these are its first.
_LINES, _FIRST = 5, 3


def ruled(pattern: str) -> list[tuple[str, str]]:
    """Return a pattern of 0, 1 and ? in lines, each below the numbers of its bytes.

    Long patterns are written in hexadecimal digits: ``?`` where all bits of a digit vary, ``x``
    where some do. Of very long ones, the middle is left out.

    >>> for label, text in ruled("0010110100?11111????"):
    ...     print(f"{label:<8}{text}")
    byte    0        1        2
    pattern 00101101 00?11111 ????
    >>> for label, text in ruled("00101101" + "00?1????" * 16):
    ...     print(f"{label:<8}{text}"[:40])
    byte    0  1  2  3  4  5  6  7  8  9  10
    pattern 2d x? x? x? x? x? x? x? x? x? x?
    byte    16
            x?
    """
    cells = [pattern[i : i + 8] for i in range(0, len(pattern), 8)]
    per_line = _BYTES
    if len(pattern) > _LONGEST:
        cells = ["".join(_digit(cell[i : i + 4]) for i in range(0, len(cell), 4)) for cell in cells]
        per_line = _DIGIT_BYTES
    starts = list(range(0, len(cells), per_line))
    hidden = starts[_FIRST : _FIRST - _LINES] if len(starts) > _LINES else []
    lines = []
    for start in starts:
        part = cells[start : start + per_line]
        width = max(len(cells[0]), len(str(start + len(part) - 1)))
        numbers = " ".join(f"{start + i:<{width}}" for i in range(len(part)))
        shown = " ".join(f"{cell:<{width}}" for cell in part)
        if start not in hidden:
            lines += [("byte", numbers.rstrip()), ("" if start else "pattern", shown.rstrip())]
        elif start == hidden[0]:
            lines.append(("", f"… bytes {start}..{hidden[-1] + per_line - 1} are left out"))
    return lines


def _digit(bits: str) -> str:
    if "?" not in bits:
        return f"{int(bits.ljust(4, '0'), 2):x}"
    return "?" if set(bits) == {"?"} else "x"


def marked(bits: str, marks: Collection[int]) -> str:
    """Return a frame in hexadecimal digits, the bytes with marked bits in brackets.

    >>> marked("0010110101010001", [9])
    '2d [51]'
    """
    cells = []
    for start in range(0, len(bits), 8):
        byte = bits[start : start + 8]
        digits = f"{int(byte.ljust(-(-len(byte) // 4) * 4, '0'), 2):0{-(-len(byte) // 4)}x}"
        here = any(start <= i < start + 8 for i in marks)
        cells.append(f"[{digits}]" if here else digits)
    return " ".join(cells)


def shortened(frame: str) -> str:
    """Return a long frame with its first bytes, the marked ones, and those beside them.

    >>> shortened("2d [51] 07")
    '2d [51] 07'
    >>> shortened("2d " * 50 + "[51]" + " 07" * 49)
    '2d 2d 2d 2d … 2d [51] 07 …'
    """
    cells = frame.split(" ")
    if len(cells) <= _LONGEST_FRAME:
        return frame
    marks = [i for i, cell in enumerate(cells) if "[" in cell][:_MOST_MARKS]
    shown = {*range(4), *(i for mark in marks for i in (mark - 1, mark, mark + 1))}
    parts = []
    for i, cell in enumerate(cells):
        if i in shown:
            parts.append(cell)
        elif i - 1 in shown:
            parts.append("…")
    return " ".join(parts)


def bit_text(column: int) -> str:
    """Return where a bit stands: bit 7 is the first of a byte.

    >>> bit_text(25)
    'byte 3 bit 6'
    """
    return f"byte {column // 8} bit {7 - column % 8}"


def place_text(columns: Iterable[int]) -> str:
    """Return where bits stand, in bytes as far as these are whole.

    >>> place_text(range(40)), place_text([40, 41, 51, *range(56, 64)])
    ('bytes 0..4', 'byte 5 bits 7..6, byte 6 bit 4, byte 7')
    >>> place_text(range(19, 27))
    'byte 2 bits 4..0, byte 3 bits 7..5'
    """
    return ", ".join(part for first, last in runs(columns) for part in _in_bytes(first, last))


def _in_bytes(first: int, last: int) -> list[str]:
    """Return a run of bits as the end of a byte, whole bytes, and the beginning of a byte."""
    start, end = -(-first // 8), (last + 1) // 8  # the whole bytes between
    if start > end:
        return [_bits(first, last)]
    parts = [_bits(first, 8 * start - 1)] if first % 8 else []
    if start < end:
        parts.append(f"byte {start}" if end - start == 1 else f"bytes {start}..{end - 1}")
    return [*parts, _bits(8 * end, last)] if last % 8 != 7 else parts


def _bits(first: int, last: int) -> str:
    return (
        bit_text(first)
        if first == last
        else f"byte {first // 8} bits {7 - first % 8}..{7 - last % 8}"
    )


def as_options(text: str) -> str:
    """Return a text with its columns as options take them.

    >>> as_options("x8 ⊕ x13 = 1")
    'b1.7 ⊕ b1.2 = 1'
    """
    return re.sub(r"\bx(\d+)\b", lambda m: f"b{int(m[1]) // 8}.{7 - int(m[1]) % 8}", text)


def in_bytes(text: str) -> str:
    """Return a text with its columns as bytes and bits.

    >>> in_bytes("polynomial 0x31, init 0xff, xorout 0x00, over x8..x39, x44")
    'polynomial 0x31, init 0xff, xorout 0x00, over bytes 1..4, byte 5 bit 3'
    """

    def place(found: re.Match[str]) -> str:
        return place_text(range(int(found[1]), int(found[2] or found[1]) + 1))

    found = re.sub(r"\bx(\d+)(?:\.\.x(\d+))?\b", place, text)
    return found.replace("the bytes of byte", "byte")
