"""What the numbers were measured on."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

from benchmarks import peers
from flagstone._kernels import version

__all__ = ["describe"]


def describe() -> dict[str, object]:
    """Return machine, versions and date, ready for JSON."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load": [round(x, 2) for x in os.getloadavg()],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in ("flagstone", "numpy")},
        "kernels": version,
        "peers": peers.versions(),
    }


def _cpu() -> str:
    seen: dict[str, str] = {}
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else []:
        name, _, value = line.partition(":")
        seen.setdefault(name.strip(), value.strip())
    if "model name" not in seen:
        return platform.processor() or "unknown"
    model = f"{seen['model name']}, family {seen.get('cpu family')} model {seen.get('model')}"
    wide = [x for x in ("avx2", "avx512f") if x in seen.get("flags", "").split()]
    return ", ".join([model, *wide])
