"""One call from data, or a sampler, to a report."""

from __future__ import annotations

import os
from typing import Any

from flagstone.audit._collect import collect
from flagstone.audit._report import AuditReport, report
from flagstone.audit.same import Same
from flagstone.audit.sources import FromFunction, Source
from flagstone.audit.task import Task
from flagstone.distributions import Distribution
from flagstone.errors import InputError

__all__ = ["ESTIMATORS", "audit_sampler", "audit_table", "estimator_named"]

#: Estimators that can be asked for by name.
ESTIMATORS = {
    "parity": "ParityClassifier",
    "elimination": "EliminationClassifier",
    "span": "LinearSpan",
    "affine": "AffineSpan",
    "equations": "LinearEquations",
}


def estimator_named(name: str, **parameters: Any) -> Any:
    """Return one of our estimators by its short name."""
    if name not in ESTIMATORS:
        raise InputError(f"estimator must be one of {', '.join(ESTIMATORS)}, got {name!r}")
    import flagstone

    return getattr(flagstone, ESTIMATORS[name])(**parameters)


def _audit(
    estimator: Any,
    source: Any,
    m: int | None,
    *,
    parameters: dict[str, Any] | None,
    same: Any,
    grid: Any,
    claim: float | None,
    confidence: float,
    integrate: bool | None,
    seed: int | str,
    name: str | None = None,
    **rules: Any,
) -> AuditReport:
    learner = (
        estimator_named(estimator, **(parameters or {}))
        if isinstance(estimator, str)
        else estimator
    )
    notion = same if isinstance(same, Same) else Same(same, grid=grid)
    if integrate is None:
        # Ours are read off a flag; the window of elimination has one set, nothing to integrate.
        integrate = hasattr(type(learner), "result_") and notion.kind in {"auto", "fingerprint"}
    if name is not None:
        if isinstance(source, (Source, Distribution)):
            raise InputError(
                "name belongs to a sampler that is a function; this source has its own"
            )
        source, m = FromFunction(source, m or 0, name=name), None
    task = Task(learner, source, m=m, same=notion, integrate=integrate, seed=seed)
    [stats] = collect(tasks=task, confidence=confidence, **rules)
    return report(stats, task=task, claim=claim, confidence=confidence)


def audit_table(
    X: Any,
    y: Any = None,
    *,
    estimator: Any = "parity",
    parameters: dict[str, Any] | None = None,
    same: Any = "auto",
    grid: Any = None,
    claim: float | None = None,
    confidence: float = 0.95,
    max_pairs: int = 200,
    max_disagreements: int | None = None,
    max_width: float | None = None,
    integrate: bool | None = None,
    seed: int | str = 0,
    file: str | os.PathLike[str] | None = None,
    add: bool = False,
    n_jobs: int = 1,
    on_error: str = "count",
    progress: bool | None = None,
) -> AuditReport:
    """Audit an estimator on disjoint random halves of a table: indicative only.

    Parameters
    ----------
    X, y : the table, and its labels where the estimator wants them
    estimator : str or object
        A short name (see ``ESTIMATORS``) with ``parameters``, or any object with ``fit``.
    claim : float, optional
        A claimed ρ to be judged.
    same, grid : see :class:`~flagstone.audit.Same`
    integrate : bool, optional
        Default: wherever our estimators allow it.

    Other parameters are those of :func:`~flagstone.audit.collect`.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone.audit import audit_table
    >>> X = np.random.RandomState(1).randint(0, 2, (400, 5))
    >>> result = audit_table(X, X[:, 0] ^ X[:, 3], parameters={"t_max": 10}, max_pairs=10)
    >>> result.stats.replicability, result.indicative
    (1.0, True)
    """
    return _audit(
        estimator,
        (X, y),
        None,
        parameters=parameters,
        same=same,
        grid=grid,
        claim=claim,
        confidence=confidence,
        integrate=integrate,
        seed=seed,
        max_pairs=max_pairs,
        max_disagreements=max_disagreements,
        max_width=max_width,
        file=file,
        add=add,
        n_jobs=n_jobs,
        on_error=on_error,
        progress=progress,
    )


def audit_sampler(
    sampler: Any,
    m: int,
    *,
    name: str | None = None,
    estimator: Any = "parity",
    parameters: dict[str, Any] | None = None,
    same: Any = "auto",
    grid: Any = None,
    claim: float | None = None,
    confidence: float = 0.95,
    max_pairs: int = 200,
    max_disagreements: int | None = None,
    max_width: float | None = None,
    integrate: bool | None = None,
    seed: int | str = 0,
    file: str | os.PathLike[str] | None = None,
    add: bool = False,
    n_jobs: int = 1,
    on_error: str = "count",
    progress: bool | None = None,
) -> AuditReport:
    """Audit an estimator on fresh samples of ``m`` rows from a distribution or sampler.

    Parameters are those of :func:`audit_table`; ``sampler`` is a
    :class:`~flagstone.distributions.Distribution`, a :class:`~flagstone.audit.Source` or a
    function ``sampler(m, rng)``. ``name`` identifies such a function in a result ``file``: needed
    there for lambdas, closures, callable objects and functions without source.

    Examples
    --------
    >>> from flagstone.audit import audit_sampler
    >>> from flagstone.distributions import geometric
    >>> result = audit_sampler(geometric(8), 500, estimator="span", parameters={"t_max": 100},
    ...                        claim=0.5, max_pairs=60)
    >>> result.verdict.decision
    'supported'
    """
    return _audit(
        estimator,
        sampler,
        m,
        name=name,
        parameters=parameters,
        same=same,
        grid=grid,
        claim=claim,
        confidence=confidence,
        integrate=integrate,
        seed=seed,
        max_pairs=max_pairs,
        max_disagreements=max_disagreements,
        max_width=max_width,
        file=file,
        add=add,
        n_jobs=n_jobs,
        on_error=on_error,
        progress=progress,
    )
