"""``flagstone span``: the linear span that most rows lie in."""

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
    from flagstone.coins import Coins
    from flagstone.models import SpanAnswer
    from flagstone.subspace import Subspace
    from flagstone.tables import Encoding

EXAMPLES = ("flagstone span examples/frames.txt -f bits --contamination 0.01 --seed 2026",)
JSON_KEYS = ANSWER_KEYS


@verb
def command(
    files: Files,
    table: ColumnOptions,
    rule: RuleOptions,
    output: OutputOptions,
    run: RunOptions,
    seed: SeedOption = None,
    measure: Annotated[
        bool, typer.Option("--measure/--no-measure", help="Read the rows again to count misfits.")
    ] = True,
) -> int:
    """Find the linear span that nearly all rows lie in."""
    from flagstone.cli.road import answer_verb
    from flagstone.models import Layout, SpanAnswer

    def make(V: Subspace, coins: Coins, encoding: Encoding | None) -> SpanAnswer:
        return SpanAnswer(V, None if encoding is None else encoding.names)

    return answer_verb(
        "span", files, table, rule, seed, output, run, layout=Layout(), make=make, measure=measure
    )
