"""What kernels promise over every field but GF(2), in every version, against the oracle.

The fields share names and meaning, so each property is written once. Rows come from small pools
of vectors and their combinations, which makes ties, exchanges and many classes of equal count.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.native.families import Family
from tests.native.versions import VERSIONS
from tests.strategies import Sample, rows_of, vectors

MAX_DIM = {3: 5, 4: 4, 5: 4, 7: 3, 8: 3, 9: 3, 11: 3}
ORDERS = (3, 4, 5, 7, 8, 9, 11, 243, 251, 256, 65521, 2**31 - 1)


@pytest.fixture(params=("QQ", *ORDERS), scope="module")
def families(request: pytest.FixtureRequest) -> list[Family]:
    """Return the kernels of one field in every version; each drawn case is tried on all."""
    versions = ["flint"] if request.param == "QQ" else VERSIONS
    return [Family(request.param, version) for version in versions]


@st.composite
def samples(draw, order, max_rows=16):
    dim = draw(st.integers(1, MAX_DIM.get(order, 4)))
    return Sample(order, dim, draw(rows_of(order, dim, max_rows=max_rows)))


@st.composite
def pairs(draw, order):
    dim = draw(st.integers(1, MAX_DIM.get(order, 4)))
    pool = draw(st.lists(vectors(order, dim), min_size=1, max_size=dim + 1))
    rows = rows_of(order, dim, max_rows=9, pool=pool)
    return Sample(order, dim, draw(rows)), Sample(order, dim, draw(rows))


weights_of = st.integers(0, 5)


@given(data=st.data())
def test_flag_is_the_stable_partition(families: list[Family], data: st.DataObject) -> None:
    sample = data.draw(samples(families[0].order))
    for F in families:
        state = F.flag(sample.dim, sample.rows)
        assert F.chain_of(sample.space, state) == sample.chain


@given(data=st.data())
def test_weight_is_repetition(families: list[Family], data: st.DataObject) -> None:
    sample = data.draw(samples(families[0].order))
    n = len(sample.rows)
    weights = data.draw(st.lists(weights_of, min_size=n, max_size=n))
    repeated = [row for row, w in zip(sample.rows, weights, strict=True) for _ in range(w)]
    expected = naive.chain(sample.space, repeated)
    for F in families:
        state = F.flag(sample.dim, sample.rows, weights)
        assert F.chain_of(sample.space, state) == expected


@given(data=st.data())
def test_stopping_and_resuming_changes_nothing(families: list[Family], data: st.DataObject) -> None:
    sample = data.draw(samples(families[0].order))
    cut = data.draw(st.integers(0, len(sample.rows)))
    for F in families:
        X = F.rows(sample.dim, sample.rows)
        first = F.flag(sample.dim, sample.rows[:cut])
        before = F.chain_of(sample.space, first)
        twin = first.copy()
        loaded = F.load(sample.dim, *first.dump())
        assert F.chain_of(sample.space, loaded) == before
        for state in (twin, loaded):
            state.insert(X[cut:], None)
            assert F.chain_of(sample.space, state) == sample.chain
        assert F.chain_of(sample.space, first) == before  # the copy shares nothing


@given(data=st.data())
def test_load_takes_any_adapted_basis(families: list[Family], data: st.DataObject) -> None:
    sample = data.draw(samples(families[0].order))
    space = sample.space
    for F in families:
        basis, counts = F.flag(sample.dim, sample.rows).dump()
        rows = F.plain(basis)
        if len(rows) > 1:
            rows[-1] = space.axpy(space.F.one, rows[0], rows[-1])
        state = F.load(sample.dim, F.rows(sample.dim, rows), counts)
        assert F.chain_of(space, state) == sample.chain


@given(data=st.data())
def test_merge_is_the_sum_of_meets(families: list[Family], data: st.DataObject) -> None:
    left, right = data.draw(pairs(families[0].order))
    space = left.space
    expected = naive.merge(space, left.chain, right.chain)
    for F in families:
        dumps = [F.flag(s.dim, s.rows).dump() for s in (left, right)]
        merged = F.linalg.merge(space.dim, *dumps[0], *dumps[1])
        assert F.chain(space, *merged) == expected


@given(data=st.data())
def test_rref_is_canonical(families: list[Family], data: st.DataObject) -> None:
    sample = data.draw(samples(families[0].order))
    expected = naive.rref(sample.space.F, sample.rows)
    for F in families:
        M = F.rows(sample.dim, sample.rows)
        unchanged = M.copy()
        R, pivots = F.linalg.rref(sample.dim, M)
        assert (M == unchanged).all()
        assert tuple(F.plain(R)) == expected
        assert pivots.dtype == np.int64
        assert pivots.tolist() == [next(j for j, x in enumerate(row) if x) for row in F.plain(R)]


@given(data=st.data())
def test_reduce_clears_pivots_within_the_coset(families: list[Family], data: st.DataObject) -> None:
    sample, other = data.draw(pairs(families[0].order))
    space = sample.space
    V = space.span(sample.rows)
    for F in families:
        R, pivots = F.linalg.rref(sample.dim, F.rows(sample.dim, sample.rows))
        X = F.rows(sample.dim, other.rows)
        residual = F.linalg.reduce(X, R, pivots)
        assert residual.shape == X.shape
        assert residual.dtype == X.dtype
        for x, r in zip(other.rows, F.plain(residual), strict=True):
            assert not any(r[j] for j in pivots)
            assert space.contains(V, space.axpy(space.F.neg(space.F.one), r, x))
            assert any(r) != space.contains(V, x)


@given(data=st.data())
def test_dot(families: list[Family], data: st.DataObject) -> None:
    left, right = data.draw(pairs(families[0].order))
    expected = [[left.space.dot(x, y) for y in right.rows] for x in left.rows]
    for F in families:
        out = F.linalg.dot(F.rows(left.dim, left.rows), F.rows(left.dim, right.rows))
        assert out.shape == (len(left.rows), len(right.rows))
        assert out.dtype == F.dtype
        assert out.tolist() == expected


@pytest.mark.parametrize("order", [7, 9, 256])
@pytest.mark.parametrize("version", VERSIONS)
def test_rows_without_columns_change_nothing(order: int, version: str) -> None:
    basis, counts = Family(order, version).flag(0, [()] * 9).dump()
    assert basis.shape == (0, 0)
    assert counts.shape == (0,)
