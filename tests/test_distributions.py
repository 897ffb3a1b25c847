"""The laws are exact: checked by enumeration, and against samples with derived tolerances."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import distributions as dist
from flagstone.algebra import AffineSubspace, Subspace
from flagstone.algebra.fields import GF, QQ
from flagstone.errors import InputError

FIELDS = [2, 3, 5, 4, 9]


def every_row(dim: int, order: int) -> np.ndarray:
    return np.array(list(itertools.product(range(order), repeat=dim)))


def laws(order: int) -> list[dist.Distribution]:
    """One of each kind, small enough to enumerate."""
    V = dist.random_subspace(2, 3, rng=5, field=order)
    return [
        dist.geometric(3, order),
        dist.blocks(4, order),
        dist.uniform(3, order),
        dist.rare_direction(3, m=7, field=order),
        dist.planted_subspace(V, 0.3),
        dist.Finite([[0, 1, 1], [1, 0, 1], [1, 1, 1]], [0.2, 0.3, 0.5], order),
        dist.planted_parity([1, 0], features=dist.geometric(2, order), corruption=0.2),
        dist.planted_parity([1, 1], corruption=0.25, intercept=1, field=order),
    ]


def frequency_bound(p: float, m: int) -> float:
    """Hoeffding at confidence 1 - 1e-9, two-sided."""
    return math.sqrt(math.log(2e9) / (2 * m))


@pytest.mark.parametrize("order", FIELDS)
def test_whole_space_has_probability_one_and_points_sum_to_one(order):
    for law in laws(order):
        assert law.probability(Subspace.full(law.dim, order)) == pytest.approx(1.0, abs=1e-12)
        if isinstance(law, dist.LabelledParity):
            continue
        points = every_row(law.dim, order)
        total = math.fsum(
            law.probability(AffineSubspace.from_point(x, Subspace.zero(law.dim, order)))
            for x in points
        )
        assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("order", FIELDS)
def test_sampled_frequencies_match_the_law(order):
    m = 20_000
    for i, law in enumerate(laws(order)):
        rows = law.sample(m, rng=100 + i)
        support, weights = law.sample_weighted(m, rng=200 + i)
        assert rows.shape == (m, law.dim)
        assert weights.sum() == m
        assert weights.dtype == np.int64
        assert (weights > 0).all()
        for k in range(law.dim + 1):
            W = dist.random_subspace(k, law.dim, rng=1000 * order + k, field=order)
            p = law.probability(W)
            assert abs(np.mean(W.contains(rows)) - p) <= frequency_bound(p, m), (law, W)
            heavy = np.asarray(W.contains(support))
            assert abs(weights[heavy].sum() / m - p) <= frequency_bound(p, m), (law, W)


@settings(max_examples=40, deadline=None)
@given(
    order=st.sampled_from([2, 3, 4]),
    seed=st.integers(0, 10**6),
    intercept=st.integers(0, 1),
    corruption=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_labelled_law_and_error_by_enumeration(order, seed, intercept, corruption):
    """Both formulas against a sum over all rows (x, y)."""
    field = GF(order)
    rng = np.random.RandomState(seed)
    d = 2
    features = dist.Finite(every_row(d, order), rng.dirichlet(np.ones(order**d)), field)
    law = dist.LabelledParity(
        features, rng.randint(0, order, d), intercept=intercept, corruption=corruption
    )
    points = every_row(d, order)
    clean = law.labels(points.astype(field.dtype))
    table = {}
    for x, y, p in zip(points, clean, features.probabilities, strict=True):
        for label in range(order):
            share = 1 - corruption if label == y else corruption / (order - 1)
            table[(*map(int, x), label)] = p * share
    rows = np.array(list(table))
    masses = np.array(list(table.values()))
    U = Subspace.span(rng.randint(0, order, (rng.randint(1, 4), d + 1)), field=field)
    assert law.probability(U) == pytest.approx(masses[U.contains(rows)].sum(), abs=1e-12)
    w, c = rng.randint(0, order, d).astype(field.dtype), int(rng.randint(0, order))
    rule = dist.LabelledParity(features, w, intercept=c)
    wrong = rule.labels(rows[:, :-1].astype(field.dtype)) != rows[:, -1]
    assert law.error(w, c) == pytest.approx(masses[wrong].sum(), abs=1e-12)
    assert law.error() == pytest.approx(corruption, abs=1e-12)
    assert law.error(rule) == law.error(w, c)


@settings(max_examples=40, deadline=None)
@given(order=st.sampled_from(FIELDS), seed=st.integers(0, 10**6))
def test_uniform_law_of_affine_sets_by_enumeration(order, seed):
    rng = np.random.RandomState(seed)
    V = dist.random_subspace(rng.randint(0, 3), 3, rng, order)
    direction = dist.random_subspace(rng.randint(0, 3), 3, rng, order)
    A = AffineSubspace.from_point(rng.randint(0, order, 3), direction)
    inside = every_row(3, order)
    inside = inside[np.asarray(V.contains(inside))]
    expected = np.mean(A.contains(inside))
    assert dist.UniformOn(V).probability(A) == pytest.approx(expected, abs=1e-15)
    assert dist.UniformOn(V).probability(AffineSubspace.empty(3, order)) == 0.0


def test_error_against_a_sample():
    law = dist.planted_parity([1, 0, 1, 1, 0, 1], features=dist.geometric(6), corruption=0.07)
    m = 50_000
    X, y = law.sample_xy(m, rng=3)
    for w in ([1, 0, 1, 1, 0, 1], [1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 1]):
        p = law.error(w)
        assert abs(np.mean((X @ np.array(w)) % 2 != y) - p) <= frequency_bound(p, m)


def test_the_papers_three_laws():
    d = 16
    e = np.eye(d, dtype=int)
    geometric, blocks = dist.geometric(d), dist.blocks(d)
    zero = Subspace.zero(d)
    for i in range(d):
        line = Subspace.span(e[i : i + 1])
        assert geometric.probability(line) - geometric.probability(zero) == pytest.approx(
            2.0 ** -(i + 1), rel=1e-9
        )
        assert blocks.probability(line) - blocks.probability(zero) == pytest.approx(
            2.0 ** -(i // 4 + 1) / 4, rel=1e-9
        )
    m, pairs = 200, 4000
    law = dist.rare_direction(3, m)
    V = Subspace.span([[1, 0, 0], [0, 1, 0]])
    rng = np.random.RandomState(11)
    inside = sum(bool(np.all(V.contains(law.sample(m, rng)))) for _ in range(pairs))
    assert abs(inside / pairs - (1 - 1 / m) ** m) <= frequency_bound(0.37, pairs)


def test_rationals_are_served_by_finite_laws():
    half = Fraction(1, 2)
    law = dist.Finite([[half, 1], [1, 2], [0, half]], [0.25, 0.25, 0.5], QQ)
    assert law.probability(Subspace.span([[1, 2]], field=QQ)) == 0.5
    assert law.sample(5, rng=0).dtype == object
    labelled = dist.LabelledParity(law, [1, half])
    assert labelled.error([1, 0]) == 1.0  # the second entry is never zero
    with pytest.raises(InputError, match="QQ"):
        dist.uniform(2, QQ)
    with pytest.raises(InputError, match="QQ"):
        dist.LabelledParity(law, [1, 1], corruption=0.1)


def test_a_billion_rows_cost_no_more_than_ten():
    law = dist.planted_parity([1] * 20, features=dist.geometric(20), corruption=0.01)
    tracemalloc.start()
    _, weights = law.sample_weighted(10**9, rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert weights.sum() == 10**9
    assert len(weights) <= 42
    assert peak < 1 << 24  # row by row this is 20 GB, and minutes


def test_weighted_uniform_enumerates_small_spaces_only():
    rows, weights = dist.uniform(4).sample_weighted(10_000, rng=1)
    assert len(np.unique(rows, axis=0)) == len(rows) <= 16
    rows, weights = dist.uniform(64).sample_weighted(100, rng=1)
    assert len(rows) == 100
    assert (weights == 1).all()


def test_same_seed_same_sample_and_generators_advance():
    for law in laws(3):
        assert np.array_equal(law.sample(50, rng=4), law.sample(50, np.random.RandomState(4)))
    rng = np.random.RandomState(0)
    assert not np.array_equal(dist.uniform(20).sample(50, rng), dist.uniform(20).sample(50, rng))


def test_random_subspaces_are_uniform():
    """GF(2)^3 has seven lines: a chi-square statistic of 6 degrees of freedom, at 1e-6."""
    rng = np.random.RandomState(2)
    seen: dict[str, int] = {}
    for _ in range(1400):
        name = dist.random_subspace(1, 3, rng).fingerprint()
        seen[name] = seen.get(name, 0) + 1
    assert len(seen) == 7
    assert sum((n - 200) ** 2 / 200 for n in seen.values()) < 40.5


def test_canonical_forms_tell_laws_apart():
    forms = [repr(law.canonical()) for order in (2, 3) for law in laws(order)]
    assert len(set(forms)) == len(forms)
    assert dist.geometric(5).canonical() == dist.geometric(5).canonical()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dist.Finite([[1, 0]], [0.5]), "sum to 1"),
        (lambda: dist.Finite([[1, 0]], [0.5, 0.5]), "one probability per support row"),
        (lambda: dist.Finite([[1, 0], [0, 1]], [1.5, -0.5]), "number 1 is -0.5"),
        (lambda: dist.Finite([[1, 0], [0, 1]], [float("nan"), 1]), "number 0 is nan"),
        (lambda: dist.Finite([[1, 2]], [1.0]), "2"),
        (lambda: dist.blocks(5), "perfect square"),
        (lambda: dist.geometric(0), "positive"),
        (lambda: dist.geometric(10**12), "1,000,000,000,000, but laws go up to 32,768"),
        (lambda: dist.blocks(10**12), "laws go up to"),
        (lambda: dist.uniform(10**12), "laws go up to"),
        (lambda: dist.rare_direction(1, 5), "at least 2"),
        (lambda: dist.rare_direction(3, 0), "at least 1"),
        (lambda: dist.planted_subspace(Subspace.full(2), 1.5), r"\[0, 1\]"),
        (lambda: dist.planted_parity([1, 0], corruption=-0.1), r"\[0, 1\]"),
        (lambda: dist.planted_parity([1, 0], features=dist.uniform(3)), "3 features"),
        (lambda: dist.uniform(3).sample(-1, 0), "non-negative"),
        (lambda: dist.uniform(3).sample(2, "7"), "RandomState"),
        (lambda: dist.uniform(3).sample(2, -7), "2\\*\\*32"),
        (lambda: dist.uniform(3).probability(Subspace.full(4)), "GF\\(2\\)\\^3"),
        (lambda: dist.Mixture([dist.uniform(3), dist.uniform(4)], [0.5, 0.5]), "same space"),
        (lambda: dist.Mixture([dist.uniform(3)], [0.5]), "sum to 1"),
        (lambda: dist.Mixture([], []), "at least one"),
        (lambda: dist.random_subspace(4, 3, 0), r"0\.\.3"),
    ],
)
def test_bad_input_is_explained(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_reprs_name_the_law():
    assert repr(dist.geometric(20)) == "geometric(dim=20, field=GF(2))"
    assert repr(dist.rare_direction(4, 9, 3)) == "rare_direction(dim=4, m=9, field=GF(3))"
    assert "corruption=0.1" in repr(dist.planted_parity([1, 1], corruption=0.1))
