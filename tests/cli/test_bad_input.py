"""Bad input: one line in the user's words, an exit code, and no half-written file."""

import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from flagstone.store import read_document, write_document


def failed(done, code=1):
    """Check that a run failed with one line on stderr and nothing on stdout; return the line."""
    assert done.code == code, (done.code, done.out, done.err)
    assert done.out == ""
    assert "Traceback" not in done.err
    lines = done.err.strip().splitlines()
    assert len(lines) == 1, done.err
    assert lines[0].startswith("flagstone: error: ")
    return lines[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.hex", "", "empty.hex: the file is empty"),
        ("blank.hex", "; only\n\n", "blank.hex: holds no rows"),
        ("short.hex", "{8}ab\n{8}a\n", "short.hex line 2: the row is too short"),
        ("digit.hex", "ab\nax\n", "digit.hex line 2: column 2: 'x' is not a hexadecimal digit"),
        ("mixed.hex", "ab\nabc\n", "mixed.hex line 2: the row has 12 bits, others have 8"),
        ("short.csv", "a,b\n1,0\n1\n", "short.csv line 3: the row has 1 cell(s), but there are 2"),
        ("value.csv", "a,b\n1,0\n1,5\n", "column 'b' does not hold elements of GF(2)"),
        ("binary.csv", "a,b\n1,\xff\n", "is not UTF-8 text"),
        ("t.jsonl", '{"a": 1}\n{"b": 1}\n', "t.jsonl line 2: lacks 'a'"),
        ("t.npy", "junk", "t.npy is no NPY file"),
        ("t.arrow", "junk" * 9, "t.arrow is no Arrow file"),
    ],
)
def test_bad_files(run, place, name, content, message):
    (place / name).write_bytes(content.encode("latin-1"))
    line = failed(run("constraints", name, "--seed", "1", "-o", "m.json", "--report", "r.html"))
    assert message in line
    assert not (place / "m.json").exists()
    assert not (place / "r.html").exists()


def test_a_missing_file_and_its_closest_name(run):
    line = failed(run("constraints", "examples/frame.txt"))
    assert "examples/frame.txt: no such file or directory; did you mean 'frames.txt'" in line


def test_an_unknown_column_and_its_closest_name(run):
    done = run("learn", "examples/faults.csv", "-l", "fualt", "-e", "auto")
    assert "there is no label column 'fualt'; did you mean 'fault'" in failed(done)
    done = run("learn", "examples/faults.csv", "-l", "fault", "-c", "pmup", "-e", "auto")
    assert "there is no column 'pmup'; did you mean 'pump'" in failed(done)


def test_a_label_outside_the_field_names_its_line(run, place):
    (place / "t.csv").write_text("a,y\n1,1\n\n0,2\n")
    done = run("learn", "t.csv", "-l", "y", "-e", "y=element")
    assert "t.csv line 4, label 'y': 2 is not an element of GF(2) (0 or 1)" in failed(done)


def test_a_value_that_shows_up_late_names_its_row(run, place):
    column = np.zeros(30_000, dtype=np.uint8)
    column[25_000] = 3
    parquet.write_table(pa.table({"a": column, "b": column}), "t.parquet")
    done = run("constraints", "t.parquet", "-o", "m.json")
    assert "t.parquet row 25001, column 'a': 3 is not an element of GF(2)" in failed(done)
    assert not (place / "m.json").exists()


def test_a_parquet_file_cut_in_half(run, place):
    parquet.write_table(pa.table({"a": np.arange(9999) % 2}), "t.parquet")
    data = (place / "t.parquet").read_bytes()
    (place / "t.parquet").write_bytes(data[: len(data) // 2])
    assert "t.parquet is no Parquet file, or it is cut short" in failed(
        run("constraints", "--linear", "t.parquet")
    )


def test_existing_outputs_are_refused_before_any_work(run, place):
    words = ["constraints", "examples/frames.txt", "-f", "bits", "--seed", "1"]
    (place / "m.json").write_text("precious")
    line = failed(run(*words, "-o", "m.json"))
    assert "m.json exists already; replace it with --force" in line
    assert "exists already" in failed(run(*words, "--report", "m.json"))
    assert "exists already" in failed(run("summarize", *words[1:4], "-o", "m.json"))
    assert (place / "m.json").read_text() == "precious"
    assert run(*words, "-o", "m.json", "--force").code == 0
    assert (place / "m.json").read_text() != "precious"
    assert "nowhere does not exist" in failed(run(*words, "-o", "nowhere/m.json"))


def test_inputs_are_never_overwritten(run, place):
    before = (place / "examples" / "frames.txt").read_bytes()
    frames = ["examples/frames.txt", "-f", "bits", "--force"]
    again = "examples/../examples/frames.txt"
    assert "is an input of this run" in failed(run("constraints", *frames, "-o", again), code=2)
    assert "is an input" in failed(
        run("constraints", "--linear", *frames, "--checkpoint", again), code=2
    )
    assert "is an input" in failed(run("summarize", *frames, "-o", again), code=2)
    both = ["-o", "m.json", "--checkpoint", "m.json"]
    assert "is an output" in failed(run("constraints", "--linear", *frames, *both), code=2)
    assert run("constraints", *frames, "-o", "m.json").code == 0
    done = run("predict", "m.json", "examples/frames.txt", "-o", again, "--force")
    assert "is an input" in failed(done, code=2)
    assert "is an input" in failed(run("show", "m.json", "--report", "m.json", "--force"), code=2)
    assert (place / "examples" / "frames.txt").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["learn", "examples/faults.csv"], "learn needs --label"),
        (["subspace", "examples/faults.csv"], "subspace needs --label"),
        (["plan", "--dim", "3", "--rho", ".1", "--affine"], "--affine is for subspace"),
        (
            ["constraints", "--linear", "examples/faults.csv", "-l", "fault"],
            "there is no option -l",
        ),
        (
            ["summarize", "examples/faults.csv", "--for", "constraints", "-l", "fault", "-o", "x"],
            "takes no --label",
        ),
        (["constraints", "examples/frames.txt", "--plot", "p.pdf"], "must end in .png or .svg"),
        (["constraints", "examples/frames.txt", "--as", "xml"], "--as must be one of"),
        (["constraints", "examples/frames.txt", "--t-max", "x"], "--t-max must be"),
        (["constraints", "examples/faults.csv", "-e", "door"], "must read COLUMN=ENCODER"),
        (["audit"], "give either files or --law"),
        (["audit", "--law", "cauchy"], "--law must be one of"),
        (["summarize", "examples/frames.txt", "-o", "x", "--for", "y"], "--for must be one of"),
        (["learn", "examples/faults.csv", "-l", "fault", "--choice", "best"], "--choice must be"),
    ],
)
def test_wrong_words_are_usage_errors(run, words, message):
    assert message in failed(run(*words), code=2)


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--rho", "0"], "--rho must lie strictly between 0 and 1", 2),
        (["--eps", "1.5"], "--eps must be a number between 0 and 1, got '1.5'", 2),
        (["--eps", "1"], "--eps must lie strictly between 0 and 1", 2),
        (["--contamination", "0.6"], "--contamination is the largest share of rows", 2),
        (["--t-max", "700"], "--t-max 700 asks for more sets than there are rows (600)", 1),
        (["--t-max", "7", "--t-min", "9"], "not come before the first, --t-min = 9, got 7", 1),
        (["--t-min", "0"], "--t-min must be an integer of at least 1", 2),
        (["--t-min", "1.5"], "--t-min must be an integer of at least 1", 2),
        (["--t-max", "paper"], "--t-max paper is the constant", 2),
        (["--t-max", "paper"], "use it with --rule heavy, or leave it out", 2),
        (["--t-max", "paper", "--rule", "heavy"], "--t-max paper is a function of --rho", 2),
        (["--rule", "median"], "--rule must be 'index' or 'heavy', got 'median'", 2),
        (["--field", "6"], "6", 2),
        (["--field", "x"], "--field must be 2, 11, '2^8'", 2),
        (["--bit-order", "middle"], "--bit-order must be one of", 2),
        (["--length", "7"], "no rows are left: all 600 of them", 1),
        (["--format", "xls"], "format must be one of", 2),
        (["--delimiter", ";"], "--delimiter is for csv and tsv", 2),
        (["--no-header"], "is for csv and tsv", 2),
        (["--columns", "x99"], "there is no column 'x99'", 1),
        (["--encode", "x0=bits:99"], "the number of bits must be between 1 and 64", 2),
    ],
)
def test_bad_parameters(run, options, message, code):
    done = run("constraints", "examples/frames.txt", "-f", "bits", "--seed", "1", *options)
    assert message in failed(done, code)


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (["--contamination", "0.2"], "so --contamination × rank must stay below 1 (here 0.2 × 16"),
        (["--contamination", "0.2"], "or the first threshold outright as --t-min"),
        (["--t-min", "100"], "give a smaller --t-min"),
        (["--t-min", "9999"], "give a smaller --t-min"),
    ],
)
def test_a_window_past_the_last_set_keeps_nothing_and_says_so(run, options, remedy):
    """That depends on the data, so it is an answer (of no use), not an error."""
    words = ["examples/frames.txt", "-f", "bits", "--seed", "1", *options, "-o", "m.json"]
    done = run("constraints", *words)
    assert done.code == 3
    assert done.out.startswith("No direction was kept: the rows say nothing:\n")
    [line] = done.err.splitlines()
    assert line.startswith("flagstone: warning: the window {")
    assert "starts past the last of the 50 sets, so nothing is kept" in line
    assert remedy in line
    assert run("show", "m.json").code == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["constraints", "examples/frames.txt", "--sede", "1"],
            "there is no option --sede; did you mean '--seed'?",
        ),
        (
            ["constraints", "t.csv", "--tolerance", "1"],
            "there is no option --tolerance here; it belongs to check",
        ),
        (["constrain"], "there is no verb 'constrain'; did you mean 'constraints'?"),
        (["constraints"], "missing: FILE"),
        (
            ["constraints", "examples/frames.txt", "--eps", "much"],
            "--eps must be a number between 0 and 1, got 'much'",
        ),
        (["constraints", "--seed"], "--seed needs a value: TEXT"),
        (["constraints", "--seed", "--"], "--seed needs a value: TEXT"),
        (["constraints", "--json=yes"], "--json takes no value, got 'yes'"),
        (["constraints", "t.csv", "--max-rows", "0"], "a whole number of at least 1, got '0'"),
        (["constraints", "t.csv", "--max-rows", "2.5"], "a whole number of at least 1, got '2.5'"),
        (["constraints", "t.csv", "--checkpoint-every", "nan"], "a number of at least 0, got"),
        (["--sed"], "there is no option '--sed'"),
    ],
)
def test_unknown_options_and_verbs_are_one_line_with_a_hint(run, words, message):
    line = failed(run(*words), code=2)
    assert message in line
    assert re.search(r"; see: flagstone( constraints)? --help$", line)


def test_without_words_the_overview_is_shown(run):
    done = run()
    assert done.code == 2
    assert done.out.startswith("Usage: flagstone")


def test_options_that_do_not_apply_are_refused(run, place):
    (place / "t.csv").write_text("a,b\n1,0\n0,1\n")
    done = run("constraints", "t.csv", "--length", "5", "--bit-order", "bogus")
    assert "is for hex and bits, but the format is csv" in failed(done, code=2)
    parquet.write_table(pa.table({"a": [0, 1]}), "t.parquet")
    done = run("constraints", "t.parquet", "--delimiter", ";", "--no-header")
    assert "is for csv and tsv, but the format is parquet" in failed(done, code=2)
    for delimiter in ("", ";;"):
        done = run("constraints", "t.csv", "--delimiter", delimiter)
        assert "must be one ASCII character" in failed(done, code=2)
    assert run("summarize", "t.csv", "-o", "t.flag").code == 0
    assert run("constraints", "t.flag", "--field", "2").code == 3  # two rows support nothing
    done = run("constraints", "t.flag", "--field", "7")
    assert "summarizes rows over GF(2): leave out --field 7" in failed(done, code=2)
    done = run("constraints", "t.flag", "--length", "7")
    assert "--length is not for t.flag, which holds rows read before" in failed(done, code=2)


def test_a_summary_of_another_layout_says_which_option_fits(run):
    words = ["examples/faults.csv", "--for", "learn", "-l", "fault", "-e", "auto"]
    assert run("summarize", *words, "--no-intercept", "-o", "plain.flag").code == 0
    assert run("summarize", *words, "-o", "ones.flag").code == 0
    assert "; add --no-intercept, as when" in failed(run("learn", "plain.flag"))
    assert "; leave out --no-intercept" in failed(run("learn", "ones.flag", "--no-intercept"))
    assert run("summarize", "examples/frames.txt", "-f", "bits", "-o", "c.flag").code == 0
    assert "; leave out --linear" in failed(run("constraints", "c.flag", "--linear"))
    words = ["examples/frames.txt", "-f", "bits", "--linear"]
    assert run("summarize", *words, "-o", "s.flag").code == 0
    assert "; add --linear" in failed(run("constraints", "s.flag"))
    assert "summarize --for constraints --linear" in failed(
        run("constraints", "--linear", "plain.flag")
    )
    words = ["examples/faults.csv", "--for", "subspace", "-l", "fault", "-e", "auto"]
    assert run("summarize", *words, "-o", "sub.flag").code == 0
    assert run("subspace", "sub.flag").code == 0
    assert "; leave out --affine" in failed(run("subspace", "sub.flag", "--affine"))
    assert run("summarize", *words, "--affine", "-o", "aff.flag").code == 0
    assert "; add --affine, as when" in failed(run("subspace", "aff.flag"))
    assert "summarizes rows (x) or 0, but constraints --linear needs (x)" in failed(
        run("constraints", "--linear", "sub.flag")
    )


def test_rows_that_are_all_left_out_pass_no_check(run, place):
    (place / "a.hex").write_text("{8}ab\n{8}cd\n" * 30)
    (place / "b.hex").write_text("{12}abc\n")
    assert run("constraints", "a.hex", "--length", "8", "--seed", "1", "-o", "m.json").code == 0
    for verb in ("check", "predict"):
        assert "no rows are left: all 1 of them" in failed(run(verb, "m.json", "b.hex"))
    done = run("constraints", "b.hex", "--length", "8", "--seed", "1")
    assert "no rows are left" in failed(done)


@pytest.mark.parametrize(
    "text",
    [
        "(1436509052.249713) can0 123#0d55\n",
        "1675413347 0d55\n1675413348 0d56\n",
        "2024-01-01 10:00:00 {16}0d55\n2024-01-01 10:00:01 {16}0d55\n",
    ],
)
@pytest.mark.parametrize("options", [["-f", "hex"], []])
def test_what_reads_no_capture_says_what_to_do_instead(run, place, text, options):
    (place / "capture.txt").write_text(text)
    (place / "t.hex").write_text("0d55\n0d56\n" * 30)
    assert run("constraints", "t.hex", "--seed", "1", "-o", "plain.json").code == 0
    assert run("frames", "t.hex", "--seed", "1", "-o", "frames.json").code == 0
    for words, instead in (
        (["predict", "plain.json"], "flagstone check FINDING FILE)"),
        (["check", "plain.json"], "is checked against captures as they are)"),
        (["plan", "--pilot"], "flagstone frames FRESH --protocol FILE)"),
    ):
        done = run(*words, "capture.txt", *options)
        assert (done.code, done.out) == (1, "")
        assert "keep only the frames, one per line: flagstone frames CAPTURE --as hex (" in done.err
        assert done.err.endswith(f"{instead}\n")
    assert run("check", "frames.json", "capture.txt").code == 0
    done = run("predict", "frames.json", "capture.txt", *options)
    assert done.err.endswith(
        "which frames pass is what this says: flagstone check frames.json FILE\n"
    )
    done = run("constraints", "capture.txt", *options)
    assert done.err.endswith("is read by: flagstone frames FILE\n")


def test_predict_prints_nothing_before_it_fails(run, place):
    (place / "t.csv").write_text("a,y\n" + "1,1\n0,0\n" * 30)
    assert run("learn", "t.csv", "-l", "y", "--seed", "1", "-o", "m.json").code == 0
    (place / "bad.csv").write_text("a\n5\n")
    assert "5 is not an element" in failed(run("predict", "m.json", "bad.csv"))


def test_a_warning_speaks_of_options(run):
    words = ["constraints", "examples/frames.txt", "-f", "bits", "--seed", "1", "--eps", "0.05"]
    done = run(*words, "--t-max", "30")
    assert "a smaller --t-max keeps coverage" in done.err


def test_damaged_and_foreign_findings(run, place):
    words = ["constraints", "examples/frames.txt", "-f", "bits", "--seed", "1", "-o", "m.json"]
    assert run(*words).code == 0
    text = (place / "m.json").read_text()
    (place / "m.json").write_text(text.replace('"seed": "1"', '"seed": "2"'))
    assert "its checksum does not match" in failed(run("show", "m.json"))
    (place / "n.json").write_text(text[:200])
    assert "cut short or damaged" in failed(run("check", "n.json", "examples/frames.txt"))
    assert "no such file" in failed(run("show", "nothing.json"))
    assert "not a flagstone file" in failed(run("show", "examples/faults.csv"))
    run("summarize", "examples/frames.txt", "-f", "bits", "-o", "p.flag")
    assert "not a finding" in failed(run("predict", "p.flag", "examples/frames.txt"))


def test_findings_and_flags_are_told_apart(run):
    run("constraints", "examples/frames.txt", "-f", "bits", "--seed", "1", "-o", "m.json")
    run("summarize", "examples/frames.txt", "-f", "bits", "-o", "p.flag")
    assert "compare like with like" in failed(run("compare", "p.flag", "m.json"), code=2)
    assert "saved with -o" in failed(run("compare", "m.json", "examples/equations.csv"))
    assert "is a finding already" in failed(run("constraints", "m.json"), code=2)
    assert "merge takes flags" in failed(run("merge", "m.json", "-o", "q.flag"), code=2)
    assert "is a flag already" in failed(run("summarize", "p.flag", "-o", "q.flag"), code=2)
    line = failed(run("show", "p.flag", "--report", "r.html"), code=2)
    assert "holds a flag without an answer: leave out --report" in line


def test_a_flag_keeps_its_columns_and_label(run):
    words = ["--for", "learn", "-l", "fault", "-e", "auto", "--intercept", "-o", "p.flag"]
    assert run("summarize", "examples/faults.csv", *words).code == 0
    done = run("learn", "p.flag", "--intercept", "--seed", "1")
    assert "fault = pump ⊕ valve ⊕ level[1] ⊕ 1" in done.out
    assert run("learn", "p.flag", "--intercept", "-l", "fault").code == 0
    line = failed(run("learn", "p.flag", "--intercept", "-l", "door"))
    assert "was summarized with the label 'fault', not with 'door'" in line
    line = failed(run("learn", "p.flag", "--intercept", "-c", "door"), code=2)
    assert "--columns is not for p.flag, whose columns are fixed" in line


def damaged(data: bytes, random: np.random.RandomState) -> bytes:
    """Return bytes with some changed, cut off, inserted or removed."""
    place = random.randint(len(data))
    how = random.randint(4)
    if how == 0:
        return data[:place] + bytes([random.randint(256)]) + data[place + 1 :]
    if how == 1:
        return data[:place]
    if how == 2:
        junk = [b"\n", b"\0", b",", b"\xff", b'"', b"{", b"99999999999999999999", b"nan"]
        return data[:place] + junk[random.randint(len(junk))] + data[place:]
    return data[:place] + data[place + random.randint(1, 20) :]


def test_no_damage_to_any_file_ends_in_a_traceback(run, place):
    random = np.random.RandomState(0)
    rows = random.randint(0, 2, size=(40, 4))
    np.save("b.npy", rows)
    np.savez("b.npz", X=rows)
    parquet.write_table(pa.table({f"x{i}": rows[:, i] for i in range(4)}), "b.parquet")
    (place / "b.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b, *_ in rows))
    (place / "b.jsonl").write_text("".join(f"[{a}, {b}]\n" for a, b, *_ in rows))
    (place / "b.hex").write_text("".join(f"{{6}}{16 * a + 8 * b:02x}\n" for a, b, *_ in rows))
    assert run("constraints", "b.csv", "--seed", "1", "-o", "b.json").code == 0
    whole = {name: (place / name).read_bytes() for name in
             ("b.npy", "b.npz", "b.parquet", "b.csv", "b.jsonl", "b.hex", "b.json")}  # fmt: skip
    failures = 0
    for name, data in whole.items():
        for _ in range(20):
            broken = place / f"f.{name.partition('.')[2]}"
            broken.write_bytes(damaged(data, random))
            verb = ["show"] if name == "b.json" else ["constraints", "--seed", "1"]
            done = run(*verb, broken)
            assert done.code in (0, 1, 3)
            if done.code == 1:
                failed(done)
                failures += 1
    assert failures > 60


def test_control_characters_of_data_never_reach_the_terminal(run, place):
    evil = "\x1b[31mred"
    (place / "t.csv").write_text(f"{evil},b\n" + "1,1\n0,0\n" * 30)
    done = run("constraints", "t.csv", "--seed", "1")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\\x1b[31mred" in done.out
    failing = run("learn", "t.csv", "-l", "bb")
    assert "\x1b" not in failing.err


def test_an_unproven_promise_is_a_one_line_warning(run):
    words = ["constraints", "examples/frames.txt", "-f", "bits", "--seed", "1"]
    done = run(*words, "--rho", "0.05")
    assert done.err.startswith("flagstone: warning: ")
    assert done.err.count("\n") == 1
    assert "not proven with 600 rows" in done.err


def test_no_edit_of_where_a_finding_came_from_ends_in_a_traceback(run, place):
    """Provenance is repeated nowhere, so it may say anything, under a right checksum."""
    frames = ["examples/frames.txt", "-f", "bits"]
    assert run("constraints", *frames, "--seed", "1", "-o", "m.json").code == 0
    kind, content = read_document("m.json")
    junk = [None, -1, 0.5, "", "x", [[]], {"x": []}, "\x1b[31m"]
    edits = [
        {name: value} for name in ("sources", "command", "reading", "summary") for value in junk
    ]
    for name in ("format", "header", "delimiter", "bit_order", "length", "other"):
        edits += [{"reading": {"format": "bits", name: value}} for value in junk]
    taken = 0
    for edit in edits:
        document = content | {"provenance": content["provenance"] | edit}
        write_document("e.json", kind, document, overwrite=True)
        for verb in (
            ["show", "e.json", "--report", "e.html", "--force"],
            ["show", "e.json", "--as", "frames"],
            ["check", "e.json", "examples/frames.txt"],
            ["predict", "e.json", "examples/frames.txt"],
        ):
            done = run(*verb)
            assert done.code in (0, 1, 2, 4), (edit, verb)
            assert "\x1b" not in done.out + done.err
            taken += done.code != 1
    assert taken > 50


def test_a_tab_is_typed_as_backslash_t(place, run):
    (place / "t.csv").write_text("a\tb\n1\t1\n0\t0\n")
    done = run("constraints", "t.csv", "--seed", "1")
    assert "give --delimiter '\\t', else --delimiter ," in failed(done)
    assert run("constraints", "t.csv", "--seed", "1", "--delimiter", "\\t").code in (0, 3)


def test_a_finding_after_the_rows(run):
    run("constraints", "examples/frames.txt", "-f", "bits", "-o", "checks.json")
    for verb in ("check", "predict"):
        done = run(verb, "examples/frames.txt", "checks.json")
        assert "; the saved finding comes first, then the rows" in failed(done)


def test_a_window_past_one_row_asks_for_more_rows(run, place):
    (place / "t.csv").write_text("a,b,c\n1,2,3\n")
    done = run("constraints", "t.csv", "--field", "QQ", "--contamination", "0.01")
    assert done.code == 3
    assert "too few rows for this --contamination; more rows help" in done.err
    assert "must stay below 1" not in done.err


def test_rows_that_break_rational_equations_are_predicted_as_zero(run, place):
    rows = [f"{i},{2 * i},{3 * i + (i == 40)}" for i in range(1, 200)]
    (place / "t.csv").write_text("\n".join(["net,vat,gross", *rows]))
    words = ("--field", "QQ", "--contamination", "0.02", "--seed", "1", "-o", "t.json")
    assert run("constraints", "t.csv", *words).code == 0
    lines = run("predict", "t.json", "t.csv").out.splitlines()
    assert (lines[0], lines[1], lines[40]) == ("row,fits", "1,1", "40,0")


def test_check_counts_the_rows_that_it_leaves_out(run, place):
    rows = [f"{i},{2 * i},{3 * i}" for i in range(1, 200)]
    (place / "t.csv").write_text("\n".join(["net,vat,gross", *rows, "1,2,", "1,,3"]))
    words = ("--field", "QQ", "--missing", "drop", "--seed", "1", "-o", "t.json")
    assert run("constraints", "t.csv", *words).code == 0
    first = run("check", "t.json", "t.csv").out.splitlines()[0]
    assert first.startswith("199 rows checked against ")
    assert first.endswith(", 2 left out because a value is missing")
