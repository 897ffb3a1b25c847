"""Files of frames as people write them: lengths, comments, byte-order marks and names."""

import contextlib
import gzip
import warnings

import numpy as np
import pytest

from flagstone.errors import FormatError, InputError
from flagstone.tables import open_table
from flagstone.tables.batches import Request
from flagstone.tables.frames import FrameReader


def read(path, **options):
    """Return the rows in hexadecimal, their lines, and what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = open_table(path, format="hex", **options)
        batches = list(table.rows(table.encoding(2)))
    rows = [bytes(np.packbits(row)).hex() for batch in batches for row in batch.matrix]
    lines = [line for batch in batches for line in batch.lines]
    return rows, lines, [str(warning.message) for warning in said]


def test_the_commonest_length_is_proposed_not_the_first(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("{36}cfb9f00d6\n" + "{41}cfb9f00d648\n" * 5 + "{30}cfb9f00c{30}cfb9f00c\n")
    message = r"line 1: the row has 36 bits, .*5 rows of 41 bits, 2 of 30, 1 of 36.*length=41"
    with pytest.raises(InputError, match=message):
        read(path)
    path.write_text("".join(f"{{{n}}}{0:064x}\n" for n in range(1, 12)))
    with pytest.raises(InputError, match="and 5 other lengths"):
        read(path)


def test_comments_in_stars_may_span_lines_and_blocks(tmp_path, monkeypatch):
    path = tmp_path / "a.hex"
    text = "/* a\n b */0d55\n0d/* ; */56 ; /* no */\n# /* no\n0d57/* x\ny */ /* z */\n0d58\n"
    path.write_text(text)
    expected = (["0d55", "0d56", "0d57", "0d58"], [2, 3, 5, 7], [])
    assert read(path) == expected
    from flagstone.tables import files, frames

    for size in (1, 5, 17):
        monkeypatch.setattr(
            frames, "line_blocks", lambda p, o=0, b=0, size=size: files.line_blocks(p, o, size)
        )
        assert read(path) == expected
        reader = FrameReader(path)
        batches = list(reader.batches(Request(reader.columns)))
        for i, batch in enumerate(batches):
            later = reader.batches(Request(reader.columns, start=batch.after))
            rest = [n for b in later for n in b.lines]
            assert rest == [n for b in batches[i + 1 :] for n in b.lines]
    path.write_text("0d55\n0d56 /* open\n0d57\n")
    with pytest.raises(InputError, match="line 2: column 6: the comment that starts here is never"):
        read(path)


def test_byte_order_marks_and_wrong_names_of_compression(tmp_path):
    text = b"\xef\xbb\xbf0d55\r\n0d56"
    for name, content in (
        ("a.hex", text),
        ("b.hex", gzip.compress(text)),
        ("c.hex.gz", text),
        ("d.hex.bz2", gzip.compress(text)),
    ):
        (tmp_path / name).write_bytes(content)
        assert read(tmp_path / name)[:2] == (["0d55", "0d56"], [1, 2])
    (tmp_path / "t.csv").write_bytes(gzip.compress(b"a,b\n1,0\n"))
    table = open_table(tmp_path / "t.csv")
    assert [b.matrix.tolist() for b in table.rows(table.encoding(2))] == [[[1, 0]]]
    (tmp_path / "u.hex").write_bytes("0d55\n".encode("utf-16"))
    with pytest.raises(FormatError, match="is UTF-16 text; save it as UTF-8"):
        read(tmp_path / "u.hex")


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("{16} 0d 55\n", "its first lines look like frames: give format='hex'"),
        (
            "[00] {16} 0d 55\n",
            "capture of .* it is read by: flagstone frames FILE$",
        ),
        ("0110\n1001\n", "give format='bits'"),
        ("1,0,1\n0,1,1\n", "give format as one of csv"),
        ("a,b\n1,0\n", "give format as one of csv"),
        ('{"a": 1}\n', "give format as one of csv"),
    ],
)
def test_a_name_that_says_no_format_is_answered_with_what_the_lines_look_like(
    tmp_path, text, guess
):
    path = tmp_path / "capture.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=guess):
        open_table(path)


@pytest.mark.parametrize(
    "start",
    ["0d ; 55 ; zz ;", "can0 123#0d", "can0 123 [1] 0d '", "{8}", "", "1.5", "0d /*", "0d : "],
)
def test_long_lines_of_blanks_take_no_longer_than_other_lines(tmp_path, start):
    """Nested repetitions in a pattern would take hours here."""
    path = tmp_path / "a.hex"
    path.write_text(start + " " * 300_000 + "x\n")
    with contextlib.suppress(InputError):
        read(path)
