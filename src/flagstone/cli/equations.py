"""``flagstone equations``: a small system that stands for a large one."""

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
from flagstone.cli.runner import verb

if TYPE_CHECKING:
    from flagstone.answers import LinearSystem
    from flagstone.coins import Coins
    from flagstone.subspace import Subspace
    from flagstone.tables import Encoding

EXAMPLES = ("flagstone equations examples/equations.csv --label b --field 7 --seed 2026",)
JSON_KEYS = ANSWER_KEYS


@verb
def command(
    files: Files,
    table: TableOptions,
    rule: RuleOptions,
    output: OutputOptions,
    run: RunOptions,
    seed: SeedOption = None,
    measure: Annotated[
        bool, typer.Option("--measure/--no-measure", help="Read the rows again to count misfits.")
    ] = True,
) -> int:
    """Boil many equations (one per row, --label the right-hand side) down to a small system."""
    from flagstone.answers import LinearSystem
    from flagstone.cli.road import answer_verb
    from flagstone.models import Layout

    def make(V: Subspace, coins: Coins, encoding: Encoding | None) -> LinearSystem:
        return LinearSystem.from_subspace(V, names=None if encoding is None else encoding.names)

    return answer_verb(
        "equations", files, table, rule, seed, output, run,
        layout=Layout(label=True), make=make, measure=measure,
    )  # fmt: skip
