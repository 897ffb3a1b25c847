"""Text kernels in every version: lines of digits.

That whole files are read as by the careful parser is tested with the tables.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone.notation import FrameProblem, line_form, parse_frames
from tests.native.versions import NATIVE, VERSIONS

NOTATIONS = {4: "hex", 1: "bits"}


def row_of(digits, n_bits, width):
    bits = f"{int(digits, 1 << width):0{len(digits) * width}b}"[:n_bits]
    return [int(bits[i : i + 64][::-1], 2) for i in range(0, n_bits, 64)]


def everything(kernels, block, width, n_bits, keep_only, few=3):
    """Rows with their lines, in order, and what was skipped; what is hard is read with care."""
    forms, rows, skipped, line = {}, [], 0, 7
    while block:
        words, lines, hard, left_out, n_lines, stop = kernels.parse_digits(
            block, line, width, n_bits, list(forms.items()), few
        )
        assert block[:stop].count(b"\n") == n_lines > 0
        assert stop == len(block) or len(hard) == few
        assert words.shape == (len(lines), -(-n_bits // 64))
        assert words.dtype == np.uint64
        found = list(zip(list(lines), words.tolist(), strict=True))
        skipped += left_out
        for number, start, end in hard.tolist():
            assert block[:start].count(b"\n") == number - line
            assert block[start : end + 1].count(b"\n") == 1
            more, left_out = careful(block[start:end], width, n_bits, keep_only)
            found += [(number, row) for row in more]
            skipped += left_out
            if not any("wrong" in row for row in more):
                form = line_form(block[start:end], NOTATIONS[width])
                forms |= {} if form is None else {form.text: form.lengths}
        rows += sorted(found, key=lambda row: row[0])
        block, line = block[stop:], line + n_lines
    return rows, skipped


def careful(line, width, n_bits, keep_only):
    try:
        frames = parse_frames(line, NOTATIONS[width])
    except FrameProblem:
        return [["wrong"]], 0
    fits = [f for f in frames if f.n_bits == n_bits]
    if len(fits) < len(frames) and not keep_only:
        return [["wrong"]], 0
    rows = [row_of(f.digits.decode(), n_bits, width) for f in fits]
    return rows, len(frames) - len(fits)


def by_definition(block, width, n_bits, keep_only):
    rows, skipped = [], 0
    for number, line in enumerate(block.split(b"\n")[:-1], 7):
        more, left_out = careful(line, width, n_bits, keep_only)
        rows += [(number, row) for row in more]
        skipped += left_out
    return rows, skipped


NOISE = st.text("0aF1 \t_:,;-#/*{}x[]~\r\v'", max_size=12)


@st.composite
def blocks(draw):
    """Lines of some shapes, many after each other; a few have one character more, less, other."""
    width = draw(st.sampled_from([4, 1]))
    n_bits = draw(st.sampled_from([1, 3, 8, 13, 48, 63, 64, 65, 127, 128, 129, 200, 256, 257]))
    random = draw(st.randoms(use_true_random=False))
    n_digits = -(-n_bits // width)
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        group = random.choice([1, 2, 3, n_digits])
        between = random.choice(["", " ", ":", ", ", "_", "  "])
        mark = random.choice(["", "", "0x", "0b"])
        head = random.choice(["", "", f"{{{n_bits}}}", f"{{{n_bits}}} ", " "])
        tail = random.choice(["", "", "\r", ",", " # 12", " ; a", "0"])
        for _ in range(random.choice([1, 2, 20])):
            value = random.getrandbits(n_bits) << width * n_digits - n_bits
            digits = f"{value:0{n_digits}{'x' if width == 4 else 'b'}}"
            digits = digits.upper() if random.random() < 0.2 else digits
            groups = [mark + digits[i : i + group] for i in range(0, n_digits, group)]
            line = head + between.join(groups) + tail
            if random.random() < 0.05:
                at = random.randrange(len(line) + 1)
                odd = random.choice([*"01aFgx {}:,;-_#/~\r'\x80\xff\x00\x10", "", "{8}", " ;"])
                line = line[:at] + odd + line[at + random.choice([0, 1]) :]
            lines.append(line)
        lines += draw(st.lists(NOISE, max_size=1))
    text = "".join(f"{line}\n" for line in lines)
    return text.encode("latin-1"), width, n_bits, draw(st.booleans())


@settings(max_examples=100)
@given(blocks())
def test_lines_are_read_as_with_care(case):
    expected = by_definition(*case)
    for kernels in VERSIONS.values():
        assert everything(kernels, *case) == expected


@pytest.mark.parametrize("width", [4, 1])
def test_every_character_is_a_digit_or_not_at_every_place(width):
    """By the shape of the line before, and on its own."""
    digits = "0123456789abcdefABCDEF" if width == 4 else "01"
    for place in (0, 7, 15, 16, 20, 39):
        lines = []
        for c in sorted(set(range(256)) - {10}):
            line = bytearray(b"1" * 40)
            line[place] = c
            lines += [b"1" * 40, bytes(line)]
        block = b"\n".join([*lines, b"1" * 40, b"#" * 80, b""])
        case = block, width, 40 * width, False
        expected = by_definition(*case)
        for kernels in VERSIONS.values():
            assert everything(kernels, *case) == expected
            forms = [plain(40, width)]
            hard = kernels.parse_digits(block, 0, width, 40 * width, forms, 999)[2][:, 0]
            assert not any(chr(lines[i][place]) in digits for i in hard)


@pytest.mark.parametrize("name", sorted(VERSIONS))
def test_lines_are_a_range_if_each_is_a_row(name):
    def lines(block):
        forms = [plain(2, 4), (b"{8}\x81\x80{8}\x81\x80", [8, 8])]
        return VERSIONS[name].parse_digits(block, 5, 4, 8, forms, 1)[1]

    assert lines(b"ab\ncd\n") == range(5, 7)
    assert lines(b"ab\n\ncd\n").tolist() == [5, 7]
    assert lines(b"{8}ab{8}cd\n").tolist() == [5, 5]
    assert lines(b"{8}ab{8}cd\n\n").tolist() == [5, 5]
    assert lines(b"ab\n{8}ab{8}cd\nab\n").tolist() == [5, 6, 6, 7]
    assert lines(b"ab\nx\nab\n").tolist() == [5]
    assert lines(b"") == range(5, 5)


def plain(n, width):
    """The form of digits alone."""
    return b"\x81" + b"\x80" * (n - 1), [n * width]


@pytest.mark.parametrize("name", sorted(VERSIONS))
def test_bits_that_digits_must_and_must_not_have(name):
    forms = [(b"{6}\x81\x80 : \x82\x80\x80\x80\x80\x80", [6]), (b"{7}\x81\x80", [7])]

    def read(text):
        words, _, hard, skipped, *_ = VERSIONS[name].parse_digits(text, 0, 4, 6, forms, 1)
        return words.tolist(), len(hard), skipped

    assert read(b"{6}a4 : 101001\n") == ([[0b100101]], 0, 0)
    assert read(b"{6}a4 : 101011\n") == read(b"{6}a5 : 101001\n") == ([], 1, 0)
    assert read(b"{7}a4\n") == ([], 0, 1)
    assert read(b"{7}a5\n") == ([], 1, 0)
    assert read(b"{6}a4 : 101001 ; a comment\n") == ([], 1, 0)


def test_long_rows_and_many_lines():
    rng = np.random.default_rng(1)
    for n_bits, n in ((1 << 17, 5), (100_000, 3), (8, 50_000)):
        values = [int.from_bytes(rng.bytes(n_bits // 8), "big") for _ in range(n)]
        for width, kind in ((4, "x"), (1, "b")):
            texts = [f"{value:0{n_bits // width}{kind}}" for value in values]
            block = "".join(f"{text}\n" for text in texts).encode()
            expected = [row_of(text, n_bits, width) for text in texts]
            for name in NATIVE:
                parse = VERSIONS[name].parse_digits
                form = plain(n_bits // width, width)
                words, lines, hard, *_ = parse(block, 1, width, n_bits, [form], 1)
                assert lines == range(1, n + 1)
                assert not len(hard)
                assert words.tolist() == expected


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize(
    "arguments",
    [
        (b"ab", 1, 4, 8, [], 1),
        (b"ab\n", 1, 2, 8, [], 1),
        (b"ab\n", 1, 4, 0, [], 1),
        (b"ab\n", 1, 4, -8, [], 1),
        (b"ab\n", 1, 4, 1 << 40, [], 1),
        (bytearray(b"ab\n"), 1, 4, 8, [], 1),
        ("ab\n", 1, 4, 8, [], 1),
        (b"ab\n", "1", 4, 8, [], 1),
        (b"ab\n", 1, 4, 8, [], -1),
        (b"ab\n", 1, 4, 8, [b"\x81"], 1),
        (b"ab\n", 1, 4, 8, [("\x81", [4])], 1),
    ],
)
def test_what_cannot_be_parsed_is_refused(name, arguments):
    with pytest.raises((TypeError, ValueError)):
        VERSIONS[name].parse_digits(*arguments)


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize(
    ("form", "lengths"),
    [
        (b"ab", []),
        (b"\x81\x80", []),
        (b"\x81\x80", [8, 8]),
        (b"\x81\x80", [0]),
        (b"\x81\x80", [9]),
        (b"\x80\x81", [8]),
        (b"\x82\x81", [4]),
        (b"\x81\x81", [4, 4]),
        (b"\x81\x83", [8]),
        (b"\x81\x80 \x82", [8]),
        (b"\x81" + b"\x80" * 16, [64]),
    ],
)
def test_forms_that_reach_beyond_rows_are_refused(name, form, lengths):
    with pytest.raises(ValueError, match="form"):
        VERSIONS[name].parse_digits(b"ab\n", 1, 4, 8, [(form, lengths)], 1)
