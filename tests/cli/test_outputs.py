"""Where outputs go: never over a pipe, a link, each other, or what another program wrote."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from flagstone.disk import locked, writing
from flagstone.store import load, read_document

FRAMES = ["constraints", "examples/frames.txt", "-f", "bits", "--seed", "1"]
MAIN = [sys.executable, "-c", "from flagstone.cli import main; main()"]


def refused(done, words, code=1):
    """Check that a run ended with one line that says why."""
    assert done.code == code, (done.code, done.out, done.err)
    assert done.err.count("\n") == 1, done.err
    assert words in done.err
    assert done.out == ""


@pytest.mark.parametrize("option", ["-o", "--report", "--checkpoint"])
def test_a_pipe_stays_a_pipe(run, place, option):
    os.mkfifo(place / "pipe")
    refused(run(*FRAMES, option, "pipe", "--force"), "pipe is a pipe")
    assert stat.S_ISFIFO((place / "pipe").stat().st_mode)


@pytest.mark.parametrize("verb", ["show", "compare", "predict", "check", "merge", "constraints"])
def test_a_pipe_is_no_model(run, place, verb):
    os.mkfifo(place / "pipe")
    words = {
        "compare": ["pipe", "pipe"],
        "predict": ["pipe", "examples/frames.txt"],
        "check": ["pipe", "examples/frames.txt"],
        "merge": ["pipe", "-o", "m"],
    }
    done = run(verb, *words.get(verb, ["pipe"]))
    assert done.code == 1
    assert "pipe" in done.err


def test_folders_circles_and_links(run, place):
    (place / "circle").symlink_to("circle")
    (place / "real.json").write_text("old")
    (place / "link.json").symlink_to("real.json")
    refused(run(*FRAMES, "-o", ".", "--force"), ". is a directory")
    refused(run(*FRAMES, "-o", "circle", "--force"), "lead in a circle")
    refused(run(*FRAMES, "-o", "link.json"), "exists already")
    assert run(*FRAMES, "-o", "link.json", "--force").code == 0
    assert (place / "link.json").is_symlink()
    assert load("real.json").seed == "1"


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_a_model_on_standard_output_is_alone_there(place, name):
    done = subprocess.run([*MAIN, *FRAMES, "-o", name], capture_output=True, check=True)
    (place / "m.json").write_bytes(done.stdout)
    assert load("m.json").seed == "1"
    assert b"fingerprint" in done.stderr
    words = [*MAIN, "predict", "m.json", "examples/frames.txt"]
    plain = subprocess.run(words, capture_output=True, check=True)
    given = subprocess.run([*words, "-o", name], capture_output=True, check=True)
    assert given.stdout == plain.stdout
    assert b"600 rows predicted" in given.stderr


def test_two_names_of_one_output_are_refused(run, place):
    (place / "a.json").write_text("one")
    os.link(place / "a.json", place / "hard.html")
    (place / "soft.html").symlink_to("a.json")
    (place / "here").symlink_to(place)
    for other in ("./a.json", "hard.html", "soft.html", "here/a.json"):
        words = [*FRAMES, "-o", "a.json", "--force"]
        refused(run(*words, "--report", other), "are one file; give every output its own", 2)
        refused(run(*words, "--checkpoint", other), "is an output of this run", 2)
    refused(run(*FRAMES, "-o", "-", "--report", "/dev/stdout"), "are one file", 2)
    refused(run(*FRAMES, "-o", "new.json", "--report", "here/new.json"), "are one file", 2)
    os.link(place / "examples" / "frames.txt", place / "twin.txt")
    refused(run(*FRAMES, "-o", "twin.txt", "--force"), "is an input of this run", 2)
    assert (place / "a.json").read_text() == "one"


def test_an_input_is_never_replaced(run, place):
    frames = ["examples/frames.txt", "-f", "bits"]
    assert run("summarize", *frames, "-o", "a.flag").code == 0
    assert run("summarize", *frames, "-o", "b.flag").code == 0
    assert run("plan", "--pilot", *frames, "--seed", "7", "-o", "p.json").code == 0
    assert run(*FRAMES, "-o", "m.json").code == 0
    os.link(place / "b.flag", place / "hard.flag")
    (place / "soft.flag").symlink_to("b.flag")
    (place / "here").symlink_to(place)
    before = {
        name: (place / name).read_bytes() for name in ("a.flag", "b.flag", "p.json", "m.json")
    }
    words = ["merge", "a.flag", "b.flag", "--force", "-o"]
    for name in ("a.flag", "b.flag", "./b.flag", "hard.flag", "soft.flag", "here/a.flag"):
        refused(run(*words, name), f"{name} is an input of this run; write to another file", 2)
    by_protocol = ["constraints", *frames[:1], "--protocol", "p.json", "--force"]
    for option in ("-o", "--report", "--checkpoint"):
        refused(run(*by_protocol, option, "here/p.json"), "is an input of this run", 2)
    refused(run("predict", "m.json", *frames, "-o", "m.json", "--force"), "is an input", 2)
    refused(run("show", "m.json", "--report", "m.json", "--force"), "is an input", 2)
    assert before == {name: (place / name).read_bytes() for name in before}
    assert run(*words, "c.flag").code == 0


def test_a_folder_that_cannot_be_written_to_is_noticed_before_any_row_is_read(run, monkeypatch):
    from flagstone.tables import Table

    def denied(_):
        raise PermissionError(errno.EACCES, "Permission denied")

    def read(*_):
        raise AssertionError("rows were read")

    monkeypatch.setattr(writing, "_temporary", denied)
    monkeypatch.setattr(Table, "rows", read)
    for options in (["-o", "m.json"], ["-o", "m.json", "--force"], ["--report", "m.html"]):
        refused(run(*FRAMES, *options), "nothing can be written to the directory")
    refused(run("summarize", *FRAMES[1:4], "-o", "p.flag"), "nothing can be written")


def test_one_checkpoint_serves_one_run_at_a_time(run, place):
    words = [*FRAMES, "--checkpoint", "c.ckpt", "-o", "m.json"]
    with locked(place / "c.ckpt"):
        refused(run(*words), "c.ckpt is in use by another run")
        assert not (place / "m.json").exists()
    assert run(*words).code == 0
    assert not list(place.glob(".*"))


def test_a_linked_checkpoint_stays_a_link(run, place):
    (place / "away").mkdir()
    (place / "c.ckpt").symlink_to("away/c.ckpt")
    assert run(*FRAMES, "--checkpoint", "c.ckpt", "--checkpoint-every", "0").code == 0
    assert (place / "c.ckpt").is_symlink()
    assert not list((place / "away").iterdir())


def test_a_checkpoint_needs_a_regular_file(run):
    for name in ("-", os.devnull):
        refused(run(*FRAMES, "--checkpoint", name), "needs a regular file")


def stopped_before_the_end(run, monkeypatch, words, where):
    """Run a command whose checkpoint stays, as if it had been killed at a moment."""

    def die(*_, **__):
        raise OSError(errno.EIO, "killed")

    with monkeypatch.context() as patch:
        patch.setattr(f"flagstone.cli.{where}", die)
        assert run(*words).code == 1


def test_a_resumed_run_keeps_files_of_other_programs(run, place, monkeypatch):
    words = [*FRAMES, "--checkpoint", "c.ckpt", "-o", "m.json", "--report", "r.html"]
    stopped_before_the_end(run, monkeypatch, words, "work.Run.ask")
    (place / "r.html").write_text("precious")
    done = run(*words)
    assert done.code == 1
    assert "r.html exists already; replace it with --force" in done.err
    assert (place / "r.html").read_text() == "precious"
    assert not (place / "m.json").exists()
    assert read_document("c.ckpt")[0] == "checkpoint"  # the work is not lost
    assert run(*words, "--force").code == 0
    assert (place / "r.html").read_text() != "precious"
    assert not (place / "c.ckpt").exists()


def test_a_resumed_run_recognizes_its_own_outputs(run, place, monkeypatch):
    words = [*FRAMES, "--checkpoint", "c.ckpt", "-o", "m.json", "--report", "r.html"]
    stopped_before_the_end(run, monkeypatch, words, "checkpoint.RunCheckpoint.finish")
    before = {name: (place / name).read_bytes() for name in ("m.json", "r.html")}
    (place / "r.html").unlink()
    assert run(*words).code == 0
    assert {name: (place / name).read_bytes() for name in before} == before
    assert not (place / "c.ckpt").exists()


def test_a_report_that_was_written_yesterday_is_still_its_own(run, place, monkeypatch):
    words = [*FRAMES, "--checkpoint", "c.ckpt", "--report", "r.html"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    stopped_before_the_end(run, monkeypatch, words, "checkpoint.RunCheckpoint.finish")
    before = (place / "r.html").read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "172800")
    assert run(*words).code == 0
    assert (place / "r.html").read_bytes() == before
    assert run(*words, "--force").code == 0
    assert b"1970-01-03" in (place / "r.html").read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    refused(run(*words, "--force"), "SOURCE_DATE_EPOCH must be a number of seconds since 1970")


def misfits_in(page: str) -> str:
    return page[page.index("<h2>Rows that do not fit") : page.index("<h2>Fingerprint")]


def test_a_finding_keeps_what_a_report_shows_of_rows(run, place):
    """Levels are counted exactly, and misfits listed with their values, when rows are gone."""
    words = [*FRAMES, "--contamination", ".01"]
    assert run(*words, "-o", "f.json", "--report", "a.html").code == 0
    assert run("show", "f.json", "--report", "b.html").code == 0
    first, second = ((place / name).read_text() for name in ("a.html", "b.html"))
    assert "were counted exactly, in the second reading" in second
    assert misfits_in(first) == misfits_in(second)
    rows = load("f.json").rows
    assert rows.misfits == len(rows.values) == misfits_in(second).count("<li>") == 6
    lines = Path("examples/frames.txt").read_text().split()
    assert [lines[line - 1] for _, _, line in rows.places] == list(rows.values)
    assert run(*words, "--report", "c.html", "--no-measure").code == 0
    page = (place / "c.html").read_text()
    assert "are bounded by the flag" in page
    assert "<h2>Rows that do not fit" not in page


def test_five_misfits_are_said_and_fifty_are_kept(run, place):
    done = run(*FRAMES, "--contamination", ".01", "-o", "f.json")
    [said] = [line for line in done.out.splitlines() if line.startswith("do not fit")]
    assert said.count(", ") == 5
    assert said.endswith(", …")
    done = run(*FRAMES, "--contamination", ".01", "-o", "g.json", "--max-misfits", "2")
    assert len(load("g.json").rows.values) == 2
    assert len(load("f.json").rows.values) == 6


def test_a_file_changed_in_the_middle_is_another_file(run, place, monkeypatch):
    """Of the same size and time: no byte may change under a checkpoint."""
    rows = b"0110\n1001\n" * 300_000
    Path("t.bits").write_bytes(rows)
    time = os.stat("t.bits").st_mtime_ns
    words = [
        "constraints",
        "--linear",
        "t.bits",
        "--seed",
        "1",
        "--checkpoint",
        "c.ckpt",
        "-o",
        "m.json",
    ]
    stopped_before_the_end(run, monkeypatch, words, "work.Run.ask")
    with open("t.bits", "r+b") as file:
        file.seek(len(rows) // 2)
        file.write(b"1")
    os.utime("t.bits", ns=(time, time))
    refused(run(*words), "c.ckpt belongs to another run")
    Path("t.bits").write_bytes(rows)  # the same bytes at another time are the same file
    assert run(*words).code == 0


def test_sealed_nonsense_is_no_checkpoint(run, place, monkeypatch):
    from flagstone.store import write_document

    words = [*FRAMES, "--checkpoint", "c.ckpt"]
    stopped_before_the_end(run, monkeypatch, words, "work.Run.ask")
    kind, content = read_document("c.ckpt")
    for change in ({"rows": "many"}, {"position": 3}, {"counts": []}, {"more": 1}):
        write_document("c.ckpt", kind, content | change, overwrite=True)
        refused(run(*words), "c.ckpt: damaged")


AUDIT = ["audit", "--law", "geometric", "--dim", "6", "--rows", "150", "--t-max", "20"]


def test_an_audit_on_a_full_disk_says_what_is_kept(run, place, monkeypatch):
    fsync, calls = os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) > 3:  # the header, the task, the first batch of pairs
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)

    whole = run(*AUDIT, "--pairs", "40").out
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        done = run(*AUDIT, "--pairs", "40", "--results", "k.jsonl")
    assert done.code == 1
    assert "No space left on device; what it held before is kept" in done.err
    assert "nothing was written" not in done.err
    assert (place / "k.jsonl").read_text().count("\n") == 2 + 32
    assert run(*AUDIT, "--pairs", "40", "--results", "k.jsonl").out == whole


def test_results_go_to_a_regular_file_of_one_audit_at_a_time(run, place):
    os.mkfifo(place / "pipe")
    words = [*AUDIT, "--pairs", "5", "--results"]
    refused(run(*words, "pipe"), "pipe is a pipe")
    refused(run(*words, "-"), "needs a regular file")
    with locked(place / "k.jsonl"):
        refused(run(*words, "k.jsonl"), "k.jsonl is in use by another run")
    assert run(*words, "k.jsonl").code == 0
    assert not list(place.glob(".*"))
