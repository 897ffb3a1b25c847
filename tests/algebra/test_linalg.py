"""RREF, rank and null space against python-flint, on random matrices of every shape."""

from fractions import Fraction

import flint
import numpy as np
import pytest

from flagstone.algebra.subspace import Subspace
from tests.algebra.flint_field import FlintField

SHAPES = [(1, 1), (3, 7), (7, 3), (12, 12), (40, 25), (25, 70), (80, 130), (150, 200)]
PRIMES = [2, 3, 5, 251, 65521, 2**31 - 1]
POWERS = [4, 8, 9, 256, 3**5]


def matrix(order, shape, rank, seed):
    """Random entries, as a product of thin factors when a rank is given, with some zero columns."""
    random = np.random.RandomState(seed)
    X = random.randint(0, order, size=shape)
    if rank is not None:
        X[rank:] = X[random.randint(0, max(rank, 1), size=max(shape[0] - rank, 0))][
            : max(shape[0] - rank, 0)
        ]
    X[:, random.randint(0, shape[1], size=shape[1] // 4)] = 0
    return X


def cases():
    for i, shape in enumerate(SHAPES):
        for rank in (None, min(shape) // 2):
            yield pytest.param(shape, rank, 17 * i, id=f"{shape[0]}x{shape[1]}-{rank or 'any'}")


@pytest.mark.parametrize(("shape", "rank", "seed"), list(cases()))
@pytest.mark.parametrize("p", PRIMES)
def test_prime_fields_agree_with_flint(p, shape, rank, seed):
    X = matrix(p, shape, rank, seed)
    theirs, their_rank = flint.nmod_mat(*shape, X.ravel().tolist(), p).rref()
    V = Subspace.span(X, p)
    expected = [[int(theirs[i, j]) for j in range(shape[1])] for i in range(their_rank)]
    assert V.dim == their_rank
    assert V.basis.tolist() == expected
    kernel, nullity = flint.nmod_mat(*shape, X.ravel().tolist(), p).nullspace()
    columns = [[int(kernel[i, j]) for i in range(shape[1])] for j in range(nullity)]
    assert V.annihilator() == Subspace.span(np.array(columns).reshape(nullity, shape[1]), p)


@pytest.mark.parametrize(("shape", "rank", "seed"), list(cases())[:10])
@pytest.mark.parametrize("order", [2, *POWERS])
def test_finite_fields_agree_with_flint(order, shape, rank, seed):
    X = matrix(order, shape, rank, seed)
    theirs = FlintField(order)
    reduced = theirs.row_reduce(X)
    V = Subspace.span(X, order)
    assert np.array_equal(V.basis, reduced)
    checks = V.annihilator().basis
    assert len(checks) == shape[1] - len(reduced)
    assert np.array_equal(theirs.row_reduce(checks), checks)
    assert theirs.annihilates(reduced, checks)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (7, 3), (12, 12), (20, 15)])
@pytest.mark.parametrize("rank", [None, 2])
def test_rationals_agree_with_flint(shape, rank):
    random = np.random.RandomState(shape[0])
    X = [
        [Fraction(int(random.randint(-9, 10)), int(random.randint(1, 9))) for _ in range(shape[1])]
        for _ in range(shape[0])
    ]
    if rank is not None:
        X = [X[i % min(rank, len(X))] for i in range(len(X))]
    entries = [flint.fmpq(a.numerator, a.denominator) for row in X for a in row]
    theirs, their_rank = flint.fmpq_mat(*shape, entries).rref()
    V = Subspace.span(X, "QQ")
    assert V.dim == their_rank
    assert [[flint.fmpq(a.numerator, a.denominator) for a in row] for row in V.basis] == [
        [theirs[i, j] for j in range(shape[1])] for i in range(their_rank)
    ]
    products = [
        sum(a * b for a, b in zip(row, h, strict=True)) for row in X for h in V.annihilator().basis
    ]
    assert not any(products)
    assert V.annihilator().dim == shape[1] - their_rank


def test_many_rows_of_low_rank():
    """A tall matrix whose last row alone adds a dimension: stopping early must not miss it."""
    for order in (2, 7, 256):
        X = np.zeros((5000, 70), dtype=int)
        X[:4999, :3] = np.random.RandomState(order).randint(0, order, size=(4999, 3))
        X[4999, 69] = 1
        assert Subspace.span(X, order).dim == 4
