"""Files on filesystems that are not the local one, every format, the same rows."""

import pickle
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.zip import ZipFileSystem
from pyarrow import fs, parquet

from flagstone import GF
from flagstone.errors import FormatError, InputError, MissingDependencyError
from flagstone.tables import open_table, remote
from flagstone.tables.batches import Request
from flagstone.tables.files import is_uri
from flagstone.tables.remote import find_remote

BITS = np.random.RandomState(1).randint(0, 2, size=(40, 5))


def write_all(folder):
    """Write the same rows in every format; return the names of the files."""
    import bz2
    import gzip

    columns = {f"x{i}": BITS[:, i] for i in range(5)}
    table = pa.table(columns)
    parquet.write_table(table, folder / "t.parquet", row_group_size=7)
    with pa.OSFile(str(folder / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as w:
        w.write_table(table, max_chunksize=11)
    lines = [",".join(map(str, row)) for row in BITS.tolist()]
    text = "\n".join([",".join(columns), *lines]) + "\n"
    (folder / "t.csv").write_text(text)
    with gzip.open(folder / "t.csv.gz", "wt") as stream:
        stream.write(text)
    with bz2.open(folder / "t.bits.bz2", "wt") as stream:
        stream.write("\n".join("".join(map(str, row)) for row in BITS.tolist()) + "\n")
    (folder / "t.jsonl").write_text("\n".join(f"[{line}]" for line in lines) + "\n")
    (folder / "t.hex").write_text(
        "".join(f"{{5}} {int(''.join(map(str, row)) + '000', 2):02x}\n" for row in BITS.tolist())
    )
    np.save(folder / "t.npy", BITS)
    np.savez(folder / "t.npz", X=BITS)
    return sorted(path.name for path in folder.iterdir())


def matrix(table):
    return np.concatenate([batch.matrix for batch in table.rows(table.encoding(GF(2)))])


def test_every_format_is_read_from_elsewhere(tmp_path):
    names = write_all(tmp_path)
    assert len(names) == 9
    elsewhere = DirFileSystem(path=str(tmp_path), fs=LocalFileSystem())
    for name in names:
        for filesystem in (elsewhere, fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())):
            table = open_table(name, filesystem=filesystem)
            assert np.array_equal(matrix(table), BITS)
            assert str(table.files[0]) == name
        assert table.identity() == open_table(name, filesystem=elsewhere).identity()
        # a worker elsewhere opens it from what was sent
        again = pickle.loads(pickle.dumps(table))
        assert np.array_equal(matrix(again), BITS)


def test_a_directory_elsewhere_is_all_its_files_in_order(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("b.csv", "a/c.csv", "a/.hidden.csv", "_meta.csv"):
            archive.writestr(name, "x,y\n1,0\n")
    filesystem = ZipFileSystem(str(tmp_path / "all.zip"))
    table = open_table("", filesystem=filesystem)
    assert [str(path) for path in table.files] == ["/a/c.csv", "/b.csv"]
    assert len(matrix(table)) == 2
    with pytest.raises(InputError, match="nowhere: no such file or directory there"):
        open_table("nowhere", filesystem=filesystem)


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_of_an_archive_are_read_side_by_side(tmp_path, packing, monkeypatch):
    """Seeking in a member goes wrong in Python 3.12.1 while another one is read; none is needed."""
    frame = pd.DataFrame(np.random.RandomState(1).randint(0, 2, size=(3000, 4)), columns=[*"abcd"])
    with zipfile.ZipFile(tmp_path / "all.zip", "w", packing) as archive:
        for name in ("one", "two"):
            frame.to_parquet(tmp_path / name, row_group_size=500)
            archive.write(tmp_path / name, f"{name}.parquet")
    monkeypatch.setattr(zipfile.ZipExtFile, "seek", None)
    filesystem = ZipFileSystem(str(tmp_path / "all.zip"))
    monkeypatch.setattr(remote, "_IN_MEMORY", 1000)  # larger ones go to a temporary file
    tables = [open_table(f"{name}.parquet", filesystem=filesystem) for name in ("one", "two")]
    encoding = tables[0].encoding(2)
    both = [table.readers[0].batches(Request(encoding.columns, most=100)) for table in tables]
    found: list[list] = [[], []]
    for pair in zip(*both, strict=True):
        for rows, batch in zip(found, pair, strict=True):
            rows.append(np.column_stack(batch.values))
    assert all(np.array_equal(np.concatenate(rows), frame) for rows in found)


def test_uris_name_their_filesystem(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,0\n0,7\n")
    uri = f"file://{tmp_path}/t.csv"
    assert is_uri(uri)
    assert not is_uri("C:\\frames.csv")
    table = open_table(uri)
    with pytest.raises(InputError, match=r"file:///.*t.csv line 3, column 'y': 7 is not"):
        list(table.rows(open_table(uri).encoding(GF(2), columns=["x", "y"], encode="element")))
    from fsspec.implementations.memory import MemoryFileSystem

    MemoryFileSystem().pipe("/frames/t.bits", b"101\n011\n")
    assert np.array_equal(matrix(open_table("memory://frames")), [[1, 0, 1], [0, 1, 1]])
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("t.csv", "x,y\n1,0\n0,1\n")
    assert np.array_equal(matrix(open_table(f"zip://t.csv::{tmp_path}/all.zip")), np.eye(2))
    with pytest.raises((MissingDependencyError, InputError), match="nosuch"):
        open_table("nosuch://a/b.csv")


def test_row_groups_are_split_by_bytes_alone(tmp_path):
    write_all(tmp_path)
    whole = open_table(tmp_path / "t.parquet")
    reader = whole.readers[0]
    assert [part.n_rows for part in reader.split(1)] == [7, 7, 7, 7, 7, 5]
    assert [part.n_rows for part in reader.split(10**9)] == [40]
    encoding = whole.encoding(GF(2))
    rows = []
    for part in reader.split(1):
        for batch in type(whole)([part]).rows(encoding):
            assert batch.place(0).row == sum(map(len, rows)) + 1
            rows.append(batch.matrix)
    assert np.array_equal(np.concatenate(rows), BITS)
    assert find_remote(f"file://{tmp_path}/t.parquet")[0].size == whole.files[0].stat().st_size


def test_a_damaged_row_group_is_named(tmp_path):
    write_all(tmp_path)
    path = tmp_path / "t.parquet"
    table = open_table(path)
    column = parquet.ParquetFile(path).metadata.row_group(3).column(2)
    data = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(data)
    for part in (table.readers[0], table.readers[0].split(1)[3]):
        broken = type(table)([part])
        with pytest.raises(FormatError, match=r"t.parquet, row group 3 is cut short or damaged"):
            list(broken.rows(table.encoding(GF(2), encode="element")))
