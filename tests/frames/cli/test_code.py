"""``--as c`` and ``--as python`` on captures: fresh frames pass, damaged ones do not."""

import shutil

import numpy as np
import pytest

from tests.frames.cli.captured import KNOWN, SEED, write
from tests.frames.digests import oracle
from tests.frames.digests.test_code import in_c, in_python

CRC16 = KNOWN["CRC-16/XMODEM"]._replace(poly=0x8005, init=0x1D0F)


def sensor(rng, n, ident=0x42, check="crc"):
    """Frames of a sensor: id, flags, a reading, humidity below 100, and a check of all that."""
    data = np.column_stack(
        [
            np.full(n, ident),
            rng.integers(0, 4, n) << 4,
            rng.integers(0, 256, n),
            rng.integers(0, 256, n),
            rng.integers(0, 100, n),
        ]
    ).astype(np.uint8)
    if check == "crc":
        checks, width = [oracle.crc(row, CRC16) for row in data.tolist()], 16
    elif check == "lfsr":
        checks, width = [oracle.lfsr(row, 8, 0x98, 0x3E) ^ 0x2D for row in data.tolist()], 8
    elif check == "keys":
        checks, width = [KEYS[np.bitwise_xor.reduce(row)] ^ 0x2D for row in data], 8
    else:
        checks, width = [(sum(row) + 0x33) & 0xFF for row in data.tolist()], 8
    return oracle.frames(data, checks, width)


def _keys():
    """For each byte the sum of the keys of its bits, which no register makes."""
    keys = (0x7B, 0xA3, 0x1C, 0xE5, 0x92, 0x58, 0xC6, 0x31)
    table = np.zeros(256, dtype=int)
    for value in range(256):
        for i, key in enumerate(keys):
            table[value] ^= key if value >> (7 - i) & 1 else 0
    return table


KEYS = _keys()


@pytest.mark.parametrize(
    ("check", "words"), [("crc", ["c"]), ("lfsr", ["python"]), ("sum", ["python", "--strict"])]
)
def test_code_is_that_of_the_digest_not_of_the_capture(run, place, check, words):
    rng = np.random.default_rng(5)
    X = sensor(rng, 800, check=check)
    damaged, _ = oracle.damaged(rng, X, 0.01)
    assert run("frames", write(place, "f.hex", damaged), *SEED, "-o", "m.json").code == 0
    # a saved finding gives the same code as its capture
    direct = run("frames", "f.hex", *SEED, "--as", *words)
    assert direct.code == 0
    assert direct.out == run("frames", "m.json", "--as", *words).out

    # another device, with another id and flags that this capture never had
    other = sensor(rng, 400, ident=0xB7, check=check)
    flipped = other.copy()
    flipped[np.arange(400), rng.integers(0, X.shape[1], 400)] ^= 1
    expected = [True] * (len(X) + len(other)) + [False] * len(flipped)
    frames = np.concatenate([X, other, flipped])
    assert in_python(run("frames", "m.json", "--as", "python").out, frames) == expected
    strict = run("frames", "m.json", "--as", "python", "--strict").out
    assert sum(in_python(strict, X)) > 790
    assert not any(in_python(strict, other))
    if shutil.which("cc") is not None:
        assert in_c(run("frames", "m.json", "--as", "c").out, frames, place) == expected


def test_frames_that_were_decoded_are_checked_as_the_file_has_them(run, place):
    rng = np.random.default_rng(6)
    X = sensor(rng, 500)
    as_sent = X.reshape(500, -1, 8)[:, :, ::-1].reshape(500, -1)
    write(place, "f.hex", as_sent)
    text = run("frames", "f.hex", "--decode", "reverse-bytes", *SEED, "--as", "python").out
    assert all(in_python(text, as_sent))
    assert not any(in_python(text, X[:50]))
    text = run("frames", "f.hex", "--decode", "invert", *SEED, "--as", "python").out
    assert "given after decoding: invert" in text


def test_without_a_digest_there_is_code_only_for_equations(run, place):
    X = np.random.default_rng(5).integers(0, 2, size=(400, 16), dtype=np.uint8)
    X[:, 3] = X[:, 9]
    write(place, "pair.hex", X)
    done = run("frames", "pair.hex", "--seed", "1", "--as", "c")
    assert (done.code, done.out) == (2, "")
    assert "none was found" in done.err
    text = run("frames", "pair.hex", "--seed", "1", "--as", "python", "--strict").out
    assert in_python(text, X[:20] ^ np.eye(20, 16, dtype=np.uint8)) == [
        i not in (3, 9) for i in range(20)
    ]
