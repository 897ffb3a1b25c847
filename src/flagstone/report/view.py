"""How a page shows an answer, and the rows that break it."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.answers import Constraints
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.markup import escape
from flagstone.report.parts import MANY, copied, folded, items
from flagstone.tables import frame_masks, is_frames
from flagstone.wording import counted

#: A longer Python expression is left out.
_LONGEST = 20_000
#: Longer rows are cut.
_WIDE = 512


class AnswerView:
    """Show an answer as a list of lines, and which of these a row breaks.

    A package that says more about an answer derives a view of its own from this one.
    """

    #: Whether the page lists the rows that break the answer; a view may show them itself.
    lists_misfits = True

    def headline(self, finding: Finding) -> str:
        """Return the headline."""
        return finding.headline

    def answer(self, finding: Finding) -> str:
        """Return the answer, and below it in other notations."""
        out = items(finding.lines, "answer") if finding.lines else ""
        if finding.unlisted is not None:
            count = f"All {counted(len(finding.answer.lines), 'equation')}, in reduced form"
            said = finding.unlisted[0].upper() + finding.unlisted[1:]
            out += f'<p class="hint">{escape(said)}.</p>'
            out += folded(count, items(finding.answer.lines, "equations"))
        return out + self.notations(finding)

    def notations(self, finding: Finding) -> str:
        """Return the answer as masks and as an expression, if it has them."""
        answer, out = finding.answer, []
        encoding = finding.encoding
        plain = encoding.degree == 1 and all(
            encoder.kind in ("element", "hex") for encoder in encoding.encoders
        )
        if finding.field.order == 2 and answer.augmented is not None and plain:
            masks = "\n".join(answer.mask_lines[:MANY])
            try:
                frames = "\n".join(frame_masks(finding)[:MANY]) if self.has_bits(finding) else ""
                said = "As masks in file order: to be ANDed with frames as they are written"
                out += [folded(said, copied(frames))] * bool(frames)
            except InputError:
                pass  # the columns are not a frame, or not all of one
            said = "As bit masks by column (bit i, from the lowest, is column i)"
            out.append(folded(said, copied(masks)))
        code = finding.expression
        if code is not None and len(code) < _LONGEST:
            out.append(folded("As a Python expression in a row x", copied(code)))
        return "".join(out)

    def has_bits(self, finding: Finding) -> bool:
        """Say whether rows are frames, to be shown bit by bit, or those of a table."""
        return is_frames(finding)

    def broken(
        self, finding: Finding, X: Array, labels: Array
    ) -> list[tuple[frozenset[int], tuple[str, ...]]]:
        """Return for each row which of its columns to mark, and what it breaks."""
        return [(frozenset(), said) for said in _by_equation(finding, X, labels)]

    def legend(self) -> str:
        """Return what is shown above the rows that do not fit."""
        return ""

    def row(self, values: str, marks: frozenset[int]) -> str:
        """Return the elements of a row."""
        return escape(values if len(values) <= _WIDE else f"{values[:_WIDE]}…")


def _by_equation(finding: Finding, X: Array, labels: Array) -> list[tuple[str, ...]]:
    """Return what rows break, for every kind of answer."""
    answer: Any = finding.answer
    if answer.is_bottom or finding.question.kind == "equations":
        return [()] * len(X)
    if not isinstance(answer, Constraints):
        said = finding.encoding.decoded(answer.predict(X))
        return [(f"the rule says {text}",) for text in said]
    lines = answer.lines
    broken = [tuple(lines[i] for i in np.flatnonzero(row)) for row in answer.syndrome(X) != 0]
    if not finding.question.labelled:
        return broken
    # a negative example breaks the answer by obeying it
    pairs = zip(broken, labels.tolist(), strict=True)
    return [some if label else ("negative, but inside",) for some, label in pairs]
