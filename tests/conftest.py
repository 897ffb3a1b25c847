"""Settings that every test shares."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from flagstone.kernels import small

# Tests are about compiled kernels; those in `kernels/test_small.py` compare plain twins with them.
small.ALLOWANCE = 0.0

settings.register_profile(
    "default",
    deadline=None,  # the first call of a kernel compiles it
    derandomize=True,  # a red build can be repeated, and a green one
    max_examples=16,  # per field and statement; there are many of both
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "thorough", parent=settings.get_profile("default"), max_examples=500, derandomize=False
)
settings.register_profile(  # for `make mutants`: the first failure is enough, and can be repeated
    "mutants",
    parent=settings.get_profile("default"),
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures that displays leave to pyplot, as the end of a cell does."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_configure(config):
    """Drop compiled kernels older than any kernel source.

    Numba recompiles a kernel when its own file changes, not when a helper that it inlines does.
    """
    if hasattr(config, "workerinput"):
        return
    kernels = Path(__file__).parent.parent / "src" / "flagstone" / "kernels"
    newest = max(source.stat().st_mtime for source in kernels.glob("*.py"))
    for compiled in (kernels / "__pycache__").glob("*.nb[ic]"):
        if compiled.stat().st_mtime < newest:
            compiled.unlink()
