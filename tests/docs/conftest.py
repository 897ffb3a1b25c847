"""The files that pages talk about, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from .snippets import ROOT


def frames(n: int, seed: int) -> str:
    """Return frames of six bytes, the last the XOR of the others, a few damaged, as hex."""
    random = np.random.RandomState(seed)
    data = random.randint(0, 256, size=(n, 5)).astype(np.uint8)
    rows = np.column_stack([data, np.bitwise_xor.reduce(data, axis=1) ^ 0x5A])
    hit = np.flatnonzero(random.random_sample(n) < 0.004)
    rows[hit, random.randint(0, 6, len(hit))] ^= np.uint8(4)
    return "".join(bytes(row).hex() + "\n" for row in rows)


def can_log(n: int) -> str:
    """Return a candump log of two ids whose last byte is the XOR of the others."""
    lines = (f"({i}.000000) can0 {(0x229, 0x31A)[i % 2]:X}#{frame}" for i, frame in
             enumerate(frames(n, 4).upper().split()))  # fmt: skip
    return "".join(line + "\n" for line in lines)


def tyre_sensor(n: int) -> tuple[str, str]:
    """Return frames in Manchester code after a preamble and a sync word, and without these."""
    coded = []
    for frame in frames(n, 5).split():
        bits = f"{int(frame, 16):048b}"
        coded.append("".join("10" if bit == "1" else "01" for bit in bits))
    air = ("01" * (8 + i % 5) + f"{0xF0F3:016b}{bits}\n" for i, bits in enumerate(coded))
    return "".join(air), "".join(f"{int(bits, 2):024x}\n" for bits in coded)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory) -> Path:
    """A folder with the examples, and with every file that a page names without making it."""
    folder = tmp_path_factory.mktemp("shelf")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("*.py"))
    for number, name in enumerate(["capture", "pilot", "fresh"]):
        (folder / f"{name}.hex").write_text(frames(3000 if name == "pilot" else 12_000, number))
    for number, name in enumerate(["frames", "day1", "day2", "day3"], start=10):
        (folder / name).mkdir()
        for part in range(2):
            (folder / name / f"{part}.hex").write_text(frames(1500, 10 * number + part))
    (folder / "can.log").write_text(can_log(600))
    (folder / "tyre.txt").write_text(tyre_sensor(300)[0])
    (folder / "aligned.hex").write_text(tyre_sensor(300)[1])
    table = "a,b,c,fault\n" + "".join(
        f"{i & 1},{i >> 1 & 1},{i >> 2 & 1},{(i ^ i >> 2) & 1}\n" for i in range(400)
    )
    (folder / "new.csv").write_text(table)
    return folder
