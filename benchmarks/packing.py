"""``pack``: from arrays of zeros and ones to words, against ``numpy.packbits``."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import inputs
from benchmarks.harness import Bench, Contestant
from flagstone import pack

SIZES = ((10**6, 20), (10**6, 64), (5 * 10**5, 128), (5 * 10**4, 1024))


def run(bench: Bench) -> None:
    """Time four memory layouts, NumPy's way on the first, and the way back."""
    for rows, dim in SIZES:
        m = bench.scale(rows)
        packed = inputs.bit_rows("uniform", m, dim)
        X = packed.unpack()
        layouts = {
            "uint8": X,
            "uint8 Fortran": np.asfortranarray(X),
            "bool": X.astype(bool),
            "int64": X.astype(np.int64),
        }
        ways = [
            Contestant(who, m, partial(lambda A, _: _digest(pack(A).words), A))
            for who, A in layouts.items()
        ]
        ways.append(Contestant("numpy.packbits", m, lambda _, X=X: _digest(packbits(X))))
        ways.append(Contestant("unpack", m, lambda _, rows=packed: rows.unpack()))
        bench.compare(f"d={dim}", ways, dim=dim, seconds=1.5)


def packbits(X: np.ndarray) -> np.ndarray:
    """The same words by NumPy alone: pack into bytes, pad to whole words, view as words."""
    bits = np.packbits(X, axis=1, bitorder="little")
    out = np.zeros((len(X), -(-X.shape[1] // 64) * 8), dtype=np.uint8)
    out[:, : bits.shape[1]] = bits
    return out.view(np.uint64)


def _digest(words: np.ndarray) -> int:
    return int(np.bitwise_xor.reduce(words[:1000], axis=None))
