"""What the GF(2) kernel tests share: rows as Python integers, the partition by definition, data.

The oracle of the other families lists vectors or works on lists; rows of 512 bits need integers.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

#: Widths around every number of words and vectors.
WIDTHS = (1, 2, 7, 8, 9, 20, 63, 64, 65, 127, 128, 129, 192, 193, 255, 256, 257, 384, 385, 449)

KINDS = (
    "uniform", "lowrank", "planted", "skewed", "zipf",
    "ties", "repeats", "change", "sparse", "again",
)  # fmt: skip


def pack(X: np.ndarray) -> np.ndarray:
    """Rows of 0 and 1 as packed words."""
    octets = np.packbits(X.astype(np.uint8), axis=1, bitorder="little")
    words = np.zeros((len(X), max(1, -(-X.shape[1] // 64)) * 8), np.uint8)
    words[:, : octets.shape[1]] = octets
    return words.view(np.uint64)


def unpack(words: np.ndarray, dim: int) -> np.ndarray:
    """Packed words as rows of 0 and 1."""
    return np.unpackbits(words.view(np.uint8), axis=1, count=dim, bitorder="little")


def integers(words: np.ndarray) -> list[int]:
    """Packed rows as integers; bit i is column i."""
    return [int.from_bytes(row.tobytes(), "little") for row in words]


class Span:
    """A subspace that grows; one row per leading (lowest) bit."""

    def __init__(self, vectors: list[int] | tuple[int, ...] = ()) -> None:
        self.rows: dict[int, int] = {}
        for vector in vectors:
            self.add(vector)

    def residual(self, vector: int) -> int:
        while vector and (vector & -vector) in self.rows:
            vector ^= self.rows[vector & -vector]
        return vector

    def add(self, vector: int) -> bool:
        """Add a vector; whether the span grew."""
        vector = self.residual(vector)
        if vector:
            self.rows[vector & -vector] = vector
        return bool(vector)

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Span)
        return len(self.rows) == len(other.rows) and not any(
            other.residual(vector) for vector in self.rows.values()
        )

    __hash__ = None  # type: ignore[assignment]


def partition(rows: list[int], weights: list[int] | None = None) -> list[Span]:
    """V_1, V_2, … of the stable partition: each vector goes to the first set that misses it."""
    return _partition(tuple(rows), None if weights is None else tuple(weights))


@lru_cache(maxsize=8)  # the versions of a kernel get the same rows one after another
def _partition(rows: tuple[int, ...], weights: tuple[int, ...] | None) -> list[Span]:
    sets: list[Span] = []
    for i, row in enumerate(rows):
        copies = 1 if weights is None else weights[i]
        j = 0
        while row and copies > 0:
            if j == len(sets):
                sets.append(Span())
            copies -= sets[j].add(row)
            j += 1
    return sets


def chain(basis: np.ndarray, counts: np.ndarray) -> list[Span]:
    """V_1, V_2, … of an adapted basis; checks that it is one, with falling counts."""
    assert counts.dtype == np.int64
    assert basis.dtype == np.uint64
    assert basis.flags.c_contiguous
    assert np.all(np.diff(counts) <= 0)
    assert np.all(counts > 0)
    sets = [Span() for _ in range(counts[0])] if len(counts) else []
    for vector, count in zip(integers(basis), counts, strict=True):
        assert all(sets[j].add(vector) for j in range(count))
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
