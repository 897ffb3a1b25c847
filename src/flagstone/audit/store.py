"""The outcomes of an audit in a ledger, one line per pair, under the strong id of the task."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from flagstone.audit.pairs import OUTCOMES, Outcome
from flagstone.audit.task import Task, strong_id_of
from flagstone.disk import Ledger, check_fields, open_ledger, read_ledger
from flagstone.errors import InputError

Outcomes = dict[str, dict[int, Outcome]]

_DETAILS = ("integrated", "error", "accuracy", "coverage")


def read_outcomes(path: str | os.PathLike[str]) -> Outcomes:
    """Return all outcomes of a result file: strong id → pair number → outcome."""
    outcomes: Outcomes = {}
    read_ledger(Path(path), "audit", partial(_take, outcomes))
    return outcomes


def _take(outcomes: Outcomes, record: Any) -> None:
    """Note a line: that of a task, or that of a pair of a task noted before."""
    if isinstance(record, dict) and "task" in record:
        check_fields(record, {"id": str, "task": dict})
        if record["id"] != strong_id_of(record["task"]):
            raise ValueError("its id is that of another task")
        if record["id"] in outcomes:
            raise ValueError("a line before it describes the same task")
        outcomes[record["id"]] = {}
        return
    check_fields(
        record,
        {"id": str, "pair": int, "outcome": str, "seconds": float},
        {"integrated": float, "error": str, "accuracy": float, "coverage": float},
    )
    if record["outcome"] not in OUTCOMES:
        raise ValueError(f"unknown outcome {record['outcome']!r}")
    if record["id"] not in outcomes:
        raise ValueError("no line before it describes its task")
    if record["pair"] < 0:
        raise ValueError(f"there is no pair {record['pair']}")
    if record["pair"] in outcomes[record["id"]]:
        raise ValueError(f"a line before it holds pair {record['pair']} of the same task")
    details = {name: record[name] for name in _DETAILS if name in record}
    outcomes[record["id"]][record["pair"]] = Outcome(
        record["outcome"], seconds=record["seconds"], **details
    )


class OtherTaskError(InputError):
    """A file holds results of another task, which ``found`` describes."""

    def __init__(self, found: str) -> None:
        super().__init__(f"{found}. Choose another file, or pass add=True to keep both in this one")
        self.found = found


def _check_named(task: Task) -> None:
    """Refuse to file results that could not be told apart from those of another function."""
    for part, role, remedy in (
        (task.source, "sampler", "audit(..., name=...) or FromFunction(..., name=...)"),
        (task.same, "notion of same", "Same(..., name=...)"),
    ):
        if part.anonymous:
            raise InputError(
                f"a {role} that is a lambda, a closure, a callable object or without source needs "
                f"a name before results go to a file, which could not tell it apart from another "
                f"one: {remedy}"
            )


@contextmanager
def open_store(
    path: str | os.PathLike[str] | None, tasks: Sequence[Task], add: bool
) -> Iterator[Store]:
    """Open the file for the outcomes of some tasks; without a path nothing is kept.

    Only with ``add`` may they be added to those of other tasks.
    """
    outcomes: Outcomes = {}
    if path is None:
        yield Store(outcomes, None)
        return
    for task in tasks:
        _check_named(task)
    with open_ledger(Path(path), "audit", partial(_take, outcomes)) as ledger:
        strangers = [task for task in tasks if task.strong_id not in outcomes]
        if outcomes and strangers and not add:
            held = ", ".join(f"{i[:16]}…" for i in outcomes)
            raise OtherTaskError(
                f"{path} holds results of another task ({held}), not of "
                f"{strangers[0].strong_id[:16]}… ({strangers[0].name}); nothing was changed"
            )
        if ledger.header is None:
            ledger.start()
        ledger.append({"id": task.strong_id, "task": task.canonical()} for task in strangers)
        yield Store(outcomes, ledger)


class Store:
    """The outcomes of some tasks, and the ledger that keeps new ones, if any."""

    def __init__(self, outcomes: Outcomes, ledger: Ledger | None) -> None:
        self._outcomes, self._ledger = outcomes, ledger

    def done(self, task: Task) -> dict[int, Outcome]:
        """Return what is known of a task."""
        return self._outcomes.get(task.strong_id, {})

    def record(self, task: Task, first: int, outcomes: Iterable[Outcome]) -> None:
        """Append the outcomes of consecutive pairs, of each pair once."""
        if self._ledger is None:
            return
        lines: list[dict[str, Any]] = []
        known = self._outcomes.setdefault(task.strong_id, {})
        for pair, outcome in enumerate(outcomes, first):
            if pair in known:
                continue
            known[pair] = outcome
            line: dict[str, Any] = {"id": task.strong_id, "pair": pair, "outcome": outcome.kind}
            line |= {n: v for n in _DETAILS if (v := getattr(outcome, n)) is not None}
            line["seconds"] = round(outcome.seconds, 6)
            lines.append(line)
        self._ledger.append(lines)
