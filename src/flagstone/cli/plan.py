"""``flagstone plan``: how many rows a promise needs, or which window pilot rows propose."""

from __future__ import annotations

import dataclasses
from typing import Any

from flagstone.cli.inputs import command_of, question_for
from flagstone.cli.options import (
    FIELD,
    PilotOptions,
    PlanOptions,
    PurposeOptions,
    RunOptions,
    TableOptions,
)
from flagstone.cli.output import print_json
from flagstone.cli.pilot import plan_window
from flagstone.cli.runner import OK, UsageError
from flagstone.cli.words import parsed
from flagstone.coins import Coins
from flagstone.finding import SCHEMA
from flagstone.guarantees import Window, plan
from flagstone.rules import IndexRule


def command(
    promise: PlanOptions,
    pilot: PilotOptions,
    table: TableOptions,
    purpose: PurposeOptions,
    run: RunOptions,
    seed: str | None,
    json: bool,
) -> int:
    """Plan a promise from numbers alone, or a window from pilot rows."""
    if pilot.pilot:
        _refuse("has no place beside --pilot", promise)
        return plan_window(pilot.pilot, pilot, table, purpose, run, seed, json)
    _refuse("is for --pilot", pilot, dataclasses.replace(table, field=FIELD), run)
    return _plan_rows(promise, table.field, purpose, seed, json)


def _refuse(why: str, *records: Any) -> None:
    """Refuse options that were given, but are for the other kind of plan."""
    for record in records:
        for field in dataclasses.fields(record):
            if getattr(record, field.name) != field.default:
                name = next(n for n in field.metadata["option"].names if n.startswith("--"))
                raise UsageError(f"{name} {why}; leave it out")


def _plan_rows(
    promise: PlanOptions, field: str, purpose: PurposeOptions, seed: str | None, json: bool
) -> int:
    """Say how many rows a promise needs, by the paper's analysis and by ours."""
    dim, rho = promise.dim, promise.rho
    if dim is None or rho is None:
        raise UsageError("plan needs --dim and --rho, or pilot rows: --pilot FILE")
    if purpose.purpose is None:
        usual = {"purpose": "learn"} if promise.delta is not None else {"linear": True}
        purpose = dataclasses.replace(purpose, **usual)
    question = question_for(purpose)
    eps, delta, contamination = promise.eps, promise.delta, promise.contamination
    each = promise.each
    found = parsed(plan, question.dim(dim), rho, eps, delta, field, contamination, each)
    drawn = None
    if seed is not None and found.rows is not None:
        planned = found["index"]
        window = Window("index", planned.t_min, planned.t_min + int(planned.length or 1) - 1)
        threshold = IndexRule().draw(window, Coins(seed))
        drawn = {"seed": seed, "window": vars(window), "threshold": threshold}
    if json:
        asked = {"schema": SCHEMA, "columns": dim, "verb": question.verb, "row": question.row}
        print_json(asked | found.to_dict() | {"drawn": drawn})
        return OK
    print(found)
    rows = f"rows {question.row} of dimension {found.dim}"
    print(f"· for {command_of(question)}: {dim} columns make {rows}")
    if question.kind == "span":
        print("· other verbs need more rows: plan them with --for constraints or --for learn")
    if drawn is not None:
        print(f"· seed {seed} draws threshold {threshold} from {window}")
    return OK
