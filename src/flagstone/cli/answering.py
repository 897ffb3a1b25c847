"""Every answering verb: files in, a finding of the core's road out, printed, drawn and saved.

No mathematics lives here; each step is one call into the core.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flagstone.cli.describe import answer_lines, print_finding
from flagstone.cli.inputs import Source, open_source, reading_of
from flagstone.cli.longrun import LongRun, State, repeat_command
from flagstone.cli.options import AnswerOptions, ColumnOptions, RuleOptions
from flagstone.cli.outputs import (
    check_outputs,
    output_paths,
    refuse_existing_outputs,
    refuse_inputs,
    write_outputs,
)
from flagstone.cli.runner import BOTTOM, OK
from flagstone.cli.words import parsed
from flagstone.disk import read_regular

if TYPE_CHECKING:
    from flagstone.finding import Finding
    from flagstone.question import Question
    from flagstone.tables import EncodedBatch

__all__ = ["answer", "read_summary", "rule_of"]


def rule_of(options: RuleOptions) -> Any:
    """Return the rule with its parameters, validated before any row is read."""
    from flagstone.rules import rule_named

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
    *,
    view: str = "text",
) -> int:
    """Answer a question about files, and print, draw and save the finding."""
    from flagstone.coins import Coins, fresh_seed
    from flagstone.histogram import new_summary
    from flagstone.measurement import Measurement
    from flagstone.road import ask

    check_outputs(options)
    chosen = rule_of(options)
    source = open_source(files, table, question)
    read = files if source.table is None else source.table.files
    refuse_inputs([*output_paths(options), options.checkpoint], read)
    refuse_inputs([options.checkpoint], output_paths(options), "an output")
    seed = options.seed
    if seed is None and source.saved is not None:
        seed = source.saved.seed
    long = LongRun(options, _identity(question, source, files, table, options, seed))
    if source.saved is not None:
        summary = source.saved.summary
    else:
        summary = new_summary(question.dim(len(source.encoding.names)), source.encoding.field)
    state = long.resume(summary)
    resumed = state is not None
    refuse_existing_outputs(options, resumed=resumed)
    if state is None:
        state = State(fresh_seed() if seed is None else seed, summary)
        long.save(state, must=True)

    read_summary(source, question, long, state)
    finding = ask(
        state.summary,
        question,
        chosen,
        Coins(state.seed),
        encoding=source.encoding,
        seed_is_fresh=seed is None,
        provenance={
            "sources": [] if source.table is None else [str(path) for path in read],
            "reading": reading_of(table),
            "summary": type(state.summary).__name__.lower(),
            "command": repeat_command(state.seed),
        },
    )
    if state.phase == "read":
        n_rows = state.rows if source.table is not None else state.summary.n_rows
        counted = Measurement(n_rows, skipped=state.skipped)
        state.phase, state.position, state.rows = "measure", None, 0
        state.counts = counted.to_dict()
        long.save(state)
    if source.table is not None and options.measure:
        _measure(source, finding, long, state, options.show_rows)
    finding = dataclasses.replace(finding, rows=Measurement.from_dict(state.counts))
    # what cannot be shown fails before anything is written
    answer_lines(finding, options.show_as or view)
    written = write_outputs(finding, options, resumed=resumed)
    long.finish()
    print_finding(finding, options, written, view)
    return OK if finding.is_answer else BOTTOM


def read_summary(source: Source, question: Question, run: LongRun, state: State) -> None:
    """Read all rows of a table into the summary of the state."""
    if state.phase != "read" or source.table is None:
        return
    encoding, field = source.encoding, source.encoding.field

    def step(batch: EncodedBatch) -> None:
        X, y = encoding.split(batch.matrix)
        state.summary.update(question.lift(field, field.rows(X), y))

    batches = source.table.rows(encoding, state.position)
    run.drive(state, batches, step, source.table.n_rows, len(source.table.files))


def _measure(source: Source, finding: Finding, long: LongRun, state: State, shown: int) -> None:
    """Count the rows the span leaves out and the rows that break the answer; note the first."""
    from flagstone.road import look

    table, encoding, counts = source.table, source.encoding, state.counts
    assert table is not None

    def step(batch: EncodedBatch) -> None:
        X, y = encoding.split(batch.matrix)
        outside, wrong = look(finding, encoding.field.rows(X), y)
        assert outside is not None
        counts["uncovered"] = (counts["uncovered"] or 0) + int(outside.sum())
        if wrong is not None:
            counts["misfits"] = (counts["misfits"] or 0) + int(wrong.sum())
            counts["places"] += batch.places(wrong, shown - len(counts["places"]))

    long.drive(state, table.rows(encoding, state.position), step, counts["read"], len(table.files))


def _identity(
    question: Question,
    source: Source,
    files: Sequence[str],
    table: ColumnOptions,
    options: AnswerOptions,
    seed: str | None,
) -> dict[str, Any]:
    """Return everything that the result depends on."""
    from flagstone import __version__

    loose = ("checkpoint", "checkpoint_every", "quiet", "force", "json", "show_as")
    given = {k: v for k, v in dataclasses.asdict(options).items() if k not in loose}
    data: Any = None
    if options.checkpoint is not None:  # only a run that may be resumed pays for a second reading
        if source.table is not None:
            data = source.table.identity()
        else:
            data = hashlib.sha256(read_regular(files[0])).hexdigest()
    return {
        "version": __version__,
        "question": question.to_dict(),
        "files": list(files),
        "table": dataclasses.asdict(table),
        "options": given | {"seed": seed},
        "encoding": source.encoding.to_dict(),
        "data": data,
    }
