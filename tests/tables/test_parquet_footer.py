"""Damaged footers of Parquet files end in an error, never in the end of the process."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
from pyarrow import parquet

#: Run something on a file with one bit flipped, for each of some bits, all in one process.
FLIP = """
import contextlib, io, sys
from pathlib import Path
from flagstone.cli.runner import run
from flagstone.errors import FlagstoneError
from flagstone.tables import open_table

def read():
    try:
        table = open_table("f.parquet")
        return str(sum(map(len, table.rows(table.encoding(2)))) > 0)
    except FlagstoneError:
        return "refused"

def asked(*words):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return str(run(words))

good, outcomes = Path("f.parquet").read_bytes(), set()
for bit in {bits!r}:
    data = bytearray(good)
    data[bit // 8] ^= 1 << bit % 8
    Path("f.parquet").write_bytes(data)
    outcomes.add({call})
print(*sorted(outcomes))
"""


def written(path, n_columns):
    """Write a small file; return where its footer begins."""
    X = np.random.RandomState(1).randint(0, 2, size=(60, n_columns)).astype(np.uint8)
    table = pa.table({f"x{i}": X[:, i] for i in range(n_columns)})
    parquet.write_table(table, path, store_schema=False)
    data = path.read_bytes()
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def flipped(folder, bits, call):
    words = [sys.executable, "-c", FLIP.format(bits=bits, call=call)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return set(done.stdout.split())


def test_no_flipped_bit_of_a_footer_ends_the_process(tmp_path):
    path = tmp_path / "f.parquet"
    bits = range(8 * written(path, 1), 8 * path.stat().st_size)
    assert flipped(tmp_path, bits, "read()") == {"True", "refused"}


def test_no_verb_ends_the_process_over_the_type_of_a_column(tmp_path):
    verbs = [
        ("subspace", "f.parquet", "-l", "x1", "--seed", "7"),
        ("constraints", "f.parquet", "--seed", "7"),
        ("learn", "f.parquet", "-l", "x1", "--seed", "7"),
        ("summarize", "f.parquet", "-o", "f.flag", "--force"),
        ("audit", "f.parquet", "--pairs", "1"),
        ("plan", "--pilot", "f.parquet", "--seed", "7"),
    ]
    path = tmp_path / "f.parquet"
    start = written(path, 2)
    # the struct of a chunk, and in it the first field: the type of the column
    place = path.read_bytes().index(b"\x1c\x15", start) + 2
    call = f"' '.join(asked(*words) for words in {verbs!r})"
    found = flipped(tmp_path, range(8 * place, 8 * place + 7), call)
    assert found <= {"0", "1", "3"}
