"""``constraints a.hex b.hex --each``: an answer for each file, and what they have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from flagstone.cli.answering import find
from flagstone.cli.compare import print_list
from flagstone.cli.describe import answer_lines, places_text
from flagstone.cli.layered import layer_keys, layer_lines, survey_of
from flagstone.cli.options import AnswerOptions, ColumnOptions
from flagstone.cli.output import number, print_json, safe
from flagstone.cli.outputs import refuse_several
from flagstone.cli.runner import BOTTOM, OK, UsageError
from flagstone.cli.typed import Found
from flagstone.cli.work import Alone

if TYPE_CHECKING:
    from flagstone.digests import Survey
    from flagstone.finding import Finding
    from flagstone.question import Question


class _Said(NamedTuple):
    names: Sequence[str]
    found: Sequence[Found]
    shared: Finding | None
    survey: Survey | None
    more: Sequence[list[str] | None]
    together: tuple[float, float] | None


def answer_each(
    question: Question,
    files: Sequence[str],
    table: ColumnOptions,
    options: AnswerOptions,
    *,
    solve: Sequence[str] | None = None,
) -> int:
    """Answer the question for each file with one seed, and say what the answers share."""
    from flagstone.coins import fresh_seed
    from flagstone.comparison import beyond, common
    from flagstone.tables.files import expand

    refuse_several("each", options)
    names = [str(path) for path in expand(files)]
    if len(names) < 2:
        raise UsageError(f"--each compares several files, and there is only {names[0]}")
    fresh = options.seed is None and options.protocol is None
    if fresh:
        options = dataclasses.replace(options, seed=fresh_seed())
    found = [find(question, [name], table, options) for name in names]
    _check_columns(names, found)
    findings = [one.finding for one in found]
    counted = [not (finding.nothing_kept or finding.answer.is_bottom) for finding in findings]
    kept = [finding for finding, counts in zip(findings, counted, strict=True) if counts]
    shared = common(*kept) if len(kept) > 1 else None
    survey = None if shared is None else survey_of(shared, solve)
    for one in found:
        if survey is not None and options.measure and isinstance(one.work, Alone):
            one.work.show(survey)
        one.work.finish()
    more = [
        beyond(finding, shared) if shared is not None and counts else None
        for finding, counts in zip(findings, counted, strict=True)
    ]
    said = _Said(names, found, shared, survey, more, _together(kept))
    if options.json:
        print_json(_keys(said) | {"seed": findings[0].seed, "seed_is_fresh": fresh})
    else:
        _print(said)
        note = " (drawn afresh: publish it to be replicable)" if fresh else ""
        print(f"\n{'seed':<14}{safe(str(findings[0].seed))}{note}")
    return OK if all(finding.is_answer for finding in findings) else BOTTOM


def _check_columns(names: Sequence[str], found: Sequence[Found]) -> None:
    """Refuse captures whose columns are not those of the first."""
    first = found[0].finding.encoding
    for name, one in zip(names, found, strict=True):
        other = one.finding.encoding
        if other != first:
            counts = f"{len(other.names):,} columns against {len(first.names):,}"
            raise UsageError(
                f"{name} has other columns than {names[0]} ({counts}): equations can be shared of "
                "equal columns only; give --length, --columns or --encode so that they are equal"
            )


def _together(findings: Sequence[Finding]) -> tuple[float, float] | None:
    """Bound how often a second set of captures shares something else, and at which confidence."""
    rho, doubt = 0.0, 0.0
    for finding in findings:
        promises = finding.promises
        if promises is None:
            return None
        known = [share for share in (promises.rho, promises.rho_certified) if share is not None]
        if not known:
            return None
        rho += min(known)
        doubt += 1 - promises.confidence if min(known) != promises.rho else 0.0
    return (rho, 1 - doubt) if rho < 1 and doubt < 1 else None


def _keys(said: _Said) -> dict[str, Any]:
    from flagstone.finding import SCHEMA

    names, found, shared, survey, more, together = said
    captures = [
        {"name": name, "finding": one.finding.to_dict() | layer_keys(one.survey), "beyond": lines}
        for name, one, lines in zip(names, found, more, strict=True)
    ]
    common = None
    if shared is not None:
        common = {
            "fingerprint": shared.fingerprint,
            "lines": list(shared.answer.lines),
            "captures": sum(lines is not None for lines in more),
            "rho": None if together is None else together[0],
            "confidence": None if together is None else together[1],
        } | layer_keys(survey)
    return {"schema": SCHEMA, "captures": captures, "common": common}


def _print(said: _Said) -> None:
    names, found, shared, survey, more, together = said
    n = sum(lines is not None for lines in more)
    which = f"all {n}" if n == len(names) else f"{n} of {len(names)}"
    if shared is None:
        print("Nothing to compare: fewer than two captures keep anything")
    else:
        print(f"{safe(shared.title)} in {which} captures:")
        layers = layer_lines(survey, shared, always=True)
        for line in layers or answer_lines(shared, "text"):
            print(f"  {line}")
        print(f"\n{'fingerprint':<14}{shared.fingerprint[:16]} (of what they share)")
        if together is not None:
            rho, sure = together
            print(
                f"{'promises':<14}two such sets of captures share something else with probability "
                f"at most {rho:.2g} (confidence {sure:.3g})"
            )
    for name, one, lines in zip(names, found, more, strict=True):
        rows = one.finding.rows
        print(f"\n{safe(name)}: {safe(one.finding.headline)}")
        if rows.misfits is not None:
            print(f"  {'do not fit':<14}{places_text(rows.misfits, rows.read, rows.places)}")
        else:
            print(f"  {'rows':<14}{number(rows.read)}")
        digests = [] if one.survey is None else one.survey.digests
        for digest in digests:
            print(f"  {'digest':<14}{safe(digest.name or digest.formula)}")
        print(f"  {'fingerprint':<14}{one.finding.fingerprint[:16]}")
        if lines is None:
            print("  not counted: it keeps nothing to compare")
        elif lines:
            print_list("  beyond what they share:", [f"  {line}" for line in lines])
