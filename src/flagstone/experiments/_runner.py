"""Run an experiment unit by unit: resumable, parallel, deterministic from its seed.

An experiment is a list of independent units of work. The rows of a unit are a function of the
configuration and the name of the unit alone, so neither the number of processes nor interruptions
can change a result. Finished units go to an append-only file; the results replace it at the end.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flagstone.audit.progress import track
from flagstone.errors import FormatError, InputError
from flagstone.plots.style import Display, write_atomically

__all__ = ["Experiment", "OtherConfigurationError", "Result", "Row", "run_experiment"]

Row = dict[str, Any]
Unit = dict[str, Any]


class OtherConfigurationError(InputError):
    """A directory holds results of another configuration, which ``found`` describes."""

    def __init__(self, found: str) -> None:
        super().__init__(f"{found}. Choose another directory, or pass overwrite=True")
        self.found = found


@dataclass(frozen=True)
class Experiment:
    """A named experiment.

    Attributes
    ----------
    name, title : str
    config, quick : object
        The full configuration, and one that finishes in seconds.
    units : callable
        Configuration → independent units of work, as plain data.
    compute : callable
        (configuration, unit, generator) → rows of numbers.
    display : callable
        (configuration, all rows) → what is drawn.
    """

    name: str
    title: str
    config: Any
    quick: Any
    units: Callable[[Any], Sequence[Unit]]
    compute: Callable[[Any, Unit, np.random.RandomState], list[Row]]
    display: Callable[[Any, list[Row]], Display]


@dataclass(frozen=True)
class Result:
    """What a run left behind: the numbers, the display, the files."""

    name: str
    config: Any
    rows: list[Row]
    display: Display
    files: tuple[Path, ...]
    seconds: float


def identity(experiment: Experiment, config: Any) -> str:
    """Return the SHA-256 of an experiment and its configuration."""
    text = json.dumps(
        {"experiment": experiment.name, "format": 1, "config": dataclasses.asdict(config)},
        sort_keys=True,
    )
    return hashlib.sha256(text.encode()).hexdigest()


def unit_stream(experiment: Experiment, config: Any, unit: Unit) -> np.random.RandomState:
    """Return the generator of a unit: a function of seed, experiment and unit."""
    text = json.dumps([config.seed, experiment.name, unit], sort_keys=True)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.RandomState(np.frombuffer(digest, dtype=">u4").astype(np.uint32))


def _compute(experiment: Experiment, config: Any, unit: Unit) -> list[Row]:
    return experiment.compute(config, unit, unit_stream(experiment, config, unit))


def run_experiment(
    experiment: Experiment,
    config: Any,
    *,
    out: str | os.PathLike[str],
    resume: bool = True,
    overwrite: bool = False,
    n_jobs: int = 1,
    progress: bool | None = None,
) -> Result:
    """Run, draw and save an experiment.

    Writes ``<name>.png``, ``.svg``, ``.csv`` and ``.json`` into ``out``, each atomically.

    Parameters
    ----------
    resume : bool
        Continue an interrupted run of the same configuration, and reuse a finished one.
    overwrite : bool
        Replace finished results of *another* configuration, which is refused otherwise.
    """
    start = time.perf_counter()
    if n_jobs == 0:
        raise InputError("n_jobs must not be 0 (1 is serial, -1 all processors)")
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out must be a directory, and {folder} is a file")
    name, key = experiment.name, identity(experiment, config)
    finished = _read_finished(folder / f"{name}.json", name)
    if finished is not None and finished["id"] != key and not overwrite:
        raise OtherConfigurationError(
            f"{folder} holds {name} of another configuration ({_brief(finished['config'])}); "
            "nothing was changed"
        )
    if finished is not None and finished["id"] == key and resume:
        rows = finished["rows"]
    else:
        partial = folder / f".{name}-{key[:16]}.partial.jsonl"
        rows = _compute_all(experiment, config, partial, key, resume, n_jobs, progress)
    display = experiment.display(config, rows)
    files = _write(experiment, config, key, rows, display, folder)
    (folder / f".{name}-{key[:16]}.partial.jsonl").unlink(missing_ok=True)
    return Result(name, config, rows, display, files, time.perf_counter() - start)


def _compute_all(
    experiment: Experiment,
    config: Any,
    partial: Path,
    key: str,
    resume: bool,
    n_jobs: int,
    progress: bool | None,
) -> list[Row]:
    units = list(experiment.units(config))
    names = [json.dumps(unit, sort_keys=True) for unit in units]
    done = _read_partial(partial) if resume else {}
    if not resume:
        partial.unlink(missing_ok=True)
    todo = [unit for unit, name in zip(units, names, strict=True) if name not in done]
    partial.parent.mkdir(parents=True, exist_ok=True)
    with (
        track(len(units), experiment.name, progress) as advance,
        partial.open("a", encoding="utf-8") as file,
    ):
        if file.tell() == 0:
            file.write(json.dumps({"flagstone-experiment": 1, "id": key}) + "\n")
        advance(len(units) - len(todo))
        for unit, rows in zip(todo, _stream(experiment, config, todo, n_jobs), strict=True):
            name = json.dumps(unit, sort_keys=True)
            file.write(json.dumps({"unit": name, "rows": rows}) + "\n")
            file.flush()
            done[name] = json.loads(json.dumps(rows))
            advance(1)
    return [row for name in names for row in done[name]]


def _stream(
    experiment: Experiment, config: Any, units: list[Unit], n_jobs: int
) -> Iterator[list[Row]]:
    """Yield the rows of the units in order, as they are computed."""
    if n_jobs == 1 or len(units) < 2:
        for unit in units:
            yield _compute(experiment, config, unit)
        return
    from joblib import Parallel, delayed

    jobs = (delayed(_compute)(experiment, config, unit) for unit in units)
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(jobs)


def _read_partial(path: Path) -> dict[str, list[Row]]:
    """Return the finished units; a torn last line is cut off, its unit computed again."""
    if not path.exists():
        return {}
    data = path.read_bytes()
    complete = data.rfind(b"\n") + 1
    if complete < len(data):
        with path.open("r+b") as torn:
            torn.truncate(complete)
    done = {}
    for number, line in enumerate(data[:complete].splitlines(), 1):
        try:
            record = json.loads(line)
            if number > 1:
                done[record["unit"]] = record["rows"]
        except (ValueError, KeyError, TypeError) as problem:
            raise FormatError(
                f"{path}, line {number} is damaged ({problem}); nothing was changed. "
                "Delete the file to start again"
            ) from problem
    return done


def _read_finished(path: Path, name: str) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["experiment"] != name or not isinstance(data["rows"], list):
            raise ValueError("it is about something else")
        return {"id": data["id"], "config": data["config"], "rows": data["rows"]}
    except (ValueError, KeyError, TypeError) as problem:
        raise FormatError(
            f"{path} is not a result of the experiment {name} ({problem}); nothing was changed. "
            "Choose another directory"
        ) from problem


def _brief(config: dict[str, Any]) -> str:
    text = ", ".join(f"{k}={v}" for k, v in config.items() if not isinstance(v, (list, dict)))
    return text[:120]


def _write(
    experiment: Experiment,
    config: Any,
    key: str,
    rows: list[Row],
    display: Display,
    folder: Path,
) -> tuple[Path, ...]:
    name = experiment.name
    data = {
        "experiment": name,
        "title": experiment.title,
        "id": key,
        "config": dataclasses.asdict(config),
        "rows": rows,
    }

    def write_csv(path: Path) -> None:
        columns = list(dict.fromkeys(column for row in rows for column in row))
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def write_json(path: Path) -> None:
        path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")

    png, svg = display.save(folder / f"{name}.png"), display.save(folder / f"{name}.svg")
    write_atomically(folder / f"{name}.csv", write_csv)
    write_atomically(folder / f"{name}.json", write_json)
    return png, svg, folder / f"{name}.csv", folder / f"{name}.json"
