"""``flagstone constraints``: which check equations do the rows obey?"""

from __future__ import annotations

from flagstone.cli.answering import answer
from flagstone.cli.each import answer_each
from flagstone.cli.options import AnswerOptions, ColumnOptions
from flagstone.question import ConstraintsQuestion, SpanQuestion


def command(
    files: list[str],
    table: ColumnOptions,
    options: AnswerOptions,
    linear: bool,
    each: bool,
) -> int:
    """Find the check equations that the rows obey (affine: right-hand sides may be 1)."""
    question = SpanQuestion() if linear else ConstraintsQuestion()
    return (answer_each if each else answer)(question, files, table, options)
