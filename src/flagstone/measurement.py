"""Rows against a finding: which rows fit, how many, and predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flagstone import text
from flagstone.algebra import Array, Rows, Subspace, chunks
from flagstone.disk import check_fields
from flagstone.errors import BottomError, FormatError, InputError

if TYPE_CHECKING:
    from flagstone.finding import Finding
    from flagstone.second_pass import SecondPass

#: What the JSON form of a measurement holds.
_FIELDS = {
    **dict.fromkeys(("read", "skipped"), int),
    **dict.fromkeys(("uncovered", "misfits"), int | None),
    **dict.fromkeys(("places", "values"), list),
    "levels": list | None,
}


@dataclass(frozen=True)
class Measurement:
    """Exact counts on given rows; unlike a guarantee, they are only about these rows.

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
        The entries, as :meth:`Field.texts` writes them: features, and the label if there is
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
        """Return the same counts with only the first places."""
        return replace(self, places=self.places[:most], values=self.values[:most])

    def agrees(self, dims: Sequence[int], kept: int) -> bool:
        """Whether levels of these dimensions, the kept one among them, may leave out such rows."""
        if self.levels is None:
            return True
        known = dict(zip(dims, self.levels, strict=False))
        return len(self.levels) == len(dims) and known.get(kept, self.uncovered) == self.uncovered

    def share(self, count: int | None) -> float | None:
        """Return a count of these rows as a share of them; None if they were not counted."""
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
        check_fields(data, _FIELDS)
        places = [(str(file), int(row), line and int(line)) for file, row, line in data["places"]]
        levels = None if data["levels"] is None else tuple(map(int, data["levels"]))
        lists = {"places": tuple(places), "values": tuple(map(str, data["values"]))}
        found = cls(**{**data, **lists, "levels": levels})
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


class RowStatus(NamedTuple):
    """What each row is to a finding.

    ``outside``: whether it lies outside V*; None where V* is not known (a bare answer). ``wrong``:
    whether it breaks the answer; None where there is nothing to break (⊥). ``place``: how many of
    {0} and the levels of the flag do not hold it; None where it was not asked.
    """

    outside: Array | None
    wrong: Array | None
    place: Array | None = None

    def levels(self, finding: Finding) -> tuple[int, ...] | None:
        """Count the rows outside each level of the flag."""
        if self.place is None:
            return None
        n_levels = len(finding.stairs.levels)
        if n_levels <= 12:  # counting in bins would take longer
            levels = range(n_levels, 0, -1)
            return tuple(int(np.count_nonzero(self.place > level)) for level in levels)
        return tuple(np.bincount(self.place, minlength=n_levels + 2)[:1:-1].cumsum().tolist())


def classify_rows(
    finding: Finding,
    rows: Rows,
    labels: Array | None,
    second_pass: SecondPass | None = None,
) -> RowStatus:
    """Return for each row whether it lies outside V*, and whether it breaks the answer.

    Rows are in the field's internal form, labels elements. Rows of the fit may certify on the way;
    they are also asked how far down the flag they lie, of which V* is a level, or {0}.
    """
    F, question, V = finding.field, finding.question, finding.subspace
    spaces = None if second_pass is None or V is None else finding.spaces
    outside, wrong, places = [], [], []
    for piece in list(chunks(len(rows), V.ambient_dim if V else 0)) or [slice(0, 0)]:
        y = None if labels is None else labels[piece]
        left_out = None
        if V is not None:
            lifted = question.lift(F, rows[piece], y)
            if spaces is None:
                left_out = ~V.contains(lifted)
            else:
                places.append(spaces.first_space(spaces.coordinates(lifted)))
                left_out = places[-1] > (0, *spaces.dims).index(V.dim)
            if second_pass is not None:
                second_pass.update(lifted, left_out if spaces is None else places[-1])
        outside.append(left_out)
        wrong.append(question.misfits(finding.answer, rows[piece], y, left_out))
    return RowStatus(_joined(outside), _joined(wrong), _joined(places))


def _joined(parts: Sequence[Array | None]) -> Array | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None


def measure(
    finding: Finding,
    rows: Rows,
    labels: Array | None = None,
    weights: Array | None = None,
) -> Measurement:
    """Count exactly how many of these rows V* leaves out, and how many break the answer."""
    status = classify_rows(finding, rows, labels)

    def count(mask: Array | None) -> int | None:
        if mask is None:
            return None
        return int(np.count_nonzero(mask) if weights is None else weights[mask].sum())

    total = len(rows) if weights is None else int(weights.sum())
    return Measurement(total, count(status.outside), count(status.wrong))


def predict(finding: Finding, rows: Rows) -> Array:
    """Return for each row an element: the label, or 1 if the row fits and 0 if not.

    Raises
    ------
    BottomError
        When the answer is ⊥, or a rule that is only a draw of the coins.
    """
    if finding.is_empty and finding.question.coins_decide:
        raise BottomError(
            f"{finding.title}, so that nothing is predicted; learn it anew with a window that "
            "starts and ends earlier, or with less contamination, so that more directions are kept"
        )
    return finding.question.predict(finding.answer, rows)


def inside(finding: Finding, rows: Rows, labels: Array | None = None) -> Array:
    """Say for each row whether V* contains it; without labels, whether it does with some label.

    Outside of V*, the rows do not determine the answer.
    """
    V, question, F = finding.subspace, finding.question, finding.field
    if V is None:
        raise InputError("this finding was made of a bare answer: no span is known behind it")
    if labels is not None or not question.labelled:
        return V.contains(question.lift(F, rows, labels))
    lifted = F.array(question.lift(F, rows, np.full(len(rows), F.zero, dtype=F.dtype)))
    shadow = Subspace.span(V.basis[:, :-1], F, dim=V.ambient_dim - 1)
    return shadow.contains(lifted[:, :-1])
