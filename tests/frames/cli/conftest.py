"""The command line inside the test process, as for the other verbs."""

from tests.cli.conftest import place, run

__all__ = ["place", "run"]
