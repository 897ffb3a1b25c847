"""Footers of Parquet files: statistics without Arrow's calls, which end the process over damage."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from flagstone.tables.footer import row_groups

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]

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


@pytest.mark.parametrize(
    "words",
    [
        ("span", "f.parquet", "--seed", "7"),
        ("constraints", "f.parquet", "--seed", "7"),
        ("learn", "f.parquet", "-l", "x1", "--seed", "7"),
        ("summarize", "f.parquet", "-o", "f.flag", "--force"),
        ("audit", "f.parquet", "--pairs", "1"),
        ("plan", "--pilot", "f.parquet", "--seed", "7"),
    ],
    ids=lambda words: words[0],
)
def test_no_verb_ends_the_process_over_the_type_of_a_column(tmp_path, words):
    path = tmp_path / "f.parquet"
    start = written(path, 2)
    # the struct of a chunk, and in it the first field: the type of the column
    place = path.read_bytes().index(b"\x1c\x15", start) + 2
    found = flipped(tmp_path, range(8 * place, 8 * place + 7), f"asked(*{words!r})")
    assert found <= {"0", "1", "3"}


@pytest.mark.parametrize("kind", INTEGERS)
@given(data=st.data())
@settings(deadline=None, max_examples=20)
def test_statistics_are_those_of_arrow(tmp_path_factory, kind, data):
    bounds = np.iinfo(kind)
    entries = st.integers(int(bounds.min), int(bounds.max)) | st.none()
    values = data.draw(st.lists(entries, min_size=1, max_size=20))
    path = tmp_path_factory.mktemp("noted") / "t.parquet"
    columns = {"a": pa.array(values, kind), "b.c": pa.array([1.5] * len(values))}
    parquet.write_table(pa.table(columns), path, row_group_size=7)
    about = parquet.read_metadata(path)
    with pa.OSFile(str(path)) as source:
        found = row_groups(source, 2)
    assert len(found) == min(2, about.num_row_groups)
    for i, group in enumerate(found):
        wanted = about.row_group(i).column(0).statistics
        assert ("a" in group) == wanted.has_min_max
        assert group.keys() <= {"a"}  # the others are no integers
        if wanted.has_min_max:
            ends = [
                int.from_bytes(end, "little", signed=bounds.min < 0)
                for end in (group["a"].least, group["a"].most)
            ]
            assert (*ends, group["a"].n_missing) == (wanted.min, wanted.max, wanted.null_count)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"\x00" * 8, b"\xff" * 4 + b"PAR1", b"\0" * 9])
def test_what_is_no_footer_raises(data):
    with pytest.raises((ValueError, IndexError)):
        row_groups(pa.BufferReader(data), 1)
