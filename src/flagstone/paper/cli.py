"""``flagstone reproduce``: the paper's evaluation, and further experiments."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from flagstone.cli.console import ARGUMENTS, OK, Interrupted, UsageError, print_json
from flagstone.cli.verbs import ReproduceOptions
from flagstone.errors import InputError
from flagstone.paper.experiments import EXPERIMENTS, OtherConfigurationError, run
from flagstone.wording import closest


def command(options: ReproduceOptions) -> int:
    """Run an experiment of the paper (or beyond it): figure, data and numbers into a directory."""
    name, out = options.name, options.output
    if name is None:
        titles = {key: experiment.title for key, experiment in EXPERIMENTS.items()}
        if options.json:
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
    if options.jobs == 0:
        raise UsageError("--jobs must not be 0 (1 is serial, -1 all processors)")
    more: dict[str, Any] = {"overwrite": True} if options.force else {}
    if options.seed is not None:
        more["seed"] = options.seed
    try:
        result = run(
            name,
            out=out,
            quick=options.quick,
            resume=options.resume,
            n_jobs=options.jobs,
            **more,
        )
    except OtherConfigurationError as error:
        raise InputError(f"{error.found}. Choose another --output, or give --force") from error
    except KeyboardInterrupt as stop:
        raise Interrupted(_how_to_resume(name, out)) from stop
    files = [str(path) for path in result.files]
    if options.json:
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
