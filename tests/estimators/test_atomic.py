"""Fits that fail or are interrupted, and what is left: exactly what was there before."""

import numpy as np
import pytest
from sklearn.base import clone

from flagstone import (
    AffineSpan,
    FieldEncoder,
    Flag,
    IndexRule,
    InputError,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
)
from flagstone.algebra.lift import CHUNK
from flagstone.errors import WindowError
from flagstone.estimators import EliminationClassifier

SIZE = CHUNK // 64  # rows of a chunk
SPANS = [ParityClassifier, EliminationClassifier, SubspaceClassifier, LinearEquations]
SPANS += [LinearSpan, AffineSpan]
X = np.random.RandomState(0).randint(0, 2, size=(60, 3))
Y = X[:, 0] ^ X[:, 1]
TALL = np.random.RandomState(1).randint(0, 2, size=(SIZE + 1, 3))
HUGE = np.ones(SIZE + 1, dtype=np.int64)
HUGE[[0, -1]] = 2**62


def state(model):
    return model.fingerprint_, model.flag_, model.n_features_in_, model.random_state_


@pytest.mark.parametrize("cls", SPANS)
def test_too_many_rows_count_for_none(cls):
    model = cls(random_state=1)
    with np.errstate(over="raise"), pytest.raises(InputError, match="these would be more"):
        model.fit(TALL, TALL[:, 0], sample_weight=HUGE)
    with pytest.raises(Exception, match="not fitted"):
        _ = model.formula_
    model.fit(X, Y)
    before = state(model)
    with pytest.raises(InputError, match="these would be more"):
        model.partial_fit(TALL, TALL[:, 0], sample_weight=HUGE)
    assert state(model) == before
    assert model.partial_fit(X[:1], Y[:1]).flag_.n_rows == 61


@pytest.mark.parametrize("width", [3, 30])
@pytest.mark.parametrize("begun", [False, True])
def test_an_interrupt_between_chunks_leaves_no_trace(monkeypatch, width, begun):
    table = np.zeros((SIZE + 1, width), dtype=np.uint8)
    table[:, 0] = 1
    model = LinearSpan(random_state=1, certify=False)
    if begun:
        before = state(model.fit(table[:9]))
    update, calls = Flag.update, []

    def interrupted(self, rows, weights=None):
        calls.append(len(rows))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return update(self, rows, weights)

    with monkeypatch.context() as patch:
        patch.setattr(Flag, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(table)
    assert calls == [SIZE, 1]
    if begun:
        assert state(model) == before
        assert model.partial_fit(table[:1]).flag_.n_rows == 10
    else:
        assert set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize("cls", SPANS)
@pytest.mark.parametrize(
    ("parameters", "table", "labels"),
    [
        ({}, X[:, :2] + 5, Y),
        ({}, X[:, :2], Y[:5]),
        ({"field": 6}, X[:, :2], Y),
        ({"certify": "no"}, X[:, :2], Y),
    ],
)
def test_a_failed_refit_keeps_the_old_fit(cls, parameters, table, labels):
    model = cls(random_state=1).fit(X, Y)
    before = state(model)
    if labels is not Y and cls in (LinearSpan, AffineSpan):
        table = table[:0]  # they have no labels that could be too few
    with pytest.raises(ValueError, match=r".+"):
        model.set_params(**parameters).fit(table, labels)
    model.set_params(field=2, certify=True)
    assert state(model) == before


def test_a_window_that_fails_after_the_rows_were_counted_keeps_the_old_fit():
    model = LinearSpan(random_state=1).fit(X)
    before = state(model)
    with pytest.raises(WindowError):
        model.set_params(rule=IndexRule(t_min=59, t_max=58)).fit(X[:, :2])
    assert state(model) == before


def test_estimators_without_a_flag_keep_their_fit_too():
    encoder = FieldEncoder().fit(X)
    before = dict(vars(encoder))
    with pytest.raises(InputError):
        encoder.fit([["one", 0.5], ["one", 0.25]])
    assert vars(encoder) == before
    assert encoder.transform(X).tolist() == X.tolist()


@pytest.mark.parametrize("cls", SPANS)
def test_a_flag_that_was_given_out_may_be_updated(cls):
    model = cls(random_state=1).fit(X, Y)
    model.flag_.update(np.ones((1, model.flag_.dim), dtype=int))
    assert model.flag_.n_rows == model.guarantee_.setup.n_rows == 60


@pytest.mark.parametrize(
    ("made", "changed"),
    [
        (LinearSpan(), {"field": 3}),
        (AffineSpan(), {"rho": 0.3}),
        (LinearEquations(field=3), {"field": "QQ"}),
        (ParityClassifier(), {"fit_intercept": False}),
        (ParityClassifier(classes=[0, 1]), {"classes": None}),
        (SubspaceClassifier(), {"affine": True}),
        (EliminationClassifier(), {"random_state": 7}),
        (LinearSpan(), {"certify": 0.9}),
        (LinearSpan(rule=IndexRule(t_max=3)), {"rule": IndexRule(t_max=4)}),
    ],
    ids=repr,
)
def test_what_rows_are_counted_by_cannot_change_on_the_way(made, changed):
    """It was silently ignored: rows of two kinds in one summary."""
    X = np.random.RandomState(0).randint(0, 2, size=(40, 3))
    y = X[:, 0] ^ X[:, 1]
    model = clone(made).partial_fit(X, y)
    (name,) = changed
    before = getattr(model, name)
    model.set_params(**changed)
    for act in (lambda: model.partial_fit(X, y), lambda: model.fingerprint_):
        with pytest.raises(InputError, match=rf"{name} was .* when the first rows were counted"):
            act()
    model.set_params(**{name: before}).partial_fit(X, y)
    assert model.flag_.n_rows == 80
    model.set_params(**changed)
    assert model.fit(X, y).flag_.n_rows == 40


def test_another_name_of_the_same_field_and_another_rule_are_no_change():
    X = np.eye(3, dtype=int)
    model = LinearSpan(rule=IndexRule(t_max=1), field=2, certify=False).partial_fit(X)
    model.set_params(field="GF(2)", rule=IndexRule(t_max=2)).partial_fit(X)
    assert model.flag_.n_rows == 6
