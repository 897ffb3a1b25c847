"""``flagstone suggest``: from pilot rows to a protocol for fresh ones."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flagstone.cli.options import Files, JsonOption, SeedOption, TableOptions
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
    purpose: Annotated[
        str,
        typer.Option(
            "--for", help="The verb it is for: constraints, span, learn, equations or subspace."
        ),
    ] = "constraints",
    intercept: Annotated[
        bool,
        typer.Option("--intercept/--no-intercept", help="With --for learn: allow a constant."),
    ] = True,
    linear: Annotated[
        bool, typer.Option("--linear", help="With --for constraints: right-hand sides 0 only.")
    ] = False,
    affine: Annotated[
        bool, typer.Option("--affine", help="With --for subspace: it may miss the origin.")
    ] = False,
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

    from flagstone.certification import Certification
    from flagstone.cli.inputs import open_source, question_for, reading_of
    from flagstone.cli.longrun import watched
    from flagstone.cli.output import print_json, safe
    from flagstone.cli.outputs import refuse_inputs
    from flagstone.disk import check_target
    from flagstone.flag import Flag
    from flagstone.suggest import Suggestion, forecast, proposed

    question = question_for(
        purpose, intercept=intercept, linear=linear, affine=affine, field=table.field
    )
    source = open_source(files, table, question)
    rows, encoding = source.table, source.encoding
    if rows is None:
        raise UsageError(f"{files[0]} is a flag; a forecast needs the pilot rows themselves")
    if output is not None:
        refuse_inputs([output], rows.files)
        check_target(output, overwrite=force)
    field = encoding.field

    def lifted(word: str) -> Any:
        for batch in watched(rows, rows.rows(encoding), word):
            X, y = encoding.split(batch.matrix)
            yield question.lift(field, field.rows(X), y)

    flag = Flag(question.dim(len(encoding.names)), field)
    for part in lifted("reading"):
        flag.update(part)
    protocol, plateau, finding = proposed(
        flag,
        question,
        encoding,
        rule=rule,
        seed=seed,
        take=take,
        confidence=confidence,
        reading=reading_of(table),
    )
    certification = Certification(finding, confidence=confidence)
    for part in lifted("forecasting"):
        certification.update(part)
    found = Suggestion(protocol, plateau, flag.n_rows, forecast(certification))
    if take is None:
        found = dataclasses.replace(
            found, protocol=dataclasses.replace(protocol, take=found.rows_needed)
        )
    if output is not None:
        found.protocol.save(output, overwrite=force)
    written = [] if output is None else [output]
    if json:
        print_json(_plain(found) | {"outputs": written})
    else:
        for line in _lines(found, [safe(path) for path in written]):
            print(line)
    return OK


def _plain(found: Any) -> dict[str, Any]:
    return {
        "protocol": found.protocol.to_dict(),
        "plateau": found.plateau._asdict(),
        "rows": found.n_rows,
        "forecast": [list(point) for point in found.forecast],
    }


def _lines(found: Any, written: list[str]) -> list[str]:
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
        ("forecast", f"{'; '.join(said)} (agreement certified; an extrapolation)"),
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
