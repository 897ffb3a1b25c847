"""Run cases of all kinds until the time is up; say what was found, and write the page.

python -m scripts.fuzz --minutes 60 --seed 2026 --page     (docs/reliability.md is written)
python -m scripts.fuzz --seed 2026 --case files:4711       (one case alone)
PYTHONPATH=other/src python -m scripts.fuzz                (the package in another source tree)
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.fuzz import page
from scripts.fuzz.command import FAULTS, Fault, Program, end_all
from scripts.fuzz.kinds import KINDS
from scripts.fuzz.stock import Stock, tables
from scripts.fuzz.trial import Commands, Trial, fresh_folder

CORPUS = page.ROOT / "tests" / "fuzz_corpus"
COLUMNS = ("cases", "commands", "kills", "signals", *FAULTS)


@dataclass
class Record:
    """What a run tried and found."""

    seed: str
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[dict[str, Any]] = field(default_factory=list)
    seconds: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, number: int | str, trial: Trial, fault: Fault | None) -> None:
        """Take the outcome of a case."""
        counts = self.counts.setdefault(kind, Counter())
        counts.update(trial.counts)
        counts["cases"] += 1
        if fault is not None:
            counts[fault.kind] += 1
            found = {"kind": kind, "case": number, "what": trial.what, "fault": fault.kind}
            self.faults.append({**found, "detail": fault.detail})

    @property
    def total(self) -> Counter[str]:
        """The counts of all kinds."""
        return sum(self.counts.values(), Counter())

    def distinct(self) -> list[tuple[dict[str, Any], int]]:
        """Return faults that look different, each with how often it was seen."""
        seen: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for fault in self.faults:
            last = re.sub(r"[0-9a-f]{8,}|\d+", "#", fault["detail"].strip().splitlines()[-1])
            key = (fault["kind"], fault["fault"], re.sub(r"\W+", " ", last)[-60:])
            seen.setdefault(key, []).append(fault)
        return [(found[0], len(found)) for found in seen.values()]

    def table(self) -> list[list[str]]:
        """Return the counts as rows of text, the first of which is the heading."""
        rows = [["", *COLUMNS]]
        for name, counts in [*self.counts.items(), ("all", self.total)]:
            rows.append([name, *(f"{counts[column]:,}" for column in COLUMNS)])
        return rows


def one_case(seed: str, kind: str, number: int, stock: Stock) -> tuple[Trial, Fault | None]:
    """Make a case and run it."""
    trial = KINDS[kind].make(random.Random(f"{seed}/{kind}/{number}"), stock)
    return trial, tried(trial, stock.folder)


def tried(trial: Trial, folder: Path) -> Fault | None:
    """Run a trial in a fresh folder; return its fault."""
    try:
        with fresh_folder(folder) as case:
            trial.run(case)
    except Fault as fault:
        return fault
    return None


def fuzz(
    record: Record, stock: Stock, kinds: list[str], *, seconds: float, cases: int, failed: Path
) -> None:
    """Replay what once failed, then run fresh cases: each kind gets its share of the time."""
    for path in sorted(CORPUS.glob("*.json")):
        trial = Commands.from_dict(json.loads(path.read_text()), stock.program)
        record.add("corpus", path.stem, trial, tried(trial, stock.folder))
    end, numbers = time.monotonic() + seconds, Counter(dict.fromkeys(kinds, 0))
    while time.monotonic() < end:
        open_kinds = [kind for kind in kinds if numbers[kind] < cases]
        if not open_kinds:
            return
        kind = min(open_kinds, key=lambda kind: record.seconds[kind] / KINDS[kind].share)
        number, started = numbers[kind], time.monotonic()
        trial, fault = one_case(record.seed, kind, number, stock)
        record.seconds[kind] += time.monotonic() - started
        numbers[kind] += 1
        record.add(kind, number, trial, fault)
        if fault is not None:
            failed.mkdir(parents=True, exist_ok=True)
            form = trial.to_dict() or record.faults[-1]
            name = f"{kind}-{number}.json".replace(" ", "-")
            (failed / name).write_text(json.dumps(form, indent=1) + "\n")
            print(f"{kind}:{number}: {trial.what}: {fault}"[:600], file=sys.stderr, flush=True)


def installed() -> Program:
    """Return the flagstone that this interpreter finds, its modules loaded."""
    spec = importlib.util.find_spec("flagstone")
    if spec is None or spec.origin is None:
        sys.exit("flagstone is not installed here; run: make fuzz")
    program = Program(Path(spec.origin).parents[1], warm=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("t.csv", "t.hex", "plain.parquet"):
            Path(folder, name).write_bytes(tables()[name])
        commands = [
            ["constraints", f"{folder}/plain.parquet", "--report", f"{folder}/r.html"],
            [
                "constraints",
                "--linear",
                f"{folder}/t.csv",
                "--field",
                "QQ",
                "--plot",
                f"{folder}/p.svg",
            ],
            ["plan", "--pilot", f"{folder}/t.hex", "--seed", "1"],
            ["audit", "--law", "uniform", "--dim", "3", "--rows", "9", "--pairs", "1"],
            ["plan", "--dim", "3", "--rho", "0.1"],
        ]
        program.load(commands)
    return program


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts.fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10, help="stop after this time")
    parser.add_argument("--cases", type=int, default=10**9, help="at most this many of each kind")
    parser.add_argument("--seed", default="1", help="of which every case is a function")
    parser.add_argument("--case", metavar="KIND:NUMBER", help="run this case alone")
    parser.add_argument("--kinds", help=f"only these, with commas between: {', '.join(KINDS)}")
    parser.add_argument("--failed", type=Path, default=Path(".fuzz/failed"), help="kept here")
    parser.add_argument("--json", type=Path, help="write counts and faults here")
    parser.add_argument("--page", action="store_true", help="write docs/reliability.md")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    root, record = Path(tempfile.mkdtemp(prefix="flagstone-fuzz-")), Record(given.seed)
    program = installed()
    if given.page:
        page.digest(program.source / "flagstone")  # fails now, not after the run
    stock = Stock(program, program, root)
    print(f"flagstone in {program.source}", file=sys.stderr)
    stopped = False
    try:
        if given.case is not None:
            kind, _, number = given.case.rpartition(":")
            trial, fault = one_case(given.seed, kind, int(number), stock)
            print(trial.what, fault or "no fault", sep=": ")
            return int(fault is not None)
        kinds = given.kinds.split(",") if given.kinds else list(KINDS)
        limits = {"seconds": 60 * given.minutes, "cases": given.cases}
        fuzz(record, stock, kinds, failed=given.failed, **limits)
    except KeyboardInterrupt:
        stopped = True
        print("stopped; no page is written", file=sys.stderr)
    finally:
        end_all()
        shutil.rmtree(root, ignore_errors=True)
    if given.json is not None:
        form = {"seed": given.seed, "counts": record.counts, "faults": record.faults}
        given.json.write_text(json.dumps(form, indent=1) + "\n")
    if given.page and not stopped:
        page.write(record, given.minutes, program.source)
    rows = record.table()
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print(
            "  ".join(
                c.rjust(w) if i else c.ljust(w)
                for i, (c, w) in enumerate(zip(row, widths, strict=True))
            )
        )
    for fault, times in record.distinct():
        print(f"{times} x {fault['kind']}:{fault['case']}: {fault['what']}: {fault['fault']}")
    return int(bool(record.faults))


if __name__ == "__main__":
    sys.exit(main())
