"""S26: the parity learner's PAC sizes, and a hundredth of them."""

import numpy as np
import pytest

from flagstone import distributions as laws
from flagstone.algebra.subspace import Subspace
from flagstone.coins import Coins
from flagstone.guarantees import generalization_rows, index_length, parity_rows
from flagstone.rules import IndexRule
from tests.statistical.tools import Sample, answer, holds, violated


def rule_from(space, seed):
    """Algorithm 2 after its first step: w with ⟨w, x⟩ = y on the space, ties by coins; or None."""
    d = space.ambient_dim - 1
    if d in space.pivots:
        return None  # the last unit vector lies in the space: ⊥
    w = Coins(seed).vector("tie-break", 2, d).astype(int)
    free = [i for i in range(d) if i not in space.pivots]
    for row, pivot in zip(space.basis.astype(int), space.pivots, strict=True):
        w[pivot] = (row[d] + row[free] @ w[free]) % 2
    return w


def errors(law, m, count, seed, threshold=None):
    """Errors of the learner on fresh samples; with no threshold, of plain elimination."""
    rng = np.random.RandomState(seed)
    found = []
    for i in range(count):
        sample = Sample(law, m, rng)
        if threshold is None:
            space = Subspace.span(sample.rows)
        else:
            rule = IndexRule(t_max=threshold)
            window = rule.window(law.dim, max(m, threshold))
            space = answer("index", sample.flag, rule.draw(window, Coins(f"{seed}/{i}")))
        w = rule_from(space, f"{seed}/{i}")
        assert w is not None, "a realizable sample never gives ⊥"
        found.append(law.error(w))
    return found


@pytest.mark.parametrize("name", ["geometric", "uniform"])
def test_sizes_for_replicable_learning(name):
    d, rho, eps, delta = 5, 0.3, 0.2, 0.1
    features = laws.geometric(d) if name == "geometric" else laws.uniform(d)
    law = laws.planted_parity([1, 0, 1, 1, 1], features=features)
    D = d + 1
    m, T = parity_rows(D, rho, eps, delta), index_length(D, rho)
    assert holds([e > eps for e in errors(law, m, 60, 21, T)], delta)
    assert violated([e > eps for e in errors(law, m // 100, 60, 22, T)], delta)


def test_sizes_for_generalization():
    """Rules that fit the sample have error at most ε; a hundredth of the rows is too few."""
    d, eps, delta = 8, 0.1, 0.05
    law = laws.planted_parity([1] * d, features=laws.geometric(d))
    m = generalization_rows(d + 1, eps, delta)
    assert holds([e > eps for e in errors(law, m, 200, 23)], delta)
    assert violated([e > eps for e in errors(law, m // 100, 200, 24)], delta)
