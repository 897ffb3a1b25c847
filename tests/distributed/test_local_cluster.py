"""Processes on this machine: nothing is left of them, whenever they are stopped."""

import os
import signal
import subprocess
import sys
import time

import pytest

from flagstone.disk import writing
from flagstone.distributed import ClusterError, local_workers

#: Sends a signal to all processes of the command, as a terminal does, when a function is called
#: for the first time, or some seconds after that.
AT_MOMENT = """
import importlib, os, sys, threading
import distributed
module, name, seconds, number = *sys.argv[1:3], float(sys.argv[3]), int(sys.argv[4])
del sys.argv[1:5]
owner = importlib.import_module(module)
while "." in name:
    first, name = name.split(".", 1)
    owner = getattr(owner, first)
usual, sent = getattr(owner, name), []
def struck(*given, **named):
    if not sent:
        sent.append(True)
        if seconds:
            threading.Timer(seconds, os.killpg, (0, number)).start()
        else:
            os.killpg(0, number)
    return usual(*given, **named)
setattr(owner, name, struck)
from flagstone.cli import main
main()
"""
MOMENTS = [
    ("tempfile", "mkdtemp", 0),
    ("distributed.scheduler", "Scheduler.start_unsafe", 0),
    ("distributed.nanny", "Nanny.instantiate", 0),
    ("distributed.nanny", "Nanny.instantiate", 0.4),
    ("distributed.client", "Client._start", 0),
    ("distributed.deploy.cluster", "Cluster.close", 0),
]


def stopped(program, words, folder):
    """Run a program in a session of its own; return (exit code, what it said, files it left)."""
    temporary = folder / "temporary"
    temporary.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", *program, *words],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _, err = child.communicate(timeout=240)
    end = time.monotonic() + 60
    while alive(child.pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(child.pid)
    return child.returncode, err, sorted(path.name for path in temporary.iterdir())


def alive(group):
    """Say whether a process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(("module", "name", "seconds"), MOMENTS)
def test_ctrl_c_at_any_moment_of_local_workers(folder, tmp_path, module, name, seconds):
    program = [AT_MOMENT, module, name, str(seconds), str(int(signal.SIGINT))]
    words = ["constraints", str(folder), "--seed", "1", "--partition", "files", "--workers", "1"]
    code, err, left = stopped(program, words, tmp_path)
    assert (code, left) == (130, [])
    assert len(err.splitlines()) == 1
    assert err.startswith("flagstone: interrupted")


def test_sigterm_while_workers_start(folder, tmp_path):
    """To this process alone: a worker that gets it, too, is lost before there is a cluster."""
    program = [AT_MOMENT.replace("killpg(0,", "kill(os.getpid(),"), "distributed.nanny"]
    program += ["Nanny.instantiate", "0", str(int(signal.SIGTERM))]
    words = ["constraints", str(folder), "--seed", "1", "--partition", "files", "--workers", "1"]
    assert stopped(program, words, tmp_path) == (143, "flagstone: interrupted\n", [])


def test_a_second_ctrl_c_while_workers_start_ends_at_once(folder, tmp_path):
    twice = AT_MOMENT.replace(
        "os.killpg(0, number)\n",
        "[(os.kill(os.getpid(), number), time.sleep(0.3)) for _ in range(2)]\n",
    )
    program = ["import time" + twice, "distributed.nanny", "Nanny.instantiate", "0", "2"]
    words = ["constraints", str(folder), "--seed", "1", "--partition", "files", "--workers", "1"]
    assert stopped(program, words, tmp_path)[:2] == (130, "flagstone: interrupted\n")


def test_a_run_that_is_not_stopped_leaves_nothing_either(folder, tmp_path):
    program = ["from flagstone.cli import main; main()"]
    words = [
        "constraints",
        str(folder),
        "--seed",
        "1",
        "--partition",
        "files",
        "--workers",
        "2",
        "--json",
    ]
    assert stopped(program, words, tmp_path) == (0, "", [])


def test_workers_that_cannot_start_are_one_sentence(tmp_path, monkeypatch):
    """As without /dev/shm: no semaphore can be made there."""
    import multiprocessing.synchronize

    def refused(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(multiprocessing.synchronize._multiprocessing, "SemLock", refused)
    with pytest.raises(ClusterError, match=r"could not be started .*Function not implemented"):
        local_workers(2).__enter__()
    assert list(tmp_path.iterdir()) == []
    assert not writing.TEMP_FILES


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_workers_need_open_files():
    """Under a lower limit Dask may wait forever for a connection that it cannot open."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))\n"
        "from flagstone.distributed import ClusterError, local_workers\n"
        "try:\n"
        "    with local_workers(1): pass\n"
        "except ClusterError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == (
        "local workers (1) need up to 80 open files, and the limit is 30: raise it (ulimit -n), or "
        "leave the workers out\n"
    ), done.stderr
