"""Digests bit by bit, as their definitions read, and frames that carry them. Independent of src."""

import numpy as np


def crc(data, known):
    """The CRC of some bytes in the usual model: one bit at a time, no tables."""
    register = known.init
    for byte in data:
        for i in range(8):
            bit = byte >> (i if known.refin else 7 - i) & 1
            top = register >> (known.width - 1) & 1
            register = register << 1 & (1 << known.width) - 1
            if top ^ bit:
                register ^= known.poly
    if known.refout:
        register = int(f"{register:0{known.width}b}"[::-1], 2)
    return register ^ known.xorout


def skewed(rng, n, n_bytes):
    """Payloads whose bits lean to one side, each in its own way."""
    n_bits = 8 * n_bytes
    return np.packbits(rng.random((n, n_bits)) < np.linspace(0.15, 0.8, n_bits), axis=1)


def frames(payload, checks, width, *, little=False, before=(), after=0, rng=None):
    """Bits of frames: constant bytes, payload, check, and bits that nothing covers."""
    rows = []
    for data, check in zip(payload.tolist(), checks, strict=True):
        word = f"{check:0{width}b}"
        if little:
            word = "".join(word[i : i + 8] for i in range(width - 8, -1, -8))
        tail = "".join(str(b) for b in rng.integers(0, 2, after)) if after else ""
        rows.append("".join(f"{b:08b}" for b in (*before, *data)) + word + tail)
    return np.array([[int(c) for c in row] for row in rows], dtype=np.uint8)


def damaged(rng, X, share=0.02):
    """The same frames, some of them with bits that fell over; and which."""
    hit = rng.random(len(X)) < share
    flips = rng.random(X.shape) < 0.1
    flips[np.arange(len(X)), rng.integers(0, X.shape[1], len(X))] = True
    return X ^ (flips & hit[:, np.newaxis]).astype(np.uint8), hit


def lfsr(data, width, generator, key, *, reflect=False, backwards=False, restart=False):
    """An LFSR digest as decoders of radio sensors write it: a key that rolls right.

    ``reflect``: from the last bit on, with a key that rolls left; ``backwards``: that rolls right.
    """
    total, start = 0, key
    turned = reflect or backwards
    for byte in reversed(data) if turned else data:
        if restart:
            key = start
        for i in range(8) if turned else range(7, -1, -1):
            if byte >> i & 1:
                total ^= key
            if reflect:
                key = key << 1 ^ (generator | 1 << width if key >> (width - 1) else 0)
            else:
                key = (key >> 1) ^ generator if key & 1 else key >> 1
    return total


def columns(first, last):
    """The names of columns, as digests list them: x0 to x39, say."""
    return [f"x{i}" for i in range(first, last + 1)]
