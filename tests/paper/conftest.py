"""The command line, as the tests of verbs run it."""

from tests.cli.conftest import place, run

__all__ = ["place", "run"]
