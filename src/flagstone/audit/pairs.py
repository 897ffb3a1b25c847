"""One pair of runs: two fresh samples, shared coins, one comparison."""

from __future__ import annotations

import copy
import re
import time
import warnings
from dataclasses import dataclass
from typing import Any

from flagstone.audit.integrate import integrated_disagreement
from flagstone.audit.same import TaskError
from flagstone.audit.sources import Sample
from flagstone.audit.stats import AuditStats
from flagstone.audit.task import Task
from flagstone.errors import ReplicabilityWarning

__all__ = ["Outcome", "run_pair"]

OUTCOMES = ("agree", "differ", "both_bottom", "one_bottom", "error")


@dataclass(frozen=True)
class Outcome:
    """What a pair came to.

    Attributes
    ----------
    kind : {"agree", "differ", "both_bottom", "one_bottom", "error"}
    integrated : float or None
        Probability over the threshold that the two answers differ.
    error : str or None
        Type and message of what was raised.
    seconds : float
    """

    kind: str
    integrated: float | None = None
    error: str | None = None
    seconds: float = 0.0

    def after(self, earlier: AuditStats, number: int) -> AuditStats:
        """Return the record of the pairs so far and this one, which has the given number."""
        z = self.integrated
        return earlier + AuditStats(
            earlier.strong_id,
            pairs=1,
            agreements=int(self.kind in {"agree", "both_bottom"}),
            both_bottom=int(self.kind == "both_bottom"),
            one_bottom=int(self.kind == "one_bottom"),
            errors=int(self.kind == "error"),
            integrated=None if z is None else (min(1.0, max(0.0, z)),),
            error_types=((_kind_of(self.error), 1),) if self.error else (),
            numbers=((number, number + 1),),
            seconds=self.seconds,
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
    try:
        with warnings.catch_warnings():
            # The audit *measures* what the warning is about; once per fit would be noise.
            warnings.simplefilter("ignore", ReplicabilityWarning)
            a, b = (_fit(task.estimator, sample, task.coins(pair)) for sample in samples)
            integrated = _integrated(a, b) if task.integrate else None
            kind = _compare(task, a, b)
    except Exception as problem:
        if on_error == "raise" or isinstance(problem, TaskError):
            raise
        message = f"{type(problem).__name__}: {problem}".split("\n")[0][:200]
        return Outcome("error", error=message, seconds=time.perf_counter() - start)
    return Outcome(kind, integrated, seconds=time.perf_counter() - start)


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
    bottoms = [bool(getattr(e, "is_bottom_", False)) for e in (a, b)]
    if all(bottoms):
        return "both_bottom"
    if any(bottoms):
        return "one_bottom"
    return "agree" if task.same(a, b) else "differ"


def _integrated(a: Any, b: Any) -> float:
    first, second = (getattr(estimator, "finding_", None) for estimator in (a, b))
    if first is None or second is None:
        raise TaskError(
            f"the threshold of {type(a).__name__} cannot be integrated out: it is not one of our "
            "flag-based estimators; use integrate=False"
        )
    return integrated_disagreement(first, second)
