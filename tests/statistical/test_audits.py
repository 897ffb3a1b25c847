"""The intervals of audits hold at every number of pairs at once, for every measure.

True values are known: a run predicts what most of its rows say, and rows are coins. An interval may
exclude the truth, after any number of pairs, in at most 10 % of the audits.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from flagstone import IndexRule, LinearSpan, audit
from flagstone.audit._learners import Learner
from flagstone.audit._pairs import Task
from flagstone.audit.data import as_data
from flagstone.audit.intervals import log_evidence
from flagstone.distributions import rare_direction

pytestmark = pytest.mark.statistical

ROWS, PAIRS, AUDITS, CONFIDENCE = 15, 30, 150, 0.9
#: Rates of ones in the columns.
RATES = np.array([0.5, 0.42, 0.3, 0.1])


def rows(m, rng):
    """Rows (i, x): the number of a column, and what was drawn for each column."""
    drawn = rng.random_sample((m, len(RATES))) < RATES
    return np.column_stack([rng.randint(0, len(RATES), m), drawn]).astype(int)


def majority(X, y, seed):
    """Predict, for a row with number i, what most rows have in column i."""
    most = 2 * X[:, 1:].sum(axis=0) > len(X)
    return lambda held_out: most[held_out[:, 0]]


def agreement_of(rate):
    """The probability that two majorities of ROWS coins are the same."""
    one = binom.sf(ROWS // 2, ROWS, rate)
    return one * one + (1 - one) ** 2


def most_failures():
    """More failures than this have a probability below 1e-4, if the promise holds."""
    return int(binom.isf(1e-4, AUDITS, 1 - CONFIDENCE))


def missed(found, truth, key, confidence=CONFIDENCE):
    """Say whether the interval of a measure excludes the truth after any number of pairs.

    That is where the evidence against the truth reaches its limit; intervals are looked at, too.
    """
    limit = -math.log(1 - confidence)
    pairs, ends = found.pairs, range(1, len(found.pairs) + 1)
    inputs = np.array([pair.agreeing(found.n_inputs) for pair in pairs])
    if key == "worst":
        counts = inputs.cumsum(axis=0).min(axis=1)
        seen = [[1] * counts[n - 1] + [0] * (n - counts[n - 1]) for n in ends]
    else:
        values = {
            "exact": [pair.exact for pair in pairs],
            "pointwise": inputs.mean(axis=1),
            "approximate": [pair.approximate for pair in pairs],
        }[key]
        seen = [values[:n] for n in ends]
    out = [log_evidence(some, truth) >= limit for some in seen]
    for n in (1, len(pairs)):
        shown = replace(found, pairs=pairs[:n]).measures[key]
        assert (shown.low <= truth <= shown.high) != out[n - 1]
    return any(out)


def test_intervals_of_all_measures_hold_at_every_stopping_time():
    each = np.array([agreement_of(rate) for rate in RATES])
    failures = dict.fromkeys(("exact", "pointwise", "worst", "approximate"), 0)
    for seed in range(AUDITS):
        options = {"m": ROWS, "pairs": PAIRS, "confidence": CONFIDENCE, "seed": seed}
        found = audit(majority, rows, compare="predictions", **options)
        task = Task(Learner(majority), as_data(rows, m=ROWS), "predictions", seed=seed)
        fixed = each[task.fixed.X[:, 0]]
        truth = {
            "exact": float(np.prod(each)),  # every column is among the 400 held-out rows
            "pointwise": float(fixed.mean()),
            "worst": float(fixed.min()),
            "approximate": float(each.mean()),
        }
        for key in failures:
            confidence = 1 - (1 - CONFIDENCE) / 200 if key == "worst" else CONFIDENCE
            failures[key] += missed(found, truth[key], key, confidence)
    for key, count in failures.items():
        assert count <= most_failures(), (key, count)


def test_integrated_thresholds_hold_at_every_stopping_time():
    """Elimination on D_m agrees when both samples hold the rare direction, or neither does."""
    m = 20
    q = (1 - 1 / m) ** m
    failures = 0
    for seed in range(AUDITS):
        options = {"m": m, "pairs": PAIRS, "confidence": CONFIDENCE, "seed": seed}
        found = audit(LinearSpan(rule=IndexRule(t_max=1)), rare_direction(3, m), **options)
        assert found.integrated
        failures += missed(found, q * q + (1 - q) ** 2, "exact")
    assert failures <= most_failures()


def test_the_check_has_power():
    """Intervals for one fixed number of pairs, looked at after every pair, fail it."""
    rng = np.random.RandomState(1)
    ones = np.cumsum(rng.random_sample((AUDITS, 200)) < 0.5, axis=1)
    n = np.arange(1, 201)
    out = abs(ones / n - 0.5) > 1.645 * 0.5 / np.sqrt(n)  # normal intervals, confidence 0.9
    assert out[:, 10:].any(axis=1).sum() > most_failures()
