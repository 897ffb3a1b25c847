"""What partitions cost: one process against two workers, on the same Parquet files.

Both sides read the files twice (the flag, then the certificate) with one thread per process; what
starting processes and loading kernels takes is left out of both and shown apart. Workers are real
processes of a local Dask cluster, and processor time is summed over all of them, the scheduler and
the one who asks. Two processes slow each other down on most machines, so a third contestant shows
how much of the cost is theirs and not Dask's: two processes that know nothing of each other, each
with half of the files.
"""

from __future__ import annotations

import pickle
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import inputs
from benchmarks.harness import Bench, Contestant
from benchmarks.memory import in_child
from flagstone import BitRows, Coins, Flag, IndexRule
from flagstone.question import ConstraintsQuestion

DIM, FILES, ROWS = 64, 20, 5_000_000
WORKERS, TASKS = 2, 3000
RULE = IndexRule(t_min=0.01, t_max=0.012)


def run(bench: Bench) -> None:
    """Run both sides on full files, then look at memory and at what a merge costs."""
    with tempfile.TemporaryDirectory() as place:
        small, whole = Path(place, "small"), Path(place, "whole")
        write(small, 2, 20_000)
        write(whole, FILES, bench.scale(ROWS))
        m = FILES * bench.scale(ROWS)
        case = f"d={DIM} m={m}" if bench.quick else f"d={DIM}"
        given = {"folder": str(whole), "warm": str(small)}
        alone, spread = in_child(single, **given), in_child(cluster, **given)
        with ThreadPoolExecutor(2) as pool:
            halves = list(pool.map(lambda half: in_child(single, half=half, **given), (0, 1)))
        apart = {
            "cpu": sum(half["cpu"] for half in halves),
            "elapsed": max(half["elapsed"] for half in halves),
        }
        contestants = {"one process": alone, f"{WORKERS} workers": spread, "two halves": apart}
        for who, found in contestants.items():
            bench.record(f"{case} processor", who, found["cpu"], rows=m, dim=DIM)
            bench.record(f"{case} elapsed", who, found["elapsed"], rows=m, dim=DIM)
            bench.say(f"{case}, {m:,} rows, {who}: {found}")
        bench.record("start of workers", "elapsed", spread["start"])
        bench.record("an empty task", "elapsed", spread["task"])
        bench.record("memory of a worker", f"{FILES} files", spread["memory"], "bytes")
        bench.record("memory of a worker", f"{FILES // 4} files", spread["memory of few"], "bytes")
    for dim in (64, 256, 1024):
        rng = np.random.default_rng(dim)
        flags = [Flag(dim).update(BitRows(inputs.uniform(rng, 50_000, dim), dim)) for _ in "ab"]
        data = [pickle.dumps(flag) for flag in flags]
        bench.record(f"summary d={dim}", "bytes", float(len(data[0])), "bytes", dim=dim)
        contestant = Contestant("receive and merge", 0, _merge, lambda data=data: data)
        bench.compare(f"summary d={dim}", [contestant], dim=dim, seconds=1.0)


def _merge(data: list[bytes]) -> None:
    a, b = map(pickle.loads, data)
    pickle.dumps(a.merge(b))


def write(folder: Path, files: int, rows: int) -> None:
    """Write frames with a hidden plane, one row in a hundred outside, a byte for each bit."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir()
    rng = np.random.default_rng(2026)
    source = inputs.uniform(rng, DIM // 2, DIM)
    for number in range(files):
        X = BitRows(inputs.planted(rng, rows, DIM, source), DIM).unpack()
        table = pa.table({f"b{i}": X[:, i] for i in range(DIM)})
        parquet.write_table(table, folder / f"{number:03}.parquet", row_group_size=250_000)


def single(folder: str, warm: str, half: int | None = None) -> dict[str, float]:
    """One process, which reads all files, or every other one."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        _ask(warm)
        cpu, begin = time.process_time(), time.perf_counter()
        files = sorted(Path(folder).iterdir())
        _ask(files if half is None else files[half::2])
        return {"cpu": time.process_time() - cpu, "elapsed": time.perf_counter() - begin}


def _ask(folder: Any, client: Any = None) -> None:
    from flagstone import distributed

    distributed.ask(folder, ConstraintsQuestion(), RULE, Coins(2026), client=client)


def _nothing(number: int) -> int:
    return number


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    found = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return 1024 * int(found.split()[1])


def cluster(folder: str, warm: str) -> dict[str, float]:
    """Workers as ``--workers`` starts them, each a process with one thread."""
    from flagstone.distributed import local_workers

    begin = time.perf_counter()
    with local_workers(WORKERS) as client:
        for _ in range(3):  # until every worker has loaded its kernels
            _ask(warm, client)
        start = time.perf_counter() - begin
        client.run(_peak)
        few = sorted(Path(folder).iterdir())[: FILES // 4]
        _ask(few, client)
        memory_of_few = max(client.run(_peak).values())
        before = sum(client.run(time.process_time).values()) + time.process_time()
        begin = time.perf_counter()
        _ask(folder, client)
        elapsed = time.perf_counter() - begin
        cpu = sum(client.run(time.process_time).values()) + time.process_time() - before
        memory = max(client.run(_peak).values())
        client.gather(client.map(_nothing, range(100)))
        begin = time.perf_counter()
        client.gather(client.map(_nothing, range(100, 100 + TASKS)))
        task = (time.perf_counter() - begin) / TASKS
    spent = {"cpu": cpu, "elapsed": elapsed, "start": start, "task": task}
    return spent | {"memory": memory, "memory of few": memory_of_few}
