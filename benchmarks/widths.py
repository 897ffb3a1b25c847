"""Every kind of rows at dimensions chosen at random: no cliffs between the sizes of the tables.

The dimensions are both sides of each change of kernel and some drawn afresh for each release
(``inputs.DRAW``), so that nothing can be tuned to a list. Timed as in ``flag_gf2``; uniform rows
also with weights from 1 to 9.
"""

from __future__ import annotations

import numpy as np

from benchmarks import inputs, peers
from benchmarks.flag_gf2 import native_contestants
from benchmarks.harness import Bench, Contestant


def run(bench: Bench) -> None:
    """Time each kind of rows at each width, against M4RI where it is installed."""
    with_m4ri = peers.versions()["M4RI"] is not None
    for dim in inputs.drawn_dims():
        m = bench.scale(min(300_000, 30_000_000 // dim))
        for kind in inputs.KINDS:
            data = inputs.bit_rows(kind, m, dim)
            contestants = native_contestants(data)
            if kind == "uniform":
                w = np.random.default_rng(2026).integers(1, 10, m)
                contestants += native_contestants(data, w)
            if with_m4ri:
                matrix = peers.Matrix(data)
                contestants.append(Contestant("M4RI", m, peers.Matrix.echelonize_m4ri, matrix.fill))
            bench.compare(f"{kind} d={dim}", contestants, dim=dim, seconds=0.6)
