"""Every question from Python and from the shell: the same rows and seed, one finding."""

import csv
import dataclasses
import hashlib
import json
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import flagstone
from flagstone import GF, QQ, Finding
from flagstone.algebra.fields import as_field
from flagstone.answers import Constraints, LinearSystem, ParityRule
from flagstone.cli.verbs import VERBS
from flagstone.pipeline import rep_linear_span
from flagstone.question import QUESTIONS
from flagstone.store import load
from flagstone.text import _TITLES

DOCS = Path(__file__).parents[2] / "docs"
SEED = "2026"
ROWS = 400

#: kind and options → command-line words, estimator, its parameters
CASES = {
    "span": (["constraints", "--linear"], "LinearSpan", {}),
    "constraints": (["constraints"], "AffineSpan", {}),
    "parity": (["learn", "--label", "y"], "ParityClassifier", {}),
    "parity with intercept": (
        ["learn", "--label", "y", "--intercept"], "ParityClassifier", {"fit_intercept": True},
    ),
    "equations": (["equations", "--label", "y"], "LinearEquations", {}),
    "subspace": (["subspace", "--label", "y"], "SubspaceClassifier", {}),
    "affine subspace": (
        ["subspace", "--label", "y", "--affine"], "SubspaceClassifier", {"affine": True},
    ),
}  # fmt: skip


def table(field, case, seed=0):
    """Rows that answer the question with something worth comparing, some of them damaged."""
    F, rng = as_field(field), np.random.RandomState(seed)
    order = F.order or 20
    X = rng.randint(0, order, size=(ROWS, 5))
    X[:, 4] = (X[:, 0] + 2 * X[:, 1]) % order if F.degree == 1 and F.order else X[:, 0]
    if "subspace" in case:
        y = (rng.rand(ROWS) < 0.6).astype(int)
        X[y == 0] = rng.randint(0, order, size=(np.count_nonzero(y == 0), 5))
    else:
        y = X[:, 3].copy()
        y[:3] = rng.randint(0, order, size=3)
    frame = pd.DataFrame(X, columns=list("abcde"))
    if F.order is None:
        frame["a"] = [Fraction(int(v), 3) for v in frame["a"]]
    return frame, y


def in_python(field, case, frame, y):
    _, name, options = CASES[case]
    model = getattr(flagstone, name)(field=field, contamination=0.01, random_state=SEED, **options)
    return model.fit(frame) if name in ("LinearSpan", "AffineSpan") else model.fit(frame, y)


def in_shell(run, field, case, frame, y, *more):
    words, name, _ = CASES[case]
    full = frame if name in ("LinearSpan", "AffineSpan") else frame.assign(y=y)
    full.to_csv("table.csv", index=False, quoting=csv.QUOTE_MINIMAL)
    verb, *rest = words
    done = run(
        verb, "table.csv", *rest, "--field", field, "--contamination", "0.01", "--seed", SEED,
        "-o", "shell.json", "--json", *more,
    )  # fmt: skip
    assert done.code in (0, 3), done.err
    return json.loads(done.out), load("shell.json")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("field", ["2", "7", "2^8", "QQ"])
def test_both_interfaces_give_the_same_fingerprint(run, field, case):
    frame, y = table(field, case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = in_python(field, case, frame, y)
        found = fitted.finding_
    printed, saved = in_shell(run, field, case, frame, y)
    assert printed["fingerprint"] == saved.fingerprint == found.fingerprint
    assert saved.question == found.question
    assert (saved.answer, saved.subspace) == (found.answer, found.subspace)
    assert saved.stairs == found.stairs
    shell, python = saved.promises, found.promises
    setup = dataclasses.replace(python.setup, labels=shell.setup.labels)
    assert shell == dataclasses.replace(python, setup=setup)
    found.save("python.json")
    again = load("python.json")
    assert again == found
    assert again.fingerprint == found.fingerprint


@pytest.mark.parametrize("names", [("no", "yes"), ("a,b", "né"), ("-1", "1")])
@pytest.mark.parametrize("case", ["parity", "parity with intercept", "subspace"])
def test_named_labels_are_part_of_the_fingerprint_in_both_interfaces(run, case, names):
    frame, y = table("2", case)
    labels = np.where(y == 1, names[1], names[0])
    plain = in_python("2", case, frame, y).finding_
    python = in_python("2", case, frame, labels.astype(int) if names[1] == "1" else labels)
    quoted = ",".join(f'"{n}"' if "," in n else n for n in names)
    _, saved = in_shell(run, "2", case, frame, labels, "--encode", f"y=levels:{quoted}")
    assert saved.fingerprint == python.fingerprint_ != plain.fingerprint
    assert saved.encoding.labels == python.finding_.encoding.labels == names


def test_the_fingerprint_knows_nothing_but_the_answer():
    """Neither seed, window, rows, column names nor promises enter it; question and field do."""
    X = np.tile([[1, 1, 0], [0, 1, 1]], (200, 1))
    base = rep_linear_span(X, random_state=1)
    assert rep_linear_span(X, random_state=2).fingerprint == base.fingerprint
    assert rep_linear_span(X, t_max=3, random_state=1).fingerprint == base.fingerprint
    assert rep_linear_span(X[:100], random_state=1).fingerprint == base.fingerprint
    named = flagstone.LinearSpan(random_state=1).fit(pd.DataFrame(X, columns=list("abc")))
    assert named.fingerprint_ == base.fingerprint
    assert flagstone.AffineSpan(random_state=1).fit(X).fingerprint_ != base.fingerprint
    assert rep_linear_span(X, field=3, random_state=1).fingerprint != base.fingerprint


def test_the_documented_vector():
    """The text of docs/formats.md, recomputed with nothing but SHA-256."""
    text = (
        "flagstone finding v2\nquestion parity\nfield GF(2)\ncolumns 3\n"
        'labels ["no","yes"]\nrows 1\n0 1 1 1\n'
    )
    X = np.random.RandomState(0).randint(0, 2, size=(500, 3))
    y = np.where(X[:, 1] ^ X[:, 2] ^ 1, "yes", "no")
    model = flagstone.ParityClassifier(fit_intercept=True, random_state=1).fit(X, y)
    assert model.fingerprint_ == hashlib.sha256(text.encode()).hexdigest()
    assert model.fingerprint_ in (DOCS / "formats.md").read_text(encoding="utf-8")


def test_every_kind_has_its_verb_its_class_and_its_place_in_the_glossary():
    glossary = (DOCS / "theory" / "glossary.md").read_text(encoding="utf-8")
    assert set(QUESTIONS) == {"span", "constraints", "parity", "equations", "subspace"}
    for kind, question in QUESTIONS.items():
        assert question.verb in VERBS
        assert kind in _TITLES
        estimator = getattr(flagstone, question.estimator)
        assert isinstance(estimator()._question, question)
        assert f"| `{kind}` |" in glossary
        assert question.verb in glossary
        assert question.estimator in glossary


@pytest.mark.parametrize("field", [GF(2), GF(7), QQ])
def test_what_is_saved_says_what_stands_in_a_row(tmp_path, field):
    for answer, row in (
        (ParityRule([1, 0], 1, field), "(x, 1, y)"),
        (ParityRule([1, 0], 0, field), "(x, y)"),
        (Constraints([[1, 1]], [1], field), "(x, 1)"),
        (Constraints([[1, 1]], [0], field), "(x)"),
        (LinearSystem([[1, 1]], [1], field), "(x, y)"),
    ):
        path = tmp_path / f"{answer.kind}{row}.json"
        flagstone.store.save(path, answer)
        loaded = load(path)
        assert isinstance(loaded, Finding)
        assert loaded.question.row == row
        assert loaded.answer == answer


def test_a_plan_takes_the_same_words_and_gives_the_same_numbers(run):
    words = ["--dim", "42", "--rho", "0.05", "--eps", "0.2", "--delta", "0.1", "--each"]
    asked = {"dim": 42, "rho": 0.05, "eps": 0.2, "delta": 0.1, "each": True}
    found = json.loads(run("plan", *words, "--contamination", "0.001", "--json").out)
    expected = flagstone.plan(**asked, contamination=0.001).to_dict()
    assert {key: found[key] for key in expected} == json.loads(json.dumps(expected))


def test_a_finding_of_the_shell_reads_the_same_table_in_python(run):
    """Columns of true and false are texts in CSV, and truth values in a frame."""
    random = np.random.RandomState(1)
    table = pd.DataFrame(random.randint(0, 2, size=(1500, 4)) > 0, columns=list("abcd"))
    table["host"] = random.choice(["x", "y", "z"], 1500)
    alarm = table.a ^ table.c ^ (table.host == "y") ^ (random.random_sample(1500) < 0.01)
    table["alarm"] = np.where(alarm, "yes", "no")
    table.to_csv("log.csv", index=False)
    asked = ["-l", "alarm", "-e", "auto", "--contamination", "0.02", "--seed", "1"]
    assert run("learn", "log.csv", *asked, "-o", "rule.json").code == 0
    finding, read = load("rule.json"), pd.read_csv("log.csv")
    assert read.a.dtype == bool
    assert (~finding.check(read)).sum() == finding.rows.misfits
    table.to_parquet("log.parquet")
    for file in ("log.csv", "log.parquet"):
        said = run("predict", "rule.json", file).out.splitlines()[1:]
        assert finding.predict(read).tolist() == [line.split(",")[1] for line in said]
    with pytest.raises(flagstone.InputError, match=r"finding\.predict\(X\)"):
        flagstone.ParityClassifier().adopt(finding).predict(read.drop(columns="alarm"))


@pytest.mark.parametrize("read", [pd.read_csv, lambda f: pd.read_csv(f, dtype=str), pl.read_csv])
def test_the_expression_over_the_rationals_reads_rows_by_name_and_exactly(run, read):
    words = ["--field", "QQ", "--contamination", "0.02", "--seed", "2026", "-o", "ledger.json"]
    assert run("constraints", "examples/invoices.csv", *words).code == 0
    code = run("show", "ledger.json", "--as", "python").out
    note, expression = code.splitlines()
    assert note == (
        "# x: a row by column name (csv.DictReader, pandas); numbers, decimals or text; needs: "
        "from fractions import Fraction"
    )
    assert expression == (
        "(Fraction(str(x['net'])) + Fraction(str(x['vat'])) - Fraction(str(x['gross']))) == 0"
    )
    table = read("examples/invoices.csv")
    columns = {name: table[name].to_list() for name in table.columns}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    fits = [eval(code, {"x": row, "Fraction": Fraction}) for row in rows]
    assert np.array_equal(fits, flagstone.load("ledger.json").check(table))
    assert fits.count(False) == 4
