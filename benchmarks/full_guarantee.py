"""The full promise, run in full: as many rows as the index rule needs, and the answers it gives.

Two labs draw their own rows from one source, a hidden subspace of dimension d/2 with one outlier in
a hundred rows, and share one seed. Rows are generated in batches (not timed) and streamed through
``Flag`` and through ``Histogram`` on one core; then the rule picks the span. The notes of the run
show the answers and what is proven for them. A histogram's time includes making its flag.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import inputs
from benchmarks.harness import Bench
from flagstone import BitRows, Coins, Flag, Histogram, IndexRule, plan
from flagstone.rules import select_span

BATCH = 4 * 10**6
PROMISES = ((20, 0.05, 0.1), (10, 0.1, 0.1))


def run(bench: Bench) -> None:
    """Run each promise in both labs, through both summaries."""
    for dim, rho, eps in PROMISES:
        rows = plan(dim, rho, eps).rows
        assert rows is not None
        m = rows // 20 if bench.quick else rows
        case = f"d={dim} rho={rho} eps={eps}"
        spent: dict[str, list[float]] = {"flag": [], "histogram": [], "rule": []}
        summarize(1000, dim, 0, bench.clock)  # a warm start
        for lab in ("A", "B"):
            flags = {}
            for who, (flag, seconds) in summarize(m, dim, ord(lab), bench.clock).items():
                flags[who] = flag
                spent[who].append(seconds)
                bench.say(f"{case}, lab {lab}: {m:,} rows through {who} in {seconds:.2f} s")
            for who, flag in flags.items():
                begin = bench.clock()
                result = select_span(flag, IndexRule(rho=rho, eps=eps), Coins("2026"))
                spent["rule"].append(bench.clock() - begin)
                answer = f"{result.subspace}; {result.guarantee}"
                bench.note(f"{case}, lab {lab}, {m:,} rows through {who}: {answer}")
        for who, seconds in spent.items():
            middle = float(np.median(seconds))
            counted = None if who == "rule" else m
            bench.record(case, who, min(seconds), "s", middle, len(seconds), counted, dim)


def summarize(
    rows: int, dim: int, seed: int, clock: Callable[[], float]
) -> dict[str, tuple[Flag, float]]:
    """Stream the rows of one lab; return the flag of each summary and the seconds it took."""
    source = inputs.uniform(np.random.default_rng(2026), dim // 2, dim)
    rng = np.random.default_rng(seed)
    flag, histogram = Flag(dim), Histogram(dim)
    spent = [0.0, 0.0]
    for done in range(0, rows, BATCH):
        batch = BitRows(inputs.planted(rng, min(BATCH, rows - done), dim, source), dim)
        for i, summary in enumerate((flag, histogram)):
            begin = clock()
            summary.update(batch)
            spent[i] += clock() - begin
    begin = clock()
    counted = histogram.to_flag()
    spent[1] += clock() - begin
    return {"flag": (flag, spent[0]), "histogram": (counted, spent[1])}
