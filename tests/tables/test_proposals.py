"""Proposals: the encoder that fits every value looked at, its reason, and what counts as a gap."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from flagstone import GF, QQ, InputError
from flagstone.algebra.fields import as_field
from flagstone.tables import Table, open_table, propose
from flagstone.tables.columnar import ParquetReader
from flagstone.tables.memory import MemoryReader
from flagstone.tables.proposals import all_elements, largest, missing, typed


def texts(*values):
    return np.array(values, dtype=object)


@pytest.mark.parametrize(
    ("values", "field", "expected"),
    [
        (np.array([], dtype=object), 2, "c=element (no rows to judge by)"),
        (np.array([0, 1, 2], dtype=np.uint8), 3, "c=element (whole numbers, all in GF(3))"),
        (np.array([0, 2]), 2, "c=bits:2 (whole numbers up to 2)"),
        (np.array([0, 3]), 3, "c=bits:2 (whole numbers up to 3)"),
        (np.array([0, 255]), 2, "c=bits:8 (whole numbers up to 255)"),
        (np.array([0, 256]), 2, "c=bits:9 (whole numbers up to 256)"),
        (np.array([-1, 0]), 2, "c=mod (whole numbers from -1 to 0)"),
        (np.array([-1, 99]), "QQ", "c=element (whole numbers, all in QQ)"),
        (np.array([1.0, 0.0]), 2, "c=element (whole numbers, all in GF(2))"),
        (np.array([1.0, 4.0]), 2, "c=bits:3 (whole numbers up to 4)"),
        (np.array([2.0**53 - 1, 0.0]), 2, f"c=bits:53 (whole numbers up to {2**53 - 1})"),
        (np.array([2.0**53, 0.0]), 2, "c=above:4.5036e+15 (fractional numbers; 4.5036e+15 is the"),
        (np.array([1.0, 2.5, 9.0]), 2, "c=above:2.5 (fractional numbers; 2.5 is the median"),
        (np.array([1.0, 2.5, np.inf]), 2, "c=above:1.75 (fractional numbers; 1.75 is the median"),
        (np.array([np.inf]), 2, "c=above:0 (fractional numbers; 0 is the median"),
        (texts("1/2", "3"), "QQ", "c=element (rational numbers)"),
        (texts("1/2", "x"), "QQ", "c=levels:1/2,x (text with 2 values)"),
        (texts("1/0", "x"), "QQ", "c=levels:1/0,x (text with 2 values)"),
        (texts("1/2", "3"), 2, "c=levels:1/2,3 (text with 2 values)"),
        (texts("a", "a"), 2, "c: leave it out (it is always 'a' in the rows looked at)"),
        (texts(*(f"{i:02}" for i in range(32))), 2, "c=onehot:00,01,02,"),
        (texts(*map(str, range(33))), 2, "c: leave it out (text with 33 different values, like"),
        (texts(True, False, "x"), 2, "c=onehot:false,true,x (text with 3 values)"),
    ],
)
def test_each_kind_of_column(values, field, expected):
    assert str(propose("c", values, as_field(field))).startswith(expected)


@pytest.mark.parametrize(
    "values",
    [[0, 2, 7], [-5, 3], [0.5, 2.5, 3.5], [3.0, 4.0], [2**63, 5]],
)
@pytest.mark.parametrize("field", [GF(2), GF(5), QQ])
def test_what_is_proposed_takes_the_values_it_was_proposed_for(values, field):
    column = np.array(values, dtype=np.uint64 if max(values) > 2**62 else None)
    encoder = propose("c", column, field).encoder
    assert encoder.encode(column, field).shape == (len(values), len(encoder.names))


def test_text_becomes_numbers_where_all_of_it_is_one():
    whole = typed(texts("3", " -4", "+5", "6.0"))
    assert whole.dtype == np.int64
    assert whole.tolist() == [3, -4, 5, 6]
    numbers = typed(texts("3", "0.5", "1e3"))
    assert numbers.dtype == float
    assert numbers.tolist() == [3.0, 0.5, 1000.0]
    large = typed(texts("1e300", "1"))
    assert large.tolist() == [1e300, 1.0]
    assert typed(texts("1e16")).tolist() == [1e16]  # a float of no certain last digit
    for values in (texts("3", "x"), texts("1e3", "5e15"), texts("1", 2), texts("1", "")):
        assert typed(values) is values


@pytest.mark.parametrize(
    ("values", "index"),
    [
        (texts("a", "b"), None),
        (texts("", "b"), 0),
        (texts("a", "  ", ""), 1),
        (texts("a", None, ""), 1),
        (texts("a", "b", float("nan")), 2),
        (texts(0, False), None),
        (np.array(["a", ""]), 1),
        (np.array([0.0, np.nan]), 1),
        (np.array([0.0, np.inf]), None),
        (np.array([0, 1]), None),
        (np.array([True, False]), None),
    ],
)
def test_the_first_gap_is_found(values, index):
    assert missing(values) == index


@pytest.mark.parametrize("name", ["", "index", "Unnamed: 0"])
@pytest.mark.parametrize("field", [2, 257, "QQ"])
def test_an_index_in_a_file_is_recognised(tmp_path, name, field):
    """What pandas.to_csv writes unless told otherwise; also where numbers are elements."""
    lines = [f"{i},{i % 2}" for i in range(20)]
    (tmp_path / "t.csv").write_text("\n".join([f"{name},a", *lines]) + "\n")
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match=rf"'{name}' is better left out: row numbers") as caught:
        table.encoding(field)
    proposed = next(part for part in caught.value.args if getattr(part, "name", "") == "columns")
    assert table.encoding(field, columns=proposed.value).names == ("a",)
    assert table.encoding(field, encode="auto").names == ("a",)
    shuffled = "\n".join([f"{name},a", *lines[::-1]])
    (tmp_path / "u.csv").write_text(shuffled + "\n")
    if field != 2:
        assert open_table(tmp_path / "u.csv").encoding(field).names == (name, "a")


@pytest.mark.parametrize("name", ["a", "index", ""])
@pytest.mark.parametrize("top", [1, 2, 6, 7])
@pytest.mark.parametrize("dtype", ["u1", "i8", "f8", "bool"])
def test_a_matrix_is_judged_as_its_columns_are(name, top, dtype):
    matrix = np.array([[n % (top + 1), 1] for n in range(top + 3)]).astype(dtype)
    matrix[:2, 0] = 0, 1
    columns = (name, "b")
    as_they_are = [propose(c, matrix[:, i], GF(7)) for i, c in enumerate(columns)]
    plain = all(p.encoder is not None and p.encoder.kind == "element" for p in as_they_are)
    assert all_elements(columns, largest(matrix), GF(7)) <= plain
    if dtype in ("u1", "i8") and name == "a":
        assert all_elements(columns, largest(matrix), GF(7)) == plain
    table = Table([MemoryReader(Path("t"), columns, matrix, len(matrix))])
    assert [p.encoder for p in table.proposals(columns, 7)] == [p.encoder for p in as_they_are]
    assert not all_elements(columns, largest(list(matrix.T)), GF(7))
    assert not all_elements(columns, largest(matrix), QQ)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 1] * 8_000),
        pa.array([0, 1] * 8_000, pa.uint8()),
        pa.array([0] * 12_000 + [6] * 4_000),  # in a row group of which nobody looks at the rows
        pa.array([0] * 8_000 + [6] * 8_000),
        pa.array([0] * 15_999 + [-1]),
        pa.array([-1] + [0] * 15_999),
        pa.array([True, False] * 8_000),
        pa.array([1.0, 0.0] * 8_000),
        pa.array(["no", "yes"] * 8_000),
        pa.array([0, 1] * 8_000, pa.date32()),
        pa.array([0, 1] * 8_000, pa.duration("s")),
        pa.array([0, 1] * 8_000).dictionary_encode(),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["a", "index"])
@pytest.mark.parametrize("field", [2, 7, "QQ"])
def test_what_a_file_notes_of_its_columns_changes_no_proposal(tmp_path, column, name, field):
    table = pa.table({name: column, "b": pa.array([1] * 16_000)})
    found = []
    for notes in (True, False):
        path = tmp_path / f"{notes}.parquet"
        parquet.write_table(table, path, write_statistics=notes, row_group_size=4_000)
        found.append(open_table(path).proposals([name, "b"], field))
    assert found[0] == found[1]


def test_rows_are_not_read_where_the_file_notes_what_they_hold(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [0, 1, 1], "b": [0, 4, 0], "c": [0, None, 1]}), path)
    table = open_table(path)
    assert table.readers[0].noted(["a"], 3) == 1
    assert table.readers[0].noted(["a", "b"], 3) == 4
    assert table.readers[0].noted(["a", "c"], 3) is None
    with pytest.raises(InputError, match="row 2, column 'c': the value is missing"):
        table.encoding(2, columns=["a", "c"])
    monkeypatch.setattr(ParquetReader, "batches", None)
    assert table.encoding(2, columns=["a"]).names == ("a",)
    assert table.encoding(5, columns=["a", "b"]).names == ("a", "b")
