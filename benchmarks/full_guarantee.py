"""The full promise, run in full: as many rows as the index rule needs, and the answer it gives.

Fresh uniform rows are generated in batches (not timed) and streamed through ``Flag`` and through
``Histogram`` on one core; then the rule picks the span, and the note shows what is proven for it.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks import inputs
from benchmarks.harness import Bench
from flagstone import BitRows, Coins, Flag, Histogram, plan, select_span

BATCH = 4 * 10**6
PROMISES = ((20, 0.05, 0.1), (10, 0.1, 0.1))


def run(bench: Bench) -> None:
    """Run each promise through both summaries, batch by batch in turn."""
    for dim, rho, eps in PROMISES:
        rows = plan(dim, rho, eps).rows
        assert rows is not None
        case = f"d={dim} rho={rho} eps={eps}"
        # A warm start: kernels are loaded, the first pass over the histogram's pages is done.
        for summary in (Flag(dim), Histogram(dim)):
            summary.update(inputs.bit_rows("uniform", 1000, dim))
        m = rows // 20 if bench.quick else rows
        flag, histogram = Flag(dim), Histogram(dim)
        spent = {"flag": 0.0, "histogram": 0.0}
        rng = np.random.default_rng(2026)
        for done in range(0, m, BATCH):
            batch = BitRows(inputs.uniform(rng, min(BATCH, m - done), dim), dim)
            for who, summary in (("flag", flag), ("histogram", histogram)):
                begin = time.perf_counter()
                summary.update(batch)
                spent[who] += time.perf_counter() - begin
        begin = time.perf_counter()
        from_histogram = histogram.to_flag()
        spent["histogram"] += time.perf_counter() - begin
        for who, seconds in spent.items():
            bench.record(case, who, seconds, rows=m, dim=dim)
            bench.say(f"{case}: {m:,} rows through {who} in {seconds:.2f} s")
        for who, summary in (("Flag", flag), ("Histogram", from_histogram)):
            begin = time.perf_counter()
            result = select_span(summary, Coins("2026"), rho=rho, eps=eps)
            answer = f"{result.subspace}; {result.guarantee}"
            spent_rule = time.perf_counter() - begin
            bench.record(case, f"rule on {who.lower()}", spent_rule, dim=dim)
            bench.note(f"{case}, {m:,} rows through {who}: {answer}")
