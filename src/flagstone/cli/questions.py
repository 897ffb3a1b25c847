"""The verbs that answer a question: ``constraints``, ``learn``, ``equations`` and ``subspace``."""

from __future__ import annotations

from flagstone.algebra.fields import as_field
from flagstone.cli.answering import answer
from flagstone.cli.each import answer_each
from flagstone.cli.options import (
    AnswerOptions,
    ProductColumnOptions,
    ProductTableOptions,
    TableOptions,
)
from flagstone.cli.words import parsed
from flagstone.question import (
    ConstraintsQuestion,
    EquationsQuestion,
    ParityQuestion,
    SpanQuestion,
    SubspaceQuestion,
)


def constraints(
    files: list[str], table: ProductColumnOptions, options: AnswerOptions, linear: bool, each: bool
) -> int:
    """Find the check equations that the rows obey (affine: right-hand sides may be 1)."""
    question = SpanQuestion() if linear else ConstraintsQuestion()
    return (answer_each if each else answer)(question, files, table, options)


def learn(
    files: list[str],
    table: ProductTableOptions,
    options: AnswerOptions,
    intercept: bool,
    choice: str,
) -> int:
    """Learn a label as a parity (a linear function) of the other columns; exit code 3 means ⊥."""
    question = ParityQuestion(intercept, choice)
    parsed(question.check, parsed(as_field, table.field))
    return answer(question, files, table, options)


def equations(files: list[str], table: TableOptions, options: AnswerOptions) -> int:
    """Reduce many equations (one per row, --label the right-hand side) to a small system."""
    return answer(EquationsQuestion(), files, table, options)


def subspace(files: list[str], table: TableOptions, options: AnswerOptions, affine: bool) -> int:
    """Find the subspace of the rows whose label is 1; negative rows count, but span nothing."""
    return answer(SubspaceQuestion(affine), files, table, options)
