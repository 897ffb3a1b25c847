"""Growth with the number of rows: time linear in m, memory flat.

Rows are generated in batches of a million; only the updates are timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks import inputs, memory, peers
from benchmarks.harness import Bench, Contestant
from flagstone import BitRows, Flag

DIMS = (20, 64)
BATCH = 10**6
ROWS = (10**5, 10**6, 10**7, 10**8)


def run(bench: Bench) -> None:
    """Time streams of growing length, M4RI while its matrix is small, the naive partition."""
    lengths = [bench.scale(m) for m in ROWS]
    for dim in DIMS:
        # In turn, like contestants: a machine that slows down must not look like growth.
        rounds = 1 if bench.quick else 4
        turns = [[stream(m, dim, bench.clock) for m in lengths] for _ in range(rounds)]
        for m, times in zip(lengths, zip(*turns, strict=True), strict=True):
            best, middle = min(times), float(np.median(times))
            bench.record(f"m={m} d={dim}", "flagstone", best, "s", middle, rounds, m, dim)
            bench.say(f"m={m} d={dim}: {m / best / 1e6:.3g} M/s")
        if peers.versions()["M4RI"] is not None:
            for m in lengths[:3]:
                matrix = peers.Matrix(inputs.bit_rows("uniform", m, dim))
                contestant = Contestant("M4RI", m, peers.Matrix.echelonize_m4ri, matrix.fill)
                bench.compare(f"m={m} d={dim}", [contestant], dim=dim, seconds=1.0)
        for m in (125, 250, 500, 1000):
            data = inputs.bit_rows("uniform", m, dim)
            contestant = Contestant("naive", m, lambda _, x=data: peers.naive_rank(x), slow=True)
            bench.compare(f"m={m} d={dim}", [contestant], dim=dim, seconds=0.0, least=1, most=1)
        for m in (lengths[1], lengths[-1]):
            extra = memory.in_child(stream_memory, rows=m, dim=dim)
            bench.record(f"memory m={m} d={dim}", "flagstone", extra, "bytes", rows=m, dim=dim)
            bench.say(f"memory m={m} d={dim}: {extra / 1e6:.3g} MB beside the batch")


def stream(rows: int, dim: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that updating a flag with fresh uniform rows takes."""
    rng = np.random.default_rng(2026)
    flag = Flag(dim)
    spent = 0.0
    for done in range(0, rows, BATCH):
        batch = BitRows(inputs.uniform(rng, min(BATCH, rows - done), dim), dim)
        begin = clock()
        flag.update(batch)
        spent += clock() - begin
    assert flag.n_rows == rows
    return spent


def stream_memory(rows: int, dim: int) -> int:
    """Return how far memory rises over a whole stream, batches included."""
    stream(BATCH, dim)
    return memory.extra_memory(lambda: stream(rows, dim))
