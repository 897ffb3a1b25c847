"""``flagstone plan --pilot``: from pilot rows to a protocol for fresh ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from flagstone.cli.answering import identity_of
from flagstone.cli.inputs import command_of, open_source, question_for, reading_of
from flagstone.cli.options import (
    PilotOptions,
    PurposeOptions,
    RunOptions,
    TableOptions,
)
from flagstone.cli.output import number, print_json, safe
from flagstone.cli.outputs import refuse_inputs
from flagstone.cli.runner import OK, UsageError
from flagstone.cli.work import Run
from flagstone.disk import check_target
from flagstone.suggest import MOST_ROWS, Suggestion, forecast, proposed
from flagstone.text import agreement


def plan_window(
    files: Sequence[str],
    options: PilotOptions,
    table: TableOptions,
    purpose: PurposeOptions,
    run: RunOptions,
    seed: str | None,
    json: bool,
) -> int:
    """Choose a window on pilot rows, and write the protocol to publish for fresh ones."""
    output, force = options.output, options.force
    question = question_for(purpose, table.field)
    source = open_source(files, table, question)
    if source.table is None:
        raise UsageError(f"{files[0]} is a flag; a forecast needs the pilot rows themselves")
    refuse_inputs([output, run.checkpoint], source.table.files)
    if output is not None:
        refuse_inputs([run.checkpoint], [output], "an output")
        check_target(output, overwrite=force)
    asked = {k: v for k, v in dataclasses.asdict(options).items() if k not in ("pilot", "force")}
    identity = identity_of(question, source, files, table, run, seed=seed, **asked)
    work = Run(source, question, run, identity, seed)
    flag, counted = work.read()
    protocol, plateau, finding = proposed(
        flag,
        question,
        source.encoding,
        rule=options.rule,
        seed=work.seed,
        take=options.max_rows,
        confidence=options.confidence,
        reading=reading_of(table),
        partition=work.cut,
    )
    second_pass = work.second_pass(finding, options.confidence)
    rows = work.sample(MOST_ROWS)
    found = Suggestion(protocol, plateau, counted.read, forecast(second_pass, protocol, rows))
    if options.max_rows is None:
        found = dataclasses.replace(
            found, protocol=dataclasses.replace(protocol, take=found.rows_needed)
        )
    if output is not None:
        found.protocol.save(output, overwrite=force)
    work.finish()
    written = [] if output is None else [output]
    if json:
        print_json(_plain(found) | {"outputs": written})
    else:
        how = "if rows are like these" if rows is not None else "at least: fewer rows may do"
        for line in _lines(found, [safe(path) for path in written], how):
            print(line)
    return OK


def _plain(found: Any) -> dict[str, Any]:
    return {
        "protocol": found.protocol.to_dict(),
        "plateau": found.plateau._asdict(),
        "rows": found.n_rows,
        "forecast": [list(point) for point in found.forecast],
    }


def _lines(found: Any, written: list[str], how: str) -> list[str]:

    p, plateau = found.protocol, found.plateau
    said = [
        f"{number(m)} rows: {'nothing' if rho is None else f'≥ {agreement(rho)}'}"
        for m, rho in found.forecast
    ]
    same = "as many rows in every run: --max-rows"
    take = same if p.take is None else f"{number(p.take)} in every run"
    file = written[0] if written else "protocol.json"
    rows = [
        ("window", f"t_min {p.t_min:g}, t_max {p.t_max:g} (fractions of the rows), rule {p.rule}"),
        ("forecast", f"{'; '.join(said)} (agreement certified, {how})"),
        ("rows", take),
        ("seed", safe(p.seed)),
        ("protocol", p.fingerprint[:16]),
        ("run", f"flagstone {command_of(p.question)} FRESH --protocol {file}"),
        *(("written", path) for path in written),
    ]
    head = (
        f"Thresholds {number(plateau.first)} to {number(plateau.last)} of {number(found.n_rows)} "
        f"pilot rows give one space, of dimension {plateau.dim}; use its middle on fresh rows:"
    )
    note = "On the pilot rows themselves the window promises nothing: it was chosen on them."
    return [head, *(f"  {label:<10}{text}" for label, text in rows), note]
