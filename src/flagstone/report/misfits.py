"""Rows that do not fit: how many, which, and what in them breaks which equation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.answers import Constraints
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.markup import escape
from flagstone.report.parts import misfit_list, table, unfolding
from flagstone.tables import MisfitGroup, as_written, frame_text, is_frames, misfit_groups
from flagstone.text import left_out
from flagstone.wording import counted

#: The most broken equations that are named for a row.
_SAID = 6
#: How many rows are seen at once; the others unfold.
_OPEN = 12
#: Longer rows are cut.
_WIDE = 512


@dataclass(frozen=True)
class Misfit:
    """One row that does not fit, and what it breaks."""

    #: Its elements, as :meth:`Field.texts` writes them.
    values: str
    #: The frame as the file has it, in hexadecimal.
    written: str | None
    breaks: tuple[str, ...]


def misfits_of(finding: Finding) -> list[Misfit]:
    """Return the rows that are known not to fit, with what they break.

    Examples
    --------
    >>> from flagstone import Finding
    >>> from flagstone.answers import Constraints
    >>> from flagstone.measurement import Measurement
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
    written = [None] * len(values) if frames is None else map(frame_text, frames)
    return list(map(Misfit, values, written, _breaks(finding, features, X[:, -1])))


def _breaks(finding: Finding, X: Array, labels: Array) -> list[tuple[str, ...]]:
    """Return what each row breaks, for every kind of answer."""
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


def misfit_section(finding: Finding) -> str:
    """Return how many rows do not fit, and the first of them."""
    rows, total = finding.rows, finding.rows.read
    misfits = rows.misfits
    if misfits is None or not total:
        return ""
    fit = 100 * (total - misfits) / total
    do = "does" if misfits == 1 else "do"
    skipped = f" {counted(rows.skipped, 'row')} {left_out(finding.encoding)}."
    out = [
        "<h2>Rows that do not fit</h2>",
        f"<p>{misfits:,} of {total:,} rows ({100 * misfits / total:.3g} %) {do} not fit; "
        f"{total - misfits:,} do.{skipped if rows.skipped else ''}</p>",
        f'<svg class="bar" role="img" aria-label="{fit:.3g} % of the rows fit" '
        'viewBox="0 0 100 1" preserveAspectRatio="none"><rect class="misfit" width="100" '
        f'height="1"/><rect class="fit" width="{fit:.4f}" height="1"/></svg>',
    ]
    if rows.places:
        groups = [] if is_frames(finding) else misfit_groups(finding)
        out.append(_by_equation(groups) if groups else _listed(finding))
        if misfits > len(rows.places):
            out.append(
                f'<p class="hint">The first {len(rows.places):,} are listed; max-misfits, on the '
                "command line, says how many.</p>"
            )
    return "".join(out)


def _by_equation(groups: Sequence[MisfitGroup]) -> str:
    """Return tables of cells, one for the rows that break the same equations."""
    out = []
    for group in groups:
        more = f" … and {len(group.breaks) - _SAID} more" if len(group.breaks) > _SAID else ""
        breaks = "; ".join(group.breaks[:_SAID])
        do = "row breaks" if len(group.rows) == 1 else "rows break"
        out.append(
            f'<h3>{len(group.rows):,} {do} <span class="breaks">{escape(breaks)}</span>{more}</h3>'
        )
        rows = [(escape(str(place)), *map(escape, cells)) for place, cells in group.rows]
        head = ("Row", *map(escape, group.columns))
        out.append(unfolding(rows, _OPEN, partial(table, head)))
    return "".join(out)


def _listed(finding: Finding) -> str:
    places = [
        (escape(str(file)), f"{row:,}", "–" if line is None else f"{line:,}")
        for file, row, line in finding.rows.places
    ]
    found = misfits_of(finding)
    if not found:
        return table(("File", "Row", "Line"), places, numbers=(1, 2))
    listed = []
    for (file, row, line), misfit in zip(places, found, strict=True):
        where = f"row {row}" if line == "–" else f"line {line}"
        frame = "" if misfit.written is None else f" <code>{escape(misfit.written)}</code>"
        values = misfit.values if len(misfit.values) <= _WIDE else f"{misfit.values[:_WIDE]}…"
        listed.append(
            f'<li><p class="place">{file}, {where}{frame}</p><p class="bits">{escape(values)}</p>'
            f"{_said(misfit.breaks)}</li>"
        )
    return unfolding(listed, _OPEN, misfit_list)


def _said(breaks: Sequence[str]) -> str:
    if not breaks:
        return ""
    more = f" … and {len(breaks) - _SAID} more" if len(breaks) > _SAID else ""
    return f'<p class="breaks">breaks {escape("; ".join(breaks[:_SAID]))}{more}</p>'
