"""``flagstone summarize`` and ``merge``: flags of files, to answer from later."""

from __future__ import annotations

from flagstone.algebra.flag import merge_flags
from flagstone.cli.answering import identity_of
from flagstone.cli.inputs import open_source, question_for, reading_of
from flagstone.cli.results import refuse_inputs
from flagstone.cli.runner import OK, UsageError
from flagstone.cli.show import print_flag
from flagstone.cli.verbs import MergeOptions, SummarizeOptions
from flagstone.cli.work import Run
from flagstone.disk import check_target, write_all
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.store import SummaryFile, load, pack_document, save


def summarize(options: SummarizeOptions) -> int:
    """Write the flag of the rows: small, mergeable, and enough to answer from."""
    question, output, force = question_for(options), options.output, options.force
    source = open_source(options.files, options, question)
    if source.table is None:
        raise UsageError(
            f"{options.files[0]} is a flag already; put flags together with: flagstone merge"
        )
    refuse_inputs([output, options.checkpoint], source.table.files)
    refuse_inputs([options.checkpoint], [output], "an output")
    identity = identity_of(question, source, options)
    work = Run(source, question, options, identity, "", again=False)
    check_target(output, overwrite=force or work.resumed)
    summary, counted = work.read()
    details = {
        "sources": [str(path) for path in source.table.files],
        "skipped": counted.skipped,
        "reading": reading_of(options),
        "seed": options.seed,
    }
    found = SummaryFile(summary, question, source.encoding, details)
    data = pack_document("summary", found.to_dict())
    write_all({output: data}, overwrite=force, keep_equal=work.resumed)
    work.finish()
    print_flag(found, [output], json=options.json)
    return OK


def merge(options: MergeOptions) -> int:
    """Merge flags: (1, 2), (3, 4), … and again, an odd one carried up."""
    files, output, seed, force = options.files, options.output, options.seed, options.force
    refuse_inputs([output], files)
    check_target(output, overwrite=force)
    parts: list[SummaryFile] = []
    for file in files:
        part = load(file)
        if not isinstance(part, SummaryFile):
            kind = "finding" if isinstance(part, Finding) else "protocol"
            raise UsageError(f"{file} is a {kind}; merge takes flags (flagstone summarize)")
        if parts and (part.question, part.encoding) != (parts[0].question, parts[0].encoding):
            raise InputError(
                f"{file}: its rows differ from those of {files[0]} (columns, encoders, field or "
                f"what stands in a row: {part.question.row} and {parts[0].question.row}); merge "
                "like with like"
            )
        parts.append(part)
    merged = merge_flags(part.summary for part in parts)
    seeds = {part.seed for part in parts}
    if seed is None and len(seeds) > 1:
        found_seeds = ", ".join(sorted(map(str, seeds)))
        raise InputError(
            f"the flags were published with different seeds ({found_seeds}); choose one with --seed"
        )
    sources = [name for part in parts for name in part.details.get("sources", [])]
    details = dict(parts[0].details) | {
        "sources": sources,
        "seed": seeds.pop() if seed is None else seed,
        "skipped": sum(part.details.get("skipped", 0) for part in parts),
    }
    found = SummaryFile(merged, parts[0].question, parts[0].encoding, details)
    save(output, found, overwrite=force)
    print_flag(found, [output], json=options.json)
    return OK
