"""Reading: what is said about files must hold, and nothing is taken for what it is not."""

import contextlib
import os
import threading

import numpy as np
import pytest

from flagstone.errors import FormatError, InputError
from flagstone.tables import delimited, files, open_table


def matrices(path, encode=None, **options):
    table = open_table(path, **options)
    return [b.matrix.tolist() for b in table.rows(table.encoding(2, encode=encode))]


def test_a_csv_file_is_read_in_the_calling_thread_only(tmp_path, monkeypatch):
    """A reader that is dropped must leave no thread behind that calls into Python."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 2_000_000)
    threads = set()
    opened = files.opened

    class Watched:
        def __init__(self, stream):
            self.stream = stream

        def read(self, *size):
            threads.add(threading.get_ident())
            return self.stream.read(*size)

        def __getattr__(self, name):
            return getattr(self.stream, name)

        def __iter__(self):
            return iter(self.stream)

    @contextlib.contextmanager
    def watched(path):
        with opened(path) as stream:
            yield Watched(stream)

    monkeypatch.setattr(files, "opened", watched)
    with pytest.raises(InputError, match="column 'b' does not hold elements"):
        open_table(path).encoding(2)
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(("options", "n_rows"), [({}, 2), ({"header": False}, 3)])
def test_a_first_line_that_names_the_delimiter_is_no_row(tmp_path, end, mark, options, n_rows):
    path = tmp_path / "t.csv"
    head = "a;b" if not options else "1;1"
    path.write_text(f"{mark}sep=;{end}{head}{end}1;0{end}0;1{end}", encoding="utf-8", newline="")
    table = open_table(path, **options)
    assert table.columns == (("x0", "x1") if options else ("a", "b"))
    (batch,) = table.rows(table.encoding(2))
    assert batch.matrix.tolist() == [[1, 1], [1, 0], [0, 1]][3 - n_rows :]
    assert [batch.place(i).line for i in range(n_rows)] == [2, 3, 4][3 - n_rows :]
    assert open_table(path, delimiter=";", **options).columns == table.columns
    with pytest.raises(InputError, match=r"first line says that ';' separates .* delimiter=';'"):
        open_table(path, delimiter="|", **options)


def test_problems_below_a_line_that_names_the_delimiter_have_their_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sep=\t\na\tb\n1\t0\n1\tx\n")
    table = open_table(path)
    with pytest.raises(InputError, match="line 4, column 'b': 'x' is not a whole number"):
        list(table.rows(table.encoding(2, encode="element")))
    path.write_text("sep=;\n")
    with pytest.raises(InputError, match="is empty: a line of column names"):
        open_table(path)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_csv_blocks_end_at_lines_and_resume(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(delimited, "line_blocks", lambda p, o: files.line_blocks(p, o, 64))
    rows = np.random.RandomState(0).randint(0, 2, size=(200, 2))
    text = "\n\ufeff"[1:] + "a,b\n\n" + "\n".join(f"{a},{b}" for a, b in rows)
    path = tmp_path / f"t.csv{suffix}"
    with files.COMPRESSED.get(suffix, open)(path, "wb") as stream:
        stream.write(text.encode())
    table = open_table(path)
    batches = list(table.rows(table.encoding(2)))
    assert len(batches) > 5
    np.testing.assert_array_equal(np.concatenate([b.matrix for b in batches]), rows)
    rest = list(table.rows(table.encoding(2), batches[3].after))
    assert [b.matrix.tolist() for b in rest] == [b.matrix.tolist() for b in batches[4:]]
    assert [b.first_row for b in rest] == [b.first_row for b in batches[4:]]
    if suffix:
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(FormatError, match="cut short"):
            list(table.rows(table.encoding(2)))


@pytest.mark.parametrize("cells", [("1.0", "0.0"), ("+1", "0"), ("1.", "-0"), ("1", "0")])
def test_whole_numbers_count_however_they_are_written(tmp_path, cells):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n{},1\n{},0\n".format(*cells))
    assert matrices(path) == [[[1, 1], [0, 0]]]


def test_what_is_proposed_is_what_the_reader_takes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1e3,0.5\n2e3,7\n1e3,1e2\n")
    assert matrices(path, encode="auto") == [[[0, 0], [1, 0], [0, 1]]]
    path.write_text("a\n3\n5.5\n")
    with pytest.raises(InputError, match=r"line 3, column 'a': '5\.5' is not a whole number"):
        matrices(path, encode={"a": "bits:3"})


def test_what_only_the_fast_reader_refuses_is_refused_in_its_words(tmp_path):
    """Python reads 1_000 as a number, Arrow does not: only the reader can say what is wrong."""
    path = tmp_path / "t.csv"
    path.write_text("a\n0.5\n1_000\n")
    with pytest.raises(InputError, match=r"t\.csv: .*1_000"):
        matrices(path, encode={"a": "above:1"})


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("t.csv", "a,c\n0,1\n1,\n", "line 3, column 'c'"),
        ("t.csv", "a,c\nx,1\n ,0\nz,1\n", "line 3, column 'a'"),
        ("t.csv", "a,c\n0,1.5\n1,nan\n", "line 3, column 'c'"),
        ("t.jsonl", '{"a": 1, "c": 0}\n{"a": null, "c": 0}\n', "line 2, column 'a'"),
    ],
)
def test_a_missing_value_is_no_level(tmp_path, name, text, where):
    path = tmp_path / name
    path.write_text(text)
    for encode in (None, "auto"):
        with pytest.raises(InputError, match=f"{where}: the value is missing"):
            matrices(path, encode=encode)


def test_a_missing_number_of_an_array_is_refused_at_once(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[0.0, 1.5], [1.0, np.nan]]))
    with pytest.raises(InputError, match="row 2, column 'x1': the value is missing"):
        matrices(tmp_path / "t.npy")


def test_an_empty_text_can_be_listed_as_a_level(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,c\nx,1\n,0\n")
    assert matrices(path, encode={"a": "levels:,x"}) == [[[1, 1], [0, 0]]]


@pytest.mark.parametrize("order", ["msb", "lsb", "nibble", "reversed"])
@pytest.mark.parametrize(("notation", "row"), [("hex", "abcd"), ("bits", "10" * 8)])
def test_frames_without_any_row_of_the_length(tmp_path, order, notation, row):
    path = tmp_path / f"t.{notation}"
    path.write_text(f"{row}\n; a comment\n{row}\n")
    table = open_table(path, length=8, bit_order=order)
    encoding = table.encoding(2)  # of bits no row needs to be looked at
    with pytest.raises(InputError, match="no rows are left: all 2 of them"):
        list(table.rows(encoding))


def test_a_block_of_comments_alone_holds_no_row_and_no_problem(tmp_path, monkeypatch):
    from flagstone.tables import frames

    monkeypatch.setattr(frames, "line_blocks", lambda p, o=0, block=0: files.line_blocks(p, o, 16))
    path = tmp_path / "t.hex"
    path.write_text("; only words, many of them\n" * 4 + "ab\n" + "# and more of them\n" * 4)
    assert matrices(path) == [[[1, 0, 1, 0, 1, 0, 1, 1]]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ";;"}, "must be one ASCII character"),
        ({"delimiter": ""}, "must be one ASCII character"),
        ({"delimiter": "\n"}, "must be one ASCII character"),
        ({"length": 5}, r"^length is for hex and bits, but the format is csv"),
        ({"bit_order": "msb"}, "^bit_order is"),
        ({"format": "hex", "bit_order": "bogus"}, "^bit_order must be one of"),
        ({"format": "hex", "header": False}, "^header is"),
        ({"format": "jsonl", "delimiter": ";"}, "^delimiter is"),
    ],
)
def test_options_that_do_not_apply_are_refused(tmp_path, options, message):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,0\n")
    with pytest.raises(InputError, match=message):
        open_table(path, **options)


def test_another_delimiter_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;0\n")
    with pytest.raises(InputError, match="give delimiter=';', else delimiter=','"):
        open_table(path)
    assert open_table(path, delimiter=";").columns == ("a", "b")
    assert open_table(path, delimiter=",").columns == ("a;b",)


def test_pipes_are_refused_in_words(tmp_path):
    with pytest.raises(InputError, match="-: rows cannot be read from a pipe"):
        open_table("-", format="csv")
    os.mkfifo(tmp_path / "p.csv")
    with pytest.raises(InputError, match="rows cannot be read from a pipe"):
        open_table(tmp_path / "p.csv")


def test_an_archive_of_columns(tmp_path):
    a, b = np.array([1, 0, 1]), np.array([0, 0, 1])
    np.savez(tmp_path / "t.npz", a=a, b=b)
    table = open_table(tmp_path / "t.npz")
    assert (table.columns, table.n_rows) == (("a", "b"), 3)
    assert matrices(tmp_path / "t.npz") == [[[1, 0], [0, 0], [1, 1]]]
    encoding = table.encoding(2, columns=["b"])
    assert [x.matrix.tolist() for x in table.rows(encoding)] == [[[0], [0], [1]]]
    np.savez(tmp_path / "u.npz", a=a, b=b[:2])
    with pytest.raises(InputError, match="1-D arrays of one length"):
        open_table(tmp_path / "u.npz")
