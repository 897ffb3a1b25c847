"""How far down a flag rows lie, against the spans themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import GF, QQ, Coins, Flag, IndexRule, ask
from flagstone.certificates.spaces import NestedSpaces
from flagstone.errors import FormatError
from flagstone.finding import MOST_COUNTED, Finding
from flagstone.guarantees import uncovered_bracket
from flagstone.measurement import measure
from flagstone.pipeline import certify
from flagstone.question import ConstraintsQuestion, SpanQuestion

FIELDS = [GF(2), GF(5), GF(2**8), QQ]


@given(
    st.sampled_from(FIELDS),
    st.integers(1, 7),
    st.lists(st.lists(st.integers(0, 4), min_size=7, max_size=7), max_size=25),
    st.lists(st.lists(st.integers(0, 4), min_size=7, max_size=7), min_size=1, max_size=8),
)
def test_rows_have_their_place_among_the_levels(F, dim, seen, asked):
    bound = 2 if F.order == 2 else 5
    seen, asked = ([[x % bound for x in row[:dim]] for row in rows] for rows in (seen, asked))
    flag = Flag(dim, F)
    if seen:
        flag.update(seen)
    rows = F.rows(asked)
    inside = [flag.span_at(level.first).contains(rows) for level in flag.levels()]
    spaces = NestedSpaces.of_flag(flag, [level.dim for level in reversed(flag.levels())])
    outside = len(inside) - np.sum(inside, axis=0) + F.nonzero(rows)
    assert spaces.first_space(spaces.coordinates(rows)).tolist() == outside.tolist()


def frames(n: int = 600, damaged: int = 9) -> np.ndarray:
    X = np.random.RandomState(5).randint(0, 2, size=(n, 9)).astype(np.uint8)
    X[:, 7] = X[:, 0] ^ X[:, 3] ^ 1
    X[:, 8] = X[:, 1] & X[:, 2]
    X[:damaged, 7] ^= 1
    return X


@pytest.mark.parametrize("question", [ConstraintsQuestion(), SpanQuestion()])
def test_a_second_look_counts_every_level_exactly(question):
    F, X = GF(2), frames()
    lifted = question.lift(F, F.rows(X))
    found = ask(Flag(question.dim(9)).update(lifted), question, IndexRule(t_max=30), Coins(3))
    assert found.rows.levels is None
    assert measure(found, F.rows(X)).levels is None  # no rows of a fit, as far as anybody knows
    levels = certify(found, X).rows.levels
    spaces = [found.flag.span_at(level.first) for level in found.flag.levels()]
    assert list(levels) == [int((~V.contains(lifted)).sum()) for V in spaces]
    counts = found.flag.counts.tolist()
    for step, outside in zip(found.stairs.levels, levels, strict=True):
        low, high = uncovered_bracket(counts, step.first)
        assert low <= outside <= high
    again = certify(found, X, shards=[600])
    assert again.rows.levels == levels
    read = Finding.from_dict(again.to_dict())
    assert read == again
    for edit in ([*levels, 600], [600] * len(levels), list(levels)[::-1]):
        data = again.to_dict()
        data["rows"]["levels"] = edit
        with pytest.raises(FormatError):
            Finding.from_dict(data)


def test_wide_rows_are_not_counted_by_level():
    X = np.eye(MOST_COUNTED + 1, dtype=np.uint8)[:3]
    found = ask(Flag(MOST_COUNTED + 1).update(X), SpanQuestion(), IndexRule(), Coins(1))
    assert found.spaces is None
    assert certify(found, X).rows.levels is None
