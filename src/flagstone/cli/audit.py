"""``flagstone audit``: how often do two fresh samples agree?"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from flagstone.cli.options import JsonOption, RuleOptions, TableOptions
from flagstone.cli.runner import ERROR, FAILED, OK, Interrupted, UsageError, verb
from flagstone.disk import check_target
from flagstone.errors import InputError
from flagstone.wording import counted

LAWS = ("geometric", "uniform", "blocks")
SAME = ("auto", "fingerprint", "coef", "predictions")
RULES = ("parity", "elimination")  #: estimators whose answer is one rule, with coef_ and predict
LABELLED = (*RULES, "equations", "subspace")

#: Rows on which --same predictions compares two rules.
GRID_ROWS = 1000

JSON_KEYS = {
    "task": "what was audited, on what",
    "strong_id": "SHA-256 of the task, under which --results files the pairs",
    "pairs, agreements, disagreements, both_bottom, one_bottom, both_empty, errors, both_failed": (
        "counts of pairs; errors are disagreements, both_empty agreements that kept no direction"
    ),
    "error_types": "how often each error was seen, numbers in messages written as #",
    "all_bottom, agree_on_nothing": "whether every answer is ⊥; whether no agreement has content",
    "replicability, disagreement_rate, standard_error": "over all pairs",
    "accuracy, coverage": "mean over the runs, on the other sample of the pair; null if unknown",
    "integrated": "per pair, the probability over the threshold to disagree; null without",
    "plain_pairs": "plain pairs (no integration) for as narrow an interval; null below 20 pairs",
    "confidence": "of the intervals and of the verdict",
    "interval_anytime": "of the disagreement rate, valid under any stop rule",
    "interval_clopper_pearson": "the same, only for a number of pairs fixed beforehand",
    "indicative": "true for halves of one table, which are not fresh samples",
    "verdict": "on --claim: decision (rejected, supported, undecided), claim, evidence, note",
    "seconds": "time spent fitting",
    "tradeoff": "with --tradeoff, and then beside indicative alone: rule, t_min, t_max, kept "
    "(coverage or accuracy: quantity), replicability, both with _sem, m, pairs",
}

EXAMPLES = (
    "flagstone audit --law geometric --dim 8 --rows 500 --t-max 50 --claim 0.5 --pairs 40",
    "flagstone audit --law geometric --dim 8 --rows 500 --estimator elimination --pairs 40",
    "flagstone audit --law geometric --dim 8 --rows 500 --tradeoff --rho 0.1 --pairs 20",
)


@dataclasses.dataclass(frozen=True)
class StopOptions:
    """When an audit has seen enough."""

    pairs: Annotated[int, typer.Option("--pairs", min=1, help="At most so many pairs.")] = 200
    disagreements: Annotated[
        int | None, typer.Option("--disagreements", min=1, help="Stop at so many that differ.")
    ] = None
    width: Annotated[
        float | None,
        typer.Option("--width", help="Stop once the interval is at most so wide (0.05, say)."),
    ] = None


@verb
def command(
    table: TableOptions,
    rule: RuleOptions,
    stop: StopOptions,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="A table: disjoint random halves are compared."),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(
            "--law",
            help="Instead of files, fresh samples: geometric, uniform, blocks. For an estimator "
            "with labels the parity of all columns is planted.",
        ),
    ] = None,
    dim: Annotated[int, typer.Option("--dim", min=1, help="With --law: dimension.")] = 20,
    rows: Annotated[int, typer.Option("--rows", min=1, help="With --law: rows.")] = 1000,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator", help="parity, elimination, span, constraints, equations or subspace."
        ),
    ] = None,
    intercept: Annotated[
        bool,
        typer.Option(
            "--intercept/--no-intercept",
            help="Allow a constant in the rule of parity or elimination.",
        ),
    ] = True,
    same: Annotated[
        str,
        typer.Option(
            "--same",
            help="What counts as the same answer: fingerprint (auto), coef, or predictions on "
            "1000 fixed rows.",
        ),
    ] = "auto",
    claim: Annotated[
        float | None, typer.Option("--claim", help="A claimed rho to be judged.")
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of the intervals and the verdict.")
    ] = 0.95,
    results: Annotated[
        str | None, typer.Option("--results", help="Append-only file; an audit resumes from it.")
    ] = None,
    add: Annotated[
        bool, typer.Option("--add", help="Keep this audit in --results beside other ones.")
    ] = False,
    tradeoff: Annotated[
        bool,
        typer.Option(
            "--tradeoff",
            help="Instead, coverage (accuracy with labels) and replicability over t_max for both "
            "rules, to choose --t-max on pilot data; --rho picks the best of each.",
        ),
    ] = False,
    plot: Annotated[
        str | None,
        typer.Option("--plot", help="With --tradeoff: draw the curve here (.png or .svg)."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 is all.")] = 1,
    seed: Annotated[str, typer.Option("--seed", help="The seed of the audit.")] = "0",
    json: JsonOption = False,
) -> int:
    """Measure how often two samples with the same coins agree.

    Exit code 4: --claim is rejected; 1: every pair ended in an error.
    """
    from flagstone.audit import ESTIMATORS, Same, audit
    from flagstone.cli.output import print_json

    if (law is None) == (not files):
        raise UsageError("give either files or --law, the source of the samples")
    if law is not None and table.label is not None:
        raise UsageError("--label names a column of files; with --law a label is planted")
    name = estimator or ("parity" if table.label is not None else "span")
    if name not in ESTIMATORS:
        raise UsageError(f"--estimator must be one of {', '.join(ESTIMATORS)}, got {name!r}")
    _check_values(name, intercept, same, claim, confidence, stop, jobs)
    _check_tradeoff(tradeoff, plot, claim, results, intercept)
    if add and results is None:
        raise UsageError("--add goes with --results")
    parameters = _parameters(name, table, rule, intercept)
    if law is not None:
        source: Any = _law(law, dim, table.field, name in LABELLED, intercept)
    else:
        source = _load(files or [], table, needs_label=name in LABELLED)
    if tradeoff:
        return _tradeoff(source, rows, table, rule, stop.pairs, seed, plot, json)
    options: dict[str, Any] = {
        "parameters": parameters,
        "same": Same(same, grid=_grid(source) if same == "predictions" else None),
        "claim": claim,
        "confidence": confidence,
        "max_pairs": stop.pairs,
        "max_disagreements": stop.disagreements,
        "max_width": stop.width,
        "seed": seed,
        "file": results,
        "add": add,
        "n_jobs": jobs,
    }
    with _in_words_of_options(results):
        found = audit(name, source, None if isinstance(source, tuple) else rows, **options)
    if json:
        print_json(found.to_dict())
    else:
        print(found)
    if not found.stats.answered:
        return ERROR
    rejected = found.verdict is not None and found.verdict.decision == "rejected"
    return FAILED if rejected else OK


def _check_values(
    name: str,
    intercept: bool,
    same: str,
    claim: float | None,
    confidence: float,
    stop: StopOptions,
    jobs: int,
) -> None:
    if not intercept and name not in RULES:
        raise UsageError(f"--no-intercept goes with --estimator parity or elimination, not {name}")
    if same not in SAME:
        raise UsageError(f"--same must be one of {', '.join(SAME)}, got {same!r}")
    if same in ("coef", "predictions") and name not in RULES:
        raise UsageError(f"--same {same} goes with --estimator parity or elimination, not {name}")
    if claim is not None and not 0.0 <= claim <= 1.0:
        raise UsageError(f"--claim must lie in [0, 1], got {claim:g}")
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"--confidence must lie strictly between 0 and 1, got {confidence:g}")
    if stop.width is not None and not 0.0 < stop.width <= 1.0:
        raise UsageError(f"--width must lie in (0, 1], got {stop.width:g}")
    if jobs == 0:
        raise UsageError("--jobs must not be 0 (1 is serial, -1 all processors)")


def _check_tradeoff(
    tradeoff: bool, plot: str | None, claim: float | None, results: str | None, intercept: bool
) -> None:
    if not tradeoff:
        if plot is not None:
            raise UsageError("--plot draws the curve of --tradeoff")
        return
    for option, given in (
        ("--claim", claim),
        ("--results", results),
        ("--no-intercept", not intercept),
    ):
        if given:
            raise UsageError(f"--tradeoff takes no {option}")
    if plot is not None:
        if Path(plot).suffix.lower() not in (".png", ".svg"):
            raise UsageError(f"--plot must end in .png or .svg, got {plot!r}")
        if Path(plot).exists():
            raise InputError(f"{plot} exists; choose another file for --plot")
        check_target(plot)


@contextlib.contextmanager
def _in_words_of_options(results: str | None) -> Iterator[None]:
    """Say in the words of the command line what went wrong, and what an interrupt left behind."""
    from flagstone.audit.store import OtherTaskError

    try:
        yield
    except OtherTaskError as error:
        raise InputError(
            f"{error.found}. Choose another file, or give --add to keep both in this one"
        ) from error
    except KeyboardInterrupt as stop:
        raise Interrupted(_how_to_resume(results)) from stop


def _how_to_resume(results: str | None) -> str:
    from flagstone.audit import read_outcomes
    from flagstone.cli.repeating import repeat_command

    if results is None:
        return "interrupted; nothing was written. With --results FILE an audit can be resumed"
    kept = sum(map(len, read_outcomes(results).values())) if Path(results).exists() else 0
    return (
        f"interrupted; {results} holds {counted(kept, 'pair')}. To resume, run the same command "
        f"again: {repeat_command(None)}"
    )


def _parameters(
    name: str, table: TableOptions, rule: RuleOptions, intercept: bool
) -> dict[str, Any]:
    from flagstone.cli.answering import rule_of

    constant = {"fit_intercept": intercept} if name in RULES else {}
    if name == "elimination":
        return {"field": table.field, **constant}
    chosen = rule_of(rule)
    return {"field": table.field, "rule": chosen.name, **vars(chosen), **constant}


def _law(name: str, dim: int, field: str, labelled: bool, intercept: bool) -> Any:
    from flagstone import distributions

    if name not in LAWS:
        raise UsageError(f"--law must be one of {', '.join(LAWS)}, got {name!r}")
    try:
        features = getattr(distributions, name)(dim, field)
    except InputError as error:
        raise UsageError(f"--law {name} --dim {dim} --field {field}: {error}") from error
    if not labelled:
        return features
    return distributions.planted_parity([1] * dim, features=features, intercept=int(intercept))


def _grid(source: Any) -> Any:
    """Return the fixed rows on which predictions are compared: of the law, or of the table."""
    import numpy as np

    if isinstance(source, tuple):
        return source[0][:GRID_ROWS]
    return source.sample(GRID_ROWS, np.random.RandomState(0))[:, :-1]


def _tradeoff(
    source: Any,
    rows: int,
    table: TableOptions,
    rule: RuleOptions,
    pairs: int,
    seed: str,
    plot: str | None,
    json: bool,
) -> int:
    import hashlib

    from flagstone.audit import tradeoff
    from flagstone.cli.answering import rule_of
    from flagstone.cli.output import print_json

    start = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big")
    curve = tradeoff(
        source,
        m=None if isinstance(source, tuple) else rows,
        t_min=rule_of(rule).t_min or 1,
        field=table.field,
        pairs=max(2, pairs),
        seed=start,
    )
    if plot is not None:
        curve.save(plot)
    if json:
        print_json({"tradeoff": curve.rows(), "indicative": curve.indicative})
        return OK
    print(curve)
    if curve.indicative:
        print("INDICATIVE ONLY: halves of one table are not fresh samples")
    if rule.rho is not None:
        for name in ("index", "heavy"):
            best = curve.best(1.0 - rule.rho, name)
            print(
                f"measured replicability of {1.0 - rule.rho:g} or more, rule {name}: "
                + ("no t_max of these" if best is None else f"--t-max {best.t_max:g}")
            )
    if plot is not None:
        print(f"written  {plot}")
    return OK


def _load(files: list[str], table: TableOptions, *, needs_label: bool) -> tuple[Any, Any]:
    import numpy as np

    from flagstone.cli.inputs import open_source
    from flagstone.question import EquationsQuestion, SpanQuestion

    if needs_label and table.label is None:
        raise UsageError("an audit of this estimator needs --label, the column of the labels")
    source = open_source(files, table, EquationsQuestion() if needs_label else SpanQuestion())
    if source.table is None:
        raise InputError("an audit needs the rows themselves, not a flag")
    parts = [batch.matrix for batch in source.table.rows(source.encoding)]
    matrix = np.concatenate(parts)
    return source.encoding.split(matrix)
