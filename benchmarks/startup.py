"""Start-up: ``import flagstone``, the first call of a kernel against the second, and a first fit.

Each number comes from fresh interpreters. *first*, *second*: two updates of one process with the
same rows, after all modules were loaded. *fit*: ``from flagstone import LinearSpan`` and a fit of
1,000 × 20 rows, held against ``import numpy, sklearn.base``. *size*: what the installed package
takes on disk, its native module included.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

import flagstone
from benchmarks.cli_startup import time_of
from benchmarks.harness import Bench
from benchmarks.memory import ROOT

FIELDS = ("2", "7", "2^8", "3^2")
DIMS = (20, 64, 128, 512)

CALLS = """
import json, sys, time
import numpy, flagstone
field, dim = sys.argv[1], int(sys.argv[2])
flagstone.Flag(1, field)  # its modules are loaded when it is first named
X = (numpy.arange(2_000)[:, None] >> numpy.arange(dim) % 16 & 1).astype(numpy.uint8)
spent = []
for _ in range(3):
    begin = time.perf_counter()
    flagstone.Flag(dim, field).update(X).counts
    spent.append(time.perf_counter() - begin)
print(json.dumps(spent))
"""
REFERENCE = "import numpy, sklearn.base"
FIT = """
import numpy
from flagstone import LinearSpan
LinearSpan(random_state=1).fit(numpy.random.RandomState(1).randint(0, 2, size=(1000, 20)))
"""
IMPORT = "import flagstone"


def run(bench: Bench) -> None:
    """Time the first calls in every field, then imports and a first fit in turn."""
    turns = 1 if bench.quick else 5
    for field in FIELDS:
        for dim in DIMS if field == "2" else DIMS[:2]:
            found = [json.loads(_said(CALLS, field, str(dim))) for _ in range(turns)]
            case = f"GF({field}) d={dim}"
            for i, who in enumerate(("first", "second")):
                bench.record(case, who, min(spent[i] for spent in found), rounds=turns, dim=dim)
            bench.say(f"{case}: first {found[0][0]:.4f} s, second {found[0][1]:.4f} s")
    times: dict[str, list[float]] = {"reference": [], "fit": [], "import": []}
    for _ in range(turns + 1):
        for who, code in (("reference", REFERENCE), ("fit", FIT), ("import", IMPORT)):
            times[who].append(time_of(bench, ["-c", code]))
    for who, spent in times.items():
        bench.record("new process", who, statistics.median(spent[1:]), rounds=turns)
        bench.say(f"{who}: {statistics.median(spent[1:]):.2f} s")
    home = Path(flagstone.__file__).parent
    size = sum(path.stat().st_size for path in home.rglob("*") if "__pycache__" not in path.parts)
    bench.record("installed", "size", size, "bytes")


def _said(code: str, *arguments: str) -> str:
    words = [sys.executable, "-c", code, *arguments]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
