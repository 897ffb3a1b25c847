"""Worker processes: nothing from the current folder slips in, and never too many of them."""

import os
import subprocess
import sys
import threading

import joblib
import pytest

from flagstone.errors import InputError
from flagstone.processes import check_jobs, in_processes

TRAP = "import os, pathlib; pathlib.Path({!r}).write_text('sprung'); os._exit(1)\n"


WHERE = """
from flagstone.processes import in_processes
def where(name):
    import importlib.util
    return importlib.util.find_spec(name).origin
print(*in_processes(where, [(name,) for name in {!r}], 2), sep="\\n")
"""


def test_workers_import_nothing_from_the_current_folder(tmp_path):
    program, place = tmp_path / "program", tmp_path / "place"
    program.mkdir()
    place.mkdir()
    names = ("joblib", "numpy", "flagstone", "sklearn", "signal", "runpy")
    (program / "run.py").write_text(WHERE.format(names))
    for name in names:
        (place / f"{name}.py").write_text(TRAP.format(str(tmp_path / f"{name}.sprung")))
    done = subprocess.run(
        [sys.executable, program / "run.py"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not list(tmp_path.glob("*.sprung"))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(names)
    assert str(place) not in done.stdout


#: Sends Ctrl-C to all processes of the program, some seconds after the first worker is started.
AFTER_START = """
import os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us without it
from joblib.externals.loky.backend import popen_loky_posix
launch, seconds, sent = popen_loky_posix.Popen._launch, float(sys.argv.pop(1)), []
def launched(self, process):
    launch(self, process)
    if not sent:
        sent.append(True)
        threading.Timer(seconds, os.killpg, (0, 2)).start()
popen_loky_posix.Popen._launch = launched
"""
AUDIT = """
sys.argv += "audit --law geometric --dim 6 --rows 150 --t-max 20 --pairs 100000 -j 2".split()
sys.argv += ["--results", "k.jsonl"]
from flagstone.cli import main
main()
"""
SLEEP = """
import time
from flagstone.cli import process, runner
from flagstone.processes import in_processes
with process.caught_signals(for_good=True):
    sys.exit(runner._guarded(lambda: list(in_processes(time.sleep, [(0.01,)] * 100000, 2))))
"""


@pytest.mark.parametrize(("seconds", "work"), [(0, SLEEP), (0.3, SLEEP), (0.3, AUDIT)])
def test_ctrl_c_while_workers_start_is_told_once(tmp_path, seconds, work):
    done = subprocess.run(
        [sys.executable, "-c", AFTER_START + work, str(seconds)],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert done.returncode == 130
    (line,) = done.stderr.splitlines()
    assert line.startswith("flagstone: interrupted")
    assert {path.name for path in tmp_path.iterdir()} <= {"k.jsonl"}


@pytest.mark.parametrize(
    ("n_jobs", "calls", "used"),
    [(999_999, 50, 4), (3, 50, 3), (3, 2, 2), (-1, 50, 4), (-2, 50, 3), (-999_999, 50, 1)],
)
def test_no_more_processes_than_processors_or_calls(monkeypatch, n_jobs, calls, used):
    asked = []

    class Recorded:
        def __init__(self, n_jobs, return_as):
            asked.append(n_jobs)

        def __call__(self, jobs):
            assert os.environ["PYTHONSAFEPATH"] == "1"
            yield from [function(*given) for _, (_, function, given), _ in jobs]

    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(joblib, "Parallel", Recorded)
    found = list(in_processes(divmod, [(n, 3) for n in range(calls)], n_jobs))
    assert found == [divmod(n, 3) for n in range(calls)]
    assert asked == ([] if used == 1 else [used])
    assert "PYTHONSAFEPATH" not in os.environ


def test_a_number_of_jobs_that_says_nothing():
    with pytest.raises(InputError, match="n_jobs must not be 0"):
        check_jobs(0)


def test_a_pool_that_is_closed_early_leaves_no_traceback(capfd, monkeypatch):
    """Its thread may look for work that is gone; exceptions of other threads are printed."""
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    values = in_processes(divmod, [(7, 2)] * 3, 2)
    assert next(values) == (3, 1)
    values.close()

    class _ExecutorManagerThread(threading.Thread):
        pass

    for kind, printed in ((_ExecutorManagerThread, False), (threading.Thread, True)):
        thread = kind(target=lambda: {}[1])
        thread.start()
        thread.join()
        assert ("KeyError: 1" in capfd.readouterr().err) == printed


WORKERS = """
import os, sys, time
from flagstone.processes import in_processes

def work(seconds):
    print("at work", flush=True)
    time.sleep(seconds)

os.cpu_count = lambda: 2
list(in_processes(work, [(100,)] * 2, 2))
"""


def test_workers_end_with_a_process_that_is_killed(tmp_path):
    (tmp_path / "workers.py").write_text(WORKERS)
    words = [sys.executable, "workers.py"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as first:
        assert [first.stdout.readline() for _ in range(2)] == ["at work\n"] * 2
        first.kill()
        first.communicate(timeout=60)  # until all have closed it
