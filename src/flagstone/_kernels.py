"""The kernels that this process uses: a version of the native ones, or the reference in Python.

The choice is made once, when this module is imported, and holds for the whole process: the
fastest native version that the processor can run, or the one that ``FLAGSTONE_CPU`` names. All
versions give the same bits.
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

from flagstone.errors import MissingDependencyError

#: Every version there can be, the fastest first.
VERSIONS = ("avx512", "avx2", "portable", "python")


def available() -> dict[str, Any]:
    """Return the versions that this process can run, by name, the fastest first.

    >>> "python" in available()
    True
    """
    try:
        native: Any = import_module("flagstone._native")
    except ImportError:
        native = None
    found = {name: getattr(native, name, None) for name in VERSIONS[:-1]}
    found["python"] = import_module("flagstone._reference")
    return {name: version for name, version in found.items() if version is not None}


def select(wanted: str) -> tuple[str, Any]:
    """Return name and module of the requested version; the fastest by default."""
    if wanted and wanted not in VERSIONS:
        raise MissingDependencyError(
            f"FLAGSTONE_CPU must be one of {', '.join(VERSIONS)}, got {wanted!r}"
        )
    found = available()
    if wanted and wanted not in found:
        raise MissingDependencyError(
            f"FLAGSTONE_CPU={wanted} cannot be used here: this installation and processor offer "
            f"{', '.join(found)}"
        )
    name = wanted or next(iter(found))
    if not wanted and name == "python":
        warnings.warn(
            "flagstone was installed without its native kernels and computes in Python: the same "
            "answers, many times slower. Install a C++ compiler and reinstall flagstone for the "
            "fast version, or set FLAGSTONE_CPU=python to accept the slow one.",
            stacklevel=2,
        )
    return name, found[name]


#: Name and functions of the version in use.
version, kernels = select(os.environ.get("FLAGSTONE_CPU", ""))
