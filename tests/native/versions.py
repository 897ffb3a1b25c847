"""What the tests of kernels share: all versions that this processor can run, and packed rows."""

import numpy as np
import pytest

from flagstone._kernels import available

VERSIONS = available()
#: Those that are fast enough for thousands of rows: all but the reference.
NATIVE = {name: version for name, version in VERSIONS.items() if name != "python"}

#: Widths around every boundary of words, vectors and caches.
WIDTHS = (1, 2, 7, 31, 63, 64, 65, 127, 128, 129, 192, 255, 256, 257, 383, 385, 511, 512, 513, 700)

KINDS = ("uniform", "sparse", "lowrank", "repeats", "zero")

all_versions = pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS)
native_versions = pytest.mark.parametrize("version", NATIVE.values(), ids=NATIVE)


def pack(bits):
    """Pack a table of 0 and 1."""
    bits = np.asarray(bits, np.uint8)
    octets = np.zeros((len(bits), 8 * max(1, -(-bits.shape[1] // 64))), np.uint8)
    packed = np.packbits(bits, axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64)


def unpack(words, dim):
    """Return the table of 0 and 1."""
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=dim, bitorder="little")


def sample(kind, n_rows, dim, seed):
    """Return a table of 0 and 1 of some kind."""
    rng = np.random.default_rng([seed, n_rows, dim])
    if kind == "zero":
        return np.zeros((n_rows, dim), np.uint8)
    if kind == "sparse":
        return (rng.random((n_rows, dim)) < 2 / dim).astype(np.uint8)
    uniform = rng.integers(0, 2, (n_rows, dim), dtype=np.uint8)
    if kind == "lowrank":
        rank = rng.integers(1, 2 + dim // 3)
        pool = rng.integers(0, 2, (rank, dim))
        return (rng.integers(0, 2, (n_rows, rank)) @ pool % 2).astype(np.uint8)
    if kind == "repeats" and n_rows:
        return uniform[rng.integers(0, 1 + n_rows // 5, n_rows)]
    return uniform
