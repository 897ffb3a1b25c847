"""Packing of 0/1 entries into 64-bit words; column j is bit j mod 64 of word j div 64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


def pack_bits(bits: NDArray[Any]) -> Words:
    """Pack a 2-D array of 0 and 1 (or of False and True)."""
    octets = np.packbits(bits, axis=1, bitorder="little")
    padded = np.zeros((len(bits), max(1, -(-bits.shape[1] // 64)) * 8), np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view("<u8").astype(np.uint64, copy=False)


def pack(X: NDArray[Any]) -> tuple[Words, bool]:
    """Pack a 2-D array of integers or booleans; say whether all entries are 0 or 1.

    Otherwise the words mean nothing.
    """
    return pack_bits(X != 0), not ((X > 1) | (X < 0)).any()


def pack_columns(columns: Sequence[NDArray[Any]]) -> tuple[Words, bool]:
    """Pack columns, each of its own type; say whether all entries are 0 or 1."""
    words = pack_bits(np.stack([column != 0 for column in columns], axis=1))
    return words, not any(((column > 1) | (column < 0)).any() for column in columns)
