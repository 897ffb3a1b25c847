"""The full promise, run in full: as many rows as the index rule needs, and the answers it gives.

Two labs draw their own rows from one source, a hidden subspace of dimension d/2 with one outlier in
a hundred rows, and share one seed. Rows are generated in batches (not timed) and streamed through
``Flag`` on one core; then the rule picks the span. The notes of the run show the answers and what
is proven for them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import inputs
from benchmarks.harness import Bench
from flagstone import BitRows, Coins, Flag, IndexRule, plan
from flagstone.rules import select_span

BATCH = 4 * 10**6
PROMISES = ((20, 0.05, 0.1), (10, 0.1, 0.1))


def run(bench: Bench) -> None:
    """Run each promise in both labs."""
    for dim, rho, eps in PROMISES:
        rows = plan(dim, rho, eps).rows
        assert rows is not None
        m = rows // 20 if bench.quick else rows
        case = f"d={dim} rho={rho} eps={eps}"
        spent: dict[str, list[float]] = {"flag": [], "rule": []}
        summarize(1000, dim, 0, bench.clock)  # a warm start
        for lab in ("A", "B"):
            flag, seconds = summarize(m, dim, ord(lab), bench.clock)
            spent["flag"].append(seconds)
            bench.say(f"{case}, lab {lab}: {m:,} rows in {seconds:.2f} s")
            begin = bench.clock()
            result = select_span(flag, IndexRule(rho=rho, eps=eps), Coins("2026"))
            spent["rule"].append(bench.clock() - begin)
            answer = f"{result.subspace}; {result.guarantee}"
            bench.note(f"{case}, lab {lab}, {m:,} rows: {answer}")
        for who, seconds in spent.items():
            middle = float(np.median(seconds))
            counted = None if who == "rule" else m
            bench.record(case, who, min(seconds), "s", middle, len(seconds), counted, dim)


def summarize(rows: int, dim: int, seed: int, clock: Callable[[], float]) -> tuple[Flag, float]:
    """Stream the rows of one lab; return their flag and the seconds it took."""
    source = inputs.uniform(np.random.default_rng(2026), dim // 2, dim)
    rng = np.random.default_rng(seed)
    flag, spent = Flag(dim), 0.0
    for done in range(0, rows, BATCH):
        batch = BitRows(inputs.planted(rng, min(BATCH, rows - done), dim, source), dim)
        begin = clock()
        flag.update(batch)
        spent += clock() - begin
    return flag, spent
