"""Linear algebra and counted flags over the rationals, exact, with python-flint inside.

Rows cross the boundary as 2-D object arrays of :class:`fractions.Fraction`. Inside, a row vector is
one flint ``fmpq_poly`` (entry i is the coefficient of x^i): flint's only dense rational vector,
which keeps itself over one common denominator and in lowest terms. Whole matrices are ``fmpq_mat``.

A flag is an *echelon chain*: rows by falling count, each with a pivot column in which it is 1 and
all later rows are 0. A new row is reduced through the chain; it takes the lead of the last class of
equal counts that it meets (docs/theory/flag.md).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly
from numpy.typing import NDArray


class RationalFlag:
    """The state of a counted flag over QQ: an echelon chain, as lists by position.

    Invariant: rows[i][pivot[i]] = 1 and rows[j][pivot[i]] = 0 for j > i; V_j is the span of the
    rows with count ≥ j.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.reset()

    def reset(self) -> None:
        """Become the flag of no rows."""
        self.rows: list[Any] = []
        self.pivot: list[int] = []
        self.counts: list[int] = []

    def copy(self) -> RationalFlag:
        """Return an independent copy (the rows themselves are never changed in place)."""
        twin = RationalFlag(self.dim)
        twin.rows, twin.pivot, twin.counts = self.rows[:], self.pivot[:], self.counts[:]
        return twin

    def dump(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return an adapted basis and its counts, falling."""
        return _array(self.rows, self.dim), np.array(self.counts, np.int64)

    def insert(self, rows: NDArray[Any], weights: NDArray[np.int64] | None) -> None:
        """Insert rows in order, each ``weights[i]`` times; zero rows and weights are skipped."""
        for i, row in enumerate(rows):
            weight = 1 if weights is None else int(weights[i])
            if weight > 0:
                self._insert(_vector(row), weight)

    def _insert(self, v: Any, weight: int) -> None:
        rows, pivot, count = self.rows, self.pivot, self.counts
        hits: list[tuple[int, Any]] = []  # per class: first hit position, residual there
        # In a chain of full rank, the last class need not be walked: what is left lies in it.
        is_full = len(rows) == self.dim
        stop = count.index(count[-1]) if is_full else len(rows)
        for i, (x, column) in enumerate(zip(rows[:stop], pivot, strict=False)):
            a = v[column]
            if a:
                if not hits or count[hits[-1][0]] != count[i]:
                    hits.append((i, v))
                v -= a * x
        if v != 0 and is_full:
            hits.append((next(i for i in range(stop, len(rows)) if v[pivot[i]]), v))
        elif v != 0:
            self.append(v, 0)
            hits.append((len(rows) - 1, v))
        if not hits:
            return
        f, residual = hits.pop()
        while weight > 0:
            start = count.index(count[f])
            self._promote(f, start, residual)
            step = weight if start == 0 else min(weight, count[start - 1] - count[start])
            count[start] += step
            weight -= step
            f = start
            if hits and count[hits[-1][0]] == count[start]:
                f, residual = hits.pop()

    def _promote(self, f: int, start: int, residual: Any) -> None:
        """Let the residual replace row f of its class and lead it, clearing the rows in between."""
        column = self.pivot.pop(f)
        del self.rows[f]
        x = residual / residual[column]
        for i in range(start, f):
            self.rows[i] -= self.rows[i][column] * x
        self.rows.insert(start, x)
        self.pivot.insert(start, column)

    def append(self, v: Any, count: int) -> int:
        """Put a reduced row at the end of the chain, scaled to 1 in a pivot column; return that."""
        column: int = v.degree()
        self.rows.append(v / v[column])
        self.pivot.append(column)
        self.counts.append(count)
        return column


def flag(dim: int) -> RationalFlag:
    """Return the flag of no rows."""
    return RationalFlag(dim)


def flag_load(dim: int, basis: NDArray[Any], counts: NDArray[np.int64]) -> RationalFlag:
    """Return the flag of an adapted basis, given by falling counts."""
    loaded = RationalFlag(dim)
    for row, count in zip(basis, counts, strict=True):
        v = _vector(row)
        for x, column in zip(loaded.rows, loaded.pivot, strict=True):
            v -= v[column] * x
        loaded.append(v, int(count))
    return loaded


def rref(dim: int, M: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the non-zero rows of the reduced row echelon form of M and their pivot columns."""
    n_rows = len(M)
    block = max(2 * dim, 64)  # a tall M is folded block by block into the rows found so far
    found = M[:0]
    pivots = np.zeros(0, np.int64)
    for start in range(0, n_rows, block):
        if len(found) == dim:
            break
        stacked = np.concatenate([found, M[start : start + block]])
        reduced, rank = _matrix(stacked).rref()
        found = _fractions(reduced)[:rank]
        pivots = np.array([np.flatnonzero(row != 0)[0] for row in found], np.int64)
    return found, pivots


def reduce(X: NDArray[Any], R: NDArray[Any], pivots: NDArray[np.int64]) -> NDArray[Any]:
    """Return X minus the combinations of R (reduced echelon) that clear its pivot columns."""
    if not (X.size and R.size):
        return X.copy()
    return _fractions(_matrix(X) - _matrix(X[:, pivots]) * _matrix(R))


def dot(X: NDArray[Any], W: NDArray[Any]) -> NDArray[Any]:
    """Return the products ⟨x_i, w_j⟩ as an array of shape (len(X), len(W))."""
    return _fractions(_matrix(X) * _matrix(W.T))


def merge(
    dim: int, X: NDArray[Any], cx: NDArray[np.int64], Y: NDArray[Any], cy: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return an adapted basis, by falling counts, of the merge of two flags given by such.

    As `ArrayField.merge`, with the chain of X for a basis.
    """
    chain = flag_load(dim, X, cx)
    common, count = list(chain.rows), list(chain.counts)
    claims: dict[int, Any] = {}  # position → coordinates of its claimer
    for row, weight in zip(Y, cy, strict=True):
        y = v = _vector(row)
        coordinates = fmpq_poly()
        for i, (x, column) in enumerate(zip(chain.rows, chain.pivot, strict=True)):
            a = v[column]
            v -= a * x
            coordinates[i] = a
        if v != 0:
            column = chain.append(v, 0)
            coordinates[len(chain.rows) - 1] = v[column]
            common.append(chain.rows[-1])
            count.append(0)
        last = coordinates.degree()
        while last in claims:
            factor = coordinates[last] / claims[last][last]
            coordinates -= factor * claims[last]
            y -= factor * common[last]
            last = coordinates.degree()
        claims[last] = coordinates
        common[last] = y
        count[last] += int(weight)
    cz = np.array(count, np.int64)
    falling = np.argsort(-cz, kind="stable")
    return _array(common, dim)[falling], cz[falling]


def text(x: Fraction) -> str:
    """Return the text of one rational as ``str`` writes it, of any length.

    >>> text(Fraction(10**5000, 3)) == "1" + 5000 * "0" + "/3"
    True
    """
    return str(fmpq(x.numerator, x.denominator))


def _vector(row: NDArray[Any]) -> Any:
    return fmpq_poly([fmpq(x.numerator, x.denominator) for x in row.tolist()])


def _array(vectors: list[Any], dim: int) -> NDArray[Any]:
    out = np.full((len(vectors), dim), Fraction(0), dtype=object)
    for i, v in enumerate(vectors):
        for j, x in enumerate(v.coeffs()):
            out[i, j] = Fraction(int(x.p), int(x.q))
    return out


def _matrix(M: NDArray[Any]) -> Any:
    return fmpq_mat(
        M.shape[0], M.shape[1], [fmpq(x.numerator, x.denominator) for x in M.ravel().tolist()]
    )


def _fractions(M: Any) -> NDArray[Any]:
    out = np.empty((M.nrows(), M.ncols()), dtype=object)
    for i, row in enumerate(M.tolist()):
        out[i] = [Fraction(int(x.p), int(x.q)) for x in row]
    return out
