"""Packing of 0/1 arrays into 64-bit words and back; column i is bit i mod 64 of word i div 64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import jit

__all__ = ["pack", "unpack"]


def pack(X: NDArray[Any]) -> tuple[NDArray[np.uint64], int]:
    """Pack a 2-D array; also the flat C-order index of the first entry not in {0, 1}, or -1."""
    words = np.zeros((X.shape[0], max(1, -(-X.shape[1] // 64))), np.uint64)
    return words, int(_pack(X, words))


def unpack(words: NDArray[np.uint64], dim: int) -> NDArray[np.uint8]:
    """The first ``dim`` columns as 0/1."""
    result = np.empty((len(words), dim), np.uint8)
    _unpack(words, result)
    return result


@jit
def _pack(X: Any, words: Any) -> int:
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            value = X[i, j]
            if value == 1:
                words[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
            elif value != 0:
                return i * X.shape[1] + j
    return -1


@jit
def _unpack(words: Any, result: Any) -> None:
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            result[i, j] = (words[i, j >> 6] >> np.uint64(j & 63)) & np.uint64(1)
