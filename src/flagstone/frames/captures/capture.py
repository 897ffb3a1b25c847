"""Capture: the frames of files, where each stands, and what else its line says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flagstone.algebra import Array
from flagstone.errors import InputError, Parameter
from flagstone.frames.captures.formats import FORMATS, Reading, read_file
from flagstone.frames.captures.line_codes import decode
from flagstone.notation import FrameProblem
from flagstone.tables import Place
from flagstone.tables.files import expand
from flagstone.tables.naming import columns_meant
from flagstone.wording import counted

#: The most bits of frames in memory, a byte for each.
MOST_BITS = 1 << 29
#: The most values or lengths that a message lists.
_LISTED = 6
#: The share of frames that --truncate keeps.
_KEPT = 0.9
#: Bits of the pattern that aligns frames, and frames in which it is looked for.
_PATTERN, _SAMPLE = 16, 200


@dataclass(frozen=True, eq=False)
class Capture:
    """Frames of any length, in the order of their files.

    Attributes
    ----------
    frames : sequence of bytes
        One byte, 0 or 1, for each bit.
    places : sequence of Place
    columns : sequence of mapping
        For each frame what its line says besides: time, id, model.
    format : str
        What the first file was read as.
    notes : tuple of str
        What was left out, cut or decoded, for people.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.txt"
    >>> _ = path.write_text("can0 123#0D55\\ncan0 229#00FF\\ncan0 123#0D56\\n")
    >>> capture = read_capture([path])
    >>> capture.format, len(capture), len(capture.where("id=0x123"))
    ('candump', 3, 2)
    >>> capture.rows(16).shape
    (3, 16)
    """

    frames: Sequence[bytes]
    places: Sequence[Place]
    columns: Sequence[dict[str, str]]
    format: str = "hex"
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def lengths(self) -> Counter[int]:
        """How many frames there are of each length, in bits."""
        return Counter(map(len, self.frames))

    def index(self, length: int) -> list[int]:
        """Return which frames have this length."""
        return [i for i, frame in enumerate(self.frames) if len(frame) == length]

    def rows(self, length: int) -> Array:
        """Return the frames of one length as a matrix of bits."""
        some = [frame for frame in self.frames if len(frame) == length]
        return np.frombuffer(b"".join(some), dtype=np.uint8).reshape(len(some), length)

    def some(self, index: Iterable[int]) -> Capture:
        """Return some of the frames."""
        kept = list(index)
        return replace(
            self,
            frames=[self.frames[i] for i in kept],
            places=[self.places[i] for i in kept],
            columns=[self.columns[i] for i in kept],
        )

    def noting(self, *notes: str) -> Capture:
        """Return the same with more notes."""
        return replace(self, notes=(*self.notes, *(note for note in notes if note)))

    def values(self, name: str) -> list[str | None]:
        """Return a column, the file, the length, or bits as a number (``b1``, ``b0.7..b0.4``)."""
        if any(name in columns for columns in self.columns):
            return [columns.get(name) for columns in self.columns]
        if name == "file":
            return [place.file for place in self.places]
        if name == "length":
            return [str(len(frame)) for frame in self.frames]
        longest = max(map(len, self.frames), default=0)
        places = columns_meant(name, [f"x{i}" for i in range(longest)])
        if not places:
            known = dict.fromkeys(known for columns in self.columns for known in columns)
            raise InputError(
                f"there is no column {name!r}: these frames have "
                f"{', '.join(known) or 'no columns'}, and their bytes and bits: b0, b1.7..b1.4"
            )
        digits = -(-len(places) // 4)
        return [
            f"0x{int(''.join(str(frame[i]) for i in places), 2):0{digits}x}"
            if places[-1] < len(frame)
            else None
            for frame in self.frames
        ]

    def where(self, condition: str) -> Capture:
        """Keep the frames of a value: ``id=0x229``, ``model!=X``, ``b0=0x2d``."""
        found = re.fullmatch(r"\s*([^=!]+?)\s*(!?)=\s*(.*?)\s*", condition)
        if found is None:
            raise InputError(
                Parameter("where"), f" must read COLUMN=VALUE or COLUMN!=VALUE, got {condition!r}"
            )
        name, negated, wanted = found[1], bool(found[2]), found[3]
        values = self.values(name)
        index = [i for i, value in enumerate(values) if _equal(value, wanted) != negated]
        if not index:
            known = Counter(value for value in values if value is not None).most_common(_LISTED)
            said = ", ".join(f"{value} ({count:,})" for value, count in known)
            raise InputError(
                Parameter("where", condition), f" keeps no frame; the values of {name}: {said}"
            )
        return self.some(index)

    def by(self, name: str) -> dict[str, list[int]]:
        """Return which frames have each value of a column, the most frequent first."""
        members: dict[str, list[int]] = {}
        for i, value in enumerate(self.values(name)):
            members.setdefault("none" if value is None else value, []).append(i)
        order = sorted(members, key=lambda value: (-len(members[value]), value))
        return {value: members[value] for value in order}

    def changed(self, frames: Sequence[bytes], *notes: str) -> Capture:
        """Return other bits for the same frames; what is left without any is left out."""
        kept = [i for i, frame in enumerate(frames) if frame]
        if not kept:
            raise InputError(f"no frame has bits left: {', '.join(notes)}")
        other = replace(self, frames=list(frames)).some(kept)
        lost = len(frames) - len(kept)
        gone = f"{counted(lost, 'frame')} of no bits left out" if lost else ""
        return other.noting(*notes, gone)

    def decoded(self, codes: Sequence[str]) -> Capture:
        """Undo line codes, one after the other."""
        capture = self
        for code in codes:
            frames, said = decode(capture.frames, code)
            capture = capture.changed(frames, f"decoded {code}" + (f": {said}" if said else ""))
        return capture

    def synced(self, pattern: str) -> Capture:
        """Let each frame begin after the first occurrence of a pattern, as hex or 0b digits."""
        bits = pattern_bits(pattern)
        ends = [frame.find(bits) for frame in self.frames]
        index = [i for i, end in enumerate(ends) if end >= 0]
        if not index:
            raise InputError(Parameter("sync", pattern), " is in none of the frames")
        frames = [self.frames[i][ends[i] + len(bits) :] for i in index]
        lost = len(self.frames) - len(index)
        note = f"frames begin after {pattern}"
        note += f"; {counted(lost, 'frame')} without it left out" if lost else ""
        return self.some(index).changed(frames, note)

    def shared_pattern(self) -> str | None:
        """Return 16 bits that nearly all frames have, once, to align them by; None: there are none.

        >>> places = [Place("f", i, i) for i in range(3)]
        >>> frames = [pattern_bits("aa" * i + "d391" + data) for i, data in ((1, "07"), (2, "f3"))]
        >>> Capture([*frames, pattern_bits("aad39199")], places, [{}] * 3).shared_pattern()
        'd391'
        """
        sample = self.frames[:_SAMPLE]
        first = sample[0]
        found = []
        for start in range(len(first) - _PATTERN + 1):
            bits = first[start : start + _PATTERN]
            once = sum(frame.count(bits) == 1 for frame in sample)
            if bits[2:] != bits[:-2] and once >= _KEPT * len(sample):
                found.append(start)
        if not found:
            return None
        # A sync word breaks the preamble with its first or its second bit. If the frames differ
        # right behind it, its end tells which; otherwise the preamble is taken to end in 10.
        odd = next(i for i in range(found[0] + 2, len(first)) if first[i] != first[i - 2])
        begins = first[odd - 2] if odd + 1 in found else odd in found
        start = odd if begins else odd - 1
        start = start if start in found else found[0]
        bits = first[start : start + _PATTERN]
        return f"{int(''.join(map(str, bits)), 2):0{_PATTERN // 4}x}"

    def truncated(self, length: int | None = None) -> Capture:
        """Cut frames to a length, and leave out shorter ones.

        Without a length, to the longest that nine of ten frames have.
        """
        if length is None:
            sizes = sorted(map(len, self.frames), reverse=True)
            length = sizes[max(0, int(np.ceil(_KEPT * len(sizes))) - 1)]
        index = [i for i, frame in enumerate(self.frames) if len(frame) >= length]
        if not index:
            known = length_text(self.lengths)
            raise InputError(Parameter("length", length), f" is longer than every frame: {known}")
        cut = sum(len(self.frames[i]) > length for i in index)
        note = f"{counted(cut, 'frame')} cut to {length} bits" if cut else ""
        lost = len(self.frames) - len(index)
        shorter = f"{counted(lost, 'shorter frame')} left out" if lost else ""
        return self.some(index).changed([self.frames[i][:length] for i in index], note, shorter)


def pattern_bits(pattern: str) -> bytes:
    """Return the bits of a pattern: hexadecimal digits, or bits after ``0b``.

    >>> list(pattern_bits("0b101")), len(pattern_bits("d391"))
    ([1, 0, 1], 16)
    """
    text = pattern.lower().replace(" ", "").replace("_", "")
    width, digits = (1, text[2:]) if text.startswith("0b") else (4, text.removeprefix("0x"))
    if not digits or digits.strip("01" if width == 1 else "0123456789abcdef"):
        raise InputError(Parameter("sync"), f" must be hex digits or 0b and bits, got {pattern!r}")
    return bytes(int(bit) for digit in digits for bit in f"{int(digit, 16):0{width}b}")


def _equal(value: str | None, wanted: str) -> bool:
    if value is None or value == wanted:
        return value == wanted
    try:
        return int(value, 0) == int(wanted, 0)
    except ValueError:
        return value.lower() == wanted.lower()


def length_text(lengths: Counter[int]) -> str:
    """Return how many frames have which length, the commonest first.

    >>> length_text(Counter({36: 3, 41: 870}))
    '870 frames of 41 bits, 3 of 36'
    """
    known = sorted(lengths.items(), key=lambda item: (-item[1], item[0]))
    words = [f"{n:,} of {bits:,}" for bits, n in known[:_LISTED]]
    words[0] = f"{counted(known[0][1], 'frame')} of {counted(known[0][0], 'bit')}"
    more = len(known) - _LISTED
    return ", ".join(words) + (f", and {more:,} other lengths" if more > 0 else "")


def read_capture(
    files: Sequence[Any],
    *,
    format: str | None = None,
    skip_fields: int | None = None,
    length: int | None = None,
    skip_bad_lines: bool = False,
    max_rows: int | None = None,
) -> Capture:
    """Read the frames of files, each in the format that its text shows.

    Parameters
    ----------
    files : sequence of str or Path
        Files, directories or globs.
    format : str, optional
        One of :data:`FORMATS`; recognised if left out.
    skip_fields : int, optional
        Leading fields of each line to leave out, for ``hex`` and ``bits``.
    length : int, optional
        The bits of a record, for ``raw``.
    skip_bad_lines : bool
        Leave out, and count, the lines that cannot be read.
    max_rows : int, optional
        Read only this many frames.

    Raises
    ------
    InputError
        With file, line, the text found there, and the option that would read it.
    """
    if format is not None and format not in FORMATS:
        raise InputError(
            Parameter("format"), f" must be one of {', '.join(FORMATS)}, got {format!r}"
        )
    frames: list[bytes] = []
    places: list[Place] = []
    columns: list[dict[str, str]] = []
    notes: list[str] = []
    first, n_bits = "", 0
    for path in expand(files):
        reading = Reading(path, skip_fields, length, skip_bad_lines)
        name, found = read_file(path, format, reading)
        first = first or name
        try:
            for number, bits, beside in found:
                if max_rows is not None and len(frames) == max_rows:
                    break
                n_bits += len(bits)
                if n_bits > MOST_BITS:
                    raise InputError(
                        f"{path}: frames of more than {MOST_BITS:,} bits in all; read fewer with ",
                        Parameter("max_rows"),
                    )
                frames.append(bits)
                places.append(Place(str(path), len(frames), None if name == "raw" else number))
                columns.append(dict(beside))
        except FrameProblem as problem:
            raise InputError(f"{path}: {problem}", *problem.remedy) from problem
        notes += reading.said()
    if not frames:
        raise InputError(
            f"{path}: holds no frames, read as {first} ({FORMATS[first]}); otherwise give ",
            Parameter("format"),
        )
    return Capture(frames, places, columns, first, tuple(dict.fromkeys(notes)))
