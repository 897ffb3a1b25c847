"""``flagstone reproduce``: the paper's evaluation, and ours, from one command."""

from __future__ import annotations

import shlex
from pathlib import Path

from flagstone.cli.output import print_json
from flagstone.cli.runner import ARGUMENTS, OK, Interrupted, UsageError
from flagstone.errors import InputError
from flagstone.paper.experiments import EXPERIMENTS, OtherConfigurationError, run
from flagstone.tables.files import closest


def command(
    name: str | None,
    out: str,
    quick: bool,
    resume: bool,
    jobs: int,
    seed: str | None,
    force: bool,
    json: bool,
) -> int:
    """Run an experiment of the paper (or beyond it): figure, data and numbers into a directory."""
    if name is None:
        titles = {key: experiment.title for key, experiment in EXPERIMENTS.items()}
        if json:
            print_json({"experiments": titles})
        else:
            for key, title in titles.items():
                print(f"{key:<15}{title}")
        return OK
    if name not in EXPERIMENTS:
        raise UsageError(
            f"there is no experiment {name!r}{closest(name, EXPERIMENTS)}; known: "
            f"{', '.join(EXPERIMENTS)}"
        )
    if jobs == 0:
        raise UsageError("--jobs must not be 0 (1 is serial, -1 all processors)")
    options = {"overwrite": True} if force else {}
    if seed is not None:
        options["seed"] = seed  # type: ignore[assignment]
    try:
        result = run(name, out=out, quick=quick, resume=resume, n_jobs=jobs, **options)
    except OtherConfigurationError as error:
        raise InputError(f"{error.found}. Choose another --out, or give --force") from error
    except KeyboardInterrupt as stop:
        raise Interrupted(_how_to_resume(name, out)) from stop
    files = [str(path) for path in result.files]
    if json:
        print_json({"name": name, "files": files, "seconds": result.seconds})
    else:
        print(f"{EXPERIMENTS[name].title}: {result.seconds:.1f} s")
        for file in files:
            print(f"written  {file}")
    return OK


def _how_to_resume(name: str, out: str) -> str:

    if not (Path(out) / f".{name}.partial.jsonl").exists():
        return "interrupted; nothing was written"
    words = [word for word in ARGUMENTS if word != "--no-resume"]
    return (
        f"interrupted; {out} keeps the parts that are finished. To resume, run: "
        f"{shlex.join(['flagstone', *words])}"
    )
