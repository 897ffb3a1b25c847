"""Every answering verb: files in, a finding of the core's road out, printed, drawn and saved.

No mathematics lives here; each step is one call into the core.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from flagstone.cli.describe import answer_lines, print_finding
from flagstone.cli.inputs import Source, load_protocol, open_source, reading_of
from flagstone.cli.longrun import LongRun, State
from flagstone.cli.options import AnswerOptions, ColumnOptions, RuleOptions
from flagstone.cli.outputs import (
    check_outputs,
    output_paths,
    refuse_existing_outputs,
    refuse_inputs,
    write_outputs,
)
from flagstone.cli.repeating import repeat_command
from flagstone.cli.runner import BOTTOM, OK, UsageError
from flagstone.cli.words import parsed
from flagstone.disk import read_regular
from flagstone.errors import InputError, Parameter

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
    from flagstone.flag import Flag
    from flagstone.measurement import Measurement
    from flagstone.road import ask

    check_outputs(options)
    protocol = None
    if options.protocol is not None:
        protocol = load_protocol(options.protocol, question, table, options)
        question = protocol.question
        options = dataclasses.replace(
            options,
            seed=protocol.seed,
            take=protocol.take or options.take,
            confidence=protocol.confidence,
        )
    chosen = rule_of(options) if protocol is None else protocol.to_rule()
    source = open_source(files, table, question, protocol)
    if options.deduplicate_runs and (options.checkpoint is not None or source.table is None):
        what = "flag, where runs are lost" if source.table is None else "run that may be resumed"
        raise UsageError(f"--deduplicate-runs is not for a {what}: leave it out")
    read = files if source.table is None else source.table.files
    refuse_inputs([*output_paths(options), options.checkpoint], read)
    refuse_inputs([options.checkpoint], output_paths(options), "an output")
    seed = options.seed
    if seed is None and source.saved is not None:
        seed = source.saved.seed
    identity = _identity(question, source, files, table, options, seed)
    long = LongRun(options, identity | {"rule": repr(chosen)})
    if source.saved is not None:
        summary = source.saved.summary
    else:
        summary = Flag(question.dim(len(source.encoding.names)), source.encoding.field)
    state = long.resume(summary)
    resumed = state is not None
    refuse_existing_outputs(options, resumed=resumed)
    if state is None:
        state = State(fresh_seed() if seed is None else seed, summary)
        long.save(state, must=True)

    read_summary(source, question, long, state, options)
    finding = ask(
        state.summary,
        question,
        chosen,
        Coins(state.seed),
        encoding=source.encoding,
        seed_is_fresh=seed is None,
        conditions=_conditions(table, options),
        provenance={
            "sources": [] if source.table is None else [str(path) for path in read],
            "reading": reading_of(table) | dict(protocol.reading if protocol else {}),
            "summary": type(state.summary).__name__.lower(),
            "command": repeat_command(state.seed if protocol is None else None, outputs=options),
        },
    )
    if state.phase == "read":
        state.phase, state.position = "measure", None
        long.save(state)
    n_rows = state.rows if source.table is not None else state.summary.n_rows
    finding = dataclasses.replace(finding, rows=Measurement(n_rows, skipped=state.skipped))
    if source.table is not None and options.measure:
        finding = _measure(source, finding, long, state, options)
    # what cannot be shown fails before anything is written
    answer_lines(finding, options.show_as or view)
    written = write_outputs(finding, options, resumed=resumed)
    long.finish()
    print_finding(finding, options, written, view)
    return OK if finding.is_answer else BOTTOM


def _conditions(table: ColumnOptions, options: AnswerOptions) -> list[str]:
    """Return what promises rest on besides, because it was chosen on the rows themselves."""
    conditions = []
    if any(text.endswith("auto") for text in table.encode or []):
        conditions.append("another sample has the same encoders (the rows themselves chose these)")
    if options.deduplicate_runs:
        conditions.append("equal rows that follow each other are one row, sent again")
    return conditions


def _rows(source: Source, options: Any, state: State | None = None) -> Iterator[EncodedBatch]:
    """Return the rows that count, from the beginning or from where a run was stopped."""
    from flagstone.tables.choosing import first_rows, without_repeats

    assert source.table is not None
    batches = source.table.rows(source.encoding, None if state is None else state.position)
    if getattr(options, "deduplicate_runs", False):
        batches = without_repeats(batches)
    if (take := getattr(options, "take", None)) is not None:
        batches = first_rows(batches, take - (0 if state is None else state.rows))
    return batches


def read_summary(
    source: Source, question: Question, run: LongRun, state: State, options: Any = None
) -> None:
    """Read all rows of a table, or those that the options choose, into the summary of the state."""
    if state.phase != "read" or source.table is None:
        return
    encoding, field = source.encoding, source.encoding.field

    def step(batch: EncodedBatch) -> None:
        X, y = encoding.split(batch.matrix)
        state.summary.update(question.lift(field, field.rows(X), y))

    take = getattr(options, "take", None)
    total = source.table.n_rows if take is None else take
    run.drive(state, _rows(source, options, state), step, total, len(source.table.files))
    if take is not None and state.rows < take:
        raise InputError(
            Parameter("take", take), f" asks for more rows than there are ({state.rows:,})"
        )


def _measure(
    source: Source, finding: Finding, long: LongRun, state: State, options: AnswerOptions
) -> Finding:
    """Read the rows again: certify, count what the span leaves out and what breaks the answer.

    A run that was stopped here begins the second reading again: pieces of rows certify, and a piece
    must not begin where somebody stopped.
    """
    from flagstone.certification import Certification
    from flagstone.road import look

    table, encoding, counted = source.table, source.encoding, finding.rows
    certification = Certification(finding, confidence=options.confidence)
    assert table is not None
    totals: dict[str, Any] = {"uncovered": 0, "misfits": None, "places": []}

    def step(batch: EncodedBatch) -> None:
        X, y = encoding.split(batch.matrix)
        outside, wrong = look(finding, encoding.field.rows(X), y, certification)
        assert outside is not None
        totals["uncovered"] += int(outside.sum())
        if wrong is not None:
            totals["misfits"] = (totals["misfits"] or 0) + int(wrong.sum())
            left = options.show_rows - len(totals["places"])
            totals["places"] += [tuple(place) for place in batch.places(wrong, left)]

    again = dataclasses.replace(state, rows=0)
    long.drive(again, _rows(source, options), step, counted.read, len(table.files))
    places = tuple(totals.pop("places"))
    return dataclasses.replace(
        certification.certified(), rows=dataclasses.replace(counted, **totals, places=places)
    )


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
