"""Tables: every format gives the same rows, in batches, resumable, with honest errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from flagstone.errors import FormatError, InputError
from flagstone.tables import EncodedBatch, open_table
from flagstone.tables import columnar as columnar_module

NAMES = ["a", "b", "c", "y"]


@pytest.fixture(scope="module")
def matrix():
    return np.random.RandomState(0).randint(0, 2, size=(5000, 4)).astype(np.uint8)


def write(folder: Path, matrix: np.ndarray, format: str) -> Path:
    path = folder / f"t.{format}"
    table = pa.table({name: matrix[:, i] for i, name in enumerate(NAMES)})
    if format == "csv":
        path.write_text("a,b,c,y\n" + "".join(",".join(map(str, r)) + "\n" for r in matrix))
    elif format == "tsv":
        path.write_text("a\tb\tc\ty\n" + "".join("\t".join(map(str, r)) + "\n" for r in matrix))
    elif format == "parquet":
        parquet.write_table(table, path, row_group_size=1100)
    elif format == "feather":
        feather.write_feather(table, path, chunksize=700)
    elif format == "arrows":
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table, max_chunksize=600)
    elif format == "npy":
        np.save(path, matrix)
    elif format == "npz":
        np.savez_compressed(path, X=matrix[:, :3], y=matrix[:, 3])
    elif format == "jsonl":
        rows = (dict(zip(NAMES, map(int, row), strict=True)) for row in matrix)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> list[EncodedBatch]:
    table = open_table(path)
    return list(table.rows(table.encoding(2, encode={"*": "element"})))


FORMATS = ["csv", "tsv", "parquet", "feather", "arrows", "npy", "npz", "jsonl"]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_gives_the_same_rows_and_resumes_anywhere(
    tmp_path, matrix, format, monkeypatch
):
    monkeypatch.setattr(columnar_module, "rows_per_batch", lambda n: 256)
    monkeypatch.setattr("flagstone.tables.arrays.rows_per_batch", lambda n, b: 512)
    table = open_table(write(tmp_path, matrix, format))
    label = table.columns[-1]
    encoding = table.encoding(2, label=label)
    batches = list(table.rows(encoding))
    assert np.array_equal(np.concatenate([b.matrix for b in batches]), matrix)
    if format in ("parquet", "feather", "arrows", "npy", "npz"):
        assert len(batches) >= 8
    numbers = [batch.place(0).row for batch in batches]
    assert numbers == list(np.cumsum([1] + [len(b) for b in batches[:-1]]))
    for index in {0, len(batches) // 2}:
        rest = [b.matrix for b in table.rows(encoding, start=batches[index].after)]
        done = sum(len(b) for b in batches[: index + 1])
        assert np.array_equal(np.concatenate([matrix[:0], *rest]), matrix[done:])


@pytest.mark.parametrize("format", ["parquet", "feather", "npy", "npz"])
def test_a_file_cut_in_half_is_refused_with_a_reason(tmp_path, matrix, format):
    path = write(tmp_path, matrix, format)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FormatError, match="cut short"):
        list(open_table(path).batches())


def test_directories_and_globs_are_read_in_the_order_of_their_names(tmp_path, matrix):
    for index in (2, 0, 1):
        part = tmp_path / "parts" / f"part-{index}.parquet"
        part.parent.mkdir(exist_ok=True)
        write(part.parent, matrix[index * 1000 : (index + 1) * 1000], "parquet").rename(part)
    (tmp_path / "parts" / "_SUCCESS").touch()
    for source in (tmp_path / "parts", str(tmp_path / "parts" / "*.parquet")):
        table = open_table(source)
        assert table.n_rows == 3000
        batches = list(table.rows(table.encoding(2)))
        assert np.array_equal(np.concatenate([b.matrix for b in batches]), matrix[:3000])
        assert str(batches[1].place(4)).endswith("part-1.parquet row 5")
        rest = list(table.rows(table.encoding(2), start=batches[0].after))
        assert np.array_equal(np.concatenate([b.matrix for b in rest]), matrix[1000:3000])


def test_files_with_other_columns_are_refused(tmp_path, matrix):
    write(tmp_path, matrix, "csv")
    (tmp_path / "u.csv").write_text("a,b,c,z\n0,0,0,0\n")
    with pytest.raises(InputError, match=r"u.csv: its columns differ .* first difference 'y'"):
        open_table(tmp_path / "t.csv", tmp_path / "u.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b\n1,0\n\n1\n",
            r"line 4: the row has 1 cell\(s\), but there are 2 .*too short",
        ),
        ("a,b\n1,0\n1,0,1\n", r"line 3: the row has 3 cell\(s\).*too long"),
        ("a,b\n1,0\n1,\n", r"line 3, column 'b': the value is missing"),
        ("a,b\n1,0\n1,2\n", r"line 3, column 'b': 2 is not an element of GF\(2\)"),
        ("a,b\n1,0\n1,x\n", r"line 3, column 'b': 'x' is not a whole number"),
        ("1,0\n1,1\n", r"looks like data.*header=False"),
        ("a,a\n1,1\n", r"two columns are called 'a'"),
        ("\n\n", r"is empty"),
    ],
)
def test_bad_csv_rows_name_their_line(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read(path)


def test_a_csv_without_names_counts_its_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,0\n\n1,1\n")
    table = open_table(path, header=False)
    (batch,) = table.rows(table.encoding(2))
    assert table.columns == ("x0", "x1")
    assert batch.matrix.tolist() == [[1, 0], [1, 1]]
    assert batch.place(1).line == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"b": 1}\n', "line 2: lacks 'a'"),
        ('{"a": 1}\n\n{"a": 1, "b": 1}\n', "line 3: has 'b', unknown so far"),
        ("[1, 0]\n[1]\n", "line 2: lacks 'x1'"),
        ("[1, 0]\n[1,\n", "line 2: is not JSON"),
        ("3\n", "line 1: must hold an object or an array"),
        ("[1]\n[null]\n", "line 2, column 'x0': the value is missing"),
        ("[1]\n[1.5]\n", "line 2, column 'x0': 1.5 is not an element"),
    ],
)
def test_bad_json_lines_name_their_line(tmp_path, text, message):
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read(path)


def test_missing_values_of_a_parquet_file_name_their_row(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1, 0, None]}), path)
    with pytest.raises(InputError, match=r"row 3, column 'a': the value is missing"):
        read(path)


def test_pickled_arrays_are_never_loaded(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.array([[object()]], dtype=object), allow_pickle=True)
    with pytest.raises(FormatError, match="pickled Python objects, which are never loaded"):
        open_table(path)
    np.savez(tmp_path / "t.npz", X=np.array([[{}]], dtype=object))
    with pytest.raises(FormatError, match="pickled Python objects, which are never loaded"):
        open_table(tmp_path / "t.npz")


def test_names_that_do_not_exist_are_answered_with_the_closest(tmp_path, matrix):
    path = write(tmp_path, matrix, "csv")
    with pytest.raises(InputError, match=r"t.csw: no such file or directory; did you mean 't.csv'"):
        open_table(tmp_path / "t.csw")
    (tmp_path / "u.csv").write_text("temperature,fault\n1,0\n")
    table = open_table(tmp_path / "u.csv")
    with pytest.raises(InputError, match="no column 'temprature'; did you mean 'temperature'"):
        table.encoding(2, columns=["temprature"])
    with pytest.raises(InputError, match="no label column 'falt'; did you mean 'fault'"):
        table.encoding(2, label="falt")
    with pytest.raises(InputError, match="the name does not say the format"):
        open_table(path.rename(tmp_path / "t.dat"))
    with pytest.raises(InputError, match="no file matches"):
        open_table(tmp_path / "*.nothing")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InputError, match=r"empty\.csv: the file is empty"):
        open_table(tmp_path / "empty.csv")


def test_the_first_marked_rows_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,0\n\n1,1\n0,0\n")
    table = open_table(path)
    (batch,) = table.rows(table.encoding(2))
    marked = np.array([True, True, True])
    assert batch.places(marked, 2) == [[str(path), 1, 2], [str(path), 2, 4]]
    assert batch.places(marked, 0) == batch.places(marked, -1) == []
    assert batch.places(~marked, 5) == []


def test_columns_by_pattern_and_by_exclusion(tmp_path, matrix):
    table = open_table(write(tmp_path, matrix, "csv"))
    assert table.encoding(2, columns=["-b"], label="y").columns == ("a", "c", "y")
    assert table.encoding(2, columns=["[ab]", "y"]).columns == ("a", "b", "y")


def test_a_column_may_be_called_like_the_pattern_for_all(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,*,y\n1,0,1\n0,1,1\n")
    table = open_table(path)
    assert table.encoding(2).columns == ("a", "*", "y")
    assert table.encoding(2, columns=["-y"]).columns == ("a", "*")
    assert table.encoding(2, columns=["*"], label="y").columns == ("*", "y")


def test_the_identity_changes_with_the_files(tmp_path, matrix):
    path = write(tmp_path, matrix, "csv")
    before = open_table(path).identity()
    assert before == open_table(path).identity()
    path.write_text(path.read_text() + "1,1,1,1\n")
    assert before != open_table(path).identity()


def test_the_identity_is_that_of_every_byte(tmp_path):
    """The same name, size and time are not enough: someone may have put the time back."""
    path = tmp_path / "t.csv"
    text = bytearray(b"a,b\n" + b"1,0\n" * 600_000)
    path.write_bytes(text)
    table, time = open_table(path), path.stat().st_mtime_ns
    before = table.identity()
    for place in (4, (1 << 20) - 4, len(text) // 2, len(text) - (1 << 20) + 4, len(text) - 4):
        text[place] ^= 1
        path.write_bytes(text)
        os.utime(path, ns=(time, time))
        assert table.identity() != before
        text[place] ^= 1
    path.write_bytes(text)
    os.utime(path, ns=(time, time))
    assert table.identity() == before
    os.utime(path, ns=(time, time + 10**9))
    assert table.identity() == before  # a copied or touched file is still the same


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_memory_stays_flat(tmp_path):
    """Ten times the rows, hardly more memory: only one batch is held."""
    code = (
        "import sys, re\n"
        "from flagstone import Flag\n"
        "from flagstone.tables import open_table\n"
        "table = open_table(sys.argv[1])\n"
        "flag = Flag(24)\n"
        "for batch in table.rows(table.encoding(2)):\n"
        "    flag.update(batch.matrix)\n"
        # not ru_maxrss: that counts what the parent held before the program was loaded
        "status = open('/proc/self/status').read()\n"
        "print(flag.n_rows, int(re.search(r'VmHWM:\\s+(\\d+) kB', status)[1]) // 1024)\n"
    )
    peaks = []
    random = np.random.RandomState(0)
    group = {f"x{i}": random.randint(0, 2, 100_000).astype(np.uint8) for i in range(24)}
    for groups in (2, 20):
        path = tmp_path / f"{groups}.parquet"
        table = pa.table(group)
        with parquet.ParquetWriter(path, table.schema) as writer:
            for _ in range(groups):
                writer.write_table(table)
        done = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
        )
        n_rows, peak = map(int, done.stdout.split())
        assert n_rows == groups * 100_000
        peaks.append(peak)
    assert peaks[1] < 500
    assert peaks[1] - peaks[0] < 60


def test_over_the_rationals_whole_numbers_of_text_files_become_bits(tmp_path):
    (tmp_path / "t.csv").write_text("a\n5\n2\n")
    table = open_table(tmp_path / "t.csv")
    [batch] = table.rows(table.encoding("QQ", encode={"a": "bits:3"}))
    assert batch.matrix.tolist() == [[1, 0, 1], [0, 1, 0]]
