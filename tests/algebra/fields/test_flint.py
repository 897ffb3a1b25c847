"""QQ: exact at any size, against flint and the definition.

The comparisons with the oracle are in tests/native/test_families.py.
"""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest

from flagstone.algebra.fields import _flint as rational


def fractions(rows: list[list[object]]) -> np.ndarray:
    out = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        out[i] = [Fraction(x) for x in row]  # type: ignore[call-overload]
    return out


def hilbert(n: int) -> np.ndarray:
    """Return the matrix of 1 / (i + j + 1): invertible, and hopeless in floating point."""
    return fractions([[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)])


@pytest.mark.parametrize(("rows", "dim"), [(1, 1), (4, 9), (9, 4), (200, 6), (64, 30), (65, 32)])
def test_rref_agrees_with_flint(rows: int, dim: int) -> None:
    rng = np.random.default_rng(rows)
    M = fractions(rng.integers(-3, 4, (rows, dim)).tolist())
    M[:, dim // 2 + 1 :] = M[:, :1]
    theirs, rank = flint.fmpq_mat(
        rows, dim, [flint.fmpq(x.numerator, x.denominator) for x in M.ravel()]
    ).rref()
    R, pivots = rational.rref(M.shape[1], M)
    assert len(R) == rank
    for i in range(rank):
        assert [(x.numerator, x.denominator) for x in R[i]] == [
            (int(theirs[i, j].p), int(theirs[i, j].q)) for j in range(dim)
        ]
        assert R[i, pivots[i]] == 1
    assert not rational.reduce(M, R, pivots).any()


def test_a_late_row_still_raises_the_rank() -> None:
    """A tall matrix is folded block by block; what is new may come in the last one."""
    M = fractions([[1, 2, 3]] * 300 + [[0, 0, 5]])
    R, pivots = rational.rref(M.shape[1], M)
    assert R.tolist() == [[1, 2, 0], [0, 0, 1]]
    assert pivots.tolist() == [0, 2]


def test_hilbert_matrices_have_full_rank() -> None:
    n = 14
    state = rational.RationalFlag(n)
    state.insert(np.concatenate([hilbert(n), hilbert(n)[::-1]]), None)
    basis, counts = state.dump()
    assert counts.tolist() == [2] * n
    assert len(rational.rref(n, basis)[0]) == n
    assert all(isinstance(x, Fraction) for x in basis.ravel())


def test_entries_do_not_swell_with_the_number_of_rows() -> None:
    """Rows of the chain are quotients of minors of few sample rows, however many were seen."""
    rng = np.random.default_rng(1)
    X = fractions(rng.integers(-9, 10, (400, 6)).tolist())
    state = rational.RationalFlag(6)
    state.insert(X[:60], None)
    early = sum(len(str(x)) for x in state.dump()[0].ravel())
    state.insert(X[60:], None)
    assert sum(len(str(x)) for x in state.dump()[0].ravel()) < 2 * early


def test_a_large_weight_costs_one_step() -> None:
    state = rational.RationalFlag(2)
    X = fractions([[1, 1], [1, 0], [1, 1]])
    state.insert(X, np.array([2, 10**15, 10**12]))
    basis, counts = state.dump()
    assert counts.tolist() == [10**15, 10**12 + 2]
    assert rational.rref(2, basis[:1])[0].tolist() == [[1, 0]]


def test_dot_is_exact() -> None:
    n = 12
    inverse = flint.fmpq_mat(
        n, n, [flint.fmpq(x.numerator, x.denominator) for x in hilbert(n).ravel()]
    ).inv()
    W = fractions([[Fraction(int(x.p), int(x.q)) for x in row] for row in inverse.tolist()])
    assert (rational.dot(hilbert(n), W.T) == np.eye(n, dtype=int)).all()
