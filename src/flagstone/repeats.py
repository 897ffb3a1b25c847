"""Repeats: do equal rows follow each other more often than rows that were drawn one by one do?"""

from __future__ import annotations

import math

import numpy as np

from flagstone.fields import Array

__all__ = ["Repeats", "first_of_runs"]

#: The distance at which equal rows are counted for comparison, and the least that is worth a word.
_APART, _LEAST = 37, 12


def first_of_runs(matrix: Array) -> Array:
    """Say of each row whether it differs from the row before it.

    >>> first_of_runs(np.array([[1, 0], [1, 0], [1, 1]])).tolist()
    [True, False, True]
    """
    first = np.ones(len(matrix), dtype=bool)
    first[1:] = (matrix[1:] != matrix[:-1]).any(axis=1)
    return first


class Repeats:
    """Counts pairs of equal rows, side by side and some way apart.

    For independent rows both are equally likely: the chance of two draws to be equal. A sender
    that repeats each frame makes many pairs side by side, and no more than chance farther apart.

    Attributes
    ----------
    pairs, beside, apart : int
        Pairs of each kind that were looked at, and how many of them were equal.

    Examples
    --------
    >>> rows = np.random.RandomState(1).randint(0, 2, size=(1000, 20))
    >>> Repeats().update(rows).beyond_chance, Repeats().update(np.repeat(rows, 3, 0)).beyond_chance
    (False, True)
    """

    def __init__(self) -> None:
        self.pairs = self.beside = self.apart = 0
        self._last: Array | None = None  # rows that have no row so far behind them yet

    def update(self, matrix: Array) -> Repeats:
        """Look at more rows, as the array that kernels take, and return self.

        However rows are cut into batches, the same pairs are looked at.
        """
        last = matrix[:0] if self._last is None else self._last
        across = np.concatenate([last, matrix[:_APART]])
        self._look(across)
        self._look(matrix)
        self._last = (across if len(matrix) < _APART else matrix)[-_APART:].copy()
        return self

    def merge(self, other: Repeats) -> Repeats:
        """Return the counts of both; no pair has one row here and the other there."""
        both = Repeats()
        both.pairs, both.beside, both.apart = (
            self.pairs + other.pairs,
            self.beside + other.beside,
            self.apart + other.apart,
        )
        return both

    def _look(self, matrix: Array) -> None:
        pairs = len(matrix) - _APART
        if pairs > 0:
            here = matrix[:pairs]
            self.pairs += pairs
            self.beside += int((here == matrix[1 : pairs + 1]).all(axis=1).sum())
            self.apart += int((here == matrix[_APART:]).all(axis=1).sum())

    @property
    def beyond_chance(self) -> bool:
        """Whether rows side by side are equal far more often than others."""
        noise = math.sqrt(self.beside + self.apart + 1)
        return self.beside >= _LEAST and self.beside - self.apart > 8 * noise

    def __str__(self) -> str:
        share, chance = (100 * n / max(1, self.pairs) for n in (self.beside, self.apart))
        equal = f"{share:.3g} % equal the row before them"
        return f"rows repeat in runs: {equal}, where chance makes {chance:.3g} %"
