"""What the GF(2) kernel tests share: rows as Python integers, the partition by definition, data.

The oracle of the other families lists vectors or works on lists; rows of 512 bits need integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

import numpy as np

from tests.native.versions import pack, unpack

#: Widths around every number of words and vectors.
WIDTHS = (1, 2, 7, 8, 9, 20, 63, 64, 65, 127, 128, 129, 192, 193, 255, 256, 257, 384, 385, 449)

KINDS = (
    "uniform", "lowrank", "planted", "skewed", "zipf",
    "ties", "repeats", "change", "sparse", "again",
)  # fmt: skip


def integers(words: np.ndarray) -> list[int]:
    """Packed rows as integers; bit i is column i."""
    return [int.from_bytes(row.tobytes(), "little") for row in words]


class Span:
    """A subspace that grows, by its reduced basis: one row per leading (lowest) bit."""

    def __init__(self, vectors: Iterable[int] = ()) -> None:
        self.rows: dict[int, int] = {}
        self.leads = 0
        for vector in vectors:
            self.add(vector)

    def residual(self, vector: int) -> int:
        leads = vector & self.leads
        while leads:
            lead = leads & -leads
            vector ^= self.rows[lead]
            leads ^= lead
        return vector

    def add(self, vector: int) -> bool:
        """Add a vector; whether the span grew."""
        vector = self.residual(vector)
        lead = vector & -vector
        if vector:
            for other, row in self.rows.items():
                if row & lead:
                    self.rows[other] = row ^ vector
            self.rows[lead] = vector
            self.leads |= lead
        return bool(vector)

    def basis(self) -> frozenset[int]:
        """Return the reduced basis: equal spans have equal ones."""
        return frozenset(self.rows.values())


def partition(words: np.ndarray, weights: np.ndarray | None = None) -> list[frozenset[int]]:
    """V_1, V_2, … of the stable partition: each row goes to the first set that misses it."""
    return partitions(words, weights, [len(words)])[0]


def partitions(
    words: np.ndarray, weights: np.ndarray | None, ends: list[int]
) -> list[list[frozenset[int]]]:
    """Return the partition of the first rows, for several numbers of them: later rows move none.

    Each set takes, of the rows that the sets before it left over, those that are independent of
    earlier ones. They are where the columns, as integers with a bit per row, have leading bits.
    """
    rows = integers(words)
    copies = [1] * len(rows) if weights is None else weights.tolist()
    octets = np.packbits(unpack(words, 64 * words.shape[1]), axis=0, bitorder="little")
    columns = {int.from_bytes(column.tobytes(), "little") for column in octets.T}
    found: list[list[frozenset[int]]] = [[] for _ in ends]
    left = sum(1 << i for i, number in enumerate(copies) if number > 0)
    while columns := {column & left for column in columns} - {0}:
        echelon: dict[int, int] = {}
        for column in columns:
            while column and (column & -column) in echelon:
                column ^= echelon[column & -column]
            if column:
                echelon[column & -column] = column
        taken = [lead.bit_length() - 1 for lead in echelon]
        for sets, end in zip(found, ends, strict=True):
            some = [i for i in taken if i < end]
            # A row is left over by a set that spans it, so that sets of equal rank are equal.
            if sets and len(sets[-1]) == len(some):
                sets.append(sets[-1])
            elif some:
                sets.append(Span(rows[i] for i in some).basis())
        for i in taken:
            copies[i] -= 1
            if copies[i] == 0:
                left ^= 1 << i
    return found


def levels(basis: np.ndarray, counts: np.ndarray) -> list[tuple[int, frozenset[int]]]:
    """Return each count of an adapted basis, from the greatest, and what is counted as often.

    Checks that it is a basis, with falling counts.
    """
    assert counts.dtype == np.int64
    assert basis.dtype == np.uint64
    assert basis.flags.c_contiguous
    assert np.all(np.diff(counts) <= 0)
    assert np.all(counts > 0)
    span, found = Span(), []
    for count, vectors in groupby(
        zip(counts.tolist(), integers(basis), strict=True), itemgetter(0)
    ):
        for _, vector in vectors:
            assert span.add(vector)
        found.append((count, span.basis()))
    return found


def chain(basis: np.ndarray, counts: np.ndarray) -> list[frozenset[int]]:
    """V_1, V_2, … of an adapted basis."""
    sets: list[frozenset[int]] = []
    for count, space in reversed(levels(basis, counts)):
        sets += [space] * (count - len(sets))
    return sets


def combinations(rng: np.random.Generator, number: int, basis: np.ndarray) -> np.ndarray:
    """Random sums of rows; floats add fast, and exactly for so few."""
    names = rng.integers(0, 2, (number, len(basis)))
    return (names.astype(np.float32) @ basis.astype(np.float32) % 2).astype(int)


def sample(kind: str, number: int, dim: int, seed: int) -> np.ndarray:
    """Packed rows of one of the ``KINDS``."""
    rng = np.random.default_rng([seed, dim, KINDS.index(kind)])
    uniform = rng.integers(0, 2, (number, dim))
    small = rng.integers(0, 2, (max(1, dim // 2), dim))
    if kind == "lowrank":
        X = combinations(rng, number, small)
    elif kind == "planted":
        X = np.where(rng.random((number, 1)) < 0.05, uniform, combinations(rng, number, small))
    elif kind == "skewed":
        X = np.eye(dim, dtype=int)[np.minimum(rng.geometric(0.5, number), dim) - 1]
    elif kind == "zipf":
        law = 1 / np.arange(1, dim + 1)
        X = rng.integers(0, 2, (dim, dim))[rng.choice(dim, number, p=law / law.sum())]
    elif kind == "ties":
        X = small[rng.integers(0, len(small), (number, 2))].sum(axis=1) % 2
    elif kind == "repeats":
        X = np.repeat(uniform, 3, axis=0)[:number]
    elif kind == "change":
        X = np.concatenate([uniform[: number // 2], combinations(rng, number, small)])[:number]
    elif kind == "sparse":
        X = np.zeros((number, dim), int)
        X[np.arange(number)[:, None], rng.integers(0, dim, (number, 3))] = 1
    elif kind == "again":
        law = np.arange(1, 5 * dim + 1) ** -1.2
        X = rng.integers(0, 2, (5 * dim, dim))[rng.choice(5 * dim, number, p=law / law.sum())]
    else:
        X = uniform
    return pack(X)
