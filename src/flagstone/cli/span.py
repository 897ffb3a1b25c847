"""``flagstone span``: the linear span that most rows lie in."""

from __future__ import annotations

from flagstone.cli.answering import answer
from flagstone.cli.options import AnswerOptions, ColumnOptions
from flagstone.question import SpanQuestion


def command(
    files: list[str],
    table: ColumnOptions,
    options: AnswerOptions,
) -> int:
    """Find the linear span that nearly all rows lie in (as equations: constraints --linear)."""
    return answer(SpanQuestion(), files, table, options, view="basis")
