"""The counted flag over GF(2) from unpacked 0/1 rows, against the packages that take such arrays.

Timed: from the ``uint8`` array to the finished flag, packing included; for the peers from the same
array to the rank. They are slow: each gets the prefix of the rows that takes it about a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import inputs, peers
from benchmarks.harness import Bench, Contestant, prefix
from flagstone import Flag

PEERS: dict[str, Callable[[np.ndarray], Any]] = {
    "ldpc": peers.ldpc_rank,
    "galois": peers.galois_rank,
    "python-flint": lambda X: peers.flint_matrix(X).rank(),
}


def run(bench: Bench) -> None:
    """Time uniform rows at every size."""
    versions = peers.versions()
    for rows, dim in inputs.SIZES:
        packed = inputs.bit_rows("uniform", bench.scale(rows), dim)
        X = packed.unpack()
        m = len(X)
        contestants = [Contestant("flagstone", m, lambda _, X=X, d=dim: Flag(d).update(X).rank)]
        for who, rank in PEERS.items():
            if versions[who] is not None:
                contestants.append(_slow(bench, who, lambda n, X=X, rank=rank: rank(X[:n]), m))
        contestants.append(
            _slow(bench, "naive", lambda n, packed=packed: peers.naive_rank(packed[:n]), m)
        )
        bench.compare(f"uniform d={dim}", contestants, dim=dim, seconds=3.0, least=5)


def _slow(bench: Bench, who: str, rank: Callable[[int], Any], rows: int) -> Contestant:
    n = prefix(rank, rows, seconds=0.1 if bench.quick else 1.0)
    return Contestant(who, n, lambda _: rank(n), slow=True)
