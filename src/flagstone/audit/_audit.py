"""One call from data, or a sampler, to a report."""

from __future__ import annotations

from typing import Any

from flagstone import estimators
from flagstone.audit._collect import collect
from flagstone.audit._report import AuditReport, report
from flagstone.audit.same import Same
from flagstone.audit.sources import FromFunction, Source
from flagstone.audit.task import Task
from flagstone.distributions import Distribution
from flagstone.errors import InputError, Parameter
from flagstone.question import QUESTIONS

#: Estimators that can be asked for by name: one for each kind of question, and the baseline.
ESTIMATORS = {kind: question.estimator for kind, question in QUESTIONS.items()} | {
    "elimination": "EliminationClassifier"
}


def audit(
    estimator: Any,
    source: Any,
    m: int | None = None,
    *,
    parameters: dict[str, Any] | None = None,
    same: Any = "auto",
    grid: Any = None,
    claim: float | None = None,
    confidence: float = 0.95,
    integrate: bool | None = None,
    seed: int | str = 0,
    name: str | None = None,
    max_pairs: int = 200,
    **collecting: Any,
) -> AuditReport:
    """Measure how often two samples with the same coins give the same answer.

    Parameters
    ----------
    estimator : str or object
        A short name (see ``ESTIMATORS``) with ``parameters``, or any object with ``fit``.
    source : Distribution, sampler, Source, (X, y) or X
        Fresh samples of ``m`` rows from a distribution or a function ``sampler(m, rng)``; or
        disjoint random halves of a table, which is indicative only.
    m : int, optional
        Rows per sample, for distributions and samplers.
    same, grid : see :class:`~flagstone.audit.Same`
    claim : float, optional
        A claimed ρ to be judged.
    integrate : bool, optional
        Whether the threshold is integrated out exactly. Default: wherever our estimators allow it.
    name : str, optional
        Identifies a sampler in a result ``file``: needed there for lambdas, closures, callable
        objects and functions without source.
    max_pairs, **collecting
        As for :func:`~flagstone.audit.collect`: stop rules, ``file``, ``n_jobs``, ….

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone.audit import audit
    >>> from flagstone.distributions import geometric
    >>> found = audit("span", geometric(8), 500, parameters={"t_max": 100}, claim=0.5, max_pairs=60)
    >>> found.verdict.decision
    'supported'

    Halves of a table:

    >>> X = np.random.RandomState(1).randint(0, 2, (400, 5))
    >>> found = audit("parity", (X, X[:, 0] ^ X[:, 3]), parameters={"t_max": 10}, max_pairs=10)
    >>> found.stats.replicability, found.indicative
    (1.0, True)
    """
    if "y" in collecting:
        raise InputError("labels belong to the table: give (X, y) as the source")
    if isinstance(estimator, str):
        estimator = _named(estimator)(**(parameters or {}))
    notion = same if isinstance(same, Same) else Same(same, grid=grid)
    if integrate is None:
        # Ours are read off a flag; the window of elimination has one set, nothing to integrate.
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        integrate = hasattr(type(last), "finding_") and notion.kind in {"auto", "fingerprint"}
    if name is not None:
        if isinstance(source, (Source, Distribution)):
            raise InputError(
                "name belongs to a sampler that is a function; this source has its own"
            )
        source, m = FromFunction(source, m or 0, name=name), None
    task = Task(estimator, source, m=m, same=notion, integrate=integrate, seed=seed)
    [stats] = collect(tasks=task, confidence=confidence, max_pairs=max_pairs, **collecting)
    return report(stats, task=task, claim=claim, confidence=confidence)


def _named(name: str) -> Any:
    if name not in ESTIMATORS:
        known = ", ".join(ESTIMATORS)
        raise InputError(Parameter("estimator"), f" must be one of {known}, got {name!r}")
    return getattr(estimators, ESTIMATORS[name])
