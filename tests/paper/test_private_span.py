"""Replicable and private at once: all neighbours on small cases, and how often runs agree."""

import functools
import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from flagstone import GF, Coins, Flag, InputError
from flagstone.distributions import Finite
from flagstone.guarantees import heavy_rows, private_span_rho, private_span_rows, private_span_start
from flagstone.paper import private_parity, private_span
from flagstone.paper.private_learner import SeededSource
from flagstone.paper.private_span import noisy_heavy


def at_least(k, gamma):
    """P[Z ≥ k] for the integer law ∝ exp(−γ|z|)."""
    x = math.exp(-gamma)
    return x**k / (1 + x) if k > 0 else 1 - x ** (1 - k) / (1 + x)


NUMBERS = {}


def number(V):
    """A number for a space, which is faster to compare."""
    return NUMBERS.setdefault(V, len(NUMBERS) + 1) if V.dim else 0


@functools.cache
def multiplicities(rows, dim, order):
    """The spaces that occur, the largest first, and how often they do."""
    field = GF(order)
    flag = Flag(dim, field).update(field.rows(np.array(rows), dim=dim))
    return [(number(flag.span_at(level.first)), level.multiplicity) for level in flag.levels()]


def law_of(rows, dim, t, gamma, order=2):
    """The exact law of the answer at the threshold t."""
    law, none_larger = {}, 1.0
    for V, n in multiplicities(rows, dim, order):
        passes = at_least(t - n, gamma)
        law[V] = none_larger * passes
        none_larger *= 1 - passes
    return law | {0: none_larger}


def excess(p, q, alpha):
    """The most that p exceeds e^α·q by, over all events."""
    factor = math.exp(alpha)
    return sum(max(0.0, mass - factor * q.get(V, 0.0)) for V, mass in p.items())


def worst_excess(dim, n, order, t, alpha):
    """Over all data sets of n rows, and all rows that replace one of them."""
    domain = list(itertools.product(range(order), repeat=dim))
    law = functools.cache(lambda rows: law_of(rows, dim, t, alpha / 4, order))
    return max(
        excess(law(rows), law((*rows[:i], other, *rows[i + 1 :])), alpha)
        for rows in itertools.product(domain, repeat=n)
        for i in range(n)
        for other in domain
    )


@pytest.mark.parametrize(("dim", "n", "order"), [(1, 6, 2), (2, 4, 2), (3, 3, 2), (2, 3, 3)])
@pytest.mark.parametrize(("alpha", "delta"), [(1.0, 0.2), (4.0, 0.1), (8.0, 0.3), (8.0, 0.8)])
def test_exhaustive_privacy(dim, n, order, alpha, delta):
    first = private_span_start(alpha, delta) + 1
    for t in (first, first + 3):
        assert worst_excess(dim, n, order, t, alpha) <= delta


def test_without_the_start_the_privacy_is_lost():
    assert worst_excess(2, 3, 2, 1, 8.0) > 0.8
    assert worst_excess(2, 3, 2, private_span_start(8.0, 0.3) - 1, 8.0) > 0.3


def test_the_answer_has_the_law_that_is_private():
    rows, gamma, reach = np.array([[1, 0], [0, 1], [1, 0], [1, 1], [1, 0]]), 1.0, 14
    flag, levels = Flag(2).update(rows), 3
    weights = {z: math.exp(-gamma * abs(z)) for z in range(-reach, reach + 1)}
    total, found = sum(weights.values()), defaultdict(float)
    assert len(flag.levels()) == 2
    for drawn in itertools.product(weights, repeat=2):
        left = iter(drawn)

        def noise(asked, source, left=left):
            assert asked == Fraction(1)
            return next(left)

        span = noisy_heavy(flag, 4.0, 0.3, levels, Coins(7), None, noise)
        found[number(span.subspace)] += math.prod(weights[z] / total for z in drawn)
    expected = law_of(tuple(map(tuple, rows.tolist())), 2, span.threshold, gamma)
    assert span.start < span.threshold <= span.start + levels
    assert found.keys() == expected.keys()
    for V, mass in expected.items():
        assert found[V] == pytest.approx(mass, abs=1e-5)


def disagreement(law, m, alpha, length, pairs, seed):
    random, differ = np.random.RandomState(seed), 0
    source = SeededSource(np.random.default_rng(seed))
    for pair in range(pairs):
        a, b = (
            noisy_heavy(
                Flag(law.dim).update(*law.sample_weighted(m, random)),
                alpha,
                1e-3,
                length,
                Coins(pair),
                source,
            )
            for _ in range(2)
        )
        differ += a.subspace != b.subspace
    return differ / pairs


def test_two_samples_agree_as_often_as_promised_and_no_oftener_with_a_short_window():
    law, m, alpha = Finite(np.eye(3, dtype=int), [0.5, 0.3, 0.2]), 5000, 0.5
    length = math.ceil((math.sqrt(8 * 3 * m) + 8 * 3 / alpha) / 0.4)
    rho = private_span_rho(3, length, m, alpha, 1e-3)
    assert 0.38 < rho <= 0.4
    assert disagreement(law, m, alpha, length, 300, 1) <= rho
    near = Finite(np.eye(3, dtype=int), [0.35, 0.35, 0.3])  # multiplicities in a short window
    assert disagreement(near, 200, alpha, length // 100, 300, 2) > 0.1


def test_rows_needed_cover_and_cost_little_more_than_replicability():
    for alpha in (0.1, 1.0, 10.0):
        ratio = private_span_rows(10, 0.1, 0.1, alpha, 1e-6) / heavy_rows(10, 0.1, 0.1)
        assert 1 < ratio < 1.1
    assert private_span_rows(10, 0.1, 0.1, 0.001, 1e-6) > 2 * heavy_rows(10, 0.1, 0.1)


def test_no_more_rows_are_outside_than_the_statement_says():
    random, alpha, delta, length = np.random.RandomState(3), 1.0, 1e-3, 60
    start, dim, failure = private_span_start(alpha, delta), 4, 0.05
    low, bad = 4 / alpha * math.log(dim / failure), 0
    for trial in range(200):
        masses = random.dirichlet([0.5] * dim)
        X = np.eye(dim, dtype=int)[random.choice(dim, size=2000, p=masses)]
        source = SeededSource(np.random.default_rng(trial))
        span = private_span(
            X, alpha=alpha, delta=delta, length=length, random_state=trial, source=source
        )
        outside = int((~span.subspace.contains(X)).sum())
        bad += outside > (start + length + low) * dim * (dim + 1) / 2
    assert bad <= 200 * failure


def test_a_rule_that_is_private_and_replicable():
    def sample(seed):
        X = np.random.RandomState(seed).randint(0, 2, size=(8000, 5))
        return X, X[:, 1] ^ X[:, 4]

    asked = {"alpha": 1.0, "delta": 1e-6, "length": 900, "random_state": 7}
    a, b = (private_parity(*sample(seed), **asked) for seed in (1, 2))
    assert str(a) == str(b) == "y = x1 ⊕ x4"
    few = private_parity(*(part[:100] for part in sample(1)), **asked)
    assert len(few.coef) == 5  # nothing is heavy: the coins choose, and the rows say nothing


def test_what_is_refused():
    with pytest.raises(InputError, match="delta must be at most"):
        private_span_start(0.1, 0.2)
    with pytest.raises(InputError, match="alpha must be positive"):
        private_span_start(0, 0.2)
    with pytest.raises(InputError, match="length"):
        private_span([[1, 0]], alpha=1.0, delta=0.1, length=0, random_state=1)
