"""Fields: the arithmetic of python-flint, the spellings people use, the limits we state."""

import math
import pickle
from fractions import Fraction
from numbers import Integral

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra import BitRows, pack
from flagstone.algebra.fields import GF, QQ, as_field
from flagstone.errors import InputError
from tests import naive
from tests.algebra.flint_field import FlintField

TABLED = [2, 3, 4, 8, 9, 3**5, 251, 256]
LARGE = [2**9, 7**4, 65521, 2**16, 2**31 - 1]


@pytest.mark.parametrize("order", TABLED)
def test_tables_agree_with_flint(order):
    """Every sum, difference, product, negative and inverse, elementwise."""
    F, G = GF(order), FlintField(order)
    a = np.arange(order, dtype=F.dtype)
    x, y = a[:, np.newaxis], a[np.newaxis, :]
    u = G.elements(a)
    for ours, theirs in [
        (F.add(x, y), np.add.outer(u, u)),
        (F.sub(x, y), np.subtract.outer(u, u)),
        (F.mul(x, y), np.multiply.outer(u, u)),
        (F.neg(a), -u),
        (F.inv(a[1:]), np.array([element.inverse() for element in u[1:]])),
    ]:
        assert ours.dtype == F.dtype
        assert np.array_equal(ours, G.integers(theirs))


@pytest.mark.parametrize("order", LARGE)
def test_large_fields_agree_with_flint(order):
    """On the corners and a thousand random pairs."""
    F, G = GF(order), FlintField(order)
    random = np.random.RandomState(order % 2**31)
    corners = np.array([0, 1, 2, order // 2, order - 2, order - 1])
    a, b = np.meshgrid(
        np.r_[corners, random.randint(0, order, 30)], np.r_[corners, random.randint(0, order, 30)]
    )
    a, b = a.ravel().astype(F.dtype), b.ravel().astype(F.dtype)
    u, v = G.elements(a), G.elements(b)
    assert np.array_equal(F.add(a, b), G.integers(u + v))
    assert np.array_equal(F.sub(a, b), G.integers(u - v))
    assert np.array_equal(F.mul(a, b), G.integers(u * v))
    inverses = [element.inverse() for element in u[a != 0]]
    assert np.array_equal(F.inv(a[a != 0]), G.integers(np.array(inverses)))


@pytest.mark.parametrize("order", [4, 8, 9, 16, 25, 27])
def test_tables_agree_with_polynomials(order):
    """And with polynomial arithmetic by hand."""
    F, N = GF(order), naive.field(order)
    a = np.arange(order)
    sums = [[N.add(i, j) for j in range(order)] for i in range(order)]
    products = [[N.mul(i, j) for j in range(order)] for i in range(order)]
    assert F.add(a[:, np.newaxis], a).tolist() == sums
    assert F.mul(a[:, np.newaxis], a).tolist() == products


@pytest.mark.parametrize(
    ("spec", "name", "order", "p", "k", "dtype"),
    [
        (2, "GF(2)", 2, 2, 1, np.uint8),
        (7, "GF(7)", 7, 7, 1, np.uint8),
        ("GF(7)", "GF(7)", 7, 7, 1, np.uint8),
        ("2^8", "GF(2^8)", 256, 2, 8, np.uint8),
        ("GF(2^8)", "GF(2^8)", 256, 2, 8, np.uint8),
        (257, "GF(257)", 257, 257, 1, np.uint16),
        (2**16, "GF(2^16)", 2**16, 2, 16, np.uint16),
        (65537, "GF(65537)", 65537, 65537, 1, np.uint32),
        (2**31 - 1, "GF(2147483647)", 2**31 - 1, 2**31 - 1, 1, np.uint32),
        (np.int64(5), "GF(5)", 5, 5, 1, np.uint8),
    ],
)
def test_fields_by_order_and_by_name(spec, name, order, p, k, dtype):
    F = as_field(spec)
    assert (F.name, F.order, F.characteristic, F.degree, F.dtype) == (name, order, p, k, dtype)
    assert F is GF(order)
    assert as_field(F.name) is F
    assert as_field(F) is F
    assert pickle.loads(pickle.dumps(F)) is F
    assert hash(F) == hash(GF(order))


def test_rationals_by_name():
    assert as_field("QQ") is QQ
    assert (QQ.order, QQ.characteristic, QQ.name) == (None, 0, "QQ")
    assert QQ != GF(2)


@pytest.mark.parametrize(
    "order", [-2, 0, 1, 6, 12, 100, 2**17, 3**11, 2**31, 2**31 + 11, 2**61 - 1]
)
def test_orders_that_are_no_field_or_too_large(order):
    with pytest.raises(InputError, match=r"order|large"):
        GF(order)


@pytest.mark.parametrize(
    "spec", [2.0, None, True, "ZZ", "GF", "", "GF(x)", "6", [2], "9" * 5000, "2^99999"]
)
def test_specs_that_are_no_field(spec):
    with pytest.raises(InputError):
        as_field(spec)


@pytest.mark.parametrize("order", [2, 3, 4, 251, 65536, 2**31 - 1])
def test_zero_has_no_inverse(order):
    with pytest.raises(ZeroDivisionError):
        GF(order).inv(np.array([1, 0]))


def test_rational_arithmetic():
    a, b = (
        np.array([Fraction(1, 2), Fraction(3)], object),
        np.array([Fraction(1, 3), Fraction(-1)], object),
    )
    assert QQ.add(a, b).tolist() == [Fraction(5, 6), Fraction(2)]
    assert QQ.sub(a, b).tolist() == [Fraction(1, 6), Fraction(4)]
    assert QQ.mul(a, b).tolist() == [Fraction(1, 6), Fraction(-3)]
    assert QQ.neg(a).tolist() == [Fraction(-1, 2), Fraction(-3)]
    assert QQ.inv(b).tolist() == [Fraction(3), Fraction(-1)]
    with pytest.raises(ZeroDivisionError):
        QQ.inv(np.array([Fraction(0)], object))
    assert [QQ.format(x) for x in a] == ["1/2", "3"]


@pytest.mark.parametrize("make", [
    lambda X: X.tolist(),
    lambda X: X.astype(bool),
    lambda X: X.astype(np.int8),
    lambda X: X.astype(np.uint64),
    lambda X: X.astype(float),
    lambda X: X.astype(np.float32),
    lambda X: X.astype(object),
    lambda X: np.asfortranarray(X),
    lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    lambda X: np.ma.masked_array(X),
    lambda X: [tuple(row) for row in X],
    lambda X: X.astype(">i4"),
])  # fmt: skip
@pytest.mark.parametrize("order", [2, 3, 256, 65521, "QQ"])
def test_rows_are_taken_in_every_usual_form(order, make):
    X = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0]])
    F = as_field(order)
    rows = F.array(F.rows(make(X)))
    assert rows.dtype == F.dtype
    assert rows.tolist() == X.tolist()


def test_rows_are_taken_from_sparse_matrices_and_frames():
    import pandas as pd
    import polars as pl
    from scipy import sparse

    X = np.array([[0, 1, 1], [1, 0, 1]])
    for form in (sparse.csr_matrix(X), pd.DataFrame(X), pl.DataFrame(X)):
        for order in (2, 5, "QQ"):
            F = as_field(order)
            assert F.array(F.rows(form)).tolist() == X.tolist()


@given(data=st.data())
def test_rows_do_not_alias_the_caller(data):
    """Changing the table afterwards changes nothing that was made from it."""
    order = data.draw(st.sampled_from([3, 4, 251]))
    F = GF(order)
    X = np.array([[0, 1], [1, 2]], dtype=F.dtype)
    rows = F.rows(X)
    kept = F.array(rows).copy()
    from flagstone.algebra.subspace import Subspace

    V = Subspace.of_rows(rows, F)
    before = V.fingerprint()
    X[:] = 1
    assert V.fingerprint() == before
    assert kept.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(("order", "values", "expected"), [
    (2, [[2, 3, -1, 1.5]], [[0, 1, 1, 1]]),
    (5, [[5, 7, -1, 2.9]], [[0, 2, 4, 2]]),
    (4, [[4, 7, -1, 3.2]], [[0, 3, 3, 3]]),
])  # fmt: skip
def test_reduce_maps_into_the_field(order, values, expected):
    F = GF(order)
    assert F.array(F.rows(values, reduce=True)).tolist() == expected


#: numbers of every type that a table of objects may hold
NUMBERS = st.one_of(
    st.integers(-3, 9),
    st.integers(-(2**70), 2**70),
    st.booleans(),
    st.sampled_from([np.True_, np.int8(-1), np.uint64(2**64 - 1), np.float32(1.5), np.float64(3)]),
    st.fractions(-9, 9, max_denominator=3),
    st.floats(-9, 9).map(lambda x: round(x * 2) / 2),
    st.sampled_from([2.0**62, -(2.0**62), 2.0**63, -(2.0**63), 2.0**64, 1e300]),
)


@pytest.mark.parametrize("order", [2, 4, 5, 2**31 - 1])
@given(values=st.lists(NUMBERS, min_size=1, max_size=6), is_float=st.booleans())
def test_numbers_of_every_type_are_read_exactly(order, values, is_float):
    """Refused at the first that is not whole, else at the first outside; reduced, none is."""
    F = GF(order)
    X = np.array([values], dtype=object)
    if is_float:
        X = X.astype(np.float64)
        values = X[0].tolist()
    floors = [int(value) if isinstance(value, Integral) else math.floor(value) for value in values]
    assert F.array(F.rows(X, reduce=True)).tolist() == [[floor % order for floor in floors]]
    broken = [j for j, floor in enumerate(floors) if floor != values[j]]
    outside = [j for j, floor in enumerate(floors) if not 0 <= floor < order]
    if not broken and not outside:
        assert F.array(F.rows(X)).tolist() == [floors]
        return
    problem = "not a whole number" if broken else "is not in GF"
    with pytest.raises(InputError, match=problem) as caught:
        F.rows(X)
    assert f"row 0, column {(broken or outside)[0]} is " in str(caught.value)


@pytest.mark.parametrize("order", [2, 3, 8, 251, 65521, 2**31 - 1, "QQ"])
def test_dot_is_the_inner_product(order):
    F, space = as_field(order), naive.Reduced(order, 5)
    random = np.random.RandomState(3)
    top = 7 if order == "QQ" else order
    X, W = random.randint(0, top, (6, 5)), random.randint(0, top, (3, 5))
    expected = [
        [space.dot(space.vector(x), space.vector(w)) for w in W.tolist()] for x in X.tolist()
    ]
    out = F.dot(F.rows(X), W)
    assert out.dtype == F.dtype
    assert out.tolist() == expected


def test_largest_prime_does_not_overflow():
    """Sums of products near p² stay exact."""
    p = 2**31 - 1
    X = np.full((2, 300), p - 1)
    assert GF(p).dot(GF(p).rows(X), X).tolist() == [[300, 300], [300, 300]]


def test_packed_rows_are_accepted_over_other_fields():
    rows = pack([[1, 0], [1, 1]])
    assert isinstance(rows, BitRows)
    assert GF(3).array(GF(3).rows(rows)).tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_whole_floats_of_any_width_are_read(dtype):
    X = np.array([[0, 1], [2, 1]], dtype=dtype)
    assert GF(3).rows(X).tolist() == [[0, 1], [2, 1]]
    with pytest.raises(InputError, match="row 1, column 0"):
        GF(2).rows(X)


@pytest.mark.parametrize("F", [GF(2), GF(5), GF(2**8), GF(2**31 - 1), QQ])
@given(data=st.data())
def test_rows_come_back_from_their_texts(F, data):
    dim = data.draw(st.integers(1, 5))
    element = st.integers(0, (F.order or 10**30) - 1)
    if F is QQ:
        element = st.fractions(max_denominator=10**6)
    table = data.draw(st.lists(st.lists(element, min_size=dim, max_size=dim), max_size=4))
    rows = F.rows(table, dim=dim) if table else F.empty(0, dim)
    back = F.from_texts(F.texts(rows), dim)
    assert F.array(back).tolist() == F.array(rows).tolist()
    assert F.array(back).shape == (len(table), dim)


@pytest.mark.parametrize(
    ("F", "text"),
    [
        (GF(2), "0１"),
        (GF(2), "012"),
        (GF(5), "1  2"),
        (GF(5), "+1 2"),
        (QQ, "2/4 1"),
        (QQ, "0.5 1"),
    ],
)
def test_texts_of_rows_are_canonical(F, text):
    with pytest.raises(InputError):
        F.from_texts([text], 2)
