"""The road of every answering verb: files → rows → summary → span → answer → what it says.

No mathematics lives here; each step is one call into the core.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flagstone.cli.inputs import Source, open_source, reading_of
from flagstone.cli.longrun import LongRun, State, repeat_command
from flagstone.cli.options import ColumnOptions, OutputOptions, RuleOptions, RunOptions
from flagstone.cli.outputs import (
    check_outputs,
    output_paths,
    refuse_existing_outputs,
    refuse_inputs,
    write_outputs,
)
from flagstone.cli.runner import BOTTOM, OK, UsageError
from flagstone.cli.words import option_values

if TYPE_CHECKING:
    from flagstone.coins import Coins
    from flagstone.flag import Flag
    from flagstone.models import Answer, Layout, Model
    from flagstone.rules import SpanResult
    from flagstone.subspace import Subspace
    from flagstone.tables import EncodedBatch, Encoding

__all__ = ["answer_verb", "read_summary", "rule_of"]


def rule_of(options: RuleOptions) -> Any:
    """Return the rule with its parameters, validated before any row is read."""
    from flagstone.rules import rule_named

    with option_values():
        return rule_named(
            options.rule,
            rho=options.rho,
            eps=options.eps,
            t_max=_t_max(options.t_max),
            t_min=options.t_min,
            contamination=options.contamination,
        )


def _t_max(text: str | None) -> int | float | str | None:
    if text is None or text == "paper":
        return text
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"--t-max must be a number of sets, a fraction of the rows or 'paper', got {text!r}"
        ) from None


def read_summary(source: Source, layout: Layout, run: LongRun, state: State) -> None:
    """Read all rows of a table into the summary of the state."""
    if state.phase != "read" or source.table is None:
        return
    assert source.encoding is not None
    encoding = source.encoding

    def step(batch: EncodedBatch) -> None:
        state.summary.update(layout.rows(batch.matrix, encoding.field))

    batches = source.table.rows(encoding, state.position)
    run.drive(state, batches, step, source.table.n_rows, len(source.table.files))


def answer_verb(
    verb: str,
    files: Sequence[str],
    table: ColumnOptions,
    rule: RuleOptions,
    seed: str | None,
    output: OutputOptions,
    run: RunOptions,
    *,
    layout: Layout,
    make: Callable[[Subspace, Coins, Encoding | None], Answer],
    measure: bool = True,
    parameters: dict[str, Any] | None = None,
) -> int:
    """Answer a question about files, and print, draw and save the answer."""
    from flagstone.cli.describe import answer_lines, print_model
    from flagstone.coins import Coins, fresh_seed
    from flagstone.histogram import Histogram, new_summary
    from flagstone.models import Model
    from flagstone.rules import select_span

    check_outputs(output)
    chosen = rule_of(rule)
    source = open_source(files, table, layout, verb)
    read = files if source.table is None else source.table.files
    refuse_inputs([*output_paths(output), run.checkpoint], read)
    refuse_inputs([run.checkpoint], output_paths(output), "an output")
    if seed is None and source.summary is not None:
        seed = source.summary.details.get("seed")
    long = LongRun(run, _identity(verb, source, files, table, rule, seed, output, parameters))
    state = long.resume()
    resumed = state is not None
    if state is None:
        refuse_existing_outputs(output)
        fresh = fresh_seed() if seed is None else seed
        if source.summary is not None:
            summary = source.summary.summary
        else:
            assert source.encoding is not None
            names = source.encoding.names
            summary = new_summary(layout.dim(len(names)), source.encoding.field)
        state = State(fresh, summary)
        long.save(state, must=True)
    coins = Coins(state.seed)

    read_summary(source, layout, long, state)
    flag = state.summary.to_flag() if isinstance(state.summary, Histogram) else state.summary
    with option_values(usage=False):
        result = select_span(flag, coins, rule=chosen)
    answer = make(result.subspace, coins, source.encoding)
    levels = tuple((v.dim, v.multiplicity, v.first_index) for v in flag.levels())
    model = Model(verb, answer, layout, source.encoding, result.subspace, result.guarantee, levels)
    if state.phase == "read":
        n_rows = state.rows if source.table is not None else flag.n_rows
        counts = {"read": n_rows, "skipped": state.skipped}
        state.phase, state.position, state.rows, state.counts = "measure", None, 0, counts
        long.save(state)
    if source.table is not None and measure:
        _measure(source, model, long, state, output.show_rows)
    model = dataclasses.replace(
        model, details=_details(source, flag, result, state, seed is None, table, parameters)
    )
    answer_lines(model, output.show_as)  # what cannot be shown fails before anything is written
    written = write_outputs(model, output, overwrite=output.force or resumed)
    long.finish()
    print_model(model, output, written)
    return BOTTOM if model.is_bottom or model.is_nothing_kept else OK


def _measure(source: Source, model: Model, long: LongRun, state: State, shown: int) -> None:
    """Count the rows the span leaves out and the rows that break the answer; note the first."""
    table, encoding = source.table, source.encoding
    assert table is not None
    assert encoding is not None
    assert model.subspace is not None
    counts = state.counts
    counts.setdefault("uncovered", 0)
    counts.setdefault("misfits", None if model.is_bottom and model.verb == "learn" else 0)
    counts.setdefault("places", [])
    subspace, field = model.subspace, encoding.field

    def step(batch: EncodedBatch) -> None:
        rows = field.rows(model.layout.rows(batch.matrix, field))
        outside = ~subspace.contains(rows)
        counts["uncovered"] += int(outside.sum())
        if counts["misfits"] is not None:
            wrong = ~model.fits(batch.matrix) if model.verb == "learn" else outside
            counts["misfits"] += int(wrong.sum())
            for index in wrong.nonzero()[0][: max(0, shown - len(counts["places"]))].tolist():
                place = batch.place(index)
                counts["places"].append([place.file, place.row, place.line])

    long.drive(state, table.rows(encoding, state.position), step, counts["read"], len(table.files))


def _details(
    source: Source,
    flag: Flag,
    result: SpanResult,
    state: State,
    fresh: bool,
    table: ColumnOptions,
    parameters: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return what people want to know beside the answer, as plain values."""
    basis, counts = flag.adapted_basis()
    field = flag.field
    gap = "" if field.order == 2 else " "
    kept: Any = result.subspace.contains(basis) if len(counts) else []
    directions = [
        {"count": int(count), "kept": bool(inside), "vector": gap.join(map(field.format, row))}
        for row, count, inside in zip(field.array(basis), counts, kept, strict=True)
    ]
    files = [] if source.table is None else [str(path) for path in source.table.files]
    return {
        "seed": state.seed,
        "seed_is_fresh": fresh,
        "parameters": parameters or {},
        "reading": reading_of(table),
        "summary": type(state.summary).__name__.lower(),
        "n_shards": flag.n_shards,
        "rows": state.counts,
        "directions": directions,
        "sources": files,
        "command": repeat_command(state.seed),
    }


def _identity(
    verb: str,
    source: Source,
    files: Sequence[str],
    table: ColumnOptions,
    rule: RuleOptions,
    seed: str | None,
    output: OutputOptions,
    parameters: dict[str, Any] | None,
) -> dict[str, Any]:
    from flagstone import __version__

    identity: dict[str, Any] = {
        "version": __version__,
        "verb": verb,
        "files": list(files),
        "table": dataclasses.asdict(table),
        "rule": dataclasses.asdict(rule),
        "seed": seed,
        "output": [output.output, output.report, output.plot, output.show_rows],
        "parameters": parameters,
        "data": None if source.table is None else source.table.identity(),
    }
    if source.encoding is not None:
        identity["encoding"] = source.encoding.to_dict()
    if source.table is None:
        identity["data"] = Path(files[0]).stat().st_mtime_ns
    return identity
