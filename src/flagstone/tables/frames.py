"""Frames: text files with one or several hexadecimal or bit strings per line.

How a frame is written is `flagstone.notation`. Lines that hold more than frames, such as times or
identifiers, are refused here: `flagstone.frames.captures` reads them.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from flagstone._kernels import kernels
from flagstone.algebra import pack
from flagstone.algebra.bitrows import BitRows, Words
from flagstone.errors import CaptureError, InputError, InputWarning, Parameter
from flagstone.notation import (
    ALPHABETS,
    LONGEST_FORM,
    FrameProblem,
    WrittenFrame,
    begin_with_numbers,
    begin_with_times,
    digit_bits,
    line_form,
    parse_frames,
)
from flagstone.tables.batches import Array, Batch, Reader, Request, numbered
from flagstone.tables.files import check_row_bytes, line_blocks
from flagstone.wording import counted

#: Small enough for the text to stay in the cache until it is parsed, and of the first look.
_BLOCK, _HEAD = 1 << 20, 1 << 16
#: From how many lines forms are learned at a time.
_FEW = 16
#: How many frames are read in the first look.
_LOOKED = 1000
#: This many digits that are all 0 or 1 are not a coincidence.
_TELLING = 16
#: How much of a file is looked at to say which lengths its rows have; how many are listed.
_COUNTED, _LISTED = 1 << 23, 6
#: The most bits held in a byte each at a time.
_UNPACKED = 1 << 24
#: What reads a file whose lines hold more than frames.
_CAPTURE = "this is a capture, which is read by: flagstone frames FILE"
#: How much of a line is shown, and what may part a frame from something else in a line.
_SHOWN, _PARTED = 40, re.compile(rb"[\s#:(\[]")
_NO_ROW = re.compile(rb"\s*(?:$|[;#]|//)")
_COMMENTS = re.compile(
    rb"(?:^|(?<=[ \t\r\v\f]))(?:[;#]|//)[^\n]*|/\*(?s:.*?)(?P<end>\*/|\Z)", re.MULTILINE
)


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


def length_text(lengths: Mapping[int, int]) -> str:
    """Return a histogram of lengths, the commonest first.

    >>> length_text({36: 3, 41: 870})
    '870 rows of 41 bits, 3 of 36'
    """
    known = sorted(lengths.items(), key=lambda item: (-item[1], item[0]))
    words = [f"{n:,} of {bits:,}" for bits, n in known[:_LISTED]]
    words[0] = f"{counted(known[0][1], 'row')} of {counted(known[0][0], 'bit')}"
    more = len(known) - _LISTED
    return ", ".join(words) + (f", and {more:,} other lengths" if more > 0 else "")


@dataclass
class FrameReader(Reader):
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
    notation: str = "hex"
    bit_order: str = "msb"
    length: int | None = None

    def __post_init__(self) -> None:
        self._forms: dict[bytes, tuple[int, ...]] = {}
        head, number = self._head()
        if self.notation == "hex":
            self._check_beginnings(head, number)
        frames = (frame for frame in self._look_at(head, number) if frame.n_bits)
        found = list(itertools.islice(frames, _LOOKED))
        lengths = Counter(frame.n_bits for frame in found)
        if not lengths:
            self.fail(f"line {number}", "a row without bits, and no other row follows")
        self.n_bits = self.length or lengths.most_common(1)[0][0]
        self.check_width(self.n_bits)
        self.columns = numbered(self.n_bits)
        if self.notation == "hex":
            self._warn_of_bits(b"".join(frame.digits for frame in found), len(found) == _LOOKED)

    def _head(self) -> tuple[list[bytes], int]:
        """Return the lines of the first block that holds a row, from the first row on."""
        number = 1
        for block, _, _ in self._blocks(0, _HEAD):
            lines = _lines(block)
            first = next((i for i, line in enumerate(lines) if not _NO_ROW.match(line)), None)
            if first is not None:
                return lines[first:], number + first
            number += len(lines)
        raise InputError(
            f"{self.path}: holds no rows (only blanks and comments): one {self.notation} string "
            "per line is expected"
        )

    def _check_beginnings(self, lines: Sequence[bytes], number: int) -> None:
        """Refuse lines that begin with decimal times or numbers, which would be read as digits."""
        rows = [line for line in lines if not _NO_ROW.match(line)]
        times = begin_with_times(rows)
        if times or begin_with_numbers(rows):
            first = rows[0].split()[0].decode()
            what = "looks like a time" if times else "counts the lines"
            raise CaptureError(
                f"{self.path} line {number}: {first!r} {what}, in {_quoted(rows[0])}; if it is "
                "part of the row, take out the blank after it; else ",
                _CAPTURE,
            )

    def _look_at(self, lines: Sequence[bytes], number: int) -> Iterator[WrittenFrame]:
        """Yield the frames of some lines, of which only the first must be good."""
        for i, line in enumerate(lines):
            try:
                yield from parse_frames(line, self.notation)
            except FrameProblem as problem:
                if not i:
                    self._refuse(number, line, problem)

    def _warn_of_bits(self, digits: bytes, has_more: bool) -> None:
        """Warn of digits that look like bits: read as hexadecimal, three of four are constant."""
        if len(digits) >= _TELLING and set(digits) == set(b"01"):
            has_more = has_more or self.path.stat().st_size >= _HEAD
            first = "the first of " if has_more else ""
            warnings.warn(
                InputWarning(
                    f"{self.path}: {first}its hexadecimal digits are all 0 or 1, and each stands "
                    "for four bits; if they are bits, give ",
                    Parameter("format", "bits"),
                ),
                stacklevel=2,
            )

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield the rows, packed."""
        columns = asked.columns
        offset, line, row = asked.start or (0, 1, 1)
        chosen = None
        if tuple(columns) != self.columns:
            chosen = np.array([int(name[1:]) for name in columns])
        for block, after, done in self._blocks(offset):
            words, lines, skipped, n_lines = self._block(block, line)
            line += n_lines
            rows = BitRows.trusted(words, self.n_bits)
            if self.bit_order != "msb" or chosen is not None:
                rows = self._arranged(rows, chosen)
            first, row = row, row + len(rows)
            if len(rows) or skipped:
                yield Batch(rows, first, lines, (after, line, row), done, skipped)

    def lengths(self) -> Counter[int]:
        """Count the rows of each length, as far as a look at the beginning of the file goes."""
        counts: Counter[int] = Counter()
        for block, after, _ in self._blocks(0):
            for line in _lines(block):
                with contextlib.suppress(FrameProblem):  # a problem for another message
                    counts.update(frame.n_bits for frame in parse_frames(line, self.notation))
            if after >= _COUNTED:
                break
        return counts

    def _blocks(self, offset: int, size: int = _BLOCK) -> Iterator[tuple[bytes, int, float]]:
        """Yield blocks of whole lines with blanks in place of ``/* */``; none ends inside one."""
        held, after = b"", offset
        for block, after, done in line_blocks(self.path, offset, size):
            text, held = held + block, b""
            if b"*" in text:  # a single byte is found fast
                where = f"the lines before byte {after:,}"
                self.check_parts(where, text.count(b"/*"), "comments (/* */)")
                plain, cut = _without_comments(text)
                text, held = plain[:cut], text[cut:]
                check_row_bytes(self.path, f"the comment before byte {after:,}", len(held))
            if text:
                yield text, after - len(held), done
        if held:
            yield held, after, 1.0  # a comment without an end: its line is refused

    def _block(self, block: bytes, line: int) -> tuple[Words, range | Array, int, int]:
        """Parse whole lines: (packed rows, line of each row, rows skipped, lines read).

        Lines of a known form are read by a kernel, the others, and every line that is wrong, with
        care: few at first, since the next ones may be like them.
        """
        if not block.endswith(b"\n"):
            block += b"\n"
        parts: list[tuple[Words, Array]] = []
        first, skipped, most_hard = line, 0, _FEW
        while block or not parts:
            known = len(self._forms)
            words, lines, hard, left_out, n_lines, stop = kernels.parse_digits(
                block,
                line,
                ALPHABETS[self.notation].width,
                self.n_bits,
                list(self._forms.items()),
                most_hard,
            )
            skipped += left_out
            if len(hard):
                rest = [(n, block[start:end]) for n, start, end in hard.tolist()]
                more, numbers, left_out = self._with_care(rest)
                skipped += left_out
                lines = np.concatenate([lines, numbers])
                order = np.argsort(lines, kind="stable")
                words, lines = np.concatenate([words, more])[order], lines[order]
            parts.append((words, lines))
            block, line = block[stop:], line + n_lines
            most_hard = 2 * most_hard if len(self._forms) == known else _FEW + len(self._forms)
        words, lines = parts[0]
        if len(parts) > 1:
            words, lines = (np.concatenate(some) for some in zip(*parts, strict=True))
        return words, lines, skipped, line - first

    def _with_care(self, texts: Iterable[tuple[int, bytes]]) -> tuple[Words, Array, int]:
        """Parse numbered lines one by one: (packed rows, line of each row, rows skipped)."""
        kept: list[bytes] = []
        numbers: list[int] = []
        skipped = 0
        if sum(map(len, self._forms)) > LONGEST_FORM:
            self._forms.clear()
        for i, (number, text) in enumerate(texts):
            try:
                frames = parse_frames(text, self.notation)
            except FrameProblem as problem:
                self._refuse(number, text, problem)
            for frame in frames:
                if frame.n_bits == self.n_bits:
                    kept.append(frame.digits)
                    numbers.append(number)
                elif self.length is not None:
                    skipped += 1
                else:
                    self._refuse_length(number, frame.n_bits)
            if i < _FEW and (form := line_form(text, self.notation)) is not None:
                self._forms[form.text] = form.lengths
        packed = [
            pack(digit_bits(kept[piece], self.n_bits, self.notation)).words
            for piece in self._pieces(len(kept))
        ]
        return np.concatenate(packed), np.array(numbers, dtype=np.int64), skipped

    def _arranged(self, rows: BitRows, chosen: Array | None) -> BitRows:
        """Return the chosen bits of rows in the order asked for, few rows at a time."""
        parts = []
        for piece in self._pieces(len(rows)):
            bits = reorder(rows[piece].unpack(), self.bit_order)
            parts.append(pack(bits if chosen is None else bits[:, chosen]))
        return BitRows.trusted(np.concatenate([part.words for part in parts]), parts[0].dim)

    def _pieces(self, n_rows: int) -> list[slice]:
        """Cut rows, of which there may be none, so that the bits of a piece fit into memory."""
        step = max(1, _UNPACKED // self.n_bits)
        return [slice(first, first + step) for first in range(0, max(1, n_rows), step)]

    def _refuse(self, number: int, line: bytes, problem: FrameProblem) -> NoReturn:
        if _PARTED.search(line.strip()):
            raise CaptureError(
                f"{self.path} line {number}: {problem}, in {_quoted(line)}; if lines hold more "
                "than frames (times, identifiers, names), ",
                _CAPTURE,
            )
        self.fail(f"line {number}", str(problem))

    def _refuse_length(self, number: int, n_bits: int) -> NoReturn:
        try:
            lengths = self.lengths()
        except InputError:  # of a stream that cannot be read again
            lengths = Counter([self.n_bits, n_bits])
        self.fail(
            f"line {number}",
            f"the row has {n_bits} bits, others have {self.n_bits} ({length_text(lengths)}); give ",
            Parameter("length", most_common(lengths)),
            " to keep the rows of one length and count the others",
        )


def most_common(lengths: Counter[int]) -> int:
    """Return the commonest length that is one, of several the shortest."""
    return min(lengths, key=lambda n_bits: (n_bits == 0, -lengths[n_bits], n_bits))


def _quoted(line: bytes) -> str:
    """Return the beginning of a line in quotes."""
    text = line.strip()
    cut = text[:_SHOWN] + (b"..." if len(text) > _SHOWN else b"")
    return repr(cut.decode("ascii", "backslashreplace"))


def _lines(block: bytes) -> list[bytes]:
    lines = block.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def _without_comments(text: bytes) -> tuple[bytes, int]:
    """Return text with blanks for comments in ``/* */``, and where the line of an open one is."""
    cut = len(text)

    def blanked(found: re.Match[bytes]) -> bytes:
        nonlocal cut
        if found["end"] is None:
            return found[0]
        if not found["end"]:
            cut = text.rfind(b"\n", 0, found.start()) + 1
        return re.sub(rb"[^\n]", b" ", found[0])

    return _COMMENTS.sub(blanked, text), cut
