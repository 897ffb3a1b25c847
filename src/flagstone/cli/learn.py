"""``flagstone learn``: a parity (a linear rule) for a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flagstone.cli.describe import ANSWER_KEYS
from flagstone.cli.options import (
    Files,
    OutputOptions,
    RuleOptions,
    RunOptions,
    SeedOption,
    TableOptions,
)
from flagstone.cli.runner import UsageError, verb

if TYPE_CHECKING:
    from flagstone.answers import ParityRule
    from flagstone.coins import Coins
    from flagstone.subspace import Subspace
    from flagstone.tables import Encoding

EXAMPLES = (
    "flagstone learn examples/faults.csv -l fault --encode auto --intercept --seed 7 -o rule.json",
)
JSON_KEYS = ANSWER_KEYS


@verb
def command(
    files: Files,
    table: TableOptions,
    rule: RuleOptions,
    output: OutputOptions,
    run: RunOptions,
    seed: SeedOption = None,
    intercept: Annotated[
        bool, typer.Option("--intercept", help="Allow a constant: y = x3 ⊕ x7 ⊕ 1.")
    ] = False,
    choice: Annotated[
        str,
        typer.Option("--choice", help="Which of the rules that fit: uniform (by coins) or lexmin."),
    ] = "uniform",
    measure: Annotated[
        bool, typer.Option("--measure/--no-measure", help="Read the rows again to count misfits.")
    ] = True,
) -> int:
    """Learn a label as a parity (a linear function) of the other columns; exit code 3 means ⊥."""
    from flagstone.answers import ParityRule
    from flagstone.cli.road import answer_verb
    from flagstone.models import Layout

    if choice not in ("uniform", "lexmin"):
        raise UsageError(f"--choice must be uniform or lexmin, got {choice!r}")

    def make(V: Subspace, coins: Coins, encoding: Encoding | None) -> ParityRule:
        label = encoding.label if encoding is not None else None
        return ParityRule.from_subspace(
            V,
            coins=coins,
            choice="lexmin" if V.field.order is None else choice,  # no uniform choice over QQ
            fit_intercept=intercept,
            names=None if encoding is None else encoding.names,
            target="y" if label is None else label.column,
        )

    return answer_verb(
        "learn", files, table, rule, seed, output, run,
        layout=Layout(ones=intercept, label=True), make=make, measure=measure,
        parameters={"intercept": intercept, "choice": choice},
    )  # fmt: skip
