"""Captures: line codes, alignment, lengths, filters and groups."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.errors import InputError
from flagstone.frames.captures import Capture, read_capture
from flagstone.frames.captures.capture import pattern_bits
from flagstone.frames.captures.line_codes import decode, differential_manchester, suggest
from flagstone.tables import Place

BITS = st.lists(st.integers(0, 1), min_size=1, max_size=60).map(bytes)


def capture_of(*frames: str, **columns: list[str]) -> Capture:
    """Return a capture of frames in hexadecimal digits."""
    bits = [bytes(int(b) for d in frame for b in f"{int(d, 16):04b}") for frame in frames]
    places = [Place("f", i + 1, i + 1) for i in range(len(frames))]
    beside = [{name: values[i] for name, values in columns.items()} for i in range(len(frames))]
    return Capture(bits, places, beside)


def manchester_coded(bits: bytes) -> bytes:
    return b"".join(bytes([1 - b, b]) for b in bits)


def differentially_coded(bits: bytes, level: int) -> bytes:
    """Code bits after a reference cell: a 0 changes the level at the start of its cell."""
    cells = [level, 1 - level]
    for bit in bits:
        first = cells[-1] if bit else 1 - cells[-1]
        cells += [first, 1 - first]
    return bytes(cells)


@given(BITS)
def test_manchester_is_undone(bits: bytes) -> None:
    assert decode([manchester_coded(bits)], "manchester")[0][0][: len(bits)] == bits


@given(BITS, st.integers(0, 1))
def test_differential_manchester_is_undone(bits: bytes, level: int) -> None:
    coded = differentially_coded(bits, level)
    assert decode([coded], "differential-manchester")[0] == [bits]


@given(BITS, st.integers(0, 1))
def test_the_last_half_of_a_differential_code_may_be_missing(bits: bytes, level: int) -> None:
    coded = differentially_coded(bits, level)[:-1]
    assert differential_manchester(coded) == bits
    assert differential_manchester(bytes([level]) + coded, 1) == bits


def test_a_differential_code_ends_at_a_cell_without_a_change() -> None:
    coded = differentially_coded(bytes([0, 1, 0]), 1)
    assert differential_manchester(coded + bytes([1, 1, 0, 1, 0])) == bytes([0, 1, 0])


@given(BITS, st.integers(0, 1))
def test_nrzi_is_undone(bits: bytes, level: int) -> None:
    levels = [level]
    for bit in bits:
        levels.append(levels[-1] ^ bit)
    assert decode([bytes(levels)], "nrzi")[0] == [bits]


@given(BITS)
def test_inverting_and_reversing_bytes_undo_themselves(bits: bytes) -> None:
    for code in ("invert", "reverse-bytes"):
        assert decode(decode([bits], code)[0], code)[0] == [bits]
    assert decode([bits], "invert")[0][0] == bytes(1 - b for b in bits)


def test_pairs_may_begin_with_the_second_bit() -> None:
    bits = np.random.RandomState(1).randint(0, 2, size=(30, 20)).astype(np.uint8)
    coded = [b"\1" + manchester_coded(row.tobytes()) for row in bits]
    found, said = decode(coded, "manchester")
    assert found == [row.tobytes() for row in bits]
    assert said == "pairs begin with bit 1"


def test_manchester_is_suggested_for_complementary_pairs_only() -> None:
    random = np.random.RandomState(2)
    bits = random.randint(0, 2, size=(40, 24)).astype(np.uint8)
    coded = np.stack([1 - bits, bits], axis=2).reshape(40, 48)
    damaged = coded ^ (random.random_sample(coded.shape) < 0.01).astype(np.uint8)
    assert suggest(coded) == suggest(damaged) == "manchester"
    assert suggest(np.hstack([np.ones((40, 1), dtype=np.uint8), coded])) == "manchester"
    assert suggest(random.randint(0, 2, size=(40, 48)).astype(np.uint8)) is None
    assert suggest(np.tile([1, 0], (40, 24)).astype(np.uint8)) is None  # a preamble alone


@pytest.mark.parametrize("sync", ["d391", "2dd4"])
@pytest.mark.parametrize("preamble", ["10", "01"])
def test_the_sync_word_that_is_suggested_leaves_out_the_preamble(preamble, sync):
    rng = np.random.default_rng(1)
    frames = [
        pattern_bits("0b" + preamble * int(rng.integers(6, 24)))
        + pattern_bits(sync + rng.bytes(4).hex())
        for _ in range(50)
    ]
    places = [Place("f", i, i) for i in range(50)]
    assert Capture(frames, places, [{}] * 50).shared_pattern() == sync


def test_frames_begin_after_the_sync_word() -> None:
    capture = capture_of("aaaad39101ff", "5555a72202", "0000")
    synced = capture.synced("d391")
    assert [len(frame) for frame in synced.frames] == [16, 9]
    assert bytes(synced.frames[0]) == bytes([0] * 7 + [1] * 9)
    assert [place.line for place in synced.places] == [1, 2]
    assert synced.notes == ("frames begin after d391; 1 frame without it left out",)
    assert capture.synced("0b11010011").frames[0][:8] == bytes([1, 0, 0, 1, 0, 0, 0, 1])
    with pytest.raises(InputError, match="none of the frames"):
        capture.synced("123456")
    with pytest.raises(InputError, match="hex digits"):
        capture.synced("xyz")


def test_frames_are_cut_to_one_length() -> None:
    capture = capture_of(*["12345678"] * 9, "1234", *["123456789a"] * 10)
    cut = capture.truncated()
    assert cut.lengths == Counter({32: 19})
    assert cut.notes == ("10 frames cut to 32 bits", "1 shorter frame left out")
    assert capture.truncated(16).lengths == Counter({16: 20})
    assert capture.truncated(40).lengths == Counter({40: 10})
    with pytest.raises(InputError, match="50 is longer than every frame"):
        capture.truncated(50)


def test_a_code_that_leaves_no_bits_is_refused() -> None:
    with pytest.raises(InputError, match="no frame has bits left: decoded manchester"):
        capture_of("ff", "00").decoded(["manchester"])


def test_frames_are_kept_by_value() -> None:
    capture = capture_of("2d01", "2d02", "3d01", id=["0x229", "0x1F0", "0x229"])
    assert len(capture.where("id=0x229")) == 2
    assert len(capture.where("id=553")) == 2
    assert len(capture.where("id != 0x229")) == 1
    assert len(capture.where("b0=0x2d")) == 2
    assert len(capture.where("b1.1..b1.0=2")) == 1
    with pytest.raises(InputError, match=r"keeps no frame; the values of id: 0x229 \(2\), 0x1F0"):
        capture.where("id=0x777")
    with pytest.raises(InputError, match="these frames have id"):
        capture.where("model=x")
    with pytest.raises(InputError, match="COLUMN=VALUE"):
        capture.where("id")


def test_frames_are_grouped_the_most_frequent_value_first() -> None:
    capture = capture_of("2d01", "2e02", "2d03", id=["0x1", "0x2", "0x2"])
    assert list(capture.by("id").items()) == [("0x2", [1, 2]), ("0x1", [0])]
    assert list(capture.by("b0")) == ["0x2d", "0x2e"]
    assert [place.line for place in capture.some(capture.by("b0")["0x2d"]).places] == [1, 3]


def test_operations_follow_a_file(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    data = bytes([0, 1, 1, 0, 1, 0, 0, 1])
    raw = bytes([1, 0, 1, 0, 1, 0, 1, 1]) + manchester_coded(data) + bytes([1, 1, 1])
    path.write_text("\n".join(["".join(map(str, raw))] * 3))
    capture = read_capture([path]).synced("0b10101011").decoded(["manchester", "invert"])
    assert capture.frames == [bytes(1 - b for b in data)] * 3
