"""``constraints --split-types``: an answer for each type of rows, and what is left as damage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flagstone.cli.clustered import cluster_dicts, cluster_texts
from flagstone.cli.describe import answer_lines, remarks
from flagstone.cli.layered import layer_keys, layer_lines, survey_of
from flagstone.cli.options import AnswerOptions
from flagstone.cli.output import number, print_json, safe
from flagstone.cli.runner import UsageError
from flagstone.wording import counted

if TYPE_CHECKING:
    from flagstone.captures import Capture, MessageType
    from flagstone.cli.crew import Together
    from flagstone.cli.work import Alone
    from flagstone.digests import Survey
    from flagstone.finding import Finding
    from flagstone.rules import SpanRule


@dataclass(frozen=True)
class Found:
    """A finding, with who read its rows, sorted its equations and kept rows for a second look."""

    finding: Finding
    survey: Survey | None
    capture: Capture | None
    rule: SpanRule
    work: Alone | Together


class _Said(NamedTuple):
    found: Found
    capture: Capture
    types: Sequence[MessageType]
    surveys: Sequence[Survey | None]
    left: Sequence[tuple[int, list[int]]]
    shown: int


def check_split(found: Found) -> None:
    """Refuse to tell types apart where no rows were kept for that."""
    if found.capture is None or not found.capture.n_rows:
        raise UsageError(
            "--split-types needs frames of at most 256 bits, to be read twice: no flag file, no "
            "field but GF(2), no --no-measure"
        )


def print_types(
    found: Found,
    types: Sequence[MessageType],
    options: AnswerOptions,
    solve: Sequence[str] | None = None,
) -> None:
    """Print an answer for each type of rows, and the rows that fit none."""
    capture = found.capture
    assert capture is not None
    surveys = [_surveyed(one, capture, solve) for one in types]
    said = _Said(found, capture, types, surveys, _left(capture, types), options.listed_rows)
    if options.json:
        print_json(_keys(said))
    else:
        _print(said)


def _surveyed(found: MessageType, capture: Capture, solve: Sequence[str] | None) -> Survey | None:
    survey = survey_of(found.finding, solve)
    if survey is not None:
        survey.update(capture.rows[found.rows])
    return survey


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


def _keys(said: _Said) -> dict[str, Any]:
    """Return the finding of all rows together, with its types, for JSON."""
    found, capture, types, surveys, left, shown = said
    apart = [
        {"rows": len(one.rows), "told_by": one.told_by, "finding": one.finding.to_dict()}
        | layer_keys(survey)
        for one, survey in zip(types, surveys, strict=True)
    ]
    broken = [
        {"type": i + 1} | cluster
        for i, index in left
        for cluster in cluster_dicts(capture, types[i].finding, index, shown)
    ]
    layers = layer_keys(found.survey)
    return found.finding.to_dict() | layers | {"outputs": [], "clusters": broken, "types": apart}


def _print(said: _Said) -> None:
    found, capture, types, surveys, left, shown = said
    n_left, kept = sum(len(index) for _, index in left), len(capture.rows)
    print(f"{len(types)} types of rows; {number(n_left)} of {number(kept)} rows fit none of them:")
    if kept < capture.n_rows:
        print(f"! types were looked for among {number(kept)} of {number(capture.n_rows)} rows")
    for i, (one, survey) in enumerate(zip(types, surveys, strict=True), 1):
        told = f", {safe(one.told_by)}" if one.told_by else ""
        print(f"\ntype {i}: {counted(len(one.rows), 'row')}{told}")
        print(f"  {safe(one.finding.headline)}")
        layers = layer_lines(survey, one.finding, always=True)
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
    for label, text in remarks(found.finding, 0):
        if label in ("threshold", "rows", "seed"):
            print(f"{label:<14}{text}")
