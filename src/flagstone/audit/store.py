"""An append-only file of outcomes, one line per pair, filed under the strong id of the task.

A line is complete or absent: a torn last line (an interrupted write) is dropped and its pair
computed again, to the same result. Anything else that is not understood stops the reader, and the
file is left as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from flagstone.audit.pairs import OUTCOMES, Outcome
from flagstone.audit.task import Task
from flagstone.errors import FormatError, InputError

__all__ = ["OtherTaskError", "Store", "read_outcomes"]

_HEADER = {"flagstone-audit": 1}


def read_outcomes(path: str | os.PathLike[str]) -> dict[str, dict[int, Outcome]]:
    """Return all outcomes of a result file: strong id → pair number → outcome."""
    return _parse(Path(path))[0]


def _parse(path: Path) -> tuple[dict[str, dict[int, Outcome]], dict[str, Any], int]:
    """Return outcomes, task descriptions, and how many bytes are complete lines."""
    data = path.read_bytes()
    complete = data.rfind(b"\n") + 1
    lines = data[:complete].split(b"\n")[:-1]
    outcomes: dict[str, dict[int, Outcome]] = {}
    tasks: dict[str, Any] = {}
    if not lines:
        if data and not json.dumps(_HEADER).encode().startswith(data):
            raise FormatError(f"{path} is not an audit file; it is left untouched")
        return outcomes, tasks, 0
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if number == 1:
                _check_header(record, path)
            elif "task" in record:
                tasks[record["id"]] = record["task"]
                outcomes.setdefault(record["id"], {})
            else:
                outcomes[record["id"]][int(record["pair"])] = _outcome(record)
        except FormatError:
            raise
        except (ValueError, KeyError, TypeError) as problem:
            raise FormatError(
                f"{path}, line {number} is damaged ({type(problem).__name__}: {problem}); the file "
                "is left untouched. Restore it from a copy, or start a new one"
            ) from problem
    return outcomes, tasks, complete


def _check_header(record: Any, path: Path) -> None:
    if not isinstance(record, dict) or "flagstone-audit" not in record:
        raise FormatError(f"{path} is not an audit file (its first line says otherwise)")
    if record["flagstone-audit"] != 1:
        raise FormatError(
            f"{path} was written by a newer version (format {record['flagstone-audit']}); upgrade"
        )


def _outcome(record: dict[str, Any]) -> Outcome:
    kind = record["outcome"]
    if kind not in OUTCOMES:
        raise ValueError(f"unknown outcome {kind!r}")
    z = record.get("integrated")
    return Outcome(
        kind,
        None if z is None else float(z),
        record.get("error"),
        float(record.get("seconds", 0.0)),
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


class Store:
    """The outcomes of some tasks, kept in a file where one is given.

    Parameters
    ----------
    path : path or None
        None keeps nothing.
    tasks : sequence of Task
    add : bool
        Whether tasks that the file does not know may be added to those it holds.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, tasks: Sequence[Task], add: bool
    ) -> None:
        self.path = None if path is None else Path(path)
        self.outcomes: dict[str, dict[int, Outcome]] = {}
        known: dict[str, Any] = {}
        if self.path is None:
            return
        for task in tasks:
            _check_named(task)
        fresh = True
        if self.path.exists():
            self.outcomes, known, complete = _parse(self.path)
            fresh = complete == 0
            strangers = [t for t in tasks if t.strong_id not in known]
            if known and strangers and not add:
                held = ", ".join(f"{i[:16]}…" for i in known)
                raise OtherTaskError(
                    f"{self.path} holds results of another task ({held}), not of "
                    f"{strangers[0].strong_id[:16]}… ({strangers[0].name}); nothing was changed"
                )
            if complete < self.path.stat().st_size:
                with self.path.open("r+b") as torn:
                    torn.truncate(complete)
        lines: list[dict[str, Any]] = [dict(_HEADER)] if fresh else []
        lines += [
            {"id": t.strong_id, "task": t.canonical()} for t in tasks if t.strong_id not in known
        ]
        self._append(lines)

    def done(self, task: Task) -> dict[int, Outcome]:
        """Return what is known of a task."""
        return self.outcomes.get(task.strong_id, {})

    def record(self, task: Task, first: int, outcomes: Iterable[Outcome]) -> None:
        """Append the outcomes of consecutive pairs."""
        if self.path is None:
            return
        lines: list[dict[str, Any]] = []
        for pair, outcome in enumerate(outcomes, first):
            line: dict[str, Any] = {"id": task.strong_id, "pair": pair, "outcome": outcome.kind}
            if outcome.integrated is not None:
                line["integrated"] = outcome.integrated
            if outcome.error is not None:
                line["error"] = outcome.error
            line["seconds"] = round(outcome.seconds, 6)
            lines.append(line)
        self._append(lines)

    def _append(self, lines: list[dict[str, Any]]) -> None:
        if not lines or self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines).encode())
            file.flush()
            os.fsync(file.fileno())
