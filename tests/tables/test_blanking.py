"""What stands beside frames is blanked by kernels as by patterns: the same rows and errors."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone.errors import InputError
from flagstone.tables.batches import Request
from flagstone.tables.frames import FrameReader
from flagstone.tables.layouts import Blanking
from tests.tables.careful import VERSIONS, everything, version, with_care

#: D is a decimal digit, H a hexadecimal one, and ~ some blanks.
BEGINNINGS = {
    "stamps": ["1675413DDD.DD~", "D.DDD, ", "DD.D;", "DDDD.D: ", "1DDDDDDDDD.DD,", "DD.DDD,~"],
    "times": ["DD:DD:DD ", "DD:DD:DD,", "DD:DD:DD,D ", "20DD-DD-DD DD:DD:DD.DD~", "DD:DD:DD;"],
    "zones": ["20DD/DD/DDTDD:DD:DDZ ", "DD:DD:DD+DD:DD ", "DD:DD:DD-DDDD, ", "DD:DD:DD.D,"],
    "brackets": ["[DD:DD:DD] ", "(1DDDDDDDDD)~", "[D.DD]: ", "(2DDDDDDDDD)", "[ DD:DD:DD ],"],
    "epochs": ["1675000000 ", "1675000000000 ", "2000000000\t"],
    "logs": ["(14365DDDDD.DDDDDD) can0 HHH#", "vcanD HHHHHHHH#", "HHH##H", "canD HHH#R", "HHH#"],
    "shown": [
        "  can0  HHH   [D]  ",
        "(1.DDD) can1 RX - B  HHHHHHHH  [D] ",
        "caD TX E - HHH [ D ]~",
    ],
    "receivers": ["[DD] ", "[ D] ", "[DDD]"],
    "codes": ["codes     : ", "codes:", "codes~:~"],
    "fields": ["RX: DD ", "nodeD rx~", "~H:H -DD\t", "a b "],
}
HEX = "0123456789abcdefABCDEF"
FRAMES = ["HHHH", "HH HH", "{16}HHHH", "DDDD", "DD DD", "DHHH", "{16} HH HH", "{16}HHHH, {16}HHHH"]
ENDS = ["", " ", "\r", " R", " T", "  T \r", "T", " '.a.'", " 'a ' '", "'.'", " '", " # c", " ; R"]
OTHERS = ["", "; c", "# a", "bitbuffer:: Number of rows: 1 ", " bitbuffer:", "//", "/", "R", "zz"]
ODD = "0123aFRTxZ#[({.,:; \t"


def written(shape, random):
    """Put digits and blanks into a shape."""
    kinds = {"D": HEX[:10], "H": HEX, "~": ["", " ", " \t"]}
    return "".join(random.choice(kinds[c]) if c in kinds else c for c in shape)


def capture(kind, random):
    """Write lines with beginnings of one kind, most of them good, many of one shape."""
    shapes = random.sample(BEGINNINGS[kind], random.choice([1, 1, 2]))
    frames = random.sample(FRAMES, random.choice([1, 2, 3]))
    frames = FRAMES[-2:] if kind in ("receivers", "codes") else frames
    ends = random.choice([[""], ["", *random.sample(ENDS, 3)]])
    rare = random.choice([0, 0.01, 0.04])
    lines = []
    for _ in range(random.choice([3, 20, 60])):
        begin = written(random.choice(shapes), random)
        frame = random.choice(frames)
        if lines and random.random() < rare:
            first = next((i for i, c in enumerate(begin) if c in HEX), 0)
            edits = [(first, HEX[:10], 1), (random.randrange(len(begin) + 1), ODD, 0)]
            at, odd, gone = random.choice([*edits, (edits[1][0], ODD, 1)])
            begin = begin[:at] + random.choice(odd) + begin[at + gone :]
        elif lines and random.random() < rare:
            frame = random.choice([*FRAMES, "", " "])
        line = begin + written(frame, random)
        lines.append(line + (random.choice(ends) if lines else ""))
        if random.random() < rare:
            lines.append(random.choice(OTHERS))
    return "\n".join(lines) + random.choice(["", "\n", "\n; " + 80 * "-"])


@pytest.mark.filterwarnings("ignore:.*(all 0 or 1|begin with)")
@pytest.mark.parametrize("kind", BEGINNINGS)
@settings(max_examples=40)
@given(random=st.randoms(use_true_random=True), length=st.sampled_from([None, 16, 16]))
def test_the_kernel_blanks_what_the_patterns_do(tmp_path_factory, kind, random, length):
    """Rows, lines, skipped rows and messages, wherever the blocks are cut."""
    path = tmp_path_factory.mktemp("blanking") / "a.hex"
    path.write_bytes(capture(kind, random).encode())
    fields = random.choice([1, 2]) if kind == "fields" else None
    try:
        reader = FrameReader(path, length=length, skip_fields=fields)
    except InputError:
        return
    size = random.choice([200, 1 << 20])
    expected = everything(reader, with_care(reader), size)
    for name in VERSIONS:
        with version(name):
            assert everything(reader, reader._block, size) == expected


@pytest.mark.filterwarnings("ignore:.*begin with")
@pytest.mark.parametrize(
    ("good", "odd"),
    [
        ("(1675413347) 0d55", "(3675413347) 0d55"),
        ("1675413347 0d55", "3675413347 0d55"),
        ("12:00:01,0d55", "12:00:01,00 55"),
        ("12:00:01 0d55", "12:00:01 #d55"),
        ("can0 123#0d55", "can0 12g#0d55"),
        ("can0 123#0d55", "can0 123#"),
        ("can0 123  [2] 0d 55", "can0 123  [2] # 0d"),
        ("[00] {16}0d55", "[00] 0d55"),
        ("codes : {16}0d55", "dodes : {16}0d55"),
    ],
)
def test_what_only_looks_alike_is_left_to_the_patterns(tmp_path, good, odd):
    """Past the first look at a file, where nothing but the kernel has seen the line."""
    path = tmp_path / "a.hex"
    path.write_text(f"{good}\n" * 6000 + f"{odd}\n" + f"{good}\n" * 20)
    reader = FrameReader(path)
    expected = everything(reader, with_care(reader))
    assert "line 6001: " in str(expected[-1])
    for name in VERSIONS:
        with version(name):
            assert everything(reader, reader._block) == expected


@pytest.mark.parametrize("name", sorted(set(VERSIONS) - {"python"}))
@pytest.mark.parametrize("kind", BEGINNINGS)
def test_few_lines_are_shown_to_the_patterns(tmp_path, monkeypatch, kind, name):
    """A kernel that asks for every line would differ in its time only."""
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
    with version(name):
        (batch,) = reader.batches(Request(reader.columns))
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
    (batch,) = reader.batches(Request(reader.columns))
    assert len(batch) == 18
