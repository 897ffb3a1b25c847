"""Pairs of runs: two samples, a shared seed, one comparison; as many as the stop rules ask for."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from flagstone.audit._compare import Compare, agreement, meaning, same_output, similarity
from flagstone.audit._learners import Learner, TaskError, Trial, kind_of, last_step
from flagstone.audit.data import Array, Data, DividedTable, Sample, random_stream, stacked
from flagstone.audit.integrate import integrated_disagreement
from flagstone.errors import InputError, ReplicabilityWarning
from flagstone.processes import held_signals, in_processes
from flagstone.progress import Update

OUTCOMES = (
    "agree", "differ", "both_bottom", "one_bottom", "both_empty", "one_error", "both_error"
)  # fmt: skip

#: Pairs that several processes compute between two looks at the stop rules.
_BATCH = 32
#: For regressors: predictions agree if they differ by at most so many standard deviations of y.
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


@dataclass(frozen=True)
class PairComparison:
    """How two runs become the record of a pair.

    The first ``n_fixed`` held-out rows are the fixed inputs; the share of rows on which outputs
    agree is that of the rows from number ``fresh`` on.
    """

    compare: Compare
    kind: str
    tolerance: float = 0.0
    integrate: bool = False
    n_fixed: int = 0
    fresh: int = 0
    similarities: tuple[str, ...] = ()

    @property
    def clusters(self) -> bool:
        """Whether predictions are clusters, whose names do not matter."""
        return self.kind == "clusterer" or self.compare.kind == "adjusted_rand"

    def fitting(self, first: Trial | None) -> PairComparison:
        """Return the comparison with the similarities that fit outputs like the first one."""
        return replace(self, similarities=self.compare.similarities(first, self.clusters))

    def pair(self, a: Trial, b: Trial, y: Any = None) -> dict[str, Any]:
        """Return the fields of the record of two runs."""
        agree = agreement(a, b, self.clusters, self.tolerance)
        values = {name: similarity(name, a, b, agree) for name in self.similarities}
        same = self._same(a, b, agree, values)
        bottoms = [bool(a.is_bottom), bool(b.is_bottom)]
        outcome = "agree" if same else "differ"
        if any(bottoms):
            outcome = "both_bottom" if all(bottoms) else "one_bottom"
        elif same and a.is_empty and b.is_empty:
            outcome = "both_empty"
        exact = float(outcome not in ("differ", "one_bottom"))
        found: dict[str, Any] = {
            "outcome": outcome,
            "exact": 1.0 - _integrated(a, b) if self.integrate else exact,
            "similarities": values,
            "score": _score(self.kind, [a, b], y),
        }
        if agree is not None and len(agree):
            fresh = agree[self.fresh :]
            found["approximate"] = float(fresh.mean()) if len(fresh) else None
            found["inputs"] = np.packbits(agree[: self.n_fixed]).tobytes().hex()
        return found

    def _same(self, a: Trial, b: Trial, agree: Array | None, values: dict[str, float]) -> bool:
        """Say whether two outputs are the same; a function may add a value of its own."""
        if self.compare.function is not None:
            value = self.compare.function(a.output, b.output)
            if isinstance(value, (bool, np.bool_)):
                return bool(value)
            if not 0.0 <= float(value) <= 1.0:
                raise TaskError(
                    "compare=function must return a truth value or a number in [0, 1], "
                    f"got {value!r}"
                )
            values[self.compare.label] = float(value)
        return same_output(self.compare.notion(a, self.clusters), a, b, agree)


def checked_tolerance(tolerance: float | None, kind: str, y: Any) -> float:
    """Return the given tolerance; for regressors by default a tenth of the deviation of y."""
    if tolerance is None:
        return _CLOSE * float(np.std(y)) if kind == "regressor" and y is not None else 0.0
    if not 0 <= tolerance < np.inf:
        raise InputError(f"tolerance must be a number of at least 0, got {tolerance}")
    return float(tolerance)


class Task:
    """A learner, data and a comparison: everything that decides what pair number i comes to.

    Samples are a function of the data and the seed alone, so that different learners see the same.
    """

    def __init__(
        self,
        learner: Learner,
        data: Data,
        compare: Compare,
        *,
        integrate: bool | None = None,
        tolerance: float | None = None,
        seed: int | str = 0,
    ) -> None:
        self.learner, self.data, self.seed = learner, data, str(seed)
        self._stream_id = strong_id_of({"data": data.canonical(), "seed": self.seed})
        self.fixed = data.hold_out(self.stream("inputs"))
        y = data.y if isinstance(data, DividedTable) else self.fixed.y
        kind, n_fixed = kind_of(learner.learner, y), len(self.fixed.X)
        by_answer = compare.kind in ("auto", "fingerprint")
        ours = by_answer and hasattr(type(last_step(learner.learner)), "finding_")
        if integrate and not ours:
            raise InputError(
                "integrate=True compares the answers of our estimators for all thresholds, by "
                "their fingerprints; use integrate=False"
            )
        self.comparison = PairComparison(
            compare,
            kind,
            checked_tolerance(tolerance, kind, y),
            ours if integrate is None else bool(integrate),
            n_fixed,
            n_fixed,
        )

    def canonical(self) -> dict[str, Any]:
        """Return plain data that identify the task."""
        return {
            "format": 2,
            "learner": self.learner.canonical(),
            "data": self.data.canonical(),
            "compare": self.comparison.compare.identity,
            "tolerance": self.comparison.tolerance.hex(),
            "integrate": self.comparison.integrate,
            "seed": self.seed,
        }

    @cached_property
    def strong_id(self) -> str:
        """SHA-256 of the canonical task, under which pairs are filed."""
        return strong_id_of(self.canonical())

    def stream(self, purpose: int | str) -> np.random.RandomState:
        """Return the random stream of a pair, or of another purpose."""
        return random_stream(f"{self._stream_id}/{purpose}")

    def coins(self, pair: int) -> int:
        """Return the seed that the two runs of a pair share."""
        digest = hashlib.sha256(f"{self._stream_id}/{pair}/coins".encode()).digest()
        return int.from_bytes(digest[:4], "big") >> 1

    def samples(self, pair: int) -> tuple[Sample, Sample, Sample]:
        """Return the two samples of a pair, and all its held-out rows, the fixed inputs first."""
        first, second, fresh = self.data.pair(self.stream(pair))
        y = None if fresh.y is None else np.concatenate([self.fixed.y, fresh.y])
        return first, second, Sample(stacked(self.fixed.X, fresh.X), y)

    def _learn(self, sample: Sample, pair: int, held_out: Sample) -> Trial:
        with warnings.catch_warnings():
            # The audit *measures* what the warning is about; once per fit would be noise.
            warnings.simplefilter("ignore", ReplicabilityWarning)
            return self.learner.run(sample, self.coins(pair), held_out.X, self.comparison.clusters)

    def repeat(self) -> tuple[Trial | None, bool | None]:
        """Run the learner twice on one sample with one seed; return a run, and if both agree."""
        sample, _, held_out = self.samples(0)
        first = None
        try:
            first, second = (self._learn(sample, 0, held_out) for _ in range(2))
            self.comparison = self.comparison.fitting(first)
            outcome = self.comparison.pair(first, second)["outcome"]
        except TaskError:
            raise
        except Exception:  # the pairs will show it
            self.comparison = self.comparison.fitting(first)
            return None, None
        return first, outcome not in ("differ", "one_bottom")

    def run(self, pair: int, on_error: str = "count") -> Pair:
        """Run pair number ``pair``; what a learner raises is counted, or passed on ("raise")."""
        start = time.perf_counter()
        *samples, held_out = self.samples(pair)
        failed: list[Exception] = []

        def attempt(step: Callable[..., Any], *inputs: Any) -> Any:
            try:
                return step(*inputs)
            except Exception as problem:
                if on_error == "raise" or isinstance(problem, TaskError):
                    raise
                failed.append(problem)

        runs = [attempt(self._learn, sample, pair, held_out) for sample in samples]
        outcome = "both_error" if len(failed) == 2 else "one_error"
        found: Any = None if failed else attempt(self.comparison.pair, *runs, held_out.y)
        if failed:
            message = f"{type(failed[0]).__name__}: {failed[0]}".split("\n")[0][:200]
            found = {"outcome": outcome, "exact": 0.0, "error": message}
        return Pair(pair, seconds=time.perf_counter() - start, **found)


def _integrated(a: Trial, b: Trial) -> float:
    """Return the probability over the threshold that two of our answers differ."""
    first, second = a.finding, b.finding
    assert first is not None
    assert second is not None
    if meaning(a.output) != meaning(b.output):
        return 1.0
    return min(1.0, max(0.0, integrated_disagreement(first, second)))


def _score(kind: str, runs: list[Trial], y: Any) -> float | None:
    """Return the mean score of runs on held-out rows; None where there is none that fits."""
    scores = [None if run.predicted is None else score(kind, run.predicted, y) for run in runs]
    known = [value for value in scores if value is not None]
    return float(np.mean(known)) if len(known) == len(runs) else None


def score(kind: str, predicted: Array, y: Any) -> float | None:
    """Return accuracy, R², adjusted Rand index or coverage, as it fits the learner."""
    if kind == "span":
        return float(np.mean(predicted == 1)) if len(predicted) else None
    if y is None or not len(predicted) or kind == "other":
        return None
    if kind == "clusterer":
        from sklearn.metrics import adjusted_rand_score

        return float(adjusted_rand_score(y, predicted))
    if kind == "classifier":
        return float(np.mean(predicted == np.asarray(y)))
    rest = np.asarray(y, dtype=float)
    total = float(((rest - rest.mean()) ** 2).sum())
    if predicted.shape != rest.shape or total == 0.0:
        return None
    return 1.0 - float(((rest - predicted) ** 2).sum()) / total


def strong_id_of(canonical: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain data."""
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def collect(
    task: Task,
    known: Mapping[int, Pair],
    keep: Callable[[list[Pair]], None],
    enough: Callable[[list[Pair]], bool],
    *,
    pairs: int,
    n_jobs: int,
    on_error: str,
    show: Update,
) -> list[Pair]:
    """Return pairs 0, 1, … until there are enough: those known, then those that are run and kept.

    The result does not depend on ``n_jobs``: pairs count in order, and surplus ones of a batch are
    kept in the file but not counted.
    """
    done: list[Pair] = []
    while len(done) in known and len(done) < pairs and not enough(done):
        done.append(known[len(done)])
    while len(done) < pairs and not enough(done):
        batch = range(len(done), min(len(done) + _BATCH, pairs))
        fresh: list[Pair] = []
        # An interrupt that struck inside a learner might be taken for an error of its own.
        with held_signals() as held:
            try:
                for pair in _batch(task, batch, known, on_error, n_jobs):
                    fresh.append(pair)
                    show((batch.start + len(fresh)) / pairs, f"{batch.start + len(fresh)}/{pairs}")
                    # Several processes have started all pairs of a batch: none is thrown away.
                    if n_jobs == 1 and (held.number is not None or enough([*done, *fresh])):
                        break
            finally:  # an interrupt loses the pair at work, no other
                keep([pair for pair in fresh if pair.pair not in known])
        for pair in fresh:
            done.append(pair)
            if enough(done):
                break
    return done


def _batch(
    task: Task, batch: range, known: Mapping[int, Pair], on_error: str, n_jobs: int
) -> Iterator[Pair]:
    missing = [(pair, on_error) for pair in batch if pair not in known]
    found = in_processes(task.run, missing, n_jobs)
    return (known[pair] if pair in known else next(found) for pair in batch)
