"""``flagstone plan``: how many rows a promise needs, or which window pilot rows propose."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from flagstone.algebra.fields import as_field
from flagstone.cli.console import OK, UsageError, number, parsed, print_json, refuse_options, safe
from flagstone.cli.inputs import (
    captures_refused,
    check_degree,
    command_of,
    open_source,
    question_for,
    reading_of,
)
from flagstone.cli.parser import options_of
from flagstone.cli.results import refuse_existing_outputs, refuse_inputs
from flagstone.cli.verbs import (
    ColumnOptions,
    PilotOptions,
    PlanOptions,
    RunOptions,
    SampleSizeOptions,
)
from flagstone.cli.work import Run
from flagstone.coins import Coins
from flagstone.encoding import Monomials
from flagstone.finding import SCHEMA, Finding
from flagstone.guarantees import Window, plan
from flagstone.rules import IndexRule
from flagstone.second_pass import SecondPass
from flagstone.suggest import EXPECTED, suggestion
from flagstone.text import agreement


def command(options: PlanOptions) -> int:
    """Plan a promise from numbers alone, or a window from pilot rows."""
    if options.pilot:
        refuse_options(
            options, options_of(SampleSizeOptions), "has no place beside --pilot; leave it out"
        )
        return _plan_window(options.pilot, options)
    kinds = (PilotOptions, ColumnOptions, RunOptions)
    shared = ("field", "degree")
    fields = [field for kind in kinds for field in options_of(kind) if field not in shared]
    refuse_options(options, [*fields, "label"], "is for --pilot; leave it out")
    return _plan_rows(options)


def _plan_rows(options: PlanOptions) -> int:
    """Say how many rows a promise needs, by the paper's analysis and by ours."""
    dim, rho, seed = options.dim, options.rho, options.seed
    if dim is None or rho is None:
        raise UsageError("plan needs --dim and --rho, or pilot rows: --pilot FILE")
    asked: Any = options
    if options.purpose is None:  # as in Python: rows of this dimension, nothing added to them
        asked = dataclasses.replace(asked, linear=True)
    question = question_for(asked)
    field, degree = parsed(as_field, options.field), options.degree
    check_degree(question, degree)
    products = parsed(Monomials, field, degree, tuple(f"x{i}" for i in range(dim)))
    more = (options.eps, options.delta, field, options.contamination, options.each)
    found = parsed(plan, question.dim(products.count), rho, *more)
    drawn = None
    if seed is not None and found.rows is not None:
        planned = found["index"]
        window = Window("index", planned.t_min, planned.t_min + int(planned.length or 1) - 1)
        threshold = IndexRule().draw(window, Coins(seed))
        drawn = {"seed": seed, "window": vars(window), "threshold": threshold}
    if options.json:
        head = {"schema": SCHEMA, "columns": dim, "verb": question.verb, "row": question.row}
        head |= {"degree": degree} if degree > 1 else {}
        print_json(head | found.to_dict() | {"drawn": drawn})
        return OK
    print(found)
    rows = f"rows {question.row} of dimension {found.dim}"
    made = f"{dim} columns" if degree == 1 else f"{products.count:,} products of {dim} columns"
    print(f"· for {command_of(question)}: {made} make {rows}")
    if question.kind == "span":
        print("· other verbs need more rows: plan them with --for constraints or --for learn")
    if drawn is not None:
        print(f"· seed {seed} draws threshold {threshold} from {window}")
    return OK


@captures_refused(
    "a pilot cannot be a capture; fresh captures are read as they are by: flagstone frames FRESH "
    "--protocol FILE"
)
def _plan_window(files: Sequence[str], options: PlanOptions) -> int:
    """Choose a window on pilot rows, and write the protocol to publish for fresh ones."""
    output, force = options.output, options.force
    question = question_for(options)
    source = open_source(files, options, question)
    if source.table is None:
        raise UsageError(f"{files[0]} is a flag; a forecast needs the pilot rows themselves")
    refuse_inputs(options, source.table.files)
    refuse_existing_outputs(options)
    run = Run(source, question, options, options.seed)

    def again(finding: Finding) -> SecondPass | None:
        """Pass over the pilot rows again."""
        review = run.pipeline.second_pass(finding, run.summary, confidence=options.confidence)
        return review.second_pass

    found = suggestion(
        run.read().summary,
        again,
        run.sample,
        rule=options.rule,
        question=question,
        encoding=source.encoding,
        seed=run.seed,
        max_rows=options.max_rows,
        confidence=options.confidence,
        reading=reading_of(options),
        partition=run.cut,
    )
    if options.equations:
        found = found.for_equations()
    elif options.max_rows is None:
        found = dataclasses.replace(
            found, protocol=dataclasses.replace(found.protocol, max_rows=found.rows_needed)
        )
    if output is not None:
        found.protocol.save(output, overwrite=force)
    run.finish()
    written = [] if output is None else [output]
    if options.json:
        print_json(_plain(found) | {"outputs": written})
    else:
        here = options.workers is None and options.cluster is None  # then rows were drawn again
        how = f"if rows are like these; {EXPECTED}" if here else "at least: fewer rows may do"
        for line in _lines(found, [safe(path) for path in written], how):
            print(line)
    return OK


def _plain(found: Any) -> dict[str, Any]:
    return {
        "protocol": found.protocol.to_dict(),
        "plateau": found.plateau._asdict(),
        "is_bottom": found.is_bottom,
        "rows": found.n_rows,
        "forecast": [list(point) for point in found.forecast],
        "equations": [list(point) for point in found.equations],
    }


def _lines(found: Any, written: list[str], how: str) -> list[str]:
    p, plateau = found.protocol, found.plateau
    said = _by_rows(
        (m, "nothing" if rho is None else f"≥ {agreement(rho)}") for m, rho in found.forecast
    )
    kept = _by_rows(
        (m, "nowhere" if t is None else f"from {number(t)} on") for m, t in found.equations
    )
    same = "as many rows in every run: --max-rows"
    take = same if p.max_rows is None else f"{number(p.max_rows)} in every run"
    file = written[0] if written else "protocol.json"
    shares = " (fractions of the rows)" if isinstance(p.t_min, float) else ""
    rows = [
        ("window", f"t_min {p.t_min:g}, t_max {p.t_max:g}{shares}, rule {p.rule}"),
        ("forecast", f"{said} (agreement certified, {how})"),
        *([("equations", f"{kept} (thresholds that certify them)")] if kept else []),
        ("rows", take),
        ("seed", safe(p.seed)),
        ("protocol", p.fingerprint[:16]),
        ("run", f"flagstone {command_of(p.question)} FRESH --protocol {file}"),
        *(("written", path) for path in written),
    ]
    head = (
        f"Thresholds {number(plateau.first)} to {number(plateau.last)} of {number(found.n_rows)} "
        f"pilot rows give one space, of dimension {plateau.dim}; use its middle on fresh rows:"
    )
    if found.is_bottom:
        head = (
            f"No rule fits the {number(found.n_rows)} pilot rows, so expect none on fresh rows. "
            f"The middle of thresholds {number(plateau.first)} to {number(plateau.last)}, which "
            f"give one space, of dimension {plateau.dim}:"
        )
    note = "On the pilot rows themselves the window promises nothing: it was chosen on them."
    return [head, *(f"  {label:<10}{text}" for label, text in rows), note]


def _by_rows(points: Iterable[tuple[int, str]]) -> str:
    """Say what numbers of rows give, and once what several of them give.

    >>> _by_rows([(10, "nothing"), (20, "≥ 0.9"), (40, "≥ 0.9")])
    '10 rows: nothing; 20 to 40 rows: ≥ 0.9'
    """
    said = []
    for text, group in itertools.groupby(points, key=lambda point: point[1]):
        rows = [number(m) for m, _ in group]
        some = rows[0] if len(rows) == 1 else f"{rows[0]} to {rows[-1]}"
        said.append(f"{some} rows: {text}")
    return "; ".join(said)
