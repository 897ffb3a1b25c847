"""Read frames from the files that receivers, bus loggers and people write.

:data:`FORMATS` names them. Each has a reader: a text in, the digits of frames out, with what else
their line says (time, id, model) as columns. :func:`recognise` tells the format from the text.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from flagstone.errors import InputError, Parameter
from flagstone.notation import (
    ALPHABETS,
    BLANKS,
    TIME,
    FrameProblem,
    begin_with_numbers,
    begin_with_times,
    digit_bits,
    parse_frames,
)
from flagstone.tables.files import opened
from flagstone.wording import counted

#: The names for ``-f``, and what each is.
FORMATS = {
    "hex": "hexadecimal digits, a line for each frame",
    "bits": "the digits 0 and 1, a line for each frame",
    "rtl_433": "what rtl_433 prints: codes, or rows of a bit buffer",
    "json": "rtl_433 -F json, or any JSON objects with a frame in them",
    "candump": "a CAN log of candump, with or without -L",
    "csv": "SavvyCAN, or any table with a column of frames",
    "c": "arrays of a C or Python program: {0x2d, 0x51}",
    "bitbench": "links to BitBench",
    "can": "asc, blf, mf4 or trc through python-can",
    "raw": "binary records of one length",
}
#: What CAN loggers other than candump write, by suffix; read by python-can.
CAN_SUFFIXES = (".asc", ".blf", ".mf4", ".trc")
#: The most bytes and lines of a file that are read, and bytes in a line of digits: a digit takes
#: up to 100 bytes of memory before it is a bit, and a line some hundred more.
MOST_TEXT, MOST_LINES, MOST_LINE = 1 << 26, 1_000_000, 1 << 20
#: The most bytes of a line that a message shows.
_SHOWN = 24
#: Numbers that show that bytes are in decimal.
_FEWEST_NUMBERS = 16
#: Lines that mostly show that a file is no dump.
_FEW_ROWS = 20
_AS_A_WHOLE = "and frames are read as a whole: cut the file into parts, and take one"

_HEX, _BITS = b"0123456789abcdefABCDEF", b"01"
_S = rb"[ \t\r\v\f]"
_SECONDS = rb"\d+\.\d+"
_TIME = rb"(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_STAMP = re.compile(
    rb"\s*(?:[(\[] *(?:%(t)s|%(s)s|[12]\d{9}) *[)\]]:?|(?:%(t)s|%(s)s)(?=[\s,;:]))[,;:]?(?=\s*\S)"
    % {b"t": _TIME, b"s": _SECONDS}
)
_ROW_NUMBER = re.compile(rb"\s*(?:\[ *\d+ *\]|codes\s*:)\s*(?=\{)")
_ANNOUNCED = re.compile(rb"\{\s*(\d+)\s*\}([^{]*)")
_CAN = re.compile(
    rb"\s*(?:\((?P<time>[^)]*)\)\s+)?(?:(?P<channel>[A-Za-z][\w.-]*)\s+)?"
    rb"(?:(?P<id>[0-9A-Fa-f]{3,8})\#(?P<fd>\#[0-9A-Fa-f])?(?P<remote>R\d?)?(?P<data>[0-9A-Fa-f._]*)"
    rb"(?:\s+[RT])?\s*$"
    rb"|(?:[RT]X +[-BE] +[-BE] +)?(?P<id2>[0-9A-Fa-f]{3,8})\s+\[ *\d+ *\]"
    rb"(?P<data2>(?:\s+[0-9A-Fa-f]{2})*)(?P<remote2>\s+remote request)?(?:\s+'.*')?\s*$)"
)
_RTL_NOISE = (b"bitbuffer::", b"Analyzing pulses", b"[pulse_slicer", b"pulse_demod", b"_ _ _")
_RTL_COLUMN = re.compile(rb"(?:^|\s)(time|model|id|channel)\s*:\s*(.*?)(?:\s{2,}|\s*$)")
_DECIMAL = re.compile(rb"0|[1-9]\d{0,2}")
#: A line of a dump: its address, and bytes or words as xxd, or as od and hexdump write them.
_DUMPED = re.compile(
    rb"([0-9a-fA-F]{6,16})(?::((?: (?:[0-9a-fA-F]{2})+)+)(?: .*)?"
    rb"|((?: +(?:[0-9a-fA-F]{2}){1,8})*) *(?:[|>].*)?)"
)
_NUMBER = r"(?:0[xX][0-9a-fA-F]+|\d{1,3})\s*"
_ARRAY = re.compile(rf"[{{\[(]\s*({_NUMBER}(?:,\s*{_NUMBER})*),?\s*[}}\])]")
_ESCAPED = re.compile(r"((?:\\x[0-9a-fA-F]{2})+)")
_NAME = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*[=:]\s*(?:b?[\"'])?$")
_BYTE_COLUMN = re.compile(r"(?:d|b|db|data|byte)[ _]?(\d{1,2})")
_FRAME_COLUMNS = (
    "codes", "rows", "raw_msg", "raw_message", "raw", "frame", "frames", "payload", "data",
    "databytes", "data bytes", "code", "hex", "bits", "message", "msg",
)  # fmt: skip


class WrittenFrames(NamedTuple):
    """Digits of one or several frames: their line, the columns beside them, and the line itself.

    ``start`` says where in the line the digits begin. Without a line, they are a value in it.
    """

    line: int
    digits: bytes
    columns: Mapping[str, str]
    shown: bytes = b""
    start: int = 0


@dataclass
class Reading:
    """How a file is read (as for `read_capture`), and what is to be said about that.

    Attributes
    ----------
    notation : str
        Of digits without a mark: hex or bits.
    notes : Counter of str
        What was left out or cut, and how often.
    bad_lines : list of int
        The lines that were left out.
    """

    path: object
    skip_fields: int | None = None
    length: int | None = None
    skip_bad_lines: bool = False
    notation: str = "hex"
    notes: Counter[str] = field(default_factory=Counter)
    bad_lines: list[int] = field(default_factory=list)

    def bad(self, line: int, problem: FrameProblem) -> None:
        """Count a line that cannot be read, or refuse it."""
        if not self.skip_bad_lines:
            skip = ("; to leave out what cannot be read, give ", Parameter("skip_bad_lines"))
            text = f"{self.path} line {line}: {problem}"
            raise InputError(text, *(problem.remedy or skip)) from problem
        if self.bad_lines[-1:] != [line]:
            self.bad_lines.append(line)

    def said(self) -> list[str]:
        """Return the notes for people."""
        said = [f"{note} ({n:,})" if n > 1 else note for note, n in self.notes.items()]
        if self.bad_lines:
            n = counted(len(self.bad_lines), "line")
            said.append(f"{n} left out, the first is line {self.bad_lines[0]}")
        return said


def read_file(
    path: Any, format: str | None, reading: Reading
) -> tuple[str, Iterator[tuple[int, bytes, Mapping[str, str]]]]:
    """Return the format of a file, and its frames.

    Each comes with its line and columns, and has a byte, 0 or 1, for each bit.
    """
    suffix = Path(str(path)).suffix.lower()
    if format == "can" or (format is None and suffix in CAN_SUFFIXES):
        return "can", _frames(_read_can(str(path)), reading)
    with opened(path) as stream:
        text = stream.read(MOST_TEXT + 1)
    if len(text) > MOST_TEXT:
        raise InputError(f"{path}: more than {MOST_TEXT >> 20} MiB, {_AS_A_WHOLE}")
    if format != "raw":
        if text.count(b"\n") > MOST_LINES:
            raise InputError(f"{path}: more than {MOST_LINES:,} lines, {_AS_A_WHOLE}")
        text = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    if format is None:
        if _is_binary(text[:4096]):
            samples = "; radio samples are demodulated first, as by rtl_433" * _may_be_samples(path)
            raise InputError(
                f"{path}: this is binary{samples}; if it holds records of one length, give ",
                Parameter("format", "raw"),
                " and ",
                Parameter("length"),
            )
        format = recognise(text)
        if format in (*ALPHABETS, "c"):  # an array may stand in a comment
            format = {".hex": "hex", ".bits": "bits"}.get(suffix, format)
    reading.notation = format if format in ALPHABETS else "hex"
    return format, _frames(_READERS[format](text, reading), reading)


def _frames(
    written: Iterable[WrittenFrames], reading: Reading
) -> Iterator[tuple[int, bytes, Mapping[str, str]]]:
    before = ""
    for line, digits, columns, shown, start in written:
        try:
            for bits in _frame_bits(digits, reading):
                yield line, bits, columns
            if shown and "before" in columns:
                before = before or columns["before"][:40]
                reading.notes[f"left out before each frame: {before!r}, or the like"] += 1
        except FrameProblem as problem:
            if shown:
                problem = problem.after(start)
                said = f"{problem}, in {_around(shown, problem.column)}"
            else:
                said = f"{_shown(digits)} is no frame: {problem}"
            reading.bad(line, FrameProblem(said, remedy=problem.remedy))


def recognise(text: bytes) -> str:
    """Return the format of a text, from its first lines.

    >>> recognise(b'{"model": "X", "codes": "{12}abc"}'), recognise(b"can0  123   [2]  0D 55")
    ('json', 'candump')
    >>> recognise(b"1011001110001111"), recognise(b"uint8_t a[] = {0x2d, 0x51};")
    ('bits', 'c')
    """
    lines = [line for line in text[: 1 << 16].split(b"\n") if _is_content(line)]
    if not lines:
        return "hex"
    first = lines[0].strip()
    if re.match(rb"[\[\s]*\{\s*(?:\"|$)", first) or re.match(rb"\[\s*(?:\{\s*\"|$)", first):
        return "json"
    if b"bitbench" in first or re.match(rb"\S*#[a-z]=", first):
        return "bitbench"
    if any(_CAN.match(line) for line in lines[:3]):
        return "candump"
    if any(noise in line for line in lines for noise in _RTL_NOISE) or any(
        re.match(rb"\s*codes\s*:\s*\{", line) for line in lines
    ):
        return "rtl_433"
    source = text[: 1 << 16].decode("utf-8", "replace")
    in_array = re.search(r"[{\[(]\s*(?:/\*.*?\*/\s*)?0[xX][0-9a-fA-F]+\s*,", source)
    if in_array or _ESCAPED.search(source):
        return "c"
    if _is_header(first):
        return "csv"
    digits = b"".join(_digits_only(line) for line in lines[:200])
    return "bits" if len(digits) >= 16 and not digits.translate(None, _BITS) else "hex"


def _is_content(line: bytes) -> bool:
    return re.match(rb"\s*(?:$|[;#](?![a-z]=)|//)", line) is None


def _digits_only(line: bytes) -> bytes:
    """Return the digits of a line, without what stands before them, as far as that is simple."""
    body = _after_fields(line)[0]
    announced = _ANNOUNCED.search(body)
    if announced:
        digits = announced[2].split(b" : ")[0].translate(None, BLANKS + b"_:,-/")
        return digits if len(digits) == int(announced[1]) else b"f"
    words = body.split()
    return b"".join(words).translate(None, b"_:,-/;") if words and _may_be_frame(words[0]) else b""


def _is_header(line: bytes) -> bool:
    """Say whether a line names columns: several, one of them for frames or for bytes."""
    text = line.decode("utf-8", "replace").lower()
    names = [name.strip(' "\r') for name in text.split(max(",;\t", key=text.count))]
    known = [name in _FRAME_COLUMNS or _BYTE_COLUMN.fullmatch(name) for name in names]
    return len(names) > 1 and any(known) and all(not name[:1].isdigit() for name in names)


# --- lines of digits -----------------------------------------------------------------------------


def _read_digits(text: bytes, reading: Reading) -> Iterator[WrittenFrames]:
    """Read a frame, or several, from each line of hexadecimal digits or bits."""
    for number, line in enumerate(text.split(b"\n"), 1):
        if len(line) > MOST_LINE:
            raise InputError(
                f"{reading.path} line {number}: longer than {MOST_LINE >> 20} MiB, the most that "
                "is read of a line; is this a file of frames, one per line?"
            )
    lines = list(enumerate(_without_comments(text).split(b"\n"), 1))
    rows = [line for _, line in lines if _is_content(line)]
    automatic = reading.skip_fields is None and bool(rows)
    if automatic:
        _check_dump(rows)
        _check_decimal(rows)
    epoch = automatic and begin_with_times(rows)
    trailing = automatic and all(_has_trailing(_after_fields(row)[0]) for row in rows[:50])
    for number, line in lines:
        if not _is_content(line):
            continue
        if reading.skip_fields is not None:
            words = line.split(None, reading.skip_fields)
            if len(words) <= reading.skip_fields:
                said = f"has {len(words)} fields: nothing is left to be the frame, in "
                reading.bad(number, FrameProblem(said + _shown(line.strip())))
                continue
            body = words[-1] if reading.skip_fields else line
            yield WrittenFrames(number, body, {}, line, len(line) - len(body))
            continue
        body, columns = _after_fields(line, epoch)
        start = len(line) - len(body)
        if trailing:
            body = _without_trailing(body)
            reading.notes["the text after each frame is not read"] += 1
        yield WrittenFrames(number, body, columns, line, start)


def _without_comments(text: bytes) -> bytes:
    if b"/*" not in text:
        return text
    return re.sub(rb"/\*.*?\*/", lambda m: re.sub(rb"[^\n]", b" ", m[0]), text, flags=re.DOTALL)


def _is_binary(text: bytes) -> bool:
    """Say whether bytes are no text: a zero, or many that no text in ASCII has."""
    others = text.translate(None, bytes(range(32, 127)) + b"\t\n\v\f\r")
    return b"\0" in text or 4 * len(others) > len(text)


def _may_be_samples(path: Path) -> bool:
    """Say whether a file has the suffix of radio samples: cu8, cs16, cf32, …."""
    return re.fullmatch(r"\.(iq|c[usf]\d+)", path.suffix.lower()) is not None


def _check_decimal(rows: Sequence[bytes]) -> None:
    """Refuse bytes in decimal, such as 90 110 7: of one, two or three digits."""
    tokens = [token for row in rows for token in row.split()]
    lengths = {len(token) for token in tokens}
    if len(tokens) < _FEWEST_NUMBERS or not (3 in lengths and len(lengths) > 1):
        return
    if all(_DECIMAL.fullmatch(token) and int(token) < 256 for token in tokens):
        raise FrameProblem(
            f"these are bytes in decimal ({rows[0].strip().decode()}), and frames are written in "
            "hexadecimal or bits: print each byte as %02x"
        )


def _check_dump(rows: Sequence[bytes]) -> None:
    """Refuse a hex dump with offsets, and numbered lines: only a person knows what they mean."""
    if _are_dumped(rows[:_FEW_ROWS]) and _are_dumped(rows):
        raise FrameProblem(
            f"this is a hex dump of a binary file; {_undumped_by(rows)}, and give ",
            remedy=[Parameter("format", "raw"), " and ", Parameter("length")],
        )
    if begin_with_numbers(rows):
        first = rows[0].split(None, 1)[0].decode()
        raise FrameProblem(
            f"{first!r} counts the lines; if it is no part of the frame, give ",
            remedy=[Parameter("skip_fields", 1), ", else ", Parameter("skip_fields", 0)],
        )


def _are_dumped(rows: Sequence[bytes]) -> bool:
    """Say whether each line begins with an address: that of the line before plus its bytes.

    A line ``*`` stands for repeated ones. The last line may hold nothing but an address.
    """
    lines = [_DUMPED.fullmatch(row.rstrip()) for row in rows if row.strip() != b"*"]
    found = [line for line in lines if line]
    if len(found) < max(2, len(lines)):
        return False
    sizes = [_n_bytes(line) for line in found[:-1]]
    for base in (16, 8, 10):
        with contextlib.suppress(ValueError):  # a digit that is none in this base
            addresses = [int(line[1], base) for line in found]
            steps = [b - a for a, b in pairwise(addresses)]
            repeated = len(found) < len(rows)
            if all(
                n and (step == n or (repeated and step > n and step % n == 0))
                for n, step in zip(sizes, steps, strict=True)
            ):
                return len(found) > 2 or addresses[0] == 0
    return False


def _n_bytes(line: re.Match[bytes]) -> int:
    """Return how many bytes a line of a dump holds; words of six digits are octal, two bytes."""
    words = (line[2] or line[3] or b"").split()
    return sum(2 if len(word) == 6 and line[2] is None else len(word) // 2 for word in words)


def _undumped_by(rows: Sequence[bytes]) -> str:
    """Say how to make the lines of a dump binary again."""
    first = _DUMPED.fullmatch(rows[0].rstrip())
    if first is None or first[2] is not None:
        return "make it binary again (xxd -r)"
    is_whole = all(row.strip() != b"*" for row in rows)
    if is_whole and all(len(word) == 2 for word in first[3].split()):
        start, stop = first.span(3)
        return f"make it binary again (cut -c{start + 1}-{stop} FILE | xxd -r -p)"
    return "take the file itself, or dump it with xxd and make that binary again (xxd -r)"


def _after_fields(line: bytes, epoch: bool = False) -> tuple[bytes, dict[str, str]]:
    """Return a line without what stands before its frames, and the time that it begins with."""
    columns: dict[str, str] = {}
    found = (TIME if epoch else _STAMP).match(line)
    if found:
        line = line[found.end() :]
        columns["time"] = found[0].strip(BLANKS + b"[](),;:").decode("ascii", "replace")
    found = _ROW_NUMBER.match(line)
    if found:
        return line[found.end() :], columns
    words = line.split()
    left_out = 0
    while len(words) > left_out + 1 and not (
        _may_be_frame(words[left_out]) and not _is_label(words, left_out)
    ):
        line = line[line.index(words[left_out]) + len(words[left_out]) :]
        left_out += 1
    if left_out:
        columns["before"] = b" ".join(words[:left_out]).decode("utf-8", "replace")
    return line, columns


def _is_label(words: Sequence[bytes], place: int) -> bool:
    """Say whether a word is the only one that ends in a colon: ``cc1101: 2d 51``."""
    return words[place].endswith(b":") and not any(w.endswith(b":") for w in words[place + 1 :])


def _may_be_frame(word: bytes) -> bool:
    """Say whether a word can be digits of a frame."""
    if word.startswith(b"-"):
        return False
    bare = word.lower().replace(b"0x", b"").replace(b"0b", b"").translate(None, b"{}_:,-;/")
    return not bare.translate(None, _HEX) and (bool(bare) or word[:1] in b"{/")


def _without_trailing(body: bytes) -> bytes:
    """Return a text up to the first word that cannot be digits of a frame."""
    words = re.finditer(rb"\S+", body)
    return body[: next((word.start() for word in words if not _may_be_frame(word[0])), len(body))]


def _has_trailing(body: bytes) -> bool:
    """Say whether words follow a frame that are no comment."""
    frame = _without_trailing(body)
    rest = body[len(frame) :]
    return bool(frame.strip() and rest) and b"{" not in body and not re.match(rb"[;#]|//", rest)


def _frame_bits(text: bytes, reading: Reading) -> Iterator[bytes]:
    """Return the frames of a text, each as bytes 0 and 1; rows without bits are left out.

    A row with its length, ``{41}cfb9f00d648``, ends there, whatever follows.
    """
    if b"{" not in text:
        for n_bits, digits in parse_frames(text, reading.notation):
            yield digit_bits([digits], n_bits, reading.notation).tobytes()
        return
    before = text[: text.index(b"{")].strip(BLANKS + b",;/")
    if before:
        raise FrameProblem(f"{_shown(before)} stands before a frame with a length, but has none")
    for length, body in _ANNOUNCED.findall(text):
        n_bits = int(length[:9])
        if n_bits:
            yield _announced(n_bits, body.split(b" : ")[0], reading)
        else:
            reading.notes["rows {0} without bits are left out"] += 1


def _announced(n_bits: int, body: bytes, reading: Reading) -> bytes:
    """Return the bits of a row that says its length."""
    plain = re.sub(rb"0[xX](?=[0-9a-fA-F]{2})", b"  ", body)
    digits = re.sub(rb"[^0-9a-fA-F\s_:,/-].*", b"", plain, flags=re.DOTALL)
    digits = digits.translate(None, BLANKS + b"_:,/-")
    notation = "bits" if len(digits) == n_bits and not digits.translate(None, _BITS) else "hex"
    width = ALPHABETS[notation].width
    needed = -(-n_bits // width)
    if len(digits) < needed:
        raise FrameProblem(
            f"announces {{{n_bits}}} bits, but its {len(digits)} digits hold {width * len(digits)}"
        )
    spare = int(digits[needed - 1 : needed], 16) & ((1 << (needed * width - n_bits)) - 1)
    if spare or digits[needed:].strip(b"0"):
        reading.notes["rows are cut at the length that they announce; more digits follow"] += 1
    return digit_bits([digits[:needed]], n_bits, notation).tobytes()


def _shown(text: bytes) -> str:
    return repr(text[:_SHOWN].decode("utf-8", "replace"))


def _around(line: bytes, column: int | None) -> str:
    """Return the beginning of a line, or what stands at a column further on."""
    blanks = len(line) - len(line.lstrip())
    if column is None or column <= blanks + _SHOWN:
        return _shown(line.strip())
    return f"…{_shown(line[column - 1 - _SHOWN // 2 :])}"


# --- receivers and buses -------------------------------------------------------------------------


def _read_rtl_433(text: bytes, reading: Reading) -> Iterator[WrittenFrames]:
    """Read the ``codes`` lines of rtl_433's text output, or else the rows of its bit buffers."""
    lines = text.split(b"\n")
    marks = [rb"\s*codes\s*:\s*(?=\{)", rb"\s*\[ *\d+ *\]\s*(?=\{)", rb"\s*(?=\{\d+\})"]
    kinds = [mark for mark in marks if any(re.match(mark, line) for line in lines)]
    if len(kinds) > 1 and kinds[0] == marks[0]:  # the rows below repeat the codes
        kinds = [kind for kind in kinds if kind != marks[1]]
    if not kinds:
        raise FrameProblem("rtl_433 printed no codes here; run it with -A, or with -F json -M bits")
    columns: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if line.startswith((b"_ _", b"Analyzing")):
            columns = {}
        start = next((m for kind in kinds if (m := re.match(kind, line))), None)
        if start is not None:
            yield WrittenFrames(number, line[start.end() :], dict(columns), line, start.end())
            continue
        for name, value in _RTL_COLUMN.findall(line):
            columns[name.decode()] = value.decode("utf-8", "replace")


def _read_json(text: bytes, reading: Reading) -> Iterator[WrittenFrames]:
    """Read JSON objects, one for each line or in one list, with a frame among their keys."""
    for number, item in _objects(text, reading):
        key = next((name for name in _FRAME_COLUMNS if item.get(name)), None)
        if key is None:
            said = f"no key holds a frame (keys: {', '.join(list(item)[:8])})"
            reading.bad(number, FrameProblem(f"{said}; rtl_433 adds codes with -M bits"))
            continue
        columns = {
            name: str(value)
            for name, value in item.items()
            if name != key and isinstance(value, (str, int, float, bool))
        }
        for found in item[key] if isinstance(item[key], list) else [item[key]]:
            if isinstance(found, dict) and "data" in found:  # of a flex decoder's rows
                length = f"{{{found['len']}}}" if "len" in found else ""
                found = f"{length}{found['data']}"
            if not isinstance(found, str):
                reading.bad(number, FrameProblem(f"{_shown(str(found).encode())} is no frame"))
                break
            yield WrittenFrames(number, found.encode(), columns)


def _objects(text: bytes, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of lines, or of one list, with the line where each begins."""
    plain = text.decode("utf-8", "replace")
    decoder, between = json.JSONDecoder(), re.compile(r"[\s,\[\]]*")
    at, number = 0, 1
    while True:
        start = len(between.match(plain, at)[0]) + at  # type: ignore[index]
        number += plain.count("\n", at, start)
        if start == len(plain):
            return
        try:
            item, at = decoder.raw_decode(plain, start)
            if not isinstance(item, dict):
                raise ValueError
            yield number, item
        except (ValueError, RecursionError):
            at = len(plain) if (end := plain.find("\n", start)) < 0 else end
            problem = FrameProblem(f"{_shown(plain[start:at].encode())} is no JSON object")
            reading.bad(number, problem)
        number += plain.count("\n", start, at)


def _read_candump(text: bytes, reading: Reading) -> Iterator[WrittenFrames]:
    """Read candump's log lines and screen lines, each with time, channel and id."""
    for number, line in enumerate(text.split(b"\n"), 1):
        if not _is_content(line):
            continue
        found = _CAN.match(line)
        if found is None:
            reading.bad(number, FrameProblem(f"{_shown(line.strip())} is no line of candump"))
            continue
        data = (found["data"] or found["data2"] or b"").translate(None, BLANKS + b"._")
        if found["remote"] or found["remote2"]:
            reading.notes["remote requests hold no data and are left out"] += 1
        elif not data:
            reading.notes["frames without data are left out"] += 1
        elif len(data) % 2:
            reading.bad(number, FrameProblem(f"{_shown(data)} is no whole number of bytes"))
        else:
            columns = {"id": f"0x{(found['id'] or found['id2']).decode()}"}
            for name in ("time", "channel"):
                if found[name]:
                    columns[name] = found[name].decode("utf-8", "replace")
            yield WrittenFrames(number, data, columns)


def _read_csv(text: bytes, reading: Reading) -> Iterator[WrittenFrames]:
    """Read a table with a column of frames, or with a column for each byte (SavvyCAN)."""
    plain = text.decode("utf-8-sig", "replace").replace("\r", " ")
    first = next((line for line in plain.split("\n") if line.strip()), None)
    if first is None:
        return
    reader = csv.reader(plain.split("\n"), delimiter=max(",;\t", key=first.count))
    rows = (row for row in _csv_rows(reader) if any(map(str.strip, row)))
    names = [name.strip().lower().replace("time stamp", "time") for name in next(rows, [])]
    places = [i for i, name in enumerate(names) if _BYTE_COLUMN.fullmatch(name)]
    in_bytes = bool(places)
    if not in_bytes:
        places = [names.index(name) for name in _FRAME_COLUMNS if name in names][:1]
    if not places:
        raise FrameProblem(f"no column holds frames (columns: {', '.join(names[:8])})")
    for row in rows:
        cells = [cell.strip() for cell in row]
        beside = zip(names, cells, strict=False)
        columns = {name: c for i, (name, c) in enumerate(beside) if i not in places and c}
        body = [cells[i] for i in places if i < len(cells)]
        try:
            if in_bytes and "id" in columns:
                columns["id"] = f"0x{columns['id'].removeprefix('0x')}"
            digits = _byte_cells(body, columns) if in_bytes else "".join(body)
        except FrameProblem as problem:
            reading.bad(reader.line_num, problem)
            continue
        yield WrittenFrames(reader.line_num, digits.encode(), columns)


def _csv_rows(reader: Any) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise FrameProblem(f"line {reader.line_num} is no row of a table: {error}") from error


def _byte_cells(cells: Sequence[str], columns: Mapping[str, str]) -> str:
    """Return bytes that stand in a cell each, single digits too, as many as the length says."""
    length = next((columns[n] for n in ("len", "dlc", "length") if n in columns), "")
    cells = cells[: int(length)] if length.isdigit() else cells
    digits = []
    for cell in cells:
        bare = cell.lower().removeprefix("0x")
        if bare and (len(bare) > 2 or bare.strip("0123456789abcdef")):
            raise FrameProblem(f"{cell!r} is no byte in hexadecimal, of two digits")
        digits.append(bare.zfill(2) if bare else "")
    return "".join(digits)


def _read_c(text: bytes, reading: Reading) -> Iterator[WrittenFrames]:
    r"""Read arrays of numbers, ``{0x2d, 0x51}``, and strings ``"\x2d\x51"``."""
    plain = _without_comments(text).decode("utf-8", "replace")
    plain = re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), plain)
    found = [(m.start(), m.start(1), m[1]) for m in _ARRAY.finditer(plain) if "0x" in m[1].lower()]
    found = found or [(m.start(), m.start(), m[1]) for m in _ESCAPED.finditer(plain)]
    if not found:
        raise FrameProblem("no array of bytes is found; it looks like {0x2d, 0x51}")
    for start, at, body in found:
        numbers = re.findall(r"\\x(..)|0[xX]([0-9a-fA-F]+)|(\d+)", body)
        name = _NAME.search(plain[max(0, start - 200) : start])
        parts = [a or (f"0{b}" if len(b) == 1 else b) or f"{int(c):02x}" for a, b, c in numbers]
        line = plain.count("\n", 0, at) + 1
        if any(len(part) % 2 for part in parts):
            reading.bad(line, FrameProblem(f"{_shown(body.encode())} has an odd number of digits"))
            continue
        yield WrittenFrames(line, "".join(parts).encode(), {"name": name[1]} if name else {})


def _read_bitbench(text: bytes, reading: Reading) -> Iterator[WrittenFrames]:
    """Read the codes of BitBench links, ``…#c={41}cfb9f00d648&c=…``."""
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        _, mark, query = line.strip().decode("utf-8", "replace").partition("#")
        codes = [value for name, value in urllib.parse.parse_qsl(query) if name in ("c", "d")]
        if not mark or not codes:
            reading.bad(number, FrameProblem(f"{_shown(line.strip())} holds no code (#c=…)"))
        for code in "\n".join(codes).split("\n") if mark else ():
            yield WrittenFrames(number, code.encode(), {})


def _read_raw(text: bytes, reading: Reading) -> Iterator[WrittenFrames]:
    """Read binary records of one length."""
    if reading.length is None or reading.length % 8:
        raise FrameProblem(
            "binary records have no marks between them: give their length, a multiple of 8, as ",
            remedy=[Parameter("length")],
        )
    size = reading.length // 8
    if len(text) % size:
        left = f"the last {len(text) % size} bytes are no whole record and are left out"
        reading.notes[left] += 1
    for i in range(len(text) // size):
        yield WrittenFrames(i + 1, text[i * size : (i + 1) * size].hex().encode(), {})


_READERS: Mapping[str, Callable[[bytes, Reading], Iterator[WrittenFrames]]] = {
    "hex": _read_digits,
    "bits": _read_digits,
    "rtl_433": _read_rtl_433,
    "json": _read_json,
    "candump": _read_candump,
    "csv": _read_csv,
    "c": _read_c,
    "bitbench": _read_bitbench,
    "raw": _read_raw,
}


def _read_can(path: str) -> Iterator[WrittenFrames]:
    """Read a CAN log through python-can: id, time, channel and direction are columns."""
    try:
        import can
    except ImportError:
        raise FrameProblem(
            "CAN logs of this kind are read through python-can: pip install 'flagstone[can]'"
        ) from None
    if not path.lower().endswith(CAN_SUFFIXES):
        raise FrameProblem(f"python-can tells formats by suffix: {', '.join(CAN_SUFFIXES)}")
    number = 0
    try:
        with can.LogReader(path) as log:
            for number, message in enumerate(log, 1):
                width = 8 if message.is_extended_id else 3
                columns = {
                    "id": f"0x{message.arbitration_id:0{width}X}",
                    "time": str(message.timestamp),
                    "channel": str(message.channel),
                    "direction": "Rx" if message.is_rx else "Tx",
                }
                if message.data:
                    yield WrittenFrames(number, bytes(message.data).hex().encode(), columns)
    except OSError:
        raise
    except Exception as error:  # readers of python-can raise whatever their parsing runs into
        raise FrameProblem(f"python-can stops after message {number:,}: {error}") from error


def bitbench_link(frames: Sequence[tuple[int, str]], layout: str = "") -> str:
    """Return a BitBench link to frames, as (bits, digits), and the layout of their bits.

    >>> bitbench_link([(12, "abc")], "ID:8h 4h")
    'https://triq.net/bitbench#c={12}abc&f=ID:8h 4h'
    """
    parts = [f"c={{{n_bits}}}{digits}" for n_bits, digits in frames]
    return "https://triq.net/bitbench#" + "&".join([*parts, *([f"f={layout}"] if layout else [])])
