"""The verbs that answer a question: files in, a finding out, printed, drawn and saved.

No mathematics lives here; each step is one call into the core.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

from flagstone import __version__
from flagstone.algebra.fields import as_field
from flagstone.cli.console import ARGUMENTS, BOTTOM, OK, UsageError, parsed, rerun_command
from flagstone.cli.inputs import InputSource, load_protocol, open_source, reading_of
from flagstone.cli.results import (
    answer_lines,
    check_outputs,
    output_paths,
    print_finding,
    refuse_existing_outputs,
    refuse_inputs,
    write_outputs,
)
from flagstone.cli.verbs import (
    AnswerOptions,
    ConstraintsOptions,
    EquationsOptions,
    LearnOptions,
    RuleOptions,
    RunOptions,
    SubspaceOptions,
)
from flagstone.cli.work import Run
from flagstone.coins import Coins, fresh_seed
from flagstone.disk import read_regular
from flagstone.finding import Finding
from flagstone.pipeline import ask
from flagstone.question import (
    ConstraintsQuestion,
    EquationsQuestion,
    ParityQuestion,
    Question,
    SpanQuestion,
    SubspaceQuestion,
)
from flagstone.rules import rule_named

#: On these the result does not depend.
_LOOSE = {f.name for f in dataclasses.fields(RunOptions)} | {"force", "json", "show_as"}


def constraints(options: ConstraintsOptions) -> int:
    """Find the check equations that the rows obey."""
    question = SpanQuestion() if options.linear else ConstraintsQuestion()
    if not options.each:
        return answer(question, options)
    from flagstone.cli.each import answer_each

    return answer_each(question, options)


def learn(options: LearnOptions) -> int:
    """Learn a label as a parity (a linear function) of the other columns."""
    question = ParityQuestion(options.intercept, options.choice)
    parsed(question.check, parsed(as_field, options.field))
    return answer(question, options)


def equations(options: EquationsOptions) -> int:
    """Reduce many equations to a small system."""
    return answer(EquationsQuestion(), options)


def subspace(options: SubspaceOptions) -> int:
    """Find the subspace of the rows whose label is 1."""
    return answer(SubspaceQuestion(options.affine), options)


def rule_of(options: RuleOptions) -> Any:
    """Return the rule with its parameters, validated before any row is read."""
    given = {f.name: getattr(options, f.name) for f in dataclasses.fields(RuleOptions)}
    given |= {name: _number(given[name]) for name in ("t_min", "t_max")}
    given |= {"draw_rows": getattr(options, "draw_rows", None)}
    return parsed(lambda: rule_named(**given))


def _number(text: str | None) -> int | float | str | None:
    """Return a threshold as typed: whole, a fraction, or a text that the rule will judge."""
    for kind in (int, float):
        try:
            return None if text is None else kind(text)
        except ValueError:
            pass
    return text


def answer(question: Question, options: AnswerOptions) -> int:
    """Answer a question about files, and print, draw and save the finding."""
    check_outputs(options)
    finding, run = find(question, options)
    # what cannot be shown fails before anything is written
    answer_lines(finding, options.show_as or "text")
    written = write_outputs(finding, options, resumed=run.resumed)
    run.finish()
    print_finding(finding, options, written)
    return OK if finding.is_answer else BOTTOM


def find(question: Question, options: AnswerOptions) -> tuple[Finding, Run]:
    """Read the rows of files, twice where they are to be measured, and ask the question."""
    protocol = None
    if options.protocol is not None:
        protocol = load_protocol(options.protocol, question, options)
        question = protocol.question
        if protocol.partition == "none" and (options.workers or options.cluster):
            raise UsageError(
                f"the rows of {options.protocol} are one part (partition none), which one process "
                "reads: leave out --cluster and --workers"
            )
        options = dataclasses.replace(
            options,
            seed=protocol.seed,
            max_rows=protocol.max_rows or options.max_rows,
            confidence=protocol.confidence,
            partition=protocol.partition,
        )
    chosen = rule_of(options) if protocol is None else protocol.to_rule()
    once = not (options.measure or options.checkpoint or _is_cut(options))
    source = open_source(options.files, options, question, protocol, once=once)
    if options.deduplicate_runs and (options.checkpoint is not None or source.table is None):
        what = "flag, where runs are lost" if source.table is None else "run that may be resumed"
        raise UsageError(f"--deduplicate-runs is not for a {what}: leave it out")
    read = options.files if source.table is None else source.table.files
    used = [*read, *([] if options.protocol is None else [options.protocol])]
    refuse_inputs([*output_paths(options), options.checkpoint], used)
    refuse_inputs([options.checkpoint], output_paths(options), "an output")
    seed = options.seed
    if seed is None and source.saved is not None:
        seed = source.saved.seed
    fresh = seed is None
    if chosen.draw_rows is not None:
        seed, options = _with_drawn_rows(chosen, seed, options)
    identity = identity_of(question, source, options, seed=seed, rule=repr(chosen))
    work = Run(
        source,
        question,
        options,
        identity,
        seed,
        again=options.measure,
        max_rows=options.max_rows,
        deduplicate=options.deduplicate_runs,
    )
    refuse_existing_outputs(options, resumed=work.resumed)
    summary, counted = work.read()
    finding = ask(
        summary,
        question,
        chosen,
        Coins(work.seed),
        encoding=source.encoding,
        seed_is_fresh=fresh,
        conditions=_conditions(options),
        rows=counted,
        provenance={
            "sources": [] if source.table is None else [str(path) for path in read],
            "reading": reading_of(options) | dict(protocol.reading if protocol else {}),
            "summary": type(summary).__name__.lower(),
            "command": rerun_command(work.seed if protocol is None else None, outputs=options),
            **work.notes,
        },
    )
    if source.table is not None and options.measure:
        finding = work.again(finding)
    return finding, work


def _with_drawn_rows(
    rule: Any, seed: str | None, options: AnswerOptions
) -> tuple[str, AnswerOptions]:
    """Return the seed, and options that take as many rows as its coins draw."""
    if options.max_rows is not None:
        raise UsageError("--draw-rows decides how many rows are used: leave out --max-rows")
    if _is_cut(options):
        raise UsageError(
            "--draw-rows is for rows that are summarized together: leave out --partition, "
            "--workers and --cluster"
        )
    if seed is None and options.checkpoint is not None:
        raise UsageError("--draw-rows with --checkpoint needs --seed, which decides what is read")
    seed = fresh_seed() if seed is None else seed
    return seed, dataclasses.replace(options, max_rows=rule.n_rows(Coins(seed)))


def _is_cut(options: RunOptions) -> bool:
    """Say whether the rows are cut into partitions."""
    if options.partition is None:
        return options.workers is not None or options.cluster is not None
    return options.partition != "none"


def _conditions(options: AnswerOptions) -> list[str]:
    """Return what promises rest on besides, because it was chosen on the rows themselves."""
    conditions = []
    if any(text.endswith("auto") for text in options.encode or []):
        conditions.append("another sample has the same encoders (the rows themselves chose these)")
    if options.deduplicate_runs:
        conditions.append("equal rows that follow each other are one row, sent again")
    return conditions


def identity_of(
    question: Question, source: InputSource, options: Any, **more: Any
) -> dict[str, Any]:
    """Return everything that the result of a run depends on; ``options`` are those of its verb."""
    data: Any = None
    if options.checkpoint is not None:  # only a run that may be resumed pays for a second reading
        if source.table is None:
            data = hashlib.sha256(read_regular(options.files[0])).hexdigest()
        elif not _is_cut(options):  # partitions have an id of their own
            data = source.table.identity()
    given = {k: v for k, v in dataclasses.asdict(options).items() if k not in _LOOSE}
    return {
        "version": __version__,
        "verb": ARGUMENTS[0],
        "question": question.to_dict(),
        "options": given | more,
        "cut": _is_cut(options),
        "encoding": source.encoding.to_dict(),
        "data": data,
    }
