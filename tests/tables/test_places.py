"""Every reader: rows keep their numbers and lines, in any batch and wherever one resumes."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from flagstone.errors import InputError
from flagstone.tables import arrays, columnar, delimited, files, frames, jsonlines, open_table

NAMES = ["x0", "x1", "x2", "x3"]
TEXT = ["csv", "csv.gz", "jsonl", "jsonl.gz", "arrays.jsonl", "bits"]
TYPED = ["parquet", "feather", "arrows", "npy", "structured.npy", "npz", "vectors.npz"]


@pytest.fixture
def matrix():
    return np.random.RandomState(0).randint(0, 2, size=(300, 4)).astype(np.uint8)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Let text come in blocks of a few lines, and arrays in batches of 32 rows."""
    for module in (delimited, frames, jsonlines):
        monkeypatch.setattr(
            module, "line_blocks", lambda p, o=0, block=0: files.line_blocks(p, o, 256)
        )
    for module in (columnar, arrays):
        monkeypatch.setattr(module, "rows_per_batch", lambda n, b=0: 32)


def write(folder, matrix, kind):
    """Return the file, and the line of each row where it has lines: some are blank."""
    path = folder / f"t.{kind}"
    table = pa.table({name: matrix[:, i] for i, name in enumerate(NAMES)})
    rows = matrix.tolist()
    if kind in TEXT:
        texts = {
            "csv": lambda row: ",".join(map(str, row)),
            "json": lambda row: json.dumps(dict(zip(NAMES, row, strict=True))),
            "arra": lambda row: json.dumps(row),
            "bits": lambda row: "".join(map(str, row)),
        }[kind[:4].rstrip(".")]
        lines = [",".join(NAMES)] if kind.startswith("csv") else []
        places = []
        for i, row in enumerate(rows):
            lines += [""] if i % 7 == 3 else []
            lines.append(texts(row))
            places.append(len(lines))
        data = ("\n".join(lines) + "\n").encode()
        path.write_bytes(gzip.compress(data) if kind.endswith("gz") else data)
        return path, places
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=70)
    elif kind == "feather":
        feather.write_feather(table, path, chunksize=70)
    elif kind == "arrows":
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table, max_chunksize=70)
    elif kind == "npy":
        np.save(path, matrix)
    elif kind == "structured.npy":
        np.save(path, np.array([tuple(row) for row in rows], dtype=[(n, "u1") for n in NAMES]))
    elif kind == "npz":
        np.savez(path, X=matrix[:, :3], x3=matrix[:, 3])
    else:
        np.savez_compressed(path, **{name: matrix[:, i] for i, name in enumerate(NAMES)})
    return path, [None] * len(rows)


def placed(batches):
    return [
        (batch.place(i).row, batch.place(i).line, row.tolist())
        for batch in batches
        for i, row in enumerate(batch.matrix)
    ]


def read_all(path):
    table = open_table(path)
    return list(table.rows(table.encoding(2, encode={"*": "element"})))


@pytest.mark.parametrize("kind", TEXT + TYPED)
def test_rows_keep_their_places(tmp_path, matrix, kind):
    path, lines = write(tmp_path, matrix, kind)
    table = open_table(path)
    assert table.columns == tuple(NAMES)
    assert table.n_rows in (None, len(matrix))
    encoding = table.encoding(2, columns=["x2", "x0"], label="x3")
    batches = list(table.rows(encoding))
    assert len(batches) >= 5
    values = matrix[:, [2, 0, 3]].tolist()
    expected = [(i + 1, lines[i], values[i]) for i in range(len(matrix))]
    assert placed(batches) == expected
    for done in np.cumsum([len(batch) for batch in batches]).tolist():
        at = next(b for b in batches if b.place(len(b) - 1).row == done)
        assert placed(table.rows(encoding, start=at.after)) == expected[done:]


@pytest.mark.parametrize("kind", TEXT + TYPED)
def test_a_position_between_batches_is_found_again(tmp_path, matrix, kind, monkeypatch):
    """A run may resume where a batch ended, with batches of another length from there on."""
    path, lines = write(tmp_path, matrix, kind)
    table = open_table(path)
    encoding = table.encoding(2)
    first, second, *_ = table.rows(encoding)
    for module in (columnar, arrays):
        monkeypatch.setattr(module, "rows_per_batch", lambda n, b=0: 50)
    done = len(first) + len(second)
    rest = placed(table.rows(encoding, start=second.after))
    assert [row for row, _, _ in rest] == list(range(done + 1, len(matrix) + 1))
    assert [values for _, _, values in rest] == matrix[done:].tolist()
    assert [line for _, line, _ in rest] == lines[done:]


@pytest.mark.parametrize("kind", TEXT + TYPED)
def test_the_share_done_rises_to_one(tmp_path, matrix, kind):
    path, _ = write(tmp_path, matrix, kind)
    shares = [batch.done for _, batch in open_table(path).batches()]
    if kind.endswith("gz") or kind in ("feather", "arrows"):
        assert set(shares) <= {0.0, 1.0}  # not known on the way
        return
    assert shares == sorted(set(shares))
    assert 0 < shares[0] < 0.3
    assert shares[-1] == 1.0


@pytest.mark.parametrize("kind", TEXT + TYPED)
@pytest.mark.parametrize("row", [0, 150, 299])
def test_an_entry_that_does_not_fit_is_found_in_any_batch(tmp_path, matrix, kind, row):
    matrix = matrix.copy()
    matrix[row, 1] = 2
    path, lines = write(tmp_path, matrix, kind)
    if kind == "bits":
        where, problem = rf"line {lines[row]}: column 2", "'2' is not a bit"
    else:
        place = f"row {row + 1}" if lines[row] is None else f"line {lines[row]}"
        where, problem = rf"{place}, column 'x1'", r"2 is not an element of GF\(2\)"
    with pytest.raises(InputError, match=f"{where}: {problem}"):
        read_all(path)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl", "parquet", "feather", "arrows"])
@pytest.mark.parametrize("row", [0, 150, 299])
def test_a_missing_value_is_found_in_any_batch(tmp_path, matrix, kind, row):
    path, lines = write(tmp_path, matrix, kind)
    if kind in TEXT:
        opener = gzip.open if kind.endswith("gz") else open
        with opener(path, "rt") as stream:
            texts = stream.read().split("\n")
        old = texts[lines[row] - 1]
        cells = old.split(",")
        cells[1] = "" if kind.startswith("csv") else ' "x1": null'
        texts[lines[row] - 1] = ",".join(cells)
        with opener(path, "wt") as stream:
            stream.write("\n".join(texts))
    else:
        holes = [None if i == row else int(v) for i, v in enumerate(matrix[:, 1])]
        table = pa.table({"x0": matrix[:, 0], "x1": pa.array(holes, pa.uint8())})
        if kind == "parquet":
            parquet.write_table(table, path, row_group_size=70)
        elif kind == "feather":
            feather.write_feather(table, path, chunksize=70)
        else:
            with pa.ipc.new_stream(path, table.schema) as stream:
                stream.write_table(table, max_chunksize=70)
    place = f"row {row + 1}" if lines[row] is None else f"line {lines[row]}"
    with pytest.raises(InputError, match=rf"{place}, column 'x1': the value is missing"):
        read_all(path)
