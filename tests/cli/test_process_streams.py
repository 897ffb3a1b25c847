"""What is printed: spelled for streams that lack a sign, harmless for terminals, valid as JSON."""

import json
import os
import subprocess
import sys
import warnings

import pytest

MAIN = [sys.executable, "-c", "from flagstone.cli import main; main()"]
EVIL = "\x1b[31m\x9b1mred\x07\u202e"
CONTROLS = [chr(c) for c in (*range(10), *range(11, 32), *range(127, 160), 0x202E)]


def spoken(words, encoding, folder):
    """Return what a command prints to streams of an encoding."""
    return subprocess.run(
        [*MAIN, *words],
        cwd=folder,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_a_sign_that_a_stream_lacks_is_spelled_out(run, place, encoding):
    (place / "t.csv").write_text("é,b,y\n" + "1,1,0\n0,1,1\n1,0,1\n" * 30)
    assert run("learn", "t.csv", "-l", "y", "--seed", "1", "-o", "m.json").code == 0
    (place / "bad.csv").write_text("x,y\n" + "1,0\n1,1\n" * 300)
    learned = ["learn", "bad.csv", "-l", "y", "--seed", "1", "--t-max", "1"]
    bottom = run(*learned, "-o", "bottom.json")
    assert "⊥" in bottom.out
    signs = {"⊕": "^", "⊥": "_|_", "é": "\\xe9"}
    cases = [(["show", "m.json"], "⊕", 0), (["check", "bottom.json", "bad.csv"], "⊥", 3)]
    if encoding == "ascii":
        cases += [(["show", "m.json"], "é", 0), (learned, "⊥", 3), (["--help"], "⊥", 0)]
    for words, sign, code in cases:
        done = spoken(words, encoding, place)
        assert done.returncode == code, done.stderr
        assert b"Traceback" not in done.stderr
        try:
            sign.encode(encoding)
        except UnicodeEncodeError:
            sign = signs[sign]
        assert sign in (done.stdout + done.stderr).decode(encoding)
    said = spoken(["show", "m.json", "--json"], encoding, place)
    assert "⊕" in json.loads(said.stdout.decode(encoding))["text"]["answer"]


def test_no_message_commands_a_terminal(run, place):
    (place / "t.csv").write_text(f"{EVIL},b\n" + "1,1\n0,0\n" * 30)
    (place / EVIL).write_text("not a model")
    for words in (
        ["show", EVIL],
        ["show", f"{EVIL}-missing"],
        ["constraints", "t.csv", "--columns", EVIL + "?"],
        ["constraints", "t.csv", f"--{EVIL}"],
        ["constraints", "t.csv", "--seed", "1", "-o", f"{EVIL}.json"],
        ["constraints", "t.csv", "--seed", EVIL],
        ["compare", f"{EVIL}.json", f"{EVIL}.json"],
        ["show", f"{EVIL}.json"],
        ["summarize", "t.csv", "-o", f"{EVIL}.flag"],
        ["audit", "t.csv", "-e", "auto", "--t-max", "1", "--pairs", "3"],
        ["reproduce", EVIL],
    ):
        done = run(*words)
        assert not any(c in done.out + done.err for c in CONTROLS), words
        assert done.out + done.err


def test_warnings_command_no_terminal(capsys):
    import warnings

    from flagstone.cli import runner

    def verb():
        warnings.warn(EVIL, stacklevel=1)
        return 0

    assert runner._guarded(verb) == 0
    err = capsys.readouterr().err
    assert "\\x1b[31m" in err
    assert not any(c in err for c in CONTROLS)


def test_json_escapes_what_commands_a_terminal_or_cannot_be_encoded(run, place):
    name = f"{EVIL} ⊕"
    lines = [json.dumps({name: a, "b": a}) + "\n" for a in (0, 1)] * 30
    (place / "t.jsonl").write_text("".join(lines))
    done = run("constraints", "t.jsonl", "--seed", "1", "-o", "m.json", "--json")
    assert done.code == 0, done.err
    assert not any(c in done.out for c in CONTROLS)
    assert done.out.encode()  # no half of a pair of surrogates
    assert json.loads(done.out)["columns"][0] == name
    assert "⊕" in done.out
    for words in (["show", "m.json"], ["show", "m.json", "--json"]):
        assert spoken(words, "utf-8", place).returncode == 0


def test_values_of_data_are_predicted_as_they_are(run, place):
    """Data are for programs: in them nothing is escaped."""
    (place / "t.csv").write_bytes(b"a,y\n" + b"1,\x1b[1m\n0,no\n" * 30)
    words = ["learn", "t.csv", "-l", "y", "-e", "y=levels:no,\x1b[1m", "--seed", "1"]
    assert run(*words, "-o", "m.json").code == 0
    done = run("predict", "m.json", "t.csv")
    assert "1,\x1b[1m\n" in done.out
    assert run("predict", "m.json", "t.csv", "-o", "p.csv").code == 0
    assert (place / "p.csv").read_text() == done.out


def test_a_reader_that_has_enough_and_a_full_disk(place):
    words = [*MAIN, "predict", "m.json", "examples/frames.txt"]
    made = ["constraints", "examples/frames.txt", "-f", "bits", "--seed", "1", "-o", "m.json"]
    subprocess.run([*MAIN, *made], check=True, capture_output=True)
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as closed:
        done = subprocess.run(words, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    with open("/dev/full", "wb") as full:  # written to as a shell does, and cannot be damaged
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr.decode() == "flagstone: error: No space left on device\n"


@pytest.mark.parametrize("extra", [[], ["--json"], ["--max-misfits", "3000"]])
def test_a_failed_check_fails_for_a_reader_that_has_enough(run, place, extra):
    """Also where the pipe breaks before the verdict: with many rows to list."""
    (place / "t.csv").write_text(TABLE)
    (place / "bad.csv").write_text(TABLE + "1,1,1\n" * 3000)
    made = ["constraints", "t.csv", "--seed", "1"]
    assert run(*made, "-o", "m.json").code == 0
    checked = ["check", "m.json", "bad.csv", *extra]
    assert run(*checked).code == 4
    written = [*made, "-o", "again.json"]
    for words, code in [(checked, 4), (["check", "m.json", "t.csv"], 0), (written, 0)]:
        ours, theirs = os.pipe()
        os.close(ours)
        with os.fdopen(theirs, "wb") as gone:
            done = subprocess.run(
                [*MAIN, *words], cwd=place, stdout=gone, stderr=subprocess.PIPE, check=False
            )
        assert (done.returncode, done.stderr) == (code, b""), words
    assert (place / "again.json").read_bytes() == (place / "m.json").read_bytes()


TABLE = "a,b,c\n" + "1,0,1\n0,1,1\n" * 30
CLOSED = "flagstone: error: standard output is closed, so nothing can be printed there\n"


def closed(words, folder, which):
    """Run a command with some of its standard streams closed, as a shell closes them."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {which}', "sh", *MAIN, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["--help"],
        ["plan", "--dim", "3", "--rho", "0.1"],
        ["constraints", "t.csv", "--seed", "1"],
        ["constraints", "t.csv", "--seed", "1", "--json"],
        ["predict", "m.json", "t.csv"],
        ["constraints", "t.csv", "--seed", "1", "-o", "-"],
    ],
)
def test_closed_streams(run, place, words):
    (place / "t.csv").write_text(TABLE)
    assert run("constraints", "t.csv", "--seed", "1", "-o", "m.json").code == 0
    usual = run(*words)
    assert usual.code == 0
    which = "2>&-" if "--json" in words else "2>&- <&-"
    done = closed(words, place, which)
    # a finding on standard output leaves the lines for people to standard error
    assert (done.returncode, done.stderr) == (0, "")
    assert "-o" in words or done.stdout == usual.out
    done = closed(words, place, ">&-")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    if "--json" in words:
        assert json.loads(done.stderr)["exit_code"] == 1
    else:
        assert done.stderr.startswith("flagstone: error: ")
    assert closed(words, place, ">&- 2>&- <&-").returncode == 1
    assert (place / "t.csv").read_text() == TABLE


def test_what_is_said_goes_into_no_file_when_streams_are_closed(place):
    """The next file to be opened would get the number of a closed stream."""
    (place / "t.csv").write_text(TABLE + "2,0,0\n")
    done = closed(["summarize", "t.csv", "-o", "a.flag"], place, "2>&- >&-")
    assert done.returncode == 1
    assert (place / "t.csv").read_text() == TABLE + "2,0,0\n"
    (place / "t.csv").write_text(TABLE)
    done = closed(["summarize", "t.csv", "-o", "a.flag"], place, "")
    assert done.returncode == 0
    whole = (place / "a.flag").read_bytes()
    for which in ("2>&-", ">&-", "<&-", "<&- >&- 2>&-"):
        closed(["summarize", "t.csv", "-o", "b.flag", "--force"], place, which)
        assert (place / "b.flag").read_bytes() == whole


def test_closed_output_is_told_and_outputs_are_written_all_the_same(place):
    (place / "t.csv").write_text(TABLE)
    done = closed(["constraints", "t.csv", "--seed", "1", "-o", "m.json"], place, ">&-")
    assert (done.returncode, done.stderr) == (1, CLOSED)
    assert closed(["show", "m.json"], place, "").returncode == 0


@pytest.mark.parametrize("json_errors", [[], ["--json"]])
def test_what_standard_error_cannot_take_is_lost_and_changes_nothing(run, place, json_errors):
    """A warning, or an error, that goes to a full disk or to a reader that left."""
    (place / "t.csv").write_text("n,a,b\n" + "".join(f"k{i},{i % 2},{i % 2}\n" for i in range(90)))
    answered = ["constraints", "t.csv", "-e", "auto", "--seed", "1", *json_errors]
    usual = run(*answered)
    assert usual.code == 0
    assert "left out n" in usual.err
    for words, code, out in [
        (answered, 0, usual.out),
        (["constraints", "none.csv", *json_errors], 1, ""),
        (["constraints", "t.csv", "--nope", *json_errors], 2, ""),
    ]:
        ours, theirs = os.pipe()
        os.close(ours)
        with os.fdopen(theirs, "wb") as gone, open("/dev/full", "wb") as full:
            for stream in (gone, full):
                done = subprocess.run(
                    [*MAIN, *words],
                    cwd=place,
                    stdout=subprocess.PIPE,
                    stderr=stream,
                    text=True,
                    check=False,
                )
                assert (done.returncode, done.stdout) == (code, out)


def test_rows_of_a_closed_input_are_refused(place):
    done = closed(["constraints", "-", "-f", "csv", "--seed", "1"], place, "<&-")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "standard input is no pipe and no file" in done.stderr


def test_help_for_a_reader_that_has_enough_and_a_full_disk():
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as gone:
        done = subprocess.run([*MAIN, "--help"], stdout=gone, stderr=subprocess.PIPE, check=False)
    assert done.stderr == b""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*MAIN, "--help"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"flagstone: error: No space left on device\n"


def test_deprecations_inside_libraries_are_not_for_users(run, place, monkeypatch):
    def old(path):
        for kind in (DeprecationWarning, PendingDeprecationWarning, UserWarning):
            warnings.warn(f"a {kind.__name__}", kind, stacklevel=2)
        return load(path)

    assert run("constraints", "examples/frames.txt", "-f", "bits", "-o", "m.json").code == 0
    from flagstone.cli import compare

    load = compare.load
    monkeypatch.setattr(compare, "load", old)
    said = run("compare", "m.json", "m.json").err.splitlines()
    assert set(said) == {"flagstone: warning: a UserWarning"}
