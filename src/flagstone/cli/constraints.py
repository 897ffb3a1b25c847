"""``flagstone constraints``: which check equations do the rows obey?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flagstone.cli.describe import ANSWER_KEYS
from flagstone.cli.options import (
    ColumnOptions,
    Files,
    OutputOptions,
    RuleOptions,
    RunOptions,
    SeedOption,
)
from flagstone.cli.runner import verb

if TYPE_CHECKING:
    from flagstone.answers import Constraints
    from flagstone.coins import Coins
    from flagstone.subspace import Subspace
    from flagstone.tables import Encoding

EXAMPLES = (
    "flagstone constraints examples/frames.txt -f bits --contamination .01 --seed 7 -o frames.json",
)
JSON_KEYS = ANSWER_KEYS


@verb
def command(
    files: Files,
    table: ColumnOptions,
    rule: RuleOptions,
    output: OutputOptions,
    run: RunOptions,
    seed: SeedOption = None,
    linear: Annotated[
        bool, typer.Option("--linear", help="Only equations with right-hand side 0.")
    ] = False,
    measure: Annotated[
        bool, typer.Option("--measure/--no-measure", help="Read the rows again to count misfits.")
    ] = True,
) -> int:
    """Find the check equations that the rows obey (affine: right-hand sides may be 1)."""
    from flagstone.answers import Constraints
    from flagstone.cli.road import answer_verb
    from flagstone.models import Layout
    from flagstone.subspace import AffineSubspace

    def make(V: Subspace, coins: Coins, encoding: Encoding | None) -> Constraints:
        space = V if linear else AffineSubspace.from_homogeneous(V)
        return Constraints.from_subspace(space, names=None if encoding is None else encoding.names)

    return answer_verb(
        "constraints", files, table, rule, seed, output, run,
        layout=Layout(ones=not linear), make=make, measure=measure, parameters={"linear": linear},
    )  # fmt: skip
