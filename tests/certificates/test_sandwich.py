"""S30: sets of consecutive pieces add up, inside and outside a space, through merges as well."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.certificates.tools import full_sets, g_of, h_of, sets_modulo
from tests.strategies import ORDERS, Sample, samples


@st.composite
def spaces_of(draw, sample):
    """A space that rows of the sample may or may not span."""
    rows = draw(st.lists(st.sampled_from(sample.rows), max_size=3)) if sample.rows else []
    return sample.space.span(rows)


@st.composite
def pieces_of(draw, rows):
    """The same rows, cut anywhere."""
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    return [rows[i:j] for i, j in zip([0, *cuts], [*cuts, len(rows)], strict=True)]


def sums(space, pieces, U):
    inside = sum(full_sets(space, piece, U) for piece in pieces)
    return inside, sum(sets_modulo(space, piece, U) for piece in pieces)


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_pieces_of_one_flag(order, data):
    sample = data.draw(samples(order))
    space, U = sample.space, data.draw(spaces_of(sample))
    inside, outside = sums(space, data.draw(pieces_of(sample.rows)), U)
    chain = sample.chain
    if space.size(U):
        assert g_of(space, chain, U) >= inside
    assert h_of(space, chain, U) <= outside


@pytest.mark.parametrize("order", [2, 3, 4, "QQ"])
@given(data=st.data())
def test_pieces_of_merged_flags_and_of_rows_that_come_later(order, data):
    """Any tree, any cuts inside runs; a row that comes after a merge is a flag of one row."""
    sample = data.draw(samples(order, max_rows=12))
    space, U = sample.space, data.draw(spaces_of(sample))
    runs = data.draw(pieces_of(sample.rows))
    pieces = [piece for run in runs for piece in data.draw(pieces_of(run))]
    chains = [naive.chain(space, run) for run in runs[:-1]] or [[]]
    while len(chains) > 1:
        i = data.draw(st.integers(0, len(chains) - 2))
        chains[i : i + 2] = [naive.merge(space, chains[i], chains[i + 1])]
    [chain] = chains
    for row in runs[-1]:
        chain = naive.merge(space, chain, naive.chain(space, [row]))
    inside, outside = sums(space, pieces, U)
    if space.size(U):
        assert g_of(space, chain, U) >= inside
    assert h_of(space, chain, U) <= outside


@pytest.mark.parametrize("order", [2, 3, "QQ"])
@given(data=st.data())
def test_a_merged_chain_is_that_of_rows_in_a_basis_adapted_to_it_and_to_the_space(order, data):
    sample = data.draw(samples(order, max_rows=10))
    space, U = sample.space, data.draw(spaces_of(sample))
    half = len(sample.rows) // 2
    chain = naive.merge(
        space, naive.chain(space, sample.rows[:half]), naive.chain(space, sample.rows[half:])
    )
    # grow from the smallest space on, and in each one first within U
    basis = []
    for V in reversed(chain):
        for v in [*space.basis(space.meet(V, U)), *space.basis(V)]:
            if not space.contains(space.span(basis), v):
                basis.append(v)
    rows = [v for V in chain for v in basis if space.contains(V, v)]
    assert naive.chain(space, rows) == chain
    if space.size(U):
        assert full_sets(space, rows, U) == g_of(space, chain, U)
    assert sets_modulo(space, rows, U) == h_of(space, chain, U)


def test_another_basis_of_a_chain_does_not_do():
    """Rows 11, 01 and U = ⟨11⟩: the chain is the plane, and 10, 01 have G = 0 and H = 2."""
    plane = Sample(2, 2, ((1, 1), (0, 1)))
    space, U = plane.space, plane.space.span([(1, 1)])
    assert (g_of(space, plane.chain, U), h_of(space, plane.chain, U)) == (1, 1)
    other = [(1, 0), (0, 1)]
    assert naive.chain(space, other) == plane.chain
    assert (full_sets(space, other, U), sets_modulo(space, other, U)) == (0, 2)


def test_blocks_of_all_rows_do_not_add_up():
    """Rows 11, 01, 10 and U = ⟨11⟩: the pieces have g = 1, 1 and h = 0, 1, the whole 1 and 2."""
    whole = Sample(2, 2, ((1, 1), (0, 1), (1, 0)))
    space, U = whole.space, whole.space.span([(1, 1)])
    parts = [whole.having(whole.rows[:1]).chain, whole.having(whole.rows[1:]).chain]
    assert [g_of(space, chain, U) for chain in parts] == [1, 1]
    assert [h_of(space, chain, U) for chain in parts] == [0, 1]
    assert (g_of(space, whole.chain, U), h_of(space, whole.chain, U)) == (1, 2)


def test_rows_in_value_order_do_not_add_up():
    """Two bases of F^3 make a full set each, but one between them when they are sorted together."""
    e1, e2, e3, e13 = (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1)
    space = naive.ambient(2, 3)
    order = [e3, e13, e1, e2]  # any order of values that puts e3 and e1 + e3 first
    first, second = ([v for v in order if v in basis] for basis in ({e3, e1, e2}, {e13, e1, e2}))
    together = [v for v in order for part in (first, second) if v in part]
    assert full_sets(space, first, space.full()) == full_sets(space, second, space.full()) == 1
    assert full_sets(space, together, space.full()) == 1


def test_a_piece_across_two_runs_does_not_add_up():
    """Rows 11, 11 and 10, 01 as two shards: one piece of four has G = 2, the merged flag g = 1."""
    space, runs = naive.ambient(2, 2), [((1, 1), (1, 1)), ((1, 0), (0, 1))]
    merged = naive.merge(space, *(naive.chain(space, run) for run in runs))
    assert full_sets(space, runs[0] + runs[1], space.full()) == 2
    assert g_of(space, merged, space.full()) == 1
