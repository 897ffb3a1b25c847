"""``flagstone equations``: a small system that stands for a large one."""

from __future__ import annotations

from flagstone.cli.answering import answer
from flagstone.cli.options import AnswerOptions, TableOptions
from flagstone.question import EquationsQuestion


def command(
    files: list[str],
    table: TableOptions,
    options: AnswerOptions,
) -> int:
    """Boil many equations (one per row, --label the right-hand side) down to a small system."""
    return answer(EquationsQuestion(), files, table, options)
