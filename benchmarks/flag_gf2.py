"""The counted flag over GF(2) from packed rows, against elimination by M4RI and a NumPy loop.

Timed: ``Flag(d).update(rows)`` and reading its rank, from an empty flag to the finished one.
M4RI's time is that of the reduction alone; copying the rows into its matrix is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import inputs, memory, peers
from benchmarks.harness import Bench, Contestant, prefix
from flagstone import BitRows, Flag
from flagstone._kernels import available


def run(bench: Bench) -> None:
    """Time every kind of input at every size, then the memory of the uniform ones."""
    with_m4ri = peers.versions()["M4RI"] is not None
    for rows, dim in inputs.SIZES:
        m = bench.scale(rows)
        for kind in inputs.KINDS:
            data = inputs.bit_rows(kind, m, dim)
            contestants = [
                Contestant("flagstone", m, lambda _, x=data: flag_rank(x)),
                *native_contestants(data),
            ]
            if with_m4ri:
                matrix = peers.Matrix(data)
                contestants += [
                    Contestant("M4RI", m, peers.Matrix.echelonize_m4ri, matrix.fill),
                    Contestant(
                        "M4RI default",
                        m,
                        peers.Matrix.echelonize,
                        matrix.fill,
                        slow=kind != "uniform",
                    ),
                ]
            if kind == "uniform":
                few = data[: prefix(lambda n, x=data: peers.numpy_rank(x[:n]), m)]
                contestants.append(
                    Contestant(
                        "NumPy loop", len(few), lambda _, x=few: peers.numpy_rank(x), slow=True
                    )
                )
            bench.compare(f"{kind} d={dim}", contestants, dim=dim, seconds=2.5)
    for rows, dim in inputs.SIZES:
        m = bench.scale(rows)
        for who in ("flagstone", "M4RI") if with_m4ri else ("flagstone",):
            peak = memory.in_child(peak_memory, who=who, rows=m, dim=dim)
            bench.record(f"memory d={dim}", who, peak, "bytes", rows=m, dim=dim)
        bench.say(f"memory d={dim}")


def flag_rank(rows: BitRows, weights: np.ndarray | None = None) -> int:
    """Build the flag of the rows; its rank is the answer all contestants share."""
    return Flag(rows.dim).update(rows, weights).rank


def native_contestants(rows: BitRows, weights: np.ndarray | None = None) -> list[Contestant]:
    """Return the kernel of each native version, all of them in one process."""
    note = "" if weights is None else ", weighted"
    return [
        Contestant(name + note, len(rows), lambda _, v=version: _kernel_rank(v, rows, weights))
        for name, version in available().items()
        if name != "python"
    ]


def _kernel_rank(version: Any, rows: BitRows, weights: np.ndarray | None) -> int:
    flag = version.gf2.flag(rows.dim)
    flag.insert(rows.words, weights)
    return len(flag.dump()[1])


def peak_memory(who: str, rows: int, dim: int) -> int:
    """Return the memory that one contestant needs on top of its input."""
    data = inputs.bit_rows("uniform", rows, dim)
    few = data[: 2 * dim]
    if who == "flagstone":
        flag_rank(few)
        return memory.extra_memory(lambda: flag_rank(data))
    peers.Matrix(few).fill().echelonize_m4ri()
    return memory.extra_memory(lambda: peers.Matrix(data).fill().echelonize_m4ri())
