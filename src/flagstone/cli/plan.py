"""``flagstone plan``: how many rows a promise needs."""

from __future__ import annotations

from typing import Annotated

import typer

from flagstone.cli.options import JsonOption
from flagstone.cli.runner import OK, UsageError, verb
from flagstone.cli.words import option_values

JSON_KEYS = {
    "dim": "number of columns (features)",
    "for, layout": "the verb that was planned for, and what stands in a row of its",
    "rho, eps, delta, field, contamination": "what was asked",
    "row_dim": "dimension of the rows the rule works on: the columns, and what the verb adds",
    "entries": "for each analysis: rows needed, threshold T, start k of the window",
    "drawn": "with --seed: the window and the threshold that the seed will draw (index rule)",
    "generalization_rows": "rows that generalization alone needs (with --delta)",
}

EXAMPLES = (
    "flagstone plan --dim 20 --rho 0.05 --eps 0.1",
    "flagstone plan --dim 20 --rho 0.05 --for constraints",
)


@verb
def command(
    dim: Annotated[int, typer.Option("--dim", "-d", min=1, help="Number of columns (features).")],
    rho: Annotated[float, typer.Option("--rho", help="Allowed probability of disagreement.")],
    eps: Annotated[float, typer.Option("--eps", help="Allowed share of rows left out.")] = 0.1,
    delta: Annotated[
        float | None,
        typer.Option("--delta", help="Plan for learn: error at most eps but for this chance."),
    ] = None,
    purpose: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="The verb planned for: span (the default: the columns as they are), constraints "
            "(one column more), learn or equations (one more for the label).",
        ),
    ] = None,
    intercept: Annotated[
        bool, typer.Option("--intercept", help="For learn: with a constant, one column more.")
    ] = False,
    linear: Annotated[
        bool, typer.Option("--linear", help="For constraints: right-hand sides 0 only.")
    ] = False,
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
    import dataclasses

    from flagstone.cli.inputs import layout_for
    from flagstone.cli.output import print_json
    from flagstone.coins import Coins
    from flagstone.guarantees import plan
    from flagstone.rules import IndexRule

    purpose = purpose or ("span" if delta is None else "learn")
    layout = layout_for(purpose, intercept=intercept, linear=linear)
    if delta is not None and purpose != "learn":
        raise UsageError(f"--delta is for learn: leave it out, or --for {purpose}")
    row_dim = layout.dim(dim)
    with option_values():
        # with a delta the plan itself adds the label to the features
        found = plan(row_dim - (delta is not None), rho, eps, delta, field, contamination)
    if delta is not None:
        found = dataclasses.replace(found, dim=dim)  # a constant is no feature of the table
    drawn = None
    if seed is not None and found.rows is not None:
        window = IndexRule(rho=rho, contamination=contamination).window(found.row_dim, found.rows)
        drawn = {"seed": seed, "window": str(window)}
        drawn["threshold"] = str(IndexRule().draw(window, Coins(seed)))
    if json:
        asked = {"dim": dim, "for": purpose, "layout": str(layout)}
        print_json(found.to_dict() | asked | {"drawn": drawn})
        return OK
    print(found)
    print(f"· for {purpose}: {dim} columns make rows {layout} of dimension {row_dim}")
    if purpose == "span":
        print("· constraints and learn need more: plan them with --for constraints, --for learn")
    if drawn is not None:
        print(f"· seed {seed} draws threshold {drawn['threshold']} from {drawn['window']}")
    return OK
