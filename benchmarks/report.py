"""Markdown from results: the page docs/performance.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.floors import Floor, Verdict
from benchmarks.harness import Result
from benchmarks.inputs import KINDS, SIZES
from benchmarks.memory import ROOT

__all__ = ["floor_lines", "page"]

#: What no table shows, written by hand.
MISSED = ROOT / "benchmarks" / "missed.md"

#: Their results stand among the floors only.
FLOORS_ONLY = ("widths",)

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


def summary(results: Iterable[Result]) -> str:
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
        line("M4RI `mzd_echelonize`, packed", "flag_gf2", "M4RI default"),
        line("NumPy loop, packed", "flag_gf2", "NumPy loop", shown=True),
        line("**flagstone, counted flag, from uint8**", "flag_uint8", "flagstone"),
        line("ldpc, from uint8", "flag_uint8", "ldpc", shown=True),
        line("galois, from uint8", "flag_uint8", "galois", shown=True),
        line("python-flint, from uint8", "flag_uint8", "python-flint", shown=True),
        line("literal partition", "flag_uint8", "naive", shown=True),
        *(ratio(kind) for kind in KINDS),
        memory("flagstone"),
        memory("M4RI"),
    ]
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
        "`make bench` repeats the run in ten minutes at most; `python -m benchmarks --only SUITE` "
        "runs one suite and stores nothing, `--clock cpu` is for busy machines. M4RI comes from "
        "`apt-get install libm4ri-dev`, other peers from PyPI; what is missing is left out.",
        f"Measured {machine['date']} on {machine['cpu']}; {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, load {machine['load'][0]}, {clock} clock; "
        f"{machine['system']}, Python {machine['python']}, {machine['kernels']} kernels; "
        + ", ".join(f"{name} {version or 'not installed'}" for name, version in versions.items())
        + ".",
        "## Floors",
        "What the project asks of itself. A number in bold misses its floor.",
        *_floor_tables(verdicts),
        MISSED.read_text().strip(),
    ]
    for suite, title in SUITES.items():
        mine = [r for r in results if r.suite == suite]
        if mine and suite not in FLOORS_ONLY:
            parts += [f"## {title}", *REMARKS.get(suite, ()), *_tables(mine)]
    if notes:
        parts += ["## Notes of the run", "\n".join(f"- {note}" for note in notes)]
    return "\n\n".join(parts) + "\n"


def floor_lines(verdicts: Iterable[Verdict]) -> list[str]:
    """Return one line per floor for the terminal."""
    signs = {True: "holds ", False: "MISSES", None: "  –   "}
    return [
        f"{signs[v.holds]}  {v.floor.group}: {v.floor.text}: {_amount(v.value, v.floor.unit)} "
        f"({'≥' if v.floor.faster else '≤'} {_amount(v.floor.limit, v.floor.unit)})"
        for v in verdicts
    ]


def _floor_tables(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield a heading and a table for each group of floors."""
    groups: dict[str, list[Verdict]] = {}
    for v in verdicts:
        groups.setdefault(v.floor.group, []).append(v)
    for group, found in groups.items():
        measured = [v for v in found if v.holds is not None]
        if not measured:
            yield f"**{group}**: not measured in this run."
            continue
        held = sum(v.holds is True for v in measured)
        yield f"**{group}**: {held} of {len(measured)} floors hold."
        grid = _grid({v.floor.text: _measured(v, with_limit=True) for v in measured})
        yield grid or _table(
            ["", "floor", "measured"],
            [[v.floor.text, _limit(v.floor), _measured(v)] for v in measured],
        )
        if len(measured) < len(found):
            left_out = ", ".join(v.floor.text for v in found if v.holds is None)
            yield f"Not measured in this run: {left_out}."


def _limit(floor: Floor) -> str:
    return f"{'≥' if floor.faster else '≤'} {_amount(floor.limit, floor.unit)}"


def _measured(verdict: Verdict, with_limit: bool = False) -> str:
    """Return what was measured: in bold, and with its limit if asked, where the floor is missed."""
    value = _amount(verdict.value, verdict.floor.unit)
    if verdict.holds:
        return value
    return f"**{value}** ({_limit(verdict.floor)})" if with_limit else f"**{value}**"


def _tables(results: Sequence[Result]) -> Iterator[str]:
    """Yield tables of one suite: kinds of rows against widths for each contestant, or a list."""
    rates: dict[str, dict[str, str]] = {}
    for r in results:
        if r.rows and r.unit == "s":
            rates.setdefault(r.who, {})[r.case] = number(r)
    grids = {who: grid for who, cells in rates.items() if (grid := _grid(cells))}
    for who, grid in grids.items():
        yield f"*{who}*"
        yield grid
    yield from _pivots([r for r in results if r.who not in grids or r.unit != "s"])


def _grid(cells: Mapping[str, str]) -> str | None:
    """Return cells named "kind d=width" as a table; None if they are few, or named otherwise."""
    parts = [name.rpartition(" d=") for name in cells]
    kinds = list(dict.fromkeys(kind for kind, _, _ in parts))
    dims = sorted({int(dim) for _, _, dim in parts if dim.isdecimal()})
    if len(kinds) < 3 or len(dims) < 2 or not all(kind for kind in kinds):
        return None
    head = ["", *kinds]
    lines = [[f"d = {d}", *(cells.get(f"{kind} d={d}", "–") for kind in kinds)] for d in dims]
    return _table(head, lines)


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
