"""Short equations: a basis of a space of equations in which most have few terms."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from flagstone.algebra import GF, Array, Field, Subspace

#: This many orders of the columns, each of which shows other short equations.
TURNS = 16
#: Sums of this many rows are tried where no more rows than this are there.
_DEEP, _WIDE = 32, 128
#: In larger systems equations stay as they are: looking for shorter ones takes too long. By field:
#: GF(2), other finite fields, and QQ.
_MOST_CELLS = {"bits": 1 << 19, "finite": 1 << 17, "rational": 1 << 13}
#: Over QQ, the most bits of all numerators and denominators of one echelon form: other orders of
#: the columns may make them very much longer.
_MOST_BITS = 1 << 15


def short_equations(equations: Array, field: Field) -> Array:
    """Return a basis of the space of equations (a | b) with fewer terms, by a bounded search.

    A function of the space alone. The equations themselves are returned where the search finds
    nothing shorter, or where they are too many; else the others, in the order of their columns.

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
        rows = sparse_basis(equations)
    else:
        forms = [equations]
        for turn in range(TURNS):
            if kind == "rational" and _bits(forms[-1]) > _MOST_BITS:
                return equations
            forms.append(turned(equations, field, turn))
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


def turned(equations: Array, field: Field, turn: int) -> Array:
    """Return the echelon form by another order of the columns, with a first coefficient of 1."""
    width = equations.shape[1] - 1
    order = np.roll(np.arange(width), -turn * max(1, width // TURNS))
    order = np.concatenate([order if turn % 2 else order[::-1], [width]])
    echelon = Subspace.span(equations[:, order], field).basis
    back = np.empty_like(echelon)
    back[:, order] = echelon
    first = back[np.arange(len(back)), (back != 0).argmax(axis=1)]
    return field.mul(back, field.inv(first)[:, np.newaxis])


def sparse_basis(equations: Array) -> Array:
    """Return a basis of the space of equations (a | b) over GF(2), lightest first.

    The reduced echelon form belongs to one order of the columns; other orders show other light
    combinations. Some fixed ones are tried, with the sums of two or three of their rows, and the
    lightest independent ones are kept. Deterministic, and never heavier than the echelon form.
    """
    found: set[tuple[int, ...]] = set()
    k, width = len(equations), equations.shape[1]
    if not k:
        return equations
    for turn in range(TURNS):
        depth = 3 if k <= _DEEP else 2 if k <= _WIDE else 1
        rows = turned(equations, GF(2), turn).tolist()
        words = [int("".join(map(str, row)), 2) for row in rows]
        for n in range(1, depth + 1):
            for group in combinations(words, n):
                total = 0
                for word in group:
                    total ^= word
                found.add((((total >> 1).bit_count()), -total))
    kept: list[int] = []
    pivots: dict[int, int] = {}
    for _, negative in sorted(found):
        row = rest = -negative
        while rest and (top := rest.bit_length()) in pivots:
            rest ^= pivots[top]
        if rest:
            pivots[rest.bit_length()] = rest
            kept.append(row)
        if len(kept) == k:
            break
    bits = [[row >> i & 1 for i in reversed(range(width))] for row in kept]
    return np.array(bits, dtype=equations.dtype)
