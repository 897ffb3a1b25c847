"""How far a flag moves when rows do (theory, sections 1, 2 and 4)."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra.flag import Flag
from flagstone.guarantees import paper_gap, rows_in_first_sets
from tests import naive
from tests.bridge import chain_of, flag_of
from tests.strategies import ORDERS, Sample, rows_of, samples, vectors


def flag_chain(sample):
    return chain_of(sample.space, flag_of(sample))


def moves(V, W):
    """Return (l∞, l1) of the difference of the multiplicities n(U) of two chains."""
    n, m = naive.multiplicities(V), naive.multiplicities(W)
    gaps = [abs(n[U] - m[U]) for U in n.keys() | m.keys()]
    return max(gaps, default=0), sum(gaps)


def other_rows(sample):
    known = st.sampled_from([row for row in sample.rows if any(row)] or [sample.space.unit(0)])
    return known | vectors(sample.order, sample.dim).filter(any)


@st.composite
def altered(draw, sample, times):
    """Add, remove or replace a row, ``times`` times over, anywhere."""
    rows = list(sample.rows)
    for _ in range(times):
        at = draw(st.integers(0, len(rows)))
        new = [] if draw(st.booleans()) else [draw(other_rows(sample))]
        rows[at : at + draw(st.integers(0, 1))] = new
    return sample.having(rows)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_one_row_more_changes_one_space_by_one_dimension(order, data):
    """[checked] Adding or removing a row anywhere: one V_j, one dimension, l∞ ≤ 1, l1 ≤ 2."""
    sample = data.draw(samples(order))
    at = data.draw(st.integers(0, len(sample.rows)))
    row = data.draw(other_rows(sample))
    more = sample.having([*sample.rows[:at], row, *sample.rows[at:]])
    space, V, W = sample.space, flag_chain(sample), flag_chain(more)
    [j] = [j for j in range(1, len(W) + 1) if naive.at(space, V, j) != W[j - 1]]
    assert space.within(naive.at(space, V, j), W[j - 1])
    assert space.size(W[j - 1]) == space.size(naive.at(space, V, j)) + 1
    infinity, one = moves(V, W)
    assert infinity <= 1
    assert one <= 2


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_no_more_rows_matter_than_the_first_sets_hold(order, data):
    """S19: N_J is self-bounding. A row removed lowers it by 0 or 1, and by 1 for ≤ N_J rows."""
    sample = data.draw(samples(order))
    J = data.draw(st.integers(1, 4))

    def held(rows):
        return rows_in_first_sets(flag_of(sample.having(rows)).counts, J)

    rows = list(sample.rows)
    falls = [held(rows) - held(rows[:i] + rows[i + 1 :]) for i in range(len(rows))]
    assert set(falls) <= {0, 1}
    assert sum(falls) <= held(rows)


def test_replacing_a_row_moves_a_multiplicity_by_two():
    """[checked] The paper's sensitivity 1 does not hold for replacement: here l∞ is 2.

    With (e1, e1) the line ⟨e1⟩ is spanned by both sets; with (e1, e2) by none.
    """
    V = flag_chain(Sample(2, 2, ((1, 0), (1, 0))))
    W = flag_chain(Sample(2, 2, ((1, 0), (0, 1))))
    line = naive.ambient(2, 2).span([(1, 0)])
    assert naive.multiplicities(V)[line] == 2
    assert naive.multiplicities(W)[line] == 0
    assert moves(V, W)[0] == 2


def test_replacing_a_row_moves_all_multiplicities_by_four():
    """[checked] Nor does the paper's 2 in l1: (e1, e2, e1, e3) against (e1, e2, e1, e2) gives 4."""
    e1, e2, e3 = (1, 0, 0), (0, 1, 0), (0, 0, 1)
    V = flag_chain(Sample(2, 3, (e1, e2, e1, e3)))
    W = flag_chain(Sample(2, 3, (e1, e2, e1, e2)))
    assert moves(V, W)[1] == 4


def test_swapping_a_row_of_two_samples_moves_their_difference_by_twice_that():
    """S14: 4 on one space and 8 in all, where Claim 5 of the paper has 2 and 4."""
    e1, e2, e3 = (1, 0, 0), (0, 1, 0), (0, 0, 1)
    differences = []
    for last, other in ((e3, e2), (e2, e3)):
        n = naive.multiplicities(flag_chain(Sample(2, 3, (e1, e2, e1, last))))
        n.subtract(naive.multiplicities(flag_chain(Sample(2, 3, (e1, e2, e1, other)))))
        differences.append(n)
    moved = [differences[0][V] - differences[1][V] for V in differences[0]]
    assert max(map(abs, moved)) == 4
    assert sum(map(abs, moved)) == 8
    assert sum(x * x for x in moved) == 24  # at most 4 · 8
    for m, delta in ((10, math.exp(-1)), (1000, 0.01)):
        by_swaps = math.sqrt(m * 32 / 2) + 2 * math.sqrt(m * math.log(1 / delta))
        assert by_swaps <= 2 * paper_gap(m, delta) * (1 + 1e-12)
        assert 2 * paper_gap(m, delta) == pytest.approx(6 * math.sqrt(m * math.log(1 / delta)))


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_replacing_a_row_moves_no_more_than_that(order, data):
    """[checked] Removing and adding: l∞ ≤ 2, l1 ≤ 4."""
    sample = data.draw(samples(order).filter(lambda sample: sample.rows))
    at = data.draw(st.integers(0, len(sample.rows) - 1))
    rows = list(sample.rows)
    rows[at] = data.draw(vectors(order, sample.dim))
    infinity, one = moves(flag_chain(sample), flag_chain(sample.having(rows)))
    assert infinity <= 2
    assert one <= 4


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_outliers_never_enter_later_spaces(order, data):
    """[checked] With k outliers among rows of V_clean, V_j ⊆ V_clean for all j > k."""
    clean = data.draw(samples(order, max_rows=10))
    outliers = data.draw(rows_of(order, clean.dim, max_rows=4))
    rows = list(clean.rows)
    for outlier in outliers:
        rows.insert(data.draw(st.integers(0, len(rows))), outlier)
    space = clean.space
    V_clean = space.span(clean.rows)
    chain = flag_chain(clean.having(rows))
    assert all(space.within(V, V_clean) for V in chain[len(outliers) :])


def test_outliers_do_enter_as_many_spaces_as_there_are():
    """The bound is tight: one outlier and k sets of ⟨e1⟩ may spoil V_1, two spoil V_1 and V_2."""
    for k in (1, 2, 3):
        flag = Flag(2).update([[1, 0]] * 5 + [[0, 1]] * k)
        assert [flag.dim_at(j) for j in range(1, 6)] == [2] * k + [1] * (5 - k)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_margin_certificate(order, data):
    """[checked] If V_{t−s} = V_{t+s}, no s added, removed or altered rows change V_t."""
    few = data.draw(samples(order, max_rows=3))
    sample = few.having(data.draw(st.permutations(few.rows * 4)))
    s = data.draw(st.integers(1, 3))
    space, V = sample.space, flag_chain(sample)
    W = flag_chain(data.draw(altered(sample, s)))
    for t in range(s + 1, len(V) + 2):
        if naive.at(space, V, t - s) == naive.at(space, V, t + s):
            assert naive.at(space, W, t) == naive.at(space, V, t)


def test_margin_certificate_is_tight():
    """One altered row more than the margin is enough to change V_t."""
    flag = Flag(2).update([[1, 0]] * 4 + [[0, 1]] * 2)
    assert [flag.dim_at(j) for j in range(1, 6)] == [2, 2, 1, 1, 0]
    altered = Flag(2).update([[1, 0]] * 4 + [[0, 1]] * 3)
    assert flag.dim_at(3) != altered.dim_at(3)


def functionals(data, space):
    if isinstance(space, naive.Listed) and space.order**space.dim <= 128:
        return list(space.functionals())
    rows = st.lists(vectors(space.order, space.dim), min_size=1, max_size=6)
    return data.draw(rows)


def heights(space, V):
    """Return f_h = #{j : h does not vanish on V_j} as a function of h."""
    bases = {U: space.basis(U) for U in set(V)}
    return lambda h: sum(any(space.dot(h, v) for v in bases[U]) for U in V)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_heights_are_an_ultrametric_seminorm(order, data):
    """[checked] f_{g+h} ≤ max(f_g, f_h), with equality if they differ; f_{ah} = f_h for a ≠ 0."""
    sample = data.draw(samples(order))
    space, V = sample.space, flag_chain(sample)
    height = heights(space, V)
    f = {h: height(h) for h in functionals(data, space)}
    pairs = list(product(f, repeat=2))
    for g, h in pairs if len(pairs) < 64 else data.draw(st.permutations(pairs))[:64]:
        total = height(space.axpy(space.F.one, g, h))
        assert total <= max(f[g], f[h])
        if f[g] != f[h]:
            assert total == max(f[g], f[h])
    for h in list(f)[:16]:
        minus = tuple(map(space.F.neg, h))
        assert height(minus) == f[h]


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_heights_recover_the_flag(order, data):
    """[checked] V_j = {x : h(x) = 0 whenever f_h < j}."""
    sample = data.draw(samples(order))
    space, flag = sample.space, flag_of(sample)
    V = chain_of(space, flag)
    height = heights(space, V)
    f = {h: height(h) for h in functionals(data, space)}
    for j in range(1, len(V) + 2):
        low = space.span([h for h in f if f[h] < j])
        checks = space.span(
            [tuple(map(space.F.element, h)) for h in flag.span_at(j).annihilator().basis.tolist()]
        )
        assert space.within(low, checks)
        assert all(height(h) < j for h in space.basis(checks))
        assert space.annihilator(checks) == naive.at(space, V, j)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_heights_move_by_at_most_one_when_a_row_is_replaced(order, data):
    """[checked] For every functional h."""
    sample = data.draw(samples(order).filter(lambda sample: sample.rows))
    at = data.draw(st.integers(0, len(sample.rows) - 1))
    rows = list(sample.rows)
    rows[at] = data.draw(vectors(order, sample.dim))
    space, V, W = sample.space, flag_chain(sample), flag_chain(sample.having(rows))
    before, after = heights(space, V), heights(space, W)
    for h in functionals(data, space):
        assert abs(before(h) - after(h)) <= 1
