"""Proposals: the encoder that fits every value looked at, its reason, and what counts as a gap."""

import json
import re
import warnings
from decimal import Decimal as D
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from flagstone import GF, QQ, InputError
from flagstone.algebra.fields import as_field
from flagstone.encoding import Encoding, OneHot
from flagstone.errors import InputWarning
from flagstone.tables import Table, open_table, propose
from flagstone.tables.arrays import MemoryReader
from flagstone.tables.proposals import MissingEntry, are_elements, propose_columns, typed


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
        (np.array([1, -1, 1]), 2, "c=levels:-1,1 (whole numbers with 2 values)"),
        (np.array([1.0, -1.0, 1.0]), 2, "c=levels:-1,1 (whole numbers with 2 values)"),
        (np.array([1, 2, 1]), 2, "c=levels:1,2 (whole numbers with 2 values)"),
        (np.array([1, -1, 1]), 3, "c=mod (whole numbers from -1 to 1)"),
        (np.array([-1, 99]), "QQ", "c=element (whole numbers)"),
        (np.array([1.0, 0.0]), 2, "c=element (whole numbers, all in GF(2))"),
        (np.array([1.0, 4.0]), 2, "c=bits:3 (whole numbers up to 4)"),
        (np.array([2.0**53 - 1, 0.0]), 2, f"c=bits:53 (whole numbers up to {2**53 - 1})"),
        (
            np.array([2.0**53, 0.0]),
            2,
            "c=above:4.5036e+15 (fractional numbers; 4.5036e+15 is the median of these rows)",
        ),
        (
            np.array([1.0, 2.5, 9.0]),
            2,
            "c=above:2.5 (fractional numbers; 2.5 is the median",
        ),
        (
            np.array([1.5, 2.5, 2.5]),
            2,
            "c=above:1.5 (fractional numbers; some of these rows are above 1.5, some are not)",
        ),
        (
            np.array([1e6 + 0.1, 1e6 + 0.2, np.nan]),
            2,
            "c=above:1000000.1 (fractional numbers; some of these rows are above 1000000.1",
        ),
        (np.array([1.5, np.inf]), 2, "c=above:1.5 (fractional numbers; 1.5 is the median"),
        (np.array([2.5, 2.5]), 2, "c: leave it out (it is always '2.5' in the rows looked at)"),
        (
            np.array([1.0, 2.5, np.inf]),
            2,
            "c=above:1.75 (fractional numbers; 1.75 is the median",
        ),
        (
            np.array([np.inf]),
            2,
            "c=above:0 (fractional numbers; 0 is the median",
        ),
        (texts("1/2", "3"), "QQ", "c=element (numbers, read exactly)"),
        (texts("1/2", "x"), "QQ", "c=levels:1/2,x (text with 2 values)"),
        (texts("1/0", "x"), "QQ", "c=levels:1/0,x (text with 2 values)"),
        (texts("1/2", "3"), 2, "c=levels:1/2,3 (text with 2 values)"),
        (texts(*(f"A{i}" for i in range(1000, 1040))), 2, "c: leave it out (text with 40"),
        (texts(*(f"5{i:05x}" for i in range(40))), "QQ", "c: leave it out (text with 40"),
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
    whole = typed(texts("3", " -4", "+5", "6.0"), GF(2))
    assert whole.dtype == np.int64
    assert whole.tolist() == [3, -4, 5, 6]
    numbers = typed(texts("3", "0.5", "1e3"), GF(2))
    assert numbers.dtype == float
    assert numbers.tolist() == [3.0, 0.5, 1000.0]
    large = typed(texts("1e300", "1"), GF(2))
    assert large.tolist() == [1e300, 1.0]
    assert typed(texts("1e16"), GF(2)).tolist() == [1e16]  # a float of no certain last digit
    for values in (texts("3", "x"), texts("1e3", "5e15"), texts("1", 2), texts("1", "")):
        assert typed(values, GF(2)) is values


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
    try:
        propose_columns({"a": values}, GF(2))
        found = None
    except MissingEntry as gap:
        found = gap.index
    assert found == index


@pytest.mark.parametrize("name", ["", "index", "Unnamed: 0"])
@pytest.mark.parametrize("field", [2, 257, "QQ"])
def test_an_index_in_a_file_is_recognised(tmp_path, name, field):
    """What pandas.to_csv writes by default; also where numbers are elements."""
    lines = [f"{i},{i % 2}" for i in range(20)]
    (tmp_path / "t.csv").write_text("\n".join([f"{name},a", *lines]) + "\n")
    table = open_table(tmp_path / "t.csv")
    shown = name or "''"
    with pytest.warns(InputWarning, match=rf"left out {shown} \(row numbers, like the index"):
        assert table.encoding(field).names == ("a",)
    with pytest.warns(InputWarning, match="left out"):
        assert table.encoding(field, encode="auto").names == ("a",)
    assert table.encoding(field, columns=["-" + name]).names == ("a",)
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
    assert are_elements(columns, matrix, GF(7)) <= plain
    if dtype in ("u1", "i8") and name == "a":
        assert are_elements(columns, matrix, GF(7)) == plain
    table = Table([MemoryReader(Path("t"), columns, matrix, len(matrix))])
    assert [p.encoder for p in table.proposals(columns, 7)] == [p.encoder for p in as_they_are]
    assert not are_elements(columns, list(matrix.T), GF(7))
    assert not are_elements(columns, matrix, QQ)


@pytest.mark.parametrize("field", [2, 7, "QQ"])
def test_missing_values_are_refused_with_their_count_and_the_first_cell(tmp_path, field):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [0, 1, 1, 0], "c": [0, None, 1, None]}), path)
    with pytest.raises(InputError, match=r"row 2, column 'c': the value is missing \(2 in 'c'"):
        open_table(path).encoding(field)
    assert open_table(path).encoding(field, columns=["a"]).names == ("a",)


def test_columns_that_carry_nothing_are_left_out_unless_they_are_named(tmp_path):
    lines = [f"INV-{i},{i},{i % 3}.50,EUR" for i in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["invoice,id,net,currency", *lines]) + "\n")
    table = open_table(tmp_path / "t.csv")
    with pytest.warns(
        InputWarning, match=r"left out invoice \(text with 200 .*; currency \("
    ) as said:
        assert table.encoding("QQ").names == ("id", "net")
    assert len(said) == 1
    with pytest.warns(InputWarning, match=r"; id \(row numbers"):
        assert table.encoding(2, encode="auto").names == ("net>1.5",)
    with pytest.raises(InputError, match="column 'invoice' is better left out: text with 200"):
        table.encoding("QQ", columns=["invoice", "net"])
    assert table.encoding(2, columns=["id"], encode={"id": "bits:8"}).names[0] == "id[0]"


def test_text_beside_numbers_over_the_rationals_is_left_out_unless_it_is_asked_for(tmp_path):
    lines = [f"2026-01-0{i % 5 + 1},{i}.50,{'paid' if i % 3 else 'NA'}" for i in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["date,net,status", *lines]) + "\n")
    table = open_table(tmp_path / "t.csv")
    with pytest.warns(InputWarning, match=r"left out date, status \(text") as said:
        assert table.encoding("QQ").names == ("net",)
    assert len(said) == 1  # nothing about NA in a column that is not read
    with pytest.warns(InputWarning, match=r"left out date \(text"):
        assert len(table.encoding("QQ", encode={"status": "auto"}).columns) == 2
    with pytest.raises(InputError, match="column 'date' does not hold elements of QQ"):
        table.encoding("QQ", columns=["date", "net"])
    with pytest.raises(InputError, match="label 'status' does not hold"):
        table.encoding("QQ", label="status")
    with pytest.raises(InputError, match="does not hold elements of QQ"):  # nothing would remain
        table.encoding("QQ", columns=["-net"])


def test_text_among_numbers_is_no_column_of_text(tmp_path):
    """One number among the values, and the column is not left out: it may hold typing errors."""
    lines = [f"{i}.50,{('5', 'x', 'y')[i % 3]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["net,mixed", *lines]) + "\n")
    with pytest.raises(InputError, match="column 'mixed' does not hold elements of QQ"):
        open_table(tmp_path / "t.csv").encoding("QQ")


@pytest.mark.parametrize("pair", [("1.0", "2.0"), ("+5", "-5"), (" 5", "7"), ("05", "6")])
def test_whole_numbers_are_read_however_they_are_written(tmp_path, pair):
    rows = [f"{pair[i % 3 == 0]},{i % 2}" for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *rows]) + "\n")
    table = open_table(tmp_path / "t.csv")
    encoding = table.encoding(2, columns=["a"], encode="auto")
    found = np.concatenate([batch.rows for batch in table.rows(encoding)]).ravel()
    assert len(set(found.tolist())) == 2
    assert (found == found[0]).tolist() == [i % 3 == 0 for i in range(30)]


def gappy(tmp_path, **columns):
    """Write columns with gaps, None; return the table."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    (tmp_path / "t.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    return open_table(tmp_path / "t.csv")


def test_a_column_is_judged_by_its_own_cells_where_rows_are_dropped(tmp_path):
    """A column left out drops no rows, and the rows that it lacks say nothing of the others."""
    active = ["yes" if i % 3 else "no" for i in range(60)]
    deleted = ["2026-01-01" if value == "no" else None for value in active]
    table = gappy(tmp_path, active=active, may=active, deleted=deleted, note=[None] * 60)
    with pytest.warns(InputWarning, match=r"left out deleted \(it is always '2026-01-01' "):
        encoding = table.encoding(2, encode="auto", missing="drop")
    assert encoding.columns == ("active", "may")
    (batch,) = table.rows(encoding)
    assert (len(batch), batch.skipped) == (60, 0)


def test_rows_that_all_lack_a_value_of_a_column_that_is_read_are_refused(tmp_path):
    a = ["u" if i % 2 else "v" for i in range(8)]
    left = [cell if i < 4 else None for i, cell in enumerate(a)]
    right = [cell if i > 2 else None for i, cell in enumerate(a)]
    right[3] = None
    table = gappy(tmp_path, a=a, left=left, right=right)
    with pytest.raises(InputError, match=r"every row lacks a value, most often in column 'left'"):
        table.encoding(2, encode="auto", missing="drop")
    assert len(table.encoding(2, columns=["-left"], encode="auto", missing="drop").columns) == 2


@pytest.mark.parametrize("missing", ["refuse", "drop", "level"])
def test_missing_cells_of_columns_that_are_left_out_do_not_matter(tmp_path, missing):
    columns = {
        "net": [f"{i}.50" for i in range(60)],
        "note": [f"about {i}" if i % 7 else None for i in range(60)],
        "status": ["paid" if i % 3 else None for i in range(60)],
        "empty": [None] * 60,
        "gross": [f"{i}.75" for i in range(60)],
    }
    table = gappy(tmp_path, **columns)
    with pytest.warns(InputWarning, match=r"empty \(it is missing in all rows looked at\)"):
        encoding = table.encoding("QQ", missing=missing)
    assert encoding.columns == ("net", "gross")
    (batch,) = table.rows(encoding)
    assert len(batch) == 60


def test_missing_cells_of_numbers_are_refused_and_every_such_column_named(tmp_path):
    net = [None if i == 3 else f"{i}.5" for i in range(60)]
    table = gappy(tmp_path, date=[None] * 2 + ["x"] * 58, net=net, vat=net[::-1], gross=[7.5] * 60)
    with pytest.raises(
        InputError, match=r"line 5, column 'net': .* \(1 in 'net', 1 in 'vat', among"
    ) as caught:
        table.encoding("QQ")
    assert str(caught.value).endswith("or leave the columns out with columns=['-net', '-vat']")
    with pytest.raises(InputError, match=r"missing='level'$"):  # nothing would be left
        table.encoding("QQ", columns=["net", "vat"])
    assert table.encoding("QQ", columns=["-net", "-vat"]).columns == ("gross",)


MISSING = "a,b,n\nx,1,0\n,0,1\ny,NA,1\nx,1,0\n"


def test_rows_with_missing_values_are_left_out_on_request(tmp_path):
    (tmp_path / "t.csv").write_text(MISSING)
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(
        InputError, match=r"line 3, column 'a': the value is missing \(1 in 'a', 1 in 'b'"
    ):
        table.encoding(2, encode="auto")
    with pytest.warns(InputWarning, match="'NA' in column 'b' is taken for a missing value"):
        encoding = table.encoding(2, columns=["b", "n"], missing="drop")
    assert Encoding.from_dict(encoding.to_dict()) == encoding
    (batch,) = table.rows(encoding)
    assert batch.matrix.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert batch.skipped == 1
    assert [batch.place(i).line for i in range(3)] == [2, 3, 5]


def test_missing_values_are_a_level_on_request(tmp_path):
    (tmp_path / "t.csv").write_text(MISSING)
    table = open_table(tmp_path / "t.csv")
    with pytest.warns(InputWarning, match="'NA' in column 'b'"):
        encoding = table.encoding(2, encode="auto", missing="level")
    assert encoding.names == ("a=x", "a=y", "a=(missing)", "b=0", "b=1", "b=(missing)", "n")
    (batch,) = table.rows(encoding)
    assert batch.matrix.tolist() == [
        [1, 0, 0, 0, 1, 0, 0],
        [0, 0, 1, 1, 0, 0, 1],
        [0, 1, 0, 0, 0, 1, 1],
        [1, 0, 0, 0, 1, 0, 0],
    ]


def test_the_text_na_among_words_is_reported_and_stays_a_value(tmp_path):
    (tmp_path / "t.csv").write_text("a\nNA\nlow\nhigh\n")
    with pytest.warns(InputWarning, match="the text 'NA' in column 'a' is read as a value"):
        encoding = open_table(tmp_path / "t.csv").encoding(2, encode="auto")
    assert encoding.names == ("a=NA", "a=high", "a=low")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "jsonl"])
def test_missing_values_are_found_in_every_format(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    rows = {"a": ["u", None, "v", "u"], "b": [1, 0, None, 1]}
    if suffix == "csv":
        path.write_text("a,b\nu,1\n,0\nv,\nu,1\n")
    elif suffix == "parquet":
        parquet.write_table(pa.table(rows), path)
    elif suffix == "arrow":
        feather.write_feather(pa.table(rows), path)
    else:
        records = [
            dict(zip(rows, cells, strict=True)) for cells in zip(*rows.values(), strict=True)
        ]
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    table = open_table(path)
    with pytest.raises(InputError, match="column 'a': the value is missing"):
        table.encoding(2, encode="auto")
    dropped = table.encoding(2, encode={"a": "levels:u,v"}, missing="drop")
    assert [b.matrix.tolist() for b in table.rows(dropped)] == [[[0, 1], [0, 1]]]
    level = table.encoding(2, encode="auto", missing="level")
    assert level.names == ("a=u", "a=v", "a=(missing)", "b=0", "b=1", "b=(missing)")
    (batch,) = table.rows(level)
    assert batch.matrix.nonzero()[1].reshape(4, 2).tolist() == [[0, 4], [2, 3], [1, 5], [0, 4]]


def truths(tmp_path, written):
    """Write a column of true and false; return the table."""
    values = [i % 3 > 0 for i in range(30)]
    if written == "parquet":
        path = tmp_path / "t.parquet"
        parquet.write_table(pa.table({"a": values}), path)
    elif written == "jsonl":
        path = tmp_path / "t.jsonl"
        path.write_text("".join(f'{{"a": {json.dumps(value)}}}\n' for value in values))
    else:
        path = tmp_path / f"{written}.csv"
        cells = [str(value) if written == "True" else str(value).lower() for value in values]
        path.write_text("\n".join(["a", *cells]) + "\n")
    return open_table(path)


WAYS = ["True", "true", "jsonl", "parquet"]


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
@pytest.mark.parametrize("field", [2, 5, "QQ"])
def test_true_and_false_are_the_same_however_they_are_stored(tmp_path, first, second, field):
    table = truths(tmp_path, first)
    other = truths(tmp_path, second)
    for encode in ({"a": "auto"}, {"a": "element"}, {"a": "levels:false,true"}):
        encoding = table.encoding(field, columns=["a"], encode=encode)
        (batch,) = other.rows(encoding)
        assert np.asarray(batch.matrix).ravel().tolist() == [i % 3 > 0 for i in range(30)]


@pytest.mark.parametrize("kind", ["csv", "decimal", "float64", "float32"])
def test_decimals_over_the_rationals_need_no_option(tmp_path, kind):
    amounts = ["53.63", "0.10", "7"]
    path = tmp_path / "t.parquet"
    if kind == "csv":
        path = tmp_path / "t.csv"
        path.write_text("\n".join(["net", *amounts]) + "\n")
    elif kind == "decimal":
        parquet.write_table(pa.table({"net": pa.array(map(D, amounts), pa.decimal128(9, 2))}), path)
    else:
        parquet.write_table(pa.table({"net": np.array(amounts, np.dtype(kind))}), path)
    table = open_table(path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        encoding = table.encoding("QQ")
    (batch,) = table.rows(encoding)
    assert batch.matrix.ravel().tolist() == [Fraction(amount) for amount in amounts]
    if kind.startswith("float"):
        assert "(in 'net') are read by their shortest decimal form, such as 53.63" in str(
            said[0].message
        )
        with pytest.raises(InputError, match=r"row 1, column 'net': 53\.63\d* is a binary float"):
            list(table.rows(table.encoding("QQ", floats="refuse")))
    else:
        assert not said
        assert table.encoding("QQ", floats="refuse").encoders[0].values == ("exact",)


@pytest.mark.parametrize("written", ["{},50", "1.234.{:03d},50", "$1,{:03d}.50", "{:03d},5 %"])
def test_numbers_with_separators_are_called_neither_identifiers_nor_categories(written):
    for n_rows in (2, 20, 40):
        values = np.array([written.format(100 + i) for i in range(n_rows)], dtype=object)
        proposal = propose("net", values, QQ)
        assert proposal.encoder is None
        assert "write numbers as 1234.56, without separators" in proposal.reason
    ages = np.array(["<18", "18", "65+"], dtype=object)
    assert propose("age", ages, QQ).encoder == OneHot("age", ("18", "65+", "<18"))
    for others in ("2024-01-{:02d}", "10.0.0.{}", "A{}"):
        values = np.array([others.format(10 + i) for i in range(40)], dtype=object)
        assert "like an identifier" in propose("net", values, QQ).reason


def test_a_ledger_with_identifiers_is_read_over_the_rationals(tmp_path):
    rows = [f"A{i},{i % 90 + 0.25},{i % 7 + 0.5},{i % 90 + i % 7 + 0.75}" for i in range(400)]
    path = tmp_path / "ledger.csv"
    path.write_text("invoice,net,vat,gross\n" + "\n".join(rows) + "\n")
    table = open_table(path)
    with pytest.warns(InputWarning, match=r"left out invoice .*like an identifier"):
        assert table.encoding("QQ").names == ("net", "vat", "gross")
    with pytest.raises(InputError, match=r"[Ee]quations between numbers: field='QQ'"):
        table.encoding(2)


@pytest.mark.parametrize("bad", ["abc", "a"])  # a typing error; the header of a second file
@pytest.mark.parametrize("options", [{}, {"encode": "auto"}, {"columns": ["a"], "encode": "auto"}])
def test_a_few_texts_among_numbers_are_shown_with_their_line(tmp_path, bad, options):
    lines = ["a,b", *(f"{i}.25,{i}" for i in range(40)), f"{bad},7", *(f"9{i},1" for i in range(9))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match=f"line 42, column 'a': '{bad}' is not a rational number"):
        list(table.rows(table.encoding("QQ", **options)))


def ledger(tmp_path, net, n_rows=100):
    """Write amounts, the eleventh of which is another text; return the table."""
    rows = [f"{i % 40}.25,{i}" for i in range(n_rows)]
    rows[10] = f'"{net}",10'
    (tmp_path / "t.csv").write_text("\n".join(["net,b", *rows]) + "\n")
    return open_table(tmp_path / "t.csv")


MISTYPED = ["820,99", "1,234.50", "(12.50)", "12.50-", "€ 12.50", "−12.50", "12.50 %", "1O.50", "-"]


@pytest.mark.parametrize("bad", MISTYPED)
@pytest.mark.parametrize("options", [{}, {"encode": "auto"}, {"columns": ["net"]}])
def test_one_mistyped_amount_is_shown_with_its_line(tmp_path, bad, options):
    table = ledger(tmp_path, bad)
    with pytest.raises(InputError, match=f"line 12, column 'net': '{re.escape(bad)}' is not a rat"):
        list(table.rows(table.encoding("QQ", **options)))


def test_one_mistyped_amount_among_few_different_ones_is_shown_with_its_line(tmp_path):
    """Postage has a handful of values, but is no category."""
    rows = ["b,post", *(f"{i},{('0.00', '4.90', '6.90')[i % 3]}" for i in range(40)), '7,"4,90"']
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match="line 42, column 'post': '4,90' is not a rational number"):
        list(table.rows(table.encoding("QQ")))


@pytest.mark.parametrize(("n_bad", "is_text"), [(1, False), (10, False), (11, True)])
def test_a_column_of_which_more_than_a_tenth_is_text_is_text(n_bad, is_text):
    values = texts(*["7.50"] * (100 - n_bad), *["7,50"] * n_bad)
    proposal = propose("net", values, QQ)
    assert (proposal.encoder is None) == is_text
    assert "such as '7,50'" in proposal.reason


def test_a_named_column_is_never_left_out(tmp_path):
    lines = ["a,b", *(f"n{i},{i % 2}" for i in range(60))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match="column 'a' is better left out: text with 60 different"):
        table.encoding(2, columns=["a", "b"], encode="auto")
    with pytest.warns(InputWarning, match="left out a"):
        assert table.encoding(2, encode="auto").columns == ("b",)


def test_a_column_that_is_read_already_is_not_meant_by_another_name(tmp_path):
    (tmp_path / "t.csv").write_text("brutto,goods,net\n1,1,0\n")
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"no column 'gross' \(other columns: brutto\)"):
        next(table.batches(["gross", "goods", "net"]))
    with pytest.raises(InputError, match=r"no column 'gods'; did you mean 'goods'?"):
        next(table.batches(["gods", "net"]))


def advised(table, **options):
    """Return the advice of the error about columns that need an encoder."""
    with pytest.raises(InputError) as caught:
        table.encoding(2, **options)
    return str(caught.value).partition("Proposed: ")[2]


def words_table(tmp_path, n_words, *, n_names=0):
    """Write a column of bits, some of two words, and some of names; return the table."""
    heads = ["bit", *(f"w{i}" for i in range(n_words)), *(f"n{i}" for i in range(n_names))]
    lines = [
        ",".join([f"{i % 2}", *["ab"[i % 2]] * n_words, *[f"k{i}"] * n_names]) for i in range(60)
    ]
    (tmp_path / "t.csv").write_text("\n".join([",".join(heads), *lines]) + "\n")
    return open_table(tmp_path / "t.csv")


@pytest.mark.parametrize("count", [2, 5, 6, 20])
def test_an_error_about_many_columns_says_what_to_do_with_all_of_them(tmp_path, count):
    table = words_table(tmp_path, count)
    words = [f"w{i}" for i in range(count)]
    advice = advised(table)
    out = [f"-{name}" for name in words]
    assert advice.endswith(f", or leave them all out with columns={out}")
    assert table.encoding(2, columns=out).columns == ("bit",)
    if count <= 5:
        encode = dict.fromkeys(words, "levels:a,b")
        assert advice.startswith(f"encode={encode}, or encode='auto' for every proposal")
        assert len(table.encoding(2, encode=encode).columns) == count + 1
    else:
        assert advice.startswith("encode='auto' (which takes w0=levels:a,b, w1=levels:a,b, ")
    assert len(table.encoding(2, encode="auto").columns) == count + 1


def test_an_error_about_more_columns_than_one_reads_names_none_to_leave_out(tmp_path):
    advice = advised(words_table(tmp_path, 21))
    assert advice.endswith("w4=levels:a,b, …), or choose other columns with columns")


def test_no_error_advises_to_leave_out_every_column(tmp_path):
    table = words_table(tmp_path, 2)
    assert advised(table, columns=["w*"]).endswith("encode='auto' for every proposal")
    assert advised(table, columns=["w0"], label="bit").endswith("encode='auto' for every proposal")


@pytest.mark.parametrize("n_words", [0, 1, 6])
def test_named_columns_that_no_encoder_suits_are_part_of_every_advice(tmp_path, n_words):
    table = words_table(tmp_path, n_words, n_names=2)
    named, out = ["bit", "w*"][: 1 + (n_words > 0)] + ["n*"], ["-n0", "-n1"]
    advice = advised(table, columns=named)
    assert advice.count(f"columns={out}") == {0: 1, 1: 2, 6: 1}[n_words]
    assert ("encode='auto'" in advice) == (n_words > 0)
    found = table.encoding(2, columns=[*named, *out], encode="auto" if n_words else None)
    assert len(found.columns) == 1 + n_words
