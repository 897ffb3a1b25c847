"""Every answering verb: files in, a finding of the core's road out, printed, drawn and saved.

No mathematics lives here; each step is one call into the core.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flagstone.cli.clustered import capture_for, cluster_keys, misfit_notes, types_of
from flagstone.cli.crew import Together, hired
from flagstone.cli.describe import answer_lines, headline_notes, print_finding
from flagstone.cli.inputs import Source, load_protocol, open_source, reading_of
from flagstone.cli.layered import layer_keys, layer_lines, survey_of
from flagstone.cli.options import AnswerOptions, ColumnOptions, RuleOptions, RunOptions
from flagstone.cli.outputs import (
    check_outputs,
    output_paths,
    refuse_existing_outputs,
    refuse_inputs,
    refuse_several,
    write_outputs,
)
from flagstone.cli.repeating import repeat_command
from flagstone.cli.runner import ARGUMENTS, BOTTOM, OK, UsageError
from flagstone.cli.typed import Found, check_split, print_types
from flagstone.cli.words import parsed
from flagstone.cli.work import Alone
from flagstone.disk import read_regular

if TYPE_CHECKING:
    from flagstone.question import Question

#: On these the result does not depend.
_LOOSE = {f.name for f in dataclasses.fields(RunOptions)} | {"force", "json", "show_as"}


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
    solve: Sequence[str] | None = None,
    split: bool = False,
) -> int:
    """Answer a question about files, and print, draw and save the finding.

    With ``split``, types of rows are answered apart, if there are several.
    """
    check_outputs(options)
    if split:
        refuse_several("split-types", options)
    found = find(question, files, table, options, solve=solve, all_places=split)
    finding, survey, capture = found.finding, found.survey, found.capture
    if split:
        check_split(found)
    # what cannot be shown fails before anything is written
    answer_lines(finding, options.show_as or view, survey)
    types = types_of(capture, finding, found.rule)
    notes = misfit_notes(capture, finding, options.listed_rows, types)
    loud = headline_notes(finding, notes)
    written = write_outputs(finding, options, survey, resumed=found.work.resumed, notes=loud)
    found.work.finish()
    if split and (len(types) > 1 or (types and options.json)):
        print_types(found, types, options, solve)
        return OK
    said = layer_lines(survey, finding) if view == "text" else None
    extra = {}
    if finding.question.kind in ("constraints", "span"):
        extra = layer_keys(survey) | cluster_keys(capture, finding, options.listed_rows, types)
    if split:
        none = "not looked for: there is no answer that the rows support"
        notes.append(("types", "one: nothing speaks for a second one" if types else none))
    print_finding(finding, options, written, view, said, extra, survey, notes)
    return OK if finding.is_answer else BOTTOM


def find(
    question: Question,
    files: Sequence[str],
    table: ColumnOptions,
    options: AnswerOptions,
    *,
    solve: Sequence[str] | None = None,
    all_places: bool = False,
) -> Found:
    """Read the rows of files, twice where they are to be measured, and ask the question."""
    from flagstone.coins import Coins, fresh_seed
    from flagstone.road import ask

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
    once = not options.measure and not (options.checkpoint or options.workers or options.cluster)
    source = open_source(files, table, question, protocol, once=once)
    if options.deduplicate_runs and (options.checkpoint is not None or source.table is None):
        what = "flag, where runs are lost" if source.table is None else "run that may be resumed"
        raise UsageError(f"--deduplicate-runs is not for a {what}: leave it out")
    read = files if source.table is None else source.table.files
    refuse_inputs([*output_paths(options), options.checkpoint], read)
    refuse_inputs([options.checkpoint], output_paths(options), "an output")
    seed = options.seed
    if seed is None and source.saved is not None:
        seed = source.saved.seed
    given = {k: v for k, v in dataclasses.asdict(options).items() if k not in _LOOSE}
    given |= {"seed": seed, "rule": repr(chosen)}
    identity = identity_of(question, source, files, table, options, **given)
    work = work_of(
        source,
        question,
        options,
        identity,
        fresh_seed() if seed is None else seed,
        again=options.measure,
    )
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
            "command": repeat_command(work.seed if protocol is None else None, outputs=options),
            **work.notes,
        },
    )
    survey, capture = survey_of(finding, solve), None
    if source.table is not None and options.measure:
        capture = capture_for(survey, all_places=all_places)
        finding = work.again(finding, survey, capture)
        if survey is not None:
            named = [digest.to_dict() for digest in survey.digests if digest.name]
            kept = {**finding.provenance, "digest": named}
            finding = dataclasses.replace(finding, provenance=kept)
    return Found(finding, survey, capture, chosen, work)


def work_of(
    source: Source,
    question: Question,
    options: RunOptions,
    identity: Mapping[str, Any],
    seed: str,
    *,
    histogram: bool = False,
    again: bool = True,
) -> Alone | Together:
    """Return who reads the rows, once or ``again``: this process, or the crew of the options."""
    crew = hired(options)
    if crew is None:
        return Alone(source, question, options, identity, seed, histogram=histogram, again=again)
    return Together(
        crew, source, question, options, identity, seed, histogram=histogram, again=again
    )


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
    source: Source,
    files: Sequence[str],
    table: ColumnOptions,
    run: RunOptions,
    **options: Any,
) -> dict[str, Any]:
    """Return everything that the result depends on."""
    from flagstone import __version__

    data: Any = None
    if run.checkpoint is not None:  # only a run that may be resumed pays for a second reading
        if source.table is None:
            data = hashlib.sha256(read_regular(files[0])).hexdigest()
        elif run.cluster is None and run.workers is None:  # partitions have an id of their own
            data = source.table.identity()
    return {
        "version": __version__,
        "verb": ARGUMENTS[0],
        "question": question.to_dict(),
        "files": list(files),
        "table": dataclasses.asdict(table),
        "options": options,
        "encoding": source.encoding.to_dict(),
        "data": data,
    }
