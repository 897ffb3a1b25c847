"""``flagstone audit``: how replicable is a learner?"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from flagstone import estimators
from flagstone.audit import AuditResult, OtherTaskError, audit, read_pairs, tradeoff
from flagstone.cli.answering import rule_of
from flagstone.cli.inputs import open_source, open_tables
from flagstone.cli.options import RuleOptions, StopOptions, TableOptions
from flagstone.cli.output import print_json
from flagstone.cli.results import refuse_inputs
from flagstone.cli.runner import ERROR, FAILED, OK, Interrupted, UsageError
from flagstone.cli.words import rerun_command
from flagstone.disk import check_target
from flagstone.errors import InputError
from flagstone.question import QUESTIONS, EquationsQuestion, SpanQuestion
from flagstone.wording import counted

LAWS = ("geometric", "uniform", "blocks")
#: Estimators by name: one for each kind of question, and the baseline.
ESTIMATORS = {kind: question.estimator for kind, question in QUESTIONS.items()} | {
    "elimination": "EliminationClassifier"
}
RULES = ("parity", "elimination")  #: estimators whose answer is one rule, with coef_ and predict
LABELLED = (*RULES, "equations", "subspace")


def command(
    table: TableOptions,
    rule: RuleOptions,
    stop: StopOptions,
    files: list[str] | None,
    law: str | None,
    dim: int,
    rows: int,
    estimator: str | None,
    learner: str | None,
    intercept: bool,
    compare: str,
    groups: str | None,
    bootstrap: bool,
    claim: float | None,
    confidence: float,
    results: str | None,
    add: bool,
    tradeoff: bool,
    output: str | None,
    plot: str | None,
    jobs: int,
    seed: str,
    json: bool,
) -> int:
    """Measure how replicable a learner is.

    Exit code 4: --claim is rejected; 1: every pair ended in an error.
    """
    if (law is None) == (not files):
        raise UsageError("give either files or --law, the source of the samples")
    if law is not None and (table.label is not None or groups is not None or bootstrap):
        word = "--label" if table.label is not None else "--groups" if groups else "--bootstrap"
        raise UsageError(f"{word} is for files; with --law a label is planted")
    name = estimator or ("parity" if table.label is not None else "span")
    if name not in ESTIMATORS:
        raise UsageError(f"--estimator must be one of {', '.join(ESTIMATORS)}, got {name!r}")
    _check_learner(learner, estimator, rule, tradeoff)
    _check_values(name, learner, intercept, compare, claim, confidence, stop, jobs)
    _check_outputs(tradeoff, output, plot, claim, results, intercept)
    if add and results is None:
        raise UsageError("--add goes with --results")
    for path in (results, output, plot):
        if path is not None:
            refuse_inputs([path], files or [])
            check_target(path, overwrite=path == results)
    labelled = name in LABELLED if learner is None else law is not None or table.label is not None
    if learner is None:
        model = getattr(estimators, ESTIMATORS[name])(**_parameters(name, table, rule, intercept))
    else:
        model = _learner(learner)
    drawn = None
    if law is not None:
        data: Any = _law(law, dim, table.field, labelled, intercept)
    elif learner is not None and not table.encode:
        data, drawn = _read(files or [], table, groups)
    elif groups is not None:
        raise UsageError("--groups goes with --learner, and not with --encode")
    else:
        data = _load(files or [], table, needs_label=labelled)
    if tradeoff:
        return _tradeoff(data, rows, table, rule, stop.pairs, seed, plot, json)
    with _in_words_of_options(results):
        found = audit(
            model,
            data,
            m=None if isinstance(data, tuple) else rows,
            groups=drawn,
            bootstrap=bootstrap,
            compare=compare,
            claim=claim,
            confidence=confidence,
            pairs=stop.pairs,
            max_disagreements=stop.disagreements,
            max_width=stop.width,
            seed=seed,
            file=results,
            add=add,
            n_jobs=jobs,
        )
    return _show(found, output, plot, json)


def _show(found: AuditResult, output: str | None, plot: str | None, json: bool) -> int:
    """Write and print a result; return the exit code."""
    if output is not None:
        found.to_csv(output)
    if plot is not None:
        found.save(plot)
    if json:
        print_json(found.to_dict())
    else:
        print(found)
        for path in (output, plot):
            if path is not None:
                print(f"written  {path}")
    if not found.stats.answered:
        return ERROR
    rejected = found.verdict is not None and found.verdict.decision == "rejected"
    return FAILED if rejected else OK


def _check_learner(
    learner: str | None, estimator: str | None, rule: RuleOptions, tradeoff: bool
) -> None:
    """Refuse options of our estimators beside a learner of the user."""
    if learner is None:
        return
    given = {"--estimator": estimator, "--rho": rule.rho, "--t-min": rule.t_min}
    given |= {"--t-max": rule.t_max, "--tradeoff": tradeoff or None}
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} belongs to our estimators; leave it out with --learner")


def _learner(text: str) -> Any:
    """Return the learner that MODULE:NAME stands for; modules here come first, as in python -m.

    It is an estimator, a class or a function without arguments that makes one, or a function
    ``learn(X, y, seed)``.
    """
    if not all(text.partition(":")):
        raise UsageError(f"--learner must be MODULE:NAME, as in my_module:make_model; got {text!r}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = pkgutil.resolve_name(text)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"--learner {text} cannot be loaded: {error}") from error
    if callable(getattr(found, "fit", None)) and not isinstance(found, type):
        return found
    try:
        inspect.signature(found).bind()
    except (TypeError, ValueError):
        return found
    return found()


def _read(files: list[str], table: TableOptions, groups: str | None) -> tuple[tuple[Any, Any], Any]:
    """Return features, which must be numbers, with their labels; and the groups."""
    opened = open_tables(files, table)
    wanted = [
        name
        for text in table.columns or []
        for name in ([text] if text in opened.columns else text.split(","))
        if name
    ]
    others = [name for name in (table.label, groups) if name is not None]
    features = [name for name in opened.chosen(wanted or None, table.label) if name != groups]
    names = [*features, *others]
    parts = [[batch.column(i) for i in range(len(names))] for _, batch in opened.batches(names)]
    columns = {
        name: _numbers(np.concatenate(column))
        for name, column in zip(names, zip(*parts, strict=True), strict=True)
    }
    for name in features:
        if columns[name].dtype.kind not in "if":
            raise InputError(
                f"{opened.files[0]}, column {name!r}: holds text such as "
                f"{str(columns[name][0])!r}; leave it out with --columns, or make numbers of all "
                "columns with --encode auto"
            )
    y = None if table.label is None else columns[table.label]
    X = np.column_stack([columns[name] for name in features])
    return (X, y), None if groups is None else columns[groups]


def _numbers(column: Any) -> Any:
    """Return a column of texts as whole numbers or floats, if all of them are."""
    for kind in (np.int64, np.float64):
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            return column.astype(kind)
    return column.astype(str)


def _check_values(
    name: str,
    learner: str | None,
    intercept: bool,
    compare: str,
    claim: float | None,
    confidence: float,
    stop: StopOptions,
    jobs: int,
) -> None:
    if not intercept and (learner is not None or name not in RULES):
        raise UsageError("--no-intercept goes with --estimator parity or elimination")
    if learner is None and name not in RULES and compare not in ("auto", "fingerprint"):
        raise UsageError(
            f"--compare {compare} goes with --learner, or --estimator parity or elimination, "
            f"not {name}"
        )
    if claim is not None and not 0.0 <= claim <= 1.0:
        raise UsageError(f"--claim must lie in [0, 1], got {claim:g}")
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"--confidence must lie strictly between 0 and 1, got {confidence:g}")
    if stop.width is not None and not 0.0 < stop.width <= 1.0:
        raise UsageError(f"--width must lie in (0, 1], got {stop.width:g}")
    if jobs == 0:
        raise UsageError("--jobs must not be 0 (1 is serial, -1 all processors)")


def _check_outputs(
    tradeoff: bool,
    output: str | None,
    plot: str | None,
    claim: float | None,
    results: str | None,
    intercept: bool,
) -> None:
    for option, given in (
        ("--claim", claim),
        ("--results", results),
        ("--output", output),
        ("--no-intercept", not intercept),
    ):
        if tradeoff and given:
            raise UsageError(f"--tradeoff takes no {option}")
    if plot is not None and Path(plot).suffix.lower() not in (".png", ".svg"):
        raise UsageError(f"--plot must end in .png or .svg, got {plot!r}")


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
    kept = sum(map(len, read_pairs(results).values())) if Path(results).exists() else 0
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
    return {"field": table.field, "rule": rule_of(rule), **constant}


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
