"""``flagstone constraints``: which check equations do the rows obey?"""

from __future__ import annotations

from typing import Annotated

import typer

from flagstone.cli.describe import FINDING_KEYS
from flagstone.cli.layered import LAYER_KEYS
from flagstone.cli.options import AnswerOptions, ColumnOptions, Files
from flagstone.cli.runner import verb

EXAMPLES = (
    "flagstone constraints examples/frames.txt -f bits --contamination .01 --seed 7 -o frames.json",
)
JSON_KEYS = FINDING_KEYS | LAYER_KEYS


@verb
def command(
    files: Files,
    table: ColumnOptions,
    options: AnswerOptions,
    linear: Annotated[
        bool, typer.Option("--linear", help="Only equations with right-hand side 0.")
    ] = False,
    solve: Annotated[
        list[str] | None,
        typer.Option(
            "--solve",
            metavar="COLUMNS",
            help="Solve the equations for these columns, the check bits: x32..x39, or x3,x7. "
            "Default: those that look like it.",
        ),
    ] = None,
) -> int:
    """Find the check equations that the rows obey (affine: right-hand sides may be 1)."""
    from flagstone.cli.answering import answer
    from flagstone.question import ConstraintsQuestion, SpanQuestion

    question = SpanQuestion() if linear else ConstraintsQuestion()
    return answer(question, files, table, options, solve=solve or None)
