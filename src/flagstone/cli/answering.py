"""Every verb that answers: files in, a finding out, printed, drawn and saved.

No mathematics lives here; each step is one call into the core.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Any

from flagstone import __version__
from flagstone.cli.inputs import InputSource, load_protocol, open_source, reading_of
from flagstone.cli.options import (
    AnswerOptions,
    ColumnOptions,
    RuleOptions,
    RunOptions,
)
from flagstone.cli.results import (
    answer_lines,
    check_outputs,
    output_paths,
    print_finding,
    refuse_existing_outputs,
    refuse_inputs,
    write_outputs,
)
from flagstone.cli.runner import ARGUMENTS, BOTTOM, OK, UsageError
from flagstone.cli.words import parsed, rerun_command
from flagstone.cli.work import Run
from flagstone.coins import Coins
from flagstone.disk import read_regular
from flagstone.finding import Finding
from flagstone.pipeline import ask
from flagstone.question import Question
from flagstone.rules import rule_named

#: On these the result does not depend.
_LOOSE = {f.name for f in dataclasses.fields(RunOptions)} | {"force", "json", "show_as"}


def rule_of(options: RuleOptions) -> Any:
    """Return the rule with its parameters, validated before any row is read."""
    given = {f.name: getattr(options, f.name) for f in dataclasses.fields(RuleOptions)}
    given |= {name: _number(given[name]) for name in ("t_min", "t_max")}
    return parsed(lambda: rule_named(**given))


def _number(text: str | None) -> int | float | str | None:
    """Return a threshold as typed: whole, a fraction, or a text that the rule will judge."""
    for kind in (int, float):
        try:
            return None if text is None else kind(text)
        except ValueError:
            pass
    return text


def answer(
    question: Question,
    files: Sequence[str],
    table: ColumnOptions,
    options: AnswerOptions,
) -> int:
    """Answer a question about files, and print, draw and save the finding."""
    check_outputs(options)
    finding, run = find(question, files, table, options)
    # what cannot be shown fails before anything is written
    answer_lines(finding, options.show_as or "text")
    written = write_outputs(finding, options, resumed=run.resumed)
    run.finish()
    print_finding(finding, options, written)
    return OK if finding.is_answer else BOTTOM


def find(
    question: Question,
    files: Sequence[str],
    table: ColumnOptions,
    options: AnswerOptions,
) -> tuple[Finding, Run]:
    """Read the rows of files, twice where they are to be measured, and ask the question."""
    protocol = None
    if options.protocol is not None:
        protocol = load_protocol(options.protocol, question, table, options)
        question = protocol.question
        if protocol.partition == "none" and (options.workers or options.cluster):
            raise UsageError(
                f"the rows of {options.protocol} are one part (partition none), which one process "
                "reads: leave out --cluster and --workers"
            )
        options = dataclasses.replace(
            options,
            seed=protocol.seed,
            max_rows=protocol.take or options.max_rows,
            confidence=protocol.confidence,
            partition=protocol.partition,
        )
    chosen = rule_of(options) if protocol is None else protocol.to_rule()
    once = not (options.measure or options.checkpoint or _is_cut(options))
    source = open_source(files, table, question, protocol, once=once)
    if options.deduplicate_runs and (options.checkpoint is not None or source.table is None):
        what = "flag, where runs are lost" if source.table is None else "run that may be resumed"
        raise UsageError(f"--deduplicate-runs is not for a {what}: leave it out")
    read = files if source.table is None else source.table.files
    used = [*read, *([] if options.protocol is None else [options.protocol])]
    refuse_inputs([*output_paths(options), options.checkpoint], used)
    refuse_inputs([options.checkpoint], output_paths(options), "an output")
    seed = options.seed
    if seed is None and source.saved is not None:
        seed = source.saved.seed
    given = {k: v for k, v in dataclasses.asdict(options).items() if k not in _LOOSE}
    given |= {"seed": seed, "rule": repr(chosen)}
    identity = identity_of(question, source, files, table, options, **given)
    work = Run(source, question, options, identity, seed, again=options.measure)
    refuse_existing_outputs(options, resumed=work.resumed)
    summary, counted = work.read()
    finding = ask(
        summary,
        question,
        chosen,
        Coins(work.seed),
        encoding=source.encoding,
        seed_is_fresh=seed is None,
        conditions=_conditions(table, options),
        rows=counted,
        provenance={
            "sources": [] if source.table is None else [str(path) for path in read],
            "reading": reading_of(table) | dict(protocol.reading if protocol else {}),
            "summary": type(summary).__name__.lower(),
            "command": rerun_command(work.seed if protocol is None else None, outputs=options),
            **work.notes,
        },
    )
    if source.table is not None and options.measure:
        finding = work.again(finding)
    return finding, work


def _is_cut(options: RunOptions) -> bool:
    """Say whether the rows are cut into partitions."""
    if options.partition is None:
        return options.workers is not None or options.cluster is not None
    return options.partition != "none"


def _conditions(table: ColumnOptions, options: AnswerOptions) -> list[str]:
    """Return what promises rest on besides, because it was chosen on the rows themselves."""
    conditions = []
    if any(text.endswith("auto") for text in table.encode or []):
        conditions.append("another sample has the same encoders (the rows themselves chose these)")
    if options.deduplicate_runs:
        conditions.append("equal rows that follow each other are one row, sent again")
    return conditions


def identity_of(
    question: Question,
    source: InputSource,
    files: Sequence[str],
    table: ColumnOptions,
    run: RunOptions,
    **options: Any,
) -> dict[str, Any]:
    """Return everything that the result depends on."""
    data: Any = None
    if run.checkpoint is not None:  # only a run that may be resumed pays for a second reading
        if source.table is None:
            data = hashlib.sha256(read_regular(files[0])).hexdigest()
        elif not _is_cut(run):  # partitions have an id of their own
            data = source.table.identity()
    return {
        "version": __version__,
        "verb": ARGUMENTS[0],
        "question": question.to_dict(),
        "files": list(files),
        "table": dataclasses.asdict(table),
        "options": options,
        "cut": _is_cut(run),
        "encoding": source.encoding.to_dict(),
        "data": data,
    }
