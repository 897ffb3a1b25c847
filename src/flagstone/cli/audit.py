"""``flagstone audit``: how replicable is a learner?"""

from __future__ import annotations

import hashlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from flagstone import distributions, estimators
from flagstone.audit import audit, read_pairs, tradeoff
from flagstone.cli.answering import rule_of
from flagstone.cli.console import (
    ERROR,
    FAILED,
    OK,
    Interrupted,
    UsageError,
    how_to_resume,
    option_here,
    output_paths,
    print_json,
    refuse_options,
    rerun_command,
)
from flagstone.cli.inputs import open_source
from flagstone.cli.results import check_plot, refuse_inputs
from flagstone.cli.samples import read_sample
from flagstone.cli.verbs import AuditOptions
from flagstone.disk import check_target
from flagstone.errors import InputError, Parameter
from flagstone.plots.style import need_matplotlib
from flagstone.question import QUESTIONS, EquationsQuestion, SpanQuestion
from flagstone.wording import counted

#: Estimators by name: one for each kind of question, and the baseline.
ESTIMATORS = {kind: question.estimator for kind, question in QUESTIONS.items()} | {
    "elimination": "EliminationClassifier"
}
RULES = ("parity", "elimination")  #: estimators whose answer is one rule, with coef_ and predict
LABELLED = (*RULES, "equations", "subspace")


def command(options: AuditOptions) -> int:
    """Measure how replicable a learner is.

    Exit code 4: --claim is rejected; 1: every run ended in an error.
    """
    files, label = options.files or [], options.label
    name = options.estimator or ("parity" if label is not None else "span")
    _check(options, name)
    refuse_inputs(options, files)
    for path in output_paths(options):
        check_target(path, overwrite=options.force or path == options.results)
    if options.learner is None:
        model = getattr(estimators, ESTIMATORS[name])(**_parameters(name, options))
        labelled = name in LABELLED
    else:
        model = _learner(options.learner)
        labelled = options.law is not None or label is not None
    groups = None
    if options.law is not None:
        data: Any = _law(options.law, labelled, options)
    elif options.learner is not None:
        data, groups = read_sample(files, options)
    else:
        refuse_options(options, ["groups"], "goes with --learner")
        data = _load(files, options, needs_label=labelled)
    if options.tradeoff:
        return _tradeoff(data, options)
    try:
        found = audit(
            model,
            data,
            m=None if isinstance(data, tuple) else options.rows,
            groups=groups,
            bootstrap=options.bootstrap,
            compare=options.compare,
            claim=options.claim,
            confidence=options.confidence,
            pairs=options.pairs,
            max_disagreements=options.disagreements,
            max_width=options.width,
            seed=options.seed,
            file=options.results,
            n_jobs=options.jobs,
        )
    except KeyboardInterrupt as stop:
        raise Interrupted(_how_to_resume(options.results)) from stop
    said = [option_here(one) if isinstance(one, Parameter) else one for one in found.hint]
    found = replace(found, hint=tuple(said), command=rerun_command(options.seed, outputs=options))
    if options.output is not None:
        (found.to_html if _is_page(options.output) else found.to_csv)(options.output)
    if options.plot is not None:
        found.save(options.plot)
    if options.json:
        print_json(found.to_dict())
    else:
        print(found)
        for path in output_paths(options):
            if path != options.results:
                print(f"written  {path}")
    if not found.stats.answered:
        return ERROR
    return FAILED if found.verdict == "rejected" else OK


#: Options that do not go with another one, and why.
_CONFLICTS = {
    "law": (("label", "groups", "bootstrap"), "is for files; with --law a label is planted"),
    "learner": (
        ("estimator", "rho", "t_min", "t_max", "tradeoff"),
        "belongs to our estimators; leave it out with --learner",
    ),
    "tradeoff": (
        ("claim", "results", "output", "intercept"),
        "is not for --tradeoff; leave one of them out",
    ),
}


def _check(options: AuditOptions, name: str) -> None:
    """Refuse options that do not go together, and values out of range, before any work."""
    if (options.law is None) == (not options.files):
        raise UsageError("give either files or --law, the source of the samples")
    for other, (fields, why) in _CONFLICTS.items():
        if getattr(options, other):
            refuse_options(options, fields, why)
    if options.learner is not None or name not in RULES:
        refuse_options(options, ["intercept"], "goes with --estimator parity or elimination")
    ours = ("fingerprint", "equations")  # what answers of spans can be compared by
    if options.learner is None and name not in RULES and options.compare not in ours:
        why = f"{options.compare} goes with --learner, or --estimator parity or elimination"
        refuse_options(options, ["compare"], f"{why}, not {name}")
    if options.confidence in (0, 1):
        raise UsageError("--confidence must lie strictly between 0 and 1")
    if options.width == 0:
        raise UsageError("--width must be larger than 0")
    if options.jobs == 0:
        raise UsageError("--jobs must not be 0 (1 is serial, -1 all processors)")
    if options.plot is not None:
        check_plot(options.plot)
    if options.plot is not None or _is_page(options.output):
        need_matplotlib()  # now, not after the last pair


def _is_page(path: str | None) -> bool:
    """Say whether a result is to be written as an HTML page; else it is CSV."""
    return path is not None and Path(path).suffix.lower() in (".html", ".htm")


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
        module, _, name = text.partition(":")
        hint = f"; give the module without its suffix: {module[:-3]}:{name}"
        hint = hint if module.endswith(".py") else ""
        raise InputError(f"--learner {text} cannot be loaded: {error}{hint}") from error
    if callable(getattr(found, "fit", None)) and not isinstance(found, type):
        return found
    try:
        inspect.signature(found).bind()
    except (TypeError, ValueError):
        return found
    return found()


def _how_to_resume(results: str | None) -> str:
    if results is None:
        return "interrupted; nothing was written. With --results FILE an audit can be resumed"
    kept = sum(map(len, read_pairs(results).values())) if Path(results).exists() else 0
    return how_to_resume(results, counted(kept, "pair"))


def _parameters(name: str, options: AuditOptions) -> dict[str, Any]:
    constant = {"fit_intercept": options.intercept} if name in RULES else {}
    if name == "elimination":
        return {"field": options.field, **constant}
    return {"field": options.field, "rule": rule_of(options), **constant}


def _law(name: str, labelled: bool, options: AuditOptions) -> Any:
    dim, field = options.dim, options.field
    try:
        features = getattr(distributions, name)(dim, field)
    except InputError as error:
        raise UsageError(f"--law {name} --dim {dim} --field {field}: {error}") from error
    if not labelled:
        return features
    return distributions.planted_parity(
        [1] * dim, features=features, intercept=int(options.intercept)
    )


def _tradeoff(source: Any, options: AuditOptions) -> int:
    start = int.from_bytes(hashlib.sha256(options.seed.encode()).digest()[:4], "big")
    curve = tradeoff(
        source,
        m=None if isinstance(source, tuple) else options.rows,
        t_min=rule_of(options).t_min or 1,
        field=options.field,
        pairs=max(2, options.pairs),
        seed=start,
    )
    if options.plot is not None:
        curve.save(options.plot)
    if options.json:
        print_json({"tradeoff": curve.rows(), "indicative": curve.indicative})
        return OK
    print(curve)
    if options.rho is not None:
        for name in ("index", "heavy"):
            best = curve.best(1.0 - options.rho, name)
            print(
                f"measured replicability of {1.0 - options.rho:g} or more, rule {name}: "
                + ("no t_max of these" if best is None else f"--t-max {best.t_max:g}")
            )
    if options.plot is not None:
        print(f"written  {options.plot}")
    return OK


def _load(files: Sequence[str], options: AuditOptions, *, needs_label: bool) -> tuple[Any, Any]:
    if needs_label and options.label is None:
        raise UsageError("an audit of this estimator needs --label, the column of the labels")
    try:
        source = open_source(files, options, EquationsQuestion() if needs_label else SpanQuestion())
    except InputError as error:
        proposed = any(isinstance(arg, Parameter) and arg.name == "encode" for arg in error.args)
        if not proposed:
            raise
        hint = ". To audit another kind of model on these columns: --learner module:name"
        raise InputError(*error.args, hint) from error
    if source.table is None:
        raise InputError("an audit needs the rows themselves, not a flag")
    parts = [batch.matrix for batch in source.table.rows(source.encoding)]
    matrix = np.concatenate(parts)
    return source.encoding.split(matrix)
