"""What stands before a frame in its line: timestamps, identifiers, the marks of a receiver.

What is recognised is said, never left out silently; ``skip_fields`` says it outright.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from flagstone._kernels import kernels
from flagstone.errors import Parameter
from flagstone.notation import BLANKS, FrameProblem, parse_frames, without_comment
from flagstone.tables.batches import Array

_S = rb"[ \t\r\v\f]"  # no line feed: patterns are tried on many lines at once, too
_ADDRESS = rb"(?P<name>[0-9A-Fa-f]{3,8})"
_PORT = rb"[A-Za-z][\w.-]*" + _S + rb"+"
_SECONDS = rb"\d+\.\d+"
_CLOCK = rb"(?:\(" + _SECONDS + rb"\)" + _S + rb"+)?"
_TIME = rb"(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_BEFORE = _S + rb"*(?=[^\s;#/])"
_EPOCH = _S + rb"*([12]\d{9}|[12]\d{12})(?=" + _S + rb")" + _BEFORE
#: How most rows begin, and nothing else does.
_SURELY = frozenset(bytes([c]) for c in b"0123456789acdefABCDEF{[(")
#: Lines that are tried before a number of fields is recommended, and the most fields.
_TRIED, _MOST_FIELDS = 50, 8
#: No advice is worth taking apart a longer line for each number of fields.
_LONGEST_TRIED = 1 << 16
#: Beginnings that are noted for a file, and the bytes of a line that a kernel compares.
_MOST_BEGINNINGS, _WIDTH = 64, 64
#: Kinds of bytes in a known beginning: this byte, any decimal or hexadecimal digit, digits that end
#: with one of a to f, anything.
_SAME, _DECIMAL, _HEX, _OPEN_END, _FREE = range(5)


@dataclass(frozen=True)
class Layout:
    """How the lines of a file begin and end beside their frames.

    Attributes
    ----------
    what : str
        What the part before the frame is.
    begins, ends : compiled pattern or None
        That part, which every line must have, and one after the frame, which it may have. Where a
        line begins says a pattern that takes any decimal digit for another, the first in a line
        aside, and in its group ``name`` any hexadecimal digit.
    fields : int
        How many fields to leave out, whatever they are.
    said : tuple
        What is told about it: texts and parameters.
    """

    what: str = ""
    begins: re.Pattern[bytes] | None = None
    ends: re.Pattern[bytes] | None = None
    fields: int = 0
    said: tuple[str | Parameter, ...] = ()

    def frame(self, line: bytes) -> bytes:
        """Return a line with blanks for all that is no frame, so that columns stay the same.

        >>> skipping(2).frame(b"RX: 17 0d55")
        b'       0d55'
        """
        if not is_row(line):
            return b""
        if self.begins is not None:
            begun = self.begins.match(line)
            if begun is None:
                raise FrameProblem(
                    f"does not begin with {self.what}, as the first row does; keep lines of one "
                    "kind, or say how many fields to leave out with ",
                    remedy=[Parameter("skip_fields")],
                )
            line = b" " * begun.end() + line[begun.end() :]
            ended = self.ends.search(line) if self.ends is not None else None
            line = line if ended is None else line[: ended.start()]
            return line if without_comment(line).strip(BLANKS) else b"{0}"
        if self.fields:
            line = without_comment(line)
            words = line.split(None, self.fields)
            if len(words) <= self.fields and words:
                raise FrameProblem(f"has {len(words)} field(s): nothing is left to be the frame")
            line = words[-1].rjust(len(line)) if words else b""
        return line


def skipping(fields: int) -> Layout:
    """Return the layout whose first fields are no part of the frame."""
    return Layout(fields=fields)


_CAN = b"".join([_CLOCK, rb"(?:", _PORT, rb")?", _ADDRESS, rb"#(?:#[0-9A-Fa-f]|R\d?)?"])
_CAN_SHOWN = b"".join(
    [_CLOCK, _PORT, rb"(?:[RT]X +[-BE] +[-BE] +)?", _ADDRESS, _S, rb"+\[ *\d+ *\]"]
)
_STAMP = b"".join(
    [rb"(?:[(\[] *(?:", _TIME, rb"|", _SECONDS, rb"|[12]\d{9}) *[)\]]:?"]
    + [rb"|", _TIME, rb"(?=[\s,;])|", _SECONDS, rb"(?=[\s,;:]))[,;:]?", _BEFORE]
)
DIRECTION, QUOTED = re.compile(rb"(?<=\s)[RT]\s*$"), re.compile(rb"(?<=\s)'.*'\s*$")
_KNOWN = {
    "the time, port and identifier of a CAN log": (_CAN, DIRECTION),
    "the port, identifier and length of a CAN frame": (_CAN_SHOWN, QUOTED),
    "the row number of a receiver": (rb"\[ *\d+ *\] *(?=\{)", None),
    "the word 'codes' of a receiver": (rb"codes" + _S + rb"*:" + _S + rb"*(?=\{)", None),
    "a timestamp": (_STAMP, None),
}


def detect(lines: Sequence[bytes]) -> Layout:
    """Recognise what stands before the frames of these lines, the first of a file.

    A whole number may be a time or digits of the frame: it is taken for a time where every line
    begins with a plausible one and none comes before the line above it.

    >>> detect([b"(1436509052.249713) can0 123#0d5502c24108"]).what
    'the time, port and identifier of a CAN log'
    >>> detect([b"1675413347 0d55", b"1675413347 0d56"]).what, detect([b"1675 0d55"]).what
    ('a timestamp', '')
    """
    rows = list(filter(is_row, lines))
    for what, (begins, ends) in _KNOWN.items():
        pattern = re.compile(_S + rb"*" + begins)
        found = pattern.match(rows[0])
        if found is not None:
            return Layout(what, pattern, ends, said=_said(what, found[0], rows))
    pattern = re.compile(_EPOCH)
    known = [time for row in rows if (time := pattern.match(row)) is not None]
    if len(known) > len(rows) / 2 and all(int(a[1]) <= int(b[1]) for a, b in pairwise(known)):
        if len(known) == len(rows):
            return Layout("a timestamp", pattern, said=_said("a timestamp", known[0][0], rows))
        raise FrameProblem(
            f"many lines begin with what looks like a timestamp ({known[0][1].decode()!r}), but "
            "not all: keep lines of one kind, and if it is no part of the frame, give ",
            remedy=(Parameter("skip_fields", 1), ", else ", Parameter("skip_fields", 0)),
        )
    if _counts(rows):
        first = rows[0].split(None, 1)[0].decode()
        raise FrameProblem(
            f"{first!r} counts the lines: if it is no part of the frame, give ",
            1,
            (Parameter("skip_fields", 1), ", else ", Parameter("skip_fields", 0)),
        )
    return Layout()


def _said(what: str, begin: bytes, rows: Sequence[bytes]) -> tuple[str | Parameter, ...]:
    """Return what to tell of a layout."""
    shown = begin.strip().decode("ascii", "backslashreplace")
    told: list[str | Parameter] = [
        f"the lines begin with {what} ({shown!r}), which is left out of the frames; to read "
        "everything as frames give ",
        Parameter("skip_fields", 0),
    ]
    names = Counter(
        found[1].decode() for row in rows if (found := re.search(rb"(?:^|\s)(\w{3,8})#", row))
    )
    if len(names) > 1:
        name, n = names.most_common(1)[0]
        told.append(
            f". {len(names)} identifiers share the first {len(rows):,} lines, {name} has {n:,} of "
            f"them: frames of one kind answer better, e.g. those of grep '{name}#'"
        )
    return tuple(told)


def is_row(line: bytes) -> bool:
    """Say whether a line is neither blank nor a comment nor the heading of a receiver."""
    return line[:1] in _SURELY or re.match(rb"\s*(?:$|[;#]|//|bitbuffer::)", line) is None


def _counts(rows: Sequence[bytes]) -> bool:
    """Say whether the lines begin with their numbers, in a field unlike the others."""
    words = [row.split(None, 2) for row in rows]
    if len(words) < 3 or any(len(w) < 2 or not w[0].isdigit() or len(w[0]) > 9 for w in words):
        return False
    numbers = [int(w[0]) for w in words]
    alike = any(len(w[0]) == len(w[1]) for w in words)
    return not alike and all(b - a == 1 for a, b in pairwise(numbers))


def hint(lines: Sequence[bytes], notation: str) -> list[str | Parameter]:
    """Return what reads these lines, if leaving out some of them, or some fields, does."""
    rows = [line for line in lines if len(line) <= _LONGEST_TRIED and is_row(line)][:_TRIED]
    if any(re.match(rb"\s*codes\s*:\s*\{", row) for row in rows):
        return ["; of what a receiver prints keep the frames alone, with: grep '^codes'"]
    for fields in range(1, _MOST_FIELDS):
        layout = skipping(fields)
        try:
            found = [parse_frames(layout.frame(row), notation) for row in rows]
        except FrameProblem:
            continue
        if found and all(found) and min(frame.n_bits for some in found for frame in some) >= 8:
            what = "the first field is" if fields == 1 else f"the first {fields} fields are"
            return [f"; if {what} no part of the frame, give ", Parameter("skip_fields", fields)]
    return []


class Blanking:
    """What `Layout.frame` makes of lines, for whole blocks of them.

    Patterns are slow, and the lines of a capture begin alike: what a pattern said of one line is
    noted, and a kernel finds the lines that begin like it.

    Lines keep their places. A line that has no frame, or is wrong, then starts with a question
    mark, which is no digit of any notation: it is read again with care.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: Array = np.zeros((0, 2, _WIDTH), np.uint8)

    def __call__(self, block: bytes) -> bytes:
        """Return whole lines, the last with its end, blanked."""
        layout = self._layout
        if layout.begins is None and not layout.fields:
            return block
        after = (None, DIRECTION, QUOTED).index(layout.ends)
        text, p = bytearray(block), 0
        while True:
            p = kernels.blank_lines(block, text, p, layout.fields, after, self._known)
            if p == len(block):
                return bytes(text)
            stop = block.index(b"\n", p)
            line = block[p:stop]
            text[p:stop] = self._line(line)
            found = layout.begins.match(line) if layout.begins else None
            # A digit may be part of a remote request. A kernel compares no lines near the end.
            if found and not found[0].endswith(b"R") and p + _WIDTH <= len(block):
                self._note(line, found)
            p = stop + 1

    def _line(self, line: bytes) -> bytes:
        try:
            shown = self._layout.frame(line)
        except FrameProblem:
            shown = b"?"
        return (b"?" if shown == b"{0}" else shown).ljust(len(line))

    def _note(self, line: bytes, found: re.Match[bytes]) -> None:
        """Remember how a line begins: see `Layout.begins` for which bytes may differ."""
        end = found.end()
        if end >= min(_WIDTH, len(line)) or len(self._known) == _MOST_BEGINNINGS:
            return
        start, stop = found.span("name") if "name" in found.re.groupindex else (end, end)
        decimal = [i for i in range(end) if line[i : i + 1].isdigit()]
        known = np.full((2, _WIDTH), _FREE, np.uint8)
        known[0, : end + 1] = list(line[: end + 1])
        known[1, : end + 1] = _SAME
        known[1, decimal] = _DECIMAL
        known[1, [i for i in decimal[:1] if i < start]] = _SAME
        known[1, start:stop] = _HEX
        if found[0].endswith(b",") and b":" in found[0]:
            known[1, end] = _OPEN_END  # decimal digits could be a fraction of the seconds
        elif line[end] in b"0123456789abcdefABCDEF":
            known[1, end] = _HEX
        self._known = np.concatenate([self._known, known[np.newaxis]])
