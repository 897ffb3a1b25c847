"""Start-up: ``import flagstone``, and the first update with an empty and with a filled JIT cache.

Each number comes from fresh interpreters; the clock runs from before ``import flagstone`` (NumPy
and Numba included) until the first update is done, but not while the rows are made. There are
50,000 of them: fewer would go through plain NumPy. Coverage, a
development tool that Numba loads wherever it finds it, is kept out: users do not have it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.harness import Bench
from benchmarks.memory import ROOT

DIMS = (20, 64, 128, 1024)

IMPORT = """
import json, sys, time
clock = time.process_time if sys.argv[1] == "cpu" else time.perf_counter
begin = clock()
import flagstone
spent = clock() - begin
print(json.dumps([spent, int("numba" in sys.modules)]))
"""

UPDATE = """
import json, sys, time
clock = time.process_time if sys.argv[1] == "cpu" else time.perf_counter
sys.modules["coverage"] = None
begin = clock()
import numpy
import flagstone
loaded = clock()
dim = int(sys.argv[2])
X = (numpy.arange(50_000)[:, None] >> numpy.arange(dim) % 16 & 1).astype(numpy.uint8)
made = clock()
flagstone.Flag(dim).update(X)
print(json.dumps([clock() - made + loaded - begin, 0]))
"""


def run(bench: Bench) -> None:
    """Import five times; for each width two cold starts and three warm ones."""
    imports = [_fresh(IMPORT, bench.clock_name) for _ in range(1 if bench.quick else 5)]
    bench.record("import", "flagstone", min(t for t, _ in imports), rounds=len(imports))
    bench.record("import", "numba loaded", imports[0][1], "count")
    bench.say(f"import: {min(t for t, _ in imports):.3f} s")
    for dim in DIMS:
        colds, warms = [], []
        for _ in range(1 if bench.quick else 2):
            with tempfile.TemporaryDirectory() as cache:
                colds.append(_fresh(UPDATE, bench.clock_name, str(dim), NUMBA_CACHE_DIR=cache)[0])
                warms += [
                    _fresh(UPDATE, bench.clock_name, str(dim), NUMBA_CACHE_DIR=cache)[0]
                    for _ in range(1 if bench.quick else 3)
                ]
        bench.record(f"first update d={dim}", "cold", min(colds), rounds=len(colds), dim=dim)
        bench.record(f"first update d={dim}", "warm", min(warms), rounds=len(warms), dim=dim)
        bench.say(f"first update d={dim}: cold {min(colds):.2f} s, warm {min(warms):.2f} s")


def _fresh(code: str, *arguments: str, **environment: str) -> tuple[float, int]:
    child = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, loaded = json.loads(child.stdout)
    return float(seconds), int(loaded)
