"""Run the command line inside the test process, in a fresh directory with the examples."""

import contextlib
import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from flagstone.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass
class Ran:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A fresh working directory that holds the examples."""
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("*.py"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(place) -> Callable[..., Ran]:
    """Run ``flagstone`` with some words, and return exit code and output."""

    def call(*words: object) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        code = None
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([str(word) for word in words])
            except SystemExit as stop:
                code = stop.code
        return Ran(int(code or 0), out.getvalue(), err.getvalue())

    return call
