"""Merging flags: M_k = Σ_{i+j=k} V_i ∩ W_j, and the laws that follow (theory, section 1)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra.flag import Flag, merge_flags
from tests import naive
from tests.bridge import chain_of, flag_of
from tests.strategies import ORDERS, WIDTHS, Sample, rows_of, sample_pairs, samples, vectors

E1, E2, SUM = (1, 0), (0, 1), (1, 1)


def flag_over_gf2(*rows):
    return Flag(2).update(list(rows))


def changes(space, V, W):
    """Return (index, growth) wherever two chains differ; one space must contain the other."""
    found = []
    for k in range(1, max(len(V), len(W)) + 1):
        A, B = naive.at(space, V, k), naive.at(space, W, k)
        if A != B:
            assert space.within(A, B) or space.within(B, A)
            found.append((k, space.size(B) - space.size(A)))
    return found


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_merge_is_the_sum_of_meets(order, data):
    """[checked] Adding counts on a common adapted basis gives M_k = Σ_{i+j=k} V_i ∩ W_j."""
    one, two = data.draw(sample_pairs(order))
    merged = flag_of(one).merge(flag_of(two))
    assert chain_of(one.space, merged) == naive.merge(one.space, one.chain, two.chain)
    assert merged.n_rows == len(one.rows) + len(two.rows)
    assert merged.n_shards == max(1, sum(len(sample.rows) > 1 for sample in (one, two)))


@pytest.mark.parametrize("dim", WIDTHS)
@given(data=st.data())
def test_merge_is_the_sum_of_meets_at_every_width(dim, data):
    """[checked] The same over GF(2) for one word, two words and many."""
    one, two = data.draw(sample_pairs(2, dim=dim))
    merged = flag_of(one).merge(flag_of(two))
    assert chain_of(one.space, merged) == naive.merge(one.space, one.chain, two.chain)


@pytest.mark.parametrize(("dim", "order"), [(70, 2), (130, 2), (12, 3), (12, 4), (6, "QQ")])
def test_merge_is_the_sum_of_meets_at_full_rank(dim, order):
    """[checked] The same where coordinates fill all words."""
    random = np.random.RandomState(dim)
    top = 3 if order == "QQ" else order
    shards = []
    for _ in range(2):
        rows = random.randint(0, top, size=(2 * dim, dim))
        rows[:, dim // 2 :] *= random.randint(0, 2, size=(2 * dim, 1))
        shards.append(Sample(order, dim, tuple(map(tuple, rows.tolist()))))
    one, two = shards
    merged = flag_of(one).merge(flag_of(two))
    assert merged.rank > 0.9 * dim
    assert chain_of(one.space, merged) == naive.merge(
        one.space, chain_of(one.space, flag_of(one)), chain_of(one.space, flag_of(two))
    )


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_merge_of_merged_flags(order, data):
    """Chains that no sample of rows produced in this order merge by the same formula."""
    one, two = data.draw(sample_pairs(order, max_rows=6))
    three = one.having(data.draw(rows_of(order, one.dim, max_rows=6, pool=list(one.rows) or None)))
    left = flag_of(one).merge(flag_of(two))
    merged = left.merge(flag_of(three))
    expected = naive.merge(one.space, chain_of(one.space, left), three.chain)
    assert chain_of(one.space, merged) == expected


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_merge_is_commutative(order, data):
    """[checked] To the byte: nothing depends on which shard is named first."""
    one, two = data.draw(sample_pairs(order))
    a, b = flag_of(one), flag_of(two)
    assert a.merge(b) == b.merge(a)
    assert a.merge(b).to_bytes() == b.merge(a).to_bytes()


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_insert_is_the_merge_with_a_one_vector_flag(order, data):
    """[checked] For any weight."""
    sample = data.draw(samples(order))
    v = sample.having([data.draw(vectors(order, sample.dim))])
    weight = data.draw(st.integers(1, 5))
    single = Flag(sample.dim, order).update(v.X, weights=[weight])
    inserted = flag_of(sample).update(v.X, weights=[weight])
    for merged in (flag_of(sample).merge(single), single.merge(flag_of(sample))):
        assert chain_of(sample.space, merged) == chain_of(sample.space, inserted)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_dimensions_add_up(order, data):
    """[checked] Σ_k dim M_k = Σ_i dim V_i + Σ_j dim W_j."""
    one, two = data.draw(sample_pairs(order))
    a, b = flag_of(one), flag_of(two)
    assert a.merge(b).counts.sum() == a.counts.sum() + b.counts.sum()


@pytest.mark.parametrize("argument", ["first", "second"])
@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_merge_is_exactly_1_lipschitz(order, argument, data):
    """[checked] One more row in a shard, anywhere: one M_k grows, by one dimension."""
    one, two = data.draw(sample_pairs(order))
    known = st.sampled_from([row for row in one.rows + two.rows if any(row)] or [one.space.unit(0)])
    row = data.draw(known | vectors(order, one.dim).filter(any))
    at = data.draw(st.integers(0, len(one.rows)))
    more = one.having([*one.rows[:at], row, *one.rows[at:]])
    if argument == "first":
        before, after = flag_of(one).merge(flag_of(two)), flag_of(more).merge(flag_of(two))
    else:
        before, after = flag_of(two).merge(flag_of(one)), flag_of(two).merge(flag_of(more))
    space = one.space
    [(_, growth)] = changes(space, chain_of(space, before), chain_of(space, after))
    assert growth == 1


def test_merge_is_not_associative():
    """[checked] (e1 · e2) · (e1+e2) ends in ⟨e1+e2⟩, e1 · (e2 · (e1+e2)) in ⟨e1⟩."""
    a, b, c = flag_over_gf2(E1), flag_over_gf2(E2), flag_over_gf2(SUM)
    left, right = a.merge(b).merge(c), a.merge(b.merge(c))
    assert left.counts.tolist() == right.counts.tolist() == [2, 1]
    assert left.span_at(2).basis.tolist() == [[1, 1]]
    assert right.span_at(2).basis.tolist() == [[1, 0]]


def test_merge_is_not_concatenation():
    """[checked] e1 merged with (e2, e1+e2) keeps ⟨e1⟩; the sequence e1, e2, e1+e2 does not."""
    merged = flag_over_gf2(E1).merge(flag_over_gf2(E2, SUM))
    assert merged.span_at(2).basis.tolist() == [[1, 0]]
    assert flag_over_gf2(E1, E2, SUM).span_at(2).basis.tolist() == [[1, 1]]


def test_merged_spaces_need_no_row_of_the_data():
    """[checked] Two planes of GF(2)^3 meet in a line that holds no row of either shard."""
    one = Flag(3).update([[1, 0, 0], [0, 1, 1]])
    two = Flag(3).update([[0, 1, 0], [1, 0, 1]])
    [line] = one.merge(two).span_at(2).basis.tolist()
    assert line == [1, 1, 1]


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_the_empty_flag_is_neutral_and_arguments_are_untouched(order, data):
    sample = data.draw(samples(order))
    flag, empty = flag_of(sample), Flag(sample.dim, order)
    before = flag.to_bytes()
    assert chain_of(sample.space, flag.merge(empty)) == chain_of(sample.space, flag)
    assert chain_of(sample.space, empty.merge(flag)) == chain_of(sample.space, flag)
    assert flag.to_bytes() == before
    assert empty == Flag(sample.dim, order)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_merged_flags_still_take_rows(order, data):
    """Insert after a merge is the merge with a one-vector flag, as ever."""
    one, two = data.draw(sample_pairs(order))
    v = one.having([data.draw(vectors(order, one.dim).filter(any))])
    merged = flag_of(one).merge(flag_of(two))
    expected = naive.merge(one.space, chain_of(one.space, merged), v.chain)
    assert chain_of(one.space, merged.update(v.X)) == expected


@pytest.mark.parametrize("shards", range(1, 10))
def test_many_flags_merge_by_the_fixed_tree(shards):
    """(0,1), (2,3), …, an odd one carried up."""
    rows = [E1, E2, SUM, SUM, E2, E1, E2, SUM, E1][:shards]
    layer = flags = [flag_over_gf2(row, E1) for row in rows]
    while len(layer) > 1:
        paired = [layer[i].merge(layer[i + 1]) for i in range(0, len(layer) - 1, 2)]
        layer = paired + layer[len(layer) - len(layer) % 2 :]
    assert merge_flags(flags) == layer[0]
    assert merge_flags(flags).to_bytes() == layer[0].to_bytes()
    assert merge_flags(flags).n_shards == shards


@pytest.mark.parametrize("order", [2, 3])
@given(data=st.data())
def test_rows_after_a_merge_make_no_further_shard(order, data):
    """S23: with R shards at most R·d·J rows matter to the first J sets, later rows included."""
    dim = data.draw(st.integers(1, 3))
    shards = [data.draw(samples(order, dim=dim, max_rows=6)) for _ in range(2)]
    later = data.draw(samples(order, dim=dim, max_rows=6))

    def merged(parts):
        return merge_flags([Flag(dim, order).update(X) for X in parts[:2]]).update(parts[2])

    parts = [sample.X for sample in (*shards, later)]
    flag = merged(parts)
    R = flag.n_shards
    assert R == merge_flags([flag_of(sample) for sample in shards]).n_shards <= 2
    matter = dict.fromkeys(range(1, flag.n_sets + 1), 0)
    for p, X in enumerate(parts):
        for i in range(len(X)):
            fewer = [*parts]
            fewer[p] = np.delete(X, i, axis=0)
            without = merged(fewer)
            for J in matter:
                same = all(flag.span_at(j) == without.span_at(j) for j in range(1, J + 1))
                matter[J] += not same
    assert all(count <= 2 * dim * J for J, count in matter.items())


def test_one_row_more_is_an_insert_also_after_a_merge():
    merged = flag_over_gf2(E1, E2).merge(flag_over_gf2(SUM, E1))
    assert merged.merge(flag_over_gf2(SUM)) == merged.copy().update([SUM])
    again = Flag.from_bytes(merged.to_bytes())
    assert again.update([SUM]).update([E1]) == merged.update([SUM]).update([E1])
    assert merged.n_shards == 2
