"""Rows of a table that do not fit: their cells, by the equations that they break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.answers import LinearSystem, ParityRule
from flagstone.encoding import cells, number_text
from flagstone.finding import Finding
from flagstone.tables.batches import Place

#: Equations and cells that a line says.
_SAID, _CELLS = 4, 12


@dataclass(frozen=True)
class MisfitGroup:
    """Rows that break the same equations.

    Attributes
    ----------
    breaks : tuple of str
        What they break, in the words of the table.
    columns : tuple of str
        The columns of the table that occur there; with what is off, if that is a number.
    rows : list of (Place, tuple of str)
        Where each row stands, and its cells of these columns.
    """

    breaks: tuple[str, ...]
    columns: tuple[str, ...]
    rows: list[tuple[Place, tuple[str, ...]]]


def misfit_groups(finding: Finding, most: int | None = None) -> list[MisfitGroup]:
    """Return the rows that are known not to fit, those first that break the first equations.

    Of many rows the first ones, at most this many, may be enough.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from flagstone import Finding
    >>> from flagstone.answers import Constraints
    >>> from flagstone.measurement import Measurement
    >>> ledger = Finding.of(Constraints([[1, 1, -1, 0]], [0], "QQ", ["net", "vat", "gross", "no"]))
    >>> rows = Measurement(9, None, 1, 0, (("a.csv", 4, 5),), ("100 19 1191/10 4",))
    >>> for group in misfit_groups(replace(ledger, rows=rows)):
    ...     print(group.breaks, group.columns, group.rows[0][1])
    ('net + vat - gross = 0',) ('net', 'vat', 'gross', 'off by') ('100', '19', '119.1', '-0.1')
    """
    rows, encoding, X = finding.rows, finding.words, _shown_rows(finding, most)
    if X is None:
        return []
    told, broken, used = _equations(finding, X)
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(broken):
        groups.setdefault(tuple(np.flatnonzero(row).tolist()), []).append(i)
    found = []
    for which, members in sorted(groups.items()):
        columns = _columns(finding, np.asarray(used[list(which)].any(axis=0)))
        residual = ["; ".join(row) for row in _residuals(finding, X, which)]
        listed = []
        for i in members:
            written = cells(encoding, X[i].tolist(), columns)
            shown = tuple(written[name] for name in columns)
            listed.append((Place(*rows.places[i]), (*shown, *residual[i : i + 1])))
        head = (*columns, "off by") if residual else columns
        found.append(MisfitGroup(tuple(told[k] for k in which), head, listed))
    return found


def misfit_records(finding: Finding) -> list[dict[str, Any]]:
    """Return the rows that are known not to fit, in their order, as values for JSON.

    Each with its place, the cells of all columns that are read, what it breaks, and over QQ by how
    much.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from flagstone import Finding
    >>> from flagstone.answers import Constraints
    >>> from flagstone.measurement import Measurement
    >>> ledger = Finding.of(Constraints([[1, 1, -1]], [0], "QQ", ["net", "vat", "gross"]))
    >>> rows = Measurement(9, None, 1, 0, (("a.csv", 4, 5),), ("100 19 1191/10",))
    >>> [row] = misfit_records(replace(ledger, rows=rows))
    >>> row["line"], row["cells"], row["breaks"], row["off_by"]
    (5, {'net': '100', 'vat': '19', 'gross': '119.1'}, ['net + vat - gross = 0'], ['-0.1'])
    """
    X = _shown_rows(finding)
    if X is None:
        return []
    told, broken, _ = _equations(finding, X)
    found = []
    for i, row in enumerate(broken):
        which = tuple(np.flatnonzero(row).tolist())
        residual = _residuals(finding, X[i : i + 1], which)
        file, number, line = finding.rows.places[i]
        found.append(
            {"file": file, "row": number, "line": line}
            | {"cells": cells(finding.words, X[i].tolist())}
            | {"breaks": [told[k] for k in which], "off_by": residual[0] if residual else None}
        )
    return found


def _shown_rows(finding: Finding, most: int | None = None) -> Array | None:
    """Return the encoded rows that are known not to fit, labels included; None without any."""
    values = finding.rows.values[:most]
    if not values:
        return None
    width = finding.answer.dim + finding.question.labelled
    return finding.field.array(finding.field.from_texts(values, width))


def misfit_lines(finding: Finding, most: int) -> list[str]:
    """Return the first rows that do not fit as lines of text, below what they break."""
    lines, left = [], most
    for group in misfit_groups(finding, most):
        lines.append(f"break {'; '.join(group.breaks[:_SAID])}")
        for place, written in group.rows:
            pairs = zip(group.columns[:_CELLS], written, strict=False)
            more = ", …" if len(written) > _CELLS else ""
            lines.append(f"  {place}: {', '.join(' '.join(pair) for pair in pairs)}{more}")
        left -= len(group.rows)
    others = (finding.rows.misfits or 0) - most + left
    return [*lines, *([f"… and {others:,} more"] if lines and others > 0 else [])]


def _equations(finding: Finding, X: Array) -> tuple[list[str], Array, Array]:
    """Return what can be broken, which row breaks which, and the columns that occur in each."""
    answer, news = finding.answer, finding.news
    dim, every = answer.dim, np.ones((1, X.shape[1]), dtype=bool)
    if news is not None:
        told = list(finding.checks)
        used = np.zeros((len(told), X.shape[1]), dtype=bool)
        used[: len(news.rows), :dim] = news.rows[:, :-1] != 0
        for k, (column, _) in enumerate(news.constants, len(news.rows)):
            used[k, column] = True
        broken = news.broken(finding.field, X[:, :dim])
        if finding.question.labelled:  # a negative example breaks the answer by obeying it
            obeys = ~broken.any(axis=1)
            broken = np.column_stack([broken, obeys])
            told, used = [*told, "a negative row that fits"], np.concatenate([used, every])
        return told, broken, used
    told = list(finding.lines)
    if isinstance(answer, ParityRule) and answer.coef is not None:
        every[0, :dim] = answer.coef != 0
        told = [f"the rule {told[0]}"]
    elif isinstance(answer, LinearSystem):
        told = ["the system of equations"]
    return told, np.ones((len(X), 1), dtype=bool), every


def _columns(finding: Finding, used: Array) -> tuple[str, ...]:
    """Return the columns of the table whose encoded columns are used, and the label."""
    encoding = finding.words
    n_columns = sum(encoder.width for encoder in encoding.encoders)
    products = bool(used[n_columns : finding.answer.dim].any())  # then any column may matter
    found = [e.column for e, part in encoding.parts if products or used[part].any()]
    label = [] if encoding.label is None else [encoding.label.column]
    return tuple(dict.fromkeys(found + label))


def _residuals(finding: Finding, X: Array, which: tuple[int, ...]) -> list[list[str]]:
    """Return by how much each row misses each of the equations that it breaks, over QQ."""
    news, F = finding.news, finding.field
    if F.order is not None or news is None or not which or which[-1] >= len(finding.checks):
        return []
    equations = np.zeros((len(finding.checks), finding.answer.dim + 1), dtype=int).astype(F.dtype)
    equations[: len(news.rows)] = news.rows
    for k, (column, value) in enumerate(news.constants, len(news.rows)):
        equations[k, column], equations[k, -1] = F.one, value
    chosen = equations[list(which)]
    features = F.rows(X[:, : finding.answer.dim])
    off = F.sub(F.dot(features, chosen[:, :-1]), chosen[np.newaxis, :, -1])
    return [[number_text(F, value) for value in row] for row in off]
