"""GF(2), as a field of the kernels: linear algebra on packed rows, and the counted flag."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flagstone._reference.linalg import dot, merge, reduce, rref

__all__ = ["Gf2Flag", "dot", "flag", "flag_load", "merge", "reduce", "rref"]

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

MOST = 2**63 - 1


class Gf2Flag:
    """The counted flag of rows in GF(2)^dim (docs/theory/flag.md, S2).

    Rows and sets of elements are Python's integers, bit i being column or element i. The state is
    a basis of GF(2)^dim, its elements by count (0 for those that no row has replaced), and the
    coordinates of the unit vectors in it.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.reset()

    def reset(self) -> None:
        """Become the flag of no rows."""
        self._basis = [1 << i for i in range(self.dim)]
        self._table = self._basis.copy()
        self._levels = {0: (1 << self.dim) - 1}

    def insert(self, rows: Words, weights: Counts | None = None) -> None:
        """Insert packed rows in order, each as often as its weight says."""
        numbers = _integers(rows, self.dim)
        times = [1] * len(numbers) if weights is None else _times(weights, len(numbers))
        if max(self._levels) + sum(filter(lambda n: n > 0, times)) > MOST:
            raise ValueError("counts would need more than 63 bits")
        for row, weight in zip(numbers, times, strict=True):
            coordinates, rest = 0, row
            while rest:
                bit = rest & -rest
                coordinates ^= self._table[bit.bit_length() - 1]
                rest ^= bit
            if coordinates and weight > 0:
                self._exchange(row, coordinates, weight)

    def _exchange(self, row: int, coordinates: int, weight: int) -> None:
        """Replace an element of least count in the row's support by the row."""
        count = min(count for count, level in self._levels.items() if coordinates & level)
        least = coordinates & self._levels[count]
        element = least & -least
        self._basis[element.bit_length() - 1] = row
        change = coordinates ^ element
        self._table = [x ^ change if x & element else x for x in self._table]
        self._levels[count] ^= element
        if not self._levels[count]:
            del self._levels[count]
        self._levels[count + weight] = self._levels.get(count + weight, 0) | element

    def dump(self) -> tuple[Words, Counts]:
        """Return an adapted basis and its falling counts."""
        rows, counts = [], []
        for count in sorted(filter(None, self._levels), reverse=True):
            for i in range(self.dim):
                if self._levels[count] >> i & 1:
                    rows.append(self._basis[i])
                    counts.append(count)
        size = 8 * _width(self.dim)
        octets = b"".join(row.to_bytes(size, "little") for row in rows)
        words = np.frombuffer(octets, "<u8").astype(np.uint64).reshape(len(rows), size // 8)
        return words, np.array(counts, np.int64)

    def copy(self) -> Gf2Flag:
        """Return a flag that shares nothing with this one."""
        other = Gf2Flag(self.dim)
        other._basis, other._table = self._basis.copy(), self._table.copy()
        other._levels = self._levels.copy()
        return other


def flag(dim: int) -> Gf2Flag:
    """Return the flag of no rows in GF(2)^dim."""
    if dim < 0:
        raise TypeError("dim must not be negative")
    return Gf2Flag(dim)


def flag_load(dim: int, basis: Words, counts: Counts) -> Gf2Flag:
    """Return the flag that a basis with falling counts describes."""
    loaded = flag(dim)
    times = _times(counts, len(basis))
    if sorted(times, reverse=True) != times or (times and times[-1] <= 0):
        raise ValueError("counts must be positive and falling")
    loaded.insert(basis)
    if set(loaded._levels) - {0, 1} or loaded._levels.get(1, 0).bit_count() != len(times):
        raise ValueError("the basis must be linearly independent")
    loaded = Gf2Flag(dim)
    for row, count in zip(np.split(basis, len(basis)) if times else (), times, strict=True):
        loaded.insert(row, np.array([count], np.int64))
    return loaded


def _width(dim: int) -> int:
    return max(1, -(-dim // 64))


def _integers(rows: Words, dim: int) -> list[int]:
    """Packed rows as integers; bits past ``dim`` are ignored."""
    if rows.dtype != np.uint64 or rows.ndim != 2 or not rows.flags.c_contiguous:
        raise TypeError("rows must be a contiguous array of uint64, one row for each")
    if rows.shape[1] != _width(dim):
        raise ValueError("rows must have one word for 64 columns")
    octets = rows.astype("<u8", copy=False)
    return [int.from_bytes(row.tobytes(), "little") & (1 << dim) - 1 for row in octets]


def _times(weights: Counts, n_rows: int) -> list[int]:
    if weights.dtype != np.int64 or weights.ndim != 1 or not weights.flags.c_contiguous:
        raise TypeError("weights must be a contiguous array of int64")
    if len(weights) != n_rows:
        raise ValueError("there must be one weight for each row")
    times: list[int] = weights.tolist()
    return times
