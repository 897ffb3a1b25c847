"""``flagstone show``: what a model or flag file says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from flagstone.cli.describe import ANSWER_KEYS
from flagstone.cli.inputs import expect_seed
from flagstone.cli.options import ExpectSeedOption, OutputOptions
from flagstone.cli.runner import BOTTOM, OK, UsageError, verb

if TYPE_CHECKING:
    from flagstone.models import SummaryFile

FLAG_KEYS = {
    "kind": "flag or histogram",
    "field, dim": "the rows live in field^dim",
    "layout": "what stands in a row: (x), (x, 1), (x, y) or (x, 1, y)",
    "columns": "names of the encoded feature columns",
    "n_rows, n_shards": "rows seen, separately built flags merged",
    "rank, n_sets": "dimension of the first space, number of sets of the partition",
    "levels": "[dimension, sets, first set], from the largest space down",
    "directions": "how often each direction was seen",
    "outputs": "files written",
}

EXAMPLES = ("flagstone show frames.json --report frames.html",)
JSON_KEYS = {f"{key} (models)": text for key, text in ANSWER_KEYS.items()} | {
    f"{key} (flags)": text for key, text in FLAG_KEYS.items()
}


@verb
def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A model or flag file.")],
    output: OutputOptions,
    seed: ExpectSeedOption = None,
) -> int:
    """Show what a model or flag file says; --report and --plot draw it again."""
    from flagstone.cli.describe import answer_lines, print_model
    from flagstone.cli.outputs import (
        check_outputs,
        refuse_existing_outputs,
        refuse_inputs,
        write_outputs,
    )
    from flagstone.models import Model, load

    if output.output is not None:
        raise UsageError("show writes no model; copy the file instead")
    check_outputs(output)
    refuse_existing_outputs(output)
    refuse_inputs([output.report, output.plot], [file])
    loaded = load(file)
    expect_seed(loaded, file, seed)
    if isinstance(loaded, Model):
        answer_lines(loaded, output.show_as)
        written = write_outputs(loaded, output, overwrite=output.force)
        print_model(loaded, output, written)
        return BOTTOM if loaded.is_bottom or loaded.is_nothing_kept else OK
    if output.report is not None:
        raise UsageError(f"{file} holds a {loaded.kind} without an answer; --report needs a model")
    _show_flag(loaded, output)
    return OK


def describe_flag(loaded: SummaryFile) -> dict[str, Any]:
    """Return the documented JSON form of a flag file (see FLAG_KEYS)."""
    from flagstone.histogram import Histogram

    summary = loaded.summary
    flag = summary.to_flag() if isinstance(summary, Histogram) else summary
    basis, counts = flag.adapted_basis()
    gap = "" if flag.field.order == 2 else " "
    return {
        "kind": loaded.kind,
        "field": flag.field.name,
        "dim": flag.dim,
        "layout": str(loaded.layout),
        "columns": None if loaded.encoding is None else list(loaded.encoding.names),
        "n_rows": flag.n_rows,
        "n_shards": flag.n_shards,
        "rank": flag.rank,
        "n_sets": flag.n_sets,
        "levels": [[v.dim, v.multiplicity, v.first_index] for v in flag.levels()],
        "directions": [
            {"count": int(c), "vector": gap.join(map(flag.field.format, row))}
            for row, c in zip(flag.field.array(basis), counts, strict=True)
        ],
    }


def _show_flag(loaded: SummaryFile, output: OutputOptions) -> None:
    from pathlib import Path

    from flagstone.cli.output import print_json
    from flagstone.histogram import Histogram
    from flagstone.models import atomic_write

    written = []
    if output.plot is not None:
        from flagstone.reports import Scree, plot_bytes

        summary = loaded.summary
        flag = summary.to_flag() if isinstance(summary, Histogram) else summary
        data = plot_bytes(Scree.of_flag(flag), Path(output.plot).suffix.lower())
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

    shards = f", {found['n_shards']} shards merged" if found["n_shards"] > 1 else ""
    print(
        f"{found['kind']} of {number(found['n_rows'])} rows {found['layout']} in "
        f"{found['field']}^{found['dim']}{shards}"
    )
    print(f"rank {found['rank']}, {number(found['n_sets'])} sets")
    levels = found["levels"]
    for dim, sets, first in levels[:20]:
        print(f"  sets {number(first):>9} to {number(first + sets - 1):>9}: dimension {dim}")
    if len(levels) > 20:
        print(f"  … and {len(levels) - 20} more steps (--json lists all)")
    for path in found.get("outputs", []):
        print(f"written  {path}")
