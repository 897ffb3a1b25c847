"""How alike two outputs are: the notions of "same output", and the similarities in practice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.audit._learners import TaskError, Trial
from flagstone.audit.data import Array, identified
from flagstone.checks import owner_of
from flagstone.errors import InputError

#: What "the same output" can mean, and what a table says of it.
NOTIONS = {
    "fingerprint": "fingerprint",
    "coef": "coef_ and intercept_",
    "predictions": "all held-out predictions",
    "partition": "clusters of held-out rows, by any name",
    "output": "compared by ==",
}


@dataclass(frozen=True)
class Similarity:
    """A number for each pair; its range is that of values which are possible at all."""

    label: str
    meaning: str
    low: float = 0.0
    #: The value of a pair in which a run failed.
    failed: float = 0.0


SIMILARITIES = {
    "churn": Similarity("churn", "share of held-out rows with another prediction", failed=1.0),
    "jaccard": Similarity("Jaccard index", "features that both select, among all selected"),
    "adjusted_rand": Similarity(
        "adjusted Rand index", "of two clusterings of held-out rows; 0 is chance", low=-0.5
    ),
    "coef_distance": Similarity(
        "coef. distance", "‖a − b‖ / (‖a‖ + ‖b‖) of coefficients; 0 is equal", failed=1.0
    ),
}

_NAMES = ("auto", "fingerprint", "coef", "predictions", *SIMILARITIES)


class Compare:
    """What is compared in each pair, by name or by a function of two outputs.

    A function returns a truth value, which then says what "same output" means, or a number in
    [0, 1], which gets a line of its own.
    """

    def __init__(self, compare: str | Callable[[Any, Any], Any], name: str | None = None) -> None:
        if isinstance(compare, str) and compare not in _NAMES:
            raise InputError(
                f"compare must be a function or one of {', '.join(_NAMES)}, got {compare!r}"
            )
        if not isinstance(compare, str) and not callable(compare):
            raise InputError(f"compare must be a name or a function, got {compare!r}")
        self.function = None if isinstance(compare, str) else compare
        self.kind = compare if isinstance(compare, str) else "function"
        self.identity, self.anonymous = (
            (compare, False) if isinstance(compare, str) else identified(compare, name)
        )
        self.label = self.identity.partition("#")[0].rpartition(".")[2]

    def notion(self, run: Trial, clusters: bool) -> str:
        """Return what "same output" means for outputs like this one."""
        if self.kind in NOTIONS:
            return "partition" if clusters and self.kind == "predictions" else self.kind
        if owner_of(run.output, "fingerprint_") is not None:
            return "fingerprint"
        if clusters and run.predicted is not None:
            return "partition"
        if owner_of(run.output, "coef_") is not None:
            return "coef"
        return "predictions" if run.predicted is not None else "output"

    def similarities(self, run: Trial | None, clusters: bool) -> tuple[str, ...]:
        """Return the names of the similarities that have a line of their own."""
        if self.kind in SIMILARITIES:
            return (self.kind,)
        if self.kind != "auto" or run is None or owner_of(run.output, "fingerprint_") is not None:
            return ()
        if clusters:
            return ("adjusted_rand",)
        features, coef = _selected(run.output), _coefficients(run.output)
        sparse = features is not None and (coef is None or not coef.all())
        return ("jaccard",) * sparse + ("coef_distance",) * (coef is not None)


def same_output(notion: str, a: Trial, b: Trial, agree: Array | None) -> bool:
    """Say whether two outputs are the same; ``agree`` says of each held-out row if it is."""
    if notion == "output":
        return _equal(a.output, b.output)
    if notion in ("predictions", "partition"):
        if agree is None:
            raise TaskError(f"{type(a.output).__name__} predicts nothing; choose another compare")
        return bool(agree.all())
    if meaning(a.output) != meaning(b.output):
        return False
    if notion == "fingerprint":
        first, second = (_owner(run.output, "fingerprint_") for run in (a, b))
        return bool(first.fingerprint_ == second.fingerprint_)
    first, second = (_owner(run.output, "coef_") for run in (a, b))
    return np.array_equal(first.coef_, second.coef_) and np.array_equal(
        getattr(first, "intercept_", 0), getattr(second, "intercept_", 0)
    )


def agreement(a: Trial, b: Trial, clusters: bool, tolerance: float) -> Array | None:
    """Say of each held-out row whether two outputs agree on it; None if they predict nothing."""
    first, second = a.predicted, b.predicted
    if first is None or second is None:
        return None
    if first.shape != second.shape:
        return np.zeros(len(first), dtype=bool)
    if clusters:
        return _matched(first, second)
    same = abs(first - second) <= tolerance if tolerance > 0 else first == second
    return np.asarray(np.reshape(same, (len(first), -1)).all(axis=1))


def _matched(first: Array, second: Array) -> Array:
    """Compare two clusterings after renaming: clusters are paired so that most rows agree."""
    from scipy.optimize import linear_sum_assignment

    names, i = np.unique(first, return_inverse=True)
    others, j = np.unique(second, return_inverse=True)
    common = np.zeros((len(names), len(others)), dtype=int)
    np.add.at(common, (i, j), 1)
    rows, columns = linear_sum_assignment(-common)
    partner = np.full(len(others), -1)
    partner[columns] = rows
    return np.asarray(partner[j] == i)


def similarity(name: str, a: Trial, b: Trial, agree: Array | None) -> float:
    """Return the value of one of :data:`SIMILARITIES` for two outputs."""
    if name in ("churn", "adjusted_rand"):
        if agree is None or a.predicted is None or b.predicted is None:
            raise TaskError(f"compare={name!r} needs predictions, and these outputs have none")
        if name == "churn":
            return 1.0 - float(agree.mean())
        from sklearn.metrics import adjusted_rand_score

        return float(adjusted_rand_score(a.predicted, b.predicted))
    read = _selected if name == "jaccard" else _coefficients
    first, second = (read(run.output) for run in (a, b))
    if first is None or second is None:
        needed = {"jaccard": "selected features (get_support, coef_ or a set)"}
        raise TaskError(f"compare={name!r} needs {needed.get(name, 'coefficients (coef_)')}")
    if name == "jaccard":
        return len(first & second) / len(first | second) if first | second else 1.0
    if first.shape != second.shape:
        return 1.0
    size = float(np.linalg.norm(first) + np.linalg.norm(second))
    return float(np.linalg.norm(first - second)) / size if size else 0.0


def _coefficients(output: Any) -> Array | None:
    """Return the coefficients of an estimator, or an output that is an array of floats."""
    owner = owner_of(output, "coef_")
    if owner is None and not (isinstance(output, np.ndarray) and output.dtype.kind == "f"):
        return None
    coef = np.asarray(output if owner is None else owner.coef_)
    if owner is None or not hasattr(owner, "intercept_"):
        return coef.ravel()
    return np.concatenate([coef.ravel(), np.ravel(owner.intercept_)])


def _selected(output: Any) -> Any:
    """Return the set of selected features; None where nothing is selected."""
    if isinstance(output, (set, frozenset)):
        return output
    for step in [step for _, step in getattr(output, "steps", [])] or [output]:
        if callable(getattr(step, "get_support", None)):
            return frozenset(np.flatnonzero(step.get_support()).tolist())
    owner = owner_of(output, "coef_")
    if owner is None:
        return None
    used = np.atleast_2d(np.asarray(owner.coef_)).any(axis=0)
    return frozenset(np.flatnonzero(used).tolist())


def _equal(a: Any, b: Any) -> bool:
    """Compare two outputs by ``==``; arrays, and what is made of them, as a whole."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if "__eq__" not in {name for kind in type(a).__mro__[:-1] for name in vars(kind)}:
        raise TaskError(
            f"outputs of type {type(a).__name__} have no ==; give compare=function(a, b)"
        )
    return bool(a == b)


def meaning(estimator: Any) -> list[Any]:
    """Return what the columns mean that the last step of a pipeline sees."""
    pipeline = owner_of(estimator, "steps")
    if pipeline is None or len(pipeline.steps) < 2:
        return []
    before = [step for _, step in pipeline.steps[:-1]]
    try:
        names = [str(name) for name in pipeline[:-1].get_feature_names_out()]
    except (AttributeError, ValueError):  # some steps have no names to hand on
        names = []
    return [names, *(getattr(step, "encoders_", None) for step in before)]


def _owner(estimator: Any, attribute: str) -> Any:
    owner = owner_of(estimator, attribute)
    if owner is None:
        raise TaskError(
            f"{type(estimator).__name__} has no {attribute}; compare predictions, or give your "
            "own function"
        )
    return owner
