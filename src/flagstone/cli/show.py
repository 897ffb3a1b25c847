"""``flagstone show``: what a finding or flag file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flagstone.algebra.staircase import Staircase
from flagstone.cli.inputs import expect_seed
from flagstone.cli.output import number, print_json, safe
from flagstone.cli.results import (
    answer_lines,
    check_outputs,
    print_finding,
    refuse_existing_outputs,
    refuse_inputs,
    write_outputs,
)
from flagstone.cli.runner import BOTTOM, OK, UsageError
from flagstone.cli.verbs import OutputOptions, ShowOptions
from flagstone.disk import atomic_write
from flagstone.finding import SCHEMA, Finding
from flagstone.plots import ScreeDisplay
from flagstone.protocol import Protocol
from flagstone.report import plot_bytes
from flagstone.store import SummaryFile, load
from flagstone.wording import counted


def command(output: ShowOptions) -> int:
    """Show what a finding, flag or protocol file says; --report and --plot draw it again."""
    file = output.file
    if output.output is not None:
        raise UsageError("show writes no finding; copy the file instead")
    check_outputs(output)
    refuse_existing_outputs(output)
    refuse_inputs([output.report, output.plot], [file])
    loaded = load(file)
    expect_seed(loaded, file, output.seed)
    if isinstance(loaded, Finding):
        answer_lines(loaded, output.show_as or "text")
        written = write_outputs(loaded, output)
        print_finding(loaded, output, written)
        return OK if loaded.is_answer else BOTTOM
    if isinstance(loaded, Protocol):
        _show_protocol(loaded, output)
        return OK
    if output.report is not None:
        raise UsageError(f"{file} holds a flag without an answer: leave out --report")
    _show_flag(loaded, output)
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


def _show_protocol(protocol: Protocol, output: OutputOptions) -> None:
    if output.report is not None or output.plot is not None:
        raise UsageError("a protocol has no rows to draw: leave out --report and --plot")
    if output.json:
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


def _show_flag(loaded: SummaryFile, output: OutputOptions) -> None:
    written = []
    if output.plot is not None:
        scree = ScreeDisplay.from_flag(loaded.summary)
        data = plot_bytes(scree, Path(output.plot).suffix.lower())
        atomic_write(output.plot, data, overwrite=output.force)
        written.append(output.plot)
    print_flag(loaded, written, json=output.json)


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
