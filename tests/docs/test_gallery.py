"""Every example of the gallery runs; the site is built from their output."""

import runpy
import shutil
import warnings

import pytest

from .snippets import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(path.name)
