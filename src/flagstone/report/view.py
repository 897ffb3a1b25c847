"""How a page shows an answer."""

from __future__ import annotations

from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.markup import escape
from flagstone.report.parts import MANY, copied, folded, items
from flagstone.tables import frame_masks, is_frames
from flagstone.wording import counted

#: A longer Python expression is left out.
_LONGEST = 20_000


class AnswerView:
    """Show an answer as a list of lines, and in other notations.

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
            note = f" ({finding.expression_note})" if finding.expression_note else ""
            out.append(folded(f"As a Python expression in a row x{note}", copied(code)))
        return "".join(out)

    def has_bits(self, finding: Finding) -> bool:
        """Say whether rows are frames, to be shown bit by bit, or those of a table."""
        return is_frames(finding)
