"""``frames --split-types``: an answer for each type of rows, and what is left as damage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from flagstone.cli.describe import answer_lines, finding_json, remarks
from flagstone.cli.options import AnswerOptions
from flagstone.cli.output import number, print_json, safe
from flagstone.cli.runner import UsageError
from flagstone.finding import Finding
from flagstone.frames.captures import Capture, MessageType
from flagstone.frames.cli.clusters import cluster_dicts, cluster_texts
from flagstone.frames.cli.layers import analysis_of, layer_keys, layer_lines
from flagstone.frames.digests import DigestAnalysis
from flagstone.wording import counted


class _Types(NamedTuple):
    finding: Finding
    analysis: DigestAnalysis | None
    capture: Capture
    types: Sequence[MessageType]
    analyses: Sequence[DigestAnalysis | None]
    left: Sequence[tuple[int, list[int]]]
    shown: int


def check_split(capture: Capture | None) -> None:
    """Refuse to tell types apart where no rows were kept for that."""
    if capture is None or not capture.n_rows:
        raise UsageError(
            "--split-types needs frames of at most 256 bits, to be read twice: no flag file, no "
            "field but GF(2), no --no-measure"
        )


def print_types(
    finding: Finding,
    analysis: DigestAnalysis | None,
    capture: Capture,
    types: Sequence[MessageType],
    options: AnswerOptions,
    solve: Sequence[str] | None = None,
) -> None:
    """Print an answer for each type of rows, and the rows that fit none."""
    analyses = [_analyzed(one, capture, solve) for one in types]
    left = _left(capture, types)
    said = _Types(finding, analysis, capture, types, analyses, left, options.listed_rows)
    if options.json:
        print_json(_keys(said))
    else:
        _print(said)


def _analyzed(
    found: MessageType, capture: Capture, solve: Sequence[str] | None
) -> DigestAnalysis | None:
    analysis = analysis_of(found.finding, solve)
    if analysis is not None:
        analysis.update(capture.rows[found.rows])
    return analysis


def _left(capture: Capture, types: Sequence[MessageType]) -> list[tuple[int, list[int]]]:
    """Return the rows that fit no type, each with the type of which it breaks the least."""
    free = np.ones(len(capture.rows), dtype=bool)
    for found in types:
        free[found.rows] = False
    index = np.flatnonzero(free)
    if not types or not len(index):
        return []
    broken = [found.answer.syndrome(capture.rows[index]).sum(axis=1) for found in types]
    nearest = np.argmin(broken, axis=0)
    return [(i, index[nearest == i].tolist()) for i in range(len(types)) if (nearest == i).any()]


def _keys(said: _Types) -> dict[str, Any]:
    """Return the finding of all rows together, with its types, for JSON."""
    finding, whole, capture, types, analyses, left, shown = said
    apart = [
        {"rows": len(one.rows), "told_by": one.told_by, "finding": finding_json(one.finding)}
        | layer_keys(analysis)
        for one, analysis in zip(types, analyses, strict=True)
    ]
    broken = [
        {"type": i + 1} | cluster
        for i, index in left
        for cluster in cluster_dicts(capture, types[i].finding, index, shown)
    ]
    layers = layer_keys(whole)
    return finding_json(finding) | layers | {"outputs": [], "clusters": broken, "types": apart}


def _print(said: _Types) -> None:
    finding, _, capture, types, analyses, left, shown = said
    n_left, kept = sum(len(index) for _, index in left), len(capture.rows)
    print(f"{len(types)} types of rows; {number(n_left)} of {number(kept)} rows fit none of them:")
    if kept < capture.n_rows:
        print(f"! types were looked for among {number(kept)} of {number(capture.n_rows)} rows")
    for i, (one, analysis) in enumerate(zip(types, analyses, strict=True), 1):
        told = f", {safe(one.told_by)}" if one.told_by else ""
        print(f"\ntype {i}: {counted(len(one.rows), 'row')}{told}")
        print(f"  {safe(one.finding.headline)}")
        layers = layer_lines(analysis, one.finding, always=True)
        for line in layers or answer_lines(one.finding, "text"):
            print(f"  {line}")
        print(f"  {'fingerprint':<12}{one.finding.fingerprint[:16]}")
    for i, index in left:
        left_over = counted(len(index), "row", "fits")
        print(f"\n{left_over} no type, nearest to type {i + 1}:")
        for line in cluster_texts(capture, types[i].finding, index, shown):
            print(f"  {line}")
    whole = [i for i, one in enumerate(types, 1) if not one.told_by]
    kept_apart = f"only those of type {whole[0]}, which is of all rows" if whole else "none"
    print(
        f"\n{'promises':<14}{kept_apart}: other rows were told apart by what they say; tell fresh"
    )
    print(f"{'':<14}rows apart in the same way beforehand, and ask for each type by itself")
    for label, text in remarks(finding, 0):
        if label in ("threshold", "rows", "seed"):
            print(f"{label:<14}{text}")
