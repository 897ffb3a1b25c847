"""Pairs of runs: two samples, a shared seed, one comparison; and the file that keeps them."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from flagstone.audit._learners import Learner, TaskError, Trial, kind_of, last_step
from flagstone.audit._measures import Pair, PairComparison
from flagstone.audit.data import Data, DividedTable, Sample, random_stream, stacked
from flagstone.disk import check_fields, json_checksum, open_ledger, read_ledger
from flagstone.errors import InputError, Parameter, ReplicabilityWarning
from flagstone.processes import held_signals, in_processes
from flagstone.progress import Update

OUTCOMES = (
    "agree", "differ", "both_bottom", "one_bottom", "both_empty", "one_error", "both_error"
)  # fmt: skip

#: Pairs that several processes compute between two looks at the stop rules.
_BATCH = 32
#: Samples that are tried for two equal runs, should the learner fail on some.
_TRIED = 8


@contextmanager
def _unwarned() -> Iterator[None]:
    """Leave out warnings about replicability, which is what an audit measures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicabilityWarning)
        yield


@contextmanager
def _noted(errors: list[str]) -> Iterator[None]:
    """Note what a learner raises, in one line."""
    try:
        yield
    except TaskError:
        raise
    except Exception as error:
        errors.append(f"{type(error).__name__}: {error}".split("\n")[0][:200])


class Task:
    """A learner, data and a comparison: everything that decides what pair number i comes to.

    Samples are a function of the data and the seed alone, so that different learners see the same.
    """

    def __init__(
        self,
        learner: Learner,
        data: Data,
        compare: Any = "auto",
        *,
        tolerance: float | None = None,
        seed: int | str = 0,
        name: str | None = None,
    ) -> None:
        self.learner, self.data, self.seed = learner, data, str(seed)
        self._stream_id = json_checksum({"data": data.canonical(), "seed": self.seed})
        self._generator = np.random.RandomState()
        self.fixed = data.hold_out(self.stream("inputs"))
        self._y = data.y if isinstance(data, DividedTable) else self.fixed.y
        kind = kind_of(learner.learner, self._y)
        if kind in ("classifier", "regressor") and self._y is None:
            raise InputError(
                f"{learner.name} learns from labels, and there are none: give y, or ",
                Parameter("label"),
                " on the command line; a sampler returns (X, y)",
            )
        by_answer = isinstance(compare, str) and compare in ("auto", "fingerprint")
        ours = by_answer and hasattr(type(last_step(learner.learner)), "finding_")
        self.comparison = PairComparison(
            compare, tolerance=tolerance, integrate=ours, name=name, n_fixed=len(self.fixed.X)
        )
        self.comparison.fit(kind, self._y)

    def canonical(self) -> dict[str, Any]:
        """Return plain data that identify the task."""
        return {
            "format": 3,
            "learner": self.learner.canonical(),
            "data": self.data.canonical(),
            "compare": self.comparison.identity,
            "tolerance": self.comparison.given_tolerance,
            "seed": self.seed,
        }

    @cached_property
    def strong_id(self) -> str:
        """SHA-256 of the canonical task, under which pairs are filed."""
        return json_checksum(self.canonical())

    def stream(self, purpose: int | str) -> np.random.RandomState:
        """Start the random stream of a pair, or of another purpose; it ends the one before."""
        return random_stream(f"{self._stream_id}/{purpose}", self._generator)

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
        return self.learner.run(sample, self.coins(pair), held_out.X, self.comparison.clusters)

    @_unwarned()
    def repeat(self) -> bool | None:
        """Run the learner twice on one sample with one seed; say whether both agree, if they run.

        The first run tells the comparison what outputs are like. Samples on which the learner
        fails are passed over.
        """
        for pair in range(_TRIED):
            sample, _, held_out = self.samples(pair)
            try:
                first = self._learn(sample, pair, held_out)
                what = first.output if self.learner.is_function else self.learner.learner
                self.comparison.fit(kind_of(what, self._y, first.predicted), self._y, first)
                found = self.comparison.pair(first, self._learn(sample, pair, held_out))
            except TaskError:
                raise
            except Exception:  # the pairs will show it
                continue
            return found.outcome not in ("differ", "one_bottom")
        return None

    @_unwarned()
    def run(self, pair: int) -> Pair:
        """Run pair number ``pair``; what a learner raises is counted."""
        start = time.perf_counter()
        *samples, held_out = self.samples(pair)
        runs: list[Trial] = []
        errors: list[str] = []
        for sample in samples:
            with _noted(errors):
                runs.append(self._learn(sample, pair, held_out))
        outcome = "both_error" if len(errors) == 2 else "one_error"
        found = None
        if not errors:
            with _noted(errors):
                found = self.comparison.pair(runs[0], runs[1], held_out.y, pair)
        if found is None:
            found = Pair(pair, outcome, 0.0, error=errors[0])
        return replace(found, seconds=time.perf_counter() - start)


def collect(
    task: Task,
    known: Mapping[int, Pair],
    keep: Callable[[list[Pair]], None],
    enough: Callable[[list[Pair]], bool],
    *,
    pairs: int,
    n_jobs: int,
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
        missing = [(pair,) for pair in batch if pair not in known]
        found = in_processes(task.run, missing, n_jobs)
        fresh: list[Pair] = []
        # An interrupt that struck inside a learner might be taken for an error of its own.
        with held_signals() as held:
            try:
                for number in batch:
                    fresh.append(known[number] if number in known else next(found))
                    show((number + 1) / pairs, f"{number + 1}/{pairs}")
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


Filed = dict[str, dict[int, Pair]]


def read_pairs(path: str | os.PathLike[str]) -> Filed:
    """Return all pairs of a result file: strong id → number → pair."""
    filed: Filed = {}
    read_ledger(Path(path), "audit", partial(_take, filed))
    return filed


def _take(filed: Filed, record: Any) -> None:
    """Note a line: that of a task, or that of a pair of a task noted before."""
    if isinstance(record, dict) and "task" in record:
        check_fields(record, {"id": str, "task": dict})
        if record["id"] != json_checksum(record["task"]):
            raise ValueError("its id is that of another task")
        if record["id"] in filed:
            raise ValueError("a line before it describes the same task")
        filed[record["id"]] = {}
        return
    check_fields(
        record,
        {"id": str, "pair": int, "outcome": str, "exact": float, "seconds": float},
        {"approximate": float, "inputs": str, "similarities": dict, "score": float, "error": str},
    )
    if record["outcome"] not in OUTCOMES:
        raise ValueError(f"unknown outcome {record['outcome']!r}")
    task = record.pop("id")
    if task not in filed:
        raise ValueError("no line before it describes its task")
    if record["pair"] < 0:
        raise ValueError(f"there is no pair {record['pair']}")
    if record["pair"] in filed[task]:
        raise ValueError(f"a line before it holds pair {record['pair']} of the same task")
    bytes.fromhex(record.get("inputs", ""))
    filed[task][record["pair"]] = Pair(**record)


@contextmanager
def open_file(
    path: str | os.PathLike[str] | None, task: Task
) -> Iterator[tuple[Mapping[int, Pair], Callable[[list[Pair]], None]]]:
    """Yield the pairs that a file holds of a task, and the function that files more of them.

    A file may hold pairs of several tasks, each under its id. Without a path nothing is kept.
    """
    if path is None:
        yield {}, lambda pairs: None
        return
    roles = ("learner", task.learner), ("sampler", task.data), ("comparison", task.comparison)
    for role, part in roles:
        if part.anonymous:
            raise InputError(
                f"a {role} that is a lambda, a closure, a callable object or without source needs "
                "a name before results go to a file, which could not tell it apart from another "
                "one: audit(..., name=...), or a function of a module"
            )
    filed: Filed = {}
    with open_ledger(Path(path), "audit", partial(_take, filed)) as ledger:
        if ledger.header is None:
            ledger.start()
        if task.strong_id not in filed:
            ledger.append([{"id": task.strong_id, "task": task.canonical()}])

        def keep(pairs: list[Pair]) -> None:
            records = [vars(pair) | {"seconds": round(pair.seconds, 6)} for pair in pairs]
            ledger.append(
                {"id": task.strong_id, **{k: v for k, v in record.items() if v is not None}}
                for record in records
            )

        yield filed.get(task.strong_id, {}), keep
