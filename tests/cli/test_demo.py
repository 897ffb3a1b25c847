"""The demo tells the truth: two captures, one seed, the planted checks, the same fingerprint."""

import importlib.util
import shlex

import pytest

from .conftest import EXAMPLES


@pytest.fixture
def demo():
    spec = importlib.util.spec_from_file_location("demo", EXAMPLES / "demo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_both_labs_find_the_planted_checks(demo, run, place, monkeypatch, capsys):
    said = []

    def in_process(command, lines=None):
        done = run(*shlex.split(command))
        assert done.code == 0, done.err
        said.append(done.out)

    monkeypatch.setattr(demo, "ROWS", 12_000)
    monkeypatch.setattr(demo, "flagstone", in_process)
    assert demo.main() == 0
    assert [out.split("\n")[0].split(";")[0] for out in said] == [
        "8 check equations hold",
        "8 check equations hold",
        "same",
        "No check equation holds",
        "No check equation holds",
    ]
    out = capsys.readouterr().out
    assert "Same equations from both labs: yes" in out
    assert "Exactly the 8 planted checks:  yes" in out
    assert (place / "build" / "demo" / "lab-b.html").exists()


def test_frames_are_written_in_the_receivers_notation(demo, place):
    import numpy as np

    bits = np.array([[int(b) for b in f"{0xCFB9F00D648:044b}"[:41]]], dtype=np.uint8)
    demo.write_hex(bits, place / "f.txt")
    assert (place / "f.txt").read_text() == "{41}cfb9f00d648\n"
