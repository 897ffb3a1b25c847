"""``flagstone learn``: a parity (a linear rule) for a label."""

from __future__ import annotations

from typing import Annotated

import typer

from flagstone.cli.describe import FINDING_KEYS
from flagstone.cli.options import AnswerOptions, Files, TableOptions
from flagstone.cli.runner import verb

EXAMPLES = ("flagstone learn examples/faults.csv -l fault --encode auto --seed 7 -o rule.json",)
JSON_KEYS = FINDING_KEYS


@verb
def command(
    files: Files,
    table: TableOptions,
    options: AnswerOptions,
    intercept: Annotated[
        bool, typer.Option("--intercept/--no-intercept", help="Allow a constant: y = x3 ⊕ x7 ⊕ 1.")
    ] = True,
    choice: Annotated[
        str | None,
        typer.Option(
            "--choice",
            help="Which of the rules that fit: uniform (by coins; the default), lexmin (the "
            "default over QQ, which has no uniform choice) or sparsest (few columns, by a bounded "
            "search).",
        ),
    ] = None,
) -> int:
    """Learn a label as a parity (a linear function) of the other columns; exit code 3 means ⊥."""
    from flagstone.cli.answering import answer
    from flagstone.cli.words import parsed
    from flagstone.fields import as_field
    from flagstone.question import ParityQuestion

    field = parsed(as_field, table.field)
    usual = "lexmin" if field.order is None else "uniform"
    question = ParityQuestion(intercept, usual if choice is None else choice)
    parsed(question.check, field)
    return answer(question, files, table, options)
