"""ParityClassifier and its baseline: rules, promises, chunks, labels."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import (
    BottomError,
    Coins,
    Flag,
    IndexRule,
    InputError,
    LinearSpan,
    ParityClassifier,
    ReplicabilityWarning,
    pack,
    plan,
)
from flagstone.answers import ParityRule
from flagstone.estimators import EliminationClassifier
from tests.bridge import span_of


def planted(n, d, seed, support=(0,), constant=0):
    X = np.random.RandomState(seed).randint(0, 2, size=(n, d)).astype(np.uint8)
    return X, np.bitwise_xor.reduce(X[:, list(support)], axis=1) ^ constant


@pytest.mark.parametrize("d", [7, 30, 63, 64, 65, 130])
def test_the_rule_is_that_of_the_road_taken_by_hand(d):
    """Estimator = rows (x, y) → summary → select_span → Algorithm 2, on every path."""
    X, y = planted(40 * d, d, seed=d, support=(1, d - 1))
    y[: d // 8] ^= 1
    rate = (d // 8) / len(X)
    given = {"contamination": rate, "choice": "uniform", "certify": False, "random_state": 5}
    model = ParityClassifier(fit_intercept=False, **given).fit(X, y)
    rows = np.column_stack([X, y])
    flag = Flag(d + 1).update(rows)
    result = span_of(flag, Coins(5), contamination=rate)
    assert model.finding_.subspace == result.subspace
    assert model.answer_ == ParityRule.from_subspace(result.subspace, coins=Coins(5))
    assert model.formula_ == f"y = x1 ⊕ x{d - 1}"
    expected = result.guarantee.with_coverage(flag.counts.tolist())
    assert model.guarantee_ == replace(expected, measured=replace(expected.measured, about="rule"))
    assert model.margin_ == result.guarantee.measured.margin


def test_fresh_samples_agree():
    a, b = (
        ParityClassifier(fit_intercept=False, random_state=2026).fit(
            *planted(3000, 12, seed, (3, 7))
        )
        for seed in (1, 2)
    )
    assert a.fingerprint_ == b.fingerprint_
    assert np.array_equal(a.coef_, b.coef_)
    assert a.formula_ == "y = x3 ⊕ x7"
    assert (a.predict(planted(50, 12, 3)[0]) == planted(50, 12, 3, (3, 7))[1]).all()


@pytest.mark.parametrize("intercept", [False, True])
def test_intercept(intercept):
    X, y = planted(500, 5, 0, (1, 2), constant=1)
    model = ParityClassifier(fit_intercept=intercept, random_state=1).fit(X, y)
    assert model.is_bottom_ == (not intercept)
    if intercept:
        assert (model.formula_, model.intercept_) == ("y = x1 ⊕ x2 ⊕ 1", 1)
        assert model.flag_.dim == 7


@given(st.integers(0, 2**32 - 1), st.sampled_from([5, 25, 70]), st.booleans())
def test_three_chunks_are_one_fit(seed, d, weighted):
    rng = np.random.RandomState(seed)
    X = rng.randint(0, 2, size=(60, d))
    y = rng.randint(0, 2, size=60)
    w = rng.randint(0, 4, size=60) if weighted else np.ones(60, dtype=int)
    at_once = ParityClassifier(rule=IndexRule(t_max=3), fit_intercept=False, random_state=1).fit(
        X, y, sample_weight=w
    )
    chunked = ParityClassifier(rule=IndexRule(t_max=3), fit_intercept=False, random_state=1)
    for part in np.split(np.arange(60), [13, 40]):
        chunked.partial_fit(X[part], y[part], sample_weight=w[part])
    repeated = ParityClassifier(rule=IndexRule(t_max=3), fit_intercept=False, random_state=1).fit(
        np.repeat(X, w, 0), np.repeat(y, w)
    )
    for other in (chunked, repeated):
        assert other.flag_ == at_once.flag_
        assert other.fingerprint_ == at_once.fingerprint_
        assert weighted or other.guarantee_.proven == at_once.guarantee_.proven


def test_choices():
    X = np.array([[1, 1, 0], [0, 0, 0]] * 50)
    y = X[:, 0]
    lexmin = ParityClassifier(fit_intercept=False, choice="lexmin", random_state=1).fit(X, y)
    assert lexmin.formula_ == "y = x1"
    rules = {
        ParityClassifier(fit_intercept=False, choice="uniform", random_state=s).fit(X, y).formula_
        for s in range(60)
    }
    assert rules == {"y = x0", "y = x1", "y = x0 ⊕ x2", "y = x1 ⊕ x2"}


def test_too_few_rows_for_an_asked_rho_warns_once_with_the_rows_needed():
    X, y = planted(200, 4, 0)
    with pytest.warns(ReplicabilityWarning, match=r"together need 731,850 rows") as seen:
        model = ParityClassifier(fit_intercept=False, rho=0.1, random_state=1).fit(X, y)
    assert ["together need" in str(warning.message) for warning in seen].count(True) == 1
    assert not model.guarantee_.is_coverage_proven
    assert "not proven" in str(model.guarantee_)
    assert model.guarantee_.proven.rows_needed == 731_850
    assert plan(5, 0.1, 0.1)["index"].rows == model.guarantee_.proven.rows_needed  # one count


def test_a_proven_fit_says_so_and_does_not_warn():
    X = np.eye(2, dtype=int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ParityClassifier(fit_intercept=False, rho=0.3, random_state=1).fit(
            X, [1, 0], sample_weight=[3_000_000, 3_000_000], weights_count_rows=True
        )
    assert model.guarantee_.is_replicable_proven
    assert model.guarantee_.is_coverage_proven
    assert model.formula_ == "y = x0"


def test_a_fresh_seed_is_kept_and_says_that_it_must_be_shared():
    X, y = planted(100, 4, 0)
    a = ParityClassifier().fit(X, y)
    assert "drawn afresh: share it" in repr(a.finding_)
    assert repr(a) == (
        f"ParityClassifier()\n# random_state_={a.random_state_!r} was drawn afresh: share it"
    )
    assert repr(ParityClassifier()) == "ParityClassifier()"
    b = ParityClassifier(random_state=a.random_state_).fit(X, y)
    assert b.fingerprint_ == a.fingerprint_
    assert "share it" not in repr(b.finding_) + repr(b)
    assert ParityClassifier(fit_intercept=False).fit(X, y).random_state_ != a.random_state_
    assert ParityClassifier(fit_intercept=False, random_state=7).fit(X, y).random_state_ == "7"


def test_bottom_is_an_answer_and_predict_explains_it():
    X = [[0, 1], [0, 1], [1, 1], [1, 1]] * 20
    y = [0, 1, 0, 1] * 20
    model = ParityClassifier(fit_intercept=False, random_state=1).fit(X, y)
    assert (model.is_bottom_, model.formula_, model.coef_, model.intercept_) == (
        True,
        "⊥",
        None,
        None,
    )
    with pytest.raises(BottomError, match="⊥: no linear rule fits"):
        model.predict(X)
    zeros = ParityClassifier(fit_intercept=False, random_state=1).fit([[0, 0]] * 20, [1] * 20)
    with pytest.raises(BottomError, match="their span contains 0…0 with a non-zero label"):
        zeros.predict(X)
    assert model.measure(X, y).misfits is None
    model.set_params(on_bottom="majority")
    assert model.fit(X, [1] * 41 + [0] * 39).predict(X).tolist() == [1] * 80
    assert model.get_feature_names_out().tolist() == []


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        (
            ParityClassifier(),
            r"allow for wrong rows with contamination; .*degree=2, or add columns",
        ),
        (ParityClassifier(contamination=0.01, degree=2), r"more wrong rows .*try degree=3"),
        (ParityClassifier(fit_intercept=False), r"a constant with fit_intercept=True"),
        (
            EliminationClassifier(),
            r"ParityClassifier allows .* contamination.* has degree=2 \(with more rows or less",
        ),
    ],
)
def test_bottom_says_what_to_try_next(model, advice):
    """The warning of fit and the error of predict name what this learner has, and does not use."""
    rng = np.random.RandomState(0)
    X, y = rng.randint(0, 2, (2000, 8)), rng.randint(0, 2, 2000)
    with pytest.warns(ReplicabilityWarning, match=advice) as warned:
        model.fit(X, y)
    with pytest.raises(BottomError, match=advice) as caught:
        model.predict(X)
    for text in (str(warned[0].message), str(caught.value)):
        assert ("fit_intercept" in text) == (not model.fit_intercept)
        assert text.endswith("on_bottom='majority' predicts the most frequent label")


def test_elimination_fits_everything_and_promises_nothing():
    X, y = planted(60, 6, 0, (0, 5))
    model = EliminationClassifier(fit_intercept=False, random_state=1).fit(X, y)
    assert model.formula_ == "y = x0 ⊕ x5"
    assert (model.finding_.window.t_min, model.finding_.window.t_max) == (1, 1)
    assert model.guarantee_.proven.rho is None
    assert model.guarantee_.measured.bracket == (0, 0)
    y[0] ^= 1
    assert EliminationClassifier(fit_intercept=False, random_state=1).fit(X, y).is_bottom_


def test_contamination_outlives_wrong_labels_where_elimination_does_not():
    X, y = planted(2000, 10, 3, (2, 4, 9))
    y[::100] ^= 1
    assert EliminationClassifier(fit_intercept=False, random_state=1).fit(X, y).is_bottom_
    for seed in range(10):
        model = ParityClassifier(fit_intercept=False, contamination=0.01, random_state=seed).fit(
            X, y
        )
        assert model.formula_ == "y = x2 ⊕ x4 ⊕ x9"
    found = model.measure(X, y)
    assert (found.read, found.misfits) == (2000, 20)
    assert found.uncovered >= 20
    low, high = model.guarantee_.measured.bracket
    assert low <= found.uncovered <= high


def test_measure_counts_weights():
    X, y = planted(50, 3, 0)
    model = ParityClassifier(fit_intercept=False, random_state=1).fit(X, y)
    y[:2] ^= 1
    weights = np.ones(50, dtype=int)
    weights[0] = 10
    assert model.measure(X, y, sample_weight=weights).misfits == 11
    assert str(model.measure(X, y)) == "50 rows: 2 uncovered (4 %), 2 misfits (4 %)"


# -- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (["no", "yes"], None),
        ([-1, 1], int),
        ([False, True], bool),
        ([0.0, 1.0], float),
        ([1, 2], int),
    ],
)
def test_two_labels_of_any_kind(labels, dtype):
    X, y = planted(300, 4, 0, (0, 2))
    y = np.array(labels, dtype=dtype)[y.astype(int)]
    model = ParityClassifier(fit_intercept=False, random_state=1).fit(X, y)
    assert model.classes_.tolist() == labels
    assert model.predict(X).tolist() == y.tolist()
    assert model.predict(X).dtype == y.dtype
    note = "" if labels == [0, 1] else f"  # {labels[0]!r} is 0, {labels[1]!r} is 1"
    assert model.formula_ == f"y = x0 ⊕ x2{note}"


def test_labels_in_the_field_stand_for_themselves():
    """Over GF(3), y = 2·x0 with x0 in {0, 1} shows the labels {0, 2} only."""
    X = np.random.RandomState(0).randint(0, 2, size=(200, 3))
    model = ParityClassifier(fit_intercept=False, field=3, random_state=1).fit(X, 2 * X[:, 0])
    assert model.formula_ == "y = 2·x0 (mod 3)"
    assert model.classes_.tolist() == [0, 2]
    # A linear rule may take values that were no label.
    assert model.predict([[2, 0, 0]]).tolist() == [1]


def test_a_value_without_a_label_counts_as_bottom():
    X = np.array([[0], [1]] * 30)
    y = np.array(["a", "b"] * 30)
    model = ParityClassifier(fit_intercept=False, field=3, random_state=1).fit(X, y)
    with pytest.raises(BottomError, match=r"value 2 in GF\(3\) on row 1"):
        model.predict([[1], [2]])
    model.set_params(on_bottom="majority")
    assert model.predict([[1], [2]]).tolist() == ["b", "a"]


def test_more_labels_than_the_field_has():
    X = np.zeros((4, 2), dtype=int)
    with pytest.raises(InputError, match=r"4 distinct labels \(3, 4, 5, 6\), but GF\(3\) has 3"):
        ParityClassifier(fit_intercept=False, field=3).fit(X, [3, 4, 5, 6])
    with pytest.raises(InputError, match=r"Only binary classification is supported. y has 3"):
        ParityClassifier(fit_intercept=False).fit(X, [0, 1, 2, 0])


def test_partial_fit_needs_all_labels_that_are_no_elements():
    X, y = planted(40, 3, 0)
    names = np.array(["no", "yes"])
    model = ParityClassifier(fit_intercept=False, random_state=1).partial_fit(
        X[:5], names[[0] * 5], classes=names
    )
    model.partial_fit(X[5:], names[y[5:].astype(int)])
    assert model.classes_.tolist() == ["no", "yes"]
    with pytest.raises(InputError, match="'maybe', a label that does not go with"):
        model.partial_fit(X[:1], ["maybe"])
    with pytest.raises(InputError, match="not the same as on last call"):
        model.partial_fit(X[:1], ["no"], classes=["no", "never"])
    growing = ParityClassifier(fit_intercept=False, field=5, random_state=1).partial_fit(
        [[0], [1]], [0, 3]
    )
    growing.partial_fit([[2]], [1])
    assert growing.classes_.tolist() == [0, 1, 3]
    assert growing.formula_ == "y = 3·x0 (mod 5)"
    with pytest.raises(InputError, match="must all be named"):
        growing.partial_fit([[2]], [7])
    with pytest.raises(InputError, match="does not go with"):
        ParityClassifier(fit_intercept=False).partial_fit([[0]], [1], classes=[0])


def test_a_refused_chunk_changes_nothing():
    X, y = planted(40, 3, 0)
    model = ParityClassifier(fit_intercept=False, random_state=1).partial_fit(X, y)
    before = model.flag_
    for bad in [
        lambda: model.partial_fit([[0, 1, 2]], [0]),
        lambda: model.partial_fit([[0, 1]], [0]),
        lambda: model.partial_fit(X[:2], [0, 9]),
        lambda: model.partial_fit(X[:2], [0, 1], sample_weight=[1, -1]),
        lambda: model.partial_fit(X[:2], [0]),
    ]:
        with pytest.raises(ValueError, match=r".+"):
            bad()
        assert model.flag_ == before
        assert model.classes_.tolist() == [0, 1]


# -- containers and copies ---------------------------------------------------------------------


@pytest.mark.parametrize("d", [10, 63, 64, 100])
def test_packed_rows_give_the_same_model(d):
    X, y = planted(300, d, 1, (0, d - 1))
    packed = ParityClassifier(fit_intercept=False, random_state=1).fit(pack(X), y)
    plain = ParityClassifier(fit_intercept=False, random_state=1).fit(X, y)
    assert packed.flag_ == plain.flag_
    assert packed.predict(pack(X)).tolist() == plain.predict(X).tolist()
    assert packed.n_features_in_ == d
    with pytest.raises(InputError, match=f"X has {d + 1} features, but ParityClassifier"):
        packed.predict(pack(np.zeros((2, d + 1), dtype=int)))
    with pytest.raises(InputError, match="minimum of 1 is required"):
        packed.fit(pack(X)[:0], y[:0])


def test_a_model_survives_pickling_and_goes_on():
    X, y = planted(300, 30, 1)
    model = ParityClassifier(fit_intercept=False, random_state=1).partial_fit(X[:100], y[:100])
    copy = pickle.loads(pickle.dumps(model))
    assert copy.partial_fit(X[100:], y[100:]).flag_ == model.partial_fit(X[100:], y[100:]).flag_
    assert copy.fingerprint_ == model.fingerprint_


@pytest.mark.parametrize("d", [5, 30])
def test_a_flag_once_given_out_does_not_change(d):
    X, y = planted(100, d, 1)
    model = ParityClassifier(fit_intercept=False, random_state=1).partial_fit(X, y)
    flag = model.flag_
    model.partial_fit(X, y)
    assert (flag.n_rows, model.flag_.n_rows) == (100, 200)


def test_refitting_forgets():
    X, y = planted(100, 5, 0, (0,))
    model = ParityClassifier(fit_intercept=False, random_state=1).fit(X, y)
    model.fit(X[:, :3], np.where(X[:, 1] == 1, "b", "a"))
    assert (model.n_features_in_, model.flag_.n_rows) == (3, 100)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.formula_ == "y = x1  # 'a' is 0, 'b' is 1"


def test_repr_is_readable():
    assert repr(ParityClassifier(rho=0.05, random_state=2026)) == (
        "ParityClassifier(random_state=2026, rho=0.05)"
    )


def test_the_answer_is_settled_when_first_asked_for_and_once():
    X, y = planted(100, 4, 0)
    model = ParityClassifier(fit_intercept=False, rho=0.1, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    with pytest.warns(ReplicabilityWarning):
        first = model.answer_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.answer_ is first


def test_no_rule_says_how_to_get_one():
    X, y = planted(400, 4, 0)
    y[::20] ^= 1
    with pytest.warns(ReplicabilityWarning, match="contamination; if the rule may not be linear"):
        ParityClassifier(rule=IndexRule(t_max=1)).fit(X, y)
    with pytest.warns(ReplicabilityWarning, match="more wrong rows.* constant with fit_intercept="):
        ParityClassifier(
            rule=IndexRule(t_min=1, t_max=1, contamination=0.01), fit_intercept=False
        ).fit(X, y)


def test_a_finding_of_another_kind_says_who_adopts_it():
    finding = ParityClassifier(random_state=1).fit(*planted(400, 4, 0)).finding_
    with pytest.raises(InputError, match="adopt it by a ParityClassifier"):
        LinearSpan().adopt(finding)
    with pytest.raises(InputError, match=r"adopt it by a ParityClassifier .*, field='GF\(2\)'$"):
        ParityClassifier(field=3).adopt(finding)
    assert ParityClassifier(field="GF(2)").adopt(finding).fingerprint_ == finding.fingerprint
