"""Every verb, from files to answers, exit codes and JSON."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from flagstone import Constraints, Flag, ParityRule, merge_flags
from flagstone.cli.describe import ANSWER_KEYS
from flagstone.models import load

FRAMES = ["examples/frames.txt", "-f", "bits", "--contamination", "0.01", "--seed", "2026"]


@pytest.fixture
def frames_model(run):
    assert run("constraints", *FRAMES, "-o", "frames.json").code == 0
    return "frames.json"


@pytest.fixture
def rule_model(run):
    words = ["-l", "fault", "--encode", "auto", "--intercept", "--seed", "7", "-o", "rule.json"]
    assert run("learn", "examples/faults.csv", *words).code == 0
    return "rule.json"


def test_constraints_find_the_hidden_checks_and_the_damaged_lines(run):
    done = run("constraints", *FRAMES)
    assert done.code == 0
    assert done.out.startswith("5 check equations hold:\n  x0 ⊕ x3 ⊕ x5 ⊕ x6")
    assert (
        "do not fit   6 rows (1.0 %): examples/frames.txt line 18, 72, 117, 197, 285, …" in done.out
    )
    assert "12 kept, seen 29 to 54 times; 4 left out, seen 1 to 2 times" in done.out
    assert re.search(r"fingerprint  [0-9a-f]{16}\n", done.out)


def test_json_has_exactly_the_documented_keys(run):
    done = run("constraints", *FRAMES, "--json", "--show-rows", "99")
    found = json.loads(done.out)
    assert list(found) == list(ANSWER_KEYS)
    assert found["rows"]["misfits"] == 6 == len(found["rows"]["places"])
    assert found["rows"]["places"][0] == ["examples/frames.txt", 18, 18]
    assert len(found["directions"]) == 16
    assert sum(d["count"] for d in found["directions"]) == 600
    assert found["answer"]["masks"][0].startswith("0x")
    row = [int(bit) for bit in Path("examples/frames.txt").read_text().split()[0]]
    assert eval(found["answer"]["expression"], {"x": row}) is True
    assert found["command"].startswith("flagstone constraints examples/frames.txt")


def test_answers_print_as_masks_and_python(run, rule_model):
    masks = run("constraints", *FRAMES, "--as", "masks").out.split("\n")
    assert masks[0] == "0x9669 = 0"
    assert run("show", rule_model, "--as", "masks").out == "0x16 ^ 1\n"
    assert run("show", rule_model, "--as", "python").out == "x[1] ^ x[2] ^ x[4] ^ 1\n"


def test_linear_constraints_and_span_agree(run):
    linear = json.loads(run("constraints", *FRAMES, "--linear", "--json").out)
    span = json.loads(run("span", *FRAMES, "--json").out)
    assert linear["dimension"] == span["dimension"] == 11
    assert len(linear["answer"]["lines"]) == 16 - 11
    assert len(span["answer"]["lines"]) == 11
    assert run("span", *FRAMES).out.startswith("The span:\n  dimension 11 of 16, basis:\n")


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
    assert "--encode 'level=bits:3'" in done.err


def test_learn_says_bottom_with_exit_code_3(run, place):
    (place / "t.csv").write_text("x,y\n" + "1,0\n1,1\n" * 50)
    done = run("learn", "t.csv", "-l", "y", "--seed", "1", "-o", "m.json")
    assert done.code == 3
    assert done.out.startswith("No linear rule fits the rows that were kept:\n  ⊥\n")
    assert load("m.json").is_bottom
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
    lines = json.loads(done.out)["answer"]["lines"]
    assert lines == [f"a{i} = {v} (mod 7)" for i, v in enumerate([3, 1, 4, 1, 5])]


def test_rationals_from_a_csv(run, place):
    (place / "q.csv").write_text("a,b,y\n" + "".join(
        f"{a},{b}/3,{2 * a - b}/6\n" for a in range(-4, 5) for b in range(5)
    ))  # fmt: skip
    done = run("learn", "q.csv", "-l", "y", "--field", "QQ", "--seed", "1")
    assert done.code == 0, done.err
    assert "y = 1/3·a - 1/2·b" in done.out


def test_predict_decodes_labels_and_check_counts_misfits(run, place, rule_model):
    done = run("predict", rule_model, "examples/faults.csv", "-o", "p.csv")
    assert done.out == "400 rows predicted, written to p.csv\n"
    given = [line.split(",")[-1] for line in Path("examples/faults.csv").read_text().split()]
    assert [line.split(",")[-1] for line in Path("p.csv").read_text().split()] == given
    assert run("predict", rule_model, "examples/faults.csv").out == Path("p.csv").read_text()
    found = json.loads(run("predict", rule_model, "examples/faults.csv", "--json").out)
    assert found["predictions"] == given[1:]
    assert run("check", rule_model, "examples/faults.csv").code == 0
    broken = Path("examples/faults.csv").read_text().replace("no\n", "yes\n", 1)
    (place / "broken.csv").write_text("\n" + broken)
    done = run("check", rule_model, "broken.csv")
    assert done.code == 4
    assert "1 row (0.2 %): broken.csv line 3 breaks the rule" in done.out
    assert run("check", rule_model, "broken.csv", "--tolerance", "0.01").code == 0
    found = json.loads(run("check", rule_model, "broken.csv", "--json").out)
    assert (found["ok"], found["misfits"], found["share"]) == (False, 1, 1 / 400)


def test_check_remembers_how_frames_were_read(run, place, frames_model):
    done = run("check", frames_model, "examples/frames.txt", "--tolerance", "0.02")
    assert done.code == 0
    assert "5  x0 ⊕ x3" in done.out
    table = pa.table({f"x{i}": [0, 1] for i in range(16)})
    parquet.write_table(table, "new.parquet")
    assert run("check", frames_model, "new.parquet").code == 0
    (place / "lsb.hex").write_text("8001\n" * 40)
    words = ["lsb.hex", "--bit-order", "lsb", "--seed", "1", "-o", "lsb.json"]
    assert run("constraints", *words).code == 0
    assert run("check", "lsb.json", "lsb.hex").code == 0
    assert run("check", "lsb.json", "lsb.hex", "--bit-order", "msb").code == 4


def test_nothing_kept_is_no_answer(run, place):
    words = ["--rho", "0.05", "--seed", "11"]
    learn = ["learn", "examples/faults.csv", "-l", "fault", "-e", "auto"]
    done = run(*learn, *words, "-o", "r.json")
    assert done.code == 3
    assert done.out.startswith("No direction was kept, so the rows say nothing; this rule is only")
    assert run("show", "r.json").code == 3
    done = run("constraints", *FRAMES[:3], *words, "--json")
    found = json.loads(done.out)
    assert done.code == 3
    assert found["nothing_kept"]
    done = run("constraints", *FRAMES[:3], *words)
    assert "contradict" not in done.out
    assert done.out.startswith("No direction was kept")
    (place / "zero.bits").write_text("000\n" * 50)  # here {0} is the whole truth
    done = run("span", "zero.bits", "--seed", "1")
    assert done.code == 0
    assert done.out.startswith("The span:\n  dimension 0 of 3")


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
    mask = int(found["answer"]["masks"][0].split()[0], 16)
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
    done = run("span", "f.bits", "--seed", "1", "--as", "frames")
    assert done.out == "{5}88\n{5}50\n"


def test_bottom_is_shown_and_saved_in_every_notation(run, place):
    (place / "t.csv").write_text("a,y\n" + "0,1\n1,0\n" * 30)
    for notation in ("text", "masks", "frames", "python"):
        words = ["-l", "y", "--seed", "1", "--as", notation, "-o", f"{notation}.json"]
        done = run("learn", "t.csv", *words)
        assert done.code == 3, done.err
        assert "⊥" in done.out
        assert done.err == ""
        assert load(f"{notation}.json").is_bottom
    done = run("predict", "text.json", "t.csv")
    assert done.code == 3
    assert "allow for outliers with --contamination\n" in done.err


def test_show_draws_again(run, frames_model):
    done = run("show", frames_model, "--report", "r.html", "--plot", "p.svg")
    assert done.code == 0
    assert "written      r.html" in done.out
    assert Path("p.svg").read_text().startswith("<svg")
    assert json.loads(run("show", frames_model, "--json").out)["verb"] == "constraints"


def test_a_png_plot(run, frames_model):
    assert run("show", frames_model, "--plot", "p.png").code == 0
    assert Path("p.png").read_bytes()[:4] == b"\x89PNG"


def test_compare_says_where_models_part(run, place, frames_model, rule_model):
    assert run("compare", frames_model, frames_model).code == 0
    assert run("constraints", *FRAMES[:-1], "other", "-o", "same.json").code == 0
    found = json.loads(run("compare", frames_model, "same.json", "--json").out)
    assert found["same"]
    assert ["seed", "2026", "other"] in found["settings"]
    part = [*FRAMES[:3], "--t-max", "1", "--seed", "2026", "-o", "all.json"]
    assert run("constraints", *part).code == 0
    done = run("compare", frames_model, "all.json")
    assert done.code == 4
    assert "only in frames.json:\n  x0" in done.out
    assert "spans: dimensions 12 and 16, 12 in common, 16 together" in done.out
    assert run("compare", frames_model, rule_model).code == 4


def test_summaries_merge_by_the_tree_and_answer(run, place):
    lines = Path("examples/frames.txt").read_text().split()
    wide = ["".join(line) * 2 for line in lines]  # 32 columns: a flag, not a histogram
    for part in range(3):
        (place / f"p{part}.bits").write_text("\n".join(wide[part::3]) + "\n")
        assert run("summarize", f"p{part}.bits", "-o", f"p{part}.flag", "--seed", "5").code == 0
    done = run("merge", "p0.flag", "p1.flag", "p2.flag", "-o", "all.flag", "--json")
    found = json.loads(done.out)
    assert (found["n_rows"], found["n_shards"], found["kind"]) == (600, 3, "flag")
    flags = [load(f"p{part}.flag").summary for part in range(3)]
    assert load("all.flag").summary == merge_flags(flags)
    assert isinstance(flags[0], Flag)
    answer = run("constraints", "all.flag", "--t-min", "20", "--t-max", "3", "-o", "m.json")
    assert answer.code == 0
    assert "seed         5\n" in answer.out
    assert isinstance(load("m.json").answer, Constraints)
    assert run("check", "m.json", "p0.bits", "--tolerance", "0.05").code == 0
    assert run("show", "all.flag").out.startswith("flag of 600 rows (x, 1) in GF(2)^33, 3 shards")
    assert run("show", "all.flag", "--plot", "f.svg").code == 0
    assert run("compare", "p0.flag", "p0.flag").code == 0
    assert "the flags part at set" in run("compare", "p0.flag", "p1.flag").out
    wrong = run("learn", "all.flag")
    assert wrong.code == 1
    assert "summarizes rows (x, 1), but learn needs (x, y)" in wrong.err


def test_histograms_merge_by_addition(run):
    words = ["examples/frames.txt", "-f", "bits"]
    assert run("summarize", *words, "-o", "h.flag").code == 0
    assert run("merge", "h.flag", "h.flag", "-o", "two.flag").code == 0
    assert run("summarize", *words, "examples/frames.txt", "-o", "both.flag").code == 0
    assert run("compare", "two.flag", "both.flag").code == 0


def test_a_summary_answers_like_the_rows(run):
    assert run("summarize", *FRAMES[:3], "-o", "part.flag").code == 0
    a = json.loads(run("constraints", *FRAMES, "--json").out)
    b = json.loads(run("constraints", "part.flag", *FRAMES[3:], "--json").out)
    assert a["fingerprint"] == b["fingerprint"]
    assert (a["threshold"], a["guarantee"]) == (b["threshold"], b["guarantee"])


def test_plan(run):
    found = json.loads(run("plan", "--dim", "20", "--rho", "0.05", "--seed", "7", "--json").out)
    index = next(e for e in found["entries"] if e["analysis"] == "index")
    assert index["rows"] == 205_332_000
    assert 1 <= int(found["drawn"]["threshold"]) <= index["threshold"]
    assert "index" in run("plan", "--dim", "20", "--rho", "0.05").out


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("span", []),
        ("constraints", []),
        ("constraints", ["--linear"]),
        ("learn", []),
        ("learn", ["--intercept"]),
        ("equations", []),
    ],
)
def test_a_plan_is_what_the_verb_asks_for(run, verb, options):
    """The warning of a verb with too few rows names the number that plan gives for it."""
    rows = np.random.RandomState(0).randint(0, 2, size=(200, 4)).astype(np.uint8)
    labelled = verb in ("learn", "equations")
    np.save("t.npy", rows if labelled else rows[:, :3])
    promise = ["--rho", "0.3", "--eps", "0.3"]
    label = ["-l", "x3"] if labelled else []
    done = run(verb, "t.npy", *label, *options, *promise, "--seed", "1")
    needed = re.search(r"need ([\d,]+) rows of dimension (\d)", done.err)
    assert needed, done.err
    words = ["plan", "--dim", "3", *promise, "--for", verb, *options]
    found = json.loads(run(*words, "--json").out)
    index = next(e for e in found["entries"] if e["analysis"] == "index")
    assert (f"{index['rows']:,}", str(found["row_dim"])) == needed.groups()
    text = run(*words).out
    assert f"· for {verb}: 3 columns make rows" in text


def test_plans_of_learn_count_the_constant(run):
    words = ["plan", "--dim", "3", "--rho", "0.3", "--eps", "0.3", "--delta", "0.1"]
    plain = json.loads(run(*words, "--json").out)
    ones = json.loads(run(*words, "--intercept", "--json").out)
    assert (plain["for"], plain["row_dim"], plain["layout"]) == ("learn", 4, "(x, y)")
    assert (ones["dim"], ones["row_dim"], ones["layout"]) == (3, 5, "(x, 1, y)")
    assert ones["generalization_rows"] > plain["generalization_rows"]
    for wrong in (["--for", "span"], ["--linear"]):
        assert run(*words, *wrong).code == 2
    assert run("plan", "--dim", "3", "--rho", "0.3", "--intercept").code == 2
    for value in (["--rho", "2"], ["--rho", "0.1", "--eps", "0"], ["--rho", "0.1", "--field", "6"]):
        assert run("plan", "--dim", "3", *value).code == 2


def test_a_seed_can_be_insisted_on(run, frames_model):
    assert run("show", frames_model, "--seed", "2026").code == 0
    done = run("check", frames_model, "examples/frames.txt", "--seed", "2027")
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


def test_bench_reports_speeds(run):
    found = json.loads(run("bench", "--rows", "1000", "--repeats", "1", "--json").out)
    assert {r["dim"] for r in found["results"]} == {20, 64, 128, 512}
    assert all(r["rows_per_second"] > 0 for r in found["results"])
