"""``Subspace``: echelon form of many rows, membership, annihilator, fingerprint."""

from __future__ import annotations

from benchmarks import inputs, peers
from benchmarks.harness import Bench, Contestant
from flagstone import Subspace


def run(bench: Bench) -> None:
    """Time planted rows: their rank is full, but only because of the outliers."""
    for rows, dim in inputs.SIZES:
        m = bench.scale(rows)
        data = inputs.bit_rows("planted", m, dim)
        few = inputs.bit_rows("low-rank", 4 * dim, dim)
        V = Subspace.span(few)
        ways = [
            Contestant("span", m, lambda _, x=data: Subspace.span(x).dim),
            Contestant("contains", m, lambda _, V=V, x=data: V.contains(x)),
        ]
        if peers.versions()["M4RI"] is not None:
            matrix = peers.Matrix(data)
            ways.insert(1, Contestant("M4RI", m, peers.Matrix.echelonize_m4ri, matrix.fill))
        bench.compare(f"planted d={dim}", ways, dim=dim, seconds=1.0)
        bench.compare(
            f"values d={dim}",
            [
                Contestant("annihilator", 0, lambda _, V=V: V.annihilator()),
                Contestant("fingerprint", 0, lambda _, V=V: V.fingerprint()),
            ],
            dim=dim,
            seconds=0.3,
        )
