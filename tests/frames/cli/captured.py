"""Captures for tests of the verb: frames with a known digest, written to a folder."""

from pathlib import Path

import numpy as np

from flagstone.frames.digests.catalogue import CATALOGUE
from tests.frames.digests import oracle

SEED = ["--contamination", "0.01", "--seed", "1"]
KNOWN = {known.name: known for known in CATALOGUE}


def write(place: Path, name: str, X: np.ndarray) -> str:
    """Write frames as rtl_433 does, ``{48}2d51…``."""
    lines = [f"{{{X.shape[1]}}}{np.packbits(row).tobytes().hex()}" for row in X]
    (place / name).write_text("\n".join(lines) + "\n")
    return name


def with_crc(
    rng: np.random.Generator,
    n: int,
    crc: str = "CRC-8/MAXIM-DOW",
    before: tuple[int, ...] = (0x2D,),
    n_bytes: int = 4,
) -> np.ndarray:
    """Return frames of constant bytes, random data, and a CRC of the data."""
    payload = oracle.skewed(rng, n, n_bytes)
    known = KNOWN[crc]
    checks = [oracle.crc(data, known) for data in payload.tolist()]
    return oracle.frames(payload, checks, known.width, before=before)
