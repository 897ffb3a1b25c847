"""``constraints a.csv b.csv --each``: an answer for each file, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flagstone.cli.answering import find
from flagstone.cli.compare import print_list
from flagstone.cli.output import number, print_json, safe
from flagstone.cli.results import finding_json, places_text, refuse_several
from flagstone.cli.runner import BOTTOM, OK, UsageError
from flagstone.cli.verbs import AnswerOptions
from flagstone.cli.work import partition_of
from flagstone.coins import fresh_seed
from flagstone.comparison import beyond, common, listed
from flagstone.finding import SCHEMA, Finding
from flagstone.question import Question
from flagstone.tables.files import expand


def answer_each(question: Question, options: AnswerOptions) -> int:
    """Answer the question for each file with one seed, and say what the answers share."""
    refuse_several("each", options)
    names = [str(path) for path in expand(options.files)]
    if len(names) < 2:
        raise UsageError(f"--each compares several files, and there is only {names[0]}")
    fresh = options.seed is None and options.protocol is None
    if fresh:
        options = replace(options, seed=fresh_seed())
    if options.protocol is None:  # decided, and told, once for all files
        options = replace(options, partition=str(partition_of(options)))
    findings = []
    for name in names:
        finding, run = find(question, replace(options, files=[name]))
        run.finish()
        findings.append(finding)
    _check_columns(names, findings)
    each = _compared(names, findings, fresh)
    if options.json:
        print_json(_keys(each))
    else:
        _print(each)
    return OK if all(finding.is_answer for finding in findings) else BOTTOM


@dataclass(frozen=True)
class EachFound:
    """The answers for several files.

    Attributes
    ----------
    names : sequence of str
    findings : sequence of Finding
    shared : Finding or None
        What all of them share; None if fewer than two keep anything.
    beyond : sequence of list of str, or None
        The equations of each beyond the shared ones; None where it is not counted.
    together : tuple of float, or None
        How often a second set of files shares something else, at most, and the confidence.
    seed_is_fresh : bool
    """

    names: Sequence[str]
    findings: Sequence[Finding]
    shared: Finding | None
    beyond: Sequence[list[str] | None]
    together: tuple[float, float] | None
    seed_is_fresh: bool


def _compared(names: Sequence[str], findings: Sequence[Finding], fresh: bool) -> EachFound:
    """Compare the answers of all files."""
    kept = [finding for finding in findings if _keeps(finding)]
    shared = common(*kept) if len(kept) > 1 else None
    more = [
        beyond(finding, shared) if shared is not None and _keeps(finding) else None
        for finding in findings
    ]
    return EachFound(names, findings, shared, more, _together(findings), fresh)


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


def _keys(each: EachFound) -> dict[str, Any]:
    """Return the answers and what they share, for JSON."""
    shared, together = each.shared, each.together
    captures = [
        {"name": name, "finding": finding_json(finding), "beyond": lines}
        for name, finding, lines in zip(each.names, each.findings, each.beyond, strict=True)
    ]
    common = None
    if shared is not None:
        common = {
            "fingerprint": shared.fingerprint,
            "lines": list(listed(shared)),
            "captures": sum(lines is not None for lines in each.beyond),
            "rho": None if together is None else together[0],
            "confidence": None if together is None else together[1],
        }
    seed = each.findings[0].seed
    return {
        "schema": SCHEMA,
        "captures": captures,
        "common": common,
        "seed": seed,
        "seed_is_fresh": each.seed_is_fresh,
    }


def _print(each: EachFound) -> None:
    """Print what the answers share, and then each file."""
    shared = each.shared
    n = sum(lines is not None for lines in each.beyond)
    which = f"all {n}" if n == len(each.names) else f"{n} of {len(each.names)}"
    if shared is None:
        print("Nothing to compare: fewer than two captures keep anything")
    else:
        print(f"{safe(shared.title)} in {which} captures:")
        for line in map(safe, shared.lines):
            print(f"  {line}")
        print(f"\n{'fingerprint':<14}{shared.fingerprint[:16]} (of what they share)")
        if each.together is not None:
            rho, sure = each.together
            print(
                f"{'promises':<14}two such sets of captures share something else with probability "
                f"at most {rho:.2g} (confidence {sure:.3g})"
            )
    for name, finding, lines in zip(each.names, each.findings, each.beyond, strict=True):
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
    note = " (drawn afresh: publish it to be replicable)" if each.seed_is_fresh else ""
    print(f"\n{'seed':<14}{safe(str(each.findings[0].seed))}{note}")
