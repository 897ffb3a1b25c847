"""The command line: ``--help``, and the first verb on a small file, cold and warm.

The clock runs around the whole process. "scikit-learn loaded" is 1 if the verb imported it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.harness import Bench
from benchmarks.memory import ROOT

MAIN = [sys.executable, "-c", "from flagstone.cli import main; main()"]
VERB = ["constraints", "examples/frames.txt", "--format", "bits", "--seed", "2026"]


def run(bench: Bench) -> None:
    """Time help five times, the verb twice cold and three times warm."""
    import flagstone.cli  # noqa: F401  (a missing command line is reported once, here)

    helps = [_spent(bench, ["--help"]) for _ in range(1 if bench.quick else 5)]
    bench.record("--help", "flagstone", min(helps), rounds=len(helps))
    colds, warms = [], []
    for _ in range(1 if bench.quick else 2):
        with tempfile.TemporaryDirectory() as cache:
            colds.append(_spent(bench, VERB, NUMBA_CACHE_DIR=cache))
            warms += [
                _spent(bench, VERB, NUMBA_CACHE_DIR=cache) for _ in range(1 if bench.quick else 3)
            ]
    bench.record("first verb", "cold", min(colds), rounds=len(colds))
    bench.record("first verb", "warm", min(warms), rounds=len(warms))
    imports = subprocess.run(
        [MAIN[0], "-X", "importtime", *MAIN[1:], *VERB], cwd=ROOT, capture_output=True, text=True
    )
    bench.record("first verb", "scikit-learn loaded", int("| sklearn" in imports.stderr), "count")
    bench.say(f"help {min(helps):.2f} s, verb cold {min(colds):.2f} s, warm {min(warms):.2f} s")


def _spent(bench: Bench, arguments: list[str], **environment: str) -> float:
    clock = _children if bench.clock_name == "cpu" else time.perf_counter
    begin = clock()
    child = subprocess.run(
        [*MAIN, *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    spent = clock() - begin
    if child.returncode:
        raise RuntimeError(
            f"flagstone {' '.join(arguments)} failed: {child.stderr.strip().splitlines()[-1:]}"
        )
    return spent


def _children() -> float:
    """Return the processor time of all child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system
