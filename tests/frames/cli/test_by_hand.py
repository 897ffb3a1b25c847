"""The printed formula is complete: a frame is computed from the text of the first screen alone."""

import re

import numpy as np
import pytest

from tests.frames.cli.captured import SEED, with_crc, write
from tests.frames.cli.test_code import sensor
from tests.frames.digests import oracle


def bytes_of(text: str) -> list[int]:
    """Return the bytes of ``bytes 0..4, byte 6``."""
    found = []
    for first, last in re.findall(r"bytes? (\d+)(?:\.\.(\d+))?", text):
        found += range(int(first), int(last or first) + 1)
    return found


def number(pattern: str, text: str, otherwise: int = 0) -> int:
    found = re.search(pattern + r" (0x[0-9a-f]+|\d+)", text)
    return otherwise if found is None else int(found[1], 0)


def by_crc(text: str, frame: bytes, width: int) -> int:
    poly, init = number("polynomial", text), number("init", text)
    register, reflected = init, "reflected" in text
    for byte in (frame[i] for i in bytes_of(text.split("over ")[1])):
        for k in range(8) if reflected else reversed(range(8)):
            top = register >> (width - 1) & 1
            register = register << 1 & (1 << width) - 1
            register ^= poly if top ^ byte >> k & 1 else 0
    register = int(f"{register:0{width}b}"[::-1], 2) if reflected else register
    return register ^ number("xorout", text)


def by_lfsr(text: str, frame: bytes, width: int) -> int:
    key, generator, total = number("key", text), number("generator", text), 0
    assert "rolled right" in text.split("(or")[0]
    assert "data as written" in text.split("(or")[0]
    for byte in (frame[i] for i in bytes_of(text.split("over ")[1])):
        for k in reversed(range(8)):
            total ^= key if byte >> k & 1 else 0
            key = key >> 1 ^ (generator if key & 1 else 0)
    return total ^ number("then ⊕", text)


def by_keys(text: str, frame: bytes, width: int) -> int:
    keys = [int(key, 16) for key in re.findall("0x[0-9a-f]{2}", text.split(" for ")[0])]
    folded = 0
    for i in bytes_of(text.split("XOR of ")[1]):
        folded ^= frame[i]
    total = number("then ⊕", text)
    for i, key in enumerate(keys):
        total ^= key if folded >> (7 - i) & 1 else 0
    return total


def by_xor(text: str, frame: bytes, width: int) -> int:
    total = number("⊕", text)
    for i in bytes_of(text):
        total ^= frame[i]
    return total


def by_sum(text: str, frame: bytes, width: int) -> int:
    head = re.search(r"(0x[0-9a-f]+) \+ sum", text)
    total = int(head[1], 16) if head else 0
    total += sum(frame[i] for i in bytes_of(text.split("sum of ")[1]))
    return total % number("modulo", text)


def by_single_keys(text: str, frame: bytes, width: int) -> int:
    total = number("⊕", text)
    for byte, keys in re.findall(r"byte (\d+) bit ((?:\d: 0x[0-9a-f]+ *)+)", text):
        for bit, key in re.findall(r"(\d): (0x[0-9a-f]+)", keys):
            total ^= int(key, 16) if frame[int(byte)] >> int(bit) & 1 else 0
    return total


def unnamed(rng: np.random.Generator) -> np.ndarray:
    """Check bits without any structure, and a constant."""
    bits = np.unpackbits(oracle.skewed(rng, 500, 4), axis=1)
    checks = bits @ rng.integers(0, 2, size=(32, 8)) % 2 ^ np.array([0, 0, 1, 0, 1, 1, 0, 1])
    return np.hstack([bits, checks]).astype(np.uint8)


def xor(rng: np.random.Generator) -> np.ndarray:
    payload = oracle.skewed(rng, 500, 4)
    return oracle.frames(payload, np.bitwise_xor.reduce(payload, axis=1) ^ 0xA5, 8)


CASES = {
    "CRC with constants": (lambda rng: sensor(rng, 500), by_crc),
    "CRC, reflected": (lambda rng: with_crc(rng, 500, "CRC-16/IBM-SDLC"), by_crc),
    "CRC by name": (lambda rng: with_crc(rng, 500), by_crc),
    "LFSR": (lambda rng: sensor(rng, 500, check="lfsr"), by_lfsr),
    "keys": (lambda rng: sensor(rng, 500, check="keys"), by_keys),
    "XOR": (xor, by_xor),
    "sum": (lambda rng: sensor(rng, 500, check="sum"), by_sum),
    "no name": (unnamed, by_single_keys),
}


@pytest.mark.parametrize("case", CASES)
def test_every_frame_follows_from_the_printed_text(run, place, case):
    make, compute = CASES[case]
    X = make(np.random.default_rng(1))
    done = run("frames", write(place, "f.hex", X), *SEED)
    [where] = re.findall(r"digest .* in (bytes? [\d.]+)$", done.out, re.MULTILINE)
    [text] = re.findall(r"^  formula   (.*?)^  evidence", done.out, re.DOTALL | re.MULTILINE)
    check = bytes_of(where)
    for row in X[:20]:
        frame = np.packbits(row).tobytes()
        expected = int.from_bytes(frame[check[0] : check[-1] + 1], "big")
        assert compute(text, frame, 8 * len(check)) == expected
