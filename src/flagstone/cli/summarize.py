"""``flagstone summarize``: write the flag of files, to merge or to answer from later."""

from __future__ import annotations

from flagstone.cli.answering import identity_of
from flagstone.cli.inputs import open_source, question_for, reading_of
from flagstone.cli.options import PurposeOptions, RunOptions, TableOptions
from flagstone.cli.output import print_json
from flagstone.cli.outputs import refuse_inputs
from flagstone.cli.runner import OK, UsageError
from flagstone.cli.show import describe_flag, print_flag
from flagstone.cli.work import Run
from flagstone.disk import check_target, write_all
from flagstone.store import SummaryFile, pack_document


def command(
    files: list[str],
    table: TableOptions,
    purpose: PurposeOptions,
    run: RunOptions,
    output: str,
    seed: str | None,
    force: bool,
    json: bool,
) -> int:
    """Write the flag of the rows: small, mergeable, and enough to answer from."""
    question = question_for(purpose, table.field)
    source = open_source(files, table, question)
    if source.table is None:
        raise UsageError(f"{files[0]} is a flag already; put flags together with: flagstone merge")
    refuse_inputs([output, run.checkpoint], source.table.files)
    refuse_inputs([run.checkpoint], [output], "an output")
    identity = identity_of(question, source, files, table, run, output=output, seed=seed)
    work = Run(source, question, run, identity, "", again=False)
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
