"""Closed streams, full disks, little memory, no shared memory: an answer or one sentence."""

from __future__ import annotations

import functools
import random
import resource
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from scripts.fuzz.command import Fault, Ran, judge
from scripts.fuzz.ledgers import AUDIT, put_parts
from scripts.fuzz.stock import Stock
from scripts.fuzz.trial import Trial

__all__ = ["PoorSurroundings"]

COMMANDS = [
    ["constraints", "t.csv", "--seed", "1"],
    ["constraints", "t.csv", "--seed", "1", "-o", "m.json"],
    ["constraints", "plain.parquet", "--seed", "1", "--json"],
    ["learn", "t.csv", "-l", "f", "--seed", "1", "--report", "r.html"],
    ["constraints", "--linear", "t.csv", "--field", "QQ", "--seed", "1"],
    ["summarize", "t.csv", "-o", "s.flag"],
    ["predict", "constraints.json", "t.csv"],
    ["check", "constraints.json", "t.csv"],
    ["show", "constraints.json"],
    ["plan", "--dim", "4", "--rho", "0.1"],
    ["constraints", "no-such-file.csv"],
    AUDIT,
]
MANY = [
    ["constraints", "parts", "--seed", "1", "--partition", "files", "--workers", "1"],
    [*AUDIT, "-j", "2"],
]
#: A namespace of its own, in which nothing can be made in /dev/shm.
NO_SHARED_MEMORY = ["unshare", "-rm", "sh", "-c"]
NO_SHARED_MEMORY += ['mount -t tmpfs -o ro none /dev/shm && exec "$@"', "-"]
CLOSED = "closed"


class PoorSurroundings(Trial):
    """A good command where something is missing that programs rely on."""

    def __init__(self, dice: random.Random, stock: Stock) -> None:
        kinds = [CLOSED, CLOSED, "full", "memory", "memory", "environment", "open files", "size"]
        kinds += ["shared memory"] if _can_unshare() else []
        kind = dice.choice(kinds)
        many = kind == "shared memory" or dice.random() < 0.1
        self._words = dice.choice(MANY if many else COMMANDS)
        self.what, self._given = self._drawn(kind, dice)
        self._stock, self.counts = stock, Counter()

    def _drawn(self, kind: str, dice: random.Random) -> tuple[str, dict[str, Any]]:
        """Return what is missing, in words and as arguments of a child."""
        if kind == CLOSED:
            closed = dice.choice([[0], [1], [2], [1], [2], [1, 2], [0, 1, 2]])
            return f"{CLOSED} {closed}", {"streams": dict.fromkeys(closed)}
        if kind == "full":
            stream = dice.choice([1, 2])
            return f"full device on {stream}", {"streams": {stream: "/dev/full"}}
        if kind == "memory":
            most = int(2 ** dice.uniform(27.5, 31))
            return "little address space", {"limits": {resource.RLIMIT_AS: most}}
        if kind == "open files":
            return "few open files", {"limits": {resource.RLIMIT_NOFILE: dice.randrange(10, 40)}}
        if kind == "size":
            most = dice.choice([0, 100, 5000])
            return "files may not grow", {"limits": {resource.RLIMIT_FSIZE: most}}
        if kind == "shared memory":
            return "no shared memory", {"prefix": NO_SHARED_MEMORY}
        changes: dict[str, str | None] = dice.choice(
            [
                {"TMPDIR": "/no/such/folder"},
                {"TMPDIR": "/proc"},
                {"HOME": None, "USER": None, "PATH": None},
                {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
                {"TERM": "dumb", "COLUMNS": "1"},
                {"COLUMNS": "-7", "NO_COLOR": "1"},
                {"FLAGSTONE_CPU": "python"},
            ]
        )
        return f"environment {changes}", {"environment": changes}

    def run(self, folder: Path) -> None:
        if self._words in MANY:
            put_parts(folder, self._stock)
        for name in ("t.csv", "plain.parquet", "constraints.json"):
            (folder / name).write_bytes(self._stock.files[name])
        self.counts["commands"] += 1
        ran = self._stock.program.run(self._words, folder, cold=True, **self._given)
        self._judge(ran)

    def _judge(self, ran: Ran) -> None:
        lost = self._given.get("streams", {})
        limits = self._given.get("limits", {})
        if limits:
            # a library that finds no memory when it is loaded may end the process by itself
            if "Traceback (most recent call last)" in ran.err:
                raise Fault("traceback", f"{self.what} {limits}: {ran}")
            if ran.code == 0 or ran.err.count("\n") <= 1 or ran.err.startswith("OpenBLAS error:"):
                return
        if ran.code == 0 and self.what.startswith(f"{CLOSED} [1") and not ran.err:
            expects = not {"-o", "--report"} & set(ran.words)
            if expects and 2 not in lost:
                raise Fault("message", f"{self.what}: nothing is said of a lost answer: {ran}")
        if 2 in lost and 1 not in lost and "no-such-file.csv" not in ran.words and ran.code != 0:
            raise Fault("wrong", f"{self.what}: no answer without a stream for errors: {ran}")
        try:
            judge(ran, needs_error=2 not in lost)
        except Fault as fault:
            if 1 in lost and fault.detail.startswith("no "):
                return  # JSON or Python that has nowhere to go
            raise Fault(fault.kind, f"{self.what} {limits}: {fault.detail}") from None


@functools.cache
def _can_unshare() -> bool:
    try:
        return subprocess.run([*NO_SHARED_MEMORY, "true"], capture_output=True).returncode == 0
    except OSError:
        return False
