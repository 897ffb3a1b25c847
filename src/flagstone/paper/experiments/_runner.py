"""Run an experiment unit by unit: resumable, parallel, deterministic from its seed.

An experiment is a list of independent units of work. The rows of a unit are a function of the
configuration and the name of the unit alone, so neither the number of processes nor interruptions
can change a result. Finished units go to a ledger; the results replace it at the end.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.audit.data import random_stream
from flagstone.disk import (
    Ledger,
    check_fields,
    check_target,
    json_checksum,
    open_ledger,
    parse_json,
    read_regular,
    write_all,
)
from flagstone.errors import FormatError, InputError
from flagstone.plots.style import Axes, Display
from flagstone.processes import check_jobs, in_processes
from flagstone.progress import progress_bar

Row = dict[str, Any]
Unit = dict[str, Any]


class OtherConfigurationError(InputError):
    """A directory holds results, or a part, of another configuration, which ``found`` describes."""

    def __init__(self, found: str) -> None:
        super().__init__(f"{found}. Choose another directory, or pass overwrite=True")
        self.found = found


@dataclass(frozen=True)
class Experiment(ABC):
    """A named experiment: its fields are what it runs with, by default at the full size.

    Attributes
    ----------
    seed : str
        Decides every random number.
    name, title : str
    small : dict
        The fields of a version that finishes in seconds.
    panels, size
        Of the figure: its axes below and beside each other, its width and height in inches.
    """

    seed: str = "2026"

    name: ClassVar[str]
    title: ClassVar[str]
    small: ClassVar[dict[str, Any]]
    panels: ClassVar[tuple[int, int]] = (1, 1)
    size: ClassVar[tuple[float, float]]

    @abstractmethod
    def units(self) -> Sequence[Unit]:
        """Return the independent units of work, as plain data."""

    @abstractmethod
    def compute(self, unit: Unit, rng: np.random.RandomState) -> list[Row]:
        """Return the numbers of one unit."""

    @abstractmethod
    def draw(self, rows: list[Row], axes: list[Axes]) -> None:
        """Draw all numbers."""


@dataclass(repr=False)
class Figure(Display):
    """The figure of an experiment: the experiment, and all its rows of numbers."""

    experiment: Experiment
    rows: list[Row]

    def __post_init__(self) -> None:
        self.panels, self.size = self.experiment.panels, self.experiment.size

    def _draw(self, axes: list[Axes]) -> None:
        self.experiment.draw(self.rows, axes)


def where(rows: list[Row], **wanted: Any) -> list[Row]:
    """Return the rows that have these values."""
    return [row for row in rows if wanted.items() <= row.items()]


def column(rows: list[Row], key: str) -> Array:
    """Return what rows have under a key."""
    return np.array([row[key] for row in rows])


def bars(rows: list[Row], key: str) -> Array:
    """Return how far the intervals of a quantity reach below it, and above."""
    low, y, high = (column(rows, name) for name in (f"{key}_low", key, f"{key}_high"))
    return np.array([y - low, high - y])


@dataclass(frozen=True)
class Result:
    """What a run left behind: the numbers, the display, the files."""

    experiment: Experiment
    rows: list[Row]
    display: Figure
    files: tuple[Path, ...]
    seconds: float


def identity(experiment: Experiment) -> str:
    """Return the SHA-256 of an experiment and its configuration."""
    text = json.dumps(
        {"experiment": experiment.name, "format": 1, "config": dataclasses.asdict(experiment)},
        sort_keys=True,
    )
    return hashlib.sha256(text.encode()).hexdigest()


def unit_stream(experiment: Experiment, unit: Unit) -> np.random.RandomState:
    """Return the generator of a unit: a function of seed, experiment and unit."""
    return random_stream(json.dumps([experiment.seed, experiment.name, unit], sort_keys=True))


def _compute(experiment: Experiment, unit: Unit) -> list[Row]:
    return experiment.compute(unit, unit_stream(experiment, unit))


def run_experiment(
    experiment: Experiment,
    *,
    out: str | os.PathLike[str],
    resume: bool = True,
    overwrite: bool = False,
    n_jobs: int = 1,
    progress: bool | None = None,
) -> Result:
    """Run, draw and save an experiment; for the parameters see `experiments.run`."""
    start = time.perf_counter()
    check_jobs(n_jobs)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out must be a directory, and {folder} is a file")
    name, key = experiment.name, identity(experiment)
    finished = _read_finished(folder / f"{name}.json", name)
    folder.mkdir(parents=True, exist_ok=True)
    done: dict[str, list[Row]] = {}
    unfinished, fields = folder / f".{name}.partial.jsonl", {"id": str, "config": dict}
    with open_ledger(unfinished, "experiment", partial(_take, done), fields) as ledger:
        for found, words in ((finished, "holds"), (ledger.header, "holds a part of")):
            if found is not None and found["id"] != key and not overwrite:
                raise OtherConfigurationError(
                    f"{folder} {words} {name} of another configuration "
                    f"({_brief(found['config'])}); nothing was changed"
                )
        if finished is None and ledger.header is None and not overwrite:
            for kind in ("png", "svg", "csv"):
                check_target(folder / f"{name}.{kind}")
        if finished is not None and finished["id"] == key and resume:
            rows = finished["rows"]
        else:
            if ledger.header is None or ledger.header["id"] != key or not resume:
                done.clear()
                ledger.start(id=key, config=dataclasses.asdict(experiment))
            rows = _compute_all(experiment, done, ledger, n_jobs, progress)
        display = Figure(experiment, rows)
        files = _write(display, key, folder)
        ledger.remove()
    return Result(experiment, rows, display, files, time.perf_counter() - start)


def _take(done: dict[str, list[Row]], record: Any) -> None:
    """Note the line of a finished unit."""
    check_fields(record, {"unit": str, "rows": list})
    for row in record["rows"]:
        if not isinstance(row, dict):
            raise ValueError(f"a row must be a JSON object, got {repr(row)[:40]}")
    if record["unit"] in done:
        raise ValueError("a line before it holds the same unit")
    done[record["unit"]] = record["rows"]


def _compute_all(
    experiment: Experiment,
    done: dict[str, list[Row]],
    ledger: Ledger,
    n_jobs: int,
    progress: bool | None,
) -> list[Row]:
    """Compute the units that are not done yet; return the rows of all in order."""
    units = {json.dumps(unit, sort_keys=True): unit for unit in experiment.units()}
    todo = {name: unit for name, unit in units.items() if name not in done}
    computed = in_processes(_compute, [(experiment, unit) for unit in todo.values()], n_jobs)
    with progress_bar(experiment.name, progress) as show:
        for name, rows in zip(todo, computed, strict=True):
            ledger.append([{"unit": name, "rows": rows}])
            done[name] = json.loads(json.dumps(rows))
            show(len(done) / len(units), f"{len(done)}/{len(units)}")
    return [row for name in units for row in done[name]]


def _read_finished(path: Path, name: str) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        kinds = {"experiment": str, "title": str, "id": str, "config": dict, "rows": list}
        data = check_fields(parse_json(read_regular(path)), {**kinds, "sha256": str})
        if data["experiment"] != name:
            raise ValueError("it is about something else")
        if data.pop("sha256") != json_checksum(data):
            raise ValueError("its checksum does not match")
    except ValueError as problem:
        raise FormatError(
            f"{path} is not a result of the experiment {name} ({problem}); nothing was changed. "
            "Choose another directory"
        ) from problem
    return data


def _brief(config: dict[str, Any]) -> str:
    text = ", ".join(f"{k}={v}" for k, v in config.items() if not isinstance(v, (list, dict)))
    return text[:120]


def _write(display: Figure, key: str, folder: Path) -> tuple[Path, ...]:
    experiment, rows, name = display.experiment, display.rows, display.experiment.name
    data: dict[str, Any] = {
        "experiment": name,
        "title": experiment.title,
        "id": key,
        "config": dataclasses.asdict(experiment),
        "rows": rows,
    }
    data["sha256"] = json_checksum(data)
    table = io.StringIO()
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(table, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    numbers: dict[str | Path, bytes] = {
        folder / f"{name}.csv": table.getvalue().encode(),
        folder / f"{name}.json": (json.dumps(data, indent=1) + "\n").encode(),
    }
    png, svg = display.save(folder / f"{name}.png"), display.save(folder / f"{name}.svg")
    write_all(numbers, overwrite=True)
    return png, svg, *map(Path, numbers)
