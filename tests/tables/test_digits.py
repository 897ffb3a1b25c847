"""Cells of one digit, read at once: the same rows, lines and errors as by Arrow."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flagstone.errors import InputError
from flagstone.tables import open_table
from flagstone.tables.batches import Request
from flagstone.tables.delimited import DelimitedReader
from flagstone.tables.files import line_blocks

CELLS = st.sampled_from(["0", "1", "1", "0", "1", "0", "7", "9"])
#: What is rare, and no digit of its own: some of it a number, some none.
ODD = st.sampled_from(["10", "+1", "1.0", "", " 1", "x", "٣", ":", "/", '"1"', "\r1"])


@st.composite
def files(draw):
    """Lines of cells, nearly always digits, with blank lines and either line end."""
    n_columns = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(CELLS, min_size=n_columns, max_size=n_columns), max_size=12))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    for place in draw(st.lists(st.integers(0, 11), max_size=1)):
        if place < len(rows):
            rows[place] = draw(
                st.lists(CELLS | ODD, min_size=n_columns - 1 or 1, max_size=n_columns + 1)
            )
    lines = [",".join(f"c{i}" for i in range(n_columns)), *(",".join(row) for row in rows)]
    for place in draw(st.lists(st.integers(1, 12), max_size=2)):
        lines.insert(min(place, len(lines)), "")
    return end.join(lines) + draw(st.sampled_from([end, ""]))


def everything(path, field, chosen, block, monkeypatch, *, quick):
    """Rows, places and positions, or the words of the error."""
    with monkeypatch.context() as patch:
        patch.setattr(
            "flagstone.tables.delimited.line_blocks",
            lambda path, offset: line_blocks(path, offset, block),
        )
        if not quick:
            patch.setattr(DelimitedReader, "_digits", lambda *_: None)
        try:
            table = open_table(path, header=True)
            encoding = table.encoding(field, columns=chosen)
            rows = list(table.rows(encoding))
        except InputError as error:
            return str(error)
        return [
            (batch.matrix.tolist(), [batch.place(i) for i in range(len(batch))], batch.after)
            for batch in rows
        ]


@settings(
    max_examples=120,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(files(), st.sampled_from([2, 11]), st.booleans(), st.sampled_from([1, 7, 16, 1 << 22]))
def test_the_same_as_by_arrow(tmp_path, monkeypatch, text, field, last_only, block):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    last = text.split("\n", 1)[0].strip().split(",")[-1]
    chosen = [last] if last_only else None
    found = [
        everything(path, field, chosen, block, monkeypatch, quick=quick) for quick in (True, False)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("encoder", ["levels:0,1", "above:0.99999999999999999999", "onehot:0,1"])
def test_other_encoders_see_what_they_would(tmp_path, monkeypatch, encoder):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n0,1\n1,1\n1,0\n")
    encode = {"a": encoder}
    rows = []
    for quick in (True, False):
        if not quick:
            monkeypatch.setattr(DelimitedReader, "_digits", lambda *_: None)
        table = open_table(path)
        rows.append([b.matrix.tolist() for b in table.rows(table.encoding(2, encode=encode))])
    assert rows[0] == rows[1]


def test_a_digit_as_a_delimiter_is_no_digit(tmp_path):
    """In 1,0,1 with the delimiter 0 the middle could be a cell or not."""
    path = tmp_path / "t.csv"
    path.write_text("a0b\n101\n")
    reader = DelimitedReader(path, "0", header=True)
    assert reader._digits(b"101\n", Request(["a", "b"])) is None


def test_digits_are_read_without_arrow(tmp_path, monkeypatch):
    """The quick way is taken: for rows of bits, whole files never meet Arrow."""
    path = tmp_path / "t.csv"
    matrix = np.random.RandomState(1).randint(0, 2, (200, 3))
    np.savetxt(path, matrix, fmt="%d", delimiter=",", header="a,b,c", comments="")
    monkeypatch.setattr(DelimitedReader, "_read", None)
    table = open_table(path)
    found = [batch.matrix for batch in table.rows(table.encoding(2))]
    assert np.concatenate(found).tolist() == matrix.tolist()
