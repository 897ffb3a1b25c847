"""Ctrl-C and SIGTERM at any moment: one line, the right exit code, nothing lost."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from flagstone.cli import process, runner
from flagstone.disk import writing
from flagstone.processes import held_signals
from tests.heard import SLOWLY

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
#: Sends itself a signal the moment a module begins to be imported.
AT_IMPORT = """
import os, sys
module, number = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]
class Finder:
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Finder())
from flagstone.cli import main
main()
"""


@pytest.fixture
def table(tmp_path):
    """A folder with a table in many parts, read by Arrow: it has cells of two digits."""
    rows = np.random.RandomState(1).randint(0, 2, (200, 6))
    rows[:, 5] = rows[:, 0] ^ rows[:, 1]
    (tmp_path / "parts").mkdir()
    first = tmp_path / "parts" / "000.csv"
    np.savetxt(first, rows, fmt="%02d", delimiter=",", header="a,b,c,d,e,f", comments="")
    for number in range(1, 150):
        shutil.copyfile(first, tmp_path / "parts" / f"{number:03}.csv")
    return tmp_path


def ended(child, number):
    """Check that a child was ended by a signal as it should; return the line it said."""
    out, err = child.communicate(timeout=240)
    assert child.returncode == CODES[number], err
    assert out == ""
    [line] = [line for line in err.splitlines() if "resuming after" not in line]
    assert line.startswith("flagstone: interrupted")
    return line


def start(words, folder):
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize(
    "module",
    [
        "argparse",
        "flagstone.cli.answering",
        "numpy",
        "pyarrow",
        "flagstone._kernels",
        "flagstone.algebra.flag",
    ],
)
def test_during_any_import(table, module, number):
    command = ["constraints", "parts", "--seed", "1", "-o", "m.json"]
    child = start(["-c", AT_IMPORT, module, str(int(number)), *command], table)
    ended(child, number)
    assert sorted(path.name for path in table.iterdir()) == ["parts"]


def ignoring(*numbers):
    """Return what makes a process start with signals ignored, as those of a script with & do."""
    return lambda: [signal.signal(number, signal.SIG_IGN) for number in numbers]


@pytest.mark.parametrize("module", ["argparse", "flagstone.algebra.flag"])
def test_a_signal_that_is_ignored_at_the_start_stays_so(table, module):
    command = ["constraints", "parts/000.csv", "--seed", "1", "-o", "m.json"]
    for number in CODES:
        words = ["-c", AT_IMPORT, module, str(int(number)), *command, "--force"]
        done = subprocess.run(
            [sys.executable, *words],
            cwd=table,
            preexec_fn=ignoring(number),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert (table / "m.json").exists()
    child = subprocess.Popen(  # one that is ignored says nothing about the other
        [sys.executable, "-c", AT_IMPORT, module, str(int(signal.SIGTERM)), *command],
        cwd=table,
        preexec_fn=ignoring(signal.SIGINT),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ended(child, signal.SIGTERM)


def test_the_tests_themselves_do_not_depend_on_how_they_are_started():
    """Of all tests of signals, one in this process and one in another."""
    chosen = ["test_held_signals_are_delivered_after_the_block", "test_a_stop_that_strikes"]
    words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", __file__]
    chosen += ["test_what_the_signal_struck", "test_a_signal_between_the_work"]
    done = subprocess.run(
        [*words, "-k", " or ".join(chosen)],
        preexec_fn=ignoring(*CODES),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


def saved(path):
    return path.stat().st_mtime_ns if path.exists() else 0


@pytest.mark.parametrize("number", CODES)
def test_while_arrow_reads(table, number):
    options = ["-o", "m.json", "--checkpoint", "c.ckpt", "--checkpoint-every", "0"]
    words = ["constraints", "parts", *options]
    dice = random.Random(int(number))
    for _ in range(2):
        before = saved(table / "c.ckpt")
        child = start(["-c", SLOWLY, *words], table)
        end = time.monotonic() + 240
        while saved(table / "c.ckpt") == before:
            assert time.monotonic() < end
            assert child.poll() is None, child.communicate()
            time.sleep(0.002)
        time.sleep(dice.uniform(0, 0.1))
        child.send_signal(number)
        assert "c.ckpt holds the state" in ended(child, number)
        assert sorted(p.name for p in table.iterdir()) == ["c.ckpt", "parts"]
    script = [sys.executable, "-c", "from flagstone.cli import main; main()", *words]
    done = subprocess.run(script, cwd=table, check=True, capture_output=True)
    assert b"resuming after" in done.stderr


def test_predictions_that_are_stopped_leave_no_file(table):
    main = ["-c", "from flagstone.cli import main; main()"]
    made = [*main, "constraints", "parts/000.csv", "--seed", "1", "-o", "m.json"]
    subprocess.run([sys.executable, *made], cwd=table, check=True, capture_output=True)
    child = start([*main, "predict", "m.json", *["parts"] * 20, "-o", "p.csv"], table)
    while not list(table.glob(".flagstone-*.tmp")):
        assert child.poll() is None, child.communicate()
        time.sleep(0.002)
    child.send_signal(signal.SIGTERM)
    ended(child, signal.SIGTERM)
    assert sorted(p.name for p in table.iterdir()) == ["m.json", "parts"]


def test_what_the_signal_struck_may_make_another_error_of_it(capsys):
    def verb():
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise ImportError("a library that takes it for its own failure") from None

    with process.caught_signals(for_good=False):
        assert runner._guarded(verb) == 143
    assert capsys.readouterr().err == "flagstone: interrupted\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_stop_right_after_a_file_is_made_leaves_none(tmp_path, monkeypatch):
    def struck(target):
        made = temporary(target)
        signal.raise_signal(signal.SIGTERM)
        return made

    temporary = writing._temporary
    monkeypatch.setattr(writing, "_temporary", struck)
    with process.caught_signals(for_good=False):
        assert runner._guarded(lambda: writing.check_target(tmp_path / "m.json")) == 143
    assert list(tmp_path.iterdir()) == []


def test_a_stop_right_after_a_lock_is_made_leaves_none(tmp_path, monkeypatch):
    def struck(*given):
        made = acquire(*given)
        signal.raise_signal(signal.SIGTERM)
        return made

    def verb():
        with writing.locked(tmp_path / "m.json"):
            raise AssertionError("the run was stopped before")

    acquire = writing._acquire
    monkeypatch.setattr(writing, "_acquire", struck)
    with process.caught_signals(for_good=False):
        assert runner._guarded(verb) == 143
    assert list(tmp_path.iterdir()) == []


def test_a_stop_that_strikes_a_destructor_is_not_lost(tmp_path):
    program = """
import os, signal, sys
from flagstone.cli import process, runner
class Trap:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass
def verb():
    Trap()
    print("went on")
    return 0
with process.caught_signals(for_good=True):
    sys.exit(runner._guarded(verb))
"""
    ended(start(["-c", program], tmp_path), signal.SIGTERM)


def test_held_signals_are_delivered_after_the_block():
    got, steps = [], []
    before = signal.signal(signal.SIGTERM, lambda number, frame: got.append(number))
    try:
        with held_signals() as held:
            for step in range(5):
                steps.append(step)
                if step == 1:
                    signal.raise_signal(signal.SIGTERM)
                if held.number is not None:
                    break
            assert got == []
        assert steps == [0, 1]
        assert got == [signal.SIGTERM]
        with held_signals():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)  # a second one is not held
            assert len(got) == 2
        assert len(got) == 2
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_error_is_not_hidden_by_an_ignored_signal():
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        with pytest.raises(ZeroDivisionError), held_signals():
            signal.raise_signal(signal.SIGTERM) or 1 / 0
    finally:
        signal.signal(signal.SIGTERM, before)


def test_signals_that_end_the_process_are_not_held():
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with held_signals():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_audit_in_two_processes_keeps_whole_batches(tmp_path):
    words = ["audit", "--law", "geometric", "--dim", "6", "--rows", "150", "--t-max", "20"]
    words += ["--pairs", "4000", "--results", "k.jsonl", "-j", "2"]
    child = subprocess.Popen(
        [sys.executable, "-c", "from flagstone.cli import main; main()", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 240
    results = tmp_path / "k.jsonl"
    while not results.exists() or results.read_bytes().count(b"\n") < 34:
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does: every process gets it
    line = ended(child, signal.SIGINT)
    pairs = results.read_bytes().count(b"\n") - 2
    assert f"k.jsonl holds {pairs} pairs" in line
    assert pairs % 32 == 0
    assert b'"error"' not in results.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["k.jsonl"]


#: Sends itself a signal when the work of a verb is done, but not yet put away.
AT_THE_END = """
import contextlib, os, sys
from flagstone.cli import main, runner
at_work, number = runner.at_work, int(sys.argv.pop(1))
@contextlib.contextmanager
def late():
    with at_work():
        yield
        os.kill(os.getpid(), number)
runner.at_work = late
main()
"""


@pytest.mark.parametrize("number", CODES)
def test_a_signal_between_the_work_and_its_end_is_told(number, tmp_path):
    child = start(
        ["-c", AT_THE_END, str(int(number)), "plan", "--dim", "3", "--rho", "0.1"], tmp_path
    )
    _, err = child.communicate(timeout=240)
    assert child.returncode == CODES[number]
    assert err == "flagstone: interrupted\n"
