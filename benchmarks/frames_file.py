"""Frames from a file to packed rows and to a flag, against ``bytes.fromhex`` on the same file.

Rows as receivers and people write them; for bits, a NumPy reader of equal lines is the peer. All
of them open the file, and are done when its bytes or rows are there: one thread each. Beside them,
``bytes.fromhex`` on a text that is in memory already, while we still read the file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.harness import Bench, Contestant
from flagstone import Flag
from flagstone.tables import open_table

#: Bytes of a frame, and how many frames.
SIZES = {6: 2_000_000, 16: 600_000, 64: 150_000}


def _shown(row: bytes) -> str:
    bits = " ".join(f"{byte:08b}" for byte in row)
    return f"{{{8 * len(row)}}} {row.hex(' ')} : {bits}"


STYLES: dict[str, Callable[[bytes], str]] = {
    "hex": bytes.hex,
    "blanks": lambda row: row.hex(" "),
    "colons": lambda row: row.hex(":"),
    "lengths": lambda row: f"{{{8 * len(row)}}}{row.hex()}",
    "list": lambda row: ",".join(f"0x{byte:02x}" for byte in row),
    "receiver": _shown,
    "bits": lambda row: "".join(f"{byte:08b}" for byte in row),
}
#: What ``bytes.fromhex`` takes, so that it reads the very same text.
FROMHEX = ("hex", "blanks")
#: What is timed for short frames alone.
SHORT = ("colons", "list", "receiver")


def run(bench: Bench) -> None:
    """Time reading alone and reading into a flag."""
    with tempfile.TemporaryDirectory() as folder:
        for n_bytes, rows in SIZES.items():
            n = bench.scale(rows)
            raw = np.random.default_rng(2026).integers(0, 256, (n, n_bytes), dtype=np.uint8)
            for style, write in STYLES.items():
                if style in SHORT and n_bytes != 6:
                    continue
                suffix = "bits" if style == "bits" else "hex"
                path = Path(folder) / f"frames.{suffix}"
                path.write_text("".join(f"{write(bytes(row))}\n" for row in raw))
                _compare(bench, style, path, n, 8 * n_bytes)


def _compare(bench: Bench, style: str, path: Path, n: int, dim: int) -> None:
    table = open_table(path)
    encoding = table.encoding(2)

    def read(_: object) -> int:
        return sum(len(batch) for batch in table.rows(encoding))

    def flag(_: object) -> int:
        found = Flag(dim)
        for batch in table.rows(encoding):
            found.update(batch.rows)
        return found.n_rows

    def fromhex(_: object) -> int:
        return 8 * len(bytes.fromhex(path.read_text("ascii"))) // dim

    def fromhex_alone(text: str) -> int:
        return 8 * len(bytes.fromhex(text)) // dim

    def numpy_bits(_: object) -> int:
        text = np.frombuffer(path.read_bytes(), dtype=np.uint8).reshape(n, dim + 1)
        return len(np.packbits(text[:, :dim] & 1, axis=1))

    ways = [Contestant("read", n, read), Contestant("read into a flag", n, flag)]
    if style in FROMHEX:
        ways.append(Contestant("bytes.fromhex", n, fromhex))
        text = path.read_text("ascii")
        ways.append(Contestant("fromhex, in memory", n, fromhex_alone, lambda: text))
    if style == "bits":
        ways.append(Contestant("numpy", n, numpy_bits))
    bench.compare(f"{style} d={dim}", ways, dim=dim, seconds=2.0)
    size = path.stat().st_size
    bench.record(f"{style} d={dim}", "text", size, "bytes")
