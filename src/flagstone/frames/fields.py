"""Fields: an id, byte or nibble that tells frames apart, or changes a constant of their digest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from flagstone.algebra import Array
from flagstone.frames.captures import Capture
from flagstone.frames.digests import SAMPLE, name_sums, search
from flagstone.frames.digests.digest import broken_by
from flagstone.frames.digests.frame import LONG
from flagstone.frames.digests.rules import case_of
from flagstone.frames.digests.search import usual_frame
from flagstone.frames.study import Study

#: The most values of a field that is tried, and the fewest bits that a digest of its frames has.
_MOST_VALUES, _FEWEST_BITS = 16, 4
#: Fewer frames than this show no digest of their own.
_FEWEST_FRAMES = 12
#: Where frames are few, only this many fields are tried, of at most this many values.
_TRIES, _FEW_VALUES = 4, 8
#: The most fields whose frames are searched for sums.
_SUM_TRIES = 12

Studying = Callable[[Capture], Study]


class TellingField(NamedTuple):
    """A field whose values have digests of their own, or one digest with other constants."""

    name: str
    changes_constant: bool = False


def telling_field(capture: Capture, study: Studying) -> TellingField | None:
    """Return the field whose values have digests of their own, where all frames together have none.

    Columns of the file are tried, then bytes and nibbles of the frame; the two most frequent values
    must have a digest each.
    """
    there = capture.columns[0] if capture.columns else {}
    for name in ("id", "model", "channel"):
        if name in there and _tells(capture, name, study):
            return TellingField(name)
    rows = capture.rows(len(capture.frames[0]))[:SAMPLE]
    if (rows != rows[0]).any(axis=0).sum() > LONG:
        return None
    tries = _Tries(rows)
    for field in _fields(rows):
        if tries.changes_constant(field):
            return TellingField(field.name, changes_constant=True)
        if tries.may_tell(field) and _tells(capture, field.name, study):
            return TellingField(field.name, changes_constant=tries.have_one_digest(field))
    return None


def has_digest(found: Study) -> bool:
    """Say whether a digest was named that is more than a parity bit."""
    return any(len(digest.columns) >= _FEWEST_BITS for digest in found.named)


def same_check(
    capture: Capture, parts: Mapping[str, Sequence[int]], study: Studying
) -> dict[str, Study]:
    """Study parts of a capture, those with the same digests together; without a digest, none."""
    found = {name: study(capture.some(index)) for name, index in parts.items()}
    alike: dict[str, list[str]] = {}
    for name, one in found.items():
        rules = [digest.rule.to_dict() for digest in one.named]
        alike.setdefault(repr(rules) if rules else name, []).append(name)
    studies = {}
    for names in alike.values():
        index = sorted({i for name in names for i in parts[name]})
        several = len(names) > 1
        studies[" or ".join(names)] = study(capture.some(index)) if several else found[names[0]]
    return studies


def _tells(capture: Capture, name: str, study: Studying) -> bool:
    """Say whether the two most frequent values of a field have digests of their own."""
    groups = list(capture.by(name).values())
    if not 2 <= len(groups) <= _MOST_VALUES or len(groups[1]) < _FEWEST_FRAMES:
        return False
    return all(has_digest(study(capture.some(index))) for index in groups[:2])


class _Field(NamedTuple):
    """Bits of the frame, and the rows of its two most frequent values."""

    name: str
    columns: Sequence[int]
    n_values: int
    parts: Sequence[Array]


def _fields(rows: Array) -> Iterator[_Field]:
    """Return the bytes and nibbles that have a few values, two of them in enough frames."""
    for first in range(0, rows.shape[1] - 7, 8):
        byte = f"b{first // 8}"
        fields = ((byte, 0, 8), (f"{byte}.7..{byte}.4", 0, 4), (f"{byte}.3..{byte}.0", 4, 8))
        for name, start, end in fields:
            columns = range(first + start, first + end)
            values = case_of(rows, columns)
            numbers, counts = np.unique(values, return_counts=True)
            if 2 <= len(numbers) <= _MOST_VALUES and np.sort(counts)[-2] >= _FEWEST_FRAMES:
                frequent = numbers[np.argsort(-counts)[:2]]
                yield _Field(name, columns, len(numbers), [rows[values == n] for n in frequent])


class _Tries:
    """Tries fields on rows, not too many of them where that takes time."""

    def __init__(self, rows: Array) -> None:
        self._rows, self._names = rows, [f"x{i}" for i in range(rows.shape[1])]
        self._n_free = self._free(rows)
        # of few frames the second space of the flag is small by chance, whatever the field
        self._is_small_by_chance = len(rows) < 2 * int((rows != rows[0]).any(axis=0).sum())
        self._searched = self._studied = self._summed = 0

    def changes_constant(self, field: _Field) -> bool:
        """Say whether one digest fits most rows of each value, with a constant for each."""
        if self._is_small_by_chance and self._searched >= _TRIES:
            return False
        if self._free(self._rows, field.columns) > self._enough(field):
            return False
        self._searched += 1
        return self.have_one_digest(field)

    def have_one_digest(self, field: _Field) -> bool:
        """Say whether a search that allows each value a constant of its own finds a digest."""
        return any(
            digest.name
            and len(digest.columns) >= _FEWEST_BITS
            and all(2 * broken_by([digest], part).sum() < len(part) for part in field.parts)
            for digest in search(self._names, self._rows, cases=field.columns)
        )

    def may_tell(self, field: _Field) -> bool:
        """Say whether rows of a value obey more than all rows, or are too few to say."""
        has_few_values = field.n_values <= _FEW_VALUES
        if len(field.parts[0]) <= self._n_free:
            self._studied += has_few_values
            return has_few_values and self._studied <= _TRIES
        # a part of too few rows spans little by chance
        many = [part for part in field.parts if len(part) > self._n_free]
        if any(self._free(part) <= self._enough(field) for part in many):
            return True
        if not has_few_values or self._summed >= _SUM_TRIES:
            return False
        self._summed += 1
        return any(name_sums(self._names, part) for part in field.parts)

    def _free(self, rows: Array, cases: Sequence[int] = ()) -> int:
        """Return how many bits are free in what rows usually show."""
        frame = usual_frame(self._names, rows, cases)
        return len(self._names) if frame is None else frame.n_free

    def _enough(self, field: _Field) -> int:
        """Return how many free bits show that rows of one value have a check of their own."""
        return self._n_free - int(math.log2(field.n_values)) - _FEWEST_BITS
