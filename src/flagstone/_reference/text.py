"""Packed rows from lines of digits.

A form tells how lines are read: it is one line, with marks in place of the digits of its frames.
Marks are 128 for a digit, 129 for the first one of a frame, 130 for the first of its bits where
these are shown once more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flagstone._reference.packing import Words, pack_bits

_DIGITS = {4: b"0123456789abcdefABCDEF", 1: b"01"}
_COMMENT = re.compile(rb"(?:^|(?<=[ \t\r\v\f]))(?:[;#]|//)")
_BLANKS = b" \t\r\v\f"


def parse_digits(
    block: bytes,
    line: int,
    width: int,
    n_bits: int,
    forms: Sequence[tuple[bytes, Sequence[int]]],
    most_hard: int,
) -> tuple[Words, range | NDArray[np.int64], NDArray[np.int64], int, int, int]:
    """Read lines of known forms, each with its end, the first of which has the number ``line``.

    Parameters
    ----------
    block : bytes
    line : int
    width : int
        The bits of a digit: 4 for hexadecimal digits, 1 for bits.
    n_bits : int
        The bits of a row. Frames of other lengths are counted.
    forms : sequence of (bytes, lengths)
        What is known of lines, without their comments, and the bits of each frame.
    most_hard : int
        After so many lines that are of no known form, the others are left alone.

    Returns
    -------
    words : array of shape (n_rows, ceil(n_bits / 64))
    lines : range or array
        The line of each row.
    hard : array of shape (n, 3)
        Line, start and stop of the lines of no known form. One whose comment holds another ``;``
        after the first is of none.
    skipped, n_lines, stop : int
        The frames of other lengths, the lines that were read, and where they end.
    """
    texts = block.split(b"\n")[:-1]
    ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64)
    starts = np.append(0, ends[:-1])[: len(texts)]
    skipped = np.zeros(len(texts), np.int64)
    waiting = defaultdict(list)
    for i, text in enumerate(texts):
        comment = _COMMENT.search(text)
        shown = text[: comment.start()] if comment else text
        doubtful = comment and comment[0] == b";" and b";" in text[comment.end() :]
        if shown.strip(_BLANKS):
            waiting[-1 if doubtful else len(shown)].append(i)
    numbers, rows = [np.zeros(0, np.int64)], [np.zeros((0, n_bits), np.uint8)]
    for form, lengths in forms:
        alike = np.array(waiting[len(form)], np.int64)
        places = starts[alike][:, np.newaxis] + np.arange(len(form))
        characters = np.frombuffer(block, np.uint8)[places]
        good, frames = _frames(characters, np.frombuffer(form, np.uint8), lengths, width)
        waiting[len(form)] = alike[~good].tolist()
        for frame, length in zip(frames, lengths, strict=True):
            if length == n_bits:
                numbers.append(alike[good])
                rows.append(frame[good])
            else:
                skipped[alike[good]] += 1
    hard = np.sort([i for some in waiting.values() for i in some])[:most_hard].astype(np.int64)
    n_lines = int(hard[-1]) + 1 if len(hard) == most_hard else len(texts)
    number = np.concatenate(numbers)
    order = np.argsort(number, kind="stable")
    order = order[number[order] < n_lines]
    each = np.array_equal(number[order], np.arange(n_lines))
    return (
        pack_bits(np.concatenate(rows)[order]),
        range(line, line + n_lines) if each else number[order] + line,
        np.stack([hard + line, starts[hard], ends[hard] - 1], axis=1),
        int(skipped[:n_lines].sum()),
        n_lines,
        int(ends[n_lines - 1]) if n_lines else 0,
    )


def _frames(
    text: NDArray[np.uint8], form: NDArray[np.uint8], lengths: Sequence[int], width: int
) -> tuple[NDArray[np.bool_], list[NDArray[np.uint8]]]:
    """Return which texts have a form, and the bits of each frame of all texts."""
    frames: list[NDArray[np.uint8]] = []
    good = (text[:, form < 128] == form[form < 128]).all(axis=1)
    places = np.flatnonzero(form >= 128)
    for part in np.split(places, np.flatnonzero(form[places] > 128))[1:]:
        again = form[part[0]] == 130
        digits = text[:, part]
        good &= np.isin(digits, list(_DIGITS[1 if again else width])).all(axis=1)
        values = (digits & 15) + 9 * (digits >> 6)  # ASCII: letters of either case have bit 6
        bits = np.unpackbits(values[:, :, np.newaxis], axis=2)[:, :, -1 if again else -width :]
        bits = bits.reshape(len(text), digits.shape[1] * bits.shape[2])
        length = lengths[len(frames) - again]
        good &= ~bits[:, length:].any(axis=1)
        if again:
            good &= (bits[:, :length] == frames[-1]).all(axis=1)
        else:
            frames.append(bits[:, :length])
    return good, frames
