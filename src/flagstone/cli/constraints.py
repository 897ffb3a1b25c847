"""``flagstone constraints``: which check equations do the rows obey?"""

from __future__ import annotations

from typing import Annotated

import typer

from flagstone.cli.describe import FINDING_KEYS
from flagstone.cli.options import AnswerOptions, ColumnOptions, Files
from flagstone.cli.runner import verb

EXAMPLES = (
    "flagstone constraints examples/frames.txt -f bits --contamination .01 --seed 7 -o frames.json",
)
JSON_KEYS = FINDING_KEYS


@verb
def command(
    files: Files,
    table: ColumnOptions,
    options: AnswerOptions,
    linear: Annotated[
        bool, typer.Option("--linear", help="Only equations with right-hand side 0.")
    ] = False,
) -> int:
    """Find the check equations that the rows obey (affine: right-hand sides may be 1)."""
    from flagstone.cli.answering import answer
    from flagstone.question import ConstraintsQuestion, SpanQuestion

    return answer(SpanQuestion() if linear else ConstraintsQuestion(), files, table, options)
