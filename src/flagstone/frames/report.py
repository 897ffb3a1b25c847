"""The report page of frames: layers, digest, code, and the bits that break them."""

from __future__ import annotations

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.finding import Finding
from flagstone.frames.digests import DigestAnalysis, Layers
from flagstone.frames.digests.layer_text import LayerLine, layer_lines, worth_layers
from flagstone.frames.study import source_code
from flagstone.markup import escape
from flagstone.report import AnswerView
from flagstone.report.parts import bits, copied, folded, items
from flagstone.wording import counted

#: More lines than this, all of them short, stand in columns.
_FEW, _SHORT = 8, 30


class FrameView(AnswerView):
    """Show the equations of frames in layers, and mark the bits of a frame that break them.

    Parameters
    ----------
    analysis : DigestAnalysis
        Of the equations of the finding.

    Examples
    --------
    >>> from flagstone import Finding
    >>> from flagstone.answers import Constraints
    >>> from flagstone.report import html_report
    >>> checks = Constraints([[1, 0, 0, 0], [0, 1, 1, 1]], [1, 0])
    >>> view = FrameView(DigestAnalysis(checks, solve=[3]))
    >>> page = html_report(Finding.of(checks), view)
    >>> "<li>x3 = x1 ⊕ x2</li>" in page, "The check bits as a C function" in page
    (True, True)
    """

    def __init__(self, analysis: DigestAnalysis) -> None:
        self._analysis = analysis

    def answer(self, finding: Finding) -> str:
        """Return the layers where they say more than a plain list, and the list below them."""
        lines, analysis = finding.answer.lines, self._analysis
        if finding.is_empty or not worth_layers(analysis, len(lines)):
            return super().answer(finding)
        plain = items(list(lines) or [finding.answer.text], "answer")
        count = f"As {counted(len(lines), 'equation')} in reduced form, which the fingerprint is of"
        return _layers(finding, analysis) + folded(count, plain) + self.notations(finding)

    def notations(self, finding: Finding) -> str:
        """Return the check bits as code, and what every answer has."""
        code = ""
        if self._analysis.digests:
            text = source_code(finding, self._analysis.digests, "c")
            code = folded("The digest as a C function of a frame", copied(text))
        return code + super().notations(finding)

    def broken(
        self, finding: Finding, X: Array, labels: Array
    ) -> list[tuple[frozenset[int], tuple[str, ...]]]:
        """Return for each frame the bits that break a constant, a pair or a check, and these."""
        return [_by_layer(self._analysis.layers, row) for row in X]

    def has_bits(self, finding: Finding) -> bool:
        """Frames are shown bit by bit, wherever they were read."""
        return True

    def legend(self) -> str:
        """Return the pattern of the frames that fit."""
        said = "Marked bits are not what the rest of the frame says they must be."
        return (
            f'<p class="hint">{said} The pattern of all others:</p>'
            f'<p class="bits pattern">{bits(self._analysis.layers.pattern)}</p>'
        )

    def row(self, values: str, marks: frozenset[int]) -> str:
        """Return the bits of a frame by byte, with marks."""
        return bits(values, marks)


def _layers(finding: Finding, analysis: DigestAnalysis) -> str:
    """Return the layers as the console has them, each a list; short lines stand in columns."""
    groups: list[list[LayerLine]] = []
    for line in layer_lines(analysis, finding.support):
        if line.label:
            groups.append([])
        groups[-1].append(line)
    out = []
    for group in groups:
        label = group[0].label
        lines = []
        for _, text, remark in group:
            shown = bits(text) if label == "pattern" else escape(text)
            said = f' <span class="remark">{escape(remark)}</span>' if remark else ""
            lines.append(f"<li>{shown}{said}</li>")
        short = len(group) > _FEW and max(len(line.text) for line in group) < _SHORT
        name = f"{label.replace(' ', '-')}{' short' if short else ''}"
        out.append(f'<dt>{label}</dt><dd><ul class="{name}" data-copy>{"".join(lines)}</ul></dd>')
    return f'<dl class="layers">{"".join(out)}</dl>'


def _by_layer(layers: Layers, row: Array) -> tuple[frozenset[int], tuple[str, ...]]:
    names, marks, said = layers.names, set[int](), list[str]()
    for i, bit in enumerate(layers.pattern):
        if bit != "?" and row[i] != int(bit):
            marks.add(i)
            said.append(f"{names[i]} = {bit}")
    for pair in layers.pairs:
        if pair.broken(row[np.newaxis])[0]:
            marks.add(pair.columns[1])
            said.append(pair.text(names))
    if layers.solved is not None:
        wrong = np.flatnonzero(layers.solved.broken(row[np.newaxis])[0]).tolist()
        columns = [layers.solved.columns[i] for i in wrong]
        marks.update(columns)
        if columns:
            said.append(f"check bit{'s' * (len(wrong) > 1)} {', '.join(names[i] for i in columns)}")
    said += [r.text(names) for r in layers.relations if r.broken(row[np.newaxis])[0]]
    return frozenset(marks), tuple(said)
