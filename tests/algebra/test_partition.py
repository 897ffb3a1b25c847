"""stable_partition is the paper's Algorithm 3, set for set."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra.partition import stable_partition
from tests import naive
from tests.strategies import ORDERS, samples


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_equals_the_literal_algorithm(order, data):
    sample = data.draw(samples(order))
    sets = stable_partition(sample.X, order)
    assert [A.tolist() for A in sets] == naive.stable_partition(sample.space, sample.rows)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_sets_are_independent_and_their_spans_nested(order, data):
    sample = data.draw(samples(order))
    space = sample.space
    sets = stable_partition(sample.X, order)
    spans = [space.span([sample.rows[i] for i in A]) for A in sets]
    assert [space.size(V) for V in spans] == [len(A) for A in sets]
    assert all(space.within(W, V) for V, W in pairwise(spans))


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_every_row_but_the_zero_ones_belongs_to_one_set(order, data):
    sample = data.draw(samples(order))
    members = [i for A in stable_partition(sample.X, order) for i in A]
    assert sorted(members) == [i for i, row in enumerate(sample.rows) if any(row)]


def test_zero_rows_and_no_rows_make_no_sets():
    assert stable_partition(np.zeros((3, 2), dtype=int)) == []
    assert stable_partition(np.zeros((0, 2), dtype=int)) == []
