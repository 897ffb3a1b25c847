"""Rows over GF(p) and GF(p^k) in plain NumPy: arithmetic, linear algebra and counted flags.

An element of GF(p^k) is the integer whose base-p digit i is the coefficient of x^i. Arrays hold
elements in the smallest unsigned dtype for q − 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Counts = NDArray[np.int64]


class ArrayField:
    """The arithmetic of GF(p^k), elementwise on arrays, and the linear algebra over it.

    Parameters
    ----------
    p, k : int
        Characteristic and degree.
    polynomial : sequence of int
        For k > 1: the k + 1 coefficients of a monic primitive polynomial, constant term first.

    Examples
    --------
    GF(4) = {0, 1, x, x + 1}, in which x² = x + 1:

    >>> F = ArrayField(2, 2, [1, 1, 1])
    >>> int(F.mul(2, 2)), int(F.add(2, 3))
    (3, 1)
    """

    def __init__(self, p: int, k: int = 1, polynomial: Sequence[int] = ()) -> None:
        self.p, self.k, self.q = p, k, p**k
        self.dtype = np.min_scalar_type(self.q - 1)
        if k > 1:
            self._exp, self._log = _logarithms(p, k, polynomial)

    def add(self, a: Any, b: Any) -> Array:
        """Return a + b."""
        a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
        if self.p == 2:
            return np.asarray(a ^ b, self.dtype)
        total = np.zeros(np.broadcast_shapes(a.shape, b.shape), np.int64)
        for place in (self.p**i for i in range(self.k)):
            total += (a // place + b // place) % self.p * place
        return total.astype(self.dtype)

    def neg(self, a: Any) -> Array:
        """Return −a."""
        return self.mul(a, 1 if self.p == 2 else self.p - 1)

    def mul(self, a: Any, b: Any) -> Array:
        """Return a · b."""
        a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
        if self.k == 1:
            return np.asarray(a * b % self.p, self.dtype)
        return np.asarray(self._exp[self._log[a] + self._log[b]], self.dtype)

    def inv(self, a: Any) -> Array:
        """Return 1 / a = a^(q − 2); the inverse of 0 comes out as 0."""
        power, result, exponent = self.mul(a, 1), self.mul(np.ones_like(a), 1), self.q - 2
        while exponent > 0:
            if exponent & 1:
                result = self.mul(result, power)
            power, exponent = self.mul(power, power), exponent >> 1
        return result

    def minus(self, rows: Array, factors: Array, row: Array) -> Array:
        """Subtract from rows the multiples of one row by the factors."""
        return self.add(rows, self.mul(self.neg(factors)[:, np.newaxis], row))

    def rref(self, dim: int, M: Array) -> tuple[Array, Counts]:
        """Return the non-zero rows of the reduced row echelon form and their pivot columns."""
        rows, pivots = self._checked(M).copy(), list[int]()
        for column in range(dim):
            rank = len(pivots)
            below = np.flatnonzero(rows[rank:, column])
            if len(below):
                first = rank + int(below[0])
                pivot = self.mul(rows[first], self.inv(rows[first, column]))
                rows[first] = rows[rank]
                rows = self.minus(rows, rows[:, column], pivot)
                rows[rank] = pivot
                pivots.append(column)
        return rows[: len(pivots)], np.array(pivots, np.int64)

    def reduce(self, X: Array, R: Array, pivots: Counts) -> Array:
        """Return X minus the combinations of R, reduced echelon, that clear its pivot columns."""
        left = self._checked(X).copy()
        for row, column in zip(R, pivots.tolist(), strict=True):
            left = self.minus(left, X[:, column], row)
        return left

    def dot(self, X: Array, W: Array) -> Array:
        """Return the products ⟨x_i, w_j⟩ as an array of shape (len(X), len(W))."""
        total = np.zeros((len(X), len(W)), self.dtype)
        for column in range(self._checked(X).shape[1]):
            products = self.mul(X[:, column, np.newaxis], self._checked(W)[:, column])
            total = self.add(total, products)
        return total

    def merge(self, dim: int, X: Array, cx: Counts, Y: Array, cy: Counts) -> tuple[Array, Counts]:
        """Return an adapted basis, by falling counts, of the merge of two flags given by such.

        The two get a common adapted basis, on which counts add (docs/theory/flag.md, S5). Every y,
        by falling count, is written in the basis of X, extended with count 0 by what lies outside.
        While the last element of its support is claimed, the claimer's multiple is subtracted; then
        y claims it.
        """
        outside = [y[np.newaxis] for y in self._checked(Y)]
        basis = self._checked(X)
        for y in outside:
            if len(self.rref(dim, np.concatenate([basis, y]))[0]) > len(basis):
                basis = np.concatenate([basis, y])
        counts = [*cx.tolist(), *[0] * (len(basis) - len(X))]
        common, claims = list(basis), dict[int, Array]()
        for y, count in zip(Y, cy.tolist(), strict=True):
            coordinates = self._coordinates(y, basis)
            while (last := int(np.flatnonzero(coordinates)[-1])) in claims:
                factor = self.mul(coordinates[last], self.inv(claims[last][last]))
                coordinates = self.minus(coordinates[np.newaxis], factor[None], claims[last])[0]
                y = self.minus(y[np.newaxis], factor[None], common[last])[0]
            claims[last], common[last] = coordinates, y
            counts[last] += count
        cz = np.array(counts, np.int64)
        falling = np.argsort(-cz, kind="stable")
        return np.array(common, self.dtype).reshape(len(cz), dim)[falling], cz[falling]

    def _coordinates(self, y: Array, basis: Array) -> Array:
        """Return the coordinates of a vector in a basis of a space that holds it."""
        solved, _ = self.rref(len(basis) + 1, np.concatenate([basis, y[np.newaxis]]).T.copy())
        return solved[:, -1]

    def flag(self, dim: int) -> FiniteFlag:
        """Return the flag of no rows."""
        return FiniteFlag(self, dim)

    def flag_load(self, dim: int, basis: Array, counts: Counts) -> FiniteFlag:
        """Return the flag of an adapted basis, given by falling counts."""
        if len(basis) != len(counts) or (counts[-1:] < 1).any() or (np.diff(counts) > 0).any():
            raise ValueError("there must be one count for each row, positive and falling")
        flag = FiniteFlag(self, dim)
        flag.insert(basis, counts)
        return flag

    def _checked(self, rows: Array) -> Array:
        if rows.dtype != self.dtype or rows.ndim != 2:
            raise TypeError("rows must be in the smallest unsigned dtype that holds the elements")
        if rows.size and rows.max() >= self.q:
            raise ValueError("an element is not below the order of the field")
        return rows


class FiniteFlag:
    """The counted flag of rows over GF(p^k) (docs/theory/flag.md, S2).

    The state is a basis of the whole space with counts (unit vectors with count 0 at first), and
    the coordinates of the unit vectors in it.
    """

    def __init__(self, field: ArrayField, dim: int) -> None:
        self._field, self.dim = field, dim
        self.reset()

    def reset(self) -> None:
        """Become the flag of no rows."""
        self._basis = np.eye(self.dim, dtype=self._field.dtype)
        self._map = self._basis.copy()
        self._counts = np.zeros(self.dim, np.int64)

    def insert(self, rows: Array, weights: Counts | None = None) -> None:
        """Insert rows in their order, each ``weights[i]`` times if that is positive."""
        F, dim = self._field, self.dim
        if F._checked(rows).shape[1] != dim:
            raise ValueError("rows must have as many columns as the flag")
        times = np.ones(len(rows), np.int64) if weights is None else weights
        if len(times) != len(rows):
            raise ValueError("there must be one weight for each row")
        for start in range(0, len(rows), 32):  # 32 rows get their coordinates at once
            portion = rows[start : start + 32]
            held = np.concatenate([self._map, F.dot(portion, self._map.T.copy())])
            for i, row in enumerate(portion):
                coordinates, weight = held[dim + i], int(times[start + i])
                support = np.flatnonzero(coordinates)
                if len(support) and weight > 0:
                    # The row takes the place of an element of least count in its support.
                    element = support[self._counts[support].argmin()]
                    column = F.mul(held[:, element], F.inv(coordinates[element]))
                    held = F.minus(held, column, coordinates)
                    held[:, element] = column
                    self._basis[element] = row
                    self._counts[element] += weight
            self._map = held[:dim]

    def dump(self) -> tuple[Array, Counts]:
        """Return an adapted basis and its counts, falling."""
        falling = np.argsort(-self._counts, kind="stable")[: np.count_nonzero(self._counts)]
        return self._basis[falling], self._counts[falling]

    def copy(self) -> FiniteFlag:
        """Return a flag that shares nothing with this one."""
        other = FiniteFlag(self._field, self.dim)
        other._basis, other._map = self._basis.copy(), self._map.copy()
        other._counts = self._counts.copy()
        return other


def _logarithms(p: int, k: int, polynomial: Sequence[int]) -> tuple[Array, Array]:
    """Return powers of x, and logarithms to base x.

    The logarithm of 0 is 2(q − 1), and powers are 0 from there on: products need no test for 0.
    """
    q = p**k
    low = [-int(c) % p for c in polynomial[:k]]  # x^k in lower powers
    powers, digits = list[int](), [1] + [0] * (k - 1)
    for _ in range(q - 1):
        powers.append(sum(d * p**i for i, d in enumerate(digits)))
        carry = digits[-1]
        digits = [(d + carry * c) % p for d, c in zip([0, *digits[:-1]], low, strict=True)]
    exp = np.zeros(4 * (q - 1) + 1, np.int64)
    exp[: 2 * (q - 1)] = powers * 2
    log = np.full(q, 2 * (q - 1), np.int64)
    log[powers] = np.arange(q - 1)
    return exp, log


def finite_field(p: int, k: int = 1, polynomial: Sequence[int] = ()) -> ArrayField:
    """Return the arithmetic of GF(p^k)."""
    return ArrayField(p, k, polynomial)
