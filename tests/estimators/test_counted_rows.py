"""Weights that count rows: the order in which values are listed must not matter (S7)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from flagstone import (
    AffineSpan,
    Coins,
    Flag,
    IndexRule,
    InputError,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
    certify,
)

LISTINGS = {
    "by falling frequency": lambda counts, first: np.argsort(-counts, kind="stable"),
    "by rising frequency": lambda counts, first: np.argsort(counts, kind="stable"),
    "by first appearance": lambda counts, first: np.argsort(first),
}


@pytest.mark.parametrize("listing", LISTINGS)
def test_counted_rows_agree_as_often_as_promised(listing):
    support, rng, differ = np.array([[1, 0], [0, 1], [1, 1]]), np.random.default_rng(1), 0
    for pair in range(60):
        found = []
        for _ in range(2):
            drawn = rng.integers(0, 3, size=90_000)
            counts = np.bincount(drawn)
            order = LISTINGS[listing](counts, [np.argmax(drawn == value) for value in range(3)])
            model = LinearSpan(rule=IndexRule(t_min=1, t_max=60_000), random_state=pair)
            counted = {"sample_weight": counts[order], "weights_count_rows": True}
            found.append(model.fit(support[order], **counted))
        differ += found[0].fingerprint_ != found[1].fingerprint_
    assert found[0].guarantee_.proven.rho < 0.0153
    assert differ <= 5  # more with probability 4e-4 at most; unsorted rows make about 20


@pytest.mark.filterwarnings("ignore::flagstone.ReplicabilityWarning")
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([(2, 5), (2, 70), (3, 4), ("2^2", 5), ("QQ", 3)]),
    st.sampled_from(
        [LinearSpan, AffineSpan, ParityClassifier, LinearEquations, SubspaceClassifier]
    ),
)
def test_any_listing_gives_the_same_finding(seed, space, learner):
    field, dim = space
    rng = np.random.RandomState(seed)
    X, y = rng.randint(0, 2, size=(40, dim)), rng.randint(0, 2, size=40)
    weights = rng.randint(0, 5, size=40) if seed % 4 else np.ones(40, dtype=int)
    weights[0] = 1
    order = rng.permutation(40)
    choice = {"choice": "lexmin"} if learner is ParityClassifier else {}
    model = learner(field=field, rule=IndexRule(t_max=4), random_state=7, **choice)
    a, b = (
        clone(model).fit(X[i], y[i], sample_weight=weights[i], weights_count_rows=True)
        for i in (np.arange(40), order)
    )
    assert a.finding_ == b.finding_
    assert a.guarantee_.setup.sorted_rows
    assert a.guarantee_.withheld is None


def test_the_rows_are_those_of_the_sample_sorted_by_value():
    rng = np.random.RandomState(0)
    X, weights = rng.randint(0, 3, size=(200, 3)), rng.randint(0, 4, size=200)
    counted = LinearSpan(field=3, random_state=7).fit(
        X, sample_weight=weights, weights_count_rows=True
    )
    rows = np.repeat(X, weights, axis=0)
    in_order = rows[np.argsort(rows @ [1, 3, 9], kind="stable")]
    assert counted.flag_ == Flag(3, 3).update(in_order)


def test_counted_rows_in_several_batches_promise_nothing():
    X, weights = np.eye(2, dtype=int), [30_000, 60_000]
    long = LinearSpan(rule=IndexRule(t_max=60_000), random_state=7)
    counted = {"sample_weight": weights, "weights_count_rows": True}
    at_once = clone(long).partial_fit(X, **counted)
    assert at_once.guarantee_.proven.rho is not None
    for first in (counted, {"weights_count_rows": True}):  # or not, in the batch before
        model = clone(long).partial_fit(X, **first)
        model.partial_fit(X, **counted)
        assert model.guarantee_.proven.rho is None
        assert "came in several batches" in model.guarantee_.withheld
    plain = LinearSpan(rule=IndexRule(t_max=2), random_state=7)
    plain.partial_fit(X, weights_count_rows=True).partial_fit(X)
    assert plain.guarantee_.withheld is None


def test_ones_are_counts_as_well():
    """Whether each row came once depends on the sample, so the order must not depend on it."""
    X = [[1, 1], [0, 1], [1, 0]]
    model = LinearSpan(rule=IndexRule(t_max=1), random_state=7)
    model.fit(X, sample_weight=[1, 1, 1], weights_count_rows=True)
    assert model.guarantee_.setup.sorted_rows
    with pytest.raises(InputError, match="were counted by weights"):
        certify(model.finding_, X)


def test_the_coins_draw_the_number_of_rows_as_they_were_drawn():
    X = np.random.RandomState(0).randint(0, 2, size=(100, 3))
    rule = IndexRule(draw_rows=100, t_max=4)
    used = rule.n_rows(Coins(7))
    model = LinearSpan(rule=rule, random_state=7).fit(X)
    assert model.flag_ == Flag(3).update(X[:used])
    assert model.finding_.rows.read == used < 100
    with pytest.raises(InputError, match=r"without weights, got 99 rows$"):
        LinearSpan(rule=rule, random_state=7).fit(X[:99])
    with pytest.raises(InputError, match="got 100 rows with weights"):
        LinearSpan(rule=rule, random_state=7).fit(X, sample_weight=[2] * 100)


def test_the_word_counts_for_all_batches_or_for_none():
    X = np.eye(2, dtype=int)
    model = LinearSpan(random_state=7).fit(X, sample_weight=[2, 3])
    assert "sample_weight may count rows" in model.guarantee_.withheld
    model.partial_fit(X, sample_weight=[2, 3], weights_count_rows=True)
    assert "sample_weight may count rows" in model.guarantee_.withheld
