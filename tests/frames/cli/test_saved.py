"""``check`` and ``compare`` on findings of frames: by the digest, not by what was usual."""

import json

import numpy as np
import pytest

from tests.frames.cli.captured import SEED, write
from tests.frames.cli.test_code import sensor
from tests.frames.digests import oracle


@pytest.fixture
def finding(run, place):
    """The digest of one sensor."""
    write(place, "one.hex", sensor(np.random.default_rng(1), 500))
    run("frames", "one.hex", *SEED, "-o", "one.json")
    return "one.json"


def test_frames_of_another_device_pass(run, place, finding):
    other = sensor(np.random.default_rng(2), 300, ident=0xB7)
    write(place, "other.hex", other)
    done = run("check", finding, "other.hex")
    assert done.code == 0
    assert "300 frames of 56 bits checked against CRC-16 with polynomial 0x8005, in bytes 5..6" in (
        done.out
    )
    assert "unusual     300 frames unlike any frame of the finding: byte 0 bit 7 = 1" in done.out
    assert done.out.endswith("ok: within the tolerance of 0 %\n")
    strict = run("check", finding, "other.hex", "--strict")
    assert strict.code == 4
    found = json.loads(run("check", finding, "other.hex", "--json").out)
    assert (found["ok"], found["rows"]["misfits"], found["unusual"]) == (True, 0, 300)
    assert found["digests"] == [["CRC-16 with polynomial 0x8005", 0]]
    assert dict(found["equations"])["x0 = 0"] == 300


def test_damaged_frames_fail(run, place, finding):
    rows = sensor(np.random.default_rng(2), 300, ident=0xB7)
    rows[[4, 9], 20] ^= 1
    lines = [np.packbits(row).tobytes().hex() for row in rows]
    text = "".join(f"codes : {{56}}{line}\n" for line in lines) + "codes : {24}abcdef\n"
    (place / "other.txt").write_text(text)  # another format, and a frame of another length
    done = run("check", finding, "other.txt")
    assert done.code == 4
    assert "! 1 frame of another length left out" in done.out
    assert "damaged     2 frames" in done.out
    assert "other.txt line 5: " in done.out
    assert "byte 2 bit 3 flipped?" in done.out
    assert run("check", finding, "other.txt", "--tolerance", "0.01").code == 0
    found = json.loads(run("check", finding, "other.txt", "--json").out)
    assert [line for _, _, line in found["rows"]["places"]] == [5, 10]
    assert found["rows"]["skipped"] == 1
    none = run("check", finding, "short.txt")
    assert none.code == 1


def test_frames_are_read_as_for_the_finding(run, place):
    rows = sensor(np.random.default_rng(3), 400)
    for name, part in (("a.bits", rows[:200]), ("b.bits", rows[200:])):
        lines = ["10" * 8 + "1101" + "".join(map(str, row ^ 1)) + "01" for row in part]
        (place / name).write_text("\n".join(lines) + "\n")
    words = ["--decode", "invert", "--sync", "0b0010", "--truncate", "--length", "56"]
    run("frames", "a.bits", *words, *SEED, "-o", "m.json")
    done = run("check", "m.json", "b.bits")
    assert done.code == 0, done.out + done.err
    assert "200 frames of 56 bits" in done.out


def test_compare_says_how_to_save_a_finding_of_a_capture(run, place, finding):
    write(place, "other.hex", sensor(np.random.default_rng(4), 500))
    done = run("compare", finding, "other.hex")
    assert done.code == 1
    command = done.err.partition("saved with -o, such as: flagstone ")[2].split()
    assert command[:2] == ["frames", "other.hex"]
    assert run(*command).code == 0
    assert "same" in run("compare", finding, command[-1]).out.splitlines()[0]


def test_digests_are_compared(run, place, finding):
    rng = np.random.default_rng(4)
    other = sensor(rng, 500)
    other[:, 40:] ^= np.unpackbits(np.array([0x00, 0x44], dtype=np.uint8))
    lfsr, sums = sensor(rng, 500, check="lfsr"), sensor(rng, 500, check="sum")
    more = sums.copy()
    more[:, 40:] = np.unpackbits(np.packbits(sums[:, 40:], axis=1) + np.uint8(0x44), axis=1)
    device = sensor(rng, 500, ident=0xB7)
    given = {"other": other, "lfsr": lfsr, "sums": sums, "more": more, "device": device}
    for name, X in given.items():
        write(place, f"{name}.hex", X)
        run("frames", f"{name}.hex", *SEED, "-o", f"{name}.json")
    done = run("compare", finding, "other.json")
    assert done.code == 4
    assert "same polynomial, constants differ by 0x0044\n" in done.out
    assert "no frame of one.json passes the check of other.json" in done.out
    done = run("compare", "sums.json", "more.json")
    assert done.code == 4  # the equations are equal, the digests are not
    assert "same sum, constants differ by 0x44" in done.out
    done = run("compare", finding, "device.json")
    assert "the same digest: CRC-16 with polynomial 0x8005" in done.out
    assert "every frame of one.json passes the check of device.json" in done.out
    done = run("compare", "lfsr.json", "sums.json")
    assert "different digests: LFSR-8" in done.out
    assert "1 of 256 frames of lfsr.json passes the check of sums.json (8 bits)" in done.out
    found = json.loads(run("compare", finding, finding, "--json").out)
    assert found["same"]
    assert found["digests"][0] == "the same digest: CRC-16 with polynomial 0x8005"
    run("constraints", "one.hex", *SEED, "-o", "plain.json")
    assert json.loads(run("compare", finding, "plain.json", "--json").out)["digests"] is None


def test_strength_is_measured_by_random_frames(run, place, finding):
    found = json.loads(run("frames", finding, "--json").out)
    assert found["strength"]["bits"] == 16
    X = np.random.default_rng(9).integers(0, 2, size=(400_000, 48), dtype=np.uint8)
    write(place, "sum.hex", sensor(np.random.default_rng(1), 500, check="sum"))
    done = json.loads(run("frames", "sum.hex", *SEED, "--json").out)
    assert done["strength"] == {
        "bits": 8, "constant_bits": 15, "zeros_pass": False, "ones_pass": False,
    }  # fmt: skip
    values = np.packbits(X, axis=1)
    passed = ((values[:, :5].sum(axis=1) + 0x33) % 256 == values[:, 5]).mean()
    assert abs(passed * 256 - 1) < 0.1


def test_what_to_capture_next(run, place):
    X = sensor(np.random.default_rng(1), 500)
    X[:, 3 * 8] = X[:, 3 * 8 + 1]  # two bits that vary together
    data = np.packbits(X[:, :40], axis=1)
    from tests.frames.cli.test_code import CRC16

    X = oracle.frames(data, [oracle.crc(row, CRC16) for row in data.tolist()], 16)
    done = run("frames", write(place, "f.hex", X), *SEED)
    said = "byte 0, byte 1 bits 7..6, byte 1 bits 3..0, byte 4 bit 7 never varied; byte 3 bits 7..6"
    assert f"capture     {said} varied only together" in done.out
    found = json.loads(run("frames", "f.hex", *SEED, "--json").out)["capture_next"]
    assert found["constant"] == [*range(10), *range(12, 16), 32]
    assert found["together"] == [[24, 25]]
    run("frames", "f.hex", *SEED, "-o", "m.json")
    assert json.loads(run("frames", "m.json", "--json").out)["capture_next"] == found


def test_what_knows_no_digests_names_what_does(run, place, finding):
    """``predict`` computes equations, which other frames break; ``show`` lists them alone."""
    write(place, "other.hex", sensor(np.random.default_rng(2), 300, ident=0xB7))
    done = run("predict", finding, "other.hex")
    assert (done.code, done.out) == (1, "")
    assert "which frames pass is what this says: flagstone check one.json FILE" in done.err
    assert "digests       flagstone frames one.json\n" in run("show", finding).out
