"""The process in which cases run, under limits: numbers in, outcomes out, one per line.

    python -m scripts.fuzz.worker SEED FOLDER GIGABYTES

A line of input is the number of a case, or a trial as JSON.
"""

from __future__ import annotations

import faulthandler
import functools
import json
import os
import random
import resource
import sys
from pathlib import Path
from typing import Any

from scripts.fuzz.damage import damaged
from scripts.fuzz.names import named
from scripts.fuzz.samples import Sample, samples
from scripts.fuzz.stops import Stops
from scripts.fuzz.trial import Fault, Trial
from scripts.fuzz.valid import valid

__all__ = ["PARTS"]

#: Kinds of cases, and how many of a thousand are of each.
PARTS = {"files": 930, "valid": 20, "names": 35, "stops": 15}


class Cases:
    """All cases of a seed."""

    def __init__(self, seed: str, folder: Path) -> None:
        self._seed, self._folder = seed, folder

    @functools.cached_property
    def _samples(self) -> tuple[list[Sample], dict[str, bytes]]:
        return samples(self._folder)

    @functools.cached_property
    def _stops(self) -> Stops:
        return Stops(self._folder, self._samples[1])

    def run(self, number: int) -> dict[str, Any]:
        """Run a case; return what came of it."""
        dice = random.Random(f"{self._seed}/{number}")
        (part,) = dice.choices(list(PARTS), list(PARTS.values()))
        if part == "stops":
            return self._stop(dice)
        if part == "files":
            return self.judge(part, damaged(dice, *self._samples))
        return self.judge(part, (valid if part == "valid" else named)(dice))

    def judge(self, part: str, trial: Trial) -> dict[str, Any]:
        """Run a trial; return what came of it."""
        found: dict[str, Any] = {"part": part, "what": trial.what}
        try:
            trial.run(self._folder)
        except Fault as fault:
            kept = trial.to_dict() if trial.is_small else None
            found |= {"fault": fault.kind, "detail": fault.detail, "trial": kept}
        found["answered"] = bool(trial.ran) and trial.ran[0].code in (0, 3, 4)
        return found

    def _stop(self, dice: random.Random) -> dict[str, Any]:
        before = self._stops.kills, self._stops.signals
        found: dict[str, Any] = {"part": "stops", "what": "stops", "answered": True}
        try:
            found["what"] = self._stops.run(dice)
        except Fault as fault:
            found |= {"fault": fault.kind, "detail": fault.detail, "trial": None}
        found["kills"] = self._stops.kills - before[0]
        found["signals"] = self._stops.signals - before[1]
        return found


def _allow(gigabytes: float) -> None:
    """Let the next case take so much memory: what earlier ones left behind is not its fault."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = held + int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def main() -> None:
    seed, folder, gigabytes = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    questions, answers = open(os.dup(0)), open(os.dup(1), "w")
    empty, end = os.pipe()  # `-` reads standard input: one that ends at once
    os.close(end)
    os.dup2(empty, 0)
    os.chdir(folder)
    faulthandler.enable(open("crash.txt", "w"))
    for number, name in ((1, "out.txt"), (2, "err.txt")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    cases = Cases(seed, Path(folder, "case").absolute())
    print("ready", file=answers, flush=True)
    for line in questions:
        asked = json.loads(line)
        _allow(float(gigabytes))
        if isinstance(asked, int):
            found = cases.run(asked)
        else:
            found = cases.judge("corpus", Trial.from_dict(asked))
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
