"""Too little memory: one sentence, wherever it is noticed."""

import os
import resource
import subprocess
import sys

import numpy as np
import pyarrow
import pytest

from flagstone.cli import process

MAIN = [sys.executable, "-c", "from flagstone.cli import main; main()"]


def within(mib, words, folder):
    """Run a command whose address space is limited."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))

    # The command must limit the threads itself, as for users; tests/conftest.py does it for tests.
    env = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    options = {"capture_output": True, "text": True, "check": False}
    return subprocess.run([*MAIN, *words], cwd=folder, preexec_fn=limit, env=env, **options)


@pytest.mark.parametrize("mib", [60, 140, 220, 260, 320, 700])
def test_a_low_limit_of_address_space_is_one_sentence_or_enough(tmp_path, mib):
    import pyarrow as pa
    from pyarrow import parquet

    rows = np.random.RandomState(1).randint(0, 2, (500, 8))
    parquet.write_table(pa.table({f"b{i}": rows[:, i] for i in range(8)}), tmp_path / "t.parquet")
    done = within(mib, ["constraints", "t.parquet", "--seed", "1"], tmp_path)
    if done.returncode:
        assert done.returncode == 1
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        said = f"flagstone: error: not enough memory: the address space is limited to {mib:,} MiB"
        assert line.startswith(said)
    assert within(mib, ["--version"], tmp_path).returncode == 0


@pytest.mark.parametrize("mib", [280, 520])
def test_workers_are_not_started_where_dask_could_hang_or_crash(tmp_path, mib):
    (tmp_path / "t.csv").write_text("a,b\n" + "0,1\n1,1\n" * 50)
    done = within(mib, ["constraints", "t.csv", "--seed", "1", "--workers", "1"], tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("flagstone: error: not enough memory: the address space is limited to")


def test_what_libraries_make_of_it_is_known():
    wrapped = ImportError("a page of advice")
    wrapped.__cause__ = ImportError("libx.so: failed to map segment from shared object")
    assert process.is_memory_error(wrapped)
    assert process.is_memory_error(OSError(12, "Cannot allocate memory"))
    launch = "Unknown error: Failed to launch worker thread: Resource temporarily unavailable"
    assert process.is_memory_error(pyarrow.lib.ArrowException(launch))
    assert not process.is_memory_error(pyarrow.lib.ArrowException("Unknown error"))
    assert not process.is_memory_error(OSError(28, "No space left on device"))
    assert not process.is_memory_error(ValueError("out of memory"))
    assert not process.is_memory_error(None)
    loop = RuntimeError("one")
    loop.__cause__ = RuntimeError("two")
    loop.__cause__.__cause__ = loop
    assert not process.is_memory_error(loop)


def test_without_a_limit_other_words_are_said(monkeypatch):
    monkeypatch.setattr(process, "address_space", lambda: None)
    assert process.memory_sentence() == "not enough memory; choose fewer columns or rows"
    assert not process.lacks_memory()
