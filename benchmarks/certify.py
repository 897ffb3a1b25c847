"""What a certificate costs, all of it: ``LinearSpan.certify`` against ``fit`` on the same uint8."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Bench, Contestant
from flagstone import LinearSpan
from scripts.certificate_table import asked, frames, planted

#: Rows at d = 42 (frames of the demo, 2 % damaged) and at d = 512 (planted, 1 % damaged).
ROWS = {42: (50_000, 500_000, 2_000_000), 512: (10_000, 50_000, 200_000)}


def run(bench: Bench) -> None:
    """Time fit and certify at each size."""
    for dim, sizes in ROWS.items():
        for m in sizes:
            n = bench.scale(m)
            first, last = asked(n) if dim == 42 else (max(1, n // 1000), max(1, n // 600))
            X = (frames(n, 1, 0.02) if dim == 42 else planted(n, 1)).unpack()
            span = LinearSpan(t_min=first, t_max=last, random_state=2026)
            bench.compare(f"d={dim} m={m}", _contestants(span, X), dim=dim, seconds=2.0)


def _contestants(span: LinearSpan, X: Any) -> list[Contestant]:
    return [
        Contestant("fit", len(X), lambda _: _ignore(span.fit(X))),
        Contestant(
            "certify", len(X), lambda fitted: _ignore(fitted.certify(X)), lambda: span.fit(X)
        ),
    ]


def _ignore(_: Any) -> None:
    """Answers are objects, of which there is nothing to compare."""
