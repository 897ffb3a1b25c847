"""Every verb, from files to answers, exit codes and JSON."""

import dataclasses
import json
import re
import shlex
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from flagstone import (
    AffineSpan,
    Flag,
    IndexRule,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
)
from flagstone.algebra.flag import merge_flags
from flagstone.answers import Constraints, ParityRule
from flagstone.cli.apply import plain_cell
from flagstone.cli.json_keys import EACH_KEYS
from flagstone.cli.verbs import VERBS
from flagstone.store import load, read_document

FRAMES = ["examples/frames.txt", "-f", "bits", "--contamination", "0.01", "--seed", "2026"]


@pytest.fixture
def frames_finding(run):
    assert run("constraints", *FRAMES, "-o", "frames.json").code == 0
    return "frames.json"


@pytest.fixture
def rule_finding(run):
    words = ["-l", "fault", "--encode", "auto", "--intercept", "--seed", "7", "-o", "rule.json"]
    assert run("learn", "examples/faults.csv", *words).code == 0
    return "rule.json"


def test_constraints_find_the_hidden_checks_and_the_damaged_lines(run):
    done = run("constraints", *FRAMES)
    assert done.code == 0
    assert done.out.startswith("5 check equations hold; at most 2.9 % of future rows do not fit")
    assert (
        "do not fit    6 rows (1.0 %): examples/frames.txt line 18, 72, 117, 197, 285, …"
        in done.out
    )
    assert "12 kept, each in 49 to 50 sets; 4 left out, each in 1 to 2 sets" in done.out
    assert re.search(r"fingerprint +[0-9a-f]{16}\n", done.out)


def test_json_has_exactly_the_documented_keys(run):
    done = run("constraints", *FRAMES, "--json", "--max-misfits", "99")
    found = json.loads(done.out)
    documented = [keys for keys in VERBS["constraints"].json_keys if keys not in EACH_KEYS]
    assert list(found) == [key for keys in documented for key in keys.split(", ")]
    assert found["schema"] == 3
    assert " ".join(found["rows"]) == "read uncovered misfits skipped places values levels"
    assert list(found["window"]) == ["t_min", "t_max"]
    assert found["window"]["t_min"] <= found["threshold"] <= found["window"]["t_max"]
    assert list(found["promises"])[:3] == ["proven", "certified", "measured"]
    assert found["promises"]["measured"]["uncovered"] == 6 / 600
    schema = files("flagstone") / "schema" / "finding-3.json"
    jsonschema.validate(found, json.loads(schema.read_text()))
    assert found["rows"]["misfits"] == 6 == len(found["rows"]["places"])
    assert found["rows"]["places"][0] == ["examples/frames.txt", 18, 18]
    assert len(found["directions"]) == 16
    assert sum(d["count"] for d in found["directions"]) == 600
    assert found["text"]["masks"][0].startswith("0x")
    row = [int(bit) for bit in Path("examples/frames.txt").read_text().split()[0]]
    assert eval(found["text"]["expression"], {"x": row}) is True
    assert found["provenance"]["command"].startswith("flagstone constraints examples/frames.txt")


def test_answers_print_as_masks_and_python(run, rule_finding):
    masks = run("constraints", *FRAMES, "--as", "masks").out.split("\n")
    assert masks[0] == "0x9669 = 0"
    assert run("show", rule_finding, "--as", "masks").out == "0x16 ^ 1\n"
    assert run("show", rule_finding, "--as", "python").out == "x[1] ^ x[2] ^ x[4] ^ 1\n"


def test_the_saved_finding_is_what_json_prints(run):
    printed = json.loads(run("constraints", *FRAMES, "--json", "-o", "m.json").out)
    assert printed.pop("outputs") == ["m.json"]
    shown = json.loads(run("show", "m.json", "--json").out)
    assert shown.pop("outputs") == []
    assert shown == printed
    assert printed.pop("text")["headline"] == load("m.json").headline
    assert load("m.json").to_dict() == printed == read_document(Path("m.json"))[1]


def test_linear_constraints_are_those_of_a_span(run):
    linear = json.loads(run("constraints", *FRAMES, "--linear", "--json", "-o", "c.json").out)
    assert linear["subspace"]["dim"] == 11
    assert linear["question"] == {"kind": "span", "row": "(x)"}
    assert linear["dim"] == 16
    assert len(linear["text"]["lines"]) == 16 - 11
    equations = run("constraints", *FRAMES, "--linear").out
    assert equations.startswith("A span of dimension 11 of 16, 5 check equations hold; at most")
    assert run("show", "c.json").out.partition("written")[0] == equations


def test_answers_print_as_a_basis(run, place, rule_finding):
    linear = run("constraints", *FRAMES, "--linear", "--as", "basis").out
    head, *rows = linear.split("\n")[:-1]
    assert head == "dimension 11 of 16, basis:"
    found = json.loads(run("constraints", "--linear", *FRAMES, "--json").out)
    assert rows == found["subspace"]["basis"]
    assert (
        run("constraints", "--linear", *FRAMES, "--as", "text").out.splitlines()
        == found["text"]["lines"]
    )
    # with a constant: a point, then the directions
    (place / "t.csv").write_text("a,b,c\n" + "1,0,0\n1,1,1\n" * 40)
    done = run("constraints", "t.csv", "--seed", "1", "--as", "basis")
    assert done.out == "dimension 1 of 3, basis:\n100 +\n011\n"
    done = run("constraints", "--linear", "t.csv", "--field", "3", "--seed", "1", "--as", "basis")
    assert done.out == "dimension 2 of 3, basis:\n1 0 0\n0 1 1\n"
    done = run("show", rule_finding, "--as", "basis")
    assert (done.code, done.out) == (1, "")
    assert "a basis is printed of a span or of check equations" in done.err


INTERFACES = {
    "constraints --linear": ([], lambda X, y: LinearSpan(**OPTIONS).fit(X)),
    "constraints": ([], lambda X, y: AffineSpan(**OPTIONS).fit(X)),
    "learn": (["-l", "y"], lambda X, y: ParityClassifier(**OPTIONS).fit(X, y)),
    "learn --intercept --choice lexmin": (
        ["-l", "y"],
        lambda X, y: ParityClassifier(**OPTIONS, fit_intercept=True, choice="lexmin").fit(X, y),
    ),
    "learn --choice sparsest": (
        ["-l", "y"],
        lambda X, y: ParityClassifier(**OPTIONS, choice="sparsest").fit(X, y),
    ),
    "equations": (["-l", "y"], lambda X, y: LinearEquations(**OPTIONS).fit(X, y)),
    "subspace": (["-l", "y"], lambda X, y: SubspaceClassifier(**OPTIONS).fit(X, y)),
    "subspace --affine": (
        ["-l", "y"],
        lambda X, y: SubspaceClassifier(**OPTIONS, affine=True).fit(X, y),
    ),
}
OPTIONS = {"rule": IndexRule(contamination=0.01, t_max=9), "random_state": "7"}


@pytest.mark.parametrize("option", [["--as", "basis"], ["--max-misfits", "3"]])
def test_show_refuses_what_is_about_an_answer_where_there_is_none(run, option):
    words = ["examples/frames.txt", "-f", "bits", "--seed", "7"]
    assert run("summarize", *words, "-o", "m.flag").code == 0
    assert run("plan", "--pilot", *words, "--max-rows", "600", "-o", "p.json").code == 0
    for file in ("m.flag", "p.json"):
        done = run("show", file, *option)
        assert (done.code, done.out) == (2, "")
        assert f"{option[0]} is about an answer, and {file} holds none: leave it out" in done.err


@pytest.mark.parametrize("verb", INTERFACES)
@pytest.mark.filterwarnings("ignore::flagstone.ReplicabilityWarning")
def test_the_shell_and_the_estimators_find_the_same(run, place, verb):
    """One question, one seed, the same rows: one finding, from every interface, saved or not."""
    pandas = pytest.importorskip("pandas")
    X = np.random.RandomState(3).randint(0, 2, size=(300, 5))
    X[:, 4] = X[:, 0] ^ X[:, 2]
    y = X[:, 1] ^ X[:, 4]
    y[:2] ^= 1
    label, fit = INTERFACES[verb]
    table = pandas.DataFrame(X, columns=list("abcde"))
    estimator = fit(table, y)
    estimator.finding_.save("python.json")
    full = table.assign(y=y) if label else table
    full.to_csv("t.csv", index=False)
    words = [*verb.split(), "t.csv", *label, "--contamination", "0.01", "--t-max", "9"]
    assert run(*words, "--seed", "7", "--max-misfits", "0", "-o", "shell.json").code == 0
    shell, python = load("shell.json"), load("python.json")
    assert python == estimator.finding_
    assert shell.provenance["sources"] == ["t.csv"]
    assert dataclasses.replace(shell, provenance={}) == python
    assert shell.promises == estimator.guarantee_
    assert shell.fingerprint == estimator.fingerprint_
    # what the shell counts is what the estimator counts
    assert run(*words, "--seed", "7", "-o", "counted.json").code == 0
    counted = load("counted.json").rows
    measured = estimator.measure(table, y) if label else estimator.measure(table)
    assert (counted.read, counted.uncovered, counted.misfits) == (
        measured.read,
        measured.uncovered,
        measured.misfits,
    )
    # and the shell reads what Python saved
    assert run("compare", "shell.json", "python.json").code == 0
    assert run("show", "python.json", "--report", "r.html", "--plot", "p.svg").code == 0
    done = run("check", "python.json", "t.csv", "--json")
    assert json.loads(done.out)["rows"]["misfits"] == measured.misfits


def test_the_subspace_of_the_positive_rows(run, place):
    rows = np.random.RandomState(1).randint(0, 2, size=(400, 4))
    good = (rows[:, 0] ^ rows[:, 2]) == 1
    lines = (
        f"{a},{b},{c},{d},{'yes' if g else 'no'}"
        for (a, b, c, d), g in zip(rows, good, strict=True)
    )
    (place / "t.csv").write_text("a,b,c,d,good\n" + "\n".join(lines) + "\n")
    words = ["t.csv", "-l", "good", "-e", "good=levels:no,yes", "--seed", "1"]
    done = run("subspace", *words, "--affine", "-o", "m.json")
    assert done.code == 0, done.err
    assert done.out.startswith("The positive rows obey 1 equation; at most 1.8 % of future rows")
    assert "do not fit    0 rows (0 %)" in done.out
    assert f"rows          {len(rows)} read; 0 outside the span (0 %)" in done.out
    found = load("m.json")
    assert (found.question.row, found.flag.n_rows) == ("(x, 1) or 0", 400)
    assert run("check", "m.json", "t.csv").code == 0
    predicted = run("predict", "m.json", "t.csv").out.split("\n")
    assert predicted[0] == "row,good"
    assert [line.split(",")[1] for line in predicted[1:-1]] == ["yes" if g else "no" for g in good]
    assert run("show", "m.json", "--as", "masks").out == "0x5 = 1\n"
    basis = run("show", "m.json", "--as", "basis").out
    assert basis.startswith("dimension 3 of 4, basis:\n0010 +\n")
    # without --affine the subspace holds the origin, and here everything else
    plain = json.loads(run("subspace", *words, "--json").out)
    assert plain["text"]["lines"] == []
    assert plain["rows"]["misfits"] == int((~good).sum())
    assert plain["question"] == {"kind": "subspace", "affine": False, "row": "(x) or 0"}
    # a flag of the same rows answers the same, also in parts
    summed = ["t.csv", "-l", "good", "-e", "good=levels:no,yes", "--for", "subspace", "--affine"]
    assert run("summarize", *summed, "-o", "t.flag").code == 0
    done = run("subspace", "t.flag", "--affine", "--seed", "1", "--json")
    assert json.loads(done.out)["fingerprint"] == found.fingerprint


def test_a_subspace_without_positive_rows(run, place):
    (place / "t.csv").write_text("a,b,y\n" + "1,0,0\n0,1,0\n" * 40)
    done = run("subspace", "t.csv", "-l", "y", "--seed", "1", "--affine")
    assert done.code == 3
    assert done.out.startswith("No row is positive: the affine subspace is empty:\n")
    done = run("subspace", "t.csv", "-l", "y", "--seed", "1", "--as", "basis")
    assert (done.code, done.out) == (0, "dimension 0 of 2\n")


def test_labels_of_a_subspace_are_0_and_1(run, place):
    (place / "t.csv").write_text("a,b,y\n" + "1,0,2\n0,1,0\n" * 40)
    done = run("subspace", "t.csv", "-l", "y", "--field", "3", "--seed", "1")
    assert done.code == 1
    assert "1 for positive examples and 0 for negative ones" in done.err


def test_a_system_predicts_nothing_but_is_checked(run):
    words = ["--label", "b", "--field", "7", "--seed", "1", "-o", "m.json"]
    assert run("equations", "examples/equations.csv", *words).code == 0
    done = run("predict", "m.json", "examples/equations.csv")
    assert (done.code, done.out) == (1, "")
    assert "predicts nothing; check rows against it instead" in done.err
    assert run("check", "m.json", "examples/equations.csv").code == 0


def test_the_heavy_rule_draws_its_threshold(run, place):
    words = [*FRAMES[:3], "--seed", "1", "--rule", "heavy", "--t-min", "7", "--t-max", "20"]
    done = run("constraints", *words, "--plot", "p.svg", "--report", "r.html", "--json")
    found = json.loads(done.out)
    assert (found["rule"]["name"], found["window"]) == ("heavy", {"t_min": 7, "t_max": 20})
    assert 6 < found["threshold"] <= 20
    dim = found["subspace"]["dim"]
    [sets] = [sets for height, sets, _ in found["levels"] if height == dim]
    text = f"t = {found['threshold']:,.4g} ≤ {sets} sets, dimension {dim}"
    for file in ("p.svg", "r.html"):
        assert text in (place / file).read_text()
        assert 'class="bold"' in (place / file).read_text()
    assert run("constraints", *words, "--plot", "p.png").code == 0
    assert (place / "p.png").read_bytes()[:4] == b"\x89PNG"


def test_findings_are_read_however_they_are_indented(run, place, frames_finding):
    text = (place / frames_finding).read_text()
    for name, options in (("wide", {"indent": 4}), ("flat", {"separators": (",", ":")})):
        (place / f"{name}.json").write_text(json.dumps(json.loads(text), **options))
        assert run("show", f"{name}.json").out == run("show", frames_finding).out
        done = run("constraints", f"{name}.json")
        assert (done.code, "is a finding already" in done.err) == (2, True)
    assert run("summarize", *FRAMES[:3], "-o", "p.flag").code == 0
    flag = json.dumps(json.loads((place / "p.flag").read_text()), indent=4)
    (place / "wide.flag").write_text(flag)
    assert run("constraints", "wide.flag", *FRAMES[3:]).code == 0


def test_learn_names_the_encoders_it_accepted(run):
    done = run("learn", "examples/faults.csv", "-l", "fault", "-e", "auto", "--intercept")
    assert done.code == 0
    assert "fault = pump ⊕ valve ⊕ level[1] ⊕ 1" in done.out
    assert "encoding door=levels:open,shut (text with 2 values)" in done.err
    assert "drawn afresh: publish it to be replicable" in done.out


def test_learn_without_encoders_explains_a_proposal(run):
    done = run("learn", "examples/faults.csv", "-l", "fault")
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "column 'door' (and 4 more) does not hold elements of GF(2)" in done.err
    assert "--encode level=bits:3" in done.err


def test_learn_says_bottom_with_exit_code_3(run, place):
    (place / "t.csv").write_text("x,y\n" + "1,0\n1,1\n" * 50)
    done = run("learn", "t.csv", "-l", "y", "--seed", "1", "-o", "m.json")
    assert done.code == 3
    head, advice, answer = done.out.split("\n")[:3]
    assert (head, answer) == ("No linear rule fits the rows that were kept:", "  ⊥")
    assert advice.startswith("! if labels may be wrong, say how many (contamination); ")
    assert load("m.json").answer.is_bottom
    assert not load("m.json").is_answer
    assert run("show", "m.json").code == 3
    predicted = run("predict", "m.json", "t.csv")
    assert predicted.code == 3
    assert "⊥" in predicted.err
    assert run("check", "m.json", "t.csv").code == 3


def test_contradicting_equations_are_bottom(run, place):
    (place / "t.csv").write_text("a,b\n" + "0,1\n1,0\n" * 50)
    done = run("equations", "t.csv", "-l", "b", "--seed", "1")
    assert done.code == 3
    assert "contradict each other" in done.out


def test_equations_over_other_fields(run):
    done = run("equations", "examples/equations.csv", "--label", "b", "--field", "7", "--json")
    lines = json.loads(done.out)["text"]["lines"]
    assert lines == [f"a{i} = {v} (mod 7)" for i, v in enumerate([3, 1, 4, 1, 5])]


def test_rationals_from_a_csv(run, place):
    (place / "q.csv").write_text("a,b,y\n" + "".join(
        f"{a},{b}/3,{2 * a - b}/6\n" for a in range(-4, 5) for b in range(5)
    ))  # fmt: skip
    done = run("learn", "q.csv", "-l", "y", "--field", "QQ", "--seed", "1")
    assert done.code == 0, done.err
    assert "y = 1/3·a - 1/2·b" in done.out


def test_no_prediction_is_a_formula_for_a_spreadsheet(run, place):
    """Whatever labels and columns are called; numbers stay numbers."""
    rows = "".join(f"{a},{b},{'+1+1' if a ^ b else '@SUM(A1)'}\n" for a in (0, 1) for b in (0, 1))
    (place / "t.csv").write_text("a,b,=cmd()\n" + rows * 50)
    words = ["learn", "t.csv", "-l", "=cmd()", "-e", "=cmd()=levels:@SUM(A1),+1+1"]
    done = run(*words, "--seed", "1", "-o", "m.json")
    assert done.code == 0, done.err
    assert run("predict", "m.json", "t.csv", "-o", "p.csv").code == 0
    lines = (place / "p.csv").read_text().splitlines()
    assert lines[:3] == ["row,'=cmd()", "1,'@SUM(A1)", "2,'+1+1"]
    assert run("predict", "m.json", "t.csv").out.splitlines() == lines
    found = json.loads(run("predict", "m.json", "t.csv", "--json").out)
    assert found["predictions"][:2] == ["@SUM(A1)", "+1+1"]
    (place / "=x.csv").write_text("a,b\n0,1\n")
    assert run("predict", "m.json", "=x.csv", "=x.csv", "-o", "two.csv").code == 0
    assert (place / "two.csv").read_text().splitlines()[1] == "'=x.csv,1,'+1+1"
    (place / "q.csv").write_text("a,y\n" + "".join(f"{a},{-a}/2\n" for a in range(-4, 5)) * 9)
    learn = ["learn", "q.csv", "-l", "y", "--field", "QQ", "--seed", "1", "-o", "q.json"]
    assert run(*learn).code == 0
    assert run("predict", "q.json", "q.csv", "-o", "r.csv").code == 0
    values = [line.split(",")[1] for line in (place / "r.csv").read_text().splitlines()[1:10]]
    assert values == ["2", "1.5", "1", "0.5", "0", "-0.5", "-1", "-1.5", "-2"]


@pytest.mark.parametrize("start", list("=+-@\t\r\n"))
def test_cells_that_begin_like_a_formula_begin_with_an_apostrophe(start):
    for rest in ("", "1+1", "cmd|' /C calc'!A0", "1e5x", "1/", "1.", "١"):
        assert plain_cell(start + rest) == f"'{start}{rest}"
    for number in ("-1", "+1", "-2.50", "-1e-5", "-1/2"):
        assert plain_cell(number) == number


def test_predict_decodes_labels_and_check_counts_misfits(run, place, rule_finding):
    done = run("predict", rule_finding, "examples/faults.csv", "-o", "p.csv")
    assert done.out == "400 rows predicted, written to p.csv\n"
    given = [line.split(",")[-1] for line in Path("examples/faults.csv").read_text().split()]
    assert [line.split(",")[-1] for line in Path("p.csv").read_text().split()] == given
    assert run("predict", rule_finding, "examples/faults.csv").out == Path("p.csv").read_text()
    found = json.loads(run("predict", rule_finding, "examples/faults.csv", "--json").out)
    assert found["predictions"] == given[1:]
    assert run("check", rule_finding, "examples/faults.csv").code == 0
    broken = Path("examples/faults.csv").read_text().replace("no\n", "yes\n", 1)
    (place / "broken.csv").write_text("\n" + broken)
    done = run("check", rule_finding, "broken.csv")
    assert done.code == 4
    assert "1 row (0.2 %) breaks the rule" in done.out
    assert "    broken.csv line 3: pump" in done.out
    assert run("check", rule_finding, "broken.csv", "--tolerance", "0.01").code == 0
    found = json.loads(run("check", rule_finding, "broken.csv", "--json").out)
    assert (found["ok"], found["rows"]["misfits"], found["share"]) == (False, 1, 1 / 400)
    assert found["rows"]["read"] == 400
    assert found["rows"]["places"] == [["broken.csv", 1, 3]]
    assert found["rows"]["uncovered"] == 1
    assert found["fingerprint"] == load(rule_finding).fingerprint


def test_check_remembers_how_frames_were_read(run, place, frames_finding):
    done = run("check", frames_finding, "examples/frames.txt", "--tolerance", "0.02")
    assert done.code == 0
    assert "5  x0 ⊕ x3" in done.out
    table = pa.table({f"x{i}": [0, 1] for i in range(16)})
    parquet.write_table(table, "new.parquet")
    assert run("check", frames_finding, "new.parquet").code == 0
    (place / "lsb.hex").write_text("8001\n" * 40)
    words = ["lsb.hex", "--bit-order", "lsb", "--seed", "1", "-o", "lsb.json"]
    assert run("constraints", *words).code == 0
    assert run("check", "lsb.json", "lsb.hex").code == 0
    assert run("check", "lsb.json", "lsb.hex", "--bit-order", "msb").code == 4


def test_an_empty_span_is_no_answer(run, place):
    words = ["--rho", "0.05", "--seed", "11"]
    learn = ["learn", "examples/faults.csv", "-l", "fault", "-e", "auto"]
    done = run(*learn, *words, "-o", "r.json")
    assert done.code == 3
    assert done.out.startswith("No direction was kept: the rows say nothing:")
    assert run("show", "r.json").code == 3
    done = run("constraints", *FRAMES[:3], *words, "--json")
    found = json.loads(done.out)
    assert done.code == 3
    assert found["is_empty"]
    done = run("constraints", *FRAMES[:3], *words)
    assert "contradict" not in done.out
    assert done.out.startswith("No direction was kept")
    (place / "zero.bits").write_text("000\n" * 50)  # here {0} is the whole truth
    done = run("constraints", "--linear", "zero.bits", "--seed", "1")
    assert done.code == 0
    title = "A span of dimension 0 of 3, no check equation holds beyond constants; at most"
    assert done.out.startswith(title)
    assert "not listed: 3 constants (x0 = 0, x1 = 0, x2 = 0); --as canonical lists all" in done.out
    assert run("constraints", "--linear", "zero.bits", "--as", "basis").out == "dimension 0 of 3\n"


@pytest.mark.parametrize("order", ["msb", "lsb", "nibble", "reversed"])
def test_frame_masks_are_anded_with_frames_as_written(run, place, order):
    random = np.random.RandomState(5)
    frames = [int(x) for x in random.randint(0, 1 << 15, size=400)]
    # the last bit is the parity of the bits under this mask, plus 1
    secret = 0x2C5A
    frames = [2 * f | (1 ^ (bin(f & secret).count("1") & 1)) for f in frames]
    (place / "f.hex").write_text("".join(f"{{16}}{f:04x}\n" for f in frames))
    words = ["f.hex", "--bit-order", order, "--seed", "1"]
    assert run("constraints", *words, "--as", "frames").out == f"{{16}}{2 * secret + 1:04x} = 1\n"
    column = {"msb": 0, "lsb": 7, "nibble": 3, "reversed": 15}[order]  # the first bit as written
    found = json.loads(run("constraints", *words, "--json").out)
    mask = int(found["text"]["masks"][0].split()[0], 16)
    assert mask >> column & 1 == (2 * secret) >> 15 & 1
    last = {"msb": 15, "lsb": 8, "nibble": 12, "reversed": 0}[order]
    done = run("learn", *words, "--intercept", "-l", f"x{last}", "--as", "frames")
    assert done.out == f"{{16}}{2 * secret:04x} ^ 1\n"
    done = run("constraints", *words, "-c", "x0,x1,x3", "--as", "frames")
    assert (done.code, done.out) == (1, "")
    run("constraints", *words, "-c", "x0,x1,x3", "--as", "frames", "-o", "m.json")
    assert not (place / "m.json").exists()
    assert "need every bit of a frame as a column" in done.err


def test_frame_masks_of_odd_lengths(run, place):
    (place / "f.bits").write_text("10001\n01010\n" * 30)
    done = run("constraints", "--linear", "f.bits", "--seed", "1", "--as", "frames")
    assert done.out == "{5}88 = 0\n{5}50 = 0\n{5}20 = 0\n"


def test_a_rule_that_the_coins_drew_alone_predicts_nothing(run, place):
    rows = np.random.RandomState(1).randint(0, 2, (300, 4))
    np.savetxt("t.csv", rows, fmt="%d", delimiter=",", header="a,b,c,y", comments="")
    words = ["learn", "t.csv", "-l", "y", "--seed", "1", "--t-min", "280", "--t-max", "290"]
    assert run(*words, "-o", "rule.json").code == 3
    done = run("predict", "rule.json", "t.csv", "-o", "p.csv")
    assert (done.code, done.out) == (3, "")
    assert "No direction was kept: the rows say nothing, so that nothing is predicted" in done.err
    assert not Path("p.csv").exists()


def test_show_of_a_fit_that_was_not_measured_yet_exits_0(run, place):
    random = np.random.RandomState(1)
    X = random.randint(0, 2, size=(4000, 10))
    y = X[:, 1] ^ X[:, 4] ^ X[:, 8] ^ (random.random_sample(4000) < 0.02)
    bare = ParityClassifier(contamination=0.05, random_state=2026, certify=False).fit(X, y)
    bare.finding_.save("rule.json")
    done = run("show", "rule.json")
    assert done.code == 0
    assert done.out.startswith("A linear rule for y; not measured:")
    assert "ot supported" not in done.out
    assert "certify the answer on the rows of the fit" in done.out


def test_bottom_is_shown_and_saved_in_every_notation(run, place):
    (place / "t.csv").write_text("a,y\n" + "0,1\n1,0\n" * 30)
    for notation in ("text", "canonical", "basis", "masks", "frames", "python"):
        words = ["-l", "y", "--seed", "1", "--no-intercept", "--as", notation]
        words += ["-o", f"{notation}.json"]
        done = run("learn", "t.csv", *words)
        assert done.code == 3, done.err
        assert "⊥" in done.out
        assert done.err == ""
        assert load(f"{notation}.json").answer.is_bottom
    done = run("predict", "text.json", "t.csv")
    assert done.code == 3
    assert "--contamination of learn; if the rule may not be linear, try --degree 2 of" in done.err


def test_show_draws_again(run, frames_finding):
    done = run("show", frames_finding, "--report", "r.html", "--plot", "p.svg")
    assert done.code == 0
    assert "written       r.html" in done.out
    assert Path("p.svg").read_text().startswith("<svg")
    assert (
        json.loads(run("show", frames_finding, "--json").out)["question"]["kind"] == "constraints"
    )


def test_a_png_plot(run, frames_finding):
    assert run("show", frames_finding, "--plot", "p.png").code == 0
    assert Path("p.png").read_bytes()[:4] == b"\x89PNG"


def test_compare_says_where_findings_part(run, place, frames_finding, rule_finding):
    assert run("compare", frames_finding, frames_finding).code == 0
    assert run("constraints", *FRAMES[:-1], "other", "-o", "same.json").code == 0
    found = json.loads(run("compare", frames_finding, "same.json", "--json").out)
    assert found["same"]
    assert ["seed", "2026", "other"] in found["settings"]
    part = [*FRAMES[:3], "--t-max", "1", "--seed", "2026", "-o", "all.json"]
    assert run("constraints", *part).code == 0
    done = run("compare", frames_finding, "all.json")
    assert done.code == 4
    shared = "shared: 1 equation (all that all.json says), fingerprint 4471e86af2f7a089\n"
    assert shared in done.out
    assert "only in frames.json:\n  x0" in done.out
    assert "spans: dimensions 12 and 16, 12 in common, 16 together" in done.out
    assert run("compare", frames_finding, rule_finding).code == 4


def test_compare_says_how_to_save_a_finding_of_rows(run, place, frames_finding):
    (place / "other rows.bits").write_text(Path("examples/frames.txt").read_text())
    for words in ((frames_finding, "other rows.bits"), ("other rows.bits", frames_finding)):
        done = run("compare", *words)
        assert done.code == 1
        assert "other rows.bits: not a flagstone file" in done.err
        command = shlex.split(done.err.partition("saved with -o, such as: flagstone ")[2])
        assert command[:2] == ["constraints", "other rows.bits"]
    assert run(*command).code == 0
    assert run("compare", frames_finding, command[-1]).code == 0
    both = run("compare", "other rows.bits", "other rows.bits")
    assert both.err.endswith("that a verb has saved with -o\n")
    (place / "cut.json").write_text((place / frames_finding).read_text()[:500])
    cut = run("compare", frames_finding, "cut.json").err
    assert "cut short or damaged" in cut
    assert "such as" not in cut


def test_a_headline_ends_in_a_colon_only_above_equations(run, place):
    rows = np.random.RandomState(0).randint(0, 2, size=(400, 5))
    for name, bits in (("chance", rows), ("constant", np.c_[rows, np.ones(400, dtype=int)])):
        (place / f"{name}.bits").write_text("\n".join("".join(map(str, x)) for x in bits) + "\n")
    chance, constant = (
        run("constraints", f"{name}.bits", "--seed", "1").out.splitlines()[:2]
        for name in ("chance", "constant")
    )
    assert chance == ["No check equation holds", ""]
    assert constant[0].startswith("No check equation holds beyond constants; at most ")
    assert constant[0].endswith(":")
    assert constant[1].startswith("  not listed: 1 constant (x5 = 1); ")


def test_summaries_merge_by_the_tree_and_answer(run, place):
    lines = Path("examples/frames.txt").read_text().split()
    wide = ["".join(line) * 2 for line in lines]
    for part in range(3):
        (place / f"p{part}.bits").write_text("\n".join(wide[part::3]) + "\n")
        assert run("summarize", f"p{part}.bits", "-o", f"p{part}.flag", "--seed", "5").code == 0
    done = run("merge", "p0.flag", "p1.flag", "p2.flag", "-o", "all.flag", "--json")
    found = json.loads(done.out)
    assert found["rows"] == {"read": 600, "shards": 3}
    assert (found["summary"], found["question"]["kind"]) == ("flag", "constraints")
    flags = [load(f"p{part}.flag").summary for part in range(3)]
    assert load("all.flag").summary == merge_flags(flags)
    assert isinstance(flags[0], Flag)
    answer = run("constraints", "all.flag", "--t-min", "21", "--t-max", "23", "-o", "m.json")
    assert answer.code == 0
    assert "seed          5\n" in answer.out
    assert isinstance(load("m.json").answer, Constraints)
    assert run("check", "m.json", "p0.bits", "--tolerance", "0.05").code == 0
    assert run("show", "all.flag").out.startswith("flag of 600 rows (x, 1) in GF(2)^33, 3 shards")
    assert run("show", "all.flag", "--plot", "f.svg").code == 0
    assert run("compare", "p0.flag", "p0.flag").code == 0
    assert "the flags differ from set" in run("compare", "p0.flag", "p1.flag").out
    wrong = run("learn", "all.flag")
    assert wrong.code == 1
    assert "summarizes rows (x, 1), but learn needs (x, 1, y)" in wrong.err


def test_a_summary_answers_like_the_rows(run):
    assert run("summarize", *FRAMES[:3], "-o", "part.flag").code == 0
    a = json.loads(run("constraints", *FRAMES, "--json").out)
    b = json.loads(run("constraints", "part.flag", *FRAMES[3:], "--json").out)
    assert a["fingerprint"] == b["fingerprint"]
    assert a["threshold"] == b["threshold"]
    # only rows can be measured, and certify by a second look
    measured, nothing = a["promises"]["measured"], b["promises"]["measured"]
    assert measured["uncovered"] == measured["misfits"] is not None
    assert nothing["uncovered"] is nothing["misfits"] is None
    assert measured["margin"] == nothing["margin"]
    assert a["promises"]["certified"]["certificate"] is not None
    assert b["promises"]["certified"]["certificate"] is None
    for key in ("proven", "labels"):
        assert a["promises"][key] == b["promises"][key]
    for key in ("levels", "directions", "encoding", "answer", "question"):
        assert a[key] == b[key]


def test_plan(run):
    found = json.loads(run("plan", "--dim", "20", "--rho", "0.05", "--seed", "7", "--json").out)
    index = next(e for e in found["entries"] if e["analysis"] == "index")
    assert index["rows"] == 205_332_000
    assert index["t_min"] == 1
    assert found["drawn"]["window"] == {"rule": "index", "t_min": 1, "t_max": index["length"]}
    assert 1 <= found["drawn"]["threshold"] <= index["length"]
    assert "index" in run("plan", "--dim", "20", "--rho", "0.05").out


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("constraints", []),
        ("constraints", ["--linear"]),
        ("learn", []),
        ("learn", ["--intercept"]),
        ("equations", []),
        ("subspace", []),
        ("subspace", ["--affine"]),
    ],
)
def test_a_plan_is_what_the_verb_asks_for(run, verb, options):
    """The warning of a verb with too few rows names the number that plan gives for it."""
    rows = np.random.RandomState(0).randint(0, 2, size=(200, 4)).astype(np.uint8)
    labelled = verb in ("learn", "equations", "subspace")
    np.save("t.npy", rows if labelled else rows[:, :3])
    promise = ["--rho", "0.3", "--eps", "0.3"]
    label = ["-l", "x3"] if labelled else []
    done = run(verb, "t.npy", *label, *options, *promise, "--seed", "1")
    needed = re.search(r"need ([\d,]+) rows of dimension (\d)", done.err)
    assert needed, done.err
    words = ["plan", "--dim", "3", *promise, "--for", verb, *options]
    found = json.loads(run(*words, "--json").out)
    index = next(e for e in found["entries"] if e["analysis"] == "index")
    assert (f"{index['rows']:,}", str(found["dim"])) == needed.groups()
    assert (found["columns"], found["verb"]) == (3, verb)
    text = run(*words).out
    linear = " --linear" if "--linear" in options else ""
    assert f"· for {verb}{linear}: 3 columns make rows {found['row']} of dimension" in text


def test_plans_of_learn_count_the_constant(run):
    words = ["plan", "--dim", "3", "--rho", "0.3", "--eps", "0.3", "--for", "learn"]
    words += ["--delta", "0.1"]
    plain = json.loads(run(*words, "--no-intercept", "--json").out)
    ones = json.loads(run(*words, "--json").out)
    assert (plain["verb"], plain["dim"], plain["row"]) == ("learn", 4, "(x, y)")
    assert (ones["columns"], ones["dim"], ones["row"]) == (3, 5, "(x, 1, y)")
    assert ones["generalization_rows"] > plain["generalization_rows"]
    for wrong in (["--linear"], ["--affine"]):
        assert run(*words, *wrong).code == 2
    assert run("plan", "--dim", "3", "--rho", "0.3", "--no-intercept").code == 2
    for value in (["--rho", "2"], ["--rho", "0.1", "--eps", "0"], ["--rho", "0.1", "--field", "6"]):
        assert run("plan", "--dim", "3", *value).code == 2


def test_a_seed_can_be_insisted_on(run, frames_finding):
    assert run("show", frames_finding, "--seed", "2026").code == 0
    done = run("check", frames_finding, "examples/frames.txt", "--seed", "2027")
    assert done.code == 1
    assert "was made with seed 2026, not with 2027" in done.err


def test_the_same_seed_gives_the_same_bytes(run, place):
    for name in ("a", "b"):
        (place / name).mkdir()
        words = ["-o", "m.json", "--report", "r.html", "--plot", "p.svg", "--force"]
        assert run("constraints", *FRAMES, *words).code == 0
        for file in ("m.json", "r.html", "p.svg"):
            (place / file).rename(place / name / file)
    for file in ("m.json", "r.html", "p.svg"):
        assert (place / "a" / file).read_bytes() == (place / "b" / file).read_bytes()


def test_a_folder_of_parquet_files(run, place):
    rows = np.random.RandomState(3).randint(0, 2, size=(900, 5)).astype(np.uint8)
    rows[:, 4] = rows[:, 0] ^ rows[:, 2]
    (place / "parts").mkdir()
    for i in range(3):
        part = rows[300 * i : 300 * (i + 1)]
        table = pa.table({name: part[:, j] for j, name in enumerate("abcdy")})
        parquet.write_table(table, f"parts/{i}.parquet")
    done = run("learn", "parts", "--label", "y", "--seed", "3", "-o", "m.json")
    assert "y = a ⊕ c" in done.out
    assert load("m.json").answer == ParityRule([1, 0, 1, 0])
    done = run("learn", "parts/*.parquet", "-l", "y", "-c", "a,b", "-c", "-b", "--json")
    assert json.loads(done.out)["columns"] == ["a"]


def test_audit_measures_agreement(run):
    words = ["--law", "geometric", "--dim", "6", "--rows", "300", "--pairs", "20"]
    done = run("audit", *words, "--t-max", "40", "--claim", "0.9", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["pairs"] == 20
    assert found["verdict"]["decision"] in ("supported", "undecided")
    words[3:6] = ["14", "--rows", "60"]  # too few rows to see the rare directions twice
    rejected = run("audit", *words, "--estimator", "span", "--t-max", "1", "--claim", "0.001")
    assert rejected.code == 4, rejected.out
    table = run("audit", "examples/faults.csv", "-l", "fault", "-e", "auto", "--pairs", "3")
    assert table.code == 0, table.err
    assert "INDICATIVE ONLY" in table.out


def test_a_label_says_what_is_asked(run, place):
    X = np.random.RandomState(1).randint(0, 2, (300, 4))
    X[:, 3] = X[:, 0] ^ X[:, 2]
    np.savetxt("t.csv", X, fmt="%d", delimiter=",", header="a,b,c,y", comments="")
    assert run("summarize", "t.csv", "-l", "y", "-o", "t.flag").code == 0
    assert load("t.flag").question.kind == "parity"
    assert "y = a ⊕ c" in run("learn", "t.flag", "--seed", "1").out
    assert run("plan", "--pilot", "t.csv", "-l", "y", "--seed", "1", "-o", "p.json").code == 0
    assert load("p.json").question.choice == "sparsest"
    done = run("summarize", "t.csv", "-l", "y", "--linear", "-o", "u.flag")
    assert (done.code, "--label asks for learn" in done.err) == (2, True)


def test_equations_are_short_and_canonical_on_request(run, place):
    rows = np.random.RandomState(1).randint(0, 2, (300, 5))
    rows[:, 0] = rows[:, 2] ^ rows[:, 3]
    rows[:, 1] = rows[:, 0] ^ rows[:, 4]
    np.savetxt("t.csv", rows, fmt="%d", delimiter=",", header="a,b,c,d,e", comments="")
    short = run("constraints", "t.csv", "--seed", "1", "--as", "text").out.splitlines()
    canonical = run("constraints", "t.csv", "--seed", "1", "--as", "canonical").out.splitlines()
    assert short == ["a ⊕ b ⊕ e = 0", "a ⊕ c ⊕ d = 0"]
    assert canonical == ["a ⊕ c ⊕ d = 0", "b ⊕ c ⊕ d ⊕ e = 0"]


@pytest.mark.parametrize("scale", [[], ["--workers", "1"], ["--partition", "1KB"]])
def test_predictions_are_numbered_as_the_rows_of_the_file(run, place, scale):
    """A row that was left out keeps its number, whoever reads the rows."""
    (place / "t.csv").write_text("a,b,c\n" + "1,1,0\n,1,1\n0,1,1\n1,0,1\n0,1,1\n" * 20)
    words = ["--missing", "drop", "--seed", "1", "-o", "m.json"]
    assert run("constraints", "t.csv", *words).code == 0
    lines = run("predict", "m.json", "t.csv", *scale).out.splitlines()
    assert lines[:6] == ["row,fits", "1,1", "3,1", "4,1", "5,1", "6,1"]
    assert (len(lines), lines[-1]) == (81, "100,1")


def test_a_bound_of_all_future_rows_is_not_shown(run, place):
    (place / "t.csv").write_text("a,b,c\n1,1,0\n0,1,1\n1,0,1\n1,1,0\n")
    done = run(
        "constraints", "t.csv", "--t-max", "1", "--seed", "1", "--report", "r.html", "-o", "m.json"
    )
    assert "of future rows" not in done.out + (place / "r.html").read_text()
    found = json.loads(run("show", "m.json", "--json").out)
    assert 0.999 < found["promises"]["certified"]["eps"] < 1


def test_an_answer_without_equations_is_checked_with_a_warning(run):
    bits = np.random.RandomState(1).randint(0, 2, size=(500, 3))
    Path("free.txt").write_text("\n".join("".join(map(str, row)) for row in bits))
    words = ["free.txt", "--format", "bits", "--seed", "1", "-o", "free.json"]
    found = run("constraints", *words)
    assert "No check equation holds" in found.out
    assert "every row fits, as there is no equation that it could violate" in found.out
    assert "violate it" not in found.out
    done = run("check", "free.json", "free.txt")
    assert done.code == 0
    assert "free.json: there is no equation to check, so every row fits" in done.err
