"""``flagstone bench``: how fast is this machine?"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from flagstone.cli.options import JsonOption
from flagstone.cli.runner import OK, verb

JSON_KEYS = {
    "results": "for each primitive: name, dim, rows, seconds (the best), rows_per_second",
    "first_update_seconds": "the very first update, compiling or loading its kernel included",
    "machine": "platform, processor count, Python and NumPy versions",
}

EXAMPLES = ("flagstone bench --rows 20000",)


@verb
def command(
    rows: Annotated[int, typer.Option("--rows", min=1000, help="Rows per measurement.")] = 200_000,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Best of so many.")] = 3,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random rows.")] = 0,
    json: JsonOption = False,
) -> int:
    """Measure rows per second of the kernels on this machine (`make bench` compares with peers)."""
    import numpy as np

    from flagstone.bitrows import pack
    from flagstone.cli.output import print_json
    from flagstone.flag import Flag
    from flagstone.histogram import Histogram
    from flagstone.kernels import small

    small.ALLOWANCE = 0.0  # it is about the compiled kernels
    random = np.random.RandomState(seed)
    begin = time.perf_counter()
    Flag(64).update(np.eye(64, dtype=np.uint8))
    first = time.perf_counter() - begin
    results: list[dict[str, Any]] = []
    for dim in (20, 64, 128, 512):
        n = rows if dim <= 128 else max(1000, rows // 10)
        bits = random.randint(0, 2, size=(n, dim)).astype(np.uint8)
        packed = pack(bits)
        jobs: dict[str, Callable[[], object]] = {
            "flag": lambda dim=dim, packed=packed: Flag(dim).update(packed),  # type: ignore[misc]
            "flag from uint8": lambda dim=dim, bits=bits: Flag(dim).update(bits),  # type: ignore[misc]
        }
        if dim <= 20:
            jobs["histogram"] = lambda dim=dim, packed=packed: Histogram(dim).update(packed)  # type: ignore[misc]
        for name, job in jobs.items():
            seconds = _best(job, repeats)
            speed = n / seconds
            results.append(
                {"name": name, "dim": dim, "rows": n, "seconds": seconds, "rows_per_second": speed}
            )
    if json:
        print_json({"results": results, "first_update_seconds": first, "machine": _machine()})
        return OK
    print(f"first update {first:.2f} s (loading or compiling the kernel)")
    for found in results:
        speed = found["rows_per_second"] / 1e6
        print(f"{found['name']:<16} d = {found['dim']:>4}  {speed:8.2f} million rows/s")
    return OK


def _best(job: Callable[[], object], repeats: int) -> float:
    job()  # warm
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        job()
        times.append(time.perf_counter() - begin)
    return max(min(times), 1e-9)


def _machine() -> dict[str, Any]:
    import os
    import platform

    import numpy as np

    return {
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
