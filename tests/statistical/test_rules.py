"""Neither rule agrees more often on every law, at equal coverage (docs/theory/rules.md)."""

import pytest

from flagstone.audit import tradeoff
from flagstone.distributions import Finite, blocks, geometric
from tests.statistical.tools import np

UNITS = np.eye(20, dtype=int)
PLACES = np.arange(1, 21)
LAWS = {
    "geometric": (geometric(20), "index"),
    "zipf": (Finite(UNITS, 1 / PLACES / (1 / PLACES).sum()), "heavy"),
    "blocks": (blocks(16), "heavy"),
    "clusters": (Finite(UNITS, [0.09] * 10 + [0.01] * 10), "heavy"),
}
SLOW = [pytest.param(name, marks=pytest.mark.statistical) for name in ("blocks", "clusters")]


def at_equal_coverage(curve, rule, kept):
    points = sorted((p.kept, p.replicability) for p in curve.points if p.rule == rule)
    coverage, replicability = zip(*points, strict=True)
    assert coverage[0] < kept < coverage[-1]
    return np.interp(kept, coverage, replicability)


@pytest.mark.parametrize("name", ["geometric", "zipf", *SLOW])
def test_the_better_rule_depends_on_the_law(name):
    law, better = LAWS[name]
    curve = tradeoff(law, m=1000, t_max=[2, 6, 12, 25, 50, 100], pairs=40)
    found = {rule: at_equal_coverage(curve, rule, 0.95) for rule in ("index", "heavy")}
    worse = {"index": "heavy", "heavy": "index"}[better]
    assert found[better] > found[worse] + 0.05
