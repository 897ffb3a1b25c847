"""The verb audit: what it refuses, keeps, and says when it is stopped."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from flagstone import LinearSpan
from flagstone.audit import Pair, audit
from flagstone.audit._pairs import Task
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


def test_the_advice_on_bottoms_names_options_of_the_shell(run, place):
    random = np.random.RandomState(1)
    rows = random.randint(0, 2, (300, 4))
    rows[:, 3] = rows[:, 0] ^ (random.random_sample(300) < 0.2)
    np.savetxt(place / "t.csv", rows, fmt="%d", delimiter=",", header="a,b,c,y", comments="")
    done = run("audit", "t.csv", "-l", "y", "--no-intercept", "--pairs", "2")
    [said] = [line for line in done.out.splitlines() if "EVERY ANSWER IS ⊥" in line]
    assert "allow for wrong rows with --contamination;" in said
    assert "try --degree 2 of learn," in said
    assert said.endswith("; allow for a constant with --intercept")
    assert "=" not in said


@pytest.mark.parametrize("output", [["-o", "a.csv"], ["-o", "a.html"], ["--plot", "a.svg"]])
def test_an_output_that_exists_is_replaced_with_force_only(run, place, output):
    (place / output[1]).write_text("mine")
    done = run("audit", *LAW, *output)
    assert done.code == 1
    assert done.err.endswith(f"{output[1]} exists already; replace it with --force\n")
    assert (place / output[1]).read_text() == "mine"
    assert run("audit", *LAW, *output, "--force").code == 0
    assert (place / output[1]).read_text() != "mine"


def test_every_run_in_error_is_exit_code_1(run, monkeypatch):
    monkeypatch.setattr(
        Task,
        "run",
        lambda task, pair: Pair(pair, "both_error", 0.0, error=f"ValueError: {pair}"),
    )
    done = run("audit", *LAW, "--claim", "0.05")
    assert done.code == 1
    assert done.out == ""
    assert done.err == "flagstone: error: every run of LinearSpan failed: ValueError: 0\n"


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
    exact = narrow["measures"]["exact"]
    assert exact["high"] - exact["low"] <= 0.3
    assert narrow["pairs"] < 300
    parity = ["audit", *LAW, "--estimator", "parity", "--json"]
    exact = json.loads(run(*parity, "--compare", "coef").out)
    loose = json.loads(run(*parity, "--compare", "predictions").out)
    assert exact["integrated"] is loose["integrated"] is False
    assert "churn" in json.loads(run(*parity, "--compare", "churn").out)["measures"]


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
    words = ["examples/faults.csv", "-l", "fault", "-e", "auto", "--tradeoff", "--pairs", "4"]
    table = run("audit", *words)
    assert "INDICATIVE ONLY" in table.out
    assert "accuracy" in table.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--claim", "2"], "--claim must be a number between 0 and 1, got '2'"),
        (["--confidence", "1"], "--confidence must lie"),
        (["--width", "0"], "--width must be larger than 0"),
        (["--jobs", "0"], "--jobs must not be 0"),
        (["--compare", "shape"], "--compare must be one of"),
        (["--compare", "coef"], "--compare coef goes with"),
        (["--learner", "a:b", "--estimator", "span"], "--estimator belongs to our estimators"),
        (["--groups", "g"], "--groups is for files"),
        (["--bootstrap"], "--bootstrap is for files"),
        (["--no-intercept"], "--no-intercept goes with"),
        (["--label", "y"], "--label is for files"),
        (["--tradeoff", "--claim", "0.1"], "--claim is not for --tradeoff"),
        (["--tradeoff", "--plot", "x.pdf"], "must end in .png or .svg"),
        (["--estimator", "affine"], "--estimator must be one of parity, elimination,"),
        (["--tradeoff", "--t-min", "0"], "--t-min must be an integer of at least 1"),
        (["--field", "6"], "--field 6"),
    ],
)
def test_wrong_values_are_usage_errors_in_words_of_options(run, words, message):
    done = run("audit", *LAW, *words)
    assert done.code == 2
    assert message in done.err
    assert not re.search(r"\b\w+=(True|False|\.\.\.)", done.err)


def test_a_plot_that_cannot_be_drawn_is_refused_before_any_pair(run, monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("flagstone.cli.audit.audit", None)
    done = run("audit", *LAW, "--plot", "audit.svg")
    assert done.code == 1
    assert "pip install 'flagstone[plot]'" in done.err


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
        audit(LinearSpan(), uniform(3), m=20, file=place / "nodir" / "k.jsonl", pairs=2)
    assert not (place / "nodir").exists()
    done = run("audit", "examples/faults.csv", "-e", "auto", "--results", "examples/faults.csv")
    assert done.code == 2
    assert "is an input of this run" in done.err


def test_spans_may_be_compared_by_the_equations_they_share(run):
    found = json.loads(run("audit", *LAW, "--compare", "equations", "--json").out)
    usual = json.loads(run("audit", *LAW, "--json").out)
    assert found["measures"]["equations"] == usual["measures"]["equations"]


def test_a_file_keeps_several_audits(run, place):
    first = run("audit", *LAW, "--results", "k.jsonl").out
    before = (place / "k.jsonl").read_bytes()
    other = run("audit", *LAW, "--seed", "9", "--results", "k.jsonl")
    assert (other.code, other.out) == (0, run("audit", *LAW, "--seed", "9").out)
    assert (place / "k.jsonl").read_bytes().startswith(before)
    assert run("audit", *LAW, "--results", "k.jsonl").out == first


def test_an_interrupted_audit_says_what_is_kept_and_how_to_go_on(run, place, monkeypatch):
    honest = Task.run

    def interrupted(task, pair):
        if pair == 7:
            raise KeyboardInterrupt
        return honest(task, pair)

    whole = run("audit", *LAW).out
    with monkeypatch.context() as patch:
        patch.setattr(Task, "run", interrupted)
        stopped = run("audit", *LAW, "--results", "k.jsonl")
        assert stopped.code == 130
        assert "k.jsonl holds 7 pairs" in stopped.err
        assert "nothing was written" not in stopped.err
        command = stopped.err.strip().rpartition("again: flagstone ")[2].split()
        assert "--results FILE" in run("audit", *LAW).err  # nothing kept, and how to keep it
    kept = (place / "k.jsonl").read_bytes()
    assert run(*command).out == whole
    assert (place / "k.jsonl").read_bytes().startswith(kept)  # taken up, not begun anew


LEARNERS = """
from sklearn.linear_model import LogisticRegression

model = LogisticRegression()

def make_model():
    return LogisticRegression()

def learn(X, y, seed):
    return LogisticRegression().fit(X, y)
"""


@pytest.fixture
def numbers(place, monkeypatch):
    """A table of numbers, and a module with learners, in the current folder."""
    rng = np.random.RandomState(1)
    X = rng.normal(size=(120, 2))
    lines = [f"{a},{b},{i // 3},{'yes' if a + b > 0 else 'no'}" for i, (a, b) in enumerate(X)]
    (place / "d.csv").write_text("\n".join(["a,b,g,y", *lines]) + "\n")
    (place / "my_learners.py").write_text(LEARNERS)
    monkeypatch.setattr(sys, "path", [str(place), *sys.path])
    yield ["audit", "d.csv", "--label", "y", "-c", "a,b", "--pairs", "6"]
    sys.modules.pop("my_learners", None)


@pytest.mark.parametrize("name", ["my_learners:model", "my_learners:make_model",
    "my_learners:learn", "sklearn.linear_model:LogisticRegression"])  # fmt: skip
def test_any_learner_is_audited_by_its_name(run, numbers, name):
    done = run(*numbers, "--learner", name, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["errors"] == 0
    assert {"exact", "pointwise", "worst", "approximate", "score"} <= found["measures"].keys()
    assert found["measures"]["score"]["estimate"] > 0.8
    assert found["deterministic"] is True


def test_learners_of_the_folder_run_in_processes(numbers, place):
    words = [*numbers, "--learner", "my_learners:learn", "-j", "2"]
    code = "from flagstone.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=place, capture_output=True, text=True, check=True
    )
    assert "6 pairs: 0 agree exactly, 6 differ" in done.stdout


def test_groups_bootstrap_and_outputs(run, place, numbers):
    words = [*numbers, "--learner", "my_learners:learn"]
    assert "about 48 rows each" in run(*words, "--groups", "g").out
    assert "BOOTSTRAP" in run(*words, "--bootstrap").out
    done = run(*words, "-o", "pairs.csv", "--plot", "audit.svg")
    assert done.code == 0, done.err
    assert "written  pairs.csv" in done.out
    lines = (place / "pairs.csv").read_text().splitlines()
    assert lines[0].startswith("pair,outcome,exact,approximate,pointwise")
    assert len(lines) == 7
    assert (place / "audit.svg").read_bytes().startswith(b"<?xml")
    assert run(*words, "-o", "pairs.csv").code == 1  # nothing is replaced
    assert run(*words, "-o", "audit.html").code == 0
    page = (place / "audit.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<span>--learner</span> <span>my_learners:learn</span>" in page
    assert "<span>--seed</span> <span>0</span></pre>" in page
    assert "audit.html" not in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--learner", "no_such_module:x"], "cannot be loaded: No module named"),
        (["--learner", "my_learners:nothing"], "cannot be loaded"),
        (["--learner", "my_learners"], "must be MODULE:NAME, as in my_module:make_model"),
    ],
)
def test_learners_that_cannot_be_loaded(run, numbers, words, message):
    done = run(*numbers, *words)
    assert done.code == (2 if "must be" in message else 1)
    assert message in done.err


def test_numbers_without_a_learner_lead_to_one(run, numbers):
    done = run(*numbers)
    assert done.code == 1
    assert "does not hold elements of GF(2)" in done.err
    assert "--learner module:name" in done.err
    missing = run("audit", "nofile.csv", "--label", "y")
    assert "nofile.csv: no such file" in missing.err
    assert "--learner" not in missing.err


def test_texts_are_no_numbers(run, numbers):
    words = ["audit", "examples/faults.csv", "--label", "fault", "--pairs", "3"]
    words += ["--learner", "sklearn.tree:DecisionTreeClassifier"]
    done = run(*words)
    assert done.code == 1
    assert "column 'door': holds text such as 'shut'" in done.err
    assert "--encode auto" in done.err
    assert run(*words, "--encode", "auto").code == 0


COLLECT = """
seen = []

def learn(X, y):
    seen.append((X, y))
    return 0
"""
MIXED = """size,group,plan,paid
1.5,7,basic,1
2.5,8,plus,0
,9,pro,1
4.0,6,basic,0
5.0,5,,1
6.5,4,pro,0
"""


@pytest.fixture
def mixed(place, monkeypatch):
    """A table of numbers and one category with gaps, and a learner that keeps what it gets."""
    head, _, rows = MIXED.partition("\n")
    (place / "m.csv").write_text(f"{head}\n{rows}{rows}")
    (place / "my_collector.py").write_text(COLLECT)
    monkeypatch.setattr(sys, "path", [str(place), *sys.path])
    yield ["audit", "m.csv", "--learner", "my_collector:learn", "--pairs", "1"]
    sys.modules.pop("my_collector", None)


def collected():
    return sys.modules["my_collector"].seen[0]


@pytest.mark.parametrize("encode", [["-e", "plan=auto"], ["-e", "auto"], ["-e", "p*=auto"],
    ["-e", "plan=onehot:basic,plus,pro"]])  # fmt: skip
def test_a_learner_gets_numbers_as_they_are_and_encoded_categories(run, mixed, encode):
    done = run(*mixed, "-l", "paid", "--missing", "drop", *encode)
    assert done.code == 0, done.err
    X, y = collected()
    rows = {(1.5, 7.0, 1.0, 0.0, 0.0, 1), (2.5, 8.0, 0.0, 1.0, 0.0, 0)}
    rows |= {(4.0, 6.0, 1.0, 0.0, 0.0, 0), (6.5, 4.0, 0.0, 0.0, 1.0, 0)}
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert {(*x, label) for x, label in zip(X.tolist(), y.tolist(), strict=True)} <= rows
    assert "bits" not in done.err
    assert "above" not in done.err


def test_the_label_of_a_learner_is_encoded_if_it_is_named(run, mixed):
    words = [*mixed, "-c", "size,group", "--missing", "drop"]
    assert run(*words, "-l", "plan", "-e", "auto").code == 0
    X, y = collected()
    assert X.shape == (len(y), 2)
    assert set(y.tolist()) <= {"basic", "plus", "pro"}
    sys.modules.pop("my_collector")
    assert run(*words, "-l", "plan", "-e", "plan=levels:basic,plus,pro").code == 0
    assert set(collected()[1].ravel().tolist()) <= {0, 1, 2}
    done = run(*words, "-l", "plan", "-e", "plan=onehot:basic,plus,pro")
    assert (done.code, "the label 'plan' must stay one column" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--field", "QQ", "-e", "auto"], "--field is for our own estimators; a learner gets"),
        (["-e", "plna=auto"], "--encode names the column 'plna', which is not among the chosen"),
        (
            ["-e", "plan=onehot:a,b", "--missing", "drop"],
            "m.csv line 2, column 'plan': 'basic' is none",
        ),
        (["-c", "size"], "m.csv line 4, column 'size': the value is missing (2 in 'size');"),
        (["-e", "auto", "--missing", "level"], "line 4, column 'size': the value is missing"),
        (["-c", "plan"], "m.csv line 2, column 'plan': holds text such as 'basic'; make numbers"),
    ],
)
def test_what_a_learner_cannot_be_given(run, mixed, words, message):
    done = run(*mixed, *words)
    assert done.code in (1, 2)
    assert message in done.err


def test_a_table_for_a_learner_has_rows(run, mixed, place):
    (place / "m.csv").write_text("a,b\n")
    assert "m.csv: holds no rows" in run(*mixed).err


def test_a_terminal_shows_progress(place):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", "from flagstone.cli import main; main()", "audit", *LAW]
    child = subprocess.Popen(
        words, cwd=place, stderr=theirs, stdout=subprocess.PIPE, env=os.environ | {"TERM": "xterm"}
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other side is closed: Linux says so by an error
        while chunk := os.read(ours, 4096):
            shown += chunk
    os.close(ours)
    assert b"12 pairs" in child.communicate()[0]
    assert b"LinearSpan" in shown
    assert b"/12" in shown


def test_a_learner_named_by_its_file(run, place):
    (place / "kinds.py").write_text("from sklearn.svm import SVC as make\n")
    words = ("audit", "examples/faults.csv", "-l", "fault", "-e", "auto", "--learner")
    done = run(*words, "kinds.py:make", "--pairs", "2")
    assert done.code == 1
    assert "give the module without its suffix: kinds:make" in done.err


def test_a_warning_that_every_run_repeats_is_printed_once(run, place):
    (place / "repeats.py").write_text(
        "import warnings\n"
        "from sklearn.dummy import DummyClassifier\n"
        "class Learner(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        warnings.warn('it did not converge', UserWarning)\n"
        "        return super().fit(X, y)\n"
    )
    rows = "".join(f"{i % 7},{i % 2}\n" for i in range(80))
    (place / "t.csv").write_text("a,y\n" + rows)
    done = run("audit", "t.csv", "-l", "y", "--learner", "repeats:Learner", "--pairs", "3")
    assert done.code == 0
    assert done.err.count("it did not converge") == 1
