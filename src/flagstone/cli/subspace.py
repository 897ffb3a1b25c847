"""``flagstone subspace``: in which subspace do the positive examples lie?"""

from __future__ import annotations

from typing import Annotated

import typer

from flagstone.cli.describe import FINDING_KEYS
from flagstone.cli.options import AnswerOptions, Files, TableOptions
from flagstone.cli.runner import verb

EXAMPLES = ("flagstone subspace examples/faults.csv -l fault --encode auto --seed 7",)
JSON_KEYS = FINDING_KEYS


@verb
def command(
    files: Files,
    table: TableOptions,
    options: AnswerOptions,
    affine: Annotated[
        bool, typer.Option("--affine", help="The subspace may miss the origin: x3 ⊕ x7 = 1.")
    ] = False,
) -> int:
    """Find the subspace of the rows whose label is 1; negative rows count, but span nothing."""
    from flagstone.cli.answering import answer
    from flagstone.question import SubspaceQuestion

    return answer(SubspaceQuestion(affine), files, table, options)
