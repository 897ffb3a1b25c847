"""``flagstone suggest``: from pilot rows to a protocol for fresh ones."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flagstone.cli.options import (
    Files,
    JsonOption,
    PurposeOptions,
    RunOptions,
    SeedOption,
    TableOptions,
)
from flagstone.cli.runner import OK, UsageError, verb

EXAMPLES = (
    "flagstone suggest examples/frames.txt -f bits --seed 7 --take 600 -o protocol.json",
    "flagstone constraints examples/frames.txt --protocol protocol.json",
)
JSON_KEYS = {
    "protocol": "question, encoding, seed, rule, t_min, t_max, take, confidence, reading, "
    "fingerprint",
    "plateau": "dimension, and the first and last threshold that give it on the pilot rows",
    "rows": "pilot rows read",
    "forecast": "[rows, rho]: what so many rows like these would certify (null: nothing)",
    "outputs": "files written",
}


@verb
def command(
    files: Files,
    table: TableOptions,
    purpose: PurposeOptions,
    run: RunOptions,
    rule: Annotated[str, typer.Option("--rule", help="index, or heavy (the paper's).")] = "index",
    take: Annotated[
        int | None,
        typer.Option("--take", min=2, help="How many rows each run takes; forecast otherwise."),
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of what the runs will certify.")
    ] = 0.99,
    seed: SeedOption = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the protocol here.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    json: JsonOption = False,
) -> int:
    """Choose a window on pilot rows, and write the protocol to publish for fresh ones."""
    import dataclasses

    from flagstone.cli.answering import identity_of, work_of
    from flagstone.cli.inputs import open_source, question_for, reading_of
    from flagstone.cli.output import print_json, safe
    from flagstone.cli.outputs import refuse_inputs
    from flagstone.coins import fresh_seed
    from flagstone.disk import check_target
    from flagstone.suggest import MOST_ROWS, Suggestion, forecast, proposed

    question = question_for(purpose, table.field)
    source = open_source(files, table, question)
    if source.table is None:
        raise UsageError(f"{files[0]} is a flag; a forecast needs the pilot rows themselves")
    refuse_inputs([output, run.checkpoint], source.table.files)
    if output is not None:
        refuse_inputs([run.checkpoint], [output], "an output")
        check_target(output, overwrite=force)
    asked = {"seed": seed, "rule": rule, "take": take, "confidence": confidence, "output": output}
    identity = identity_of(question, source, files, table, run, **asked)
    work = work_of(source, question, run, identity, fresh_seed() if seed is None else seed)
    flag, counted = work.read()
    protocol, plateau, finding = proposed(
        flag,
        question,
        source.encoding,
        rule=rule,
        seed=work.seed,
        take=take,
        confidence=confidence,
        reading=reading_of(table),
    )
    look = work.second_look(finding, confidence)
    rows = work.sample(MOST_ROWS)
    found = Suggestion(protocol, plateau, counted.read, forecast(look, protocol, rows))
    if take is None:
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
    from flagstone.cli.output import number, safe
    from flagstone.guarantees.words import agreement

    p, plateau = found.protocol, found.plateau
    said = [
        f"{number(m)} rows: {'nothing' if rho is None else f'≥ {agreement(rho)}'}"
        for m, rho in found.forecast
    ]
    take = (
        "as many rows in every run: --take" if p.take is None else f"{number(p.take)} in every run"
    )
    file = written[0] if written else "protocol.json"
    verb = "constraints --linear" if p.question.kind == "span" else p.question.verb
    rows = [
        ("window", f"t_min {p.t_min:g}, t_max {p.t_max:g} (fractions of the rows), rule {p.rule}"),
        ("forecast", f"{'; '.join(said)} (agreement certified, {how})"),
        ("rows", take),
        ("seed", safe(p.seed)),
        ("protocol", p.fingerprint[:16]),
        ("run", f"flagstone {verb} FRESH --protocol {file}"),
        *(("written", path) for path in written),
    ]
    head = (
        f"Thresholds {number(plateau.first)} to {number(plateau.last)} of {number(found.n_rows)} "
        f"pilot rows give one space, of dimension {plateau.dim}; use its middle on fresh rows:"
    )
    note = "On the pilot rows themselves the window promises nothing: it was chosen on them."
    return [head, *(f"  {label:<10}{text}" for label, text in rows), note]
