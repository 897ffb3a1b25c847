"""LinearSpan, AffineSpan, LinearEquations, SubspaceClassifier."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import (
    AffineSpan,
    AffineSubspace,
    BottomError,
    IndexRule,
    InputError,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    Subspace,
    SubspaceClassifier,
)
from flagstone.errors import ReplicabilityWarning
from flagstone.pipeline import rep_linear_span
from tests.strategies import ORDERS, elements, table


@st.composite
def tables(draw, orders=ORDERS, dim=3, extra=0):
    order = draw(st.sampled_from(orders))
    pool = draw(st.lists(st.tuples(*[elements(order)] * (dim + extra)), min_size=1, max_size=4))
    rows = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=25))
    return order, table(order, dim + extra, rows)


@given(tables(), st.integers(0, 5), st.integers(1, 3))
def test_linear_span_is_rep_linear_span(case, seed, t_max):
    order, X = case
    t_max = min(t_max, len(X))
    model = LinearSpan(rule=IndexRule(t_max=t_max), field=order, random_state=seed).fit(X)
    result = rep_linear_span(X, field=order, random_state=seed, t_max=t_max)
    assert model.subspace_ == result.subspace
    assert model.fingerprint_ == result.fingerprint
    assert model.set_params(certify=False).fit(X).guarantee_ == result.promises
    inside = result.subspace.contains(X)
    assert model.predict(X).tolist() == [1 if i else -1 for i in inside]
    assert ((model.syndrome(X) == 0).all(axis=1) == inside).all()
    assert model.transform(X).shape == (len(X), 3 - result.subspace.dim)
    assert model.measure(X).uncovered == np.count_nonzero(~inside)
    low, high = model.guarantee_.measured.bracket
    assert low <= model.measure(X).uncovered <= high


@given(tables(), st.integers(0, 5), st.integers(1, 3))
def test_affine_span_lies_in_the_affine_span_and_covers(case, seed, t_max):
    order, X = case
    model = AffineSpan(
        rule=IndexRule(t_max=min(t_max, len(X))), field=order, random_state=seed
    ).fit(X)
    A = model.subspace_
    F = A.field
    rows = F.array(F.rows(X))
    whole = AffineSubspace.from_point(rows[0], Subspace.span(F.sub(rows, rows[:1]), F, dim=3))
    assert len(model.points_) <= 4
    assert whole.contains(model.points_).all()
    assert A.contains(model.points_).all()
    if len(model.points_):
        spanned = AffineSubspace.from_point(
            model.points_[0], Subspace.span(F.sub(model.points_, model.points_[:1]), F, dim=3)
        )
        assert spanned == A
    assert (model.predict(X) == np.where(A.contains(X), 1, -1)).all()
    uncovered = np.count_nonzero(~A.contains(X))
    assert model.measure(X).uncovered == uncovered
    assert uncovered <= model.guarantee_.measured.bracket[1]
    obeying = model.constraints_.subspace
    if isinstance(obeying, Subspace):
        obeying = AffineSubspace.from_point(F.array(F.empty(1, 3))[0], obeying)
    assert obeying == A


@given(tables(extra=1), st.integers(0, 5), st.integers(1, 3))
def test_linear_equations_keep_what_they_promise(case, seed, t_max):
    order, rows = case
    A, b = rows[:, :3], rows[:, 3]
    model = LinearEquations(
        rule=IndexRule(t_max=min(t_max, len(A))), field=order, random_state=seed
    ).fit(A, b)
    everything = LinearEquations(rule=IndexRule(t_max=1), field=order, random_state=seed).fit(A, b)
    if everything.is_feasible_:
        assert model.is_feasible_
    if model.is_feasible_:
        assert model.contradiction(A, b) is None
        x = model.solve()
        assert model.answer_.check([x]).all()
        found = model.measure(A, b)
        assert found.misfits == found.uncovered
        low, high = model.guarantee_.measured.bracket
        assert low <= found.uncovered <= high
        if order in (2, 3, 4):
            points = np.array(list(itertools.product(range(order), repeat=3)))
            every = points[model.answer_.check(points)]
            F = model.answer_.field
            wrong = F.dot(F.rows(A), every) != F.array(F.rows(b[:, None]))
            assert wrong.sum(axis=0).max() <= found.uncovered
        if order != "QQ":
            assert model.answer_.check([model.solve(choice="uniform")]).all()
    else:
        assert model.solution_ is None
        assert model.contradiction(A, b).verify(A, b)
        assert model.contradiction().verify(model.answer_.matrix, model.answer_.rhs)
        with pytest.raises(BottomError, match="no solution"):
            model.solve()
        found = model.measure(A, b)
        assert found.misfits == found.uncovered


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 4, 251]), st.booleans(), st.integers(1, 3))
def test_no_false_positive_on_realizable_data(seed, order, affine, t_max):
    rng = np.random.RandomState(seed)
    direction = Subspace.span(rng.randint(0, order, size=(2, 4)), order)
    point = rng.randint(0, order, size=4) if affine else np.zeros(4, dtype=int)
    truth = AffineSubspace.from_point(point, direction)
    X = np.concatenate([truth.points(), rng.randint(0, order, size=(40, 4))])
    y = truth.contains(X)
    if y.all():
        return
    model = SubspaceClassifier(
        rule=IndexRule(t_max=t_max), affine=affine, field=order, random_state=seed
    )
    model.fit(X, y)
    probe = rng.randint(0, order, size=(100, 4))
    assert not (model.predict(probe) & ~truth.contains(probe)).any()
    assert model.flag_.n_rows == len(X)
    found = model.measure(X, y)
    assert found.misfits == found.uncovered
    assert found.uncovered <= model.guarantee_.measured.bracket[1]


def test_merged_directions_do_not_enter_with_contamination():
    X = np.random.RandomState(0).randint(0, 2, size=(3000, 12))
    X[:, 11] = X[:, 0] ^ X[:, 3]
    X[:, 10] = X[:, 1]
    X[:60] = np.random.RandomState(1).randint(0, 2, size=(60, 12))
    for seed in range(5):
        model = LinearSpan(contamination=0.02, random_state=seed).fit(X)
        assert set(model.formula_.splitlines()) == {"x0 ⊕ x3 ⊕ x11 = 0", "x1 ⊕ x10 = 0"}


def test_chunks_weights_and_names_of_span_estimators():
    X = np.random.RandomState(0).randint(0, 2, size=(50, 4))
    y = X[:, 0] ^ X[:, 3]
    w = np.random.RandomState(1).randint(0, 3, size=50)
    for model in (LinearSpan(random_state=1), AffineSpan(random_state=1)):
        whole = model.fit(X, sample_weight=w).flag_
        assert model.fit(np.repeat(X, w, axis=0)).flag_ == whole
        fresh = type(model)(random_state=1)
        for part in np.split(np.arange(50), [10, 30]):
            fresh.partial_fit(X[part], sample_weight=w[part])
        assert fresh.flag_ == whole
        assert fresh.fingerprint_ == model.fingerprint_
    system = LinearEquations(random_state=1)
    for part in np.split(np.arange(50), [10, 30]):
        system.partial_fit(X[part], y[part], sample_weight=w[part])
    assert system.flag_ == LinearEquations(random_state=1).fit(X, y, sample_weight=w).flag_
    assert system.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3"]
    labels = SubspaceClassifier(random_state=1)
    for part in np.split(np.arange(50), [1, 30]):
        labels.partial_fit(X[part], y[part], sample_weight=w[part])
    assert labels.flag_ == SubspaceClassifier(random_state=1).fit(X, y, sample_weight=w).flag_


# -- single class, constant columns, nothing left ----------------------------------------------


def test_constant_columns_are_equations():
    X = np.random.RandomState(0).randint(0, 2, size=(200, 3))
    X[:, 1], X[:, 2] = 0, 1
    assert LinearSpan(random_state=1).fit(X).formula_ == "x1 = 0"
    assert AffineSpan(random_state=1).fit(X).formula_ == "x1 = 0\nx2 = 1"
    assert LinearSpan(random_state=1).fit(np.zeros((9, 2), dtype=int)).subspace_.dim == 0


def test_all_negative_labels_leave_nothing():
    X = np.random.RandomState(0).randint(0, 2, size=(50, 3))
    model = SubspaceClassifier(random_state=1).partial_fit(X, [0] * 50, classes=[0, 1])
    assert model.subspace_ == Subspace.zero(3)
    assert model.predict([[0, 0, 0], [1, 0, 0]]).tolist() == [1, 0]
    model = SubspaceClassifier(affine=True, random_state=1).fit(X, [0] * 50)
    assert model.subspace_.is_empty
    assert model.formula_ == "0 = 1"
    assert not model.contains([[0, 0, 0], [1, 0, 0]]).any()
    assert model.predict([[1, 0, 0]]).tolist() == [0]


def test_a_single_class():
    X = np.eye(2, dtype=int)
    only = SubspaceClassifier(random_state=1).fit(X[:1], [1])
    assert only.predict(X).tolist() == [1, 1]
    assert only.contains(X).tolist() == [True, False]
    only.partial_fit(X[1:], [0])
    assert only.classes_.tolist() == [0, 1]
    assert only.predict(X).tolist() == [1, 0]
    with pytest.raises(InputError, match=r"only one class, .*'yes'"):
        SubspaceClassifier().fit(X, ["yes", "yes"])
    with pytest.raises(InputError, match="2, a label that does not go with"):
        SubspaceClassifier().partial_fit(X[:1], [1]).partial_fit(X[1:], [2])
    with pytest.raises(InputError, match="Only binary classification is supported"):
        SubspaceClassifier().fit(np.eye(3, dtype=int), ["a", "b", "c"])


def test_an_infeasible_system_says_why():
    A = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]] * 40)
    b = np.array([1, 0, 0] * 40)
    model = LinearEquations(random_state=1).fit(A, b)
    assert not model.is_feasible_
    assert "0 = 1" in model.formula_
    assert str(model.contradiction(A, b)) == "equation 0 + equation 1 + equation 2 gives 0 = 1"


@pytest.mark.parametrize("field", [2, 5, "QQ"])
def test_every_estimator_says_of_each_row_whether_the_kept_span_holds_it(field):
    """Rows of the plane x1 = 0; (x, y) is held with the right label only."""
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.randint(0, 2, 90), np.zeros(90, dtype=int), rng.randint(0, 2, 90)])
    y = X[:, 0]
    new, labels = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]), [1, 0, 0, 0]
    options = {"field": field, "random_state": 1, "rule": IndexRule(t_max=3)}
    for cls in (LinearSpan, AffineSpan):
        assert cls(**options).fit(X).contains(new).tolist() == [True, True, False, True]
    choice = {"choice": "lexmin"} if field == "QQ" else {}
    for model in (
        ParityClassifier(**options, **choice),
        ParityClassifier(**options, **choice, fit_intercept=False),
        LinearEquations(**options),
    ):
        model.fit(X, y)
        assert model.contains(new).tolist() == [True, True, False, True]
        assert model.contains(new, labels).tolist() == [True, True, False, False]
        measured = model.measure(new, labels)
        assert measured.uncovered == 2
    positive = SubspaceClassifier(**options).fit(X, np.ones(90, dtype=int))
    assert positive.contains(new).tolist() == [True, True, False, True]


def test_an_infeasible_system_names_methods_that_there_are():
    A, b = np.array([[1, 0], [1, 0], [0, 1]] * 20), np.array([0, 1, 1] * 20)
    advice = r"⊥; contradiction\(X, y\) shows which clash; .* wrong rows with contamination"
    with pytest.warns(ReplicabilityWarning, match=advice):
        model = LinearEquations(random_state=1).fit(A, b)
    with pytest.raises(BottomError, match=r"; contradiction\(X, y\) shows which") as caught:
        model.solve()
    assert hasattr(model, re.search(r"(\w+)\(X, y\)", str(caught.value))[1])
    assert model.contradiction(A, b).verify(A, b)


def test_the_formula_lists_equations_in_the_order_of_the_shell():
    a, b, c, e = np.random.RandomState(1).randint(0, 900, size=(4, 300))
    model = AffineSpan(field="QQ", random_state=1).fit(np.stack([a, b, c, a + b + c, e, e]).T)
    lines = ["x4 - x5 = 0", "x0 + x1 + x2 - x3 = 0"]
    assert model.formula_.splitlines() == list(model.finding_.lines) == lines
    assert list(model.answer_.lines) == lines[::-1]
