"""Frames: text files with one hexadecimal or bit string per row.

The notation of radio receivers: ``{41}cfb9f00d648`` is a row of 41 bits, the first bit being
the most significant one of the first digit. Without a length a row has all the bits of its
digits. ``;``, ``#`` and ``//`` start comments; blanks inside a row are ignored.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from flagstone.errors import InputError, InputWarning, Parameter
from flagstone.tables.batches import Array, Batch, Position, fail
from flagstone.tables.files import BIT_ORDERS
from flagstone.tables.limits import MOST_COLUMNS, check_width
from flagstone.tables.remote import Location
from flagstone.tables.textio import line_blocks

__all__ = ["BIT_ORDERS", "FrameReader", "parse_frame", "reorder"]

_COMMENT = re.compile(rb"[;#]|//")
_LENGTH = re.compile(rb"\s*\{\s*(\d+)\s*\}\s*")
_BLANKS = b" \t\r\v\f"
_BAD = 255
#: So many digits that are all 0 or 1 are no accident.
_TELLING = 16


class _Alphabet(NamedTuple):
    """The digits of a notation: bits per digit, byte → value, and what to call a digit."""

    digits: bytes
    width: int
    values: Array
    noun: str


def _alphabet(digits: bytes, width: int, noun: str) -> _Alphabet:
    values = np.full(256, _BAD, dtype=np.uint8)
    for digit in digits:
        values[digit] = int(bytes([digit]), 16)
    return _Alphabet(digits, width, values, noun)


ALPHABETS = {
    "hex": _alphabet(b"0123456789abcdefABCDEF", 4, "a hexadecimal digit (0-9, a-f)"),
    "bits": _alphabet(b"01", 1, "a bit (0 or 1)"),
}


class FrameProblem(ValueError):
    """What is wrong with one row; the reader adds file and line."""


def parse_frame(line: bytes, notation: str = "hex") -> tuple[int, bytes] | None:
    """Return (number of bits, digits) of one line, or None if it holds no row.

    Examples
    --------
    >>> parse_frame(b"{41} cfb9 f00d 648   ; a comment")
    (41, b'cfb9f00d648')
    >>> parse_frame(b"10 11", notation="bits")
    (4, b'1011')
    >>> parse_frame(b"# nothing here") is None
    True
    """
    known, width, _, noun = ALPHABETS[notation]
    comment = _COMMENT.search(line)
    text = (line[: comment.start()] if comment else line).rstrip()
    if not text:
        return None
    head = _LENGTH.match(text)
    start = head.end() if head else len(text) - len(text.lstrip())
    if notation == "hex" and text[start : start + 2] in (b"0x", b"0X"):
        start += 2
    digits = text[start:].translate(None, _BLANKS)
    if digits.translate(None, known):
        for column, byte in enumerate(text[start:], start + 1):
            if byte not in _BLANKS and byte not in known:
                raise FrameProblem(f"column {column}: {_shown(byte)} is not {noun}")
    held = width * len(digits)
    if not digits:
        raise FrameProblem("a row without digits")
    if head is None:
        return held, digits
    if len(head[1]) > 9:
        raise FrameProblem("a row of more bits than any file holds is announced")
    n_bits = int(head[1])
    if n_bits < 1:
        raise FrameProblem("a row must have at least one bit, found {0}")
    if n_bits > held:
        raise FrameProblem(
            f"the row is too short: it announces {{{n_bits}}} bits, but its {len(digits)} digits "
            f"hold {held}"
        )
    needed = -(-n_bits // width)
    if held > n_bits and int(digits, 1 << width) & ((1 << (held - n_bits)) - 1):
        raise FrameProblem(
            f"the row announces {{{n_bits}}} bits, but has ones after them; correct the length"
        )
    return n_bits, digits[:needed]


def _shown(byte: int) -> str:
    return repr(chr(byte)) if 32 <= byte < 127 else f"byte 0x{byte:02x}"


def reorder(bits: Array, order: str) -> Array:
    """Put the bits of every row into the order asked for (given: most significant first)."""
    if order == "msb":
        return bits
    if order == "reversed":
        return bits[:, ::-1]
    group = 8 if order == "lsb" else 4
    n_bits = bits.shape[1]
    if n_bits % group:
        raise InputError(
            f"bit order {order!r} turns groups of {group} bits around, but the rows have {n_bits} "
            "bits; use bit order 'reversed' to turn whole rows around"
        )
    groups = bits.reshape(len(bits), n_bits // group, group)
    return groups[:, :, ::-1].reshape(len(bits), n_bits)


@dataclass
class FrameReader:
    """Rows of bits from a text file of hexadecimal or bit strings.

    Parameters
    ----------
    path : Path
    notation : "hex" or "bits"
    bit_order : "msb", "lsb", "nibble" or "reversed"
        msb: as written. lsb: every byte turned around (least significant bit sent first).
        nibble: every hexadecimal digit turned around. reversed: the whole row turned around.
    length : int, optional
        Keep the rows of this many bits only, and count the others; without it, rows of
        different lengths are an error.
    """

    position_size: ClassVar[int] = 3
    only_bits: ClassVar[bool] = True
    path: Location
    notation: str = "hex"
    bit_order: str = "msb"
    length: int | None = None
    n_rows: int | None = None
    max_columns: int = MOST_COLUMNS

    def __post_init__(self) -> None:
        if self.bit_order not in BIT_ORDERS:
            raise InputError(f"bit order must be one of {BIT_ORDERS}, got {self.bit_order!r}")
        n_bits = self.length or self._first_length()
        check_width(self.path, n_bits, self.max_columns)
        if self.notation == "hex":
            self._warn_of_bits()
        self.n_bits = n_bits
        self.columns = tuple(f"x{i}" for i in range(n_bits))

    def _first_length(self) -> int:
        number = 0
        for block, _, _ in line_blocks(self.path, block=1 << 16):
            for line in block.split(b"\n")[: block.count(b"\n") or None]:
                number += 1
                try:
                    frame = parse_frame(line, self.notation)
                except FrameProblem as problem:
                    fail(self.path, f"line {number}", str(problem))
                if frame:
                    self._first_line = number
                    return frame[0]
        raise InputError(
            f"{self.path}: holds no rows (only blanks and comments): one {self.notation} string "
            "per line is expected"
        )

    def _warn_of_bits(self) -> None:
        """Warn of digits that look like bits: read as hexadecimal, three of four are constant."""
        block, _, _ = next(line_blocks(self.path, block=1 << 16))
        try:
            frames = [parse_frame(line) for line in block.split(b"\n")]
        except FrameProblem:
            return  # its line is named when rows are read
        digits = b"".join(frame[1] for frame in frames if frame)
        if len(digits) >= _TELLING and set(digits) == set(b"01"):
            first = "" if len(block) == self.path.stat().st_size else "the first of "
            warnings.warn(
                InputWarning(
                    f"{self.path}: {first}its hexadecimal digits are all 0 or 1, and each stands "
                    "for four bits; if they are bits, give ",
                    Parameter("format", "bits"),
                ),
                stacklevel=2,
            )

    def batches(
        self,
        columns: Sequence[str],
        kinds: Mapping[str, str],
        start: Position | None,
        most: int | None = None,
    ) -> Iterator[Batch]:
        """Yield the rows as 0/1 matrices."""
        offset, line, row = start or (0, 1, 1)
        chosen = None
        if tuple(columns) != self.columns:
            chosen = np.array([int(name[1:]) for name in columns])
        for block, after, done in line_blocks(self.path, offset):
            bits, lines, skipped, n_lines = self._block(block, line)
            line += n_lines
            bits = reorder(bits, self.bit_order)
            if chosen is not None:
                bits = bits[:, chosen]
            first, row = row, row + len(bits)
            if len(bits) or skipped:
                yield Batch(tuple(columns), bits, first, lines, (after, line, row), done, skipped)

    def line(self, row: int) -> int | None:
        """Return the line of a row."""
        for batch in self.batches(self.columns[:1], {}, None):
            if row < batch.first_row + len(batch):
                assert batch.lines is not None
                return int(batch.lines[row - batch.first_row])
        return None

    def _block(self, block: bytes, line: int) -> tuple[Array, Array, int, int]:
        """Parse whole lines: (bits, line of each row, rows skipped, lines read)."""
        uniform = self._uniform(block)
        if uniform is not None:
            n = len(uniform)
            return uniform, np.arange(line, line + n), 0, n
        digits, numbers, skipped = [], [], 0
        texts = block.split(b"\n")
        if not texts[-1]:
            texts.pop()
        for number, text in enumerate(texts, line):
            try:
                frame = parse_frame(text, self.notation)
            except FrameProblem as problem:
                fail(self.path, f"line {number}", str(problem))
            if frame is None:
                continue
            if frame[0] == self.n_bits:
                digits.append(frame[1])
                numbers.append(number)
            elif self.length is not None:
                skipped += 1
            else:
                fail(
                    self.path,
                    f"line {number}",
                    f"the row has {frame[0]} bits, but line {self._first_line} has {self.n_bits}; "
                    "give ",
                    Parameter("length", self.n_bits),
                    " to keep the rows of one length and count the others",
                )
        per_row = -(-self.n_bits // ALPHABETS[self.notation].width)
        flat = np.frombuffer(b"".join(digits), dtype=np.uint8).reshape(len(digits), per_row)
        bits = self._bits(ALPHABETS[self.notation].values[flat])[:, : self.n_bits]
        return bits, np.array(numbers, dtype=np.int64), skipped, len(texts)

    def _uniform(self, block: bytes) -> Array | None:
        """Parse a block whose lines all look alike at the speed of NumPy; None if they do not."""
        end = block.find(b"\n") + 1
        if end == 0 or len(block) % end:
            return None
        first = block[:end]
        head = _LENGTH.match(first)
        start = head.end() if head else 0
        stop = end - (2 if first.endswith(b"\r\n") else 1)
        _, width, values, _ = ALPHABETS[self.notation]
        if head and len(head[1]) > 9:
            return None  # the slow road names the line
        n_bits = int(head[1]) if head else width * (stop - start)
        if n_bits != self.n_bits or (stop - start) != -(-n_bits // width):
            return None
        table = np.frombuffer(block, dtype=np.uint8).reshape(-1, end)
        template = np.frombuffer(first, dtype=np.uint8)
        if not (table[:, :start] == template[:start]).all():
            return None
        if not (table[:, stop:] == template[stop:]).all():
            return None
        digits = values[table[:, start:stop]]
        if digits.size == 0 or digits.max() == _BAD:
            return None
        bits = self._bits(digits)
        if bits[:, n_bits:].any():
            return None  # the slow road names the line
        return bits[:, :n_bits]

    def _bits(self, digits: Array) -> Array:
        """Return the bits of digit values, most significant first, padding included."""
        if self.notation == "bits":
            return digits
        n, width = digits.shape
        pairs = np.zeros((n, width + width % 2), dtype=np.uint8)
        pairs[:, :width] = digits
        packed = pairs[:, 0::2] << np.uint8(4) | pairs[:, 1::2]
        return np.unpackbits(packed, axis=1, count=4 * width)
