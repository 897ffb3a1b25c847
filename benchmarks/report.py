"""Markdown from results: the page docs/performance.md and the short table in README."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.floors import Verdict
from benchmarks.harness import Result
from benchmarks.inputs import KINDS, SIZES
from benchmarks.memory import ROOT

__all__ = ["START", "STOP", "floor_lines", "page", "readme_block", "replace_block", "summary"]

#: What no table shows, told by hand.
TRIED = ROOT / "benchmarks" / "tried.md"

START, STOP = "<!-- bench:start -->", "<!-- bench:end -->"

SUITES = {
    "flag_gf2": "The flag over GF(2), packed rows",
    "widths": "The flag over GF(2), widths drawn for this release",
    "flag_uint8": "The flag over GF(2), from uint8",
    "flag_finite": "The flag over other fields",
    "packing": "Packing",
    "reading": "From the file",
    "frames_file": "Frames from a file",
    "subspace": "Subspaces",
    "merge": "Finished flags",
    "growth": "Growth with the number of rows",
    "exponents": "Growth with the dimension",
    "full_guarantee": "The full guarantee",
    "startup": "Start-up",
    "one_row": "One row at a time",
    "estimator_fit": "Estimators",
    "audits": "Audits",
    "certify": "Certificates",
    "distributed": "Partitions on two workers",
    "cli_startup": "Command line",
}

#: What stands above the tables of a suite.
REMARKS = {
    "reading": (
        "*packed rows*: open the file, propose encoders, read all rows into the form that a flag "
        "takes; one thread, as the loader beside it. *command*: `flagstone constraints` from its "
        "options to its last line, in a process that has loaded everything before, with a second "
        "thread that reads ahead; its loader has two threads. Rows stay in memory, packed, up to "
        "256 MB (`--cache-size`), so a file is parsed once.",
        "Of the time for Parquet, three quarters are Arrow's own decoding a batch at a time, which "
        "bounds memory; packing int64 columns is a seventh. Tried and dropped: smaller batches "
        "(packing gains from the cache, decoding loses more), Arrow's casts to bytes before "
        "packing (as slow as all of our packing), one call of the packing kernel per column (four "
        "at once read and write each word a quarter as often).",
        "*d=512*: rows that take about as long to insert as to read, or longer. *read ahead* does "
        "both at once, as commands do; with two free cores it saves up to the shorter of *read* "
        "and *insert* against *in turn*.",
    ),
}


def number(result: Result) -> str:
    """Return a result for people: a rate where there are rows, a time or a size elsewhere."""
    if result.unit == "bytes":
        return _bytes(result.value)
    if result.unit == "count":
        return f"{result.value:g}"
    if result.rows:
        return f"{_digits(result.rate / 1e6)} M/s"
    return f"{result.value * 1e3:.3g} ms" if result.value < 1 else f"{result.value:.2f} s"


def summary(results: Iterable[Result], brief: bool = False) -> str:
    """Return the main table: uniform rows per second, ratios to M4RI, memory."""
    by_key = {r.key: r for r in results}

    def line(label: str, suite: str, who: str, shown: bool = False) -> list[str]:
        cells = []
        for _, dim in SIZES:
            r = by_key.get(f"{suite}/uniform d={dim}/{who}")
            cell = "–" if r is None else _digits(r.rate / 1e6)
            cells.append(f"{cell} (m = {r.rows:,})" if r is not None and shown else cell)
        return [label, *cells]

    def ratio(kind: str) -> list[str]:
        cells = []
        for _, dim in SIZES:
            case = f"flag_gf2/{kind} d={dim}"
            ours, peer = by_key.get(f"{case}/flagstone"), by_key.get(f"{case}/M4RI")
            cells.append(f"{ours.value / peer.value:.2f}" if ours and peer else "–")
        return [f"our time ÷ M4RI, {kind}", *cells]

    def memory(who: str) -> list[str]:
        found = [by_key.get(f"flag_gf2/memory d={dim}/{who}") for _, dim in SIZES]
        # Less than this is within the heap the process already had: not seen from outside.
        cells = ["–" if r is None else "< 0.1 MB" if r.value < 1e5 else number(r) for r in found]
        return [f"memory beside the rows, {who}", *cells]

    head = ["million rows per second", *(f"d = {dim}" for _, dim in SIZES)]
    lines = [
        line("**flagstone, counted flag, packed**", "flag_gf2", "flagstone"),
        line("M4RI `mzd_echelonize_m4ri`, packed", "flag_gf2", "M4RI"),
    ]
    if not brief:
        lines += [
            line("M4RI `mzd_echelonize`, packed", "flag_gf2", "M4RI default"),
            line("NumPy loop, packed", "flag_gf2", "NumPy loop", shown=True),
        ]
    lines += [
        line("**flagstone, counted flag, from uint8**", "flag_uint8", "flagstone"),
        line("ldpc, from uint8", "flag_uint8", "ldpc", shown=not brief),
        line("galois, from uint8", "flag_uint8", "galois", shown=not brief),
        line("python-flint, from uint8", "flag_uint8", "python-flint", shown=not brief),
        line("literal partition", "flag_uint8", "naive", shown=True),
        *(ratio(kind) for kind in KINDS),
    ]
    if not brief:
        lines += [memory("flagstone"), memory("M4RI")]
    return _table(head, lines)


def page(
    machine: dict[str, Any],
    results: Sequence[Result],
    verdicts: Sequence[Verdict],
    notes: Sequence[str],
    clock: str = "wall",
) -> str:
    """Return the whole page."""
    versions = {**machine["versions"], **machine["peers"]}
    parts = [
        "# Performance",
        "*Written by `make bench`; do not edit. How each number comes about can be read in "
        "`benchmarks/`, one short file per section.*",
        "The full counted flag, from which every replicable answer is read, against peers that "
        "do plain elimination of the same rows on one thread. Contestants take turns in one run; "
        "shown is the least of the rounds. Slow peers get the first m rows, about one second's "
        "worth. A ratio below 1 means that flagstone is faster.",
        summary(results),
        "![Rows per second over m and d](images/scaling.svg)",
        f"Measured {machine['date']} on {machine['cpu']}; {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, load {machine['load'][0]}, {clock} clock; "
        f"{machine['system']}, Python {machine['python']}, {machine['kernels']} kernels; "
        + ", ".join(f"{name} {version or 'not installed'}" for name, version in versions.items())
        + ".",
        "## Floors",
        "What the project promises itself.",
        _floor_table(verdicts),
    ]
    for suite, title in SUITES.items():
        mine = [r for r in results if r.suite == suite]
        if mine:
            parts += [f"## {title}", *REMARKS.get(suite, ()), *_pivots(mine)]
    parts.append(TRIED.read_text().strip())
    if notes:
        parts += ["## Notes of the run", "\n".join(f"- {note}" for note in notes)]
    return "\n\n".join(parts) + "\n"


def readme_block(machine: dict[str, Any], results: Sequence[Result]) -> str:
    """Return what README shows between its marks."""
    return (
        summary(results, brief=True)
        + f"\n\nUniform rows, one thread of {machine['cpu']}; written by `make bench` on "
        f"{machine['date']}. The peers only row-reduce; the literal partition is measured on few "
        "rows, since its rate falls as 1/m. All inputs, fields, memory and floors: "
        "[docs/performance.md](docs/performance.md)."
    )


def floor_lines(verdicts: Iterable[Verdict]) -> list[str]:
    """Return one line per floor for the terminal."""
    signs = {True: "holds ", False: "MISSES", None: "  –   "}
    return [
        f"{signs[v.holds]}  {v.floor.group}: {v.floor.text}: {_amount(v.value, v.floor.unit)} "
        f"({'≥' if v.floor.faster else '≤'} {_amount(v.floor.limit, v.floor.unit)})"
        for v in verdicts
    ]


def replace_block(text: str, block: str) -> str | None:
    """Return the text with the marked block replaced; None where there are no marks."""
    head, start, rest = text.partition(START)
    _, stop, tail = rest.partition(STOP)
    if not start or not stop:
        return None
    return f"{head}{START}\n\n{block}\n\n{STOP}{tail}"


def _floor_table(verdicts: Iterable[Verdict]) -> str:
    signs = {True: "✓", False: "✗ misses", None: "not measured"}
    lines = []
    previous = ""
    for v in verdicts:
        group = v.floor.group if v.floor.group != previous else ""
        previous = v.floor.group
        limit = f"{'≥' if v.floor.faster else '≤'} {_amount(v.floor.limit, v.floor.unit)}"
        value = _amount(v.value, v.floor.unit)
        lines.append([group, v.floor.text, limit, value, signs[v.holds]])
    return _table(["", "", "floor", "measured", ""], lines)


def _pivots(results: Sequence[Result]) -> list[str]:
    """Return tables with a line per case and a column per contestant, one per set of columns."""
    cases: dict[str, dict[str, Result]] = {}
    for r in results:
        cases.setdefault(r.case, {})[r.who] = r
    tables: dict[tuple[str, ...], list[list[str]]] = {}
    for case, found in cases.items():
        rows = max((r.rows or 0 for r in found.values()), default=0)
        cells = [case, f"{rows:,}" if rows else "–"]
        for r in found.values():
            short = f" (m = {r.rows:,})" if r.rows and r.rows != rows else ""
            cells.append(number(r) + short)
        tables.setdefault(tuple(found), []).append(cells)
    return [_table(["case", "rows", *whos], lines) for whos, lines in tables.items()]


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def _digits(value: float) -> str:
    """Two or three significant digits, never an exponent."""
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 1:
        return f"{value:.2f}"
    text = f"{value:.6f}" if value < 0.001 else f"{value:.4f}" if value < 0.1 else f"{value:.2f}"
    return text.rstrip("0") if value < 0.1 else text


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if unit == "bytes":
        return _bytes(value)
    if unit == "s":
        return f"{value:.3g} s"
    return f"{_digits(value) if value else '0'}{' ' + unit if unit else ''}"


def _bytes(value: float) -> str:
    return f"{value / 1e6:.3g} MB" if value >= 1e5 else f"{value / 1e3:.2g} kB"
