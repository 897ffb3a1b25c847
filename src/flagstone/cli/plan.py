"""``flagstone plan``: how many rows a promise needs."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from flagstone.cli.options import JsonOption, PurposeOptions
from flagstone.cli.runner import OK, verb
from flagstone.cli.words import parsed

JSON_KEYS = {
    "schema": "2, the version of these keys",
    "columns, verb, row": "what was planned for: columns, verb, and what stands in a row of its",
    "dim": "dimension of the rows the rule works on: the columns, and what the verb adds",
    "rho, eps, delta, field, contamination": "what was asked",
    "entries": "for each analysis: rows needed, length T and first threshold t_min of the window",
    "drawn": "with --seed: the window and the threshold that the seed will draw (index rule)",
    "generalization_rows": "rows that generalization alone needs (with --delta)",
}

EXAMPLES = (
    "flagstone plan --dim 20 --rho 0.05 --eps 0.1",
    "flagstone plan --dim 20 --rho 0.05 --for constraints",
)


@verb
def command(
    purpose: PurposeOptions,
    dim: Annotated[int, typer.Option("--dim", "-d", min=1, help="Number of columns (features).")],
    rho: Annotated[float, typer.Option("--rho", help="Allowed probability of disagreement.")],
    eps: Annotated[float, typer.Option("--eps", help="Allowed share of rows left out.")] = 0.1,
    delta: Annotated[
        float | None,
        typer.Option(
            "--delta",
            help="Plan for rows to come: at most eps of them do not fit, but for this chance.",
        ),
    ] = None,
    field: Annotated[str, typer.Option("--field", help="2, 7, 2^8, … or QQ.")] = "2",
    contamination: Annotated[
        float, typer.Option("--contamination", help="Largest share of damaged rows.")
    ] = 0.0,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Show the threshold that this seed will draw.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Say how many rows a promise needs, by the paper's analysis and by ours."""
    from flagstone.cli.inputs import question_for
    from flagstone.cli.output import print_json
    from flagstone.coins import Coins
    from flagstone.finding import SCHEMA
    from flagstone.guarantees import Window, plan
    from flagstone.rules import IndexRule

    verb_asked = purpose.purpose or ("span" if delta is None else "learn")
    question = question_for(dataclasses.replace(purpose, purpose=verb_asked))
    found = parsed(plan, question.dim(dim), rho, eps, delta, field, contamination)
    drawn = None
    if seed is not None and found.rows is not None:
        planned = found["index"]
        window = Window("index", planned.t_min, planned.t_min + int(planned.length or 1) - 1)
        threshold = IndexRule().draw(window, Coins(seed))
        drawn = {"seed": seed, "window": vars(window), "threshold": threshold}
    if json:
        asked = {"schema": SCHEMA, "columns": dim, "verb": verb_asked, "row": question.row}
        print_json(asked | found.to_dict() | {"drawn": drawn})
        return OK
    print(found)
    print(f"· for {verb_asked}: {dim} columns make rows {question.row} of dimension {found.dim}")
    if verb_asked == "span":
        print("· constraints and learn need more: plan them with --for constraints, --for learn")
    if drawn is not None:
        print(f"· seed {seed} draws threshold {threshold} from {window}")
    return OK
