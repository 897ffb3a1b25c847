"""What a certificate costs: all of it, from uint8, against ``LinearSpan.fit`` on the same rows.

"certify" packs the rows, builds the pilot's flag, plans, takes the other rows in one pass, counts
the rows outside V* as measuring does, and asks for the certificate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Bench, Contestant
from flagstone import GF, Flag, LinearSpan
from flagstone.certificates import Certificate, Certifier, pilot_rows
from scripts.certificate_table import Window, asked, frames, planted

#: Rows at d = 42 (frames of the demo, 2 % damaged) and at d = 512 (planted, 1 % damaged).
ROWS = {42: (5_000, 10_000, 50_000, 500_000, 2_000_000), 512: (10_000, 50_000, 200_000)}


def run(bench: Bench) -> None:
    """Time fit and certify at each size."""
    for dim, sizes in ROWS.items():
        for m in sizes:
            n = bench.scale(m)
            window = asked(n) if dim == 42 else (max(1, n // 1000), max(1, n // 600))
            X = (frames(n, 1, 0.02) if dim == 42 else planted(n, 1)).unpack()
            bench.compare(f"d={dim} m={m}", _contestants(X, window), dim=dim, seconds=2.0)


def certify(X: Any, window: Window) -> Certificate:
    """Return the certificate of the space at the beginning of the window."""
    rows = GF(2).rows(X)
    k = pilot_rows(len(rows))
    pilot = Flag(rows.dim).update(rows[:k])
    certifier = Certifier.plan(pilot, len(rows), t_min=window[0], t_max=window[1])
    V = certifier.update(rows[k:]).collector.plan.spaces.subspace(0)
    np.count_nonzero(~V.contains(rows))
    return certifier.certificate(V, threshold=window[0])


def _contestants(X: Any, window: Window) -> list[Contestant]:
    first, last = window

    def fit(_: object) -> None:
        LinearSpan(t_min=first, t_max=last, random_state=2026).fit(X)

    return [
        Contestant("fit", len(X), fit),
        Contestant("certify", len(X), lambda _: certify(X, window)),
    ]
