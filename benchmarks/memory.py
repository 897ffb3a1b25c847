"""Peak memory, measured from outside the timings: one fresh process per number.

The child makes its input, warms up on a few rows, resets the kernel's high-water mark and runs.
What is reported is the most memory that was held *on top of* the input, Linux only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["ROOT", "extra_memory", "in_child", "peak", "resident"]

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise OSError(f"no {name} in /proc/self/status")


def resident() -> int:
    """Return the memory this process holds now, in bytes."""
    return _status("VmRSS")


def extra_memory(run: Callable[[], Any]) -> int:
    """Return how far memory rises while ``run`` runs, in bytes."""
    before = resident()
    Path("/proc/self/clear_refs").write_text("5")
    run()
    return max(0, _status("VmHWM") - before)


def peak(run: Callable[[], Any]) -> dict[str, float]:
    """Return the most memory that this process ever held, once it has run, and the time it took."""
    begin = time.perf_counter()
    run()
    return {"memory": _status("VmHWM"), "elapsed": time.perf_counter() - begin}


def in_child(function: Callable[..., T], **arguments: Any) -> T:
    """Call a function of a module of this package in a fresh process; return its plain value."""
    code = (
        f"import json, sys; from {function.__module__} import {function.__name__} as f; "
        "print(json.dumps(f(**json.loads(sys.argv[1]))))"
    )
    child = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode:
        raise RuntimeError(child.stderr.strip().splitlines()[-1])
    found: T = json.loads(child.stdout)
    return found
