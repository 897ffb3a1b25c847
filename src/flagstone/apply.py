"""Apply a finding to rows: classify them, count those that do not fit, predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flagstone.algebra.fields import Array, Rows
from flagstone.algebra.lift import chunks
from flagstone.algebra.subspace import Subspace
from flagstone.errors import BottomError, InputError
from flagstone.finding import Finding
from flagstone.measurement import Measurement
from flagstone.second_pass import SecondPass


class RowStatus(NamedTuple):
    """What each row is to a finding.

    Attributes
    ----------
    outside : array of bool, or None
        Whether it lies outside V*; None where V* is not known (a bare answer).
    wrong : array of bool, or None
        Whether it breaks the answer; None where there is nothing to break (⊥).
    place : array of int, or None
        How many of {0} and the levels of the flag do not hold it; None where it was not asked.
    """

    outside: Array | None
    wrong: Array | None
    place: Array | None = None

    def levels(self, finding: Finding) -> tuple[int, ...] | None:
        """Count the rows outside each level of the flag."""
        if self.place is None:
            return None
        n_levels = len(finding.stairs.steps)
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
    """Say of each row whether it lies outside V*, and whether it breaks the answer.

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
    levels = status.levels(finding) if weights is None else None
    return Measurement(total, count(status.outside), count(status.wrong), levels=levels)


def predict(finding: Finding, rows: Rows) -> Array:
    """Return for each row an element: the label, or 1 where the row fits and 0 elsewhere.

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
    """Say of each row whether V* holds it; without labels, whether it does with some label.

    Outside of V*, an answer owes nothing to the rows that it was read off.
    """
    V, question, F = finding.subspace, finding.question, finding.field
    if V is None:
        raise InputError("this finding was made of a bare answer: no span is known behind it")
    if labels is not None or not question.labelled:
        return V.contains(question.lift(F, rows, labels))
    lifted = F.array(question.lift(F, rows, np.full(len(rows), F.zero, dtype=F.dtype)))
    shadow = Subspace.span(V.basis[:, :-1], F, dim=V.ambient_dim - 1)
    return shadow.contains(lifted[:, :-1])
