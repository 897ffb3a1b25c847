"""The command line: ``--help``, and the first verb on a small file, cold and warm, in four fields.

All are held against ``python -c "import numpy, pyarrow"``, in turn with them: what a Python program
that reads tables pays in any case. The clock runs around whole processes. "Cold" means an empty JIT
cache. "scikit-learn loaded" is 1 if the verb imported it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from functools import reduce
from pathlib import Path

import numpy as np

from benchmarks.harness import Bench
from benchmarks.memory import ROOT
from flagstone import GF

MAIN = ["-c", "from flagstone.cli import main; main()"]
REFERENCE = ["-c", "import numpy, pyarrow"]
ORDERS = (2, 7, 2**8, 3**2)


def run(bench: Bench) -> None:
    """Time each verb cold, once; then reference, help and warm verbs in turn, five times."""
    import flagstone.cli  # noqa: F401  (a missing command line is reported once, here)

    with tempfile.TemporaryDirectory() as folder:
        verbs = {order: _verb(order, Path(folder)) for order in ORDERS}
        ways = {"reference": (REFERENCE, ""), "--help": ([*MAIN, "--help"], "")}
        colds = {}
        for order, words in verbs.items():
            cache = f"{folder}/{order}"
            ways[f"verb {GF(order)}"] = [*MAIN, *words], cache
            colds[order] = _spent(bench, [*MAIN, *words], NUMBA_CACHE_DIR=cache)
        times: dict[str, list[float]] = {case: [] for case in ways}
        for _ in range(1 if bench.quick else 5):
            for case, (words, cache) in ways.items():
                times[case].append(_spent(bench, words, NUMBA_CACHE_DIR=cache))
    for case, spent in times.items():
        who = "warm" if case.startswith("verb") else "spent"
        bench.record(case, who, min(spent), rounds=len(spent))
        bench.say(f"{case}: {min(spent):.2f} s, {min(spent) / min(times['reference']):.2f} ×")
    for order, cold in colds.items():
        bench.record(f"verb {GF(order)}", "cold", cold)
        ratio = cold / min(times[f"verb {GF(order)}"])
        bench.say(f"verb {GF(order)}, cold: {cold:.2f} s, {ratio:.1f} × warm")
    words = [sys.executable, "-X", "importtime", *MAIN, *_verb(2, Path())]
    imports = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    bench.record("imports", "scikit-learn loaded", int("| sklearn" in imports.stderr), "count")


def _verb(order: int, folder: Path) -> list[str]:
    """Return the words of a verb over this field, and write its file of 600 rows."""
    if order == 2:
        return ["constraints", "examples/frames.txt", "--format", "bits", "--seed", "2026"]
    rng, field = np.random.default_rng(order), GF(order)
    factors, basis = rng.integers(0, order, (600, 5)), rng.integers(0, order, (5, 8))
    rows = reduce(field.add, (field.mul(factors[:, [i]], basis[i]) for i in range(5)))
    path = folder / f"{order}.csv"
    np.savetxt(path, rows, fmt="%d", delimiter=",")
    return ["constraints", str(path), "--no-header", "--field", str(order), "--seed", "2026"]


def _spent(bench: Bench, words: list[str], **environment: str) -> float:
    clock = _children if bench.clock_name == "cpu" else time.perf_counter
    begin = clock()
    child = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    spent = clock() - begin
    if child.returncode:
        last = child.stderr.strip().splitlines()[-1:]
        raise RuntimeError(f"{' '.join(words)} failed: {last}")
    return spent


def _children() -> float:
    """Return the processor time of all child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system
