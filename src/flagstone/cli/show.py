"""``flagstone show``: what a finding or flag file says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from flagstone.cli.describe import FINDING_KEYS
from flagstone.cli.inputs import expect_seed
from flagstone.cli.options import ExpectSeedOption, OutputOptions
from flagstone.cli.runner import BOTTOM, OK, UsageError, verb
from flagstone.wording import counted

if TYPE_CHECKING:
    from flagstone.models import SummaryFile
    from flagstone.protocol import Protocol

FLAG_KEYS = {
    "summary": "flag or histogram",
    "field, dim": "the rows live in field^dim",
    "question": "what the rows are for, and what stands in one: (x), (x, 1), (x, y) or (x, 1, y)",
    "columns": "names of the encoded feature columns",
    "rows": "read, shards (separately built flags merged)",
    "rank, n_sets": "dimension of the first space, number of sets of the partition",
    "levels": "[dimension, sets, first set], from the largest space down",
    "directions": "how often each direction was seen",
    "outputs": "files written",
    "schema": "2, the version of these keys",
}

EXAMPLES = ("flagstone show frames.json --report frames.html",)
JSON_KEYS = {f"{key} (findings)": text for key, text in FINDING_KEYS.items()} | {
    f"{key} (flags)": text for key, text in FLAG_KEYS.items()
}


@verb
def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A finding, flag or protocol file.")],
    output: OutputOptions,
    seed: ExpectSeedOption = None,
) -> int:
    """Show what a finding, flag or protocol file says; --report and --plot draw it again."""
    from flagstone.cli.describe import answer_lines, print_finding
    from flagstone.cli.layered import layer_lines, survey_of
    from flagstone.cli.outputs import (
        check_outputs,
        refuse_existing_outputs,
        refuse_inputs,
        write_outputs,
    )
    from flagstone.finding import Finding
    from flagstone.models import load
    from flagstone.protocol import Protocol

    if output.output is not None:
        raise UsageError("show writes no finding; copy the file instead")
    check_outputs(output)
    refuse_existing_outputs(output)
    refuse_inputs([output.report, output.plot], [file])
    loaded = load(file)
    expect_seed(loaded, file, seed)
    if isinstance(loaded, Finding):
        survey = survey_of(loaded, None)
        answer_lines(loaded, output.show_as or "text")
        written = write_outputs(loaded, output, survey)
        print_finding(loaded, output, written, said=layer_lines(survey, loaded))
        return OK if loaded.is_answer else BOTTOM
    if isinstance(loaded, Protocol):
        _show_protocol(loaded, output)
        return OK
    if output.report is not None:
        raise UsageError(f"{file} holds a {loaded.kind} without an answer: leave out --report")
    _show_flag(loaded, output)
    return OK


def describe_flag(loaded: SummaryFile) -> dict[str, Any]:
    """Return the documented JSON form of a flag file (see FLAG_KEYS)."""
    from flagstone.finding import SCHEMA
    from flagstone.staircase import Staircase

    flag = loaded.summary.to_flag()
    basis, counts = flag.adapted_basis()
    return {
        "schema": SCHEMA,
        "summary": loaded.kind,
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
    from flagstone.cli.output import number, print_json, safe

    if output.report is not None or output.plot is not None:
        raise UsageError("a protocol has no rows to draw: leave out --report and --plot")
    if output.json:
        print_json(protocol.to_dict() | {"outputs": []})
        return
    take = "as many in every run" if protocol.take is None else number(protocol.take)
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
    from pathlib import Path

    from flagstone.cli.output import print_json
    from flagstone.disk import atomic_write

    written = []
    if output.plot is not None:
        from flagstone.plots import ScreeDisplay
        from flagstone.reports import plot_bytes

        scree = ScreeDisplay.from_flag(loaded.summary.to_flag())
        data = plot_bytes(scree, Path(output.plot).suffix.lower())
        atomic_write(output.plot, data, overwrite=output.force)
        written.append(output.plot)
    found = describe_flag(loaded) | {"outputs": written}
    if output.json:
        print_json(found)
        return
    print_flag(found)


def print_flag(found: dict[str, Any]) -> None:
    """Print a flag for people: the staircase, its steps merged where there are many."""
    from flagstone.cli.output import number

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
    for path in found.get("outputs", []):
        print(f"written  {path}")
