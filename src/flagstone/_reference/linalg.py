"""Linear algebra over GF(2). A packed row is an array of 64-bit words, column 0 being bit 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]


def rref(dim: int, rows: Words) -> tuple[Words, Counts]:
    """Return the reduced row echelon form (leftmost pivots) and the pivot columns."""
    rows, pivots = _trimmed(rows, dim), list[int]()
    for column in range(dim):
        rank, found = len(pivots), _column(rows, column)
        if rank == len(rows):
            break
        below = np.flatnonzero(found[rank:])
        if len(below):
            first = rank + int(below[0])
            pivot = rows[first].copy()
            rows[first], found[first] = rows[rank], found[rank]
            rows[found] ^= pivot
            rows[rank] = pivot
            pivots.append(column)
    return rows[: len(pivots)].copy(), np.array(pivots, np.int64)


def reduce(rows: Words, basis: Words, pivots: Counts) -> Words:
    """Return ``rows`` minus the combinations of the reduced basis that cancel its pivot columns."""
    left = rows.copy()
    for row, column in zip(basis, pivots.tolist(), strict=True):
        left[_column(rows, column)] ^= row
    return left


def dot(rows: Words, functionals: Words) -> NDArray[np.uint8]:
    """Return all products ⟨row, functional⟩ as 0/1."""
    result = np.empty((len(rows), len(functionals)), np.uint8)
    for j, functional in enumerate(functionals):
        parity = np.bitwise_xor.reduce(rows & functional, axis=1)
        for shift in (32, 16, 8, 4, 2, 1):
            parity ^= parity >> np.uint64(shift)
        result[:, j] = parity & np.uint64(1)
    return result


def merge(dim: int, X: Words, cx: Counts, Y: Words, cy: Counts) -> tuple[Words, Counts]:
    """Return an adapted basis, by falling count, of the merge of two flags given by such bases.

    Theory: docs/theory/flag.md, S5. On a basis adapted to both flags, merging is adding counts. To
    get one, extend X by what Y has outside its span, with count 0. Each y, by falling count,
    replaces the last element of its support, which has the smallest count in X. If an earlier y
    has replaced it, that one is added to y first, which removes the element from the support.
    """
    basis, counts = _integers(_trimmed(X, dim)), cx.tolist()
    echelon: dict[int, tuple[int, int]] = {}  # by leading bit: vectors, their coordinates

    def coordinates(vector: int) -> tuple[int, int]:
        """Return what ``echelon`` cannot express, and the coordinates of the rest."""
        coords = 0
        while vector and (lead := vector & -vector) in echelon:
            vector ^= echelon[lead][0]
            coords ^= echelon[lead][1]
        return vector, coords

    for i, x in enumerate(basis):
        left, coords = coordinates(x)
        echelon[left & -left] = left, coords | 1 << i
    claims: dict[int, int] = {}  # by index in the basis: coordinates of the y that replaced it
    for y, count in zip(_integers(_trimmed(Y, dim)), cy.tolist(), strict=True):
        left, coords = coordinates(y)
        if left:
            echelon[left & -left] = left, 1 << len(basis)
            coords |= 1 << len(basis)
            basis.append(left)
            counts.append(0)
        while (last := coords.bit_length() - 1) in claims:
            coords ^= claims[last]
            y ^= basis[last]
        claims[last], basis[last] = coords, y
        counts[last] += count
    order = sorted(range(len(basis)), key=lambda i: -counts[i])
    return _packed([basis[i] for i in order], X.shape[1]), np.array(counts, np.int64)[order]


def _column(rows: Words, column: int) -> NDArray[np.bool_]:
    """Say of each row whether it has a 1 in this column."""
    found: NDArray[np.bool_] = rows[:, column >> 6] & np.uint64(1 << (column & 63)) != 0
    return found


def _trimmed(rows: Words, dim: int) -> Words:
    """Return a copy of packed rows without bits past the last column."""
    rows = rows.copy()
    if dim % 64:
        rows[:, -1] &= np.uint64((1 << dim % 64) - 1)
    return rows


def _integers(rows: Words) -> list[int]:
    """Return packed rows as integers, bit i being column i."""
    return [int.from_bytes(row.tobytes(), "little") for row in rows.astype("<u8")]


def _packed(integers: list[int], width: int) -> Words:
    """Return integers as rows of ``width`` words."""
    text = b"".join(i.to_bytes(8 * width, "little") for i in integers)
    return np.frombuffer(text, "<u8").astype(np.uint64).reshape(len(integers), width)
