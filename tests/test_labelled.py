"""Labelled rows: labels follow the rule, damage is uniform, errors are exact for any features."""

from __future__ import annotations

import itertools
import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import distributions as dist
from flagstone.algebra import AffineSubspace, Subspace
from flagstone.algebra.fields import GF
from flagstone.errors import InputError
from tests import naive

ORDERS = [2, 3, 4, 9]


def every_row(dim: int, order: int) -> np.ndarray:
    return np.array(list(itertools.product(range(order), repeat=dim)))


@cache
def operations(order: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return all sums and all products of the oracle."""
    field, elements = naive.field(order), range(order)
    return (
        [[field.add(a, b) for b in elements] for a in elements],
        [[field.mul(a, b) for b in elements] for a in elements],
    )


def value(coef, intercept, x, order) -> int:
    """<coef, x> + intercept."""
    add, mul = operations(order)
    total = int(intercept)
    for a, b in zip(coef, x, strict=True):
        total = add[total][mul[a][b]]
    return total


def features_of(kind: str, order: int, rng: np.random.RandomState):
    """A law on pairs (finite, uniform, or a mixture of both) and the mass of every pair."""
    points = every_row(2, order)
    masses = rng.dirichlet(np.ones(len(points)))
    finite = dist.Finite(points, masses, order)
    V = dist.random_subspace(rng.randint(0, 3), 2, rng, order)
    uniform, share = dist.UniformOn(V), V.contains(points) / order**V.dim
    if kind == "mixture":
        return dist.Mixture([finite, uniform], [0.25, 0.75]), 0.25 * masses + 0.75 * share
    return (finite, masses) if kind == "finite" else (uniform, share)


@settings(max_examples=50, deadline=None)
@given(
    order=st.sampled_from(ORDERS),
    kind=st.sampled_from(["finite", "uniform", "mixture"]),
    seed=st.integers(0, 10**6),
    corruption=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_probabilities_and_errors_are_sums_over_all_rows(order, kind, seed, corruption):
    rng = np.random.RandomState(seed)
    features, shares = features_of(kind, order, rng)
    coef, other = rng.randint(0, order, (2, 2))
    intercept, constant = (int(rng.randint(0, order)) for _ in range(2))
    law = dist.LabelledParity(features, coef, intercept=intercept, corruption=corruption)
    rows, masses = every_row(3, order), []
    for x, p in zip(every_row(2, order), shares, strict=True):
        good = value(coef, intercept, x, order)
        masses += [
            p * (1 - corruption if y == good else corruption / (order - 1)) for y in range(order)
        ]
    masses = np.array(masses)
    for k in range(4):
        U = dist.random_subspace(k, 3, rng, order)
        inside = math.fsum(masses[U.contains(rows)])
        assert law.probability(U) == pytest.approx(inside, abs=1e-12)
        assert law.uncovered(U) == pytest.approx(1 - inside, abs=1e-12)
    for c in {0, constant}:
        wrong = [value(other, c, row[:2], order) != row[2] for row in rows]
        assert law.error(other, c) == pytest.approx(math.fsum(masses[wrong]), abs=1e-12)
    assert law.error(other) == law.error(other, 0)
    assert law.error(SimpleNamespace(coef=other)) == law.error(other)
    assert law.error(SimpleNamespace(coef=other, intercept=constant)) == law.error(other, constant)
    assert law.error() == pytest.approx(corruption, abs=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("corruption", [0.0, 0.6, 1.0])
def test_damaged_labels_are_uniform_among_the_others(order, corruption):
    """Drawn row by row and drawn by weights: every shift of the label has its own share."""
    m = 40_000
    field = GF(order)
    features = dist.Finite([[1, 0], [0, 1], [1, 1], [0, 0]], [0.4, 0.3, 0.2, 0.1], field)
    law = dist.planted_parity([1, order - 1], features=features, intercept=1, corruption=corruption)
    X, y = law.sample_xy(m, rng=1)
    one_by_one = X, y, np.ones(m, dtype=int)
    rows, weights = law.sample_weighted(m, rng=2)
    by_weights = rows[:, :-1], rows[:, -1], weights
    bound = math.sqrt(math.log(2e9) / (2 * m))  # Hoeffding at confidence 1 - 1e-9
    for X, y, weights in (one_by_one, by_weights):
        assert weights.sum() == m
        clean = [value([1, order - 1], 1, x, order) for x in X.tolist()]
        shifts = field.sub(y, np.array(clean, dtype=field.dtype))
        for x, p in zip(features.support.tolist(), features.probabilities, strict=True):
            here = (X == x).all(axis=1)
            for shift in range(order):
                share = corruption / (order - 1) if shift else 1 - corruption
                seen = weights[here & (shifts == shift)].sum() / m
                assert abs(seen - p * share) <= bound
                assert share > 0 or seen == 0
    X, y, weights = by_weights
    rows = np.column_stack([X, y])
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert (weights > 0).all()
    assert weights.dtype == np.int64


@pytest.mark.parametrize("m", [0, 1, 2, 7])
@pytest.mark.parametrize("corruption", [0.0, 0.5, 1.0])
def test_no_row_of_a_small_sample_is_lost(m, corruption):
    law = dist.planted_parity([1, 2], features=dist.uniform(2, 3), corruption=corruption)
    for seed in range(10):
        rows, weights = law.sample_weighted(m, seed)
        assert len(rows) == len(weights)
        assert weights.sum() == m


@pytest.mark.parametrize("order", ORDERS)
def test_rows_are_features_and_labels_side_by_side(order):
    law = dist.planted_parity([1, order - 1], intercept=1, field=order)
    X, y = law.sample_xy(30, rng=3)
    assert np.array_equal(law.sample(30, rng=3), np.column_stack([X, y]))
    assert np.array_equal(law.labels(X), y)
    assert y.tolist() == [value([1, order - 1], 1, x, order) for x in X.tolist()]
    rows, _ = law.sample_weighted(30, rng=4)
    assert np.array_equal(rows[:, -1], law.labels(rows[:, :-1]))
    assert law.dim == 3


def test_nothing_is_added_and_nothing_damaged_unless_asked():
    for law in (
        dist.LabelledParity(dist.uniform(2, 3), [1, 2]),
        dist.planted_parity([1, 2], field=3),
    ):
        assert (int(law.intercept), law.corruption) == (0, 0.0)
        assert law.labels(np.array([[0, 0], [1, 1], [2, 1]], dtype=np.uint8)).tolist() == [0, 0, 1]


def test_a_seed_or_a_generator_give_the_same_labels():
    law = dist.planted_parity([1, 2, 1], corruption=0.5, field=3)
    for draw in (law.sample, law.sample_weighted):
        for a, b in zip(draw(40, 5), draw(40, np.random.RandomState(5)), strict=True):
            assert np.array_equal(a, b)


def test_what_is_no_labelled_law_is_refused():
    law = dist.planted_parity([1, 0, 1])
    point = AffineSubspace.from_point([0, 0, 0, 1], Subspace.zero(4))
    with pytest.raises(InputError, match=r"known for linear subspaces only"):
        law.probability(point)
    with pytest.raises(InputError, match=r"must lie in GF\(2\)\^4"):
        law.probability(Subspace.full(3))
    for coef in ([1, 0], [[1, 0, 1]], 1):
        with pytest.raises(InputError, match="one entry per feature: 3 features"):
            law.error(coef)
        with pytest.raises(InputError, match="one entry per feature: 3 features"):
            dist.LabelledParity(dist.uniform(3), coef)
    with pytest.raises(InputError, match="intercept: row 0, column 0 is 2"):
        dist.planted_parity([1, 0], intercept=2)
    with pytest.raises(InputError, match="coef: row 0, column 1 is 2"):
        dist.planted_parity([1, 2])
    for corruption in (-0.01, 1.01, float("nan")):
        with pytest.raises(InputError, match=r"must lie in \[0, 1\], got"):
            dist.planted_parity([1, 0], corruption=corruption)


def test_canonical_form_and_name_hold_everything():
    def law(**changes):
        given = {"coef": [1, 0, 2], "intercept": 0, "corruption": 0.0, "field": 3} | changes
        features = dist.uniform(3, given.pop("field"))
        return dist.LabelledParity(given.pop("features", features), given.pop("coef"), **given)

    changes = [
        {},
        {"coef": [1, 0, 1]},
        {"intercept": 2},
        {"corruption": 0.25},
        {"features": dist.geometric(3, 3)},
        {"field": 5},
    ]
    forms = [repr(law(**change).canonical()) for change in changes]
    assert len(set(forms)) == len(changes)
    assert forms[0] == repr(law().canonical())
    assert law().canonical()["features"] == dist.uniform(3, 3).canonical()
    assert repr(law(corruption=0.25)).endswith("weight 2, corruption=0.25)")
    assert repr(law(name="mine")) == "mine"
