"""``flagstone subspace``: in which subspace do the positive examples lie?"""

from __future__ import annotations

from flagstone.cli.answering import answer
from flagstone.cli.options import AnswerOptions, TableOptions
from flagstone.question import SubspaceQuestion


def command(
    files: list[str],
    table: TableOptions,
    options: AnswerOptions,
    affine: bool,
) -> int:
    """Find the subspace of the rows whose label is 1; negative rows count, but span nothing."""
    return answer(SubspaceQuestion(affine), files, table, options)
