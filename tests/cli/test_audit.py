"""The verb audit: what it refuses, keeps, and says when it is stopped."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from flagstone.audit import audit
from flagstone.distributions import uniform
from flagstone.errors import InputError

LAW = ["--law", "geometric", "--dim", "6", "--rows", "150", "--t-max", "20", "--pairs", "12"]


@pytest.mark.parametrize(
    "estimator", ["parity", "elimination", "equations", "span", "constraints", "subspace"]
)
def test_every_estimator_is_audited_on_a_law(run, estimator):
    done = run("audit", *LAW, "--estimator", estimator, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["pairs"], found["errors"]) == (12, 0)


def test_every_key_of_json_is_documented(run):
    text = run("audit", "--help-all").out.partition("Keys of --json:")[2]
    found = json.loads(run("audit", *LAW, "--claim", "0.5", "--json").out)
    curve = json.loads(run("audit", *LAW, "--tradeoff", "--json").out)
    keys = {
        *found,
        *found["verdict"],
        *curve,
        *(k for k in curve["tradeoff"][0] if "_sem" not in k),
    }
    for key in keys:
        assert re.search(rf"\b{key}\b", text), key
    documented = set(
        re.findall(r"[a-z_]+", ",".join(re.findall(r"^  ([a-z_, ]+?)(?:  |$)", text, re.M)))
    )
    assert documented <= keys


def test_every_pair_in_error_is_exit_code_1(run, monkeypatch):
    from flagstone.audit import Outcome, _collect

    monkeypatch.setattr(
        _collect,
        "run_pair",
        lambda task, pair, _: Outcome("both_error", error=f"ValueError: {pair}"),
    )
    done = run("audit", *LAW, "--claim", "0.05")
    assert done.code == 1
    assert "12 × ValueError: #" in done.out
    assert "nothing can be said" in done.out


def test_a_constant_needs_an_intercept_and_the_headline_says_so(run):
    rows = np.random.RandomState(1).randint(0, 2, (300, 4))
    rows[:, 3] = rows[:, 0] ^ 1
    np.savetxt("t.csv", rows, fmt="%d", delimiter=",", header="a,b,c,y", comments="")
    words = ["audit", "t.csv", "-l", "y", "--t-max", "5", "--pairs", "20"]
    without = run(*words, "--no-intercept").out
    assert "EVERY ANSWER IS ⊥" in without
    found = json.loads(run(*words, "--json").out)
    assert found["both_bottom"] == 0
    assert found["agreements"] == 20


def test_stop_rules_and_notions_of_same(run):
    words = ["audit", *LAW[:-2], "--pairs", "300"]
    few = json.loads(run(*words, "--disagreements", "3", "--json").out)
    assert few["disagreements"] == 3
    narrow = json.loads(run(*words, "--width", "0.3", "--json").out)
    low, high = narrow["interval_anytime"]
    assert high - low <= 0.3
    assert narrow["pairs"] < 300
    parity = ["audit", *LAW, "--estimator", "parity", "--json"]
    exact = json.loads(run(*parity, "--same", "coef").out)
    loose = json.loads(run(*parity, "--same", "predictions").out)
    assert exact["integrated"] is loose["integrated"] is None
    assert exact["strong_id"] != loose["strong_id"]


def test_the_tradeoff_is_printed_and_drawn(run, place):
    done = run("audit", *LAW, "--tradeoff", "--rho", "0.4", "--plot", "curve.svg")
    assert done.code == 0, done.err
    assert "replicability" in done.out.splitlines()[0]
    assert "replicability of 0.6 or more, rule index" in done.out
    drawn = (place / "curve.svg").read_bytes()
    assert drawn.startswith(b"<?xml")
    again = run("audit", *LAW, "--tradeoff", "--plot", "curve.svg")
    assert again.code == 1
    assert (place / "curve.svg").read_bytes() == drawn
    table = run("audit", "examples/faults.csv", "-l", "fault", "-e", "auto", "--tradeoff")
    assert "INDICATIVE ONLY" in table.out
    assert "accuracy" in table.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--claim", "2"], "--claim must lie in [0, 1], got 2"),
        (["--confidence", "1"], "--confidence must lie"),
        (["--width", "0"], "--width must lie"),
        (["--jobs", "0"], "--jobs must not be 0"),
        (["--same", "shape"], "--same must be one of"),
        (["--same", "coef"], "--same coef goes with"),
        (["--no-intercept"], "--no-intercept goes with"),
        (["--label", "y"], "--label names a column of files"),
        (["--plot", "x.svg"], "--plot draws the curve of --tradeoff"),
        (["--tradeoff", "--claim", "0.1"], "--tradeoff takes no --claim"),
        (["--tradeoff", "--plot", "x.pdf"], "must end in .png or .svg"),
        (["--add"], "--add goes with --results"),
        (["--estimator", "affine"], "--estimator must be one of span, constraints,"),
        (["--tradeoff", "--t-min", "0"], "--t-min must be an integer of at least 1"),
        (["--field", "6"], "--field 6"),
    ],
)
def test_wrong_values_are_usage_errors_in_words_of_options(run, words, message):
    done = run("audit", *LAW, *words)
    assert done.code == 2
    assert message in done.err
    assert not re.search(r"\b\w+=(True|False|\.\.\.)", done.err)


def test_a_label_is_asked_for_in_the_words_of_the_audit(run):
    done = run("audit", "examples/faults.csv", "-e", "auto", "--estimator", "parity")
    assert done.code == 2
    assert "an audit of this estimator needs --label" in done.err


def test_results_are_not_filed_in_a_folder_that_is_not_there(run, place):
    done = run("audit", *LAW, "--results", "nodir/deep/k.jsonl")
    assert (done.code, done.out) == (1, "")
    assert "nodir/deep/k.jsonl: the directory" in done.err
    assert "nodir/deep does not exist" in done.err
    assert not (place / "nodir").exists()
    with pytest.raises(InputError, match=r"the directory .* does not exist"):
        audit("span", uniform(3), 20, file=place / "nodir" / "k.jsonl", max_pairs=2)
    assert not (place / "nodir").exists()
    done = run("audit", "examples/faults.csv", "-e", "auto", "--results", "examples/faults.csv")
    assert done.code == 2
    assert "is an input of this run" in done.err


def test_results_of_another_audit_are_kept_unless_added(run, place):
    assert run("audit", *LAW, "--results", "k.jsonl").code == 0
    before = (place / "k.jsonl").read_bytes()
    other = [*LAW, "--seed", "9", "--results", "k.jsonl"]
    refused = run("audit", *other)
    assert refused.code == 1
    assert "give --add" in refused.err
    assert "add=True" not in refused.err
    assert (place / "k.jsonl").read_bytes() == before
    assert run("audit", *other, "--add").code == 0


def test_an_interrupted_audit_says_what_is_kept_and_how_to_go_on(run, place, monkeypatch):
    from flagstone.audit import _collect as module

    honest = module.run_pair

    def interrupted(task, pair, on_error):
        if pair == 7:
            raise KeyboardInterrupt
        return honest(task, pair, on_error)

    whole = run("audit", *LAW).out
    with monkeypatch.context() as patch:
        patch.setattr(module, "run_pair", interrupted)
        stopped = run("audit", *LAW, "--results", "k.jsonl")
        assert stopped.code == 130
        assert "k.jsonl holds 7 pairs" in stopped.err
        assert "nothing was written" not in stopped.err
        command = stopped.err.strip().rpartition("again: flagstone ")[2].split()
        assert "--results FILE" in run("audit", *LAW).err  # nothing kept, and how to keep it
    kept = (place / "k.jsonl").read_bytes()
    assert run(*command).out == whole
    assert (place / "k.jsonl").read_bytes().startswith(kept)  # taken up, not begun anew
