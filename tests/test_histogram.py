"""The histogram is the partition of the rows sorted by value, whatever came first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.bitrows import pack
from flagstone.errors import InputError
from flagstone.flag import Flag
from flagstone.histogram import Histogram
from tests.bridge import chain_of
from tests.strategies import samples

SMALL = (2, 3, 4, 5, 8, 251)
DIMS = {2: 6, 3: 4, 4: 3, 5: 3, 8: 2, 251: 2}


def small_samples(order, **limits):
    return st.integers(1, DIMS[order]).flatmap(lambda dim: samples(order, dim=dim, **limits))


def histogram_of(sample):
    return Histogram(sample.dim, sample.order).update(sample.X)


def value(sample, row):
    return sum(x * sample.order**i for i, x in enumerate(row))


@pytest.mark.parametrize("order", SMALL)
@given(data=st.data())
def test_equals_the_partition_of_the_sorted_rows(order, data):
    """[checked] Weighted inserts in value order, Σ x_i q^i, are the partition of sorted rows."""
    sample = data.draw(small_samples(order))
    ordered = sample.having(sorted(sample.rows, key=lambda row: value(sample, row)))
    flag = histogram_of(sample).to_flag()
    assert chain_of(sample.space, flag) == ordered.chain
    assert flag.n_rows == len(sample.rows)
    assert flag == Flag(sample.dim, order).update(ordered.X)


@pytest.mark.parametrize("order", SMALL)
@given(data=st.data())
def test_counts_are_by_value(order, data):
    sample = data.draw(small_samples(order))
    histogram = histogram_of(sample)
    expected = np.bincount(
        [value(sample, row) for row in sample.rows] or [0], minlength=order**sample.dim
    )
    if not sample.rows:
        expected[0] = 0
    assert histogram.counts.tolist() == expected.tolist()
    assert histogram.n_rows == len(sample.rows)


@pytest.mark.parametrize("order", SMALL)
@given(data=st.data())
def test_order_and_shards_leave_no_trace(order, data):
    """[checked] Merging adds counts: however rows are ordered and split, the bytes are equal."""
    sample = data.draw(small_samples(order))
    shuffled = data.draw(st.permutations(sample.rows))
    cut = data.draw(st.integers(0, len(shuffled)))
    one, two = (
        histogram_of(sample.having(shuffled[:cut])),
        histogram_of(sample.having(shuffled[cut:])),
    )
    whole = histogram_of(sample)
    for merged in (one.merge(two), two.merge(one)):
        assert merged == whole
        assert merged.to_bytes() == whole.to_bytes()
        assert merged.n_rows == whole.n_rows


@pytest.mark.parametrize("order", SMALL)
@given(data=st.data())
def test_weights_are_repeated_rows(order, data):
    sample = data.draw(small_samples(order, max_rows=6))
    times = data.draw(
        st.lists(st.integers(0, 4), min_size=len(sample.rows), max_size=len(sample.rows))
    )
    weighted = Histogram(sample.dim, order).update(sample.X, weights=times)
    repeated = [row for row, w in zip(sample.rows, times, strict=True) for _ in range(w)]
    assert weighted == histogram_of(sample.having(repeated))


@given(data=st.data())
def test_packed_rows_are_rows(data):
    sample = data.draw(samples(2))
    assert Histogram(sample.dim).update(pack(sample.X)) == histogram_of(sample)


def test_the_largest_domains_fit():
    """2^26 vectors; one more dimension is too much."""
    for dim, order in ((26, 2), (16, 3), (2, 8192)):
        assert len(Histogram(dim, order).counts) == order**dim <= 2**26
        with pytest.raises(InputError, match=rf"\^{dim + 1} has more than 2\^26 vectors"):
            Histogram(dim + 1, order)


def test_histograms_are_equal_by_what_they_count():
    """GF(2)^4 and GF(4)^2 have sixteen vectors each, but they are not the same ones."""
    one = Histogram(2, 4).update([[1, 0], [3, 2]])
    assert one == Histogram(2, 4).update([[3, 2], [1, 0]])
    assert one != Histogram(2, 4).update([[3, 2]])
    assert Histogram(2, 4) != Histogram(4, 2)
    assert Histogram(2, 2) != Histogram(2, 4)
    assert Histogram(2, 2) != Histogram(3, 2)
    assert one != "a histogram"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_merging_and_copying_leave_the_originals_alone():
    one, two = Histogram(2).update([[1, 0]], [3]), Histogram(2).update([[0, 1], [1, 0]])
    before = one.to_bytes(), two.to_bytes()
    merged = one.merge(two)
    merged.update([[1, 1]])
    twin = one.copy()
    twin.update([[1, 1]])
    assert (one.to_bytes(), two.to_bytes()) == before
    assert (one.n_rows, two.n_rows, merged.n_rows, twin.n_rows) == (3, 2, 6, 4)
    assert repr(merged) == "Histogram(dim=2, field=GF(2), n_rows=6)"
    assert one.to_flag().n_rows == 3
    with pytest.raises(TypeError, match="merges with a histogram, got int"):
        one.merge(3)


def test_domains_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="use Flag"):
        Histogram(27)
    with pytest.raises(InputError, match="use Flag"):
        Histogram(2, 65521)
    with pytest.raises(InputError, match="finite field"):
        Histogram(2, "QQ")


def test_mismatch_in_merge_is_refused():
    for other in (Histogram(3), Histogram(2, 3)):
        with pytest.raises(InputError, match="do not fit"):
            Histogram(2).merge(other)
