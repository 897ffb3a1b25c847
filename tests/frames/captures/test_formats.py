"""Files of frames are recognised and read; what cannot be read is named with its line."""

import bz2
import dataclasses
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from flagstone.cli.verbs import CaptureOptions
from flagstone.errors import InputError
from flagstone.frames.captures import FORMATS, read_capture
from flagstone.frames.captures.formats import bitbench_link
from tests.frames.captures.samples import ABC, REFUSED, SAMPLES, A, B, Sample


def written(capture) -> list[tuple[int, str]]:
    """Return the frames as (bits, digits), the last digit filled with zeros."""
    found = []
    for frame in capture.frames:
        bits = "".join(map(str, frame))
        padded = bits + "0" * (-len(bits) % 4)
        found.append((len(bits), f"{int(padded, 2):0{len(padded) // 4}x}"))
    return found


def words(error: InputError) -> str:
    """Return a message as the command line words it."""

    def say(parameter) -> str:
        value = "" if parameter.value is None else f" {parameter.value}"
        return f"--{parameter.name.replace('_', '-')}{value}"

    return error.worded(say)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_samples_are_recognised_and_read(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "capture.txt"
    path.write_text(sample.text)
    capture = read_capture([path])
    assert capture.format == sample.format
    assert written(capture) == sample.frames
    assert sample.columns.items() <= capture.columns[0].items()
    lines = sample.text.split("\n")
    assert all(1 <= place.line <= len(lines) for place in capture.places)


def test_every_format_is_in_the_help_and_in_the_guide() -> None:
    (option,) = (o for o in dataclasses.fields(CaptureOptions) if o.name == "format")
    assert option.metadata["option"].help == ", ".join(FORMATS)
    page = Path(__file__).parents[3] / "docs" / "guide" / "frames.md"
    rows = re.findall(r"^\| (`.*?) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert FORMATS.keys() - named == set()


def test_there_are_as_many_samples_as_promised() -> None:
    assert len(SAMPLES) + len(REFUSED) >= 40


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_named_with_line_text_and_option(name: str, tmp_path: Path) -> None:
    text, said = REFUSED[name]
    path = tmp_path / "capture.txt"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_capture([path])
    message = words(caught.value)
    assert "\n" not in message
    for part in (str(path), *said):
        assert part in message


def test_the_option_that_is_named_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / "capture.txt"
    path.write_text(f"{A}\nno frame\n{B}\n")
    capture = read_capture([path], skip_bad_lines=True)
    assert written(capture) == ABC[:2]
    assert capture.notes == ("1 line left out, the first is line 2",)
    path.write_text(f"1 {A}\n2 {B}\n3 {A}\n")
    assert written(read_capture([path], skip_fields=1))[:2] == ABC[:2]
    assert written(read_capture([path], skip_fields=0))[1] == (52, f"2{B}")


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "capture.txt"
    path.write_text(f"# one\n\n{A}\n/* four\nfive */\n{B}\n")
    assert [place.line for place in read_capture([path]).places] == [3, 6]
    path.write_text(f'[\n{{"data":\n"{A}"}},\n\n{{"data": "{B}"}}]')
    assert [place.line for place in read_capture([path]).places] == [2, 5]


def test_what_is_cut_or_left_out_is_said(tmp_path: Path) -> None:
    path = tmp_path / "capture.txt"
    path.write_text(f"RX {{40}}{A}\n{{0}}\n")
    notes = " ".join(read_capture([path]).notes)
    assert "cut at the length that they announce" in notes
    assert "rows {0} without bits" in notes
    assert "'RX'" in notes


def test_binary_records_need_their_length(tmp_path: Path) -> None:
    path = tmp_path / "capture.bin"
    path.write_bytes(b"".join(struct.pack(">HB", 0x2D00 + i, i) for i in range(4)) + b"\1")
    with pytest.raises(InputError, match="binary"):
        read_capture([path])
    with pytest.raises(InputError) as caught:
        read_capture([path], format="raw")
    assert "--length" in words(caught.value)
    capture = read_capture([path], format="raw", length=24)
    assert written(capture)[3] == (24, "2d0303")
    assert "last 1 bytes" in capture.notes[0]


def test_binary_records_may_hold_ends_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "capture.bin"
    path.write_bytes(bytes.fromhex("efbbbf0d0a410d0a42"))
    assert written(read_capture([path], format="raw", length=24)) == [
        (24, "efbbbf"),
        (24, "0d0a41"),
        (24, "0d0a42"),
    ]


@pytest.mark.parametrize("suffix", ["blf", "mf4"])
def test_a_damaged_can_log_is_refused_in_a_sentence(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("can")
    path = tmp_path / f"log.{suffix}"
    path.write_bytes(b"LOGG")
    with pytest.raises(InputError, match="python-can stops after message 0"):
        read_capture([path])


@pytest.mark.parametrize(
    "text",
    [b"(0.\xd7) can0 123#0D55\n", b"id,data\n1\r,0d55\n", b"id,data\n1,0d55\r\r\n"],
)
def test_stray_bytes_beside_a_frame_are_read_over(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "capture.txt"
    path.write_bytes(text)
    assert written(read_capture([path])) == [(16, "0d55")]


def test_a_cell_without_end_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "capture.csv"
    path.write_text('id,data\n1,"' + "0d" * 70_000 + "\n")
    with pytest.raises(InputError, match="line 2 is no row of a table"):
        read_capture([path])


def test_can_logs_are_told_by_suffix(tmp_path: Path) -> None:
    pytest.importorskip("can")
    path = tmp_path / "log.hex"
    path.write_text(f"{A}\n")
    with pytest.raises(InputError, match=r"\.asc, \.blf, \.mf4, \.trc"):
        read_capture([path], format="can")


def test_links_are_written_as_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "link.txt"
    path.write_text(bitbench_link([*ABC, (41, "cfb9f00d648")], "ID:8h 8h"))
    assert written(read_capture([path])) == [*ABC, (41, "cfb9f00d648")]


def test_can_logs_are_read_through_python_can(tmp_path: Path) -> None:
    can = pytest.importorskip("can")
    path = tmp_path / "log.asc"
    with can.ASCWriter(path) as log:
        for i, (_, digits) in enumerate(ABC):
            data = bytes.fromhex(digits)
            log(can.Message(arbitration_id=0x1F3, data=data, timestamp=i, is_extended_id=False))
    capture = read_capture([path])
    assert capture.format == "can"
    assert written(capture) == ABC
    assert capture.columns[0]["id"] == "0x1F3"


def test_a_can_log_without_python_can_says_what_to_install(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "can", None)
    path = tmp_path / "log.blf"
    path.write_bytes(b"LOGG")
    with pytest.raises(InputError, match=r"pip install 'flagstone\[can\]'"):
        read_capture([path])


def test_unknown_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be one of hex, bits, rtl_433"):
        read_capture([tmp_path / "x"], format="pcap")


def test_frames_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "capture.hex"
    path.write_text(f"{A}\n" * 100)
    assert len(read_capture([path], max_rows=7)) == 7


def test_an_empty_table_holds_no_frames(tmp_path: Path) -> None:
    path = tmp_path / "capture.txt"
    path.write_text("\n")
    with pytest.raises(InputError, match="holds no frames, read as csv"):
        read_capture([path], format="csv")


@pytest.mark.parametrize(
    ("start", "part", "times", "problem"),
    [
        (b"", b"10" * 6_000, 100, "line 1: longer than 1 MiB"),
        (b"ab\n", b"/*" * 6_000, 100, "line 2: longer than 1 MiB"),
        (b"ab\n", b"ab\n" * 100_000, 10, "more than 1,000,000 lines"),
        (b"", b"ab ab ab ab\n" * 56_000, 100, "more than 64 MiB"),
    ],
    ids=["one line", "comments", "many lines", "much text"],
)
def test_a_file_that_would_fill_the_memory_is_refused_at_once(
    tmp_path, start, part, times, problem
):
    path = tmp_path / "c.hex.bz2"
    path.write_bytes(bz2.compress(start) + bz2.compress(part, 1) * times)  # one file, in streams
    with pytest.raises(InputError, match=problem):
        read_capture([path])


@pytest.mark.parametrize(
    "text",
    [
        "0000000 2d 51\n0000003 2d 52\n0000006 2d 53\n",  # a counter: its steps are no lengths
        "0000010 2d 51\n0000012 2d 52\n",  # two lines that do not begin with the first byte
        "0000000 2d 51\n0000002 2d 52\n0000002 2d 53\n",
    ],
)
def test_numbers_that_are_no_addresses_are_part_of_the_frame(tmp_path: Path, text: str) -> None:
    path = tmp_path / "capture.hex"
    path.write_text(text)
    assert written(read_capture([path]))[0] == (
        44,
        "00000" + text[5:].split("\n")[0].replace(" ", ""),
    )


def test_bytes_in_decimal_are_no_digits(tmp_path):
    rows = np.random.RandomState(1).randint(0, 256, size=(20, 6)).tolist()
    (tmp_path / "c.txt").write_text("\n".join(" ".join(map(str, row)) for row in rows))
    with pytest.raises(InputError, match=r"bytes in decimal \(37 235 140 .* each byte as %02x"):
        read_capture([tmp_path / "c.txt"])
    (tmp_path / "c.txt").write_text("100 101 110 111\n" * 20)  # three digits each: nibbles
    assert len(read_capture([tmp_path / "c.txt"])) == 20


@pytest.mark.parametrize(("name", "said"), [("x.cu8", "as by rtl_433; if"), ("x.log", "; if")])
def test_bytes_that_are_no_text_are_binary(tmp_path, name, said):
    samples = np.random.RandomState(2).normal(127, 20, 5000).clip(1, 255).astype(np.uint8)
    (tmp_path / name).write_bytes(samples.tobytes())
    with pytest.raises(InputError, match=f"this is binary.*{said}"):
        read_capture([tmp_path / name])
