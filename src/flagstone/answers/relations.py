"""Short equations: a basis of a space of equations in which most have few terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from flagstone.algebra import GF, Array, Field, Subspace

#: This many orders of the columns, each of which shows other short equations.
_TURNS = 16
#: Sums of this many rows are tried where no more rows than this are there.
_DEEP, _WIDE = 32, 128
#: In larger systems equations stay as they are: looking for shorter ones takes too long. By field:
#: GF(2), other finite fields, and QQ.
_MOST_CELLS = {"bits": 1 << 19, "finite": 1 << 17, "rational": 1 << 13}
#: Over QQ, the most bits of all numerators and denominators of one echelon form: other orders of
#: the columns may make them very much longer.
_MOST_BITS = 1 << 15


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


def short_equations(equations: Array, field: Field) -> Array:
    """Return a basis of the space of equations (a | b) with fewer terms, by a bounded search.

    A function of the space alone. The equations themselves are returned where the search finds
    nothing shorter, or where they are too many; else the others, in the order of their columns.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import GF
    >>> rows = np.array([[1, 0, 1, 1, 0, 0], [0, 1, 1, 1, 1, 1]], dtype=np.uint8)
    >>> short_equations(rows, GF(2)).tolist()     # the sum of both is shorter than the second
    [[1, 1, 0, 0, 1, 1], [1, 0, 1, 1, 0, 0]]
    """
    kind = "rational" if field.order is None else "bits" if field.order == 2 else "finite"
    k, width = len(equations), equations.shape[1] - 1
    if k < 2 or equations.size > _MOST_CELLS[kind]:
        return equations
    if kind == "bits":
        rows = np.zeros_like(equations)
        for row, relation in zip(rows, sparse_basis(equations), strict=True):
            row[list(relation.columns)] = 1
            row[-1] = relation.value
    else:
        forms = [equations]
        for turn in range(_TURNS):
            if kind == "rational" and _bits(forms[-1]) > _MOST_BITS:
                return equations
            forms.append(_turned(equations, field, turn))
        found = np.concatenate(forms)
        found = found[np.argsort((found[:, :-1] != 0).sum(axis=1), kind="stable")]
        # the first rows that depend on none before them
        rows = found[list(Subspace.span(found.T, field).pivots)]
    if np.count_nonzero(rows[:, :-1] != 0) >= np.count_nonzero(equations[:, :-1] != 0):
        return equations
    columns = [tuple(np.flatnonzero(row[:width] != 0).tolist()) for row in rows]
    return rows[sorted(range(k), key=columns.__getitem__)]


def _bits(equations: Array) -> int:
    """Count the bits of all numerators and denominators."""
    return sum(
        x.numerator.bit_length() + x.denominator.bit_length() for x in equations.ravel().tolist()
    )


def _turned(equations: Array, field: Field, turn: int) -> Array:
    """Return the echelon form by another order of the columns, with a first coefficient of 1."""
    width = equations.shape[1] - 1
    order = np.roll(np.arange(width), -turn * max(1, width // _TURNS))
    order = np.concatenate([order if turn % 2 else order[::-1], [width]])
    echelon = Subspace.span(equations[:, order], field).basis
    back = np.empty_like(echelon)
    back[:, order] = echelon
    first = back[np.arange(len(back)), (back != 0).argmax(axis=1)]
    return field.mul(back, field.inv(first)[:, np.newaxis])


def sparse_basis(equations: Array) -> list[Relation]:
    """Return a basis of the space of equations (a | b), lightest first, by a bounded search.

    The reduced echelon form belongs to one order of the columns; other orders show other light
    combinations. Some fixed ones are tried, with the sums of two or three of their rows, and the
    lightest independent ones are kept. Deterministic, and never heavier than the echelon form.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1, 0, 1, 1, 0, 0], [0, 1, 1, 1, 1, 1]], dtype=np.uint8)
    >>> [r.columns for r in sparse_basis(rows)]     # their sum is lighter than the second
    [(0, 1, 4), (0, 2, 3)]
    """
    found: set[tuple[int, ...]] = set()
    k, width = len(equations), equations.shape[1] - 1
    if not k:
        return []
    for turn in range(_TURNS):
        depth = 3 if k <= _DEEP else 2 if k <= _WIDE else 1
        rows = _turned(equations, GF(2), turn).tolist()
        words = [int("".join(map(str, row)), 2) for row in rows]
        for n in range(1, depth + 1):
            for group in combinations(words, n):
                total = 0
                for word in group:
                    total ^= word
                found.add((((total >> 1).bit_count()), -total))
    kept: list[Relation] = []
    pivots: dict[int, int] = {}
    for _, negative in sorted(found):
        row = rest = -negative
        while rest and (top := rest.bit_length()) in pivots:
            rest ^= pivots[top]
        if rest:
            pivots[rest.bit_length()] = rest
            columns = tuple(i for i in range(width) if row >> (width - i) & 1)
            kept.append(Relation(columns, row & 1))
        if len(kept) == k:
            break
    return kept
