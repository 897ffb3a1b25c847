"""What stands before a frame: recognised and said, or refused with the option that reads it."""

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
    lines = [line for batch in batches for line in batch.batch.lines]
    return rows, lines, [str(warning.message) for warning in said]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (["1675413347 0d55", "1675413347 0d56"], r"a timestamp \('1675413347'\)"),
        (["1675413347123 0d55", "1675413348123 0d56"], "a timestamp"),
        (["1675413347.25 0d55", "0.5, 0d56"], "a timestamp"),
        (["2023-02-03 10:22:27 0d55", "2023-02-03T10:22:27.5Z 0d56"], "a timestamp"),
        (["[10:22:27] 0d55", "(1675413347) 0d:56"], "a timestamp"),
        (["(1436509052.249713) can0 123#0d55", "(1.5) can0 123#0D56"], "identifier of a CAN log"),
        (["123#0d55", "can1 18FF1234##10d56 R"], "identifier of a CAN log"),
        (["  can0  123   [2]  0D 55", " (1.5)  can0  7FF  [2]  0D 56   '.V'"], "of a CAN frame"),
        (["[00] {16} 0d 55 : 00001101 01010101", "[ 1] {16} 0d 56"], "row number of a receiver"),
        (["codes     : {16}0d55, {16}0d56"], "the word 'codes'"),
    ],
)
def test_what_is_recognised_is_said_and_left_out(tmp_path, lines, what):
    path = tmp_path / "a.txt"
    path.write_text("; a comment\n" + "\n".join(lines))
    rows, numbers, said = read(path)
    assert rows == ["0d55", "0d56"]
    assert numbers == ([2, 3] if len(lines) == 2 else [2, 2])
    (text,) = said
    assert "which is left out of the frames" in text
    assert "skip_fields=0" in text
    with pytest.warns(match=what):
        open_table(path, format="hex")


def test_identifiers_that_share_a_log_are_counted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("can0 123#0d55\ncan0 2A0#0d56\ncan0 123#0d57\n")
    _, _, (said,) = read(path)
    assert "2 identifiers share the first 3 lines, 123 has 2 of them" in said
    assert "grep '123#'" in said


def test_many_files_of_one_layout_are_said_once(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.hex").write_text(f"167541334{ord(name) % 10} 0d55\n")
    assert len(read(tmp_path)[2]) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("node7 RX 0d55\nnode7 RX 0d56\n", "'n' is not .*2 fields are no part.*skip_fields=2"),
        ("id: 0d55\n", "line 1: column 1: 'i' .*the first field is no part.*skip_fields=1"),
        ("1 0d55\n2 0d56\n3 0d57\n", "'1' counts the lines.*skip_fields=1, else skip_fields=0"),
        (
            "1675413347 0d55\n1675413348 0d56\n0d57\n",
            "line 1: many lines .* not all: .*skip_fields",
        ),
        ("0.5 0d55\n0d56\n", "line 2: does not begin with a timestamp, as the first row does"),
        ("time  : 10:22\ncodes : {8}ab\n", "line 1: .* keep the frames alone, with: grep '.codes'"),
        ("0d55\nzz 0d56\n", "line 2: column 1: 'z' is not a hexadecimal digit .0-9, a-f.$"),
    ],
)
def test_what_is_not_recognised_is_refused_with_a_remedy(tmp_path, text, message):
    path = tmp_path / "a.hex"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read(path)


def test_what_looks_like_a_time_may_be_digits(tmp_path):
    path = tmp_path / "a.hex"
    for text in ("1675413347 0d55\n1675413340 0d56\n", "9675413347 0d55\n", "0d55 1675413347\n"):
        path.write_text(text)
        rows, _, said = read(path)
        assert {len(row) for row in rows} == {14}
        assert said == []
    path.write_text("1675413347 0d55\n")
    assert read(path)[0] == ["0d55"]
    assert read(path, skip_fields=0) == (["16754133470d55"], [1], [])
    assert read(path, skip_fields=1) == (["0d55"], [1], [])


def test_fields_that_are_left_out_on_request_must_leave_something(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("RX: {16}0d55 # c\n; none\nRX: {16}0d56\n")
    assert read(path, skip_fields=1)[:2] == (["0d55", "0d56"], [1, 3])
    path.write_text("a 0d55\n0d56\n")
    with pytest.raises(InputError, match=r"line 2: has 1 field\(s\): nothing is left"):
        read(path, skip_fields=1)
    for wrong in (-1, 100, True, "1"):
        with pytest.raises(InputError, match=r"^skip_fields must be a number of fields"):
            read(path, skip_fields=wrong)


def test_remote_requests_and_rows_without_a_pulse_have_no_bits(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("can0 123#0d55\ncan0 123#R\ncan0 123#\n")
    with pytest.raises(InputError, match=r"line 2: the row has 0 bits.*2 rows of 0.*length=16"):
        read(path)
    with pytest.warns(match="CAN log"):
        table = open_table(path, length=16)
    (batch,) = table.rows(table.encoding(2))
    assert (len(batch), batch.batch.skipped) == (1, 2)


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
        ("[00] {16} 0d 55\n", "its first lines look like frames: give format='hex'"),
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
