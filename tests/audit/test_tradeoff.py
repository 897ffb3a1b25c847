"""The trade-off curve: exact where the law is known, honest where it is not."""

from __future__ import annotations

import numpy as np
import pytest

from flagstone.algebra.flag import Flag
from flagstone.audit import TradeoffCurve, TradeoffPoint, tradeoff
from flagstone.distributions import geometric, planted_parity, uniform
from flagstone.errors import InputError


def test_coverage_falls_and_replicability_rises_with_the_window():
    curve = tradeoff(geometric(10), m=2000, t_max=[2, 20, 200], pairs=30)
    for rule in ("index", "heavy"):
        points = [p for p in curve.points if p.rule == rule]
        kept = [p.kept for p in points]
        assert kept == sorted(kept, reverse=True)
        assert points[-1].replicability > points[0].replicability
    assert curve.quantity == "coverage"
    assert curve.best(0.5).replicability >= 0.5
    assert curve.best(1.1) is None
    sure = tradeoff(uniform(3), m=500, t_max=[1, 5, 20], rules=["index"], pairs=3)
    assert sure.best(1.0).t_max == 20  # of equals the longest window
    assert "t_max" in str(curve)
    assert len(curve.rows()) == 6


def test_windows_that_the_pairs_do_not_tell_apart_are_ties_and_the_longest_wins():
    def point(t_max, kept, sem=0.0, replicability=1.0):
        return TradeoffPoint("index", 1, t_max, kept, sem, replicability, 0.0, 50)

    def best(*points):
        return TradeoffCurve(points, "coverage", 1000).best(0.9).t_max

    assert best(point(1, 1.0), point(30, 1.0 - 1e-12), point(60, 0.99)) == 30
    assert best(point(1, 0.981, 0.002), point(40, 0.98), point(60, 0.978)) == 40
    assert best(point(1, 0.981, 0.002), point(40, 0.98, 0.002, 0.8)) == 1


def test_a_point_equals_the_average_over_all_thresholds():
    law, m, T = geometric(5), 100, 12
    curve = tradeoff(law, m=m, t_max=[T], rules=["index"], pairs=3, seed=4)
    rng = np.random.RandomState(4)
    kept, same = [], []
    for _ in range(3):
        flags = [Flag(5).update(law.sample(m, rng)) for _ in range(2)]
        spans = [[f.span_at(t) for t in range(1, T + 1)] for f in flags]
        kept += [law.probability(V) for side in spans for V in side]
        same += [a == b for a, b in zip(*spans, strict=True)]
    [point] = curve.points
    assert point.kept == pytest.approx(np.mean(kept))
    assert point.replicability == pytest.approx(np.mean(same))


def test_labels_make_it_accuracy_and_tables_are_indicative():
    law = planted_parity([1, 0, 1, 1], features=geometric(4))
    exact = tradeoff(law, m=400, t_max=[30], rules=["index"], pairs=10)
    assert exact.quantity == "accuracy"
    assert not exact.indicative
    X, y = law.sample_xy(800, rng=1)
    measured = tradeoff((X, y), t_max=[30], rules=["index"], pairs=10)
    assert measured.indicative
    assert "INDICATIVE ONLY" in str(measured)
    assert "INDICATIVE" not in str(exact)
    assert measured.m == 400
    assert abs(measured.points[0].kept - exact.points[0].kept) < 0.1
    assert tradeoff(X, pairs=2, t_max=[5]).quantity == "coverage"


def test_other_fields_and_the_default_grid():
    curve = tradeoff(uniform(3, 5), m=60, field=5, pairs=4)
    assert curve.points[0].t_max == 1
    assert max(p.t_max for p in curve.points) <= 30
    curve.plot()
    assert curve.figure_.axes[0].get_xlabel()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"pairs": 1}, "pairs"),
        ({"t_max": [0]}, "t_max"),
        ({"t_max": []}, "t_max"),
        ({"field": 3}, "GF\\(2\\)"),
        ({"rules": ["light"]}, "light"),
        ({"t_min": 0}, "t_min must be an integer of at least 1"),
        ({"t_min": 5}, "thresholds of at least 5"),
    ],
)
def test_bad_input_is_explained(arguments, words):
    with pytest.raises(InputError, match=words):
        tradeoff(geometric(3), m=50, **({"pairs": 2, "t_max": [3]} | arguments))


def test_labels_with_names_are_numbered_as_estimators_number_them():
    X = np.random.RandomState(0).randint(0, 2, size=(400, 5))
    y = X[:, 0] ^ X[:, 3]
    named = tradeoff((X, np.where(y, "yes", "no")), t_max=[5, 30], pairs=5)
    assert named == tradeoff((X, y), t_max=[5, 30], pairs=5)
