"""How frames are written: every way that people have, and what is refused with its column."""

import pytest

from flagstone.notation import FrameProblem, WrittenFrame, line_form, one_frame, parse_frames


def read(text, notation="hex"):
    return [(n, digits.decode()) for n, digits in parse_frames(text.encode("latin-1"), notation)]


@pytest.mark.parametrize(
    "text",
    [
        "0d5502", "0D 55 02", "0d:55:02", "0d,55,02", "0d, 55 ,02", "0d-55-02", "0d_55_02",
        "0d;55;02", "0x0d5502", "0X0d 55 02", "0x0d 0x55 0x02", "0x0d,0x55,0x02,", "0x0d:55:02",
        "{24}0d5502", "{24} 0d 55 02", "{ 24 }0x0d5502", "{24}0d:55:02", "{24}0d55020000",
        "0d5502 ; 23 degrees", "0d5502 # c", "0d5502 // c", "0d5502 ; a; b", "0d5502;",
        "\t0d5502\r",
        "{24} 0d 55 02 : 00001101 01010101 00000010", "{24} 0d 55 02 :", "0d5502 ; 55",
    ],
)  # fmt: skip
def test_three_bytes_however_they_are_written(text):
    assert [(n, d.lower()) for n, d in read(text)] == [(24, "0d5502")]


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("{30}cfb9f00c{30}cfb9f00c", [30, 30]),
        ("{30}cfb9f00c/{40}cfb9f00c64", [30, 40]),
        ("{8}ab, {8}cd; {8}ef,", [8, 8, 8]),
        ("abcd/abcd/ab", [16, 16, 8]),
        ("{41}cfb9f00d648 {0}", [41, 0]),
        ("{0}  : ", [0]),
        ("  # nothing", []),
        ("", []),
    ],
)
def test_a_line_may_hold_several_frames_or_none(text, lengths):
    assert [n for n, _ in read(text)] == lengths


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0d:55-02", "column 6: both ':' and '-' between digits"),
        ("10:22:27 0d55", "column 7: '27 0d55' has a blank inside"),
        ("d:55:2", "column 1: 'd' is no whole byte: write two digits"),
        ("0d:55:2", "column 7: '2' is no whole byte"),
        ("0x0d 0x5", "column 6: '5' is no whole byte"),
        ("0x0d 55 0x02", "column 2: 'x' is not"),
        ("0d::55", "column 4: a separator without digits"),
        (":0d", "column 1: a separator without digits"),
        ("0d ; 55 ; 02", "column 4: ';' after a blank starts a comment, but"),
        ("0d55//x", "column 5: no frame stands beside '/'; to start a comment"),
        ("0d55/", "column 5: no frame"),
        ("12 {8}ab", "column 1: '12' stands beside a frame with a length"),
        ("{8}ab/cd", "column 7: 'cd' stands beside"),
        ("0d55 /* x", "column 6: the comment that starts here is never closed"),
        ("{8 ab", "column 1: '{' is not a hexadecimal digit"),
        ("{9}6e 00 : 01101110 1", "the bits after ':' are not those of the digits"),
        ("0x", "column 1: a row without digits"),
        ("{0}1", "at least one bit"),
        ("0d55#x", "column 5: '#' is not a hexadecimal digit"),
    ],
)
def test_what_is_refused_names_its_column(text, problem):
    with pytest.raises(FrameProblem) as error:
        read(text)
    assert problem in str(error.value)


def test_bits_come_in_groups_of_any_size():
    expected = [(9, "011011100")]
    for text in ("011011100", "0110 1110 0", "01101110_0", "0b011011100", "{9} 0110-1110-0"):
        assert read(text, "bits") == expected
    with pytest.raises(FrameProblem, match="column 3: '2' is not a bit"):
        read("012", "bits")


def test_a_cell_holds_one_frame():
    assert one_frame(b"{12}abc") == WrittenFrame(12, b"abc")
    for text, problem in ((b"ab/cd", "holds 2 frames"), (b"", "holds 0"), (b"ab\ncd", "one line")):
        with pytest.raises(FrameProblem, match=problem):
            one_frame(text)


@pytest.mark.parametrize(
    ("text", "form", "lengths"),
    [
        ("0d 55 # c", "F. .. ", (16,)),
        ("0X0d,0x55,", "0XF.,0x..,", (16,)),
        (" {14}0d_54 : 00001101010101; c", None, None),
        (" {14}0d_54 : 00001101 010101 ; c", " {14}F._.. : A....... ...... ", (14,)),
        ("{7}b4/{12}48c", "{7}F./{12}F..", (7, 12)),
        ("{4}a : ,", None, None),
        ("{8}ab :", "{8}F. :", (8,)),
        ("{0}", None, None),
        ("{8}ab" + 16 * "0", None, None),
        ("ab" * (1 << 17) + "00", None, None),
    ],
)
def test_what_lines_have_in_common(text, form, lengths):
    """Marks stand in place of digits; F and A for the first one of a frame, and of its bits."""
    try:
        found = line_form(text.encode()) if parse_frames(text.encode()) else None
    except FrameProblem:
        found = None
    shown = form and form.encode().translate(bytes.maketrans(b".FA", b"\x80\x81\x82"))
    assert found == (form and (shown, lengths))


def test_bits_have_forms_with_another_mark():
    assert line_form(b"0b10 0b1", "bits") == (b"0b\x81\x80 0b\x80", (3,))


def test_a_long_comment_of_digits_is_one():
    assert read("0d55 ; " + "0" * (1 << 17)) == [(16, "0d55")]
    with pytest.raises(FrameProblem, match="looks like more bytes"):
        read("0d55 ; " + "00;" * (1 << 17))
