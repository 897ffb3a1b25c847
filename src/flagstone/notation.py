"""How frames are written: hexadecimal digits or bits, as receivers and people write them.

``{41}cfb9f00d648`` is a row of 41 bits, the first bit being the most significant one of the first
digit; without a length a row has all the bits of its digits. Between digits there may be blanks,
``_``, or one of ``:`` ``,`` ``-`` ``;``; each byte may have its ``0x``. A line may hold several
frames, ``{30}…{30}…`` or ``…/…``, and the receiver's own ``{41} 6e 12 … : 01101110 …``. ``;``,
``#`` and ``//`` start a comment at the start of a line or after a blank, never inside a frame.

This is the one description of the notation. The kernel `parse_digits` knows nothing of it: it reads
lines that are like one which was read here, by their form (`line_form`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flagstone.errors import Parameter

BLANKS = b" \t\r\v\f"
#: Whole seconds or milliseconds since 1970 before something else in a line.
TIME = re.compile(rb"\s*([12]\d{9}|[12]\d{12})(?=[\s,;])[,;]?(?=\s*[^\s;#/])")
_COMMENT = re.compile(rb"(?:^|(?<=[ \t\r\v\f]))(?:[;#]|//)")
_MORE_BYTES = re.compile(rb"(?:\s*[0-9a-fA-F]{2}\s*;)+\s*(?:[0-9a-fA-F]{2}\s*)?")
_LENGTH = re.compile(rb"\s*\{\s*(\d+)\s*\}")
_SEPARATOR = re.compile(rb"[:,;-]")
_FRAME_START = re.compile(rb"[/{]")
_NOT_SHOWN = 24
#: Each frame, byte or blank of a line that is taken apart costs some 250 bytes of memory, however
#: short its text is; and the bits of several frames are held one by one.
_MOST_PARTS, _MOST_BITS = 1 << 20, 1 << 26
_PARTS = BLANKS + b":,;-/{"
#: Shorter texts cannot have too many parts.
_LONG = 1 << 16
#: Longer lines are read one by one.
LONGEST_FORM = 1 << 18
#: In a form: a digit, the first one of a frame, and the first of its bits shown once more.
_DIGIT, _FIRST, _AGAIN = b"\x80", b"\x81", b"\x82"


class Alphabet(NamedTuple):
    """The digits of a notation, the bits of each, what may stand before, what to call a digit."""

    digits: bytes
    width: int
    prefix: bytes
    noun: str


ALPHABETS = {
    "hex": Alphabet(b"0123456789abcdefABCDEF", 4, b"0x", "a hexadecimal digit (0-9, a-f)"),
    "bits": Alphabet(b"01", 1, b"0b", "a bit (0 or 1)"),
}
_AS_MARKS = {
    alphabet.width: bytes.maketrans(alphabet.digits, _DIGIT * len(alphabet.digits))
    for alphabet in ALPHABETS.values()
}


class WrittenFrame(NamedTuple):
    """A frame: its number of bits, and the digits that hold them."""

    n_bits: int
    digits: bytes


class Form(NamedTuple):
    """What a line has in common with others that are read alike.

    These are good, too, if their frames hold no ones beyond their bits, and the same bits where
    these are shown once more: nothing else that is found in a line depends on its digits.
    """

    text: bytes  #: up to the comment, with marks for the digits of frames
    lengths: tuple[int, ...]  #: the bits of each frame


class FrameProblem(ValueError):
    """What is wrong with one line; the reader of the file adds its name and the line."""

    def __init__(
        self, problem: str, column: int | None = None, remedy: Sequence[str | Parameter] = ()
    ) -> None:
        super().__init__(problem if column is None else f"column {column}: {problem}")
        self.problem, self.column, self.remedy = problem, column, tuple(remedy)

    def after(self, n: int) -> FrameProblem:
        """Return the problem in a line that has this many characters before the text.

        >>> print(FrameProblem("'g' is no digit", 2).after(10))
        column 12: 'g' is no digit
        """
        column = None if self.column is None else self.column + n
        return FrameProblem(self.problem, column, self.remedy)


def parse_frames(line: bytes, notation: str = "hex") -> list[WrittenFrame]:
    """Return the frames of one line, none for a blank or a comment.

    >>> parse_frames(b"{41} cfb9 f00d 648   ; a comment")
    [WrittenFrame(n_bits=41, digits=b'cfb9f00d648')]
    >>> parse_frames(b"0x0D,0x55"), parse_frames(b"0d:55")
    ([WrittenFrame(n_bits=16, digits=b'0D55')], [WrittenFrame(n_bits=16, digits=b'0d55')])
    >>> [frame.n_bits for frame in parse_frames(b"{6}b4/{7}48")]
    [6, 7]
    >>> parse_frames(b"10 11", notation="bits")
    [WrittenFrame(n_bits=4, digits=b'1011')]
    >>> parse_frames(b"# nothing here")
    []
    """
    alphabet = ALPHABETS[notation]
    if line and not line.translate(None, alphabet.digits):  # most lines: digits, nothing else
        return [WrittenFrame(alphabet.width * len(line), line)]
    text = without_comment(line)
    if not text.strip(BLANKS):
        return []
    _check_memory(text, alphabet)
    pieces = list(_pieces(text))
    announced = [_LENGTH.match(text, start, stop) for start, stop in pieces]
    any_announced = any(announced)
    for (start, stop), head in zip(pieces, announced, strict=True):
        shown = text[start:stop].strip(BLANKS)
        if not shown:
            problem = "no frame stands beside '/'; to start a comment, put a blank before '//'"
            raise FrameProblem(problem, min(stop, len(text.rstrip(BLANKS))))
        if head is None and any_announced:
            problem = f"{_quoted(shown)} stands beside a frame with a length, but has none itself"
            raise FrameProblem(problem, _first(text, start))
    return [_frame(text, *piece, alphabet) for piece in pieces]


def line_form(line: bytes, notation: str = "hex") -> Form | None:
    """Return the form of a good line; None if lines like it must be read one by one.

    >>> line_form(b"{7}b4/{12}48c").lengths
    (7, 12)
    >>> line_form(b"0x0d 0x55 # two bytes") == line_form(b"0xff 0xff ")
    True
    """
    alphabet, text = ALPHABETS[notation], without_comment(line)
    if len(text) > LONGEST_FORM:
        return None
    form, lengths, done = b"", [], 0
    for start, stop in _pieces(text):
        head, at, body = _parts(text, start, stop)
        left, colon, right = body, b"", b""
        if head and _beside_bits(body, int(head[1]), alphabet)[1] is not None:
            left, colon, right = body.partition(b" : ")
        digits = _marked(left, alphabet)
        held = alphabet.width * digits.count(_DIGIT)
        lengths.append(int(head[1]) if head else held)
        if lengths[-1] == 0 or (lengths[-1] - 1) // 64 != (held - 1) // 64:
            return None
        form += text[done:at] + digits.replace(_DIGIT, _FIRST, 1)
        form += colon + _marked(right, ALPHABETS["bits"]).replace(_DIGIT, _AGAIN, 1)
        done = at + len(body)
    return Form(form + text[done:], tuple(lengths))


def begin_with_times(rows: Sequence[bytes]) -> bool:
    """Say whether all lines begin with whole seconds or milliseconds that never go back.

    >>> begin_with_times([b"1675413347 0d55", b"1675413347 0d56"])
    True
    """
    found = [int(time[1]) for row in rows if (time := TIME.match(row)) is not None]
    return len(found) == len(rows) > 1 and all(a <= b for a, b in pairwise(found))


def begin_with_numbers(rows: Sequence[bytes]) -> bool:
    """Say whether lines begin with their numbers, in a field unlike the one after it.

    >>> begin_with_numbers([b"8 0d55", b"9 0d56", b"10 0d57"])
    True
    """
    words = [row.split(None, 2) for row in rows]
    if len(words) < 3 or any(len(w) < 2 or not w[0].isdigit() or len(w[0]) > 9 for w in words):
        return False
    numbers = [int(w[0]) for w in words]
    unlike = all(len(w[0]) != len(w[1]) for w in words)
    return unlike and all(b - a == 1 for a, b in pairwise(numbers))


def one_frame(text: bytes, notation: str = "hex") -> WrittenFrame:
    """Return the frame that a text holds, if it holds exactly one.

    >>> one_frame(b"{12}abc").n_bits
    12
    """
    if b"\n" in text.strip():
        raise FrameProblem("holds more than one line")
    found = parse_frames(text, notation)
    if len(found) != 1:
        raise FrameProblem(f"holds {len(found)} frames, where one is expected")
    return found[0]


def digit_bits(digits: Sequence[bytes], n_bits: int, notation: str = "hex") -> NDArray[np.uint8]:
    """Return digits, as many in each row as ``n_bits`` need, as a matrix of bits.

    >>> digit_bits([b"a8", b"38"], 5).tolist()
    [[1, 0, 1, 0, 1], [0, 0, 1, 1, 1]]
    """
    width = ALPHABETS[notation].width
    text = np.frombuffer(b"".join(digits), dtype=np.uint8)
    values = (text & 15) + 9 * (text >> 6)  # ASCII: letters of either case have bit 6
    shifts = np.arange(width - 1, -1, -1, dtype=np.uint8)
    bits = (values[:, np.newaxis] >> shifts & 1).astype(np.uint8, copy=False)
    return bits.reshape(len(digits), width * -(-n_bits // width))[:, :n_bits]


def without_comment(line: bytes) -> bytes:
    """Return a line up to its comment; one that could be bytes is a problem, not a comment."""
    has_marks = b";" in line or b"#" in line or b"//" in line  # found faster than by the pattern
    comment = _COMMENT.search(line) if has_marks else None
    if comment is None:
        return line
    before, after = line[: comment.start()], line[comment.end() :]
    if comment[0] == b";" and before.strip(BLANKS) and _looks_like_bytes(after):
        raise FrameProblem(
            "';' after a blank starts a comment, but what follows looks like more bytes of the "
            "row; take out the blank before it",
            comment.start() + 1,
        )
    return before


def _looks_like_bytes(text: bytes) -> bool:
    """Say whether a comment could be more bytes of a row, in pairs of digits with ``;`` between."""
    if len(text) > _LONG:  # the pattern would take memory for each pair
        return b";" in text and not text.translate(None, ALPHABETS["hex"].digits + BLANKS + b";")
    return _MORE_BYTES.fullmatch(text) is not None


def _check_memory(text: bytes, alphabet: Alphabet) -> None:
    """Refuse a line whose frames would take far more memory than its text."""
    if len(text) <= _LONG:
        return
    is_single = not text.translate(None, alphabet.digits + BLANKS + b"_")
    if is_single:  # digits and blanks, which are read without taking them apart
        return
    n_parts = len(text) - len(text.translate(None, _PARTS))
    if n_parts > _MOST_PARTS:
        raise FrameProblem(
            f"the line has {n_parts:,} blanks and separators, but up to {_MOST_PARTS:,} are read; "
            "write fewer frames on each line"
        )
    n_bits = alphabet.width * (len(text) - len(text.translate(None, alphabet.digits)))
    if n_bits > _MOST_BITS and (b"/" in text or b"{" in text):
        raise FrameProblem(
            f"the line holds {n_bits:,} bits in several frames, but up to {_MOST_BITS:,} are read; "
            "write fewer frames on each line"
        )


def _pieces(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each frame starts and stops: they are cut by ``/`` and before each length."""
    start = 0
    for found in _FRAME_START.finditer(text):
        at = found.start()
        if text.startswith(b"/*", at):
            raise FrameProblem("the comment that starts here is never closed", at + 1)
        if found[0] == b"/":
            yield start, at
            start = at + 1
        elif text[start:at].strip(BLANKS + b",;"):
            yield start, at
            start = at
    yield start, len(text)


def _parts(text: bytes, start: int, stop: int) -> tuple[re.Match[bytes] | None, int, bytes]:
    """Return the length of a frame, where its body begins, and the body."""
    head = _LENGTH.match(text, start, stop)
    at = head.end() if head else start
    body = text[at:stop].rstrip(BLANKS)
    if body[-1:] in (b",", b";") or (head and body[-2:] in (b" :", b":")):
        body = body[:-1].rstrip(BLANKS)  # the end of a line of a list, or bits not printed
    return head, at, body


def _marked(body: bytes, alphabet: Alphabet) -> bytes:
    """Return a body with marks for its digits."""
    marked = body.translate(_AS_MARKS[alphabet.width])
    for letter in (alphabet.prefix[1:], alphabet.prefix[1:].upper()):
        marked = marked.replace(_DIGIT + letter, b"0" + letter)
    return marked


def _frame(text: bytes, start: int, stop: int, alphabet: Alphabet) -> WrittenFrame:
    head, at, body = _parts(text, start, stop)
    if not body.strip(BLANKS):
        if head and not int(head[1][:10]):
            return WrittenFrame(0, b"")  # what receivers print of a row without a pulse
        raise FrameProblem("a row without digits", None if head else _first(text, start))
    if head is None:
        digits = _digits(body, at, alphabet, announced=False)
        return WrittenFrame(alphabet.width * len(digits), digits)
    if len(head[1]) > 9:
        raise FrameProblem("a row of more bits than any file holds is announced")
    n_bits = int(head[1])
    if n_bits < 1:
        raise FrameProblem("a row must have at least one bit, found {0}")
    body, repeated = _beside_bits(body, n_bits, alphabet)
    digits = _digits(body, at, alphabet, announced=True)
    held = alphabet.width * len(digits)
    if n_bits > held:
        raise FrameProblem(
            f"the row is too short: it announces {{{n_bits}}} bits, but its {len(digits)} digits "
            f"hold {held}"
        )
    value = int(digits, 1 << alphabet.width)
    if value & ((1 << (held - n_bits)) - 1):
        raise FrameProblem(
            f"the row announces {{{n_bits}}} bits, but has ones after them; correct the length"
        )
    if repeated is not None and (
        len(repeated) != n_bits or int(repeated, 2) != value >> (held - n_bits)
    ):
        raise FrameProblem("the bits after ':' are not those of the digits before it")
    return WrittenFrame(n_bits, digits[: -(-n_bits // alphabet.width)])


def _beside_bits(body: bytes, n_bits: int, alphabet: Alphabet) -> tuple[bytes, bytes | None]:
    """Part ``6e 12 : 01101110 0001`` into digits and the same as bits, if that is what it is."""
    left, colon, right = body.partition(b" : ")
    bits = right.translate(None, BLANKS)
    held = alphabet.width * (len(left) - len(left.translate(None, alphabet.digits)))
    if colon and alphabet.width > 1 and held >= n_bits and not bits.translate(None, b"01"):
        return left.rstrip(BLANKS), bits
    return body, None


def _digits(body: bytes, at: int, alphabet: Alphabet, *, announced: bool) -> bytes:
    """Return the digits alone; ``at`` is where the body begins in its line."""
    if not body.translate(None, alphabet.digits + BLANKS + b"_"):
        digits = body.translate(None, BLANKS + b"_")
        if not digits:
            raise FrameProblem("a row without digits", _first(body, 0) + at)
        return digits
    separators = _SEPARATOR.findall(body)
    separator = separators[0] if separators else b""
    spans = _spans(body, separator)
    marked = [group[:2].lower() == alphabet.prefix for _, group in spans]
    every = len(spans) > 1 and all(marked)
    if not every and (not marked[0] or any(marked[1:])):
        marked = [False] * len(spans)
    bare, groups = bytearray(body), []
    for (place, group), mark in zip(spans, marked, strict=True):
        if mark:
            bare[place : place + 2] = b"  "
        groups.append(group[2 * mark :].replace(b"_", b""))
    bad = bare.translate(None, alphabet.digits + BLANKS + b"_:,;-")
    if bad:
        column = at + bare.index(bad[:1]) + 1
        raise FrameProblem(f"{_byte(bad[0])} is not {alphabet.noun}", column)
    if len(set(separators)) > 1:
        other = next(mark for mark in separators if mark != separator)
        problem = f"both {_quoted(separator)} and {_quoted(other)} between digits"
        raise FrameProblem(problem, at + body.index(other) + 1)
    if separators or every:
        for (place, _), group in zip(spans, groups, strict=True):
            whole = alphabet.width == 1 or len(group) % 2 == 0
            _check_group(group, at + place + 1, whole or (announced and place == spans[-1][0]))
    digits = b"".join(groups).translate(None, BLANKS)
    if not digits:
        raise FrameProblem("a row without digits", at + spans[0][0] + 1)
    return digits


def _spans(body: bytes, separator: bytes) -> list[tuple[int, bytes]]:
    """Return what a separator, or without one blanks, tell apart, and where each begins."""
    if not separator:
        return [(found.start(), found[0]) for found in re.finditer(rb"\S+", body)]
    spans, place = [], 0
    for part in body.split(separator):
        spans.append((place + len(part) - len(part.lstrip(BLANKS)), part.strip(BLANKS)))
        place += len(part) + 1
    return spans


def _check_group(group: bytes, column: int, whole: bool) -> None:
    """Refuse bytes whose zeros were left out, and what a separator does not tell apart."""
    if not group:
        raise FrameProblem("a separator without digits beside it", column)
    if set(group) & set(BLANKS):
        raise FrameProblem(
            f"{_quoted(group)} has a blank inside, where a separator parts the other digits", column
        )
    if not whole:
        raise FrameProblem(f"{_quoted(group)} is no whole byte: write two digits for each", column)


def _first(text: bytes, start: int) -> int:
    """Return the column of what comes first that is not blank."""
    return start + len(text[start:]) - len(text[start:].lstrip(BLANKS)) + 1


def _quoted(text: bytes) -> str:
    cut = text[:_NOT_SHOWN] + (b"..." if len(text) > _NOT_SHOWN else b"")
    return repr(cut.decode("ascii", "backslashreplace"))


def _byte(byte: int) -> str:
    return repr(chr(byte)) if 32 <= byte < 127 else f"byte 0x{byte:02x}"
