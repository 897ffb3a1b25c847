"""The page of performance shows every floor, and marks those that are missed."""

from __future__ import annotations

from benchmarks import report
from benchmarks.floors import Floor, Verdict
from benchmarks.harness import Result

MACHINE = {
    "date": "2026-01-01",
    "cpu": "a processor",
    "cores": 2,
    "memory_gb": 8,
    "load": [0.1],
    "system": "Linux",
    "python": "3.11",
    "kernels": "portable",
    "versions": {"numpy": "2.0"},
    "peers": {"M4RI": None},
}


def _result(case: str, seconds: float, unit: str = "s") -> Result:
    return Result("flag_gf2", case, "flagstone", seconds, unit, seconds, 3, 1000, 20)


def test_kinds_of_rows_stand_against_widths():
    kinds = ["uniform", "sparse", "frames"]
    floors = [Floor("ratios", f"{kind} d={d}", "", 1.0) for kind in kinds for d in (20, 64)]
    verdicts = [
        Verdict(f, value) for f, value in zip(floors, [0.5, 2.0, 0.7, 0.8, 0.9, 1.0], strict=True)
    ]
    results = [_result(f"{kind} d={d}", 2e-5) for kind in kinds for d in (20, 64)]
    page = report.page(MACHINE, [*results, _result("memory d=20", 5e6, "bytes")], verdicts, [])
    assert "**ratios**: 5 of 6 floors hold." in page
    assert "| d = 20 | 0.50 × | 0.70 × | 0.90 × |" in page
    assert "| d = 64 | **2.00 ×** (≤ 1.00 ×) | 0.80 × | 1.00 × |" in page
    assert "| d = 64 | 50.0 M/s | 50.0 M/s | 50.0 M/s |" in page
    assert "| memory d=20 | 1,000 | 5 MB |" in page


def test_other_floors_are_listed_and_what_was_not_measured_is_named():
    verdicts = [
        Verdict(Floor("files", "csv", "", 2.0), 3.0),
        Verdict(Floor("files", "npy", "", 2.0), None),
        Verdict(Floor("workers", "two", "", 2.0), None),
    ]
    page = report.page(MACHINE, [], verdicts, ["a note"])
    assert "| csv | ≤ 2.00 × | **3.00 ×** |" in page
    assert "Not measured in this run: npy." in page
    assert "**workers**: not measured in this run." in page
    assert "- a note" in page
