"""What is audited: an estimator, a pipeline, or a function; and one run of it."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClusterMixin,
    DensityMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.utils.multiclass import type_of_target

from flagstone.audit.data import Array, Sample, check_call, identified, stacked
from flagstone.checks import owner_of
from flagstone.errors import BottomError, InputError
from flagstone.finding import Finding


class TaskError(InputError):
    """The question cannot be asked of this learner, on any pair: never counted, always raised."""


@dataclass(frozen=True)
class Trial:
    """One run of a learner: its output, and what it predicts for the held-out rows.

    ``predicted`` is None for outputs that predict nothing; an answer ⊥ predicts None for each row.
    """

    output: Any
    predicted: Array | None

    @property
    def finding(self) -> Finding | None:
        """The finding of one of our estimators, alone or at the end of a pipeline."""
        return getattr(owner_of(self.output, "finding_"), "finding_", None)

    @property
    def is_bottom(self) -> bool:
        """Whether the answer is ⊥."""
        return bool(getattr(owner_of(self.output, "is_bottom_"), "is_bottom_", False))

    @property
    def is_empty(self) -> bool:
        """Whether one of our estimators kept no direction: its answer is drawn from the coins."""
        found = self.finding
        return found is not None and found.subspace is not None and found.subspace.dim == 0


class Learner:
    """An object with ``fit``, or a function ``learn(X, y, seed)``, to be run many times."""

    def __init__(self, learner: Any, name: str | None = None) -> None:
        if isinstance(learner, type):
            raise InputError(f"give an instance, not the class: {learner.__name__}(...)")
        owner = getattr(learner, "__self__", None)
        if callable(getattr(owner, "fit", None)):  # all runs would return this one object
            raise InputError(f"give the {type(owner).__name__} itself, not {learner.__name__}")
        self.learner = learner
        self.is_function = not callable(getattr(learner, "fit", None))
        self.anonymous = False
        self._random_states: list[str] = []
        if self.is_function:
            self.takes_seed = _takes_seed(learner)
            self.identity, self.anonymous = identified(learner, name)
        elif callable(getattr(learner, "get_params", None)):
            self.learner = clone(learner)
            names = learner.get_params()
            self._random_states = [
                name
                for name in names
                if name.rpartition("__")[2] == "random_state" and not hasattr(self.learner, name)
            ]
            if hasattr(type(last_step(learner)), "finding_"):  # no audit reads certificates
                off = {name: False for name in names if name.rpartition("__")[2] == "certify"}
                self.learner.set_params(**off)
        steps = [type(step).__name__ for _, step in getattr(learner, "steps", [])]
        known = getattr(learner, "__name__", type(learner).__name__)
        self.name = name or " + ".join(steps) or str(known)

    def canonical(self) -> dict[str, str]:
        """Return plain data that identify the learner, the random states left out."""
        if self.is_function:
            return {"function": self.identity}
        try:
            return {"class": type(self.learner).__qualname__, "hash": joblib.hash(self._seeded(0))}
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(
                f"a result file could not tell this learner from another one ({error}): as "
                "parameters use functions of a module, not lambdas or closures"
            ) from error

    def run(self, sample: Sample, seed: int, held_out: Any, clusters: bool = False) -> Trial:
        """Learn from a sample with a seed, and predict the held-out rows."""
        if self.is_function:
            output = self.learner(sample.X, sample.y, *[seed][: self.takes_seed])
            return Trial(output, predictions(output, held_out))
        fresh = self._seeded(seed)
        if clusters and len(held_out) and not hasattr(fresh, "predict"):
            # It labels only the rows of its fit: they include the held-out ones.
            fresh.fit(stacked(sample.X, held_out))
            return Trial(fresh, np.asarray(fresh.labels_)[len(sample.X) :])
        # A clusterer does not see labels; they only serve to score it.
        labels = () if sample.y is None or is_clusterer(self.learner) else (sample.y,)
        fresh.fit(sample.X, *labels)
        return Trial(fresh, predictions(fresh, held_out))

    def _seeded(self, seed: int) -> Any:
        """Return a copy; every parameter ``random_state``, also of steps, is set to the seed."""
        fresh = copy.deepcopy(self.learner)  # of what is not fitted: a clone, in less time
        if self._random_states:
            fresh.set_params(**dict.fromkeys(self._random_states, seed))
        if hasattr(fresh, "random_state"):
            fresh.random_state = seed
        return fresh


def _takes_seed(function: Any) -> bool:
    """Say whether a function is called as learn(X, y, seed), or as learn(X, y)."""
    if not callable(function):
        raise InputError(
            "a learner is an object with a method fit, or a function learn(X, y, seed); got "
            f"{type(function).__name__}"
        )
    try:
        signature = inspect.signature(function)
        third = signature.parameters[list(signature.bind(None, None, 0).arguments)[-1]]
        # Another third parameter, such as a penalty with a default, is no place for a seed.
        if third.name in ("seed", "random_state") or third.default is third.empty:
            return True
    except ValueError:  # some callables of C have no signature
        return True
    except TypeError:
        pass
    check_call(function, "a function is called as learn(X, y, seed) or learn(X, y)", 2)
    return False


def kind_of(learner: Any, y: Any, predicted: Array | None = None) -> str:
    """Return "classifier", "regressor", "clusterer", "span" (ours, no labels) or "other".

    What is no estimator is judged by labels and predictions.
    """
    if is_clusterer(learner):
        return "clusterer"
    if isinstance(learner, BaseEstimator):
        if is_classifier(learner) or is_regressor(learner):
            return "classifier" if is_classifier(learner) else "regressor"
        return "span" if hasattr(type(last_step(learner)), "finding_") and y is None else "other"
    if y is None:
        return "other"
    if predicted is not None and predicted.dtype.kind == "f" and (predicted % 1).any():
        return "regressor"
    targets = {"binary": "classifier", "multiclass": "classifier", "continuous": "regressor"}
    return targets.get(type_of_target(y), "other")


def is_clusterer(learner: Any) -> bool:
    """Say whether predictions are names of clusters, or of the components of a mixture."""
    last = last_step(learner)
    return isinstance(last, ClusterMixin) or (
        isinstance(last, DensityMixin) and hasattr(last, "predict")
    )


def last_step(learner: Any) -> Any:
    """Return the last step of a pipeline, or the learner itself."""
    return learner.steps[-1][1] if hasattr(learner, "steps") else learner


def predictions(output: Any, rows: Any) -> Array | None:
    """Return what an output predicts for rows; None if it predicts nothing at all."""
    predict = getattr(output, "predict", output)
    if not callable(predict) or not len(rows):
        return None
    try:
        return np.asarray(predict(rows))
    except BottomError:
        return np.full(len(rows), None)
