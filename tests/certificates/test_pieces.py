"""S31: pieces end where the rule says, no matter which code cuts them or how the rows arrive."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import _reference
from flagstone.algebra.fields import as_field
from flagstone.certificates import pieces
from flagstone.certificates.pieces import Cut, Cutter
from tests import naive
from tests.strategies import samples, table

FIELDS = [2, 3, 4, 251, "QQ"]


@st.composite
def cuts(draw, dim):
    inside = draw(st.booleans())
    pace = draw(st.sampled_from([0.7, 1.0, 1.5, 2.5, 4.0]))
    most = draw(st.integers(1, 4)) if inside else draw(st.integers(2, 9))
    credit = draw(st.integers(2, 6)) if inside else draw(st.integers(1, 3))
    return Cut(inside, dim, credit, pace, most)


def value_of(space, cut, rows):
    """The sets of a piece, by the literal partition: those that are full, or all of them."""
    chain = naive.chain(space, rows)
    return sum(space.size(V) == cut.dim for V in chain) if cut.inside else len(chain)


def is_over(cut, value, length):
    if cut.inside:
        return value >= cut.most or length >= cut.credit + int(cut.pace * value)
    return length == cut.most or value > cut.credit + int(length / cut.pace)


def looked_at(cut, lengths):
    """Inside: the lengths at which a piece is looked at, after those so far."""
    fine, step = cut.looks
    value, length = lengths
    end = cut.credit + int(cut.pace * value)
    return min(end, length + step if length >= fine else fine)


def literal_pieces(space, cut, rows):
    """Every piece that counts: cut row by row, by definition."""
    begin, pieces = 0, Counter()
    while True:
        length, look = 0, looked_at(cut, (0, 0)) if cut.inside else 1
        while True:
            length += 1
            if begin + length > len(rows):
                return pieces
            if length < look:
                continue
            value = value_of(space, cut, rows[begin : begin + length])
            if is_over(cut, value, length):
                break
            look = looked_at(cut, (value, length)) if cut.inside else length + 1
        if begin + cut.longest > len(rows):
            return pieces
        pieces[value, length] += 1
        begin += length


def cutter_of(order, cut, batches):
    field = as_field(order)
    cutter = Cutter(field, cut)
    for rows in batches:
        matrix = field.matrix(field.rows(table(order, cut.dim, rows)))
        ticks = np.array([i for i, row in enumerate(rows) if any(row)], dtype=np.int64)
        cutter = cutter.copy().update(matrix[ticks], ticks, len(rows))
    return cutter


@pytest.mark.parametrize("order", FIELDS)
@given(data=st.data())
def test_pieces_are_those_of_the_definition(order, data):
    sample = data.draw(samples(order, max_rows=40).filter(lambda sample: sample.rows))
    cut = data.draw(cuts(sample.dim))
    at = data.draw(st.integers(0, len(sample.rows)))
    cutter = cutter_of(order, cut, [sample.rows[:at], sample.rows[at:]])
    assert cutter.outcomes == literal_pieces(sample.space, cut, sample.rows)


@given(data=st.data())
def test_no_piece_does_worse_than_the_extremes(data):
    """Fewer sets inside, or more outside, never come with more rows, or fewer, than listed."""
    sample = data.draw(samples(2, max_rows=40).filter(lambda sample: sample.rows))
    cut = data.draw(cuts(sample.dim))
    values, lengths = cut.extremes
    for value, length in cutter_of(2, cut, [sample.rows]).outcomes:
        assert length <= cut.longest
        if cut.inside:
            assert any(x <= value and n >= length for x, n in zip(values, lengths, strict=True))
        else:
            assert any(x >= value and n <= length for x, n in zip(values, lengths, strict=True))
            assert any(x >= value and n >= length for x, n in zip(values, lengths, strict=True))


@pytest.mark.parametrize("dim", [1, 3, 31, 33, 64])
@pytest.mark.parametrize("inside", [True, False])
def test_the_kernel_cuts_as_the_plain_loop_does(dim, inside, monkeypatch):
    """Rows over GF(2) go through a kernel; many rows, long pieces, zero rows between."""
    random = np.random.RandomState(dim)
    X = random.randint(0, 2, size=(3000, dim))
    X[random.random_sample(3000) < 0.3] = 0
    field = as_field(2)
    rows = field.rows(X)
    ticks = np.flatnonzero(field.nonzero(rows))
    most, pace = (7, 1.6 * dim) if inside else (9 * dim + 1, 1.2 * dim)
    cut = Cut(inside, dim, 3 * dim if inside else 2, pace, most)
    fast = Cutter(field, cut).update(field.matrix(rows)[ticks], ticks, len(rows))
    slow = Cutter(field, cut)
    slow._flag = _reference.gf2.flag(dim)
    monkeypatch.setattr(pieces, "kernels", _reference)
    for start in range(0, 3000, 113):
        part = slice(*np.searchsorted(ticks, [start, start + 113]))
        slow.update(field.matrix(rows)[ticks[part]], ticks[part] - start, min(113, 3000 - start))
    assert fast.outcomes == slow.outcomes
    assert sum(fast.outcomes.values()) > 3


def test_pieces_may_have_a_single_row():
    # rows that fill a set each end a piece each: there is room for as many pieces as rows
    cut = Cut(inside=True, dim=1, credit=2, pace=1.0, most=1)
    F = as_field(2)
    rows = F.matrix(F.rows(np.ones((100, 1), int)))
    assert Cutter(F, cut).update(rows).outcomes == {(1, 1): 99}  # the last began too late to count
