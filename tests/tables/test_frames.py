"""Frames: notation, bit orders, and errors that point at line and column."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone.errors import InputError
from flagstone.tables import files, frames, open_table
from flagstone.tables.frames import FrameReader
from tests.tables.careful import VERSIONS, everything, version, with_care


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
        "; head\n\n# more\n// and more\n  {12} a b c ; tail\n{12}0xABC //x\r\n{12}ABC # y"
    )
    bits = bits_of(path)
    assert bits.tolist() == [[int(b) for b in f"{0xABC:012b}"]] * 3
    table = open_table(path)
    lines = [b.place(i).line for b in table.rows(table.encoding(2)) for i in range(len(b))]
    assert lines == [5, 6, 7]


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
        ("ab\nabc\n", r"line 2: the row has 12 bits, others have 8 \(1 row of 8 bits, 1 of 12\)"),
        ("{7}ab\n", r"line 1: the row announces \{7\} bits, but has ones after them"),
        ("{0}a\n", r"at least one bit"),
        ("{4}a80\n", r"line 1: the row announces \{4\} bits, but has ones after them"),
        ("{5}\n", r"a row without digits"),
        ("; nothing\n", r"holds no rows"),
        ("caf\xe9\n", r"column 4: byte 0xe9 is not"),
        ("ab\na\xff\n", r"line 2: column 2: byte 0xff is not"),
        ("ab\na\x1f\n", r"column 2: byte 0x1f is not"),
        ("ab\na!\n", r"column 2: '!' is not"),
        ("ab\na~\n", r"column 2: '~' is not"),
        ("ab\na\x7f\n", r"column 2: byte 0x7f is not"),
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
    assert batch.skipped == 2
    assert [batch.place(i).line for i in range(2)] == [1, 3]


def test_bits_refuse_other_digits(tmp_path):
    path = tmp_path / "a.bits"
    path.write_text("101\n121\n")
    with pytest.raises(InputError, match=r"line 2: column 2: '2' is not a bit"):
        bits_of(path)
    path.write_text("0x11\n")
    with pytest.raises(InputError, match=r"line 1: column 2: 'x' is not a bit"):
        bits_of(path)
    path.write_text("{2}1010\n")
    with pytest.raises(InputError, match=r"line 1: the row announces \{2\} bits, but has ones"):
        bits_of(path)


def test_zeros_after_the_announced_bits_are_left_out(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("{4}a00\n{4}b00\n")
    assert bits_of(path).tolist() == [[1, 0, 1, 0], [1, 0, 1, 1]]
    path.write_text("{6}a00\n{6}b4\n")
    assert bits_of(path).tolist() == [[1, 0, 1, 0, 0, 0], [1, 0, 1, 1, 0, 1]]


@given(
    st.integers(1, 70).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.integers(0, 2**n - 1), min_size=1, max_size=20),
            st.booleans(),
            st.sampled_from(["\n", "\r\n"]),
        )
    )
)
@settings(deadline=None, max_examples=60)
def test_both_roads_read_what_was_written(tmp_path_factory, case):
    """The vectorised parser (equal lines) and the careful one (a comment somewhere) agree."""
    n, values, compressed, end = case
    digits = -(-n // 4)
    head = f"{{{n}}}" if n % 4 else ""
    lines = [f"{head}{value << (4 * digits - n):0{digits}x}" for value in values]
    folder = tmp_path_factory.mktemp("frames")
    fast, slow = folder / "fast.hex", folder / ("slow.hex.gz" if compressed else "slow.hex")
    fast.write_bytes((end.join(lines) + end).encode())
    text = ("\n".join(lines) + " # end").encode()
    slow.write_bytes(gzip.compress(text) if compressed else text)
    expected = [[int(b) for b in f"{value:0{n}b}"] for value in values]
    assert bits_of(fast).tolist() == expected
    assert bits_of(slow).tolist() == expected


def test_the_first_look_takes_as_many_frames_as_it_needs(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("{0}\n" * 1500 + "{8}ab\n")
    assert FrameReader(path, length=8).n_bits == 8
    path.write_text("01\n" * 1500)
    with pytest.warns(match="the first of its hexadecimal digits are all 0 or 1"):
        FrameReader(path)
    path.write_text("01\n" * 900)
    with pytest.warns(match="a.hex: its hexadecimal digits are all 0 or 1"):
        FrameReader(path)


def test_columns_are_chosen_by_name(tmp_path):
    path = tmp_path / "a.bits"
    path.write_text("1011\n0110\n")
    table = open_table(path)
    encoding = table.encoding(2, columns=["x3", "x0"], label="x1")
    (batch,) = table.rows(encoding)
    assert batch.matrix.tolist() == [[1, 1, 0], [0, 0, 1]]


@pytest.fixture
def small_blocks(monkeypatch):
    """Let files come in blocks of a few lines."""
    monkeypatch.setattr(frames, "line_blocks", lambda p, o=0, block=0: files.line_blocks(p, o, 32))


@pytest.mark.parametrize("every", [100, 3], ids=["equal lines", "a comment now and then"])
def test_rows_keep_their_numbers_and_lines_past_the_first_block(tmp_path, small_blocks, every):
    path = tmp_path / "a.hex"
    lines = [f"; line {i}" if i % every == 0 else f"{i:02x}" for i in range(1, 60)]
    path.write_text("\n".join(lines) + "\n")
    table = open_table(path)
    encoding = table.encoding(2)
    batches = list(table.rows(encoding))
    assert len(batches) > 5
    assert {batch.skipped for batch in batches} == {0}

    def places(some):
        return [
            (place.row, place.line, int("".join(map(str, batch.matrix[i])), 2))
            for batch in some
            for i, place in enumerate(map(batch.place, range(len(batch))))
        ]

    written = [i for i in range(1, 60) if i % every]
    expected = [(row, i, i) for row, i in enumerate(written, 1)]
    assert places(batches) == expected
    for batch in batches:
        rest = places(table.rows(encoding, start=batch.after))
        assert rest == expected[len(expected) - len(rest) :]
        assert len(rest) == len(expected) - batch.place(len(batch) - 1).row


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ab\n" * 40 + "ag\n", r"line 41: column 2: 'g' is not"),
        ("ab\n" * 20 + "; no row\n" * 9 + "ab\n" * 20 + "ag\n", r"line 50: column 2: 'g'"),
        ("; no row\n" * 30 + "ag\n", r"line 31: column 2: 'g' is not"),
        ("; no row\n" * 30 + "ab\nabc\n", r"line 32: the row has 12 bits, others have 8"),
        (
            "ab\n" * 40 + "abc\n" * 40,
            r"line 41: the row has 12 bits, others have 8 \(40 rows of 8 bits, 40 of 12\)",
        ),
        ("{8}ab\n" * 40 + "{8}a\n" * 40, r"line 41: the row is too short"),
    ],
)
def test_bad_rows_past_the_first_block_name_their_line(tmp_path, small_blocks, text, message):
    path = tmp_path / "a.hex"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        bits_of(path)


def test_whole_blocks_of_another_length_are_counted(tmp_path, small_blocks):
    path = tmp_path / "a.hex"
    path.write_text("abc\n" * 40 + "{12}abc\n" * 40 + "ab\n" * 40)
    table = open_table(path, length=8)
    batches = list(table.rows(table.encoding(2)))
    assert sum(len(batch) for batch in batches) == 40
    assert sum(batch.skipped for batch in batches) == 80
    assert batches[-1].place(len(batches[-1]) - 1).line == 120


HEX = st.text("0123456789abcdefABCDEF", min_size=1, max_size=6)
BITS = st.text("01", min_size=1, max_size=12)
NOISE = st.text("0aF1 \t_:,;-#/*{}x[]~\r\v'", max_size=12)


@st.composite
def written_lines(draw: st.DrawFn, notation: str) -> str:
    """Lines as people write them, good ones most of the time, and noise."""
    digits = HEX if notation == "hex" else BITS
    shape = draw(st.tuples(st.sampled_from(["", " ", "_", ":", ", ", " - ", ";", " ; "]), digits))
    lines = []
    for _ in range(draw(st.integers(1, 12))):
        separator, first = shape
        groups = [first, *draw(st.lists(digits, max_size=4))]
        if draw(st.booleans()):  # many lines of one shape, as in most files
            groups = [draw(st.text("01", min_size=len(g), max_size=len(g))) for g in [first, first]]
        mark = draw(st.sampled_from(["", "", "", "0x", "0b"]))
        text = mark + (separator + mark * draw(st.booleans())).join(groups)
        held = sum(map(len, groups)) * (4 if notation == "hex" else 1)
        if draw(st.booleans()):
            n_bits = max(0, held - draw(st.integers(-1, 5)))
            text = f"{{{n_bits}}}" + draw(st.sampled_from(["", " "])) + text
            if notation == "hex" and draw(st.integers(0, 2)) == 0:
                bits = f"{int(''.join(groups), 16):0{held}b}"[:n_bits]
                text += " : " + draw(st.sampled_from([bits, bits[:3] + " " + bits[3:], bits[1:]]))
        if draw(st.integers(0, 5)) == 0:
            text += draw(st.sampled_from(["/", " ", ",", ", ", " , ", ";"])) + text
        ends = ["", " ", "\r", " # c", ";c", " //", " ; a; b", "/* c */", " /* c", "*/", ","]
        text = draw(st.sampled_from(["", "  ", "RX "])) + text + draw(st.sampled_from(ends))
        lines.append(draw(NOISE) if draw(st.integers(0, 7)) == 0 else text)
        if draw(st.integers(0, 2)):
            lines.append(text)
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@pytest.mark.filterwarnings("ignore:.*all 0 or 1")
@given(st.data())
@settings(deadline=None, max_examples=120)
def test_the_kernel_reads_what_the_careful_parser_reads(tmp_path_factory, data):
    """Rows, lines, skipped rows and messages, wherever the blocks are cut."""
    notation = data.draw(st.sampled_from(["hex", "bits"]))
    text = data.draw(written_lines(notation)).encode()
    path = tmp_path_factory.mktemp("frames") / f"a.{notation}"
    path.write_bytes(text)
    length = data.draw(st.sampled_from([None, 4, 8, 12, 16, 24]))
    try:
        reader = FrameReader(path, notation, length=length)
    except InputError:
        return
    size = data.draw(st.integers(1, 40) | st.just(1 << 20))
    expected = everything(reader, with_care(reader), size)
    for name in VERSIONS:
        with version(name):
            assert everything(reader, reader._block, size) == expected


def in_bytes(digits, mark="", separator=" "):
    """Write digits two by two."""
    pairs = [digits[i : i + 2] for i in range(0, len(digits), 2)]
    return separator.join(mark + pair for pair in pairs)


def with_bits(digits, n):
    """Write digits with their number of bits, and as bits once more."""
    bits = f"{int(digits, 16):0{4 * len(digits)}b}"[:n]
    return f"{{{n}}} {in_bytes(digits)} : {in_bytes(bits)}"


STYLES = {
    "plain": lambda digits, n: digits,
    "blanks": lambda digits, n: f" {in_bytes(digits)}",
    "colons": lambda digits, n: in_bytes(digits, separator=":") + "\r",
    "a list": lambda digits, n: in_bytes(digits, "0x", ", ") + ",",
    "marks": lambda digits, n: in_bytes(digits, "0X"),
    "a mark": lambda digits, n: f"0x{digits}",
    "fillers": lambda digits, n: in_bytes(digits, separator="_"),
    "lengths": lambda digits, n: f"{{{n}}}{digits}",
    "more zeros": lambda digits, n: f"{{{n}}} {digits}0",
    "bits beside": with_bits,
    "two": lambda digits, n: f"{{{n}}}{digits}, {{{n}}}{digits}",
    "comments": lambda digits, n: f"{digits} # {digits[:2]}",
    "counts": lambda digits, n: f"{digits} ; no. {digits[0]}; a",
}


#: What must not be read, or not in this way.
WRONG = {
    "a late mark": lambda digits, n: f"{digits[:2]} 0x{digits[2:]}",
    "some marks": lambda digits, n: in_bytes(digits[:-2], "0x") + " " + digits[-2:],
    "odd marks": lambda digits, n: f"0x{digits[:3]} 0x{digits[3:]}",
    "a mark alone": lambda digits, n: f"0x{digits} 0x",
    "two ends": lambda digits, n: in_bytes(digits, separator=",") + ",;",
    "no length": lambda digits, n: f"{digits}, {{{n}}}{digits}",
    "too short": lambda digits, n: f"{{{n}}}{digits[:-1]}",
    "other bits": lambda digits, n: with_bits(digits, n)[:-1] + digits[0],
    "too few for its bits": lambda digits, n: f"{{{n}}} {digits[:-2]} : {n * '0'}",
}


def capture(n_bits, width, random):
    """Write frames in one or two styles; now and then a character is another."""
    styles = random.sample(list(STYLES), random.choice([1, 1, 2]))
    rare = random.choice([0, 0.02, 0.2])
    lines = []
    for _ in range(random.choice([3, 30, 60])):
        style = random.choice(styles)
        held = -(-n_bits // width) * width
        value = random.getrandbits(n_bits) << held - n_bits
        digits = f"{value:0{held // width}{'x' if width == 4 else 'b'}}"
        digits = digits if random.random() < 0.7 else digits.upper()
        line = STYLES["lengths" if held > n_bits and style != "bits beside" else style](
            digits, n_bits
        )
        if lines and random.random() < rare:
            at = random.choice([len(line) - 1, random.randrange(len(line) + 1)])
            odd = random.choice([*"01aFx {}:,;-_#/~\r'G@`", "0x", "", "{8}", " ;", " : "])
            edited = line[:at] + odd + line[at + random.choice([0, 1]) :]
            digit = line[:at] + random.choice("0123456789abcdef") + line[at + 1 :]
            wrong = random.choice(list(WRONG.values()))(digits, n_bits)
            line = random.choice([edited, digit, wrong])
        lines.append(line)
        if random.random() < rare / 4:
            lines.append(random.choice(["", "; c", "0", " "]))
    return "\n".join(lines) + random.choice(["", "\n", "\n;" + 80 * "-"])


@pytest.mark.filterwarnings("ignore:.*all 0 or 1")
@pytest.mark.parametrize("notation", ["hex", "bits"])
@given(
    random=st.randoms(use_true_random=True),
    n_bits=st.sampled_from([8, 13, 24, 64, 70, 128, 150]),
    keep_only=st.booleans(),
)
@settings(max_examples=120)
def test_lines_alike_are_read_as_each_would_be(
    tmp_path_factory, notation, random, n_bits, keep_only
):
    """Long captures of one shape, with what looks like it and is not."""
    path = tmp_path_factory.mktemp("frames") / f"a.{notation}"
    path.write_text(capture(n_bits, 4 if notation == "hex" else 1, random))
    length = n_bits if keep_only else None
    try:
        reader = FrameReader(path, notation, length=length)
    except InputError:
        return
    size = random.choice([300, 1 << 20])
    expected = everything(reader, with_care(reader), size)
    for name in VERSIONS:
        with version(name):
            assert everything(reader, reader._block, size) == expected


@pytest.mark.parametrize("name", sorted(VERSIONS))
def test_the_kernel_reads_almost_every_line_itself(tmp_path, monkeypatch, name):
    """Leaving the work to the careful parser would differ in its time only."""
    with_care, careful = FrameReader._with_care, []

    def noted(self, texts):
        careful.extend(texts := list(texts))
        return with_care(self, texts)

    monkeypatch.setattr(FrameReader, "_with_care", noted)
    path = tmp_path / "a.hex"
    rows = [
        "0d5502c241",
        "0D 55 02 c2 41",
        "0d:55:02:c2:41 # c",
        "{40}0d5502c241",
        "{40} 0d55 02c241",
    ]
    rows += [
        "0x0d5502c241\r",
        "0d_55_02_c2_41",
        "  0d,55, 02,c2,41 // x",
        "; nothing",
        "",
        "0d-55-02-c2-41",
        "0x0d,0x55, 0x02,0xc2,0x41,",
        "0x0d 0x55 0x02 0xc2 0x41",
        "{40}0d5502c241, {40} 0d5502c241",
        f"{{40}} 0d 55 02 c2 41 : {0x0D5502C241:040b} # bits",
    ]
    path.write_text("\n".join(row for row in rows for _ in range(300)))
    expected = [int(b) for b in f"{0x0D5502C241:040b}"]
    with version(name):
        assert bits_of(path).tolist() == [expected] * 300 * 14
    assert len(careful) <= 30 * 13
