"""Relations among the bits of frames, and ranks over GF(2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from flagstone.algebra import Array, Subspace


@dataclass(frozen=True)
class Relation:
    """The sum of some columns is 0 or 1.

    Examples
    --------
    >>> print(Relation((36, 37), 1).text([f"x{i}" for i in range(40)]))
    x36 ⊕ x37 = 1
    """

    columns: tuple[int, ...]
    value: int

    def text(self, names: tuple[str, ...] | list[str]) -> str:
        """Return the relation for people."""
        return f"{' ⊕ '.join(names[i] for i in self.columns)} = {self.value}"

    @classmethod
    def of_row(cls, row: Array) -> Relation:
        """Return the relation that a row (a | b) stands for."""
        return cls(tuple(np.flatnonzero(row[:-1]).tolist()), int(row[-1]))

    def broken(self, X: Array) -> Array:
        """Say of each row of bits whether it breaks the relation."""
        odd = X[:, list(self.columns)].sum(axis=1) & 1
        return np.asarray(odd != self.value)


def rank(rows: Array) -> int:
    """Return the rank over GF(2) of a 0/1 matrix."""
    return Subspace.span(rows).dim if rows.size else 0


def independent(words: Iterable[int]) -> bool:
    """Say whether numbers, read as vectors of bits, are linearly independent.

    >>> independent([0b01, 0b11]), independent([0b01, 0b11, 0b10])
    (True, False)
    """
    pivots: dict[int, int] = {}
    for word in words:
        rest = word
        while rest and (top := rest.bit_length()) in pivots:
            rest ^= pivots[top]
        if not rest:
            return False
        pivots[rest.bit_length()] = rest
    return True
