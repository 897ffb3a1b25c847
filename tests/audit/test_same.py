"""Sameness: what each notion looks at, and nothing else."""

from types import SimpleNamespace

import numpy as np
import pytest

from flagstone.audit import Same
from flagstone.audit.same import TaskError
from flagstone.errors import InputError


def fitted(**attributes):
    return SimpleNamespace(**attributes)


class Threshold:
    """Predicts whether the first entry exceeds a bound."""

    def __init__(self, bound):
        self.bound = bound

    def predict(self, X):
        return np.asarray(X)[:, 0] > self.bound


def test_fingerprints_are_compared_whatever_else_differs():
    a = fitted(fingerprint_="x", coef_=[1])
    for kind in ("auto", "fingerprint"):
        assert Same(kind)(a, fitted(fingerprint_="x", coef_=[2])) is True
        assert Same(kind)(a, fitted(fingerprint_="y", coef_=[1])) is False


def test_coefficients_are_compared_with_the_intercept_where_there_is_one():
    a = fitted(coef_=np.array([1, 0]), intercept_=np.array([3]))
    for kind in ("auto", "coef"):
        assert Same(kind)(a, fitted(coef_=np.array([1, 0]), intercept_=np.array([3])))
        assert not Same(kind)(a, fitted(coef_=np.array([1, 0]), intercept_=np.array([4])))
        assert not Same(kind)(a, fitted(coef_=np.array([1, 1]), intercept_=np.array([3])))
        assert Same(kind)(fitted(coef_=[1]), fitted(coef_=[1]))
        assert not Same(kind)(fitted(coef_=[1]), fitted(coef_=[2]))
        assert Same(kind)(fitted(coef_=[1]), fitted(coef_=[1], intercept_=0))
        assert not Same(kind)(fitted(coef_=[1]), fitted(coef_=[1], intercept_=1))
    assert Same("coef")(fitted(coef_=[1], fingerprint_="x"), fitted(coef_=[1], fingerprint_="y"))


def test_predictions_are_compared_on_the_grid_alone():
    grid = [[0, 0], [5, 0]]
    for same in (Same("predictions", grid=grid), Same(grid=grid)):
        assert same(Threshold(1), Threshold(4)) is True
        assert same(Threshold(1), Threshold(5)) is False
        assert same.kind == "predictions"
        assert repr(same) == "Same('predictions', grid of 2 rows)"


def test_a_function_decides_for_itself():
    same = Same(lambda a, b: a.n % 10 == b.n % 10, name="last digit")
    assert same(fitted(n=3), fitted(n=13)) is True
    assert same(fitted(n=3), fitted(n=14)) is False
    assert (same.name, same.anonymous) == ("last digit", False)
    assert repr(same) == "Same('last digit')"
    unnamed = Same(lambda a, b: True)
    assert unnamed.anonymous
    assert unnamed.name == "<lambda> (unnamed)"
    assert not Same("coef").anonymous
    plain = Same(test_a_function_decides_for_itself)
    assert not plain.anonymous
    assert "test_a_function_decides_for_itself#" in plain.name


def test_what_is_missing_is_named():
    for kind, attribute in (("fingerprint", "fingerprint_"), ("coef", "coef_"), ("auto", "coef_")):
        for pair in ((fitted(), fitted()), (fitted(coef_=1, fingerprint_=1), fitted())):
            missing = "fingerprint_" if kind == "auto" and vars(pair[0]) else attribute
            with pytest.raises(TaskError, match=f"SimpleNamespace has no {missing}"):
                Same(kind)(*pair)


def test_canonical_forms_tell_notions_apart():
    notions = [
        Same(),
        Same("coef"),
        Same("fingerprint"),
        Same(grid=[[0]]),
        Same(grid=[[1]]),
        Same(grid=[[0, 1]]),
        Same(lambda a, b: True, name="a"),
        Same(lambda a, b: True, name="b"),
    ]
    assert len({repr(same.canonical()) for same in notions}) == len(notions)
    assert Same(grid=[[0]]).canonical() == Same("predictions", grid=np.array([[0]])).canonical()
    assert Same("coef").canonical() == {"same": "coef", "grid": None}


def test_notions_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match=r"one of \['auto', 'coef', 'fingerprint', .* got 'shape'"):
        Same("shape")
    with pytest.raises(InputError, match="a name or a callable, got 3"):
        Same(3)
    with pytest.raises(InputError, match="give them as grid="):
        Same("predictions")
    for kind in ("coef", "fingerprint", lambda a, b: True):
        with pytest.raises(InputError, match="and only there"):
            Same(kind, grid=[[0]])
