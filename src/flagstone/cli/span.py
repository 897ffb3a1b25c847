"""``flagstone span``: the linear span that most rows lie in."""

from __future__ import annotations

from flagstone.cli.clustered import CLUSTER_KEYS
from flagstone.cli.describe import FINDING_KEYS
from flagstone.cli.layered import LAYER_KEYS
from flagstone.cli.options import AnswerOptions, ColumnOptions, Files
from flagstone.cli.runner import verb

EXAMPLES = ("flagstone span examples/frames.txt -f bits --contamination 0.01 --seed 2026",)
JSON_KEYS = FINDING_KEYS | LAYER_KEYS | CLUSTER_KEYS


@verb
def command(files: Files, table: ColumnOptions, options: AnswerOptions) -> int:
    """Find the linear span that nearly all rows lie in (as equations: constraints --linear)."""
    from flagstone.cli.answering import answer
    from flagstone.question import SpanQuestion

    return answer(SpanQuestion(), files, table, options, view="basis")
