"""``flagstone audit``: how often do two fresh samples agree?"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from flagstone.audit import ESTIMATORS, Same, audit, read_outcomes, tradeoff
from flagstone.audit.store import OtherTaskError
from flagstone.cli.answering import rule_of
from flagstone.cli.inputs import open_source
from flagstone.cli.options import RuleOptions, StopOptions, TableOptions
from flagstone.cli.output import print_json
from flagstone.cli.results import refuse_inputs
from flagstone.cli.runner import ERROR, FAILED, OK, Interrupted, UsageError
from flagstone.cli.words import rerun_command
from flagstone.disk import check_target
from flagstone.errors import InputError
from flagstone.question import EquationsQuestion, SpanQuestion
from flagstone.wording import counted

LAWS = ("geometric", "uniform", "blocks")
SAME = ("auto", "fingerprint", "coef", "predictions")
RULES = ("parity", "elimination")  #: estimators whose answer is one rule, with coef_ and predict
LABELLED = (*RULES, "equations", "subspace")

#: Rows on which --same predictions compares two rules.
GRID_ROWS = 1000


def command(
    table: TableOptions,
    rule: RuleOptions,
    stop: StopOptions,
    files: list[str] | None,
    law: str | None,
    dim: int,
    rows: int,
    estimator: str | None,
    intercept: bool,
    same: str,
    claim: float | None,
    confidence: float,
    results: str | None,
    add: bool,
    tradeoff: bool,
    plot: str | None,
    jobs: int,
    seed: str,
    json: bool,
) -> int:
    """Measure how often two samples with the same coins agree.

    Exit code 4: --claim is rejected; 1: every pair ended in an error.
    """
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
    if results is not None:
        refuse_inputs([results], files or [])
        check_target(results, overwrite=True)
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
    try:
        yield
    except OtherTaskError as error:
        raise InputError(
            f"{error.found}. Choose another file, or give --add to keep both in this one"
        ) from error
    except KeyboardInterrupt as stop:
        raise Interrupted(_how_to_resume(results)) from stop


def _how_to_resume(results: str | None) -> str:

    if results is None:
        return "interrupted; nothing was written. With --results FILE an audit can be resumed"
    kept = sum(map(len, read_outcomes(results).values())) if Path(results).exists() else 0
    return (
        f"interrupted; {results} holds {counted(kept, 'pair')}. To resume, run the same command "
        f"again: {rerun_command(None)}"
    )


def _parameters(
    name: str, table: TableOptions, rule: RuleOptions, intercept: bool
) -> dict[str, Any]:

    constant = {"fit_intercept": intercept} if name in RULES else {}
    if name == "elimination":
        return {"field": table.field, **constant}
    chosen = rule_of(rule)
    given = {name: value for name, value in vars(chosen).items() if name != "draw_rows"}
    return {"field": table.field, "rule": chosen.name, **given, **constant}


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

    if needs_label and table.label is None:
        raise UsageError("an audit of this estimator needs --label, the column of the labels")
    source = open_source(files, table, EquationsQuestion() if needs_label else SpanQuestion())
    if source.table is None:
        raise InputError("an audit needs the rows themselves, not a flag")
    parts = [batch.matrix for batch in source.table.rows(source.encoding)]
    matrix = np.concatenate(parts)
    return source.encoding.split(matrix)
