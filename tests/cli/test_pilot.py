"""From pilot rows to a protocol, and from a protocol to two labs with one answer."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from flagstone.cli.json_keys import PILOT_KEYS
from flagstone.store import load, read_document

PILOT = ["plan", "--pilot", "pilot.bits", "--seed", "7"]


def write_frames(name, m, seed, damage=0.01):
    random = np.random.RandomState(seed)
    bits = random.randint(0, 2, size=(m, 8))
    bits[:, 7] = bits[:, 0] ^ bits[:, 1] ^ 1
    bits[:, 6] = bits[:, 2] ^ bits[:, 3]
    bad = random.random_sample(m) < damage
    bits[bad] = random.randint(0, 2, size=(int(bad.sum()), 8))
    Path(name).write_text("".join("".join(map(str, row)) + "\n" for row in bits))


@pytest.fixture
def frames(place):
    for name, m, seed in (("pilot.bits", 600, 1), ("a.bits", 2500, 2), ("b.bits", 2600, 3)):
        write_frames(name, m, seed)


@pytest.fixture
def protocol(run, frames):
    assert run(*PILOT, "--max-rows", "2400", "-o", "p.json").code == 0
    return "p.json"


def test_two_labs_with_one_protocol_give_one_answer(run, protocol):
    prints = set()
    for lab in "ab":
        done = run("constraints", f"{lab}.bits", "--protocol", protocol, "-o", f"{lab}.json")
        assert done.code == 0
        finding = load(f"{lab}.json")
        prints.add(finding.fingerprint)
        assert finding.rows.read == 2400
        assert finding.promises.certified.rho < 0.05
        assert "certified at 99 % confidence" in done.out
    assert len(prints) == 1
    assert len(load("a.json").answer) == 2
    assert run("compare", "a.json", "b.json").out.startswith("same")


def test_a_finding_says_how_to_repeat_it(run, protocol):
    run("constraints", "a.bits", "--protocol", protocol, "-o", "a.json")
    words = load("a.json").provenance["command"].split()
    again = run(*words[1:], "-o", "again.json")
    assert (again.code, again.err) == (0, "")
    assert load("again.json").fingerprint == load("a.json").fingerprint


def test_what_suggest_says(run, frames):
    done = run(*PILOT)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("Thresholds 4 to ")
    assert lines[0].endswith("give one space, of dimension 7; use its middle on fresh rows:")
    found = {line.split()[0]: line for line in lines[1:-1]}
    assert list(found) == ["window", "forecast", "equations", "rows", "seed", "protocol", "run"]
    assert "600 rows: nothing; 1,200 rows: ≥ " in found["forecast"]
    assert "; 2,400 to 19,200 rows: ≥ " in found["forecast"]
    assert "an expectation: single samples certify more or less" in found["forecast"]
    assert found["run"].endswith("flagstone constraints FRESH --protocol protocol.json")
    assert lines[-1].endswith("the window promises nothing: it was chosen on them.")


def test_json_has_exactly_the_documented_keys(run, frames):
    found = json.loads(run(*PILOT, "--json", "-o", "p.json").out)
    assert list(found) == list(PILOT_KEYS)
    assert list(found["protocol"]) == PILOT_KEYS["protocol"].removeprefix("with --pilot: ").split(
        ", "
    )
    assert found["protocol"] == load("p.json").to_dict() == read_document(Path("p.json"))[1]
    assert found["outputs"] == ["p.json"]
    assert [m for m, _ in found["forecast"]] == [600 << k for k in range(6)]
    # without --max-rows the protocol takes what the forecast asks for
    assert found["protocol"]["max_rows"] in dict(map(tuple, found["forecast"]))
    assert json.loads(run("show", "p.json", "--json").out) == found["protocol"] | {"outputs": []}


@pytest.mark.parametrize(
    "option",
    ["--seed 7", "--t-min 3", "--t-max .5", "--max-rows 9", "--confidence .9", "--rule index",
     "--field 2", "--columns x0", "--encode auto", "--rho .1", "--eps .1", "--contamination 0",
     "--length 8", "--bit-order msb"],
)  # fmt: skip
def test_what_the_protocol_fixes_is_refused_even_where_it_says_the_same(run, protocol, option):
    done = run("constraints", "a.bits", "--protocol", protocol, *option.split())
    assert done.code == 2
    assert f"{option.split()[0]} is fixed by p.json; leave it out" in done.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["constraints", "a.bits", "--linear", "--protocol", "p.json"], 1, "another question"),
        (["constraints", "--linear", "a.bits", "--protocol", "p.json"], 1,
         "kind constraints, row (x, 1); here kind"),
        (["constraints", "pilot.bits", "--protocol", "p.json"], 2,
         "p.json (2,400 rows) asks for more rows than there are (600)"),
        (["constraints", "p.json"], 2, "give it as --protocol p.json, beside fresh rows"),
        (["constraints", "p.json", "--protocol", "p.json"], 2, "p.json holds none"),
        (["constraints", "a.bits", "--protocol", "a.bits"], 1, "not a flagstone file"),
        (["constraints", "a.bits", "--protocol", "none.json"], 1, "none.json"),
        (["check", "p.json", "a.bits"], 1, "flagstone constraints FRESH --protocol p.json"),
        (["predict", "p.json", "a.bits"], 1, "holds a protocol, not a finding"),
        (["compare", "p.json", "p.json"], 2, "compare takes findings or flags"),
        (["merge", "p.json", "p.json", "-o", "x.flag"], 2, "p.json is a protocol"),
        (["show", "p.json", "--report", "p.html"], 2, "a protocol has no rows to draw"),
        (["plan", "--pilot", "a.bits", "-o", "p.json"], 1, "exists already"),
        (["plan", "--pilot", "a.bits", "-o", "a.bits", "--force"], 2, "a.bits"),
        (["plan", "--pilot", "a.bits", "--for", "luck"], 2, "--for must be one of"),
        (["plan", "--pilot", "a.bits", "--confidence", "1"], 2, "--confidence must lie strictly"),
        (["plan", "--pilot", "a.bits", "--rho", ".1"], 2, "--rho has no place beside --pilot"),
        (["plan", "--dim", "3", "--rho", ".1", "-o", "p.json"], 2, "--output is for --pilot"),
        (["plan", "--dim", "3", "--rho", ".1", "-f", "bits"], 2, "--format is for --pilot"),
        (["plan", "--dim", "3", "--rho", ".1", "--workers", "2"], 2, "--workers is for --pilot"),
        (["plan", "--dim", "3"], 2, "plan needs --dim and --rho, or pilot rows: --pilot FILE"),
        (["plan", "--pilot", "a.bits", "--rule", "best"], 2, "--rule must be"),
    ],
)  # fmt: skip
def test_misuse_is_said_in_one_line(run, protocol, words, code, said):
    done = run(*words)
    assert said in done.err
    assert done.err.count("\n") == 1
    assert done.code == code


def test_a_damaged_protocol_is_refused(run, protocol):
    text = Path(protocol).read_text()
    Path("bad.json").write_text(text.replace('"seed": "7"', '"seed": "8"'))
    done = run("constraints", "a.bits", "--protocol", "bad.json")
    assert done.code == 1
    assert "bad.json" in done.err


def test_show_says_what_a_protocol_fixes(run, protocol):
    done = run("show", protocol)
    assert done.code == 0
    assert done.out.startswith(f"protocol    {load(protocol).fingerprint[:16]}\n")
    assert "rows        2,400\n" in done.out


def test_without_a_number_of_rows_each_run_says_how_many_it_takes(run, frames):
    run(*PILOT, "--max-rows", "9", "-o", "p.json")
    from dataclasses import replace

    replace(load("p.json"), max_rows=None).save("q.json")
    assert run("constraints", "a.bits", "--protocol", "q.json", "--max-rows", "600").code == 0
    assert "rows        as many in every run" in run("show", "q.json").out


@pytest.mark.parametrize("options", [["--no-intercept"], []])
def test_rules_are_run_as_suggested(run, place, options):
    random = np.random.RandomState(1)
    X = random.randint(0, 2, size=(500, 4))
    lines = ["a,b,c,d,y", *(f"{a},{b},{c},{d},{a ^ c}" for a, b, c, d in X.tolist())]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    words = [
        "plan",
        "--pilot",
        "t.csv",
        "--for",
        "learn",
        "-l",
        "y",
        "--seed",
        "1",
        "--max-rows",
        "500",
    ]
    done = run(*words, *options, "-o", "p.json")
    assert done.code == 0
    # the printed command works as it stands, whatever the question allows for
    assert "flagstone learn FRESH --protocol p.json" in done.out
    done = run("learn", "t.csv", "--protocol", "p.json")
    assert "y = a ⊕ c" in done.out
    wrong = "--intercept" if options else "--no-intercept"
    done = run("learn", "t.csv", "--protocol", "p.json", wrong)
    assert done.code == 1
    assert "another question" in done.err
    rational = run(*words, "--field", "QQ", "-o", "q.json")
    assert rational.code == 0
    assert load("q.json").question.choice == "sparsest"
    assert run("learn", "t.csv", "--protocol", "q.json").code in (0, 3)


def test_rows_that_repeat_forfeit_promises_until_runs_are_counted_once(run, place):
    write_frames("once.bits", 600, 5)
    rows = Path("once.bits").read_text().splitlines()
    Path("thrice.bits").write_text("".join(f"{row}\n" * 3 for row in rows))
    words = ["constraints", "thrice.bits", "--seed", "1", "--t-min", ".03", "--t-max", ".08"]
    done = run(*words)
    assert done.out.startswith("2 check equations hold; nothing is promised about future rows:\n")
    assert "no promise about fresh samples: rows repeat in runs: 67" in done.out
    assert "deduplicate-runs" in done.out
    clean = run(*words, "--deduplicate-runs", "-o", "d.json", "--report", "d.html")
    assert clean.out.startswith("2 check equations hold; at most")
    assert "condition     equal rows that follow each other are one row" in clean.out
    finding = load("d.json")
    distinct = [row for row, before in zip(rows, [None, *rows], strict=False) if row != before]
    assert finding.rows.read == len(distinct)
    assert finding.promises.setup.conditions[0] in Path("d.html").read_text()
    taken = run(*words, "--deduplicate-runs", "--max-rows", "500", "--json")
    assert json.loads(taken.out)["rows"]["read"] == 500
    for more in (["--checkpoint", "c.state"],):
        done = run(*words, "--deduplicate-runs", *more)
        assert done.code == 2
        assert "--deduplicate-runs is not for a run that may be resumed" in done.err


def test_runs_are_found_across_small_files_too(run, place):
    write_frames("once.bits", 300, 5)
    Path("parts").mkdir()
    rows = Path("once.bits").read_text().splitlines()
    for i in range(0, 300, 10):
        thrice = "".join(f"{row}\n" * 3 for row in rows[i : i + 10])
        Path(f"parts/{i:03}.bits").write_text(thrice)
    done = run("constraints", "parts", "--seed", "1")
    assert "rows repeat in runs" in done.out


@pytest.mark.parametrize(
    "options",
    [
        ["--deduplicate-runs"],
        ["--max-rows", "5"],
        ["--draw-rows", "5"],
        ["--checkpoint", "c.ckpt"],
        ["--workers", "2"],
        ["--partition", "files"],
        ["--cache-size", "1MB"],
        ["--checkpoint-every", "5"],
        ["--confidence", "0.9"],
        ["--max-misfits", "3"],
    ],
)
def test_what_is_for_rows_is_refused_for_a_flag(run, frames, options):
    run("summarize", "a.bits", "-o", "a.flag")
    assert run("constraints", "a.flag", "--quiet").code == 0
    done = run("constraints", "a.flag", *options)
    assert done.code == 2
    assert f"{options[0]} is not for a.flag, which holds rows read before" in done.err


def test_a_confidence_is_said_as_it_was_asked_for(run, frames):
    words = ["constraints", "a.bits", "--seed", "1", "--contamination", ".02"]
    high, low = (json.loads(run(*words, "--json", "--confidence", c).out) for c in (".9999", ".9"))
    assert (
        high["promises"]["certified"]["confidence"],
        low["promises"]["certified"]["confidence"],
    ) == (0.9999, 0.9)
    assert low["promises"]["certified"]["future"] < high["promises"]["certified"]["future"]
    assert "(99.99999 % confidence)" in run(*words, "--confidence", ".9999999").out
    assert run(*words, "--confidence", "0").code == 2


def test_without_a_second_reading_nothing_is_certified(run, frames):
    done = run("constraints", "a.bits", "--seed", "1", "--no-measure", "--json")
    found = json.loads(done.out)
    assert found["promises"]["certified"]["certificate"] is None
    assert found["rows"]["misfits"] is None
    assert found["promises"]["certified"]["eps"] < 0.1  # the flag alone says that much


def test_encoders_proposed_by_the_rows_are_a_condition(run, place):
    words = ["learn", "examples/faults.csv", "-l", "fault", "--seed", "7"]
    done = run(*words, "--encode", "auto")
    assert "condition     another sample has the same encoders (the rows themselves" in done.out
    found = json.loads(run(*words, "--encode", "auto", "--json").out)
    assert len(found["promises"]["conditions"]) == 1


@pytest.mark.parametrize("m", [1, 5])
def test_what_too_few_rows_force_exits_with_3(run, frames, m):
    done = run("constraints", "a.bits", "--seed", "1", "--max-rows", m, "-o", "few.json")
    assert done.code == 3
    assert done.out.startswith("Not supported by the rows (too few: ")
    shown = run("show", "few.json")
    assert shown.code == 3
    assert shown.out.startswith("Not supported by the rows")


def test_a_resumed_run_certifies_the_same_bytes(run, frames, monkeypatch):
    words = ["constraints", "a.bits", "b.bits", "--seed", "1", "--contamination", ".02",
             "--checkpoint", "c.state", "--checkpoint-every", "0", "-o", "m.json"]  # fmt: skip
    assert run(*words).code == 0
    whole = Path("m.json").read_bytes()
    Path("m.json").unlink()
    from flagstone.second_pass import SecondPass

    update = SecondPass.update

    def stopped(self, rows, outside):
        update(self, rows, outside)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(SecondPass, "update", stopped)
        assert run(*words).code == 130
    assert not Path("m.json").exists()
    assert run(*words).code == 0
    assert Path("m.json").read_bytes() == whole
    assert load("m.json").promises.certified.certificate is not None


def test_a_finding_made_by_a_protocol_remembers_how_frames_were_read(run, frames):
    for name in ("pilot", "a", "b"):
        Path(f"{name}.bits").rename(f"{name}.txt")
    words = [
        "plan",
        "--pilot",
        "pilot.txt",
        "--format",
        "bits",
        "--bit-order",
        "lsb",
        "--seed",
        "7",
    ]
    assert run(*words, "--max-rows", "2400", "-o", "p.json").code == 0
    assert run("constraints", "a.txt", "--protocol", "p.json", "-o", "a.json").code == 0
    reading = {"format": "bits", "bit_order": "lsb"}
    assert load("a.json").provenance["reading"] == reading
    checked = run("check", "a.json", "b.txt", "--json")
    assert checked.err == ""
    assert json.loads(checked.out)["rows"]["misfits"] < 100


def test_a_checkpoint_of_another_window_is_not_resumed(run, protocol):
    kept = pytest.MonkeyPatch()
    kept.setattr("flagstone.cli.checkpoint.RunCheckpoint.finish", lambda self: None)
    words = ["constraints", "a.bits", "--protocol", protocol, "--checkpoint", "c.ckpt"]
    assert run(*words).code == 0
    kept.undo()
    other = dataclasses.replace(load(protocol), t_max=load(protocol).t_max * 1.1)
    other.save(protocol, overwrite=True)
    assert "belongs to another run" in run(*words).err


def test_a_window_for_the_equations(run, frames):
    done = run(*PILOT, "--equations", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    protocol = found["protocol"]
    assert [protocol["max_rows"], protocol["t_min"]] in found["equations"]
    assert type(protocol["t_min"]) is type(protocol["t_max"]) is int
    assert "is for --pilot" in run("plan", "--dim", "5", "--rho", ".1", "--equations").err
