"""The command line: ``--help``, and the first verb, cold and warm, in four fields.

All are held against ``python -c "import numpy, pyarrow"``, in turn with them: what a Python program
that reads tables pays in any case. The clock runs around whole processes. "Cold" means an empty JIT
cache: 600 rows need none of it, 50,000 do. "scikit-learn loaded" is 1 if the verb imported it.
Python's own cache of modules is used, as it is after any installation. Of several turns the median
counts: the least of a short time is luck.
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
#: Rows that plain NumPy is quick enough for, and rows that kernels are compiled for.
SMALL, LARGE = 600, 50_000


def run(bench: Bench) -> None:
    """Time each verb cold, once; then reference, help and warm verbs in turn, up to seven times."""
    import flagstone.cli  # noqa: F401  (a missing command line is reported once, here)

    with tempfile.TemporaryDirectory() as folder:
        ways = {"reference": (REFERENCE, ""), "--help": ([*MAIN, "--help"], "")}
        for words, _ in ways.values():
            _spent(bench, words)  # Python's cache is filled
        colds = {}
        for order, n_rows in itertools.product(ORDERS, (SMALL, LARGE)):
            case, cache = f"verb {GF(order)} m={n_rows}", f"{folder}/{order}-{n_rows}-cache"
            words = [*MAIN, *_verb(order, n_rows, Path(folder))]
            ways[case] = words, cache
            if not colds:
                _spent(bench, words, NUMBA_CACHE_DIR=f"{folder}/python")
            colds[case] = _spent(bench, words, NUMBA_CACHE_DIR=cache)
        times: dict[str, list[float]] = {case: [] for case in ways}
        for turn in range(1 if bench.quick else 7):
            for case, (words, cache) in ways.items():
                if turn < 3 or not case.endswith(f"m={LARGE}"):
                    times[case].append(_spent(bench, words, NUMBA_CACHE_DIR=cache))
    medians = {case: statistics.median(spent) for case, spent in times.items()}
    for case, spent in times.items():
        who = "warm" if case.startswith("verb") else "spent"
        usual = medians[case]
        bench.record(case, who, usual, rounds=len(spent))
        bench.say(f"{case}: {usual:.2f} s, {usual / medians['reference']:.2f} ×")
    for case, cold in colds.items():
        bench.record(case, "cold", cold)
        bench.say(f"{case}, cold: {cold:.2f} s, {cold / medians[case]:.1f} × warm")
    words = [sys.executable, "-X", "importtime", *MAIN, *_verb(2, SMALL, Path())]
    imports = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    bench.record("imports", "scikit-learn loaded", int("| sklearn" in imports.stderr), "count")


def _verb(order: int, n_rows: int, folder: Path) -> list[str]:
    """Return the words of a verb over this field, and write its file."""
    if order == 2 and n_rows == SMALL:
        return ["constraints", "examples/frames.txt", "--format", "bits", "--seed", "2026"]
    rng, field = np.random.default_rng(order), GF(order)
    if order == 2:
        frames = rng.integers(0, 256, (n_rows, 5), np.uint8)
        frames[:, 4] = np.bitwise_xor.reduce(frames[:, :4], axis=1)
        path = folder / "2.hex"
        path.write_text("\n".join(frame.tobytes().hex() for frame in frames))
        return ["constraints", str(path), "--seed", "2026"]
    factors, basis = rng.integers(0, order, (n_rows, 5)), rng.integers(0, order, (5, 8))
    rows = reduce(field.add, (field.mul(factors[:, [i]], basis[i]) for i in range(5)))
    path = folder / f"{order}-{n_rows}.csv"
    np.savetxt(path, rows, fmt="%d", delimiter=",")
    return ["constraints", str(path), "--no-header", "--field", str(order), "--seed", "2026"]


def _spent(bench: Bench, words: list[str], **environment: str) -> float:
    clock = _children if bench.clock_name == "cpu" else time.perf_counter
    begin = clock()
    child = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | environment,
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
