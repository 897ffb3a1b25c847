"""The command line: ``--help``, and a verb on few and on many rows, in four fields.

All are held against ``python -c "import numpy, pyarrow"``, in turn with them: what a Python program
that reads tables pays in any case. The clock runs around whole processes. "scikit-learn loaded" is
1 if the verb imported it. Python's own cache of modules is used, as it is after any installation.
Of several turns the median counts: the least of a short time is luck.
"""

from __future__ import annotations

import itertools
import os
import resource
import statistics
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
#: Few rows, and many.
SMALL, LARGE = 2_000, 50_000


def run(bench: Bench) -> None:
    """Time reference, help and verbs in turn, seven times."""
    import flagstone.cli  # noqa: F401  (a missing command line is reported once, here)

    with tempfile.TemporaryDirectory() as folder:
        ways = {"reference": REFERENCE, "--help": [*MAIN, "--help"]}
        for order, n_rows in itertools.product(ORDERS, (SMALL, LARGE)):
            ways[f"verb {GF(order)} m={n_rows}"] = [*MAIN, *_verb(order, n_rows, Path(folder))]
        times: dict[str, list[float]] = {case: [] for case in ways}
        for turn in range(2 if bench.quick else 8):
            for case, words in ways.items():
                spent = time_of(bench, words)
                if turn:  # the first fills Python's cache
                    times[case].append(spent)
        words = [sys.executable, "-X", "importtime", *MAIN, *_verb(2, SMALL, Path(folder))]
        imports = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    medians = {case: statistics.median(spent) for case, spent in times.items()}
    for case, usual in medians.items():
        bench.record(case, "spent", usual, rounds=len(times[case]))
        bench.say(f"{case}: {usual:.2f} s, {usual / medians['reference']:.2f} ×")
    bench.record("imports", "scikit-learn loaded", int("| sklearn" in imports.stderr), "count")


def _verb(order: int, n_rows: int, folder: Path) -> list[str]:
    """Return the words of a verb over this field, and write its file."""
    rng, field = np.random.default_rng(order), GF(order)
    if order == 2:
        frames = rng.integers(0, 256, (n_rows, 5), np.uint8)
        frames[:, 4] = np.bitwise_xor.reduce(frames[:, :4], axis=1)
        path = folder / f"2-{n_rows}.hex"
        path.write_text("\n".join(frame.tobytes().hex() for frame in frames))
        return ["constraints", str(path), "--format", "hex", "--seed", "2026"]
    factors, basis = rng.integers(0, order, (n_rows, 5)), rng.integers(0, order, (5, 8))
    rows = reduce(field.add, (field.mul(factors[:, [i]], basis[i]) for i in range(5)))
    path = folder / f"{order}-{n_rows}.csv"
    np.savetxt(path, rows, fmt="%d", delimiter=",")
    return ["constraints", str(path), "--no-header", "--field", str(order), "--seed", "2026"]


def time_of(bench: Bench, words: list[str]) -> float:
    """Return the time of a new Python process, by the clock of the run."""
    clock = _children if bench.clock_name == "cpu" else time.perf_counter
    begin = clock()
    child = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
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
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
