"""A batch of one packed row into a flag, against an empty method with the same argument.

Into a flag of uniform rows, and into one whose rows keep to a space of half the columns, which wide
flags keep apart. Rows one by one wait until there are enough to be worth a copy of the state: the
time is that of a thousand, so what they wait for is in it.
"""

from __future__ import annotations

import numpy as np

from benchmarks import inputs
from benchmarks.harness import Bench, Contestant
from flagstone import BitRows, Flag, pack

DIMS = (20, 64, 128, 256, 600, 1500)
ROWS = 1000


class Empty:
    """What a call costs by itself."""

    def update(self, X: BitRows) -> Empty:
        """Do nothing."""
        return self


def run(bench: Bench) -> None:
    """Time a thousand calls, and record what one takes beyond the empty one."""
    for dim in DIMS:
        factors = inputs.bit_rows("uniform", 4096, dim // 2).unpack().astype(np.float32)
        basis = inputs.bit_rows("uniform", dim // 2, dim, 2).unpack()
        kinds = {
            "uniform": inputs.bit_rows("uniform", 4096, dim),
            "half": pack((factors @ basis % 2).astype(np.uint8)),
        }
        for kind, rows in kinds.items():
            flag, given = Flag(dim).update(rows), [rows[i : i + 1] for i in range(ROWS)]
            found = bench.compare(
                f"{kind} d={dim}",
                [
                    Contestant("call", ROWS, lambda e, g=given: _feed(e, g), Empty),
                    Contestant("update", ROWS, lambda f, g=given: _feed(f, g), flag.copy),
                ],
                dim=dim,
                seconds=1.0,
            )
            more = (found["update"].value - found["call"].value) / ROWS
            bench.record(f"{kind} d={dim}", "beyond the call", more, dim=dim)
            bench.say(f"{kind} d={dim}: {more * 1e6:.2f} µs beyond the call")


def _feed(to: Flag | Empty, rows: list[BitRows]) -> None:
    for row in rows:
        to.update(row)
