"""Subspaces are canonical values: a lattice, with annihilators, and affine ones on top."""

import hashlib
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra import AffineSubspace, Subspace
from flagstone.errors import InputError
from tests import naive
from tests.bridge import plain, space_of, subspace_of
from tests.strategies import ORDERS, WIDTHS, sample_pairs, samples, table, vectors


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_basis_is_the_reduced_row_echelon_form(order, data):
    sample = data.draw(samples(order))
    V = subspace_of(sample)
    expected = naive.rref(sample.space.F, [sample.space.vector(row) for row in sample.rows])
    assert plain(order, V.basis) == list(expected)
    assert (V.dim, V.ambient_dim) == (len(expected), sample.dim)
    assert V.pivots == tuple(next(i for i, a in enumerate(row) if a) for row in expected)


@pytest.mark.parametrize("dim", WIDTHS)
@given(data=st.data())
def test_lattice_at_every_width(dim, data):
    one, two = data.draw(sample_pairs(2, dim=dim))
    assert_lattice(one, two)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_lattice(order, data):
    """Sum, meet, order and annihilator are those of the sets of vectors."""
    one, two = data.draw(sample_pairs(order))
    assert_lattice(one, two)


def assert_lattice(one, two):
    space, V, W = one.space, subspace_of(one), subspace_of(two)
    U, T = space_of(space, V), space_of(space, W)
    assert U == space.span(one.rows)
    assert space_of(space, V + W) == space.sum(U, T)
    assert space_of(space, V & W) == space.meet(U, T)
    assert (V <= W) == space.within(U, T)
    assert (V >= W) == space.within(T, U)
    assert (V < W) == (space.within(U, T) and U != T)
    assert (V > W) == (space.within(T, U) and U != T)
    assert (V == W) == (U == T)
    assert space_of(space, V.annihilator()) == space.annihilator(U)
    assert V.annihilator().annihilator() == V
    assert (V + W).annihilator() == V.annihilator() & W.annihilator()
    assert V.dim + W.dim == (V + W).dim + (V & W).dim


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_contains_and_reduce(order, data):
    """A row lies in V iff its representative is 0; representatives differ by elements of V."""
    one, two = data.draw(sample_pairs(order))
    V, space = subspace_of(one), one.space
    U = space.span(one.rows)
    assert V.contains(two.X).tolist() == [space.contains(U, row) for row in two.rows]
    residuals = plain(order, V.reduce(two.X))
    for row, residual in zip(two.rows, residuals, strict=True):
        assert not any(residual[pivot] for pivot in V.pivots)
        minus = space.F.neg(space.F.one)
        assert space.contains(U, space.axpy(minus, residual, space.vector(row)))
    assert V.contains(one.X).all()


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_equal_spaces_are_equal_values(order, data):
    """Whatever the generators: same hash, same fingerprint, same pickle."""
    sample = data.draw(samples(order))
    V = subspace_of(sample)
    shuffled = sample.having(data.draw(st.permutations(sample.rows)))
    sums = sample.having(
        [
            *shuffled.rows,
            *(
                sample.space.axpy(sample.space.F.one, a, b)
                for a, b in zip(sample.rows, shuffled.rows, strict=True)
            ),
        ]
    )
    for other in (subspace_of(sums), pickle.loads(pickle.dumps(V))):
        assert other == V
        assert hash(other) == hash(V)
        assert other.fingerprint() == V.fingerprint()
    outside = data.draw(vectors(order, sample.dim))
    larger = V + Subspace.span(table(order, sample.dim, [outside]), order)
    assert (larger.fingerprint() == V.fingerprint()) == bool(
        V.contains(table(order, sample.dim, [outside]))[0]
    )


def test_zero_and_full():
    for order in ORDERS:
        zero, full = Subspace.zero(3, order), Subspace.full(3, order)
        assert (zero.dim, full.dim) == (0, 3)
        assert zero.annihilator() == full
        assert full.annihilator() == zero
        assert Subspace.span(np.zeros((0, 3), dtype=int), order, dim=3) == zero
        assert zero <= full
        assert full.basis.tolist() == np.eye(3, dtype=int).tolist()


@pytest.mark.parametrize(
    ("rows", "order", "text"),
    [
        ([[1, 0, 1]], 2, "field GF(2)\nambient 3\ndim 1\n1 0 1\n"),
        ([[2, 4], [1, 1]], 7, "field GF(7)\nambient 2\ndim 2\n1 0\n0 1\n"),
        ([[3, 200, 17]], 256, "field GF(2^8)\nambient 3\ndim 1\n1 {} {}\n"),
        ([["1/2", "-3/4"]], "QQ", "field QQ\nambient 2\ndim 1\n1 -3/2\n"),
        (np.zeros((0, 5), dtype=int), 2, "field GF(2)\nambient 5\ndim 0\n"),
    ],
)
def test_fingerprint_can_be_recomputed_by_anyone(rows, order, text):
    """SHA-256 over a documented text, here written by hand."""
    if order == 256:
        F = naive.field(256)
        third = F.inv(3)
        text = text.format(F.mul(third, 200), F.mul(third, 17))
    V = Subspace.span(rows, order, dim=len(rows[0]) if len(rows) else 5)
    digest = hashlib.sha256(("flagstone subspace v1\n" + text).encode()).hexdigest()
    assert V.fingerprint() == digest


def test_fingerprint_is_frozen():
    """A change of format must be a decision, not an accident."""
    V = Subspace.span([[1, 1, 0], [0, 1, 1]])
    assert V.fingerprint() == "29805fc59fc8ad6bf534a9d2249fd6e5f86802287fd480da992254771f6e48e9"


def test_values_are_immutable():
    V = Subspace.span([[1, 2], [0, 1]], 5)
    with pytest.raises(AttributeError):
        V.field = None
    with pytest.raises(ValueError, match="read-only"):
        V.basis[0, 0] = 3


def test_different_spaces_do_not_mix():
    V = Subspace.full(2)
    for W in (Subspace.full(3), Subspace.full(2, 3)):
        assert V != W
        with pytest.raises(InputError, match="different spaces"):
            V + W
        with pytest.raises(InputError, match="different spaces"):
            V & W
        with pytest.raises(InputError, match="different spaces"):
            V <= W  # noqa: B015


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_affine_subspace_of_points(order, data):
    """{x : (x, 1) ∈ span of (p, 1)} holds exactly the affine combinations of the points p."""
    one, two = data.draw(sample_pairs(order, max_rows=5))
    space, F = one.space, one.space.F
    lifted = [(*row, F.one) for row in one.rows]
    A = AffineSubspace.from_homogeneous(
        Subspace.span(table(order, one.dim + 1, lifted), order, dim=one.dim + 1)
    )
    assert A.is_empty == (not one.rows)
    assert A.ambient_dim == one.dim
    if A.is_empty:
        assert A == AffineSubspace.empty(one.dim, order)
        assert (A.dim, len(A.points())) == (-1, 0)
        assert not A.contains(two.X).any()
        return
    minus = F.neg(F.one)
    first = space.vector(one.rows[0])
    direction = space.span([space.axpy(minus, first, space.vector(row)) for row in one.rows])
    assert space_of(space, A.direction) == direction
    assert A.dim == space.size(direction)
    assert A.contains(one.X).all()
    inside = [space.contains(direction, space.axpy(minus, first, row)) for row in two.rows]
    assert A.contains(two.X).tolist() == inside
    assert A == AffineSubspace.from_point(one.X[-1], A.direction)
    assert hash(A) == hash(AffineSubspace.from_point(one.X[-1], A.direction))
    assert pickle.loads(pickle.dumps(A)) == A


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_affine_subspace_by_equations_and_points(order, data):
    one, two = data.draw(sample_pairs(order, max_rows=5))
    space = one.space
    point = data.draw(vectors(order, one.dim))
    A = AffineSubspace.from_point(table(order, one.dim, [point])[0], subspace_of(one))
    M, b = A.equations()
    assert len(M) == one.dim - A.dim
    right = plain(order, np.reshape(b, (1, -1)))[0]
    for row, inside in zip(two.rows, A.contains(two.X).tolist(), strict=True):
        left = tuple(space.dot(a, space.vector(row)) for a in plain(order, M))
        assert inside == (left == right)
    points = A.points()
    assert len(points) == A.dim + 1
    assert A.contains(points).all()
    assert A.contains(table(order, one.dim, [point])).all()
    homogeneous = np.concatenate([points, table(order, 1, [(space.F.one,)] * len(points))], axis=1)
    assert AffineSubspace.from_homogeneous(Subspace.span(homogeneous, order)) == A


def test_empty_affine_subspace_says_so():
    A = AffineSubspace.empty(3)
    assert A.is_empty
    assert "empty" in repr(A)
    with pytest.raises(InputError, match="empty"):
        A.point  # noqa: B018
    M, b = A.equations()
    assert not M.any()
    assert b.tolist() == [1]
    assert A != AffineSubspace.from_point([0, 0, 0], Subspace.zero(3))
    assert A.fingerprint() != AffineSubspace.from_point([0, 0, 0], Subspace.zero(3)).fingerprint()


def test_a_linear_subspace_without_ones_has_no_affine_part():
    V = Subspace.span([[1, 0, 0], [0, 1, 0]])
    assert AffineSubspace.from_homogeneous(V).is_empty


def test_rationals_stay_exact():
    V = Subspace.span([["1/3", "0.1"], [10**30, 1]], "QQ")
    assert V.dim == 2
    W = Subspace.span([[Fraction(1, 3), Fraction(1, 10)]], "QQ")
    assert W.basis.tolist() == [[Fraction(1), Fraction(3, 10)]]
