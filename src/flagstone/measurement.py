"""Measurement: what an answer does on given rows, counted exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from flagstone import text
from flagstone.errors import FormatError


@dataclass(frozen=True)
class Measurement:
    """Exact counts on given rows; unlike a guarantee, a fact about these rows alone.

    Measurements of different rows add up with ``+``.

    Attributes
    ----------
    read : int
        Rows looked at, repeated rows counted as often as their weight says.
    uncovered : int or None
        Rows outside the kept subspace; None where they were not counted.
    misfits : int or None
        Rows that break the answer; None where they were not counted, or where the answer is ⊥.
    skipped : int
        Rows left out before (frames of another length).
    places : tuple of (file, row, line)
        Where the first misfits stand.
    values : tuple of str
        What stands there, as :meth:`Field.texts` writes it: features, and the label if there is
        one.
    levels : tuple of int, or None
        Rows outside each level of the flag, from V_1 on; None where they were not counted.

    Examples
    --------
    >>> from flagstone.measurement import Measurement
    >>> print(Measurement(150, 3, 2) + Measurement(50, 0, 0))
    200 rows: 3 uncovered (1.5 %), 2 misfits (1 %)
    """

    read: int
    uncovered: int | None = None
    misfits: int | None = None
    skipped: int = 0
    places: tuple[tuple[str, int, int | None], ...] = ()
    values: tuple[str, ...] = ()
    levels: tuple[int, ...] | None = None

    def __add__(self, other: Measurement) -> Measurement:
        parts = [part.levels for part in (self, other) if part.read]
        levels = None
        if parts and None not in parts:
            levels = tuple(map(sum, zip(*parts, strict=True)))
        return Measurement(
            self.read + other.read,
            _sum(self.uncovered, other.uncovered),
            _sum(self.misfits, other.misfits),
            self.skipped + other.skipped,
            self.places + other.places,
            self.values + other.values,
            levels,
        )

    def first(self, most: int) -> Measurement:
        """Return the same counts with the first places alone."""
        return replace(self, places=self.places[:most], values=self.values[:most])

    def agrees(self, dims: Sequence[int], kept: int) -> bool:
        """Whether levels of these dimensions, the kept one among them, may leave out such rows."""
        if self.levels is None:
            return True
        known = dict(zip(dims, self.levels, strict=False))
        return len(self.levels) == len(dims) and known.get(kept, self.uncovered) == self.uncovered

    def share(self, count: int | None) -> float | None:
        """Return a count of these rows as a share of them; None where they were not counted."""
        return None if count is None else count / self.read if self.read else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return vars(self) | {
            "places": [list(place) for place in self.places],
            "values": list(self.values),
            "levels": None if self.levels is None else list(self.levels),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Measurement:
        """The inverse of :meth:`to_dict`."""
        places = tuple(
            (str(file), int(row), None if line is None else int(line))
            for file, row, line in data["places"]
        )
        uncovered, misfits, levels = data["uncovered"], data["misfits"], data["levels"]
        found = cls(
            int(data["read"]),
            None if uncovered is None else int(uncovered),
            None if misfits is None else int(misfits),
            int(data["skipped"]),
            places,
            tuple(map(str, data["values"])),
            None if levels is None else tuple(int(count) for count in levels),
        )
        parts = (found.uncovered or 0, found.misfits or 0)
        if min(*parts, found.skipped) < 0 or max(parts) > found.read:
            raise FormatError("rows cannot be fewer than none, nor parts of them more than all")
        if len(found.values) not in (0, len(places)):
            raise FormatError("it has places without rows, or rows without places")
        steps = (0, *(found.levels or ()), found.read)
        if any(a > b for a, b in pairwise(steps)):
            raise FormatError("a smaller space cannot hold more rows")
        return found

    def __str__(self) -> str:
        return text.measurement(self)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
