"""Settings that every test shares."""

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, Phase, settings

# Started with `nohup … &` or `… &` in a script, tests find Ctrl-C ignored, and so would all
# processes that they start.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# Compiled once, not by each of the many processes that tests start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# One thread for each process: samples are small, and tests run side by side.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

settings.register_profile(
    "default",
    deadline=None,  # machines may be busy
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
