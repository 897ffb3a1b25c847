"""``flagstone summarize``: write the flag of files, to merge or to answer from later."""

from __future__ import annotations

from typing import Annotated

import typer

from flagstone.cli.options import Files, JsonOption, RunOptions, TableOptions
from flagstone.cli.runner import OK, UsageError, verb
from flagstone.cli.show import FLAG_KEYS

EXAMPLES = (
    "flagstone summarize examples/frames.txt -f bits -o part1.flag",
    "flagstone constraints part1.flag --contamination 0.01 --seed 7",
)
JSON_KEYS = FLAG_KEYS


@verb
def command(
    files: Files,
    table: TableOptions,
    run: RunOptions,
    output: Annotated[str, typer.Option("--output", "-o", help="The flag file to write.")],
    purpose: Annotated[
        str,
        typer.Option(
            "--for", help="The verb it is for: constraints, span, learn, equations or subspace."
        ),
    ] = "constraints",
    intercept: Annotated[
        bool,
        typer.Option("--intercept/--no-intercept", help="With --for learn: allow a constant."),
    ] = True,
    linear: Annotated[
        bool, typer.Option("--linear", help="With --for constraints: right-hand sides 0 only.")
    ] = False,
    affine: Annotated[
        bool, typer.Option("--affine", help="With --for subspace: it may miss the origin.")
    ] = False,
    histogram: Annotated[
        bool,
        typer.Option(
            "--histogram",
            help="Count every value instead (up to 2^26 of them): the order of rows leaves no "
            "trace, and shards merge without any loss.",
        ),
    ] = False,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Publish a seed with the flag, for later verbs.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    json: JsonOption = False,
) -> int:
    """Write the flag of the rows: small, mergeable, and enough to answer from."""
    import dataclasses

    from flagstone.cli.answering import read_summary
    from flagstone.cli.inputs import open_source, question_for, reading_of
    from flagstone.cli.longrun import LongRun, State
    from flagstone.cli.output import print_json
    from flagstone.cli.outputs import refuse_inputs
    from flagstone.cli.show import describe_flag, print_flag
    from flagstone.disk import check_target, write_all
    from flagstone.flag import Flag
    from flagstone.histogram import Histogram
    from flagstone.models import SummaryFile, pack_document

    question = question_for(purpose, intercept=intercept, linear=linear, affine=affine)
    source = open_source(files, table, question)
    if source.table is None:
        raise UsageError(f"{files[0]} is a flag already; put flags together with: flagstone merge")
    refuse_inputs([output, run.checkpoint], source.table.files)
    refuse_inputs([run.checkpoint], [output], "an output")
    identity = {
        "verb": "summarize",
        "data": None if run.checkpoint is None else source.table.identity(),
        "encoding": source.encoding.to_dict(),
        "question": question.to_dict(),
        "table": dataclasses.asdict(table),
        "output": output,
        "histogram": histogram,
        "seed": seed,
    }
    long = LongRun(run, identity)
    kind = Histogram if histogram else Flag
    summary = kind(question.dim(len(source.encoding.names)), source.encoding.field)
    state = long.resume(summary)
    resumed = state is not None
    check_target(output, overwrite=force or resumed)
    if state is None:
        state = State("", summary)
        long.save(state, must=True)
    read_summary(source, question, long, state)
    details = {
        "sources": [str(path) for path in source.table.files],
        "skipped": state.skipped,
        "reading": reading_of(table),
        "seed": seed,
    }
    found = SummaryFile(state.summary, question, source.encoding, details)
    data = pack_document("summary", found.to_content())
    write_all({output: data}, overwrite=force, keep_equal=resumed)
    long.finish()
    shown = describe_flag(found) | {"outputs": [output]}
    if json:
        print_json(shown)
    else:
        print_flag(shown)
    return OK
