"""Frames: notation, bit orders, and errors that point at line and column."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone.errors import InputError
from flagstone.tables import open_table
from flagstone.tables.frames import FrameReader


def bits_of(path: Path, **options: object) -> np.ndarray:
    table = open_table(path, **options)  # type: ignore[arg-type]
    return np.concatenate([b.matrix for b in table.rows(table.encoding(2))])


def test_the_receiver_notation_is_read_most_significant_bit_first(tmp_path):
    path = tmp_path / "frames.txt"
    path.write_text("{41}cfb9f00d648\n")
    expected = [int(b) for b in f"{0xCFB9F00D648:044b}"[:41]]
    assert bits_of(path, format="hex").tolist() == [expected]


def test_comments_blanks_and_spaces_leave_the_rows_alone(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text(
        "; head\n\n# more\n// and more\n  {12} a b c ; tail\n{12}0xABC//x\r\n{12}ABC # y"
    )
    bits = bits_of(path)
    assert bits.tolist() == [[int(b) for b in f"{0xABC:012b}"]] * 3
    table = open_table(path)
    lines = [b.place(i).line for b in table.rows(table.encoding(2)) for i in range(len(b))]
    assert lines == [5, 6, 7]
    assert table._readers[0].line(2) == 6


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("msb", "1010101111000001"),
        ("lsb", "1101010110000011"),
        ("nibble", "0101110100111000"),
        ("reversed", "1000001111010101"),
    ],
)
def test_bit_orders(tmp_path, order, expected):
    path = tmp_path / "a.hex"
    path.write_text("abc1\n")
    assert "".join(map(str, bits_of(path, bit_order=order)[0])) == expected


def test_a_bit_order_by_bytes_refuses_half_bytes(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("{41}cfb9f00d648\n")
    with pytest.raises(InputError, match="groups of 8 bits around, but the rows have 41"):
        bits_of(path, bit_order="lsb")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{8}ab\n{8}a\n", r"line 2: the row is too short: it announces \{8\} bits"),
        ("ab\nag\n", r"line 2: column 2: 'g' is not a hexadecimal digit"),
        ("ab\n{8} a z\n", r"line 2: column 7: 'z' is not a hexadecimal digit"),
        ("ab\nabc\n", r"line 2: the row has 12 bits, but line 1 has 8"),
        ("{7}ab\n", r"line 1: the row announces \{7\} bits, but has ones after them"),
        ("{0}a\n", r"at least one bit"),
        ("{5}\n", r"a row without digits"),
        ("; nothing\n", r"holds no rows"),
        ("caf\xe9\n", r"column 4: byte 0xe9 is not"),
    ],
)
def test_bad_rows_name_line_and_column(tmp_path, text, message):
    path = tmp_path / "a.hex"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=message):
        bits_of(path)


def test_a_length_keeps_matching_rows_and_counts_the_others(tmp_path):
    path = tmp_path / "a.bits"
    path.write_text("1011\n10\n0110\n111111\n")
    table = open_table(path, length=4)
    (batch,) = table.rows(table.encoding(2))
    assert batch.matrix.tolist() == [[1, 0, 1, 1], [0, 1, 1, 0]]
    assert batch.batch.skipped == 2
    assert [batch.place(i).line for i in range(2)] == [1, 3]


def test_bits_refuse_other_digits(tmp_path):
    path = tmp_path / "a.bits"
    path.write_text("101\n121\n")
    with pytest.raises(InputError, match=r"line 2: column 2: '2' is not a bit"):
        bits_of(path)


@given(
    st.integers(1, 70).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.integers(0, 2**n - 1), min_size=1, max_size=20), st.booleans()
        )
    )
)
@settings(deadline=None, max_examples=60)
def test_both_roads_read_what_was_written(tmp_path_factory, case):
    """The vectorised road (equal lines) and the careful one (a comment somewhere) agree."""
    n, values, compressed = case
    digits = -(-n // 4)
    lines = [f"{{{n}}}{value << (4 * digits - n):0{digits}x}" for value in values]
    folder = tmp_path_factory.mktemp("frames")
    fast, slow = folder / "fast.hex", folder / ("slow.hex.gz" if compressed else "slow.hex")
    fast.write_text("\n".join(lines) + "\n")
    text = ("\n".join(lines) + " # end").encode()
    slow.write_bytes(gzip.compress(text) if compressed else text)
    expected = [[int(b) for b in f"{value:0{n}b}"] for value in values]
    assert bits_of(fast).tolist() == expected
    assert bits_of(slow).tolist() == expected
    reader = FrameReader(fast)
    assert reader._uniform(fast.read_bytes()) is not None


def test_columns_are_chosen_by_name(tmp_path):
    path = tmp_path / "a.bits"
    path.write_text("1011\n0110\n")
    table = open_table(path)
    encoding = table.encoding(2, columns=["x3", "x0"], label="x1")
    (batch,) = table.rows(encoding)
    assert batch.matrix.tolist() == [[1, 1, 0], [0, 0, 1]]
