"""The integrated threshold equals brute force over all thresholds, and its variance is smaller."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone.algebra.flag import Flag
from flagstone.algebra.staircase import Staircase
from flagstone.audit import (
    Thresholds,
    anytime_interval,
    audit,
    average,
    disagreement,
    integrated_disagreement,
)
from flagstone.coins import Coins
from flagstone.distributions import geometric, planted_parity
from flagstone.errors import InputError
from flagstone.estimators import LinearSpan, ParityClassifier
from flagstone.guarantees import Window
from flagstone.rules import HeavyRule, IndexRule


def random_flag(rng: np.random.RandomState, dim: int = 4) -> Flag:
    rows = rng.randint(0, 2, (rng.randint(1, 8), dim))
    return Flag(dim).update(rows, rng.randint(1, 9, len(rows)))


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), start=st.integers(0, 6), length=st.integers(1, 30))
def test_index_rule_against_every_threshold(seed, start, length):
    rng = np.random.RandomState(seed)
    a, b = random_flag(rng), random_flag(rng)
    wrong = [a.span_at(t) != b.span_at(t) for t in range(start + 1, start + length + 1)]
    found = disagreement(Thresholds(a), Thresholds(b), start, start + length)
    assert found == pytest.approx(np.mean(wrong), abs=1e-12)
    dims = [a.dim_at(t) for t in range(start + 1, start + length + 1)]
    assert average(Thresholds(a), start, start + length, lambda V: V.dim) == pytest.approx(
        np.mean(dims), abs=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), start=st.integers(0, 4), length=st.floats(0.5, 25))
def test_heavy_rule_against_the_rule_itself(seed, start, length):
    """The rule is constant between integers, so midpoints of a fine partition suffice."""
    rng = np.random.RandomState(seed)
    flags = random_flag(rng), random_flag(rng)
    rule = HeavyRule()
    stop = start + length
    marks = np.unique([start, *[t for t in range(40) if start < t < stop], stop])
    wrong = 0.0
    for left, right in pairwise(marks):
        spans = [f.span_at(rule.index(Staircase.of(f), (left + right) / 2)) for f in flags]
        wrong += (right - left) * (spans[0] != spans[1])
    stairs = [Thresholds(f, "heavy") for f in flags]
    assert disagreement(*stairs, start, stop) == pytest.approx(wrong / length, abs=1e-9)


@pytest.mark.parametrize("rule", [IndexRule(), HeavyRule()])
def test_the_drawn_threshold_has_the_integrated_mean(rule):
    """Coins drawn at random disagree as often as the integral says (Hoeffding at 1e-6)."""
    rng = np.random.RandomState(8)
    law = geometric(6)
    a, b = (Flag(6).update(*law.sample_weighted(300, rng)) for _ in range(2))
    window = Window(rule.name, 4, 43)
    draws = 3000
    wrong = 0
    for i in range(draws):
        t = rule.draw(window, Coins(i))
        first, second = (f.span_at(rule.index(Staircase.of(f), t)) for f in (a, b))
        wrong += first != second
    stairs = [Thresholds(f, rule.name) for f in (a, b)]
    expected = disagreement(*stairs, 3, 43)
    assert abs(wrong / draws - expected) <= np.sqrt(np.log(2e6) / (2 * draws))


def test_fewer_pairs_for_the_same_error():
    """The point of it all: the same mean, with a fraction of the variance."""
    found = audit(LinearSpan(rule=IndexRule(t_max=60)), geometric(8), m=400, pairs=150)
    assert found.integrated
    n, p = found.stats.pairs, found.exact.estimate
    assert abs(found.stats.agreements / n - p) <= 4.5 * np.sqrt(p * (1 - p) / n)
    same = found.stats.agreements
    low, high = anytime_interval([1] * same + [0] * (n - same))
    assert 2 * (found.exact.high - found.exact.low) < high - low


@pytest.mark.parametrize("choice", ["uniform", "lexmin"])
def test_parity_answers_are_compared_under_the_shared_coins(choice):
    """Different spans may still give the same rule; the integral must know."""
    law = planted_parity([1, 0, 0, 1, 0, 0], features=geometric(6))
    estimator = ParityClassifier(rule=IndexRule(t_max=30), fit_intercept=False, choice=choice)
    found = audit(estimator, law, m=200, pairs=120)
    n, p = found.stats.answered, found.exact.estimate
    assert found.integrated
    assert abs(found.stats.agreements / n - p) <= 4.5 * np.sqrt(max(p * (1 - p), 1 / n) / n)


def test_bad_windows_and_rules_are_refused():
    stairs = Thresholds(Flag(2).update([[1, 0]]))
    for window in ((3, 3), (-1, 2), (5, 4)):
        with pytest.raises(InputError, match="window"):
            disagreement(stairs, stairs, *window)
    with pytest.raises(InputError, match="index"):
        Thresholds(Flag(2), "light")


def test_rules_for_other_labels_never_agree():
    """Equal spaces, but the one element of the label stands for "no" here and for "yes" there."""
    X = [[1, 0], [0, 1]] * 20
    no, yes = (
        ParityClassifier(rule=IndexRule(t_max=4), fit_intercept=False, random_state=1).fit(
            X, [w] * 40
        )
        for w in ("no", "yes")
    )
    assert no.fingerprint_ != yes.fingerprint_
    assert integrated_disagreement(no.finding_, yes.finding_) == 1.0
    assert integrated_disagreement(no.finding_, no.finding_) == 0.0


def test_findings_of_other_windows_are_refused():
    X = [[1, 0]] * 9 + [[0, 1]] * 2
    a, b = (LinearSpan(rule=IndexRule(t_max=t), random_state=1).fit(X).finding_ for t in (4, 8))
    with pytest.raises(InputError, match="the same window"):
        integrated_disagreement(a, b)
