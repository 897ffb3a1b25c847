"""Long runs: killed, interrupted or out of disk, they lose nothing and end with the same bytes."""

import base64
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from flagstone.algebra.flag import Flag
from flagstone.cli import checkpoint
from flagstone.store import load, read_document, write_document
from tests.heard import SLOWLY

HERE = Path(__file__).parent
MAIN = [sys.executable, "-c", "from flagstone.cli import main; main()"]
OUTPUTS = ["-o", "m.json", "--report", "r.html", "--plot", "p.svg"]
COMMAND = ["constraints", "parts", "--contamination", "0.01", "--seed", "3", *OUTPUTS,
           "--checkpoint", "c.ckpt", "--checkpoint-every", "0"]  # fmt: skip


def write_parts(folder: Path, n_files: int, rows: int) -> None:
    """Many small files: each is a batch, and so a checkpoint."""
    random = np.random.RandomState(1)
    (folder / "parts").mkdir()
    for number in range(n_files):
        bits = random.randint(0, 2, size=(rows, 33))
        bits[:, 32] = bits[:, :5].sum(axis=1) % 2
        bits[: rows // 100] ^= 1
        text = "".join("".join(map(str, row)) + "\n" for row in bits)
        (folder / "parts" / f"{number:04}.bits").write_text(text)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_moment_a_resumed_run_ends_with_the_same_bytes(tmp_path):
    write_parts(tmp_path, 12, 200)
    done = subprocess.run(
        [sys.executable, HERE / "killer.py", tmp_path, *COMMAND],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["kills"] >= 24
    assert record["resumed"] >= 6  # a kill before the first batch leaves nothing to resume from
    assert record["half_written"] >= 4  # some kills did hit in the middle of a write
    assert record["left"] == []


def wait_for(condition, seconds=240.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.005)


def has_progress(path: Path) -> bool:
    return path.exists() and bool(read_document(path)[1]["rows"])


def test_an_interrupt_says_how_to_resume(tmp_path):
    write_parts(tmp_path, 150, 20)
    child = subprocess.Popen(
        [sys.executable, "-c", SLOWLY, *COMMAND],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: has_progress(tmp_path / "c.ckpt"))
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=240)
    assert child.returncode == 130
    assert out == ""
    rows = re.search(r"c.ckpt holds the state after ([\d,]+) rows", err)[1]
    assert int(rows.replace(",", "")) == read_document(tmp_path / "c.ckpt")[1]["rows"] > 0
    assert "To resume, run the same command again: flagstone constraints parts" in err
    assert not (tmp_path / "m.json").exists()
    again = subprocess.run(
        [*MAIN, *COMMAND], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "resuming after" in again.stderr
    assert load(tmp_path / "m.json").rows.read == 3000
    assert not (tmp_path / "c.ckpt").exists()


def test_a_checkpoint_of_another_run_is_refused(run, place):
    words = ["summarize", "examples/frames.txt", "-f", "bits", "--checkpoint", "c.ckpt"]
    (place / "out").mkdir()
    # a summary that cannot be written leaves its checkpoint
    (place / "q.flag").write_text("in the way")
    assert run(*words, "-o", "out").code == 1
    assert not (place / "c.ckpt").exists()
    from flagstone.store import write_document

    write_document(place / "c.ckpt", "checkpoint", {"id": "another", "rows": 1})
    done = run(*words, "-o", "p.flag")
    assert done.code == 1
    assert "c.ckpt belongs to another run" in done.err
    (place / "c.ckpt").write_text("junk")
    done = run(*words, "-o", "p.flag")
    assert done.code == 1
    assert "not a flagstone file" in done.err
    assert (place / "c.ckpt").read_text() == "junk"
    done = run(*words[:-1], "m.json", "-o", "p.flag")
    assert done.code == 0
    assert not (place / "m.json").exists()


RESUMED = ["constraints", "--linear", "t.csv", "bad.csv", "--seed", "1", "--checkpoint", "c.ckpt",
           "--checkpoint-every", "0"]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"position": [0, 1.5, 1]}, "[0, 1.5, 1] is no position in these files"),
        ({"position": [2, 0, 1]}, "is no position"),
        ({"position": [0, -1, 1]}, "is no position"),
        ({"position": [0, 4]}, "is no position"),
        ({"position": [0, 1 << 70, 1]}, "is no position"),
        ({"position": []}, "is no position"),
        ({"rows": -1}, "fewer rows than none"),
        ({"skipped": -1}, "fewer rows than none"),
        ({"summary": base64.b64encode(Flag(3).to_bytes()).decode()}, "summarizes other rows"),
        ({"summary": base64.b64encode(Flag(2, 3).to_bytes()).decode()}, "other rows"),
        ({"summary": "!"}, "c.ckpt: damaged"),
        ({"seed": "5"}, "c.ckpt was begun with seed '5', not with '1'"),
        ({"counts": []}, "c.ckpt: damaged"),
    ],
)
def test_a_checkpoint_is_believed_only_where_it_can_be_true(run, place, change, words):
    """Its checksum is right: it was edited, or wrong before the checksum was made."""
    (place / "t.csv").write_text("a,b\n" + "1,0\n" * 9)
    (place / "bad.csv").write_text("a,b\n1\n")  # where the run ends, and leaves its checkpoint
    assert run(*RESUMED).code == 1
    kind, good = read_document("c.ckpt")
    assert good["rows"] == 9
    write_document("c.ckpt", kind, good | change, overwrite=True)
    done = run(*RESUMED)
    assert (done.code, done.out) == (1, "")
    assert words in done.err.splitlines()[-1]


def test_a_changed_input_is_not_resumed(tmp_path):
    write_parts(tmp_path, 100, 20)
    words = [sys.executable, "-c", SLOWLY, *COMMAND]
    child = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL)
    wait_for(lambda: has_progress(tmp_path / "c.ckpt"))
    child.kill()
    child.wait()
    with (tmp_path / "parts" / "0000.bits").open("a") as stream:
        stream.write("1" * 33 + "\n")
    done = subprocess.run(
        [*MAIN, *COMMAND], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "belongs to another run" in done.stderr


def out_of_space(folder: Path, prepare=None) -> None:
    """Run with outputs that do not fit, check that nothing is lost, then make room and go on."""
    old = "precious " * 10
    (folder / "m.json").write_text(old)
    done = subprocess.run(
        [*MAIN, *COMMAND, "--force"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=prepare,
    )
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert "nothing was written" in done.stderr
    assert (folder / "m.json").read_text() == old
    assert not (folder / "r.html").exists()
    assert not list(folder.glob(".*.tmp"))
    assert read_document(folder / "c.ckpt")[0] == "checkpoint"


def finish(folder: Path, reference: Path) -> None:
    done = subprocess.run(
        [*MAIN, *COMMAND, "--force"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "resuming after" in done.stderr
    for name in ("m.json", "r.html", "p.svg"):
        assert (folder / name).read_bytes() == (reference / name).read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory) -> Path:
    """The outputs of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("reference")
    write_parts(folder, 6, 500)
    subprocess.run([*MAIN, *COMMAND, "--force"], cwd=folder, capture_output=True, check=True)
    return folder


def test_a_file_size_limit_loses_nothing(tmp_path, reference):
    """Checkpoints fit into the limit, the page does not: then no output appears at all."""
    write_parts(tmp_path, 6, 500)
    limit = 9_000

    def prepare() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    out_of_space(tmp_path, prepare)
    finish(tmp_path, reference)


def test_a_full_disk_loses_nothing(tmp_path, reference):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small tmpfs cannot be mounted here (needs root)")
    try:
        write_parts(disk, 6, 500)
        (disk / "m.json").write_text("precious " * 10)
        filler = disk / "filler"
        with filler.open("wb") as stream:
            room = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
            stream.write(b"x" * (room - 16_384))  # room for checkpoints, not for the outputs
        out_of_space(disk)
        filler.unlink()
        finish(disk, reference)
    finally:
        subprocess.run(["umount", disk], check=False)


def test_a_checkpoint_that_cannot_be_written_does_not_stop_the_run(run, place, monkeypatch):
    from flagstone import store

    calls, honest = [], store.atomic_write

    def no_space(path, data, **options):
        calls.append(path)
        if len(calls) > 1 and str(path).endswith("ckpt"):
            raise OSError(28, "No space left on device", str(path))
        honest(path, data, **options)

    monkeypatch.setattr(store, "atomic_write", no_space)
    words = ["constraints", "examples/frames.txt", "-f", "bits", "--seed", "1", "-o", "m.json"]
    done = run(*words, "--checkpoint", "c.ckpt", "--checkpoint-every", "0")
    assert done.code == 0
    assert done.err.count("the checkpoint could not be written") == 1
    assert load("m.json").seed == "1"


def test_the_progress_bar_shows_on_a_terminal_only(tmp_path):
    pty = pytest.importorskip("pty")
    write_parts(tmp_path, 40, 50)
    words = [*MAIN, "summarize", "parts", "-o", "p.flag"]
    ours, theirs = pty.openpty()
    terminal = os.environ | {"TERM": "xterm"}
    child = subprocess.Popen(
        words, cwd=tmp_path, stderr=theirs, stdout=subprocess.PIPE, env=terminal
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # the other side is closed: Linux says so by an error
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    assert child.wait() == 0
    assert b"reading" in shown
    assert b"rows/s" in shown
    quiet = subprocess.run(
        [*words, "--force"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert quiet.stderr == ""


@pytest.mark.parametrize("more", [[], ["--max-rows", "600"], ["--max-rows", "450"]])
def test_a_run_that_had_read_every_row_goes_on_from_there(run, place, more):
    words = ["constraints", "examples/frames.txt", "-f", "bits", "--seed", "1", *more]
    words += ["--checkpoint", "c.ckpt", "--checkpoint-every", "0"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint.RunCheckpoint, "finish", lambda self: None)
        first = run(*words)
    assert read_document("c.ckpt")[1]["rows"] == int(more[1] if more else 600)
    again = run(*words)
    assert (again.code, again.out) == (first.code, first.out)
    assert "resuming after" in again.err
    assert not (place / "c.ckpt").exists()
