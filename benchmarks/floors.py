"""The speeds we hold ourselves to, as data, and how a run measures up to them.

A floor names one result, another to compare it with or none, and a limit. Compared are seconds
per row, so a peer measured on a prefix of the rows is judged by its rate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.audits import SHAPE as AUDITED
from benchmarks.certify import ROWS as CERTIFIED
from benchmarks.cli_startup import LARGE, SMALL
from benchmarks.flag_finite import WIDE
from benchmarks.harness import Result
from benchmarks.inputs import KINDS, SIZES, drawn_dims
from benchmarks.one_row import DIMS as ONE_BY_ONE
from benchmarks.reading import CSV_DIM as CSV_TABLE
from benchmarks.reading import DIM as TABLE
from benchmarks.reading import WIDE as WIDE_FILE
from benchmarks.startup import DIMS as START_DIMS
from benchmarks.startup import FIELDS
from flagstone._kernels import available

#: The native versions that this processor can run, the fastest first.
NATIVE = tuple(name for name in available() if name != "python")

__all__ = ["FLOORS", "Floor", "Verdict", "judge"]


@dataclass(frozen=True)
class Floor:
    """``result`` (divided by ``against``) is at most ``limit``; with ``faster``, the other way
    round: ``result`` is at least ``limit`` times as fast as ``against``."""

    group: str
    text: str
    result: str
    limit: float
    against: str | None = None
    faster: bool = False
    unit: str = "×"


@dataclass(frozen=True)
class Verdict:
    """A floor with the measured value; ``holds`` is None where the run has no such numbers."""

    floor: Floor
    value: float | None

    @property
    def holds(self) -> bool | None:
        """Whether the floor holds."""
        if self.value is None:
            return None
        floor = self.floor
        return self.value >= floor.limit if floor.faster else self.value <= floor.limit

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self.floor) | {"value": self.value, "holds": self.holds}


def judge(results: Iterable[Result], floors: Iterable[Floor] | None = None) -> list[Verdict]:
    """Hold results against floors."""
    by_key = {r.key: r for r in results}
    return [Verdict(f, _value(f, by_key)) for f in (FLOORS if floors is None else floors)]


def _value(floor: Floor, by_key: dict[str, Result]) -> float | None:
    ours = by_key.get(floor.result)
    if ours is None:
        return None
    if floor.against is None:
        return ours.value
    other = by_key.get(floor.against)
    if other is None:
        return None
    quotient = _per_row(ours) / _per_row(other)
    return 1 / quotient if floor.faster else quotient


def _per_row(result: Result) -> float:
    return result.value / (result.rows or 1)


def _over_m4ri(version: str, dim: int, kind: str) -> float:
    """Return how many times M4RI's time a flag may take."""
    if version == "portable":
        return 5.0
    if version == "avx2":
        return 1.5 if dim <= 512 else 2.0
    if dim <= 512:
        return 1.3 if kind in ("low-rank", "skewed", "repeats") else 1.0
    return 1.0 if kind in ("uniform", "frames", "sparse") else 1.5


def _floors() -> Iterator[Floor]:
    for suite, dims in (("flag_gf2", [dim for _, dim in SIZES]), ("widths", drawn_dims())):
        for version, dim, kind in itertools.product(NATIVE, dims, KINDS):
            case = f"{suite}/{kind} d={dim}"
            group = f"GF(2), packed: our time over M4RI's, {version} kernels"
            limit = _over_m4ri(version, dim, kind)
            yield Floor(group, f"{kind} d={dim}", f"{case}/{version}", limit, f"{case}/M4RI")
    group = "GF(2), packed: our time over that of one column less"
    for dim in (65, 129, 257, 513):
        for kind in KINDS:
            wide, narrow = (f"widths/{kind} d={d}/{NATIVE[0]}" for d in (dim, dim - 1))
            yield Floor(group, f"{kind} d={dim}", wide, 1.5, narrow)
    group = "GF(2), packed: our time for weighted rows over that for plain ones"
    for dim in drawn_dims():
        case = f"widths/uniform d={dim}/{NATIVE[0]}"
        yield Floor(group, f"uniform d={dim}", f"{case}, weighted", 3.0, case)
    group = "GF(2), from uint8: how many times faster than"
    for dim in (64, 1024):
        for peer in ("ldpc", "galois", "python-flint"):
            case = f"flag_uint8/uniform d={dim}"
            text = f"{peer} d={dim}"
            yield Floor(group, text, f"{case}/flagstone", 100, f"{case}/{peer}", faster=True)
    group = "Frames from a file to packed rows: our time over"
    for dim in (48, 128, 512):
        for style in ("hex", "blanks"):
            case = f"frames_file/{style} d={dim}"
            text = f"loading it with bytes.fromhex, {style} d={dim}"
            yield Floor(group, text, f"{case}/read", 1.5, f"{case}/bytes.fromhex")
            text = f"bytes.fromhex on the text in memory, {style} d={dim}"
            yield Floor(group, text, f"{case}/read", 2.0, f"{case}/fromhex, in memory")
        case = f"frames_file/bits d={dim}"
        text = f"loading it with NumPy, bits d={dim}"
        yield Floor(group, text, f"{case}/read", 1.5, f"{case}/numpy")
    group = "Frames with their bits beside them: our time over that of frames alone"
    ours, own = (f"frames_file/{lines} d=48/read" for lines in ("receiver", "hex"))
    yield Floor(group, "receiver d=48", ours, 30.0, own)
    group = "GF(p): how many times faster than python-flint's rank"
    for p in (7, *WIDE):
        for dim in (64, 128, 256, 512, 1024):
            case, text = f"flag_finite/GF({p}) d={dim}", f"GF({p}) d={dim}"
            ours, peer = f"{case}/flagstone", f"{case}/python-flint"
            yield Floor(group, text, ours, 4.0, peer, faster=True)
    group = "Odd prime powers: our time over our own in characteristic 2"
    for order in ("3^2", "3^4", "11^2", "3^5"):
        for dim in (64, 128):
            ours, own = (f"flag_finite/GF({q}) d={dim}/flagstone" for q in (order, "2^8"))
            yield Floor(group, f"GF({order}) over GF(2^8), d={dim}", ours, 2.5, own)
    group = "QQ, small integers: our time over python-flint's rank of the integer matrix"
    for dim, limit in ((8, 110.0), (16, 70.0), (32, 12.0)):
        case = f"flag_finite/QQ d={dim}"
        yield Floor(group, f"QQ d={dim}", f"{case}/flagstone", limit, f"{case}/python-flint")
    group = "Growth with the dimension: the exponent of d"
    for field in ("GF(2)", "GF(7)", "GF(3^2)"):
        case = f"exponents/{field} exponent"
        for who, limit in (
            ("merge", 3.0),
            ("span_at", 3.0),
            ("contains, 2,000 rows", 2.2),
            ("fit and certify, 3·d rows", 3.0),
        ):
            yield Floor(group, f"{who}, {field}", f"{case}/{who}", limit, unit="")
    group = "From the file: our time over that of loading it"
    for kind, limit in (("csv", 1.3), ("parquet", 1.3), ("npy", 1.5)):
        case = f"reading/{kind}, one thread"
        text = f"{kind}, packed rows"
        yield Floor(group, text, f"{case}/packed rows", limit, f"{case}/load")
    case = f"reading/parquet, d={WIDE_FILE}"
    text = f"parquet, packed rows, d={WIDE_FILE}"
    yield Floor(group, text, f"{case}/packed rows", 2.0, f"{case}/load")
    case = "reading/csv, two threads"
    yield Floor(group, "csv, the whole command", f"{case}/command", 1.3, f"{case}/load")
    case = f"reading/npy table, d={TABLE}"
    text = f"npy of 500,000 × {TABLE}, the whole command over np.load and insertion"
    yield Floor(group, text, f"{case}/command", 3.0, f"{case}/load + insert")
    case = f"reading/csv table, d={CSV_TABLE}"
    text = f"csv of 3,000,000 × {CSV_TABLE}, the whole command over pyarrow.csv.read_csv"
    yield Floor(group, text, f"{case}/command", 1.5, f"{case}/load")
    case = "reading/memory, 10 GB"
    yield Floor(group, "memory, 10 GB of csv", f"{case}/default", 700e6, unit="bytes")
    text = "memory, 10 GB over 1 GB of csv, --cache-size 0"
    yield Floor(group, text, f"{case}/--cache-size 0", 1.1, "reading/memory, 1 GB/--cache-size 0")
    group = "Growth"
    for dim in (20, 64):
        for m in (10**6, 10**7, 10**8):
            yield Floor(
                group,
                f"seconds per row, 10^{len(str(m)) - 1} over 10^5 rows, d={dim}",
                f"growth/m={m} d={dim}/flagstone",
                1.25,
                f"growth/m={10**5} d={dim}/flagstone",
            )
        yield Floor(
            group,
            f"memory beside the rows, stream of 10^8 rows, d={dim}",
            f"growth/memory m={10**8} d={dim}/flagstone",
            32e6,
            unit="bytes",
        )
    state = "merge/state d=1024/resident"
    yield Floor(group, "state of a flag, d=1024", state, 4e6, unit="bytes")
    for kind in ("uniform", "zipf"):
        for who, limit in (("merge", 0.1), ("span_at", 0.05), ("span_at + fingerprint", 0.05)):
            text = f"{who}, {kind} flag d=1024"
            yield Floor(group, text, f"merge/{kind} d=1024/{who}", limit, unit="s")
    group = "Start-up"
    for field in FIELDS:
        for dim in START_DIMS if field == FIELDS[0] else START_DIMS[:2]:
            case = f"startup/GF({field}) d={dim}"
            text = f"first call over second, GF({field}) d={dim}"
            yield Floor(group, text, f"{case}/first", 1.2, f"{case}/second")
    text = "first fit of LinearSpan over `import numpy, sklearn.base`"
    new = "startup/new process"
    yield Floor(group, text, f"{new}/fit", 1.5, f"{new}/reference")
    reference = "cli_startup/reference/spent"
    text = "flagstone --help over `import numpy, pyarrow`"
    yield Floor(group, text, "cli_startup/--help/spent", 0.6, reference)
    for field, (n_rows, most) in itertools.product(
        ("GF(2)", "GF(7)", "GF(2^8)", "GF(3^2)"), ((SMALL, 2.0), (LARGE, 3.0))
    ):
        verb = f"cli_startup/verb {field} m={n_rows}"
        text = f"verb over {field}, {n_rows:,} rows, over `import numpy, pyarrow`"
        yield Floor(group, text, f"{verb}/spent", most, reference)
    loaded = "cli_startup/imports/scikit-learn loaded"
    yield Floor(group, "scikit-learn loaded by the verb", loaded, 0, unit="")
    group = "Full guarantee"
    for case, who, limit in (
        ("d=20 rho=0.05 eps=0.1", "flag", 10.0),
        ("d=10 rho=0.1 eps=0.1", "flag", 1.0),
    ):
        yield Floor(group, f"{case}, {who}", f"full_guarantee/{case}/{who}", limit, unit="s")
    for dim in ONE_BY_ONE:
        for kind in ("uniform", "half"):
            text, result = f"{kind} d={dim}", f"one_row/{kind} d={dim}/beyond the call"
            yield Floor("A batch of one row, beyond the call", text, result, 5e-6, unit="s")
    fit, parts = "estimator_fit/d=63/fit", "estimator_fit/d=63/pack + update"
    yield Floor(
        "Estimators", "ParityClassifier(certify=False).fit over pack + update", fit, 1.5, parts
    )
    text = "200 pairs of a logistic regression over its 400 fits"
    pairs = f"audits/{AUDITED[0]} x {AUDITED[1]}"
    yield Floor("Audits", text, f"{pairs}/audit", 1.2, f"{pairs}/fits")
    for dim, sizes in CERTIFIED.items():
        for m in sizes:
            text, case = f"fit over a bare fit, d={dim} m={m:,}", f"certify/d={dim} m={m}"
            yield Floor("Certificates", text, f"{case}/fit", 3.0, f"{case}/bare fit")
    group = "Two workers"
    for what, limit in (("processor", 1.15), ("elapsed", 0.6)):
        case = f"distributed/d=64 {what}"
        yield Floor(
            group,
            f"{what} time over one process, d=64, 100 million rows",
            f"{case}/2 workers",
            limit,
            f"{case}/one process",
        )
    case = "distributed/d=64 elapsed"
    text = "elapsed time over two processes with half of the files each"
    yield Floor(group, text, f"{case}/2 workers", 1.15, f"{case}/two halves")
    memory = "distributed/memory of a worker"
    text = "memory of a worker, 20 files over 5"
    yield Floor(group, text, f"{memory}/20 files", 1.15, f"{memory}/5 files")


FLOORS = tuple(_floors())
