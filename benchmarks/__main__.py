"""``python -m benchmarks``: run the suites, write the results, hold them against the floors."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from pathlib import Path
from typing import Any

from benchmarks import machine, peers, plot, report
from benchmarks.floors import judge
from benchmarks.harness import CLOCKS, Bench, Result
from benchmarks.memory import ROOT

LATEST = ROOT / "benchmarks" / "results" / "latest.json"
SUITES = tuple(report.SUITES)


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for and return the exit status."""
    options = _parser().parse_args(arguments)
    if options.render:
        run = json.loads(LATEST.read_text())
        _publish(run)
        return _verdict([Result(**r) for r in run["results"]], options.strict)
    bench = Bench(
        quick=options.quick, seconds=options.seconds, clock=options.clock, large=options.large
    )
    for name, version in peers.versions().items():
        if version is None:
            bench.note(f"{name} is not installed and left out ({peers.INSTALL[name]})")
    failed = [name for name in options.only or SUITES if not _run_suite(bench, name)]
    run = {
        "machine": machine.describe(),
        "quick": options.quick,
        "clock": options.clock,
        "results": [r.to_dict() for r in bench.results],
        "floors": [v.to_dict() for v in judge(bench.results)],
        "notes": bench.notes,
    }
    if options.output:
        options.output.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n")
    if not (options.quick or options.only):
        LATEST.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n")
        _publish(run)
    status = _verdict(bench.results, options.strict, options.quick)
    if failed:
        print(f"these suites failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else status


def _run_suite(bench: Bench, name: str) -> bool:
    """Run one suite; a suite that cannot run says why and does not stop the others."""
    bench.suite = name
    try:
        importlib.import_module(f"benchmarks.{name}").run(bench)
    except (ImportError, AttributeError) as error:
        bench.note(f"{name} is left out: {error}")
    except Exception as error:
        traceback.print_exc()
        bench.note(f"{name} failed: {error}")
        return False
    return True


def _publish(run: dict[str, Any]) -> None:
    """Write the page and the picture."""
    results = [Result(**r) for r in run["results"]]
    docs = ROOT / "docs"
    (docs / "images").mkdir(parents=True, exist_ok=True)
    text = report.page(run["machine"], results, judge(results), run["notes"], run["clock"])
    (docs / "performance.md").write_text(text)
    try:
        for suffix in ("svg", "png"):
            plot.draw(results, docs / "images" / f"scaling.{suffix}")
    except ImportError as error:
        print(f"no picture drawn: {error}", file=sys.stderr)


def _verdict(results: list[Result], strict: bool, quick: bool = False) -> int:
    verdicts = judge(results)
    measured = [v for v in verdicts if v.holds is not None]
    print("\n".join(report.floor_lines(measured)))
    held = sum(v.holds is True for v in measured)
    missing = len(verdicts) - len(measured)
    if quick:
        print("a quick run has a twentieth of the rows: the floors are meant for full runs")
    print(f"{held} of {len(measured)} floors hold, {missing} were not measured")
    return int(strict and held < len(verdicts))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=SUITES, help="one suite (repeatable)")
    parser.add_argument("--quick", action="store_true", help="few rows, one round: does it work?")
    parser.add_argument("--strict", action="store_true", help="fail if a floor misses")
    parser.add_argument("--seconds", type=float, default=600.0, help="for the whole run")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: on a busy machine")
    parser.add_argument("--large", action="store_true", help="read a file of 10 GB, too")
    parser.add_argument("--output", type=Path, help="write the results of this run here, as JSON")
    parser.add_argument("--render", action="store_true", help="only rewrite page and picture")
    return parser


if __name__ == "__main__":
    sys.exit(main())
