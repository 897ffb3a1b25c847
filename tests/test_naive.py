"""Who watches the oracle: its two forms of a subspace agree where both are possible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import sample_pairs

TINY = (2, 3, 4, 5, 8)


@pytest.mark.parametrize("order", TINY)
@given(data=st.data())
def test_sets_of_vectors_agree_with_elimination(order, data):
    one, two = data.draw(sample_pairs(order))
    listed, reduced = naive.Listed(order, one.dim), naive.Reduced(order, one.dim)

    def same(U, R):
        return listed.span(R) == U and reduced.span(listed.basis(U)) == R

    U, V = listed.span(one.rows), listed.span(two.rows)
    R, S = reduced.span(one.rows), reduced.span(two.rows)
    assert same(U, R)
    assert same(listed.sum(U, V), reduced.sum(R, S))
    assert same(listed.meet(U, V), reduced.meet(R, S))
    assert same(listed.annihilator(U), reduced.annihilator(R))
    assert listed.size(U) == reduced.size(R)
    assert listed.within(U, V) == reduced.within(R, S)
    assert naive.stable_partition(listed, one.rows) == naive.stable_partition(reduced, one.rows)


@pytest.mark.parametrize("order", [*TINY, 9])
def test_tables_are_those_of_a_field(order):
    F, elements = naive.field(order), range(order)
    for a in elements:
        assert sorted(F.add(a, b) for b in elements) == list(elements)
        assert F.add(a, F.neg(a)) == 0
        if a:
            assert sorted(F.mul(a, b) for b in elements) == list(elements)
            assert F.mul(a, F.inv(a)) == 1
        for b in elements:
            assert F.mul(a, b) == F.mul(b, a)
            for c in elements:
                assert F.mul(a, F.add(b, c)) == F.add(F.mul(a, b), F.mul(a, c))
