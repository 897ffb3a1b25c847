"""The verbs that answer a question: files in, a finding out, printed, drawn and saved.

No mathematics lives here; each step is one call into the core.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from flagstone.cli.console import BOTTOM, OK, UsageError, parsed, refuse_options, rerun_command
from flagstone.cli.each import answer_each
from flagstone.cli.inputs import InputSource, load_protocol, open_source, reading_of
from flagstone.cli.parser import options_of
from flagstone.cli.reader import partition_of
from flagstone.cli.results import (
    answer_lines,
    check_outputs,
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
from flagstone.errors import InputError
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

#: Options that are for rows, not for a saved flag.
_FOR_ROWS = (
    "max_rows", "draw_rows", "deduplicate_runs", "confidence", "max_misfits",
    *(name for name in options_of(RunOptions) if name != "quiet"),
)  # fmt: skip


def constraints(options: ConstraintsOptions) -> int:
    """Find the check equations that the rows obey."""
    question = SpanQuestion() if options.linear else ConstraintsQuestion()
    return answer_each(question, options, find) if options.each else answer(question, options)


def learn(options: LearnOptions) -> int:
    """Learn a label as a parity (a linear function) of the other columns."""
    return answer(ParityQuestion(options.intercept, options.choice), options)


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
    written = write_outputs(finding, options, resumed=run is not None and run.resumed)
    if run is not None:
        run.finish()
    print_finding(finding, options, written)
    return OK if finding.is_answer else BOTTOM


def find(question: Question, options: AnswerOptions) -> tuple[Finding, Run | None]:
    """Answer a question about files: from their rows in one run, or from a saved flag."""
    protocol = None
    if options.protocol is not None:
        protocol = load_protocol(options.protocol, question, options)
        question = protocol.question
        options = dataclasses.replace(
            options,
            seed=protocol.seed,
            max_rows=protocol.max_rows or options.max_rows,
            confidence=protocol.confidence,
            partition=protocol.partition,
        )
    rule = rule_of(options) if protocol is None else protocol.to_rule()
    is_whole = partition_of(options) == "none"
    once = is_whole and not (options.measure or options.checkpoint)
    source = open_source(options.files, options, question, protocol, once=once)
    read = [] if source.table is None else source.table.files
    used = [*(read or options.files), *([] if options.protocol is None else [options.protocol])]
    refuse_inputs(options, used)
    facts: dict[str, Any] = {
        "sources": [str(path) for path in read],
        "reading": reading_of(options) | dict(protocol.reading if protocol else {}),
        "summary": "flag",
    }
    if source.saved is not None:
        return _from_flag(source, question, rule, options, facts), None
    fresh, counted_by = options.seed is None, None
    if protocol is not None and protocol.max_rows is not None:
        counted_by = options.protocol
    if rule.draw_rows is not None:
        counted_by = counted_by or f"--draw-rows {rule.draw_rows}"
        options = _with_drawn_rows(rule, options)
    if options.deduplicate_runs and options.checkpoint is not None:
        raise UsageError("--deduplicate-runs is not for a run that may be resumed: leave it out")
    with _count_explained(counted_by):
        run = Run(
            source,
            question,
            options,
            options.seed,
            again=options.measure,
            max_rows=options.max_rows,
            deduplicate=options.deduplicate_runs,
            rule=rule,
        )
        refuse_existing_outputs(options, resumed=run.resumed)
        run.read()
    conditions = list(source.conditions)
    if options.deduplicate_runs:
        conditions.append("equal rows that follow each other are one row, sent again")
    facts["command"] = rerun_command(run.seed if protocol is None else None, outputs=options)
    finding = run.ask(rule, facts, seed_is_fresh=fresh, conditions=conditions)
    if options.measure:
        finding = run.pipeline.certify(
            finding, run.summary, confidence=options.confidence, shown=options.kept_rows
        )
    return finding, run


def _from_flag(
    source: InputSource,
    question: Question,
    rule: Any,
    options: AnswerOptions,
    facts: dict[str, Any],
) -> Finding:
    """Answer from a flag that was saved."""
    saved = source.saved
    assert saved is not None
    refuse_options(
        options,
        _FOR_ROWS,
        f"is not for {options.files[0]}, which holds rows read before: leave it out",
    )
    refuse_existing_outputs(options)
    given = saved.seed if options.seed is None else options.seed
    seed = fresh_seed() if given is None else given
    facts["command"] = rerun_command(seed, outputs=options)
    return ask(
        saved.summary,
        question,
        rule,
        Coins(seed),
        encoding=source.encoding,
        conditions=source.conditions,
        seed_is_fresh=given is None,
        provenance=facts,
    )


def _with_drawn_rows(rule: Any, options: AnswerOptions) -> AnswerOptions:
    """Return options with a seed, and with as many rows as its coins draw."""
    if options.max_rows is not None:
        raise UsageError("--draw-rows decides how many rows are used: leave out --max-rows")
    if partition_of(options) != "none":
        raise UsageError(
            "--draw-rows is for rows that are summarized together: leave out --partition, "
            "--workers and --cluster"
        )
    if options.seed is None and options.checkpoint is not None:
        raise UsageError("--draw-rows with --checkpoint needs --seed, which decides what is read")
    seed = fresh_seed() if options.seed is None else options.seed
    return dataclasses.replace(options, seed=seed, max_rows=rule.n_rows(Coins(seed)))


@contextlib.contextmanager
def _count_explained(counted_by: str | None) -> Iterator[None]:
    """If there are fewer rows than asked for, name what asked for them, if not --max-rows."""
    try:
        yield
    except InputError as error:
        count, *rest = error.args
        if counted_by is None or getattr(count, "name", "") != "max_rows":
            raise
        raise UsageError(f"{counted_by} ({count.value:,} rows)", *rest) from error
