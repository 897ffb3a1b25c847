"""Serial dependence: are neighbouring rows more alike than independent rows?"""

from __future__ import annotations

import math

import numpy as np

from flagstone.algebra.fields import Array

#: The distance at which equal rows are counted for comparison, and the least that is worth a word.
_APART, _LEAST = 37, 12
#: How many of the first rows are compared for likeness, and the memory they may take.
_HEAD, _HEAD_BYTES = 3072, 1 << 18
#: Independent rows are called alike with at most this probability.
_FALSE_ALARMS = 1e-6
#: The number of ones of each byte, and what adds those of eight bytes up in the last of them.
_ONES = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)
_EACH, _LAST = np.uint64(0x0101010101010101), np.uint64(56)


def first_of_runs(matrix: Array) -> Array:
    """Say of each row whether it differs from the row before it."""
    first = np.ones(len(matrix), dtype=bool)
    first[1:] = (matrix[1:] != matrix[:-1]).any(axis=1)
    return first


class SerialDependence:
    """Counts pairs of equal rows, and how alike rows are, side by side and some way apart.

    For independent rows both are equally likely: the chance of two draws to be equal. A sender that
    repeats each frame makes many pairs side by side, and no more than chance farther apart. A
    reading that drifts makes neighbours alike, though not equal. Of ``pairs`` of each kind that
    were looked at, ``beside`` and ``apart`` were equal.

    Independent rows drift with probability at most 10⁻⁶. Of disjoint triples (a, b, c), b beside a
    and c far away, let D be in how many entries a agrees with b, less those in which it agrees with
    c. Exchanging b and c turns the sign of D over, so that given all |D| the signs are fair coins,
    and Hoeffding's bound has P[ΣD ≥ s·√ΣD²] ≤ exp(−s²/2).

    >>> rows = np.random.RandomState(1).randint(0, 2, size=(1000, 20))
    >>> SerialDependence().update(rows).beyond_chance
    False
    >>> SerialDependence().update(np.repeat(rows, 3, 0)).beyond_chance
    True
    """

    def __init__(self) -> None:
        self.pairs = self.beside = self.apart = 0
        self._last: Array | None = None  # rows that have no row so far behind them yet
        self._head: list[Array] = []
        self._n_head = self._likeness = self._squares = 0

    def update(self, matrix: Array) -> SerialDependence:
        """Look at more rows, as the array that kernels take, and return self.

        However rows are cut into batches, the same pairs are looked at.
        """
        room = min(_HEAD, _HEAD_BYTES // max(1, matrix[:1].nbytes)) - self._n_head
        if room > 0 and len(matrix):
            self._head.append(matrix[:room].copy())
            self._n_head += len(self._head[-1])
        last = matrix[:0] if self._last is None else self._last
        across = np.concatenate([last, matrix[:_APART]])
        self._look(across)
        self._look(matrix)
        self._last = (across if len(matrix) < _APART else matrix)[-_APART:].copy()
        return self

    def merge(self, other: SerialDependence) -> SerialDependence:
        """Return the counts of both; no pair has one row here and the other there."""
        both = SerialDependence()
        both.pairs, both.beside, both.apart = (
            self.pairs + other.pairs,
            self.beside + other.beside,
            self.apart + other.apart,
        )
        for part in (self, other):
            likeness, squares = part._alike()
            both._likeness += likeness
            both._squares += squares
        return both

    def _alike(self) -> tuple[int, int]:
        """Return ΣD and ΣD²."""
        if not self._head:
            return self._likeness, self._squares
        head = np.concatenate(self._head)
        n = len(head) // 3
        a, b, c = (head[i : 3 * n : 3] for i in range(3))
        D = _agreements(a, b) - _agreements(a, np.roll(c, -(n // 2), axis=0))
        return self._likeness + int(D.sum()), self._squares + int((D * D).sum())

    @property
    def drifts(self) -> bool:
        """Whether rows side by side are more alike than independent ones ever are."""
        likeness, squares = self._alike()
        return likeness > math.sqrt(2 * math.log(1 / _FALSE_ALARMS) * squares)

    def _look(self, matrix: Array) -> None:
        pairs = len(matrix) - _APART
        if pairs > 0:
            here = matrix[:pairs]
            self.pairs += pairs
            self.beside += _equal(here, matrix[1 : pairs + 1])
            self.apart += _equal(here, matrix[_APART:])

    @property
    def beyond_chance(self) -> bool:
        """Whether rows side by side are equal far more often than others."""
        noise = math.sqrt(self.beside + self.apart + 1)
        return self.beside >= _LEAST and self.beside - self.apart > 8 * noise

    def __str__(self) -> str:
        beside, apart = (100 * n / max(1, self.pairs) for n in (self.beside, self.apart))
        return (
            f"rows repeat in runs: {beside:.3g} % equal the row before them, but only "
            f"{apart:.3g} % the row {_APART} places before"
        )


def _equal(left: Array, right: Array) -> int:
    """How many rows are equal; most differ in their first entry, and are not looked at further."""
    some = np.flatnonzero(left[:, 0] == right[:, 0])
    return int((left.take(some, axis=0) == right.take(some, axis=0)).all(axis=1).sum())


def _agreements(left: Array, right: Array) -> Array:
    """In how many entries rows agree; packed rows bit by bit, and less their number of bits."""
    if left.dtype != np.uint64:
        return np.asarray((left == right).sum(axis=1))
    ones = _ONES.take((left ^ right).view(np.uint8)).view(np.uint64) * _EACH >> _LAST
    return np.asarray(-sum(word.astype(np.int64) for word in ones.T))
