"""``frames --case`` and frames of several lengths, from the command line."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from flagstone.frames.digests.catalogue import CATALOGUE
from tests.frames.cli.captured import SEED, with_crc, write
from tests.frames.digests import oracle


def counted(place, additive):
    """Write frames whose constant depends on two bits; return their name and the frames."""
    rng = np.random.default_rng(1)
    X = with_crc(rng, 600, "CRC-8/SAE-J1850")
    constant = rng.integers(0, 256, 4)[2 * X[:, 14] + X[:, 15]]
    check = np.packbits(X[:, 40:], axis=1)[:, 0]
    if additive:
        check = np.packbits(X[:, :40], axis=1).astype(int).sum(axis=1) + constant & 255
    else:
        check = check ^ constant
    X[:, 40:] = np.unpackbits(check.astype(np.uint8)[:, np.newaxis], axis=1)
    return write(place, "cases.hex", X), X


CASE = ["--case", "b1.1..b1.0"]


@pytest.mark.parametrize("additive", [False, True])
def test_a_constant_that_depends_on_a_field(run, place, additive):
    name, X = counted(place, additive)
    (digest,) = json.loads(run("frames", name, *SEED, *CASE, "--json").out)["digest"]
    assert digest["kind"] == ("sum" if additive else "crc")
    assert digest["parameters"]["case"]["bits"] == ["x14", "x15"]
    assert list(digest["parameters"]["case"]["table"]) == ["0x0", "0x1", "0x2", "0x3"]
    assert digest["rows_broken"] == 0
    screen = run("frames", name, *SEED, *CASE).out
    assert all(value in screen for value in digest["parameters"]["case"]["table"].values())
    space = {}
    exec(run("frames", name, *SEED, *CASE, "--as", "python").out, space)
    assert all(space["check_frame"](row.tobytes()) for row in np.packbits(X[:50], axis=1))
    assert not any(space["check_frame"](row.tobytes()) for row in np.packbits(X[:50] ^ 1, axis=1))


def test_a_sum_whose_constant_depends_on_a_field_is_advised_to_use_cases(run, place):
    rng = np.random.default_rng(6)
    data = np.column_stack([np.arange(300) % 4, rng.integers(0, 256, (300, 3))])
    checks = data.sum(axis=1) + np.array([3, 77, 200, 5])[data[:, 0]] & 255
    name = write(place, "sums.hex", oracle.frames(data, checks, 8))
    assert "add --case b0\n" in run("frames", name, *SEED).out
    assert "digest      sum of bytes" in run("frames", name, *SEED, "--case", "b0.1..b0.0").out


def test_cases_that_have_a_digest_are_no_message_types(run, place):
    rng = np.random.default_rng(5)
    data = np.column_stack([0x50 | np.arange(600) % 16, rng.integers(0, 256, (600, 3))])
    constants = np.array([12, 99, 0x31, 0xEE] * 4) ^ 7 * np.arange(16)
    known = next(one for one in CATALOGUE if one.name == "CRC-8/SAE-J1850")
    checks = [oracle.crc(row, known) ^ constants[row[0] & 15] for row in data.tolist()]
    name = write(place, "counter.hex", oracle.frames(data, checks, 8))
    done = run("frames", name, *SEED, "--case", "b0.3..b0.0")
    assert "digest      CRC-8" in done.out
    assert "types of frames" not in done.out


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("additive", [False, True])
def test_c_code_for_cases(run, place, tmp_path, additive):
    name, X = counted(place, additive)
    code = run("frames", name, *SEED, *CASE, "--as", "c").out
    frames = np.packbits(np.concatenate([X[:20], X[:20] ^ np.eye(48, dtype=np.uint8)[45]]), axis=1)
    rows = ",".join("{" + ",".join(map(str, row)) + "}" for row in frames.tolist())
    main = f"""
#include <stdio.h>
int main(void) {{
    static const uint8_t frames[40][6] = {{{rows}}};
    for (int i = 0; i < 40; ++i) putchar('0' + check_frame(frames[i]));
    return 0;
}}"""
    (tmp_path / "a.c").write_text(code + main)
    subprocess.run(["cc", "-Wall", "-Werror", "-o", tmp_path / "a", tmp_path / "a.c"], check=True)
    done = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True)
    assert done.stdout == "1" * 20 + "0" * 20


@pytest.mark.parametrize("additive", [False, True])
def test_routines_of_rtl_433_have_no_constants_for_cases(run, place, additive):
    name, _ = counted(place, additive)
    done = run("frames", name, *SEED, *CASE, "--as", "rtl_433")
    assert "DECODE_FAIL_MIC" not in done.out
    assert "no routine for this one; use --as c" in done.out


def test_a_data_id_that_is_not_in_the_frame_is_said_to_belong_to_a_crc(run, place):
    """As in AUTOSAR profile 2: the counter says which data id the CRC ends with."""
    rng = np.random.default_rng(7)
    known = next(one for one in CATALOGUE if one.name == "CRC-8/AUTOSAR")
    ids = rng.integers(0, 256, 16).tolist()
    data = rng.integers(0, 256, (600, 7))
    checks = [oracle.crc([*row, ids[row[0] & 15]], known) for row in data.tolist()]
    X = np.unpackbits(np.column_stack([checks, data]).astype(np.uint8), axis=1)
    done = run("frames", write(place, "p2.hex", X), *SEED, "--case", "b1.3..b1.0")
    said = "digest      CRC-8 with polynomial 0x2f and 1 byte that is not in the frame, in byte 0\n"
    assert said in done.out
    assert "over bytes 1..7, then 1 byte 0, in the place of those not in the frame; the" in done.out
    table = dict(json.loads(run("frames", "p2.hex", *SEED, "--case", "b1.3..b1.0", "--json").out))
    (digest,) = table["digest"]
    for counter, constant in digest["parameters"]["case"]["table"].items():
        row = [int(counter, 16), 0, 0, 0, 0, 0, 0]
        plain = known._replace(init=0, xorout=0)
        right = oracle.crc([*row, ids[row[0]]], known)
        assert oracle.crc([*row, 0], plain) ^ int(constant, 16) == right


def test_cases_are_bounded(run, place):
    write(place, "f.hex", np.zeros((4, 48), dtype=np.uint8))
    done = run("frames", "f.hex", "--case", "b0..b2")
    assert (done.code, done.out) == (2, "")
    assert "--case takes at most 12 bits, got 24" in done.err


def test_frames_of_two_lengths_tell_init_from_xorout(run, place):
    rng = np.random.default_rng(2)
    for name, n, n_bytes in (("a.hex", 400, 5), ("b.hex", 60, 7)):
        write(place, name, with_crc(rng, n, "CRC-8/AUTOSAR", (), n_bytes))
    (digest,) = json.loads(run("frames", "a.hex", "b.hex", *SEED, "--json").out)["digest"]
    assert digest["name"] == "CRC-8/AUTOSAR"
    assert (digest["parameters"]["init"], digest["parameters"]["xorout"]) == ("0xff", "0xff")
    assert digest["parameters"]["lengths"] == [48, 64]
