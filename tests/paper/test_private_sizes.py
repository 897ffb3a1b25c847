"""Sizes of the pure-DP learner: they suffice, and grow as the statement says (S29)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from flagstone.errors import InputError
from flagstone.guarantees import private_rows, private_sizes
from flagstone.guarantees.exact import check_share
from flagstone.paper import PrivateParityClassifier
from flagstone.paper.private_learner import blocks_needed, keep_rate


def test_the_rows_suffice_for_our_learner():
    """Where the bound is tight enough to be run: failures stay below δ."""
    eps, delta, alpha, w = 0.4, 0.25, 2.0, np.array([1, 1])
    m = private_rows(2, eps, delta, alpha, equal_blocks=True)
    rng = np.random.RandomState(4)
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    failed = 0
    for seed in range(40):
        X = rng.randint(0, 2, (m, 2))
        model = PrivateParityClassifier(alpha, delta, classes=[0, 1], random_state=seed)
        rule = model.fit(X, X @ w % 2).answer_
        failed += rule.is_bottom or np.mean(corners @ (rule.coef ^ w) % 2) > eps
    assert failed <= 10  # the promise, though it holds with room to spare


def test_each_inequality_of_the_proof_holds_at_the_sizes():
    for d, eps, delta, alpha, q in (
        (5, 0.1, 0.1, 1.0, 2),
        (20, 0.01, 1e-9, 0.1, 2),
        (3, 0.2, 0.3, 5.0, 7),
        (3, 0.2, 0.3, 9.0, 2),
    ):
        k, s, h = private_sizes(d, eps, delta, alpha, order=q)
        assert k == blocks_needed(check_share("delta", delta))
        assert 0.75**k <= delta / 2
        keep = float(keep_rate(Fraction(alpha), q))
        survive = d * math.log(q) + s * math.log1p(-keep * eps / 4)
        assert survive <= math.log(0.5)
        wrong = k * math.exp(-h * eps / 32) + 2 * k * math.exp(-alpha * h * eps / 16)
        assert wrong <= delta / 2


def test_confidence_multiplies_the_rows():
    few, many = (private_rows(20, 0.1, delta) for delta in (1e-2, 1e-20))
    assert 6 < many / few < 10  # ten times the logarithm
    assert private_rows(20, 0.1, 0.1, 0.5) > 1.7 * private_rows(20, 0.1, 0.1, 1.0)


@pytest.mark.parametrize("alpha", [0, -1, math.inf, True, "1", math.nan])
def test_bad_alpha_is_refused(alpha):
    with pytest.raises(InputError, match="alpha"):
        private_rows(5, 0.1, 0.1, alpha)


def test_the_field_must_be_finite():
    with pytest.raises(InputError, match="order"):
        private_rows(5, 0.1, 0.1, order=None)


def test_blocks_shrink_by_the_tight_rate():
    """Keeping p instead of α/(2q) = 1/4 of the rows saves the factor 1.85 at α = 1, q = 2."""
    d, eps = 20, 0.1
    loose = 8 * 2 / eps * (d * math.log(2) + math.log(2))
    assert 1.84 < loose / private_sizes(d, eps, 0.1, 1.0).block_rows < 1.86
