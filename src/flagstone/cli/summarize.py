"""``flagstone summarize``: write the flag of files, to merge or to answer from later."""

from __future__ import annotations

from typing import Annotated

import typer

from flagstone.cli.options import Files, JsonOption, PurposeOptions, RunOptions, TableOptions
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
    purpose: PurposeOptions,
    run: RunOptions,
    output: Annotated[str, typer.Option("--output", "-o", help="The flag file to write.")],
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
    from flagstone.cli.answering import identity_of, work_of
    from flagstone.cli.inputs import open_source, question_for, reading_of
    from flagstone.cli.output import print_json
    from flagstone.cli.outputs import refuse_inputs
    from flagstone.cli.show import describe_flag, print_flag
    from flagstone.disk import check_target, write_all
    from flagstone.models import SummaryFile, pack_document

    question = question_for(purpose, table.field)
    source = open_source(files, table, question)
    if source.table is None:
        raise UsageError(f"{files[0]} is a flag already; put flags together with: flagstone merge")
    refuse_inputs([output, run.checkpoint], source.table.files)
    refuse_inputs([run.checkpoint], [output], "an output")
    identity = identity_of(
        question, source, files, table, run, output=output, histogram=histogram, seed=seed
    )
    work = work_of(source, question, run, identity, "", histogram=histogram, again=False)
    check_target(output, overwrite=force or work.resumed)
    summary, counted = work.read()
    details = {
        "sources": [str(path) for path in source.table.files],
        "skipped": counted.skipped,
        "reading": reading_of(table),
        "seed": seed,
    }
    found = SummaryFile(summary, question, source.encoding, details)
    data = pack_document("summary", found.to_dict())
    write_all({output: data}, overwrite=force, keep_equal=work.resumed)
    work.finish()
    shown = describe_flag(found) | {"outputs": [output]}
    if json:
        print_json(shown)
    else:
        print_flag(shown)
    return OK
