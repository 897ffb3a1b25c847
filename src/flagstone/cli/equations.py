"""``flagstone equations``: a small system that stands for a large one."""

from __future__ import annotations

from flagstone.cli.describe import FINDING_KEYS
from flagstone.cli.options import AnswerOptions, Files, TableOptions
from flagstone.cli.runner import verb

EXAMPLES = ("flagstone equations examples/equations.csv --label b --field 7 --seed 2026",)
JSON_KEYS = FINDING_KEYS


@verb
def command(files: Files, table: TableOptions, options: AnswerOptions) -> int:
    """Boil many equations (one per row, --label the right-hand side) down to a small system."""
    from flagstone.cli.answering import answer
    from flagstone.question import EquationsQuestion

    return answer(EquationsQuestion(), files, table, options)
