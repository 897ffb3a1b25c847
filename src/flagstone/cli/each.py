"""``constraints a.csv b.csv --each``: the answers of several files, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from flagstone.cli.compare import print_list
from flagstone.cli.console import BOTTOM, OK, UsageError, number, print_json, safe
from flagstone.cli.results import finding_json, places_text, refuse_several
from flagstone.cli.verbs import AnswerOptions
from flagstone.coins import fresh_seed
from flagstone.comparison import beyond, common, listed
from flagstone.errors import WindowError
from flagstone.finding import SCHEMA, Finding
from flagstone.question import Question
from flagstone.tables.files import expand


def answer_each(
    question: Question,
    options: AnswerOptions,
    find: Callable[[Question, AnswerOptions], tuple[Finding, Any]],
) -> int:
    """Answer a question for each file with one seed, and say what the answers share."""
    refuse_several("each", options)
    names = [str(path) for path in expand(options.files)]
    if len(names) < 2:
        raise UsageError(f"--each compares several files, and there is only {names[0]}")
    fresh = options.seed is None and options.protocol is None
    if fresh:
        options = replace(options, seed=fresh_seed())
    findings = []
    for name in names:
        try:
            finding, run = find(question, replace(options, files=[name]))
        except WindowError as error:  # the window fits the rows of the others
            raise WindowError(f"{name}: ", *error.args) from error
        if run is not None:
            run.finish()  # its rows are let go
        findings.append(finding)
    _check_columns(names, findings)
    kept = [finding for finding in findings if _keeps(finding)]
    shared = common(*kept) if len(kept) > 1 else None
    more = [
        None if shared is None or not _keeps(finding) else beyond(finding, shared)
        for finding in findings
    ]
    together = _together(findings)
    if options.json:
        rho, confidence = together or (None, None)
        known = None
        if shared is not None:
            known = {
                "fingerprint": shared.fingerprint,
                "lines": list(listed(shared)),
                "files": len(kept),
                "rho": rho,
                "confidence": confidence,
            }
        files = [
            {"name": name, "finding": finding_json(finding), "beyond": lines}
            for name, finding, lines in zip(names, findings, more, strict=True)
        ]
        seed = {"seed": findings[0].seed, "seed_is_fresh": fresh}
        print_json({"schema": SCHEMA, "files": files, "common": known} | seed)
    else:
        _print_shared(shared, more, together)
        for name, finding, lines in zip(names, findings, more, strict=True):
            _print_one(name, finding, lines)
        note = " (drawn afresh: publish it to be replicable)" if fresh else ""
        print(f"\n{'seed':<14}{safe(str(findings[0].seed))}{note}")
    return OK if all(finding.is_answer for finding in findings) else BOTTOM


def _check_columns(names: Sequence[str], findings: Sequence[Finding]) -> None:
    """Refuse files whose columns are not those of the first."""
    first = findings[0].encoding
    for name, finding in zip(names, findings, strict=True):
        other = finding.encoding
        if other != first:
            counts = f"{len(other.names):,} columns against {len(first.names):,}"
            raise UsageError(
                f"{name} has other columns than {names[0]} ({counts}): equations can be shared of "
                "equal columns only; give --length, --columns or --encode so that they are equal"
            )


def _keeps(finding: Finding) -> bool:
    """Whether a file has something to share; decided by V* alone, as its promises are."""
    V = finding.subspace
    return not (finding.answer.is_bottom or (V is not None and V.dim == 0))


def _together(findings: Sequence[Finding]) -> tuple[float, float] | None:
    """Bound how often a second set of files shares something else, and at which confidence.

    Of all files: one that keeps nothing this time may keep something the next time.
    """
    rho, doubt = 0.0, 0.0
    for finding in findings:
        promises = finding.promises
        if promises is None:
            return None
        proven, certified = promises.proven.rho, promises.certified
        known = [share for share in (proven, certified.rho) if share is not None]
        if not known:
            return None
        rho += min(known)
        doubt += 1 - certified.confidence if min(known) != proven else 0.0
    return (rho, 1 - doubt) if rho < 1 and doubt < 1 else None


def _print_shared(
    shared: Finding | None, more: Sequence[list[str] | None], together: tuple[float, float] | None
) -> None:
    """Print what all answers that keep anything have in common."""
    if shared is None:
        print("Nothing to compare: fewer than two files keep anything")
        return
    n = sum(lines is not None for lines in more)
    which = f"all {n}" if n == len(more) else f"{n} of {len(more)}"
    print(f"{safe(shared.title)} in {which} files:")
    for line in map(safe, shared.lines):
        print(f"  {line}")
    print(f"\n{'fingerprint':<14}{shared.fingerprint[:16]} (of what they share)")
    if together is not None:
        rho, sure = together
        print(
            f"{'promises':<14}two such sets of files share something else with probability "
            f"at most {rho:.2g} (confidence {sure:.3g})"
        )


def _print_one(name: str, finding: Finding, lines: list[str] | None) -> None:
    """Print one answer, and its equations beyond the shared ones."""
    rows = finding.rows
    print(f"\n{safe(name)}: {safe(finding.headline)}")
    if rows.misfits is not None:
        print(f"  {'do not fit':<14}{places_text(rows.misfits, rows.read, rows.places)}")
    else:
        print(f"  {'rows':<14}{number(rows.read)}")
    print(f"  {'fingerprint':<14}{finding.fingerprint[:16]}")
    if lines is None:
        print("  not counted: it keeps nothing to compare")
    elif lines:
        print_list("  beyond what they share:", [f"  {line}" for line in lines])
