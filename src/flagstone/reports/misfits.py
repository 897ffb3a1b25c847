"""Rows that do not fit: how many, which, and what in them breaks which equation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.answers import Constraints
from flagstone.digests import Layers, Survey
from flagstone.errors import InputError
from flagstone.fields import Array
from flagstone.finding import Finding
from flagstone.markup import escape
from flagstone.models import as_written, frame_text
from flagstone.reports.parts import bits, folded, table
from flagstone.wording import counted

#: So many things that break are said of a row.
_SAID = 6
#: So many rows are seen at once; the others unfold.
_OPEN = 12
#: Longer rows are cut.
_WIDE = 512


@dataclass(frozen=True)
class Misfit:
    """One row that does not fit.

    Attributes
    ----------
    values : str
        Its elements, as :meth:`Field.texts` writes them.
    written : str or None
        The frame as the file has it, in hexadecimal.
    marks : frozenset of int
        Bits that are not what the others say they must be.
    breaks : tuple of str
        What it breaks.
    """

    values: str
    written: str | None
    marks: frozenset[int]
    breaks: tuple[str, ...]


def misfits_of(finding: Finding, survey: Survey | None = None) -> list[Misfit]:
    """Return the rows that are known not to fit, with what they break.

    Examples
    --------
    >>> from flagstone import Constraints, Finding, Measurement
    >>> from dataclasses import replace
    >>> finding = Finding.of(Constraints([[1, 0, 0], [0, 1, 1]], [1, 0]))
    >>> rows = Measurement(100, None, 1, 0, (("a.bits", 4, 4),), ("010",))
    >>> for misfit in misfits_of(replace(finding, rows=rows)):
    ...     print(misfit.breaks)
    ('x0 = 1', 'x1 ⊕ x2 = 0')
    """
    values = finding.rows.values
    if not values:
        return []
    labelled = finding.question.labelled
    table = finding.field.from_texts(values, finding.answer.dim + labelled)
    X = finding.field.array(table)
    features = X[:, : finding.answer.dim]
    try:
        frames = as_written(finding, features) if finding.field.order == 2 else None
    except InputError:  # some bits of the frames were not read
        frames = None
    if survey is not None:
        broken = [_by_layer(survey.layers, row) for row in features]
    else:
        broken = [(frozenset[int](), said) for said in _by_equation(finding, features, X[:, -1])]
    return [
        Misfit(text, None if frames is None else frame_text(frames[i]), *broken[i])
        for i, text in enumerate(values)
    ]


def _by_layer(layers: Layers, row: Array) -> tuple[frozenset[int], tuple[str, ...]]:
    """Return the bits of a frame that break a constant, a pair or a check, and these in words."""
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


def misfit_section(finding: Finding, survey: Survey | None) -> str:
    """Return how many rows do not fit, and the first of them."""
    rows, total = finding.rows, finding.rows.read
    misfits = rows.misfits
    if misfits is None or not total:
        return ""
    fit = 100 * (total - misfits) / total
    do, were = ("does" if misfits == 1 else "do"), ("was" if rows.skipped == 1 else "were")
    skipped = f" {counted(rows.skipped, 'row')} of another length {were} skipped."
    out = [
        "<h2>Rows that do not fit</h2>",
        f"<p>{misfits:,} of {total:,} rows ({100 * misfits / total:.3g} %) {do} not fit; "
        f"{total - misfits:,} do.{skipped if rows.skipped else ''}</p>",
        f'<svg class="bar" role="img" aria-label="{fit:.3g} % of the rows fit" '
        'viewBox="0 0 100 1" preserveAspectRatio="none"><rect class="misfit" width="100" '
        f'height="1"/><rect class="fit" width="{fit:.4f}" height="1"/></svg>',
    ]
    if rows.places:
        out.append(_listed(finding, misfits_of(finding, survey), survey))
        if misfits > len(rows.places):
            out.append(
                f'<p class="hint">The first {len(rows.places):,} are listed; show-rows, on the '
                "command line, says how many.</p>"
            )
    return "".join(out)


def _listed(finding: Finding, found: Sequence[Misfit], survey: Survey | None) -> str:
    places = [
        (escape(str(file)), f"{row:,}", "–" if line is None else f"{line:,}")
        for file, row, line in finding.rows.places
    ]
    if not found:
        return table(("File", "Row", "Line"), places, numbers=(1, 2))
    out = []
    if survey is not None:
        said = "Marked bits are not what the rest of the frame says they must be."
        out.append(f'<p class="hint">{said} The pattern of all others:</p>')
        out.append(f'<p class="bits pattern">{bits(survey.layers.pattern)}</p>')
    listed = []
    for (file, row, line), misfit in zip(places, found, strict=True):
        where = f"row {row}" if line == "–" else f"line {line}"
        frame = "" if misfit.written is None else f" <code>{escape(misfit.written)}</code>"
        text = misfit.values
        shown = bits(text, misfit.marks) if survey is not None else escape(_cut(text))
        listed.append(
            f'<li><p class="place">{file}, {where}{frame}</p><p class="bits">{shown}</p>'
            f"{_said(misfit.breaks)}</li>"
        )
    for part, summary in ((listed[:_OPEN], ""), (listed[_OPEN:], f"{len(listed) - _OPEN} more")):
        body = f'<ol class="misfits">{"".join(part)}</ol>'
        if part:
            out.append(folded(summary, body) if summary else body)
    return "".join(out)


def _said(breaks: Sequence[str]) -> str:
    if not breaks:
        return ""
    more = f" … and {len(breaks) - _SAID} more" if len(breaks) > _SAID else ""
    return f'<p class="breaks">breaks {escape("; ".join(breaks[:_SAID]))}{more}</p>'


def _cut(text: str) -> str:
    return text if len(text) <= _WIDE else f"{text[:_WIDE]}…"
