"""What stands beside frames is blanked by the kernel as by patterns: the same rows and errors."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone.errors import InputError
from flagstone.kernels import small
from flagstone.tables.blanking import Blanking
from flagstone.tables.frames import FrameReader
from tests.tables.careful import everything, with_care

#: D is a decimal digit, H a hexadecimal one, ~ some blanks; what is in brackets may be missing.
BEGINNINGS = {
    "stamps": ["1675413DDD.DD~", "D.DDD, ", "DD.D;", "DDDD.D: ", "1DDDDDDDDD.DD,", "DD.DDD,~"],
    "times": ["DD:DD:DD ", "DD:DD:DD,", "DD:DD:DD,D ", "20DD-DD-DD DD:DD:DD.DD~", "DD:DD:DD;"],
    "zones": ["20DD/DD/DDTDD:DD:DDZ ", "DD:DD:DD+DD:DD ", "DD:DD:DD-DDDD, ", "DD:DD:DD.D,"],
    "brackets": ["[DD:DD:DD] ", "(1DDDDDDDDD)~", "[D.DD]: ", "(2DDDDDDDDD)", "[ DD:DD:DD ],"],
    "epochs": ["1675DDDDDD ", "1675DDDDDDDDD~", "2DDDDDDDDD\t"],
    "logs": ["(14365DDDDD.DDDDDD) can0 HHH#", "vcanD HHHHHHHH#", "HHH##H", "canD HHH#R", "HHH#"],
    "shown": [
        "  can0  HHH   [D]  ",
        "(1.DDDD) can1 RX - B  HHHHHHHH  [D] ",
        "caD TX E - HHH [ D ]~",
    ],
    "receivers": ["[DD] ", "[ D] ", "[DDD]"],
    "codes": ["codes     : ", "codes:", "codes~:~"],
    "fields": ["RX: DD ", "nodeD rx~", "~H:H -DD\t", "a b"],
}
HEX = "0123456789abcdefABCDEF"
KINDS = {
    "D": st.sampled_from(HEX[:10]),
    "H": st.sampled_from(HEX),
    "~": st.text(" \t\r", max_size=2),
}
ENDS = [
    "",
    " ",
    "\r",
    " R",
    " T",
    "  T \r",
    "T",
    " '.a.'",
    " 'a ' '",
    "'.'",
    " '",
    " # c",
    ";c",
    " ; R",
]
OTHERS = [
    "",
    "; c",
    "# a",
    "bitbuffer:: Number of rows: 1 ",
    " bitbuffer:",
    "//",
    "/",
    "R",
    "zz",
    "00",
]


@st.composite
def captures(draw, kind):
    """Lines with beginnings of one kind, most of them good, many of one shape."""
    shapes = draw(st.lists(st.sampled_from(BEGINNINGS[kind]), min_size=1, max_size=2))
    frames = draw(st.sampled_from([["H" * 4], ["HH HH", "HHHH"], ["{16}HHHH"], ["DDDD", "DD DD"]]))
    if kind in ("receivers", "codes"):
        frames = ["{16}HHHH", "{16} HH HH", "{16}HHHH, {16}HHHH"]
    ends = draw(st.sampled_from([[""], ENDS]))
    lines = []
    for _ in range(draw(st.integers(1, 16))):
        shape = draw(st.sampled_from(shapes)) + draw(st.sampled_from(frames))
        shape += draw(st.sampled_from(ends))
        line = "".join(draw(KINDS[c]) if c in KINDS else c for c in shape)
        if draw(st.integers(0, 9)) == 0 and line:
            at = draw(st.integers(0, len(line) - 1))
            line = line[:at] + draw(st.sampled_from("0a19FRTxZ#[({.,:; \t")) + line[at + 1 :]
        lines.append(line)
        if draw(st.integers(0, 7)) == 0:
            lines.append(draw(st.sampled_from(OTHERS)))
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n" + "; " + 80 * "-"]))


@pytest.mark.parametrize("kind", BEGINNINGS)
@settings(max_examples=150)
@given(data=st.data())
def test_the_kernel_blanks_what_the_patterns_do(tmp_path_factory, kind, data):
    """Rows, lines, skipped rows and messages, wherever the blocks are cut."""
    path = tmp_path_factory.mktemp("blanking") / "a.hex"
    path.write_bytes(data.draw(captures(kind)).encode())
    length = data.draw(st.sampled_from([None, 16]))
    fields = data.draw(st.sampled_from([1, 2])) if kind == "fields" else None
    try:
        reader = FrameReader(path, length=length, skip_fields=fields)
    except InputError:
        return
    size = data.draw(st.sampled_from([40, 200, 1 << 20]))
    expected = everything(reader, with_care(reader), size)
    assert everything(reader, reader._block, size) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "ALLOWANCE", 1e15)
        assert everything(reader, reader._block, size) == expected


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_few_lines_are_shown_to_the_patterns(tmp_path, monkeypatch, kind):
    """Were the kernel to ask for every line, nobody would notice but by the clock."""
    path = tmp_path / "a.hex"
    shape = BEGINNINGS[kind][0]
    frame = "{16}0d5H" if kind in ("receivers", "codes") else "0d5H"
    ends = {"logs": " T", "shown": "  'a '"}.get(kind, "")
    lines = []
    for i in range(2000):
        digit = {"D": str(i % 10), "H": f"{i % 16:x}", "~": " "}
        lines.append("".join(digit.get(c, c) for c in shape + frame) + ends)
    lines = sorted(lines) if kind == "epochs" else lines
    path.write_text("\n".join(lines) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = FrameReader(path, skip_fields=2 if kind == "fields" else None)
    looked, line = [], Blanking._line
    monkeypatch.setattr(
        Blanking, "_line", lambda self, text: looked.append(text) or line(self, text)
    )
    monkeypatch.setattr(FrameReader, "_with_care", None)
    (batch,) = reader.batches(reader.columns, {}, None)
    assert len(batch) == 2000
    assert len(looked) < 20


def test_text_in_quotes_opens_no_comment(tmp_path):
    """What a CAN frame shows of its bytes may be anything, ``/*`` included."""
    path = tmp_path / "a.hex"
    path.write_text(
        "".join(
            f"  can0  123   [2]  2F 2A   '/*'\n  can0  123   [2]  0D {i:02X}   '. '\n"
            for i in range(9)
        )
    )
    reader = FrameReader(path)
    (batch,) = reader.batches(reader.columns, {}, None)
    assert len(batch) == 18
