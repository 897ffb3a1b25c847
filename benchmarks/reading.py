"""From the file: packed rows and whole commands against what merely loading the file costs.

The same damaged rows of 41 bits as CSV, Parquet and NPY. "packed rows" opens the file, proposes
encoders and makes rows of it that a flag takes, as one thread; the loader has one thread, too.
"command" is ``flagstone constraints`` in this process, after a first call that loaded everything:
options, reading (in a second thread), flag, answer, certificate and misfits. Its loader has two
threads. What a command costs whatever its rows stands beside it. NPY has ten times the rows: a file
that fits into the processor's cache is loaded by one copy within it, in a time that swings by a
factor of four with what was there before, and against which no ratio settles.

"npy table" and "csv table" are whole commands against np.load and insertion in a flag, and against
``pyarrow.csv.read_csv`` with all threads. "command" has default options; "command, 1 % stated" and
all others state a contamination of 1 %, at which the rows break each check: so the window begins
where it is hardest to certify.

Rows of 512 bits take as long to insert as to read, or longer: "read ahead" does both at once, as
commands do, "in turn" one after the other, and the shorter of "read" and "insert" is what can be
saved. For Parquet, the loader and "packed rows", which opens the file, too, are timed here as well.

With ``LARGE=1`` a file of ten gigabytes is written to a temporary folder, and read by a command of
its own: its memory is that of a file a tenth as long.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Contestant
from benchmarks.memory import in_child, peak

ROWS, DIM, FEW = 500_000, 41, 1000
WIDE_ROWS, WIDE = 50_000, 512
CSV_ROWS, CSV_DIM = 3_000_000, 24
LONGER = {"npy": 10}
LARGE = 10 * 10**9
COMMAND = ["constraints", "--seed", "2026", "--quiet"]
#: The rate at which rows break each check: a window that begins there is hard to certify.
AT_THE_RATE = ["--contamination", "0.01"]


def run(bench: Bench) -> None:
    """Time each kind of file; look at the memory of large ones if asked to."""
    with tempfile.TemporaryDirectory() as place:
        few, many = Path(place, "few"), Path(place, "many")
        for folder, rows in ((few, FEW), (many, bench.scale(ROWS))):
            folder.mkdir()
            write(folder, rows)
        for kind, load in LOADERS.items():
            path, m = many / f"t.{kind}", bench.scale(ROWS) * LONGER.get(kind, 1)
            loader = Contestant("load", m, lambda _, f=load, p=path: f(p, False))
            ours = Contestant("packed rows", m, lambda _, p=path: packed_rows(p))
            bench.compare(f"{kind}, one thread", [loader, ours], dim=DIM)
            whole = [
                Contestant("load", m, lambda _, f=load, p=path: f(p, True)),
                Contestant("command", m, lambda _, p=path: command(p, *AT_THE_RATE)),
                Contestant(
                    f"command, {FEW} rows",
                    0,
                    lambda _, p=few / path.name: command(p, *AT_THE_RATE),
                ),
            ]
            bench.compare(f"{kind}, two threads", whole, dim=DIM)
        tables(bench, Path(place))
        for kind in ("hex", *LOADERS):
            overlap(bench, Path(place, f"wide.{kind}"))
        if bench.large:
            large(bench, Path(place, "t.csv"))


def bits(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Bits with two checks, each broken by one row in a hundred."""
    X = rng.integers(0, 2, (rows, DIM), dtype=np.uint8)
    X[:, 40] = X[:, 0] ^ X[:, 1] ^ X[:, 5] ^ (rng.random(rows) < 0.01)
    X[:, 39] = X[:, 10] ^ X[:, 11] ^ X[:, 12] ^ (rng.random(rows) < 0.01)
    return X


def lines(X: np.ndarray) -> np.ndarray:
    """The bytes of rows as lines of a CSV."""
    text = np.full((len(X), 2 * X.shape[1]), ord(","), dtype=np.uint8)
    text[:, ::2] = X + ord("0")
    text[:, -1] = ord("\n")
    return text


HEADER = ",".join(f"b{i}" for i in range(DIM)).encode() + b"\n"


def write(folder: Path, rows: int) -> None:
    """Write the same rows in every kind of file, numbers as most programs write them."""
    import pyarrow as pa
    from pyarrow import parquet

    X = bits(np.random.default_rng(2026), LONGER["npy"] * rows)
    np.save(folder / "t.npy", X)
    X = X[:rows]
    (folder / "t.csv").write_bytes(HEADER + lines(X).tobytes())
    table = pa.table({f"b{i}": X[:, i].astype(np.int64) for i in range(DIM)})
    parquet.write_table(table, folder / "t.parquet")


def _load_csv(path: Path, threads: bool) -> Any:
    from pyarrow import csv

    return csv.read_csv(path, read_options=csv.ReadOptions(use_threads=threads))


def _load_parquet(path: Path, threads: bool) -> Any:
    from pyarrow import parquet

    return parquet.read_table(path, use_threads=threads)


LOADERS: dict[str, Callable[[Path, bool], Any]] = {
    "csv": _load_csv,
    "parquet": _load_parquet,
    "npy": lambda path, _: np.load(path),
}


def packed_rows(path: Path) -> int:
    """Read all rows, ready for a flag."""
    from flagstone.tables import open_table

    table = open_table(path)
    return sum(len(batch.rows) for batch in table.rows(table.encoding(2)))


def tables(bench: Bench, place: Path) -> None:
    """Time whole commands on tables as people have them, against the least that they must do."""
    from flagstone import Flag

    rng = np.random.default_rng(2026)
    npy, m = place / "table.npy", bench.scale(ROWS)
    np.save(npy, bits(rng, m))

    def loaded_and_inserted(_: object) -> int:
        return Flag(DIM).update(np.load(npy)).rank

    least = Contestant("load + insert", m, loaded_and_inserted)
    whole = Contestant("command", m, lambda _: command(npy))
    hardest = Contestant("command, 1 % stated", m, lambda _: command(npy, *AT_THE_RATE))
    bench.compare(f"npy table, d={DIM}", [least, whole, hardest], dim=DIM)
    csv, m = place / "table.csv", bench.scale(CSV_ROWS)
    names = ",".join(f"b{i}" for i in range(CSV_DIM)).encode() + b"\n"
    csv.write_bytes(names + lines(bits(rng, m)[:, DIM - CSV_DIM :]).tobytes())
    load = Contestant("load", m, lambda _: _load_csv(csv, True))
    whole = Contestant("command", m, lambda _: command(csv, *AT_THE_RATE))
    bench.compare(f"csv table, d={CSV_DIM}", [load, whole], dim=CSV_DIM)


def overlap(bench: Bench, path: Path) -> None:
    """Time reading and inserting wide rows: each, in turn, and at once."""
    from flagstone import Flag
    from flagstone.tables import open_table
    from flagstone.tables.encoded import prefetch

    m = bench.scale(WIDE_ROWS)
    write_wide(path, np.random.default_rng(2026).integers(0, 2, (m, WIDE), dtype=np.uint8))
    table = open_table(path)
    encoding = table.encoding(2)
    kept = [batch.rows for batch in table.rows(encoding)]

    def inserted(rows: Iterable[Any]) -> int:
        flag = Flag(WIDE)
        for part in rows:
            flag.update(part)
        return flag.n_rows

    ways = {
        "read": lambda _: sum(len(batch) for batch in table.rows(encoding)),
        "insert": lambda _: inserted(kept),
        "in turn": lambda _: inserted(batch.rows for batch in table.rows(encoding)),
        "read ahead": lambda _: inserted(batch.rows for batch in prefetch(table.rows(encoding))),
    }
    if path.suffix == ".parquet":
        ways["load"] = lambda _: _load_parquet(path, False)
        ways["packed rows"] = lambda _: packed_rows(path)
    each = [Contestant(who, m, way) for who, way in ways.items()]
    bench.compare(f"{path.suffix[1:]}, d={WIDE}", each, dim=WIDE)


def write_wide(path: Path, X: np.ndarray) -> None:
    """Write rows in the kind of file that the name says."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"b{i}" for i in range(X.shape[1])]
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".parquet":
        parquet.write_table(pa.table(dict(zip(names, X.T.astype(np.int64), strict=True))), path)
    elif path.suffix == ".csv":
        path.write_bytes(",".join(names).encode() + b"\n" + lines(X).tobytes())
    else:
        path.write_text("".join(f"{bytes(row).hex()}\n" for row in np.packbits(X, axis=1)))


def command(path: Path, *words: str) -> None:
    """Run the command line in this process."""
    from flagstone.cli.runner import run as run_words

    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = run_words([*COMMAND, str(path), *words])
    if code not in (0, 3):
        raise RuntimeError(said.getvalue())


def large(bench: Bench, path: Path, n_bytes: int = LARGE) -> None:
    """Read a file at a tenth of its length and in full, with and without rows kept in memory."""
    rng = np.random.default_rng(2026)
    step = 500_000
    with path.open("wb") as stream:
        stream.write(HEADER)
        for share in (0.1, 1.0):
            while stream.tell() < share * n_bytes:
                stream.write(lines(bits(rng, step)).data)
            stream.flush()
            size = f"{share * n_bytes / 1e9:g} GB"
            for who, words in (("default", []), ("--cache-size 0", ["--cache-size", "0"])):
                given = [*AT_THE_RATE, *words]
                spent = in_child(memory_of_command, path=str(path), words=given)
                bench.record(f"memory, {size}", who, spent["memory"], "bytes")
                bench.record(f"time, {size}", who, spent["elapsed"])
                bench.say(f"{size}, {who}: {spent}")


def memory_of_command(path: str, words: list[str]) -> dict[str, float]:
    """Return the most memory that a process of its own holds, from its start, and its time."""
    return peak(partial(command, Path(path), *words))
