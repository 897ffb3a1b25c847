"""Run cases until the time or their number is up; say what was found.

python -m scripts.fuzz --minutes 60 --seed 2026          (again: goes on from the ledger)
python -m scripts.fuzz --case 4711 --seed 2026           (one case alone)
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flagstone import __version__
from flagstone.disk import Ledger, open_ledger
from scripts.fuzz.trial import FAULTS
from scripts.fuzz.worker import PARTS

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "fuzz_corpus"
FRESH = 3000  #: cases after which a process is replaced by a fresh one
COLUMNS = ("cases", "answered", "kills", "signals", *FAULTS)


class Worker:
    """A process that runs cases; a crash or a hang ends it, and the next case starts another."""

    def __init__(
        self, seed: str, folder: Path, gigabytes: float, seconds: float, source: Path
    ) -> None:
        self._environment = os.environ | {"PYTHONPATH": str(source.absolute())}
        self._words = [sys.executable, "-m", "scripts.fuzz.worker", seed, str(folder)]
        self._words.append(str(gigabytes))
        self._folder, self._seconds = folder, seconds
        self._process: subprocess.Popen[str] | None = None
        self._cases = 0

    def ask(self, case: int | dict[str, Any]) -> dict[str, Any]:
        """Run a case, and return what came of it."""
        if self._process is None or self._cases >= FRESH:
            self.end()
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        self._cases += 1
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(case) + "\n")
            process.stdin.flush()
        # the first case makes the samples, too, and may have to wait for kernels to be compiled
        limit = self._seconds + (600 if self._cases == 1 else 0)
        if not select.select([process.stdout], [], [], limit)[0]:
            self.end()
            return {"fault": "hang", "detail": f"no end after {limit:g} seconds"}
        line = process.stdout.readline()
        if line:
            return json.loads(line)
        code = process.wait()
        self.end()
        return {"fault": "crash", "detail": f"exit code {code}: {self._last_words()}"}

    def _last_words(self) -> str:
        said = [self._folder / name for name in ("crash.txt", "err.txt")]
        return "\n".join(path.read_text(errors="replace")[-1500:] for path in said)

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._words,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self._environment,
            start_new_session=True,  # ended together with all that it started
        )
        self._cases = 0
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError(f"the worker does not start: {self._last_words()}")

    def end(self) -> None:
        """Stop the process and everything that it started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None


class Record:
    """What was found so far, in memory and in the ledger."""

    def __init__(self, path: Path, seed: str) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: list[dict[str, Any]] = []
        self.next, self.seconds = 0, 0.0
        self._path, self._seed = path, seed
        self._new: Counter[str] = Counter()
        self._ledger: Ledger | None = None
        self._kept = time.monotonic()

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Go on from the ledger."""
        fields = {"seed": str, "version": str}
        with open_ledger(self._path, "fuzz", self._take, fields) as self._ledger:
            given = {"seed": self._seed, "version": __version__}
            if self._ledger.header is None:
                self._ledger.start(**given)
            elif {key: self._ledger.header[key] for key in given} != given:
                sys.exit(f"{self._path} is of another seed or version; choose another --ledger")
            try:
                yield
            finally:
                self.keep()

    def add(self, number: int, found: dict[str, Any]) -> None:
        """Take the outcome of a case."""
        part = found.get("part", "files")
        for key in ("kills", "signals", "answered"):
            self._new[f"{part} {key}"] += int(found.get(key, 0))
        self._new[f"{part} cases"] += 1
        self.next = number + 1
        if "fault" in found:
            self._new[f"{part} {found['fault']}"] += 1
            self.faults.append({"case": number, **found})
            self.keep()
        elif time.monotonic() - self._kept > 5:
            self.keep()

    def keep(self) -> None:
        """Write what is new to the ledger."""
        now = time.monotonic()
        line = {"next": self.next, "seconds": now - self._kept, "counts": dict(self._new)}
        new = [fault for fault in self.faults if not fault.get("kept")]
        if self._ledger is not None:
            self._ledger.append([*new, line])
        for fault in new:
            fault["kept"] = True
        self.counts += self._new
        self.seconds += now - self._kept
        self._new, self._kept = Counter(), now

    def _take(self, line: dict[str, Any]) -> None:
        if "case" in line:
            self.faults.append({**line, "kept": True})
        else:
            self.next = line["next"]
            self.seconds += line["seconds"]
            self.counts += Counter(line["counts"])

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        total = {column: self.counts[f"corpus {column}"] for column in COLUMNS}
        parts = {"corpus": total} | {
            part: {column: self.counts[f"{part} {column}"] for column in COLUMNS} for part in PARTS
        }
        sums = {column: sum(part[column] for part in parts.values()) for column in COLUMNS}
        return {
            "version": __version__,
            "seed": self._seed,
            "minutes": round(self.seconds / 60, 1),
            "parts": parts,
            "all": sums,
            "faults": [f"{f['case']}: {f['fault']}: {f['detail']}" for f in self.faults],
        }


def table(record: dict[str, Any]) -> str:
    """Return the counts for people.

    >>> zero = dict.fromkeys(COLUMNS, 0)
    >>> print(table({"parts": {"files": zero | {"cases": 1200}}, "all": zero | {"cases": 1200}}))
             cases  answered   kills  signals   crash  hang  traceback   loss  manners
    files    1,200         0       0        0       0     0          0      0        0
    all      1,200         0       0        0       0     0          0      0        0
    """
    rows = [("", COLUMNS)]
    for name, counts in (record["parts"] | {"all": record["all"]}).items():
        rows.append((name, tuple(f"{counts[column]:,}" for column in COLUMNS)))
    return "\n".join(
        f"{name:<7}"
        + "".join(f"{cell:>{len(c) + 3}}" for cell, c in zip(cells, COLUMNS, strict=True))
        for name, cells in rows
    )


def fuzz(
    record: Record,
    worker: Worker,
    *,
    seconds: float,
    cases: int,
    failed: Path,
) -> None:
    """Replay the corpus, then run fresh cases until the time or their number is up."""
    end = time.monotonic() + seconds
    for path in sorted(CORPUS.glob("*.json")):
        found = worker.ask(json.loads(path.read_text()))
        record.add(record.next - 1, found | {"part": "corpus", "what": path.stem})
    while time.monotonic() < end and record.next < cases:
        number = record.next
        found = worker.ask(number)
        trial = found.pop("trial", None)
        if trial is not None:
            failed.mkdir(parents=True, exist_ok=True)
            (failed / f"{number}.json").write_text(json.dumps(trial, indent=1) + "\n")
        record.add(number, found)
        if "fault" in found:
            print(f"case {number}: {found['fault']}: …{found['detail'][-400:]}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts.fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10, help="stop after so many")
    parser.add_argument("--cases", type=int, default=10**9, help="stop at this number of a case")
    parser.add_argument("--seed", default="1", help="of which every case is a function")
    parser.add_argument("--case", type=int, help="run this case alone")
    parser.add_argument("--ledger", type=Path, default=Path(".fuzz/ledger.jsonl"))
    parser.add_argument("--json", type=Path, help="write the counts here, too")
    parser.add_argument("--gigabytes", type=float, default=4, help="memory for the cases")
    parser.add_argument("--seconds", type=float, default=120, help="time for a case")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="the code to test")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="flagstone-fuzz-"))
    worker = Worker(given.seed, folder, given.gigabytes, given.seconds, given.source)
    try:
        if given.case is not None:
            found = worker.ask(given.case)
            print(json.dumps(found, indent=1))
            return int("fault" in found)
        given.ledger.parent.mkdir(parents=True, exist_ok=True)
        record = Record(given.ledger, given.seed)
        with record.opened():
            fuzz(
                record,
                worker,
                seconds=60 * given.minutes,
                cases=given.cases,
                failed=given.ledger.parent / "failed",
            )
    except KeyboardInterrupt:
        print("stopped; the same command goes on from the ledger", file=sys.stderr)
    finally:
        worker.end()
        shutil.rmtree(folder, ignore_errors=True)
    found = record.to_dict()
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))
    return int(any(found["all"][fault] for fault in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
