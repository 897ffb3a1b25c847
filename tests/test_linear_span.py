"""`rep_linear_span`: the whole pipeline in one call."""

import json
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from flagstone.algebra import pack
from flagstone.algebra.fields import QQ
from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace
from flagstone.coins import Coins
from flagstone.errors import InputError
from flagstone.pipeline import ask, rep_linear_span
from flagstone.question import SpanQuestion
from flagstone.rules import rule_named


def table(m=400, dim=6, order=2, seed=0):
    return np.random.RandomState(seed).randint(0, order, size=(m, dim))


@pytest.mark.parametrize("field", [2, 3, 7, "2^8"])
@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_is_the_road_in_one_call(field, rule):
    X = table(order=2)
    result = rep_linear_span(X, field=field, rule=rule, t_max=20, random_state=5)
    summary = Flag(6, field).update(X)
    assert result == ask(summary, SpanQuestion(), rule_named(rule, t_max=20), Coins(5))
    assert result.subspace <= Subspace.span(X, field)
    assert (result.window.rule, result.seed) == (rule, "5")


def test_wide_rows_take_the_flag():
    X = np.repeat(np.eye(70, dtype=int)[:3], 50, axis=0)
    assert rep_linear_span(X, t_max=10, random_state=1).subspace.dim == 3


def test_rationals():
    X = np.array([[Fraction(1, 2), Fraction(1)], [Fraction(1), Fraction(2)]] * 20, dtype=object)
    result = rep_linear_span(X, field=QQ, random_state=1)
    assert result.subspace.basis.tolist() == [[1, 2]]
    assert json.loads(json.dumps(result.to_dict()))["subspace"]["basis"] == ["1 2"]


def test_packed_rows():
    X = table()
    assert rep_linear_span(pack(X), random_state=1) == rep_linear_span(X, random_state=1)


def test_the_text_of_the_seed_is_what_counts():
    X = table()
    assert rep_linear_span(X, random_state=7) == rep_linear_span(X, random_state="7")


def test_a_fresh_seed_is_stored_and_said():
    X = table()
    fresh = rep_linear_span(X)
    assert fresh.seed_is_fresh
    assert "drawn afresh: share it" in repr(fresh)
    again = rep_linear_span(X, random_state=fresh.seed)
    assert again.subspace == fresh.subspace
    assert again.threshold == fresh.threshold
    assert "share it" not in repr(again)
    assert rep_linear_span(X).seed != fresh.seed


def test_result_is_a_value():
    X = table()
    result = rep_linear_span(X, random_state=7, t_max=30)
    assert hash(result) == hash(rep_linear_span(X, random_state=7, t_max=30))
    text = repr(result)
    assert result.fingerprint[:16] in text
    assert (str(result.window), result.seed) == ("{1..30}", "7")
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["fingerprint"] == result.fingerprint
    assert plain["promises"]["measured"]["margin"] == result.margin
    with pytest.raises(AttributeError):
        result.seed = "8"


def test_outliers_leave_no_trace():
    rng = np.random.RandomState(2)
    clean = rng.randint(0, 2, size=(980, 3)) @ np.eye(3, 10, dtype=int)
    X = rng.permutation(np.vstack([clean, rng.randint(0, 2, size=(20, 10))]))
    result = rep_linear_span(X, contamination=0.02, random_state=3)
    assert result.subspace == Subspace.span(np.eye(3, 10, dtype=int))
    assert Subspace.span(X).dim == 10


def test_silent_by_default():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rep_linear_span(table(), random_state=1)


@pytest.mark.parametrize(
    ("X", "parameters", "words"),
    [
        ([[0, 2]], {}, "2"),
        (np.zeros((0, 3), dtype=int), {}, "at least one row"),
        ([], {}, "X has no rows: a span is chosen from at least one row$"),
        ([[0, 1]], {"random_state": 1.5}, "seed"),
        ([[0, 1]], {"rho": 0}, "rho must lie"),
        ([[0, 1]], {"t_max": 2}, "more sets than there are rows"),
        ([[0, 1]], {"field": 6}, "6"),
    ],
)
def test_bad_input_is_explained(X, parameters, words):
    with pytest.raises(InputError, match=words):
        rep_linear_span(X, **parameters)


def test_a_frame_keeps_its_names():
    X = np.random.RandomState(1).randint(0, 2, size=(300, 3)) * [1, 1, 0]
    X[:, 2] = X[:, 0] ^ X[:, 1]
    found = rep_linear_span(pd.DataFrame(X, columns=["a", "b", "c"]), t_min=3, random_state=1)
    assert str(found.answer) == "a ⊕ b ⊕ c = 0"
    assert found.encoding.names == ("a", "b", "c")
    numbered = rep_linear_span(pd.DataFrame(X), t_min=3, random_state=1)
    assert numbered == rep_linear_span(X, t_min=3, random_state=1)
    with pytest.raises(InputError, match="two columns of the same name"):
        rep_linear_span(pd.DataFrame(X, columns=["a", "b", "a"]), t_min=3)
