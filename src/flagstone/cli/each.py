"""``constraints a.csv b.csv --each``: an answer for each file, and what they have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flagstone.cli.answering import find
from flagstone.cli.compare import print_list
from flagstone.cli.options import AnswerOptions, ColumnOptions
from flagstone.cli.output import number, print_json, safe
from flagstone.cli.results import finding_json, places_text, refuse_several
from flagstone.cli.runner import BOTTOM, OK, UsageError
from flagstone.cli.work import partition_of
from flagstone.coins import fresh_seed
from flagstone.comparison import beyond, common
from flagstone.finding import SCHEMA, Finding
from flagstone.question import Question
from flagstone.tables.files import expand


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

    @property
    def exit_code(self) -> int:
        """Whether every file has an answer."""
        return OK if all(finding.is_answer for finding in self.findings) else BOTTOM


def answer_each(
    question: Question, files: Sequence[str], table: ColumnOptions, options: AnswerOptions
) -> int:
    """Answer the question for each file with one seed, and say what the answers share."""
    each = find_each(question, files, table, options)
    if options.json:
        print_json(each_keys(each))
    else:
        print_each(each)
    return each.exit_code


def find_each(
    question: Question,
    files: Sequence[str],
    table: ColumnOptions,
    options: AnswerOptions,
) -> EachFound:
    """Ask the question for each file with one seed, and compare the answers."""
    refuse_several("each", options)
    names = [str(path) for path in expand(files)]
    if len(names) < 2:
        raise UsageError(f"--each compares several files, and there is only {names[0]}")
    fresh = options.seed is None and options.protocol is None
    if fresh:
        options = dataclasses.replace(options, seed=fresh_seed())
    if options.protocol is None:  # decided, and told, once for all files
        options = dataclasses.replace(options, partition=str(partition_of(options)))
    findings = [_finding(question, name, table, options) for name in names]
    _check_columns(names, findings)
    counted = [_keeps(finding) for finding in findings]
    kept = [finding for finding, counts in zip(findings, counted, strict=True) if counts]
    shared = common(*kept) if len(kept) > 1 else None
    more = [
        beyond(finding, shared) if shared is not None and counts else None
        for finding, counts in zip(findings, counted, strict=True)
    ]
    return EachFound(names, findings, shared, more, _together(findings), fresh)


def _finding(
    question: Question, name: str, table: ColumnOptions, options: AnswerOptions
) -> Finding:
    """Answer the question for one file."""
    finding, run = find(question, [name], table, options)
    run.finish()
    return finding


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


def each_keys(each: EachFound) -> dict[str, Any]:
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
            "lines": list(shared.answer.lines),
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


def print_each(each: EachFound) -> None:
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
