"""``Histogram`` for small domains, against our own ``Flag`` on the same packed rows, m = 16·2^d.

"histogram" counts the rows; "histogram to flag" counts them and then makes the flag. (It stands for
the rows in value order, so it is another flag than the streamed one, with the same promises.)
"""

from __future__ import annotations

from benchmarks import inputs
from benchmarks.harness import Bench, Contestant
from flagstone import Flag, Histogram

DIMS = (12, 16, 20)


def run(bench: Bench) -> None:
    """Time both summaries."""
    for dim in DIMS:
        m = bench.scale(16 * 2**dim)
        rows = inputs.bit_rows("uniform", m, dim)
        bench.compare(
            f"d={dim}",
            [
                Contestant("flag", m, lambda _, x=rows, d=dim: Flag(d).update(x).rank),
                Contestant(
                    "histogram",
                    m,
                    lambda h, x=rows: h.update(x),
                    lambda d=dim: Histogram(d),
                ),
                Contestant(
                    "histogram to flag",
                    m,
                    lambda h, x=rows: h.update(x).to_flag().rank,
                    lambda d=dim: Histogram(d),
                ),
            ],
            dim=dim,
            seconds=4.0,
        )
