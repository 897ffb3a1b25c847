"""Estimators certify the rows of their fit, and no others."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from flagstone import (
    AffineSpan,
    Coins,
    Flag,
    HeavyRule,
    IndexRule,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
    ask,
    suggest_window,
)
from flagstone.errors import BottomError, InputError, ReplicabilityWarning
from flagstone.measurement import predict
from flagstone.pipeline import certify, rep_linear_span
from flagstone.question import SpanQuestion

WINDOW = {"rule": IndexRule(t_min=0.03, t_max=0.1), "random_state": 7}


def table(m=900, damage=0.005, seed=1):
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(m, 5))
    return X, X[:, 0] ^ X[:, 1] ^ (random.random_sample(m) < damage)


X, Y = table()
ESTIMATORS = [
    LinearSpan(**WINDOW),
    AffineSpan(**WINDOW),
    ParityClassifier(**WINDOW),
    LinearEquations(**WINDOW),
    SubspaceClassifier(**WINDOW | {"rule": IndexRule(t_min=0.01, t_max=0.04)}),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_estimator_certifies_its_rows(estimator):
    before = clone(estimator).set_params(certify=False).fit(X, Y)
    assert before.guarantee_.certified.certificate is None
    assert before.finding_.rows.uncovered is None
    elements = Y if before.finding_.question.labelled else None
    g = certify(before.finding_, X, elements).promises
    assert g.certified.certificate.n_certifying == 810
    assert g.certified.rho is not None
    at_once = clone(estimator).fit(X, Y)
    assert at_once.finding_ == certify(before.finding_, X, elements)
    assert at_once.guarantee_.certified == g.certified
    seen = at_once.measure(X, Y)
    measured = at_once.finding_.rows
    assert (measured.uncovered, measured.misfits) == (seen.uncovered, seen.misfits)
    assert at_once.guarantee_.measured.outside == seen.uncovered
    assert at_once.fingerprint_ == before.fingerprint_


def test_rows_that_came_in_parts_are_certified_together():
    whole = ParityClassifier(**WINDOW).fit(X, Y).finding_
    parts = ParityClassifier(**WINDOW, certify=False)
    for piece in (slice(0, 1), slice(1, 400), slice(400, 900)):
        parts.partial_fit(X[piece], Y[piece])
    with pytest.raises(InputError, match="in the same order"):
        certify(parts.finding_, X[:400], Y[:400])
    assert certify(parts.finding_, X, Y) == whole


def test_a_stream_certifies_by_default():
    stream = ParityClassifier(**WINDOW)
    for piece in (slice(0, 1), slice(1, 400), slice(400, 900)):
        stream.partial_fit(X[piece], Y[piece])
    assert stream.guarantee_.certified.any_time
    assert stream.guarantee_.certified.certificate is not None
    assert stream.finding_.rows.uncovered is None


def test_a_window_for_more_rows_than_came_certifies_nothing_on_the_way():
    stream = LinearSpan(rule=IndexRule(t_min=400, t_max=600), random_state=7)
    for piece in (slice(0, 30), slice(30, 900)):
        stream.partial_fit(X[piece])
    assert stream.guarantee_.certified.any_time


def test_a_pickled_estimator_keeps_what_it_knows():
    fitted = LinearSpan(**WINDOW).fit(X)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.finding_ == fitted.finding_
    again.partial_fit(X[:1])
    assert again.guarantee_.certified.certificate is None  # it was for fewer rows


# weights


def test_weights_withhold_every_promise():
    fitted = LinearSpan(**WINDOW).fit(X, sample_weight=[2] * 900)
    g = fitted.guarantee_
    assert str(g).startswith("no promise about fresh samples: sample_weight may count rows that")
    assert (g.proven.rho, g.certified.eps, g.proven.containment_failure) == (None, None, None)
    assert g.certified.certificate is None
    assert fitted.finding_.rows.uncovered == 2 * np.count_nonzero(~fitted.contains(X))


def test_weights_of_one_are_no_weights():
    plain = LinearSpan(**WINDOW).fit(X)
    assert LinearSpan(**WINDOW).fit(X, sample_weight=np.ones(900)).guarantee_ == plain.guarantee_
    assert LinearSpan(**WINDOW).fit(X, sample_weight=np.ones(900)).finding_ == plain.finding_


def test_many_times_the_same_few_rows_prove_nothing():
    random = np.random.RandomState(3)
    sample = random.randint(0, 2, size=(60, 8))
    said = LinearSpan(rho=0.1, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicabilityWarning)
        g = said.fit(sample, sample_weight=[10**9] * 60).guarantee_
        trusted = {"sample_weight": [10**9] * 60, "weights_count_rows": True}
        word = said.fit(sample, **trusted).guarantee_
    assert g.proven.rho is None
    assert not g.is_replicable_proven
    assert g.certified.rho is None
    assert "proven)" not in str(g).split(";")[0]
    assert word.proven.rho is not None
    assert word.is_replicable_proven


def test_rows_counted_by_value_certify_coverage_as_such():
    """A flag of counted rows is not in the order they came: S36 does not hold for it, S41 does."""
    values, counts = np.unique(X, axis=0, return_counts=True)
    word = LinearSpan(**WINDOW).fit(values, sample_weight=counts, weights_count_rows=True)
    g = word.guarantee_
    assert g.setup.sorted_rows
    flag = Flag(5).update(values, weights=counts)
    wrong = ask(flag, SpanQuestion(), IndexRule(t_min=0.03, t_max=0.1), Coins(7)).promises
    assert g.certified.future >= wrong.certified.future
    assert not LinearSpan(**WINDOW).fit(X, weights_count_rows=True).guarantee_.setup.sorted_rows


# parameters


@pytest.mark.parametrize("bad", [0, 1, 1.5, "much"])
def test_a_confidence_lies_between_zero_and_one(bad):
    with pytest.raises(InputError, match="certify"):
        LinearSpan(certify=bad).fit(X)
    with pytest.raises(InputError, match="confidence"):
        certify(LinearSpan(certify=False).fit(X).finding_, X, confidence=bad)
    assert LinearSpan(certify=0.9, **WINDOW).fit(X).guarantee_.certified.confidence == 0.9


@pytest.mark.parametrize("confidence", [Fraction(9, 10), np.float32(0.9), np.float64(0.9)])
def test_a_confidence_of_any_kind_of_number_is_kept_as_a_plain_one(confidence):
    X = np.random.RandomState(0).randint(0, 2, size=(400, 4))
    X[:, 3] = X[:, 0]
    found = LinearSpan(certify=confidence, random_state=1).fit(X).finding_
    assert found == LinearSpan(certify=float(confidence), random_state=1).fit(X).finding_
    assert type(found.promises.certified.confidence) is float
    suggested = suggest_window(X, confidence=confidence, random_state=1)
    plain = suggest_window(X, confidence=float(confidence), random_state=1)
    assert suggested.protocol == plain.protocol


def test_parameters_are_cloned_and_no_more_than_twelve():
    given = {"rule": HeavyRule(t_max=5), "certify": 0.9}
    for kind in (LinearSpan, AffineSpan, ParityClassifier, LinearEquations, SubspaceClassifier):
        twin = clone(kind(**given))
        assert {name: twin.get_params()[name] for name in given} == given
        assert len(twin.get_params()) <= 12
        documented = {name for name in twin.get_params() if f"\n{name} : " in kind.__doc__}
        assert documented == set(twin.get_params())
        assert "{" not in kind.__doc__.replace("{0", "").split("Notes")[0].split("choice")[0][:200]


def test_a_rule_is_a_name_or_an_object():
    by_name = LinearSpan(rule="heavy", eps=0.2, random_state=7).fit(X)
    assert by_name.finding_ == LinearSpan(rule=HeavyRule(eps=0.2), random_state=7).fit(X).finding_
    for bad in ("best", 3, None, IndexRule):
        with pytest.raises(InputError, match="rule must be 'index' or 'heavy'"):
            LinearSpan(rule=bad).fit(X)
    for name, value in {"rho": 0.1, "eps": 0.2, "contamination": 0.01}.items():
        with pytest.raises(InputError, match=rf"{name}={value} stands beside a rule"):
            LinearSpan(rule=IndexRule(), **{name: value}).fit(X)


# promises that were broken


def test_a_window_past_the_last_set_answers_in_every_sample():
    """d = 1, half of the rows zero: in half of all samples no set is as late as the window."""
    random = np.random.RandomState(1)
    kept = set()
    for _ in range(12):
        coin = (random.random_sample((2000, 1)) < 0.5).astype(int)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = rep_linear_span(coin, t_min=1000, t_max=1040, random_state=1)
        past = any("past the last" in str(warning.message) for warning in caught)
        assert past == (coin.sum() < 1000)
        if past:
            assert found.subspace.dim == 0
        kept.add(past)
    assert kept == {True, False}


@pytest.mark.parametrize("pair", [(1, -1), (1, 10), (0, 7)])
def test_labels_keep_their_caveat_where_a_rare_one_is_missing(pair):
    common, rare = pair
    for y in (np.full(900, common), np.where(np.arange(900) == 5, rare, common)):
        g = ParityClassifier(rule=IndexRule(t_max=20), random_state=1).fit(X, y).guarantee_
        assert g.setup.labels is not None
        assert any("the same labels in both samples" in text for text in g.hypotheses)
        if (g.proven.rho, g.certified.rho) != (None, None):
            assert "if both samples show the same labels" in str(g)
    named = ParityClassifier(rule=IndexRule(t_max=20), classes=sorted(pair), random_state=1)
    assert named.fit(X, np.full(900, common)).guarantee_.setup.labels is None


# honest edges


def test_is_empty_is_said_at_once_and_everywhere():
    window = {"rule": IndexRule(t_min=880, t_max=890), "random_state": 1}
    with pytest.warns(ReplicabilityWarning, match="No direction was kept.*starts earlier .t_min"):
        fitted = ParityClassifier(**window).fit(X, Y)
    assert fitted.is_empty_
    assert str(fitted.guarantee_).startswith("no direction was kept: the answer says nothing")
    assert fitted.formula_ == "y = 0  # No direction was kept: the rows say nothing"
    with pytest.warns(ReplicabilityWarning, match="this rule is only a draw of the coins"):
        ParityClassifier(**window, choice="uniform").fit(X, Y)
    assert not ParityClassifier(**WINDOW).fit(X, Y).is_empty_
    with pytest.warns(ReplicabilityWarning, match="the rows say nothing"):
        assert LinearSpan(**window).fit(X).is_empty_


def test_is_empty_predicts_nothing():
    """A rule that no row had a say in looks like any other."""
    window = {"rule": IndexRule(t_min=880, t_max=890), "random_state": 1}
    with pytest.warns(ReplicabilityWarning, match="No direction was kept"):
        fitted = ParityClassifier(**window).fit(X, Y)
    majority = clone(fitted).set_params(on_bottom="majority").partial_fit(X, Y)
    for used in (fitted.predict, lambda rows: fitted.score(rows, Y)):
        with pytest.raises(BottomError, match=r"no direction was kept.*on_bottom="):
            used(X)
    most = int(Y.mean() > 0.5)
    assert (majority.predict(X) == most).all()
    adopted = ParityClassifier().adopt(fitted.finding_)
    with pytest.raises(BottomError, match="no direction was kept"):
        adopted.predict(X)
    with pytest.raises(BottomError, match=r"No direction was kept.*starts and ends earlier"):
        predict(fitted.finding_, X)
    span = LinearSpan(**window).partial_fit(X)  # what no coin decides is said as it is
    assert (span.predict(X) == np.where(X.any(axis=1), -1, 1)).all()
    assert (predict(span.finding_, span.finding_.field.rows(X)) == ~X.any(axis=1)).all()


def test_zero_rows_alone_are_no_window_that_keeps_nothing():
    """{0} holds every row, so its equations say all there is."""
    for m in (20, 500):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            span = LinearSpan(random_state=1).fit(np.zeros((m, 4), dtype=int))
        assert span.formula_ == "x0 = 0\nx1 = 0\nx2 = 0\nx3 = 0"
        assert not span.is_empty_
        assert span.finding_.support == "whole"
    with pytest.warns(ReplicabilityWarning, match="starts past the only set"):
        LinearSpan(random_state=1).fit(np.eye(500, 4, dtype=int)[-500:])


def test_bottom_is_said_at_once_with_the_ways_out():
    odd = np.arange(900) % 2
    with pytest.warns(ReplicabilityWarning) as caught:
        bottom = ParityClassifier(fit_intercept=False, random_state=1).fit(X, odd)
    assert bottom.is_bottom_
    said = str(caught[0].message)
    assert "⊥" in said
    assert "on_bottom='majority'" in said
    assert "fit_intercept=True" in said
    with pytest.warns(ReplicabilityWarning, match="on_bottom='majority'") as caught:
        ParityClassifier(random_state=1).fit(X, odd)
    assert "fit_intercept" not in str(caught[0].message)


def test_two_text_labels_need_no_luck_with_their_alphabet():
    for names in (["no", "yes"], ["yes", "no"], ["on", "off"]):
        labels = np.array(names)[X[:, 0] ^ X[:, 3]]
        fitted = ParityClassifier(random_state=1).fit(X, labels)
        assert not fitted.is_bottom_
        assert (fitted.predict(X) == labels).all()
