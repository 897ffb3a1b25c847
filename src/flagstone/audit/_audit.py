"""One call from a learner and data to a result."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from flagstone.audit._learners import Learner, Trial, kind_of, last_step, predictions
from flagstone.audit._measures import NOTIONS, Pair, PairComparison
from flagstone.audit._pairs import Task, collect, open_file
from flagstone.audit._result import AuditResult, AuditStats
from flagstone.audit.data import as_data
from flagstone.audit.intervals import anytime_interval, check_claim, check_confidence
from flagstone.errors import InputError
from flagstone.estimators.classifier import RuleReader, after_bottom
from flagstone.guarantees.exact import positive
from flagstone.processes import check_jobs
from flagstone.progress import progress_bar


def audit(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    m: int | None = None,
    groups: Any = None,
    bootstrap: bool = False,
    compare: str | Callable[[Any, Any], Any] = "auto",
    tolerance: float | None = None,
    pairs: int = 200,
    max_disagreements: int | None = None,
    max_width: float | None = None,
    confidence: float = 0.95,
    claim: float | None = None,
    seed: int | str = 0,
    name: str | None = None,
    file: str | os.PathLike[str] | None = None,
    n_jobs: int = 1,
    progress: bool | None = None,
) -> AuditResult:
    """Measure how replicable a learner is: run it on pairs of samples, and compare the outputs.

    The two runs of a pair have different samples and the same seed. Three measures are reported:
    *exact* (the same output), *pointwise* (the same prediction for a fixed input; the mean over
    inputs, and the worst of them) and *approximate* (the share of the distribution on which the two
    outputs agree).

    Parameters
    ----------
    learner : estimator, pipeline or function
        An object with ``fit``, of which every parameter called ``random_state`` is set to the
        seed of the pair; or a function ``learn(X, y, seed)`` or ``learn(X, y)`` that returns any
        output: a fitted model, a function that predicts, coefficients, a set of features, ….
        Runs that fail count as disagreements, and their errors are shown; if every run fails, the
        first error is raised.
    X : array, data frame, distribution or function
        A table: random disjoint halves are the two samples. A
        :class:`~flagstone.distributions.Distribution` or a function ``sampler(m, rng)`` that
        returns ``X`` or ``(X, y)``: two fresh samples of ``m`` rows.
    y : array, optional
        The labels of a table.
    m : int, optional
        Rows per sample, of a distribution or a function.
    groups : array, optional
        One value per row of a table: rows of one group stay together.
    bootstrap : bool
        Draw bootstrap samples of the table instead of halves. They share rows, and so agree more
        often than fresh samples; the result says so.
    compare : str or function
        "auto"; what "the same output" means: "fingerprint", "coef" or "predictions"; or a
        similarity that gets a line of its own: "churn", "jaccard" (selected features),
        "adjusted_rand" (the default for clusterers), "coef_distance" or "equations" (the default
        for our spans). A function of two outputs returns a truth value (the same or not) or a
        number in [0, 1].
    tolerance : float, optional
        Predictions that differ by at most this much agree. Default: 0, and for regressors a tenth
        of the standard deviation of y.
    pairs : int
        Stop after this many pairs.
    max_disagreements : int, optional
        Stop once this many pairs differ.
    max_width : float, optional
        Stop once the interval of exact replicability is at most this wide.
    confidence : float
        Of the intervals.
    claim : float, optional
        A claimed ρ, the rate at which two outputs may differ, to be judged.
    seed : int or str
        Starts every random stream. The same data and seed give the same samples to all learners.
    name : str, optional
        Identifies functions in a result file: needed there for lambdas, closures and callable
        objects.
    file : path, optional
        Append-only result file. Pairs of this audit that it holds are not computed again, so an
        interrupted audit continues where it stopped. A file may hold several audits.
    n_jobs : int
        Processes (-1: one for each processor). The result does not depend on it.
    progress : bool, optional
        Show a bar with the remaining time; by default on terminals and in notebooks.

    Returns
    -------
    AuditResult

    Notes
    -----
    **Guarantees**

    The same call gives the same result, whatever ``n_jobs``, interruptions and resumptions. With
    fresh samples, the intervals of a measure hold its true value at every number of pairs at once
    with probability at least ``confidence``, so every stop rule is allowed. Halves of one table are
    not fresh samples: there, intervals describe this table.

    The held-out rows are in no sample. Some of them are the same for all pairs (pointwise), the
    others are drawn again for each pair (approximate): up to 200 of each, of a table a tenth.
    Clusterers without ``predict`` label only the rows of their fit, so both samples then include
    the held-out rows.

    Examples
    --------
    Clusters that are only named differently are the same:

    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from flagstone import audit
    >>> centres = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])
    >>> X = np.random.RandomState(0).normal(centres[np.arange(400) % 4])
    >>> found = audit(KMeans(4), X, pairs=20)
    >>> found.exact.estimate, found.measures["adjusted_rand"].estimate
    (1.0, 1.0)

    Fresh samples, and a claim:

    >>> from flagstone import IndexRule, LinearSpan
    >>> from flagstone.distributions import geometric
    >>> span = LinearSpan(rule=IndexRule(t_max=100))
    >>> audit(span, geometric(8), m=500, claim=0.5, pairs=60).verdict
    'supported'
    """
    positive("pairs", pairs)
    if max_disagreements is not None:
        positive("max_disagreements", max_disagreements)
    if max_width is not None and not 0 < max_width <= 1:
        raise InputError(f"max_width must lie in (0, 1], got {max_width}")
    check_jobs(n_jobs)
    check_confidence(confidence)
    check_claim(claim)
    named = Learner(learner, name)
    data = as_data(X, y, m, groups=groups, bootstrap=bootstrap, name=name)
    task = Task(named, data, compare, tolerance=tolerance, seed=seed, name=name)

    def enough(done: list[Pair]) -> bool:
        most = max_disagreements
        if most is not None and len(done) >= most <= AuditStats.of(done).disagreements:
            return True
        # The interval is looked at after each of the first 32 pairs, then after every 1/16 more.
        step = 1 << max(0, len(done).bit_length() - 5)
        if max_width is None or not done or len(done) % step:
            return False
        low, high = anytime_interval([pair.exact for pair in done], confidence)
        return high - low <= max_width

    last = last_step(learner)
    with open_file(file, task) as (known, keep):
        deterministic = task.repeat()
        with progress_bar(named.name, progress, notebooks=True) as show:
            done = collect(task, known, keep, enough, pairs=pairs, n_jobs=n_jobs, show=show)
    if all(pair.outcome == "both_error" for pair in done):
        raise InputError(f"every run of {named.name} failed: {done[0].error}")
    return _result(
        task.comparison,
        done,
        learner=named.name,
        data=repr(data),
        confidence=confidence,
        claim=claim,
        deterministic=deterministic,
        caution=data.caution,
        hint=tuple(after_bottom(last)) if isinstance(last, RuleReader) else (),
        strong_id=None if file is None else task.strong_id,
        seed=task.seed,
    )


def summarize(
    outputs: Sequence[Any],
    X: Any = None,
    y: Any = None,
    *,
    compare: str | Callable[[Any, Any], Any] = "auto",
    tolerance: float | None = None,
    confidence: float = 0.95,
    claim: float | None = None,
) -> AuditResult:
    """Measure how alike outputs are that you already have.

    Each output comes from a sample of its own. The first is compared with the second, the third
    with the fourth, and so on: disjoint pairs are independent, which the intervals need.

    Parameters
    ----------
    outputs : sequence
        Fitted models, functions that predict, coefficients, sets of features, texts, …; or arrays
        of one length: predictions for the same inputs. Fractions are predictions if labels are
        given, or ``compare="predictions"``, and coefficients otherwise.
    X, y : array, optional
        Held-out rows that models and functions predict, and their labels (for a score).
    compare, tolerance, confidence, claim : as for :func:`audit`

    Examples
    --------
    Four runs that predict the labels of the same five inputs:

    >>> from flagstone import audit
    >>> found = audit.summarize([[0, 1, 1, 0, 1]] * 2 + [[0, 1, 1, 0, 0], [0, 1, 1, 1, 0]])
    >>> found.exact.estimate, found.measures["pointwise"].estimate, found.measures["worst"].estimate
    (0.5, 0.9, 0.5)
    """
    outputs = list(outputs)
    if len(outputs) < 2:
        raise InputError(f"at least 2 outputs are compared, got {len(outputs)}")
    check_confidence(confidence)
    # Fractions may as well be coefficients.
    kinds = "biuUSf" if y is not None or compare == "predictions" else "biuUS"
    runs = [Trial(output, _given(output, X, kinds)) for output in outputs]
    first = runs[0].predicted
    rows = 0 if first is None else len(first)
    rules = PairComparison(compare, tolerance=tolerance, n_fixed=rows)
    rules.fit(kind_of(outputs[0], y, first), y, runs[0])
    disjoint = zip(runs[::2], runs[1::2], strict=False)
    done = [rules.pair(a, b, y, number) for number, (a, b) in enumerate(disjoint)]
    left = ", the last one left over" if len(outputs) % 2 else ""
    return _result(
        rules,
        done,
        learner=f"{len(outputs)} given outputs",
        data=f"disjoint pairs{left}",
        confidence=confidence,
        claim=claim,
    )


def _given(output: Any, X: Any, kinds: str) -> Any:
    """Return the predictions of an output: what a model says of X, or an array of some kinds."""
    if X is not None:
        return predictions(output, X)
    array = np.asarray(output) if isinstance(output, (list, np.ndarray)) else None
    return array if array is not None and array.ndim == 1 and array.dtype.kind in kinds else None


def _result(rules: PairComparison, done: Sequence[Pair], **said: Any) -> AuditResult:
    """Return the result for pairs, with what is said about them."""
    notion = NOTIONS.get(rules.notion, "the whole output")
    if rules.function is not None and not any(rules.label in pair.similarities for pair in done):
        notion = f"by {rules.label}"
    return AuditResult(
        pairs=tuple(done),
        notion=notion,
        kind=rules.kind,
        n_inputs=rules.n_fixed,
        tolerance=rules.tolerance,
        integrated=rules.integrate,
        **said,
    )
