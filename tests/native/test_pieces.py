"""Pieces of streams of rows: every version against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.native.versions import NATIVE, all_versions, native_versions, pack, sample

W, C = np.uint64, np.int64


@st.composite
def rules(draw, dim):
    """Arguments of a cutter."""
    inside = draw(st.booleans())
    pace = draw(st.sampled_from([0.7, 1.0, 1.5, 2.5, 4.0]))
    most = draw(st.integers(1, 4)) if inside else draw(st.integers(2, 9))
    credit = draw(st.integers(1, 6)) if inside else draw(st.integers(0, 3))
    return dim, inside, credit, pace, most, draw(st.integers(0, 9)), draw(st.integers(1, 3))


def literal_pieces(rows, dim, inside, credit, pace, most, fine, step):
    """Cut row by row, by definition, outside with a look after every row."""
    space, pieces, begin = naive.ambient(2, dim), [], 0
    look = 0  # length at which a piece is looked at
    for end in range(len(rows) + 1):
        length = end - begin
        if length and (not inside or length >= look):
            chain = naive.chain(space, rows[begin:end])
            value = sum(space.size(V) == dim for V in chain) if inside else len(chain)
            over = (
                value >= most or length >= credit + int(pace * value)
                if inside
                else length == most or value > credit + int(length / pace)
            )
            if over:
                pieces.append([end, value, length])
                begin, length, value = end, 0, 0
            look = min(credit + int(pace * value), length + step if length >= fine else fine)
        elif not length:
            look = min(credit, step if fine == 0 else fine)
    return pieces


class Cutter:
    """An open piece and its flag."""

    def __init__(self, version, dim, *rule):
        self.version, self.rule = version, rule
        self.flag, self.piece = version.gf2.flag(dim), (0, 0)

    def cut(self, words, ticks, size):
        cut = self.version.cut_pieces
        ends, self.piece = cut(self.flag, self.rule, self.piece, words, ticks, size)
        return ends


def fed(cutter, bits, sizes, keep_zeros=False):
    """Return the pieces of rows that come in portions, without zero rows."""
    ends, start = [], 0
    for size in [*sizes, len(bits) - sum(sizes)]:
        part = bits[start : start + size]
        ticks = np.arange(len(part)) if keep_zeros else np.flatnonzero(part.any(axis=1))
        found = cutter.cut(pack(part[ticks]), ticks, len(part))
        assert found.dtype == np.int64
        ends += (found + [start, 0, 0]).tolist()
        start += size
    return ends


@all_versions
@given(data=st.data())
def test_pieces_are_those_of_the_definition(version, data):
    dim = data.draw(st.integers(1, 4))
    rule = data.draw(rules(dim))
    row = st.lists(st.integers(0, 1), min_size=dim, max_size=dim)
    rows = data.draw(st.lists(row, max_size=40))
    bits = np.array(rows, np.uint8).reshape(-1, dim)
    sizes = [data.draw(st.integers(0, len(rows)))]
    assert fed(Cutter(version, *rule), bits, sizes) == literal_pieces(rows, *rule)


@native_versions
@pytest.mark.parametrize("dim", [1, 3, 31, 64, 65, 130, 257])
@pytest.mark.parametrize("inside", [True, False])
def test_versions_cut_alike(version, dim, inside):
    """Many rows, long pieces, zero rows between; copies and dumps go on where they were taken."""
    bits = sample("uniform", 3000, dim, 8)
    bits[np.random.default_rng(dim).random(3000) < 0.3] = 0
    most, pace = (7, 1.6 * dim) if inside else (9 * dim + 1, 1.2 * dim)
    rule = dim, inside, 3 * dim if inside else 2, pace, most, int(0.9 * most * pace), 1 + dim // 8
    expected = fed(Cutter(NATIVE["portable"], *rule), bits, [])
    assert fed(Cutter(version, *rule), bits, [100] * 20) == expected
    if inside:  # zero rows change nothing
        assert fed(Cutter(version, *rule), bits, [], keep_zeros=True) == expected
    cutter = Cutter(version, *rule)
    begin = fed(cutter, bits[:1234], [])
    for flag in (
        cutter.flag.copy(),
        version.gf2.flag_load(dim, *cutter.flag.dump()),
        cutter.flag,
    ):
        other = Cutter(version, *rule)
        other.flag, other.piece = flag, cutter.piece
        rest = fed(other, bits[1234:], [])
        assert begin + [[end + 1234, value, length] for end, value, length in rest] == expected


@all_versions
@pytest.mark.parametrize("inside", [True, False])
def test_bits_are_elements_of_larger_fields_too(version, inside):
    """Over GF(3), rows of unit vectors span as they do over GF(2)."""
    units = np.eye(3, dtype=np.uint8)[np.random.default_rng(5).integers(0, 3, 200)]
    rule = 3, inside, 6 if inside else 2, 4.0, 4 if inside else 30, 12, 2
    expected = fed(Cutter(version, *rule), units, [])
    flag = version.finite_field(3).flag(3)
    found, _ = version.cut_pieces(flag, rule[1:], (0, 0), units, np.arange(200), 200)
    assert len(expected) > 3
    assert found.tolist() == expected


@native_versions
def test_bad_arguments_are_refused(version):
    flag = version.gf2.flag(2)
    words, ticks = np.ones((2, 1), W), np.arange(2)
    rule = {"inside": True, "credit": 3, "pace": 1.0, "most": 2, "fine": 1, "step": 1}
    good = {"rule": tuple(rule.values()), "piece": (0, 0)}
    good |= {"rows": words, "ticks": ticks, "size": 3}
    for wrong in [
        {"credit": 0}, {"credit": -1}, {"credit": 2**62}, {"pace": 0.0}, {"pace": np.nan},
        {"pace": np.inf}, {"most": 0}, {"step": 0}, {"fine": -1}, {"most": 2**80}, {"inside": 2},
        {"pace": "1"},
    ]:  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            version.cut_pieces(flag, **good | {"rule": tuple((rule | wrong).values())})
    for wrong in [
        {"size": 1}, {"ticks": ticks[::-1].copy()}, {"ticks": ticks - 1}, {"size": -1},
        {"size": 2**61}, {"ticks": np.zeros(2, C)}, {"ticks": ticks[:1]},
        {"rows": np.ones((2, 2), W)}, {"rows": np.ones((2, 1), C)}, {"ticks": ticks.astype(W)},
        {"piece": (-1, 1)}, {"piece": (1, 0)}, {"piece": (1, -1)}, {"piece": (2**61, 1)},
        {"rule": (1,)},
    ]:  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            version.cut_pieces(flag, **good | wrong)
    with pytest.raises(TypeError):
        version.cut_pieces(None, **good)
    assert version.cut_pieces(flag, **good)[0].tolist() == [[3, 0, 3]]
