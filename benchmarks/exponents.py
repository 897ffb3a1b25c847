"""Growth with the dimension: finished flags, subspaces and certificates, over three fields.

For each operation the times at growing d, and the exponent e of the fitted growth d^e: the slope of
the logarithms by least squares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Contestant
from flagstone import GF, Flag, IndexRule, LinearSpan

DIMS = {2: (128, 256, 512, 1024), 7: (64, 128, 256, 512), 9: (64, 128, 256)}
ROWS = 2000


def run(bench: Bench) -> None:
    """Time every operation at every dimension, then fit."""
    for order, dims in DIMS.items():
        spent: dict[str, list[float]] = {}
        for dim in dims[:2] if bench.quick else dims:
            ways = _ways(order, dim)
            for who, result in bench.compare(f"{GF(order)} d={dim}", ways, dim=dim).items():
                spent.setdefault(who, []).append(result.value)
        for who, times in spent.items():
            slope = float(np.polyfit(np.log(dims[: len(times)]), np.log(times), 1)[0])
            bench.record(f"{GF(order)} exponent", who, slope, "count")
        fitted = [f"{r.who} {r.value:.2f}" for r in bench.results[-len(spent) :]]
        bench.say(f"{GF(order)} grows with d to the power of: {', '.join(fitted)}")


def _ways(order: int, dim: int) -> list[Contestant]:
    rng, field = np.random.default_rng(dim), GF(order)
    X = rng.integers(0, order, (3 * dim, dim)).astype(field.dtype)
    X[: 2 * dim, dim // 2 :] = 0  # two levels, and a space that is not everything
    flag, other = Flag(dim, field).update(X), Flag(dim, field).update(X[:, ::-1])
    span, many = flag.span_at(3), rng.integers(0, order, (ROWS, dim)).astype(field.dtype)
    learner = LinearSpan(rule=IndexRule(t_min=2, t_max=3), field=field, random_state=1)
    # A fresh copy each time: a flag remembers what it was once asked.
    ways: list[tuple[str, Callable[[Any], Any], Callable[[], Any]]] = [
        ("merge", lambda f: f.merge(other), flag.copy),
        ("span_at", lambda f: f.span_at(3), flag.copy),
        ("contains, 2,000 rows", lambda _: span.contains(many), flag.copy),
        ("fit and certify, 3·d rows", lambda _: learner.fit(X), flag.copy),
    ]
    return [Contestant(who, 0, _silent(way), get) for who, way, get in ways]


def _silent(way: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Answers are objects of several kinds, of which there is nothing to compare."""

    def run(ready: Any) -> None:
        way(ready)

    return run
