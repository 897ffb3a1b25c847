"""Rows that do not fit, by what they break; and whether some are of a type of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flagstone.cli.json_keys import CLUSTER_KEYS
from flagstone.cli.output import number, safe
from flagstone.coins import Coins
from flagstone.finding import Finding
from flagstone.frames.captures import Capture, Cluster, MessageType, clusters, message_types
from flagstone.rules import SpanRule
from flagstone.tables import row_texts
from flagstone.wording import counted

#: So many groups of rows that do not fit are listed in JSON.
_MOST = 256


def types_of(capture: Capture | None, finding: Finding, rule: SpanRule) -> list[MessageType]:
    """Return the message types that the kept rows show; none where there is nothing to go by."""
    if capture is None or not capture.n_fits or finding.seed is None or not finding.is_answer:
        return []
    if finding.question.kind != "constraints":
        return []
    return message_types(finding, capture, rule, Coins(finding.seed))


def cluster_keys(
    capture: Capture | None, finding: Finding, shown: int, types: Sequence[MessageType]
) -> dict[str, Any]:
    """Return clusters and types for JSON."""
    if capture is None or not capture.n_rows:
        return dict.fromkeys(CLUSTER_KEYS)
    return {
        "clusters": cluster_dicts(capture, finding, capture.misfits, shown),
        "types": [{"rows": len(found.rows), "told_by": found.told_by} for found in types],
    }


def cluster_dicts(
    capture: Capture, finding: Finding, index: Sequence[int], shown: int
) -> list[dict[str, Any]]:
    """Return some rows of a capture by the equations of a finding that they break, for JSON."""
    answer: Any = finding.answer
    names = finding.encoding.names
    return [
        {
            "rows": len(cluster.rows),
            "syndrome": "".join(map(str, cluster.syndrome)),
            "columns": [names[i] for i in cluster.columns],
            "frames": [
                dict(zip(("file", "row", "line", "text"), frame, strict=True))
                for frame in _frames(capture, finding, index, cluster, shown)
            ],
        }
        for cluster in clusters(answer, capture.rows[list(index)])[:_MOST]
    ]


def _frames(
    capture: Capture, finding: Finding, index: Sequence[int], cluster: Cluster, shown: int
) -> list[list[Any]]:
    """Return [file, row, line, text] of the first rows of a cluster."""
    rows = [index[i] for i in cluster.rows[:shown]]
    places = [capture.places.get(i, [None, None, None]) for i in rows]
    texts = row_texts(finding, capture.rows[rows])
    return [[*place, text] for place, text in zip(places, texts, strict=True)]


def cluster_texts(
    capture: Capture, finding: Finding, index: Sequence[int], shown: int
) -> list[str]:
    """Return the same for people: the largest clusters, one line each, with one of their frames."""
    answer: Any = finding.answer
    found = clusters(answer, capture.rows[list(index)])
    lines = []
    for cluster in found[:shown]:
        file, row, line, text = _frames(capture, finding, index, cluster, 1)[0]
        kind, at = ("row", row) if line is None else ("line", line)
        where = "" if file is None else f"{safe(str(file))} {kind} {at}: "
        broken = _broken(cluster, finding.encoding.names)
        lines.append(f"{number(len(cluster.rows))} × {broken}, {where}{text}")
    if len(found) > shown:
        rest, ways = sum(len(cluster.rows) for cluster in found[shown:]), len(found) - shown
        how = "another way" if ways == 1 else f"{number(ways)} other ways"
        lines.append(f"{number(rest)} more, in {how}")
    return lines


def _broken(cluster: Cluster, names: Sequence[str]) -> str:
    columns = [safe(names[i]) for i in cluster.columns]
    verb = "breaks" if len(cluster.rows) == 1 else "break"
    text = f"{verb} {counted(sum(cluster.syndrome), 'equation')}"
    if not columns:
        return text
    named = ", ".join(columns[:4]) + (", …" if len(columns) > 4 else "")
    return f"{text}, as if {'one of ' if len(columns) > 1 else ''}{named} were turned over"


def misfit_notes(
    capture: Capture | None, finding: Finding, shown: int, types: Sequence[MessageType]
) -> list[tuple[str, str]]:
    """Return what is said of rows that do not fit, and, under ``!``, that there are more types."""
    notes: list[tuple[str, str]] = []
    if capture is None:
        return notes
    if not capture.n_rows:
        elsewhere = "not looked for: the rows are with the workers (leave out --workers, --cluster)"
        return [("types", elsewhere)] if finding.rows.misfits else notes
    if len(types) > 1:
        said = [
            f"{counted(len(one.rows), 'row')}{f' ({safe(one.told_by)})' if one.told_by else ''}"
            for one in types
        ]
        text = f"{len(types)} types of rows: {'; '.join(said)}. Run them apart: add --split-types"
        notes.append(("!", text))
    if capture.misfits and shown:
        notes += [("", line) for line in cluster_texts(capture, finding, capture.misfits, shown)]
        if capture.n_misfits > len(capture.misfits):
            notes.append(("", f"(of the first {number(len(capture.misfits))} of them)"))
    return notes
