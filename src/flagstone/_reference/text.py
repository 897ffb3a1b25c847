"""Packed rows from lines of digits.

Native kernels read more lines than these functions do. What is not read here is left to the caller,
who reads it line by line, with the same rows at the end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flagstone._reference.packing import Words, pack_bits

_DIGITS = {4: b"0123456789abcdefABCDEF", 1: b"01"}
_BLANKS = b" \t\r\v\f"


def parse_digits(
    block: bytes, line: int, width: int, n_bits: int, keep_only: bool
) -> tuple[Words, range | NDArray[np.int64], NDArray[np.int64], int, int]:
    """Read whole lines of digits, each with its end, the first of which has the number ``line``.

    Parameters
    ----------
    block : bytes
    line : int
    width : int
        The bits of a digit: 4 for hexadecimal digits, 1 for bits.
    n_bits : int
        The bits of a row.
    keep_only : bool
        Whether rows of other lengths are counted; otherwise their lines are hard.

    Returns
    -------
    words : array of shape (n_rows, ceil(n_bits / 64))
    lines : range or array
        The line of each row.
    hard : array of shape (n, 3)
        Line, start and stop of the lines that must be read with care. Here: all that do not consist
        of the digits of one row.
    skipped, n_lines : int
        The rows of other lengths that were counted, and the lines.
    """
    lines = block.split(b"\n")[:-1]
    shown = [text.strip(_BLANKS) for text in lines]
    digits, n_digits = _DIGITS[width], -(-n_bits // width)
    easy = [len(text) * width == n_bits and not text.translate(None, digits) for text in shown]
    rows = [text for text, plain in zip(shown, easy, strict=True) if plain]
    values = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), n_digits)
    values = (values & 15) + 9 * (values >> 6)  # ASCII: letters of either case have bit 6
    bits = np.unpackbits(values[:, :, np.newaxis], axis=2, bitorder="big")[:, :, 8 - width :]
    ends = np.cumsum([len(text) + 1 for text in lines], dtype=np.int64) - 1
    starts = ends - [len(text) for text in lines]
    hard = np.flatnonzero(~np.array(easy, bool))
    return (
        pack_bits(bits.reshape(len(rows), n_digits * width)[:, :n_bits]),
        range(line, line + len(lines)) if all(easy) else np.flatnonzero(easy) + line,
        np.stack([hard + line, starts[hard], ends[hard]], axis=1),
        0,
        len(lines),
    )
