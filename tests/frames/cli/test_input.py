"""``flagstone frames``: formats, line codes, alignment, lengths and filters."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.frames.captures.samples import REFUSED, SAMPLES, Sample
from tests.frames.cli.captured import KNOWN, SEED, with_crc, write
from tests.frames.digests import oracle


def digits(X):
    """Return frames as hexadecimal digits."""
    return [np.packbits(row).tobytes().hex() for row in X]


@pytest.fixture
def frames():
    """Frames of six bytes that end in a CRC."""
    return with_crc(np.random.default_rng(1), 300)


def names(done):
    """Return the digests of an answer in JSON."""
    return [digest["name"] for digest in json.loads(done.out)["digest"]]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_samples_need_no_format(run, place, sample: Sample):
    (place / "sample.txt").write_text(sample.text)
    done = run("frames", "sample.txt", "--seed", "1", "--json")
    assert done.code in (0, 3)
    assert json.loads(done.out)["capture"]["format"] == sample.format


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_line_with_the_option_that_reads_it(run, place, name):
    text, said = REFUSED[name]
    (place / "bad.txt").write_text(text)
    done = run("frames", "bad.txt", "--seed", "1")
    assert (done.code, done.out) == (1, "")
    assert len(done.err.strip().splitlines()) == 1
    for part in said:
        assert part in done.err


def test_digests_are_found_through_every_format(run, place, frames):
    lines = digits(frames)
    texts = {
        "json": "".join(f'{{"model":"X","codes":"{{48}}{line}"}}\n' for line in lines),
        "candump": "".join(f"(1.0) can0 1F3#{line}\n" for line in lines),
        "c": "".join(f"{{0x{', 0x'.join(bytes.fromhex(x).hex(' ').split())}}},\n" for x in lines),
        "bitbench": "https://triq.net/bitbench#" + "&".join(f"c={{48}}{x}" for x in lines),
    }
    for format, text in texts.items():
        (place / "capture.txt").write_text(text)
        done = run("frames", "capture.txt", *SEED, "--json")
        assert json.loads(done.out)["capture"]["format"] == format
        assert names(done) == ["CRC-8/MAXIM-DOW"]
    (place / "capture.bin").write_bytes(b"".join(map(bytes.fromhex, lines)))
    done = run("frames", "capture.bin", "-f", "raw", "--length", "48", *SEED, "--json")
    assert names(done) == ["CRC-8/MAXIM-DOW"]
    refused = run("frames", "capture.bin")
    assert refused.code == 1
    assert "--format raw" in refused.err
    assert run("frames", "capture.bin", "-f", "raw").code == 2


def test_a_link_to_bitbench_is_read_again(run, place, frames):
    write(place, "a.hex", frames[:80])
    link = run("frames", "a.hex", *SEED, "--as", "bitbench").out
    assert link.startswith("https://triq.net/bitbench#c={48}")
    assert "CHECK:8h" in link
    (place / "link.txt").write_text(link)
    there = json.loads(run("frames", "link.txt", *SEED, "--json").out)
    here = json.loads(run("frames", "a.hex", *SEED, "--json").out)
    assert there["fingerprint"] == here["fingerprint"]


def test_frames_are_written_for_what_reads_no_captures(run, place, frames):
    lines = digits(frames)
    (place / "can.log").write_text("".join(f"(1.0) can0 1F3#{line}\n" for line in lines))
    done = run("frames", "can.log", "--where", "id=0x1f3", "--as", "hex")
    assert done.out.splitlines() == [f"{{48}}{line}" for line in lines]
    (place / "pilot.hex").write_text(done.out)
    assert run("plan", "--pilot", "pilot.hex", "-o", "protocol.json").code == 0


def test_manchester_is_suggested_and_undone(run, place, frames):
    coded = np.stack([1 - frames, frames], axis=2).reshape(len(frames), -1)
    write(place, "coded.hex", coded)
    said = run("frames", "coded.hex", *SEED).out
    assert "! pairs of bits are complementary: try --decode manchester, or diff" in said
    done = run("frames", "coded.hex", *SEED, "--decode", "manchester", "--json")
    assert names(done) == ["CRC-8/MAXIM-DOW"]
    assert "decoded manchester" in json.loads(done.out)["capture"]["notes"][0]
    wrong = run("frames", "coded.hex", "--decode", "miller")
    assert wrong.code == 2
    assert "must be one of manchester, differential-manchester, invert, nrzi" in wrong.err


def test_misaligned_frames_begin_after_the_sync_word(run, place, frames):
    rng = np.random.default_rng(2)
    sync = "".join(f"{int(d, 16):04b}" for d in "d391")
    lines = []
    for row in frames:
        before = "10" * int(rng.integers(2, 9)) + "0" * int(rng.integers(0, 2))
        after = "".join(map(str, rng.integers(0, 2, size=rng.integers(0, 9))))
        lines.append(before + sync + "".join(map(str, row)) + after)
    (place / "air.bits").write_text("\n".join(lines) + "\n")
    said = run("frames", "air.bits", *SEED).out
    assert "! frames may be misaligned: try --sync d391 --truncate" in said
    done = run(
        "frames", "air.bits", "--sync", "d391", "--truncate", "--length", "48", *SEED, "--json"
    )
    assert names(done) == ["CRC-8/MAXIM-DOW"]
    assert json.loads(done.out)["capture"]["lengths"] == [[48, 300]]
    cut = json.loads(run("frames", "air.bits", "--sync", "d391", "--truncate", "--json").out)
    assert cut["capture"]["lengths"][0][0] == 48


def test_aligned_frames_are_written_before_they_are_decoded(run, place):
    """A tyre sensor: a sync word that is no Manchester code, before data that are."""
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, (300, 7))
    ids = [[0x1A, 0x2B, 0x3C, 0x4D], [0x9F, 0x3E, 2, 0x11], [0, 0xA1, 0xB2, 0xC3]]
    data[:, :4] = np.array(ids)[rng.integers(0, 3, 300)]
    checks = [oracle.crc(one, KNOWN["CRC-8/SMBUS"]) for one in data.tolist()]
    X = oracle.frames(data, checks, 8)
    lines = []
    for row in np.stack([1 - X, X], axis=2).reshape(300, -1).tolist():
        line = "01" * int(rng.integers(10, 20)) + "1111000011110011" + "".join(map(str, row))
        lines.append(line + "0" * (-len(line) % 4))
    (place / "air.bits").write_text("\n".join(lines) + "\n")
    unaligned = run("frames", "air.bits", *SEED).out
    assert "! frames may be misaligned: try --sync f0f3 --truncate" in unaligned
    assert "--by b" not in unaligned  # their bytes mean nothing
    aligned = ["frames", "air.bits", *SEED, "--sync", "f0f3", "--truncate"]
    said = run(*aligned).out
    assert "write these frames (--as hex > aligned.hex), and try --decode manchester" in said
    wrong = run(*aligned, "--decode", "manchester")
    assert wrong.code == 2
    assert "--sync f0f3 is in the frames before decoding, and in none after it" in wrong.err
    assert "--as hex > aligned.hex, without --decode" in wrong.err
    absent = run("frames", "air.bits", "--sync", "beef", "--decode", "manchester")
    assert "--sync beef is in none of the frames" in absent.err
    (place / "aligned.hex").write_text(run(*aligned, "--as", "hex").out)
    done = run("frames", "aligned.hex", "--decode", "manchester", *SEED, "--json")
    assert names(done) == ["CRC-8/SMBUS"]
    assert json.loads(done.out)["capture"]["lengths"] == [[64, 300]]


def test_frames_of_other_lengths_are_said(run, place, frames):
    (place / "mixed.hex").write_text("\n".join([*digits(frames), "2d51", "2d51"]) + "\n")
    done = run("frames", "mixed.hex", *SEED)
    assert done.code == 0
    assert "! 2 frames of other lengths (2 frames of 16 bits)" in done.out
    found = json.loads(run("frames", "mixed.hex", "--length", "16", "--json").out)
    assert found["rows"]["read"] == 2
    assert found["rows"]["skipped"] == 300
    none = run("frames", "mixed.hex", "--length", "24")
    assert none.code == 2
    assert "--length 24 is no length here: 300 frames of 48 bits, 2 of 16" in none.err


def test_the_place_of_a_frame_without_a_digit_is_said(run, place, frames):
    lines = digits(frames)
    (place / "odd.hex").write_text("\n".join([*lines[:10], lines[10][:-1], *lines[11:]]) + "\n")
    said = run("frames", "odd.hex", *SEED).out
    assert "! 1 frame of other lengths (1 frame of 44 bits), odd.hex line 11, not counted" in said


def test_frames_are_kept_by_value(run, place, frames):
    text = "".join(
        f"(1.0) can0 {('1F3', '229')[i % 2]}#{line}\n" for i, line in enumerate(digits(frames))
    )
    (place / "log.txt").write_text(text)
    found = json.loads(run("frames", "log.txt", "--where", "id=0x229", "--json").out)
    assert found["rows"]["read"] == 150
    none = run("frames", "log.txt", "--where", "id=7")
    assert none.code == 2
    assert "the values of id: 0x1F3 (150), 0x229 (150)" in none.err
    both = ["--where", "id=0x229", "--where", "b0=0x2d"]
    assert json.loads(run("frames", "log.txt", *both, "--json").out)["rows"]["read"] == 150


def test_standard_input(frames):
    words = [sys.executable, "-m", "flagstone", "frames", "-", *SEED, "--json"]
    done = subprocess.run(words, input="\n".join(digits(frames)), capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert [digest["name"] for digest in found["digest"]] == ["CRC-8/MAXIM-DOW"]
    assert found["provenance"]["sources"] == ["-"]
