"""What the default costs: a fit that measures and certifies against a bare one, on uint8."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Bench, Contestant
from flagstone import IndexRule, LinearSpan
from flagstone.guarantees import Window
from scripts.certificate_table import asked, frames, planted

#: Rows at d = 42 (frames of the demo, 2 % damaged), and at d = 20 and 512 (planted, 1 % damaged).
ROWS = {20: (2_000,), 42: (50_000, 500_000, 2_000_000), 512: (10_000, 50_000, 200_000)}


def run(bench: Bench) -> None:
    """Time both at each size."""
    for dim, sizes in ROWS.items():
        for m in sizes:
            n = bench.scale(m)
            shortest = Window("index", max(1, n // 1000), max(1, n // 600))
            window = shortest if dim == 512 else asked(n, dim)
            rows = frames(n, 1, 0.02) if dim == 42 else planted(n, 1, dim, dim - dim // 16)
            X = rows.unpack()
            rule = IndexRule(t_min=window.t_min, t_max=window.t_max)
            bench.compare(f"d={dim} m={m}", _contestants(rule, X), dim=dim, seconds=2.0)


def _contestants(rule: IndexRule, X: Any) -> list[Contestant]:
    bare = LinearSpan(rule=rule, random_state=2026, certify=False)
    default = LinearSpan(rule=rule, random_state=2026)
    return [
        Contestant("bare fit", len(X), lambda _: _ignore(bare.fit(X))),
        Contestant("fit", len(X), lambda _: _ignore(default.fit(X))),
    ]


def _ignore(_: Any) -> None:
    """Answers are objects, of which there is nothing to compare."""
