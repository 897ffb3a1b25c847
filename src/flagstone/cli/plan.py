"""``flagstone plan``: how many rows a promise needs."""

from __future__ import annotations

from typing import Annotated

import typer

from flagstone.cli.options import JsonOption
from flagstone.cli.runner import OK, verb

JSON_KEYS = {
    "dim": "dimension of the rows (features, with --delta)",
    "rho, eps, delta, field, contamination": "what was asked",
    "row_dim": "dimension of the rows the rule works on",
    "entries": "for each analysis: rows needed, threshold T, start k of the window",
    "drawn": "with --seed: the window and the threshold that the seed will draw (index rule)",
    "generalization_rows": "rows that generalization alone needs (with --delta)",
}

EXAMPLES = ("flagstone plan --dim 20 --rho 0.05 --eps 0.1",)


@verb
def command(
    dim: Annotated[int, typer.Option("--dim", "-d", min=1, help="Number of columns.")],
    rho: Annotated[float, typer.Option("--rho", help="Allowed probability of disagreement.")],
    eps: Annotated[float, typer.Option("--eps", help="Allowed share of rows left out.")] = 0.1,
    delta: Annotated[
        float | None,
        typer.Option("--delta", help="Plan for learn: error at most eps but for this chance."),
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
    from flagstone.cli.output import print_json
    from flagstone.coins import Coins
    from flagstone.guarantees import plan
    from flagstone.rules import IndexRule

    found = plan(dim, rho, eps, delta, field, contamination)
    drawn = None
    if seed is not None and found.rows is not None:
        window = IndexRule(rho=rho, contamination=contamination).window(found.row_dim, found.rows)
        drawn = {"seed": seed, "window": str(window)}
        drawn["threshold"] = str(IndexRule().draw(window, Coins(seed)))
    if json:
        print_json(found.to_dict() | {"drawn": drawn})
        return OK
    print(found)
    if drawn is not None:
        print(f"· seed {seed} draws threshold {drawn['threshold']} from {drawn['window']}")
    return OK
