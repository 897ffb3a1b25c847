"""``flagstone plan``: how many rows a promise needs, or which window pilot rows propose."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from flagstone.algebra.fields import as_field
from flagstone.cli.answering import identity_of
from flagstone.cli.inputs import check_degree, command_of, open_source, question_for, reading_of
from flagstone.cli.options import (
    FIELD,
    PilotOptions,
    PlanOptions,
    ProductTableOptions,
    PurposeOptions,
    RunOptions,
)
from flagstone.cli.output import number, print_json, safe
from flagstone.cli.results import refuse_inputs
from flagstone.cli.runner import OK, UsageError
from flagstone.cli.words import parsed
from flagstone.cli.work import Run
from flagstone.coins import Coins
from flagstone.disk import check_target
from flagstone.encoding import Monomials
from flagstone.finding import SCHEMA
from flagstone.guarantees import Window, plan
from flagstone.rules import IndexRule
from flagstone.suggest import MOST_ROWS, Suggestion, forecast, forecast_equations, proposed
from flagstone.text import agreement


def command(
    promise: PlanOptions,
    pilot: PilotOptions,
    table: ProductTableOptions,
    purpose: PurposeOptions,
    run: RunOptions,
    seed: str | None,
    json: bool,
) -> int:
    """Plan a promise from numbers alone, or a window from pilot rows."""
    if pilot.pilot:
        _refuse("has no place beside --pilot", promise)
        return plan_window(pilot.pilot, pilot, table, purpose, run, seed, json)
    _refuse("is for --pilot", pilot, dataclasses.replace(table, field=FIELD, degree=1), run)
    return _plan_rows(promise, table, purpose, seed, json)


def _refuse(why: str, *records: Any) -> None:
    """Refuse options that were given, but are for the other kind of plan."""
    for record in records:
        for field in dataclasses.fields(record):
            if getattr(record, field.name) != field.default:
                name = next(n for n in field.metadata["option"].names if n.startswith("--"))
                raise UsageError(f"{name} {why}; leave it out")


def _plan_rows(
    promise: PlanOptions,
    table: ProductTableOptions,
    purpose: PurposeOptions,
    seed: str | None,
    json: bool,
) -> int:
    """Say how many rows a promise needs, by the paper's analysis and by ours."""
    dim, rho = promise.dim, promise.rho
    if dim is None or rho is None:
        raise UsageError("plan needs --dim and --rho, or pilot rows: --pilot FILE")
    if purpose.purpose is None:
        usual = {"purpose": "learn"} if promise.delta is not None else {"linear": True}
        purpose = dataclasses.replace(purpose, **usual)
    question = question_for(purpose)
    field, degree = parsed(as_field, table.field), table.degree
    check_degree(question, degree)
    products = parsed(Monomials, field, degree, tuple(f"x{i}" for i in range(dim)))
    eps, delta, contamination = promise.eps, promise.delta, promise.contamination
    each = promise.each
    found = parsed(plan, question.dim(products.count), rho, eps, delta, field, contamination, each)
    drawn = None
    if seed is not None and found.rows is not None:
        planned = found["index"]
        window = Window("index", planned.t_min, planned.t_min + int(planned.length or 1) - 1)
        threshold = IndexRule().draw(window, Coins(seed))
        drawn = {"seed": seed, "window": vars(window), "threshold": threshold}
    if json:
        asked = {"schema": SCHEMA, "columns": dim, "verb": question.verb, "row": question.row}
        asked |= {"degree": degree} if degree > 1 else {}
        print_json(asked | found.to_dict() | {"drawn": drawn})
        return OK
    print(found)
    rows = f"rows {question.row} of dimension {found.dim}"
    made = f"{dim} columns" if degree == 1 else f"{products.count:,} products of {dim} columns"
    print(f"· for {command_of(question)}: {made} make {rows}")
    if question.kind == "span":
        print("· other verbs need more rows: plan them with --for constraints or --for learn")
    if drawn is not None:
        print(f"· seed {seed} draws threshold {threshold} from {window}")
    return OK


def plan_window(
    files: Sequence[str],
    options: PilotOptions,
    table: ProductTableOptions,
    purpose: PurposeOptions,
    run: RunOptions,
    seed: str | None,
    json: bool,
) -> int:
    """Choose a window on pilot rows, and write the protocol to publish for fresh ones."""
    output, force = options.output, options.force
    question = question_for(purpose, table.label)
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
    points = forecast(second_pass, protocol, rows)
    kept = forecast_equations(second_pass, protocol, plateau)
    found = Suggestion(protocol, plateau, counted.read, points, kept)
    if options.equations:
        found = found.for_equations()
    elif options.max_rows is None:
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
        "equations": [list(point) for point in found.equations],
    }


def _lines(found: Any, written: list[str], how: str) -> list[str]:

    p, plateau = found.protocol, found.plateau
    said = [
        f"{number(m)} rows: {'nothing' if rho is None else f'≥ {agreement(rho)}'}"
        for m, rho in found.forecast
    ]
    kept = [
        f"{number(m)} rows: {'nowhere' if t is None else f'from {number(t)} on'}"
        for m, t in found.equations
    ]
    same = "as many rows in every run: --max-rows"
    take = same if p.take is None else f"{number(p.take)} in every run"
    file = written[0] if written else "protocol.json"
    shares = " (fractions of the rows)" if isinstance(p.t_min, float) else ""
    rows = [
        ("window", f"t_min {p.t_min:g}, t_max {p.t_max:g}{shares}, rule {p.rule}"),
        ("forecast", f"{'; '.join(said)} (agreement certified, {how})"),
        *([("equations", f"{'; '.join(kept)} (thresholds that certify them)")] if kept else []),
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
