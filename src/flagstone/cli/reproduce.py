"""``flagstone reproduce``: the paper's evaluation, and ours, from one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flagstone.cli.options import JsonOption
from flagstone.cli.runner import OK, Interrupted, UsageError, verb
from flagstone.errors import InputError

JSON_KEYS = {
    "name": "the experiment (without a name: experiments, the list of all)",
    "files": "figures and data written",
    "seconds": "how long it took",
}

EXAMPLES = ("flagstone reproduce sample-size --quick --out results",)


@verb
def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The experiment; none lists all.")
    ] = None,
    out: Annotated[str, typer.Option("--out", help="The directory to write to.")] = "results",
    quick: Annotated[bool, typer.Option("--quick", help="A small version, in seconds.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Continue an interrupted run.")
    ] = True,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes.")] = 1,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Another seed than the documented one.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace results of another configuration.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Run an experiment of the paper (or beyond it): figure, data and numbers into a directory."""
    from flagstone.cli.output import print_json
    from flagstone.experiments import EXPERIMENTS, OtherConfigurationError, run
    from flagstone.tables.files import closest

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
    import shlex

    from flagstone.cli.runner import ARGUMENTS

    if not (Path(out) / f".{name}.partial.jsonl").exists():
        return "interrupted; nothing was written"
    words = [word for word in ARGUMENTS if word != "--no-resume"]
    return (
        f"interrupted; {out} keeps the parts that are finished. To resume, run: "
        f"{shlex.join(['flagstone', *words])}"
    )
