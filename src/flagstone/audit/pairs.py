"""One pair of runs: two fresh samples, shared coins, one comparison."""

from __future__ import annotations

import copy
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from flagstone.audit.integrate import integrated_disagreement
from flagstone.audit.same import TaskError, meaning
from flagstone.audit.sources import Sample
from flagstone.audit.stats import AuditStats
from flagstone.audit.task import Task
from flagstone.checks import owner_of
from flagstone.errors import BottomError, ReplicabilityWarning
from flagstone.finding import Finding

OUTCOMES = (
    "agree", "differ", "both_bottom", "one_bottom", "both_empty", "one_error", "both_error"
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What a pair came to.

    Attributes
    ----------
    kind : str
        "agree", "differ"; "both_bottom", "one_bottom" (⊥); "both_empty": the same answer, from the
        coins alone, since no direction was kept; "both_error"; "one_error": one run failed, or the
        two answers could not be compared.
    integrated : float or None
        Probability over the threshold that the two answers differ; 1 with an error.
    error : str or None
        Type and message of what was raised, first.
    seconds : float
    accuracy, coverage : float or None
        Mean over the two runs of the share of rows (of the pair's *other* sample) that the answer
        predicts, or that lie in its space. None where neither can be measured.
    """

    kind: str
    integrated: float | None = None
    error: str | None = None
    seconds: float = 0.0
    accuracy: float | None = None
    coverage: float | None = None

    def after(self, earlier: AuditStats, number: int) -> AuditStats:
        """Return the record of the pairs so far and this one, which has the given number."""
        z = self.integrated
        return earlier + AuditStats(
            earlier.strong_id,
            pairs=1,
            agreements=int(self.kind in {"agree", "both_bottom", "both_empty"}),
            both_bottom=int(self.kind == "both_bottom"),
            one_bottom=int(self.kind == "one_bottom"),
            both_empty=int(self.kind == "both_empty"),
            errors=int(self.kind in {"one_error", "both_error"}),
            both_failed=int(self.kind == "both_error"),
            integrated=None if z is None else (min(1.0, max(0.0, z)),),
            error_types=((_kind_of(self.error), 1),) if self.error else (),
            numbers=((number, number + 1),),
            seconds=self.seconds,
            accuracies=() if self.accuracy is None else (self.accuracy,),
            coverages=() if self.coverage is None else (self.coverage,),
        )


def _kind_of(message: str) -> str:
    """Return the message without its numbers: what varies from pair to pair is one kind."""
    return re.sub(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "#", message)


def run_pair(task: Task, pair: int, on_error: str = "count") -> Outcome:
    """Run pair number ``pair`` of a task; a pure function of the two.

    What an estimator raises is counted (``on_error="count"``) or passed on (``"raise"``). A
    sampler that misbehaves is a mistake in the task, and always raises.
    """
    samples = task.source.pair(task.stream(pair, "first"), task.stream(pair, "second"))
    start = time.perf_counter()
    failed: list[Exception] = []
    done: dict[str, Any] = {}

    def attempt(step: Callable[..., Any], *inputs: Any) -> Any:
        try:
            return step(*inputs)
        except Exception as problem:
            if on_error == "raise" or isinstance(problem, TaskError):
                raise
            failed.append(problem)

    with warnings.catch_warnings():
        # The audit *measures* what the warning is about; once per fit would be noise.
        warnings.simplefilter("ignore", ReplicabilityWarning)
        runs = [attempt(_fit, task.estimator, sample, task.coins(pair)) for sample in samples]
        kind = "both_error" if len(failed) == 2 else "one_error"
        if not failed:
            integrated = attempt(_integrated, *runs) if task.integrate else None
            kind = attempt(_compare, task, *runs) or kind
            done = {"integrated": integrated, **_kept(runs, samples)}
    if failed:
        message = f"{type(failed[0]).__name__}: {failed[0]}".split("\n")[0][:200]
        done |= {"integrated": 1.0 if task.integrate else None, "error": message}
        kind = kind if kind in {"one_error", "both_error"} else "one_error"
    return Outcome(kind, seconds=time.perf_counter() - start, **done)


def _fit(estimator: Any, sample: Sample, coins: int) -> Any:
    if callable(getattr(estimator, "get_params", None)):
        from sklearn.base import clone

        fresh = clone(estimator)
        coined = [
            key
            for key in fresh.get_params(deep=True)
            if key == "random_state" or key.endswith("__random_state")
        ]
        fresh.set_params(**dict.fromkeys(coined, coins))
    else:
        fresh = copy.deepcopy(estimator)
        if hasattr(fresh, "random_state"):
            fresh.random_state = coins
    extra = {} if sample.weights is None else {"sample_weight": sample.weights}
    if sample.y is None:
        fresh.fit(sample.X, **extra)
    else:
        fresh.fit(sample.X, sample.y, **extra)
    return fresh


def _compare(task: Task, a: Any, b: Any) -> str:
    bottoms = [_is_bottom(estimator) for estimator in (a, b)]
    if all(bottoms):
        return "both_bottom"
    if any(bottoms):
        return "one_bottom"
    if not task.same(a, b):
        return "differ"
    return "both_empty" if _is_empty(a) and _is_empty(b) else "agree"


def _is_bottom(estimator: Any) -> bool:
    owner = owner_of(estimator, "is_bottom_")
    return owner is not None and bool(owner.is_bottom_)


def _is_empty(estimator: Any) -> bool:
    """Whether one of our estimators kept no direction at all: its answer is drawn from coins."""
    finding = _finding_of(estimator)
    return finding is not None and finding.subspace is not None and finding.subspace.dim == 0


def _finding_of(estimator: Any) -> Finding | None:
    """Return the finding of one of our estimators, alone or at the end of a pipeline."""
    owner = owner_of(estimator, "finding_")
    return None if owner is None else cast(Finding, owner.finding_)


def _kept(runs: list[Any], samples: tuple[Sample, Sample]) -> dict[str, float]:
    """How good the answers are on the other sample, where that can be said at all."""
    name, share = ("accuracy", _accuracy) if samples[0].y is not None else ("coverage", _coverage)
    try:
        shares = [share(run, other) for run, other in zip(runs, reversed(samples), strict=True)]
    except Exception:  # it cannot predict, or not these rows: there is nothing to measure
        return {}
    return {} if None in shares else {name: float(np.mean(np.array(shares, dtype=float)))}


def _coverage(run: Any, other: Sample) -> float | None:
    X = other.X
    if not hasattr(run, "measure"):  # a pipeline: its last step sees what the others make of X
        run, X = run[-1], run[:-1].transform(X)
    seen = run.measure(X, sample_weight=other.weights)
    return 1.0 - float(seen.share(seen.uncovered))


def _accuracy(run: Any, other: Sample) -> float | None:
    if _is_bottom(run):
        return 0.0
    if getattr(run, "_estimator_type", "classifier") != "classifier":
        return None
    try:
        right = np.asarray(run.predict(other.X)) == np.asarray(other.y)
    except BottomError:  # what is not predicted is not right
        return 0.0
    return float(np.average(right, weights=other.weights))


def _integrated(a: Any, b: Any) -> float:
    first, second = _finding_of(a), _finding_of(b)
    if first is None or second is None:
        raise TaskError(
            f"the threshold of {type(a).__name__} cannot be integrated out: it is not one of our "
            "flag-based estimators; use integrate=False"
        )
    return integrated_disagreement(first, second) if meaning(a) == meaning(b) else 1.0
