"""Working with finished flags: merge, one space, its fingerprint, bytes and back; state size.

Two kinds of flags: of uniform rows (few distinct counts) and of Zipf rows (nearly d of them, so
the flag has many levels).
"""

from __future__ import annotations

from benchmarks import inputs, memory
from benchmarks.harness import Bench, Contestant
from flagstone import Flag

DIMS = (20, 64, 128, 1024)
KEPT = 50


def run(bench: Bench) -> None:
    """Time each operation on flags of 50 d rows."""
    for dim in DIMS:
        for kind in ("uniform", "zipf"):
            a, b = (Flag(dim).update(inputs.bit_rows(kind, 50 * dim, dim, seed)) for seed in (1, 2))
            middle = max(1, a.n_sets // 2)
            data = a.to_bytes()
            # A fresh copy each time: a flag remembers what it was once asked.
            ways = {
                "merge": lambda f, b=b: f.merge(b),
                "span_at": lambda f, j=middle: f.span_at(j),
                "span_at + fingerprint": lambda f, j=middle: f.span_at(j).fingerprint(),
                "to_bytes": lambda f: f.to_bytes(),
                "from_bytes": lambda _, data=data: Flag.from_bytes(data),
            }
            bench.compare(
                f"{kind} d={dim}",
                [Contestant(who, 0, way, a.copy) for who, way in ways.items()],
                dim=dim,
                seconds=1.0,
            )
    for dim in DIMS:
        size = memory.in_child(state_size, dim=dim)
        bench.record(f"state d={dim}", "resident", size, "bytes", dim=dim)
        stored = len(Flag(dim).update(inputs.bit_rows("zipf", 50 * dim, dim)).to_bytes())
        bench.record(f"state d={dim}", "stored", stored, "bytes", dim=dim)
        bench.say(f"state d={dim}: {size / 1e6:.3g} MB in memory, {stored / 1e6:.3g} MB stored")


def state_size(dim: int) -> float:
    """Return the memory one flag holds: what many of them hold, divided by their number."""
    rows = inputs.bit_rows("zipf", 4 * dim, dim)
    # The first ones fill the holes that imports and compilation left in the heap.
    flags = [Flag(dim).update(rows) for _ in range(KEPT)]
    before = memory.resident()
    flags += [Flag(dim).update(rows) for _ in range(KEPT)]
    return max(0.0, (memory.resident() - before) / KEPT)
