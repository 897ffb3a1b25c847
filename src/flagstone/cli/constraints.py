"""``flagstone constraints``: which check equations do the rows obey?"""

from __future__ import annotations

from typing import Annotated

import typer

from flagstone.cli.clustered import CLUSTER_KEYS
from flagstone.cli.describe import FINDING_KEYS
from flagstone.cli.layered import LAYER_KEYS
from flagstone.cli.options import AnswerOptions, ColumnOptions, Files
from flagstone.cli.runner import UsageError, verb

EXAMPLES = (
    "flagstone constraints examples/frames.txt -f bits --contamination .01 --seed 7 -o frames.json",
)
EACH_KEYS = {
    "captures": "with --each, which prints schema, seed, seed_is_fresh, common and this: for each "
    "file its name, its finding with pattern, digest and relations, and beyond (equations that it "
    "has beyond the common ones; null where it is not counted)",
    "common": "with --each, what all captures share: fingerprint, lines, pattern, digest, "
    "relations, captures (how many are counted), rho and confidence (two such sets of captures "
    "differ in it with at most this probability; null: not known); null if fewer than two are",
}
JSON_KEYS = FINDING_KEYS | LAYER_KEYS | CLUSTER_KEYS | EACH_KEYS


@verb
def command(
    files: Files,
    table: ColumnOptions,
    options: AnswerOptions,
    linear: Annotated[
        bool, typer.Option("--linear", help="Only equations with right-hand side 0.")
    ] = False,
    solve: Annotated[
        list[str] | None,
        typer.Option(
            "--solve",
            metavar="COLUMNS",
            help="Solve the equations for these columns, the check bits: x32..x39, or x3,x7. "
            "Default: those that look like it.",
        ),
    ] = None,
    each: Annotated[
        bool,
        typer.Option(
            "--each", help="Answer for each file by itself, and say what the answers share."
        ),
    ] = False,
    split_types: Annotated[
        bool,
        typer.Option(
            "--split-types",
            help="Answer for each type of frames in the capture by itself (not with --workers).",
        ),
    ] = False,
) -> int:
    """Find the check equations that the rows obey (affine: right-hand sides may be 1)."""
    from flagstone.question import ConstraintsQuestion, SpanQuestion

    question = SpanQuestion() if linear else ConstraintsQuestion()
    if each and split_types:
        raise UsageError("--each and --split-types: one at a time")
    if split_types and linear:
        raise UsageError("--split-types tells rows apart by constants: leave out --linear")
    if each:
        from flagstone.cli.each import answer_each

        return answer_each(question, files, table, options, solve=solve or None)
    from flagstone.cli.answering import answer

    return answer(question, files, table, options, solve=solve or None, split=split_types)
