"""Rounding by foams (docs/theory/open.md): the bound holds, and grows as √d, not as d."""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def foam():
    path = Path(__file__).parents[2] / "scripts" / "foam_study.py"
    spec = importlib.util.spec_from_file_location("foam_study", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["foam_study"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["foam_study"]


def rounded(x, coins):
    """The literal procedure: the first random cell that holds the point, and its centre."""
    while True:
        z, h = coins.random(len(x)), coins.random()
        centre = z + np.round(x - z)
        if np.prod(np.cos(math.pi * (x - centre)) ** 2) >= h:
            return tuple(centre)


@pytest.mark.statistical
def test_the_literal_procedure_disagrees_as_computed(foam):
    x, y, pairs = np.array([0.3, 1.7, 0.9]), np.array([0.36, 1.6, 0.93]), 3000
    differ = sum(
        rounded(x, np.random.default_rng(seed)) != rounded(y, np.random.default_rng(seed))
        for seed in range(pairs)
    )
    expected = foam.foam_disagreement(x, y, np.random.default_rng(1), 100_000)
    assert abs(differ / pairs - expected) < 4 * math.sqrt(expected / pairs) + 0.005
    assert expected <= 2 * math.pi * np.linalg.norm(x - y)


def test_a_centre_is_near_and_an_unseen_vector_is_never_kept():
    for seed in range(200):
        coins = np.random.default_rng(seed)
        x = np.array([0.0, 0.4, 1.0, 2.3])
        centre = np.array(rounded(x, coins))
        assert (np.abs(x - centre) < 0.5).all()
        assert centre[0] < 0.5 <= centre[2]  # count 0 is dropped; counts of s²/4 and more are kept


def test_the_variance_of_roots_is_at_most_four():
    """S13 by removal: Var 2√X ≤ 4 for every binomial X; in truth below 2."""
    for m, p in ((1, 0.5), (5, 0.3), (50, 0.02), (50, 0.5), (1000, 0.002), (1000, 0.5)):
        k = np.arange(m + 1)
        logs = [math.lgamma(m + 1) - math.lgamma(i + 1) - math.lgamma(m - i + 1) for i in k]
        mass = np.exp(np.array(logs) + k * math.log(p) + (m - k) * math.log1p(-p))
        roots = 2 * np.sqrt(k)
        assert (mass * roots**2).sum() - (mass * roots).sum() ** 2 < 2


@pytest.mark.statistical
def test_foams_need_windows_that_grow_as_d_and_thresholds_as_d_squared(foam):
    few, many = foam.compare(10, 1000, 40, 1), foam.compare(160, 16_000, 20, 2)
    assert abs(many[2] - few[2]) < 0.08  # foam, T ∝ d
    assert many[0] > 1.8 * few[0]  # one threshold
    assert many[1] > 1.5 * few[1]  # one level, by correlated sampling
    for dim, found in ((10, few), (160, many)):
        assert found[2] <= foam.foam_bound(dim, 2 * math.sqrt(100 * dim))
