"""Estimators certify the rows of their fit, and no others."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from flagstone import (
    AffineSpan,
    BitRows,
    Coins,
    Flag,
    IndexRule,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
    ask,
)
from flagstone.algebra.fields import GF, QQ
from flagstone.apply import predict
from flagstone.errors import BottomError, InputError, ReplicabilityWarning
from flagstone.estimators._digest import digest_of
from flagstone.linear_span import rep_linear_span
from flagstone.question import SpanQuestion

WINDOW = {"t_min": 0.03, "t_max": 0.1, "random_state": 7}


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
    SubspaceClassifier(**WINDOW | {"t_min": 0.01, "t_max": 0.04}),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_estimator_certifies_its_rows(estimator):
    before = clone(estimator).fit(X, Y)
    assert before.guarantee_.certified.certificate is None
    g = before.certify(X, Y)
    assert g == before.guarantee_ == before.finding_.promises
    assert g.certified.certificate.n_certifying == 810
    assert g.certified.rho is not None
    assert before.finding_.rows.uncovered is not None
    at_once = clone(estimator).set_params(confidence=0.99).fit(X, Y)
    assert at_once.guarantee_ == g
    assert at_once.fingerprint_ == before.fingerprint_


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (X[::-1], Y[::-1]),
        (X[:-1], Y[:-1]),
        (np.vstack([X, X[:1]]), np.append(Y, Y[0])),
        (np.vstack([X[1:], X[:1]]), Y),
        (X, 1 - Y),
        (X ^ 1, Y),
    ],
    ids=["other order", "one less", "one more", "turned around", "other labels", "other rows"],
)
def test_other_rows_are_refused(rows, labels):
    fitted = ParityClassifier(**WINDOW).fit(X, Y)
    with pytest.raises(InputError, match="on the rows of its fit, in their order; these are other"):
        fitted.certify(rows, labels)
    assert fitted.guarantee_.certified.certificate is None


def test_rows_that_came_in_parts_are_certified_together():
    whole = ParityClassifier(**WINDOW).fit(X, Y).certify(X, Y)
    parts = ParityClassifier(**WINDOW)
    for piece in (slice(0, 1), slice(1, 400), slice(400, 900)):
        parts.partial_fit(X[piece], Y[piece])
    with pytest.raises(InputError, match="these are others"):
        parts.certify(X[:400], Y[:400])
    assert parts.certify(X, Y) == whole
    parts.partial_fit(X[:1], Y[:1])  # what was certified was for fewer rows
    assert parts.guarantee_.certified.certificate is None


def test_a_pickled_estimator_still_knows_its_rows():
    fitted = pickle.loads(pickle.dumps(LinearSpan(**WINDOW).fit(X)))
    with pytest.raises(InputError, match="these are others"):
        fitted.certify(X[::-1])
    assert fitted.certify(X).certified.rho is not None
    again = pickle.loads(pickle.dumps(fitted))
    assert again.guarantee_ == fitted.guarantee_


@pytest.mark.parametrize("field", [GF(2), GF(7), QQ], ids=str)
def test_a_digest_does_not_depend_on_batches(field):
    rows, labels = field.rows(X), field.elements(Y)
    whole = digest_of(field, rows, labels)
    for cut in (0, 1, 450, 900):
        first = digest_of(field, rows[:cut], labels[:cut])
        assert first.update(rows[cut:], labels[cut:]) == whole
    assert digest_of(field, rows, labels[::-1]) != whole


def test_a_long_digest_does_not_either():
    field = GF(2)
    rows = field.rows(np.random.RandomState(0).randint(0, 2, size=(20_000, 3)))
    whole = digest_of(field, rows, None)
    for step in (8191, 8192, 8193, 20_000):
        digest = digest_of(field, rows[:0], None)
        for start in range(0, len(rows), step):
            digest = digest.update(rows[start : start + step], None)
        assert digest == whole


def test_a_long_digest_sees_what_moves_by_whole_chunks():
    """Each word meets the word a chunk later in one lane; the last column is its highest bit."""
    words = np.zeros((3 * 8192, 1), dtype=np.uint64)
    none = digest_of(GF(2), BitRows(words, 64), None)
    assert digest_of(GF(2), BitRows(words[:8192], 64), None) != none
    assert digest_of(GF(2), BitRows(words[:16384], 64), None) != none
    for column in (0, 31, 32, 63):
        seen = [none]
        for rows in ([5], [5 + 8192], [5, 5 + 8192], [5, 5 + 16384]):
            marked = words.copy()
            marked[rows] = np.uint64(1) << np.uint64(column)
            seen.append(digest_of(GF(2), BitRows(marked, 64), None))
        assert all(a != b for i, a in enumerate(seen) for b in seen[:i])


# weights


def test_weights_withhold_every_promise():
    fitted = LinearSpan(**WINDOW).fit(X, sample_weight=[2] * 900)
    g = fitted.guarantee_
    assert str(g).startswith("no promise about fresh samples: sample_weight may count rows that")
    assert (g.proven.rho, g.certified.eps, g.proven.containment_failure) == (None, None, None)
    with pytest.raises(InputError, match="counted by sample_weight cannot be certified"):
        fitted.certify(X)
    at_once = LinearSpan(confidence=0.9, **WINDOW).fit(X, sample_weight=[2] * 900)
    assert at_once.guarantee_.certified.certificate is None


def test_weights_of_one_are_no_weights():
    plain = LinearSpan(**WINDOW).fit(X)
    assert LinearSpan(**WINDOW).fit(X, sample_weight=np.ones(900)).guarantee_ == plain.guarantee_
    assert LinearSpan(**WINDOW).fit(X, sample_weight=np.ones(900)).certify(X) == plain.certify(X)


def test_many_times_the_same_few_rows_prove_nothing():
    random = np.random.RandomState(3)
    sample = random.randint(0, 2, size=(60, 8))
    said = LinearSpan(rho=0.1, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicabilityWarning)
        g = said.fit(sample, sample_weight=[10**9] * 60).guarantee_
        trusted = LinearSpan(rho=0.1, random_state=1, weights_count_rows=True)
        word = trusted.fit(sample, sample_weight=[10**9] * 60).guarantee_
    assert g.proven.rho is None
    assert not g.is_replicable
    assert "proven)" not in str(g).split(";")[0]
    assert word.proven.rho is not None
    assert word.is_replicable


def test_rows_counted_by_value_certify_coverage_as_such():
    """A flag of counted rows is not in the order they came: S36 does not hold for it, S41 does."""
    values, counts = np.unique(X, axis=0, return_counts=True)
    word = LinearSpan(weights_count_rows=True, **WINDOW).fit(values, sample_weight=counts)
    g = word.guarantee_
    assert g.setup.sorted_rows
    flag = Flag(5).update(values, weights=counts)
    wrong = ask(flag, SpanQuestion(), IndexRule(t_min=0.03, t_max=0.1), Coins(7)).promises
    assert g.certified.future >= wrong.certified.future
    assert not LinearSpan(weights_count_rows=True, **WINDOW).fit(X).guarantee_.setup.sorted_rows


# take


def test_take_fits_and_certifies_the_first_rows():
    short = ParityClassifier(**WINDOW).fit(X[:600], Y[:600])
    taken = ParityClassifier(take=600, **WINDOW).fit(X, Y)
    assert taken.guarantee_ == short.guarantee_
    assert taken.certify(X, Y) == short.certify(X[:600], Y[:600])
    assert (
        ParityClassifier(take=600, confidence=0.9, **WINDOW).fit(X, Y).guarantee_.setup.n_rows
        == 600
    )
    weights = np.arange(900) + 1
    assert LinearSpan(take=3, **WINDOW).fit(X, sample_weight=weights).guarantee_.setup.n_rows == 6


def test_take_refuses_what_it_cannot_have():
    with pytest.raises(InputError, match=r"take=901 asks for more rows than there are \(900\)"):
        LinearSpan(take=901, **WINDOW).fit(X)
    begun = LinearSpan(take=300, **WINDOW).partial_fit(X)
    with pytest.raises(InputError, match="take fixes the rows of one fit"):
        begun.partial_fit(X)
    for bad in (0, -1, 1.5, True, "3"):
        with pytest.raises(InputError, match="take"):
            LinearSpan(take=bad).fit(X)


@pytest.mark.parametrize("bad", [0, 1, 1.5, "much"])
def test_a_confidence_lies_between_zero_and_one(bad):
    with pytest.raises(InputError, match="confidence"):
        LinearSpan(confidence=bad).fit(X)
    with pytest.raises(InputError, match="confidence"):
        LinearSpan().fit(X).certify(X, confidence=bad)


def test_parameters_are_cloned():
    given = {"weights_count_rows": True, "take": 5, "confidence": 0.9}
    for kind in (LinearSpan, AffineSpan, ParityClassifier, LinearEquations, SubspaceClassifier):
        twin = clone(kind(**given))
        assert {name: twin.get_params()[name] for name in given} == given


def test_a_failed_certification_leaves_the_estimator_as_it_was():
    fitted = LinearSpan(**WINDOW).fit(X)
    said = fitted.guarantee_
    with pytest.raises(InputError):
        fitted.certify(X[:10])
    assert fitted.guarantee_ == said


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
        g = ParityClassifier(t_max=20, random_state=1).fit(X, y).certify(X, y)
        assert g.setup.labels is not None
        assert any("the same labels in both samples" in text for text in g.hypotheses)
        if g.is_replicable:
            assert "if both samples show the same labels" in str(g)
    named = ParityClassifier(t_max=20, classes=sorted(pair), random_state=1)
    assert named.fit(X, np.full(900, common)).guarantee_.setup.labels is None


# honest edges


def test_is_empty_is_said_at_once_and_everywhere():
    window = {"t_min": 880, "t_max": 890, "random_state": 1}
    with pytest.warns(ReplicabilityWarning, match="No direction was kept.*a smaller t_min"):
        fitted = ParityClassifier(**window).fit(X, Y)
    assert fitted.is_empty_
    assert str(fitted.guarantee_).startswith("no direction was kept, so samples can agree on noth")
    assert fitted.formula_.endswith(
        "# No direction was kept: this rule is only a draw of the coins"
    )
    assert not ParityClassifier(**WINDOW).fit(X, Y).is_empty_
    with pytest.warns(ReplicabilityWarning, match="the rows say nothing"):
        assert LinearSpan(**window).fit(X).is_empty_


def test_is_empty_predicts_nothing():
    """A rule that the coins drew alone is right half of the time, and looks like any other."""
    window = {"t_min": 880, "t_max": 890, "random_state": 1}
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
