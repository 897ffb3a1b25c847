"""The pairs of an audit in a ledger, one line per pair, under the strong id of the task."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from flagstone.audit._pairs import OUTCOMES, Pair, Task, strong_id_of
from flagstone.disk import check_fields, open_ledger, read_ledger
from flagstone.errors import InputError

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
        if record["id"] != strong_id_of(record["task"]):
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


class OtherTaskError(InputError):
    """A file holds results of another task, which ``found`` describes."""

    def __init__(self, found: str) -> None:
        super().__init__(f"{found}. Choose another file, or pass add=True to keep both in this one")
        self.found = found


def _check_named(task: Task) -> None:
    """Refuse to file results that could not be told apart from those of another function."""
    for part, role in (
        (task.learner, "learner"),
        (task.data, "sampler"),
        (task.comparison.compare, "comparison"),
    ):
        if part.anonymous:
            raise InputError(
                f"a {role} that is a lambda, a closure, a callable object or without source needs "
                "a name before results go to a file, which could not tell it apart from another "
                "one: audit(..., name=...), or a function of a module"
            )


@contextmanager
def open_file(
    path: str | os.PathLike[str] | None, task: Task, add: bool
) -> Iterator[tuple[Mapping[int, Pair], Callable[[list[Pair]], None]]]:
    """Yield the pairs that a file holds of a task, and the function that files more of them.

    Only with ``add`` may they be added to those of other tasks; without a path nothing is kept.
    """
    if path is None:
        yield {}, lambda pairs: None
        return
    _check_named(task)
    filed: Filed = {}
    with open_ledger(Path(path), "audit", partial(_take, filed)) as ledger:
        if filed and task.strong_id not in filed and not add:
            held = ", ".join(f"{i[:16]}…" for i in filed)
            raise OtherTaskError(
                f"{path} holds results of another task ({held}), not of "
                f"{task.strong_id[:16]}… ({task.learner.name}); nothing was changed"
            )
        if ledger.header is None:
            ledger.start()
        if task.strong_id not in filed:
            ledger.append([{"id": task.strong_id, "task": task.canonical()}])

        def keep(pairs: list[Pair]) -> None:
            lines = []
            for pair in pairs:
                values = {name: value for name, value in asdict(pair).items() if value is not None}
                values["seconds"] = round(pair.seconds, 6)
                lines.append({"id": task.strong_id, **values})
            ledger.append(lines)

        yield filed.get(task.strong_id, {}), keep
