"""Frames of made-up devices, and damage to them."""

import numpy as np

from flagstone.frames.digests.catalogue import CATALOGUE
from tests.frames.digests import oracle

KNOWN = {known.name: known for known in CATALOGUE}
DAMAGE = ("one", "few", "many", "noise", "burst")


def device(rng, n, crc="CRC-8/MAXIM-DOW", ident=0x51, *, repeat=1, skewed=True):
    """Frames of 48 bits: 0x2d, a constant byte, three bytes of payload, a check."""
    messages = -(-n // repeat)
    payload = oracle.skewed(rng, messages, 3) if skewed else rng.integers(0, 256, (messages, 3))
    payload = np.hstack([np.full((messages, 1), ident), payload]).astype(np.uint8)
    sums = [oracle.crc(data, KNOWN[crc]) for data in payload.tolist()]
    return np.repeat(oracle.frames(payload, sums, 8, before=(0x2D,)), repeat, axis=0)[:n]


def drifting(rng, n, crc, ident, *, spare=1):
    """Frames of a sensor whose readings walk: identity, flags, readings, random bytes, a check."""
    start = rng.integers(50, 400)
    reading = np.clip(start + np.cumsum(rng.integers(-3, 4, n)), 0, 4095)
    humid = np.clip(55 + np.cumsum(rng.integers(-1, 2, n)), 10, 99)
    high = rng.integers(0, 3, n) << 4 | reading >> 8
    columns = [np.full(n, ident), high, reading & 255, humid, *rng.integers(0, 256, (spare, n))]
    payload = np.stack(columns, axis=1).astype(np.uint8)
    sums = [oracle.crc(data, KNOWN[crc]) for data in payload.tolist()]
    return oracle.frames(payload, sums, 8)


def mixed(rng, *captures, repeat=1):
    """Messages of several devices in one capture, each with its repeats."""
    X = np.concatenate(captures)
    order = rng.permutation(len(X) // repeat)
    return np.concatenate([X[repeat * i : repeat * (i + 1)] for i in order])


def damaged(rng, X, share=0.01, how="few"):
    """The same frames, a share of them damaged."""
    X, d = X.copy(), X.shape[1]
    for i in np.flatnonzero(rng.random(len(X)) < share):
        start = rng.integers(d - 6)
        flips = {
            "one": lambda: rng.choice(d, 1),
            "few": lambda: rng.choice(d, rng.integers(1, 5), replace=False),
            "many": lambda: np.flatnonzero(rng.random(d) < 0.1),
            "noise": lambda: np.flatnonzero(rng.random(d) < 0.5),
            "burst": lambda start=start: start + np.flatnonzero(rng.random(6) < 0.5),
        }[how]()
        X[i, flips] ^= 1
    return X
