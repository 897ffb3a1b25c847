"""How alike two outputs are: the notions of "same output", and all that is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from flagstone.audit._learners import TaskError, Trial
from flagstone.audit.data import Array, identified
from flagstone.audit.integrate import integrated_disagreement
from flagstone.checks import owner_of
from flagstone.errors import InputError

#: What "the same output" can mean, and what a table says of it.
NOTIONS = {
    "fingerprint": "fingerprint",
    "coef": "coef_ and intercept_",
    "features": "selected features",
    "predictions": "all held-out predictions",
    "partition": "clusters of held-out rows, by any name",
    "output": "compared by ==",
}


class MeasureKind(NamedTuple):
    """A number for each pair of runs, at most 1, and how a table calls and explains it.

    ``low`` is its least possible value, ``failed`` that of a pair with a failed run.
    """

    label: str
    meaning: str
    low: float = 0.0
    failed: float = 0.0


#: Measures of every comparison, in the order of the table; what stands in braces is filled in.
GENERAL = {
    "exact": MeasureKind("exact", "the same output ({notion})"),
    "pointwise": MeasureKind(
        "pointwise", "the same prediction{close} for a fixed input, mean over {inputs} inputs"
    ),
    "worst": MeasureKind("pointwise, worst", "the same for the worst of these inputs"),
    "approximate": MeasureKind(
        "approximate", "share of held-out rows with the same prediction{close}"
    ),
}
#: Measures that a comparison may ask for by name.
SIMILARITIES = {
    "churn": MeasureKind("churn", "share of held-out rows with another prediction", failed=1.0),
    "jaccard": MeasureKind("Jaccard index", "features that both select, among all selected"),
    "adjusted_rand": MeasureKind(
        "adjusted Rand index", "of two clusterings of held-out rows; 0 is chance", low=-0.5
    ),
    "coef_distance": MeasureKind(
        "coef. distance", "‖a − b‖ / (‖a‖ + ‖b‖) of coefficients; 0 is equal", failed=1.0
    ),
    "equations": MeasureKind(
        "shared equations", "independent equations that both answers have, of those of either"
    ),
}

#: What ``compare`` may be, other than a function.
COMPARISONS = ("auto", "fingerprint", "coef", "predictions", *SIMILARITIES)
#: What the score is, by the kind of a learner.
SCORES = {
    "classifier": "accuracy",
    "regressor": "R²",
    "clusterer": "adjusted Rand index to y",
    "span": "coverage",
}
#: For regressors: predictions agree if they differ by at most this many standard deviations of y.
_CLOSE = 0.1


@dataclass(frozen=True)
class Pair:
    """What one pair of runs came to.

    Attributes
    ----------
    pair : int
        Its number, from 0 on.
    outcome : str
        "agree", "differ"; "both_bottom", "one_bottom" (⊥); "both_empty": the same answer, from the
        coins alone, since no direction was kept; "one_error", "both_error".
    exact : float
        1 if the two outputs are the same, else 0. For our rules with integrated thresholds, the
        probability over the threshold that they are.
    approximate : float or None
        Share of this pair's held-out rows on which the outputs agree.
    inputs : str or None
        For each fixed input a bit (in hexadecimal digits): do the outputs agree on it?
    similarities : dict
        Further values by name, such as ``"adjusted_rand"``.
    score : float or None
        Accuracy, R² or another score on held-out rows, the mean of the two runs.
    seconds : float
    error : str or None
        Type and message of what was raised first.
    """

    pair: int
    outcome: str
    exact: float
    approximate: float | None = None
    inputs: str | None = None
    similarities: Mapping[str, float] = field(default_factory=dict)
    score: float | None = None
    seconds: float = field(default=0.0, compare=False)
    error: str | None = None

    def agreeing(self, n_inputs: int) -> Array:
        """Return for each fixed input whether the outputs agree; failed runs agree on none."""
        if self.inputs is None:
            return np.zeros(n_inputs, dtype=np.uint8)
        packed = np.frombuffer(bytes.fromhex(self.inputs), dtype=np.uint8)
        return np.unpackbits(packed, count=n_inputs)

    def values(self, n_inputs: int) -> Iterator[tuple[str, float]]:
        """Yield the measures of the pair, those that its outputs have, with their values."""
        yield "exact", self.exact
        if n_inputs and self.inputs is not None:
            yield "pointwise", float(self.agreeing(n_inputs).mean())
        if self.approximate is not None:
            yield "approximate", self.approximate
        yield from self.similarities.items()


class PairComparison:
    """How two runs become the record of a pair, with the options of an audit.

    ``integrate`` says that outputs are findings of our rules, whose threshold is integrated out.
    The first ``n_fixed`` held-out rows are the fixed inputs.
    """

    def __init__(
        self,
        compare: str | Callable[[Any, Any], Any] = "auto",
        *,
        tolerance: float | None = None,
        integrate: bool = False,
        name: str | None = None,
        n_fixed: int = 0,
    ) -> None:
        if not callable(compare) and compare not in COMPARISONS:
            raise InputError(
                f"compare must be a function or one of {', '.join(COMPARISONS)}, got {compare!r}"
            )
        if tolerance is not None and not 0 <= tolerance < np.inf:
            raise InputError(f"tolerance must be a number of at least 0, got {tolerance}")
        self.function = None if isinstance(compare, str) else compare
        self.named = compare if isinstance(compare, str) else "function"
        self.identity, self.anonymous = self.named, False
        if self.function is not None:
            self.identity, self.anonymous = identified(self.function, name)
        label = self.identity.partition("#")[0].rpartition(".")[2]
        self.label = "your function" if label == "<lambda>" else label
        self.integrate, self.n_fixed = integrate, n_fixed
        self.given_tolerance = None if tolerance is None else float(tolerance)
        self.kind = self.notion = ""
        self.tolerance = self.given_tolerance or 0.0
        self.similarities: tuple[str, ...] = ()

    @property
    def clusters(self) -> bool:
        """Whether predictions are names of clusters, which mean nothing by themselves."""
        return self.kind == "clusterer" or self.named == "adjusted_rand"

    def fit(self, kind: str, y: Any = None, first: Trial | None = None) -> None:
        """Choose what fits the kind of a learner, and outputs like the first one."""
        self.kind = kind
        if self.given_tolerance is None:
            near = kind == "regressor" and y is not None
            self.tolerance = _CLOSE * float(np.std(y)) if near else 0.0
        if first is not None:
            self.notion = self._notion(first)
        if self.named in SIMILARITIES:
            self.similarities = (self.named,)
        elif self.named == "auto" and first is not None and self.notion != "fingerprint":
            features, coef = _selected(first.output), _coefficients(first.output)
            chosen = _selector(first.output) is not None  # then coefficients are of other columns
            sparse = features is not None and (chosen or coef is None or not coef.all())
            found = {"adjusted_rand": self.clusters, "jaccard": sparse and not self.clusters}
            found["coef_distance"] = coef is not None and not (self.clusters or chosen)
            self.similarities = tuple(name for name, fits in found.items() if fits)
        elif self.named == "auto" and self.kind == "span":
            self.similarities = ("equations",)

    def _notion(self, run: Trial) -> str:
        if self.named in ("fingerprint", "coef", "predictions"):
            by_cluster = self.clusters and self.named == "predictions"
            return "partition" if by_cluster else self.named
        if owner_of(run.output, "fingerprint_") is not None:
            return "fingerprint"
        if self.clusters and run.predicted is not None:
            return "partition"
        if owner_of(run.output, "coef_") is not None:
            return "coef"
        if run.predicted is not None:
            return "predictions"
        plain = isinstance(run.output, (set, frozenset)) or _selected(run.output) is None
        return "output" if plain else "features"

    def pair(self, a: Trial, b: Trial, y: Any = None, number: int = 0) -> Pair:
        """Return the record of two runs."""
        agree = self._agreement(a, b)
        fresh = None if agree is None else agree[self.n_fixed :]
        fresh = agree if fresh is None or not len(fresh) else fresh
        values = {name: similarity(name, a, b, fresh) for name in self.similarities}
        same = self._same(a, b, agree, values)
        bottoms = [a.is_bottom, b.is_bottom]
        outcome = "agree" if same else "differ"
        if any(bottoms):
            outcome = "both_bottom" if all(bottoms) else "one_bottom"
        elif same and a.is_empty and b.is_empty:
            outcome = "both_empty"
        scores = [score(self.kind, run.predicted, y) for run in (a, b)]
        known = [value for value in scores if value is not None]
        exact = float(outcome not in ("differ", "one_bottom"))
        if self.integrate and a.finding is not None and b.finding is not None:
            alike = _columns(a.output) == _columns(b.output)
            exact = 1.0 - integrated_disagreement(a.finding, b.finding) if alike else 0.0
        approximate = inputs = None
        if agree is not None and fresh is not None and len(fresh):
            approximate = float(fresh.mean())
            inputs = np.packbits(agree[: self.n_fixed]).tobytes().hex()
        mean = float(np.mean(known)) if len(known) == 2 else None
        return Pair(number, outcome, exact, approximate, inputs, values, mean)

    def _same(self, a: Trial, b: Trial, agree: Array | None, values: dict[str, float]) -> bool:
        """Say whether two outputs are the same; a function may add a value of its own."""
        if self.function is not None:
            value = self.function(a.output, b.output)
            if isinstance(value, (bool, np.bool_)):
                return bool(value)
            is_number = isinstance(value, (int, float, np.integer, np.floating))
            if not (is_number and 0.0 <= value <= 1.0):
                raise TaskError(
                    "compare=function must return a truth value or a number in [0, 1], "
                    f"got {value!r}"
                )
            values[self.label] = float(value)
        notion = self._notion(a)
        if notion == "output":
            return _equal(a.output, b.output)
        if notion == "features":
            return bool(_selected(a.output) == _selected(b.output))
        if notion in ("predictions", "partition"):
            if agree is None:
                raise TaskError(
                    f"{type(a.output).__name__} predicts nothing; choose another compare"
                )
            return bool(agree.all())
        if _columns(a.output) != _columns(b.output):
            return False
        names = ("fingerprint_",) if notion == "fingerprint" else ("coef_", "intercept_")
        first, second = (owner_of(run.output, names[0]) for run in (a, b))
        if first is None or second is None:
            raise TaskError(
                f"{type(a.output).__name__} has no {names[0]}; compare predictions, or give your "
                "own function"
            )
        return all(np.array_equal(getattr(first, n, 0), getattr(second, n, 0)) for n in names)

    def _agreement(self, a: Trial, b: Trial) -> Array | None:
        """Say of each held-out row whether two outputs agree on it; None without predictions."""
        first, second = a.predicted, b.predicted
        if first is None or second is None:
            return None
        if first.shape != second.shape:
            return np.zeros(len(first), dtype=bool)
        if self.clusters:
            return _matched(first, second)
        close = self.tolerance
        same = abs(first - second) <= close if close > 0 else first == second
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
        return 1.0 - float(agree.mean()) if name == "churn" else _rand(a.predicted, b.predicted)
    if name == "equations":
        return _shared_equations(a, b)
    read = _selected if name == "jaccard" else _coefficients
    first, second = (read(run.output) for run in (a, b))
    if first is None or second is None:
        needed = {"jaccard": "selected features (get_support, coef_ or a set)"}
        raise TaskError(f"compare={name!r} needs {needed.get(name, 'coefficients (coef_)')}")
    if name == "jaccard":
        return len(first & second) / len(first | second) if first | second else 1.0
    if first.shape != second.shape or _columns(a.output) != _columns(b.output):
        return 1.0
    size = float(np.linalg.norm(first) + np.linalg.norm(second))
    return float(np.linalg.norm(first - second)) / size if size else 0.0


def _rand(first: Any, second: Any) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(first, second))


def _shared_equations(a: Trial, b: Trial) -> float:
    """Return how many equations hold on both V*, of those that hold on one of them."""
    V, W = (None if run.finding is None else run.finding.subspace for run in (a, b))
    if V is None or W is None:
        raise TaskError("compare='equations' needs answers of flagstone's estimators")
    if V.ambient_dim != W.ambient_dim:
        return 0.0
    either = V.ambient_dim - (V & W).dim
    return (V.ambient_dim - (V + W).dim) / either if either else 1.0


def score(kind: str, predicted: Array | None, y: Any) -> float | None:
    """Return accuracy, R², adjusted Rand index or coverage, as it fits the learner."""
    if predicted is None or not len(predicted):
        return None
    if kind == "span":
        return float(np.mean(predicted == 1))
    if y is None or kind == "other":
        return None
    if kind == "clusterer":
        return _rand(y, predicted)
    if kind == "classifier":
        return float(np.mean(predicted == np.asarray(y)))
    rest = np.asarray(y, dtype=float)
    total = float(((rest - rest.mean()) ** 2).sum())
    if predicted.shape != rest.shape or total == 0.0:
        return None
    return 1.0 - float(((rest - predicted) ** 2).sum()) / total


def _coefficients(output: Any) -> Array | None:
    """Return the coefficients of an estimator, or an output that is an array of floats."""
    owner = owner_of(output, "coef_")
    if owner is None:
        floats = isinstance(output, np.ndarray) and output.dtype.kind == "f"
        return output.ravel() if floats else None
    return np.concatenate([np.ravel(owner.coef_), np.ravel(getattr(owner, "intercept_", []))])


def _selected(output: Any) -> Any:
    """Return the set of selected features; None where nothing is selected."""
    if isinstance(output, (set, frozenset)):
        return output
    selector = _selector(output)
    if selector is not None:
        return frozenset(np.flatnonzero(selector.get_support()).tolist())
    owner = owner_of(output, "coef_")
    if owner is None:
        return None
    used = np.atleast_2d(np.asarray(owner.coef_)).any(axis=0)
    return frozenset(np.flatnonzero(used).tolist())


def _selector(output: Any) -> Any:
    """Return what selects features: an estimator, or the first such step of a pipeline."""
    steps = [step for _, step in getattr(output, "steps", [])] or [output]
    return next((step for step in steps if callable(getattr(step, "get_support", None))), None)


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
            f"a {type(a).__name__} predicts nothing and cannot be compared by ==; say what is the "
            "same with compare=function(a, b)"
        )
    return bool(a == b)


def _columns(estimator: Any) -> list[Any]:
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
