"""``flagstone show``, ``summarize`` and ``merge``: flags of files, and what saved files say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flagstone.algebra import Staircase, merge_flags
from flagstone.cli.console import (
    BOTTOM,
    OK,
    UsageError,
    number,
    output_paths,
    print_json,
    refuse_options,
    safe,
)
from flagstone.cli.inputs import expect_seed, open_source, question_for, reading_of
from flagstone.cli.results import (
    answer_lines,
    check_outputs,
    print_finding,
    refuse_existing_outputs,
    refuse_inputs,
    write_outputs,
)
from flagstone.cli.verbs import (
    MergeOptions,
    OutputOptions,
    ShowOptions,
    SummarizeOptions,
    saved_frames,
)
from flagstone.cli.work import Run
from flagstone.disk import atomic_write, write_all
from flagstone.errors import InputError
from flagstone.finding import SCHEMA, Finding
from flagstone.plots import ScreeDisplay
from flagstone.protocol import Protocol
from flagstone.store import SummaryFile, load, pack_document, save
from flagstone.wording import counted


def show(options: ShowOptions) -> int:
    """Show what a finding, flag or protocol file says; --report and --plot draw it again."""
    file = options.file
    if options.output is not None:
        raise UsageError("show writes no finding; copy the file instead")
    check_outputs(options)
    refuse_existing_outputs(options)
    refuse_inputs(options, [file])
    loaded = load(file)
    expect_seed(loaded, file, options.seed)
    if isinstance(loaded, Finding):
        answer_lines(loaded, options.show_as or "text")
        written = write_outputs(loaded, options)
        print_finding(loaded, options, written)
        if saved_frames(loaded.provenance) and not options.json and options.show_as is None:
            print(f"{'digests':<14}flagstone frames {safe(file)}")
        return OK if loaded.is_answer else BOTTOM
    why = f"is about an answer, and {file} holds none: leave it out"
    refuse_options(options, ["show_as", "max_misfits"], why)
    if isinstance(loaded, Protocol):
        _show_protocol(loaded, options)
        return OK
    if options.report is not None:
        raise UsageError(f"{file} holds a flag without an answer: leave out --report")
    if options.plot is not None:
        data = ScreeDisplay.from_flag(loaded.summary).image(Path(options.plot).suffix.lower())
        atomic_write(options.plot, data, overwrite=options.force)
    print_flag(loaded, output_paths(options), json=options.json)
    return OK


def describe_flag(loaded: SummaryFile) -> dict[str, Any]:
    """Return the documented JSON form of a flag file (see FLAG_KEYS)."""
    flag = loaded.summary
    basis, counts = flag.adapted_basis()
    return {
        "schema": SCHEMA,
        "summary": "flag",
        "field": flag.field.name,
        "dim": flag.dim,
        "question": loaded.question.to_dict(),
        "columns": None if loaded.encoding is None else list(loaded.encoding.names),
        "rows": {"read": flag.n_rows, "shards": flag.n_shards},
        "rank": flag.rank,
        "n_sets": flag.n_sets,
        "levels": Staircase.of(flag).to_list(),
        "directions": [
            {"count": int(c), "vector": vector}
            for vector, c in zip(flag.field.texts(basis), counts, strict=True)
        ],
    }


def _show_protocol(protocol: Protocol, options: OutputOptions) -> None:
    if options.report is not None or options.plot is not None:
        raise UsageError("a protocol has no rows to draw: leave out --report and --plot")
    if options.json:
        print_json(protocol.to_dict() | {"outputs": []})
        return
    take = "as many in every run" if protocol.max_rows is None else number(protocol.max_rows)
    lines = {
        "protocol": protocol.fingerprint[:16],
        "question": f"{protocol.question.kind}, rows {protocol.question.row}",
        "window": f"t_min {protocol.t_min:g}, t_max {protocol.t_max:g}, rule {protocol.rule}",
        "rows": take,
        "confidence": f"{protocol.confidence:g}",
        "seed": safe(protocol.seed),
        "columns": safe(", ".join(protocol.encoding.columns)),
    }
    for label, text in lines.items():
        print(f"{label:<12}{text}")


def print_flag(loaded: SummaryFile, written: list[str], *, json: bool) -> None:
    """Print a flag, and the files that were written: as JSON, or its staircase for people."""
    found = describe_flag(loaded)
    if json:
        print_json(found | {"outputs": written})
        return
    rows, row = found["rows"], found["question"]["row"]
    shards = f", {rows['shards']} shards merged" if rows["shards"] > 1 else ""
    print(
        f"{found['summary']} of {counted(rows['read'], 'row')} {row} in "
        f"{found['field']}^{found['dim']}{shards}"
    )
    print(f"rank {found['rank']}, {counted(found['n_sets'], 'set')}")
    levels = found["levels"]
    for dim, sets, first in levels[:20]:
        print(f"  sets {number(first):>9} to {number(first + sets - 1):>9}: dimension {dim}")
    if len(levels) > 20:
        print(f"  … and {len(levels) - 20} more steps (--json lists all)")
    for path in written:
        print(f"written  {path}")


def summarize(options: SummarizeOptions) -> int:
    """Write the flag of the rows: small, mergeable, and enough to answer from."""
    question, output, force = question_for(options), options.output, options.force
    source = open_source(options.files, options, question)
    if source.table is None:
        raise UsageError(
            f"{options.files[0]} is a flag already; put flags together with: flagstone merge"
        )
    refuse_inputs(options, source.table.files)
    run = Run(source, question, options, "", again=False)
    refuse_existing_outputs(options, resumed=run.resumed)
    read = run.read()
    details = {
        "sources": [str(path) for path in source.table.files],
        "skipped": read.skipped,
        "reading": reading_of(options),
        "seed": options.seed,
    }
    if source.conditions:
        details["conditions"] = list(source.conditions)
    found = SummaryFile(read.summary, question, source.encoding, details)
    data = pack_document("summary", found.to_dict())
    write_all({output: data}, overwrite=force, keep_equal=run.resumed)
    run.finish()
    print_flag(found, [output], json=options.json)
    return OK


def merge(options: MergeOptions) -> int:
    """Merge flags: (1, 2), (3, 4), … and again, an odd one carried up."""
    files, output, seed, force = options.files, options.output, options.seed, options.force
    refuse_inputs(options, files)
    refuse_existing_outputs(options)
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
    conditions = dict.fromkeys(
        text for part in parts for text in part.details.get("conditions", [])
    )
    if conditions:
        details["conditions"] = list(conditions)
    found = SummaryFile(merged, parts[0].question, parts[0].encoding, details)
    save(output, found, overwrite=force)
    print_flag(found, [output], json=options.json)
    return OK
