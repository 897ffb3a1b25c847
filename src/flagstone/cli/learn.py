"""``flagstone learn``: a parity (a linear rule) for a label."""

from __future__ import annotations

from flagstone.algebra.fields import as_field
from flagstone.cli.answering import answer
from flagstone.cli.options import AnswerOptions, TableOptions
from flagstone.cli.words import parsed
from flagstone.question import ParityQuestion


def command(
    files: list[str],
    table: TableOptions,
    options: AnswerOptions,
    intercept: bool,
    choice: str | None,
) -> int:
    """Learn a label as a parity (a linear function) of the other columns; exit code 3 means ⊥."""
    field = parsed(as_field, table.field)
    usual = "lexmin" if field.order is None else "uniform"
    question = ParityQuestion(intercept, usual if choice is None else choice)
    parsed(question.check, field)
    return answer(question, files, table, options)
