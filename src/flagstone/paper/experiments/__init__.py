"""The paper's evaluation from one command, and further experiments.

Each experiment is a frozen record of its configuration: deterministic from its seed, resumable,
with its numbers saved beside its figure.

==================  ==========================================================================
name                what it shows
==================  ==========================================================================
``figure-1``        the paper's evaluation, with the index rule beside it
``figure-1-fixed``  the same with one target, chosen to show the numbers that the paper reports
``instability``     its instability proposition, and the example D_m
``gap``             its gap lemma: measured gaps, and the printed, corrected and sharp bounds
``sample-size``     rows needed against the dimension, under each analysis
``privacy``         what confidence costs, for a replicable and for a pure-DP learner
``costs``           rows that replicability and privacy need, alone and together
``certified``       rows needed in advance and by certificate; certificates against the truth
==================  ==========================================================================
"""

from __future__ import annotations

import dataclasses
import os

from flagstone.errors import InputError
from flagstone.paper.experiments._runner import (
    Experiment,
    OtherConfigurationError,
    Result,
    run_experiment,
)
from flagstone.paper.experiments.certified import CertificateStudy
from flagstone.paper.experiments.costs import Costs
from flagstone.paper.experiments.figure_1 import Figure1, Figure1Fixed
from flagstone.paper.experiments.gap import Gap
from flagstone.paper.experiments.instability import Instability
from flagstone.paper.experiments.privacy import Privacy
from flagstone.paper.experiments.sample_size import SampleSize

__all__ = ["EXPERIMENTS", "Experiment", "OtherConfigurationError", "Result", "run"]

_KINDS = (Figure1, Figure1Fixed, Instability, Gap, SampleSize, Privacy, Costs, CertificateStudy)
#: Every experiment at its full size by its name, in the order of the paper.
EXPERIMENTS: dict[str, Experiment] = {kind.name: kind() for kind in _KINDS}


def run(
    name: str,
    *,
    out: str | os.PathLike[str],
    seed: int | str = 2026,
    quick: bool = False,
    resume: bool = True,
    overwrite: bool = False,
    n_jobs: int = 1,
    progress: bool | None = None,
) -> Result:
    """Run an experiment and save its figure and numbers.

    Parameters
    ----------
    name : str
        One of ``EXPERIMENTS``.
    out : path
        A directory; gets ``<name>.png``, ``.svg``, ``.csv`` and ``.json``, each atomically.
    seed : int or str
        Decides every random number.
    quick : bool
        A smaller configuration that finishes in seconds, to see the shape.
    resume : bool
        Continue an interrupted run of the same configuration, and reuse a finished one.
    overwrite : bool
        Replace what another configuration left, finished or not, and files that no experiment
        made; both are refused otherwise.
    n_jobs : int
        Processes; the result does not depend on it.
    progress : bool, optional
        Show a bar; by default on a terminal.

    Examples
    --------
    >>> import tempfile
    >>> from flagstone.paper.experiments import run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run("sample-size", out=folder, quick=True)
    ...     sorted(path.name for path in result.files)
    ['sample-size.csv', 'sample-size.json', 'sample-size.png', 'sample-size.svg']
    >>> [row["index"] for row in result.rows if row["dim"] == 20]
    [205332000]
    """
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    changes = experiment.small if quick else {}
    experiment = dataclasses.replace(experiment, **changes, seed=str(seed))
    return run_experiment(
        experiment, out=out, resume=resume, overwrite=overwrite, n_jobs=n_jobs, progress=progress
    )
