"""Kills and signals at random moments: one line, the right exit code, and nothing lost."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from scripts.fuzz.command import Child, Fault, Ran
from scripts.fuzz.ledgers import put_parts
from scripts.fuzz.stock import Stock
from scripts.fuzz.trial import Trial, fresh_folder

__all__ = ["Stopped", "StoppedGroup"]

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
KEEP = ["--checkpoint", "c.ckpt", "--checkpoint-every", "0", "--seed", "1"]
PAGES = ["-o", "m.json", "--report", "r.html", "--plot", "p.svg"]
AUDIT = ["audit", "--law", "geometric", "--dim", "5", "--rows", "60", "--t-max", "9", "--json"]
#: Files that are given, or that change from run to run.
GIVEN = ("good.json", "good.flag", "c.ckpt")


@dataclass(frozen=True)
class Made:
    """What an undisturbed run wrote, and its seconds."""

    files: dict[str, bytes]
    seconds: float


class Stopped(Trial):
    """A long run in one process that is stopped some times, and then left alone."""

    #: All but the last two go on from where they were.
    commands = (
        ["constraints", "parts", *KEEP, *PAGES],
        ["learn", "parts", "-l", "f", "--contamination", "0.1", *KEEP, *PAGES],
        ["summarize", "parts", "-o", "s.flag", *KEEP],
        ["constraints", "--linear", "parts", "--field", "QQ", *KEEP, "-o", "m.json"],
        [*AUDIT, "--pairs", "200", "--results", "k.jsonl"],
        ["predict", "good.json", "parts", "-o", "p.csv"],
        ["merge", "good.flag", "good.flag", "-o", "s.flag"],
    )
    parts, most_stops, in_group = 40, 5, False

    def __init__(self, dice: random.Random, stock: Stock) -> None:
        self._words = dice.choice(self.commands)
        self.what = " ".join(w for w in self._words if w[0] != "-" or w in ("-j", "--workers"))
        self._dice, self._stock, self.counts = dice, stock, Counter()

    def run(self, folder: Path) -> None:
        known, key = self._stock.made, " ".join(self._words)
        if key not in known:
            known[key] = self._undisturbed()
        made = known[key]
        assert isinstance(made, Made)
        self._prepare(folder)
        left_by_kills: set[Path] = set()
        for _ in range(self._dice.randrange(1, 1 + self.most_stops)):
            number = self._dice.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
            kept = _ledger(folder)
            ran = self._stop(folder, number, made.seconds)
            if not _ledger(folder).startswith(kept):
                raise Fault("wrong", f"pairs that were kept are gone: {ran}")
            found = _outputs(folder)
            for name, data in found.items():
                if name != "k.jsonl" and data != made.files.get(name):
                    raise Fault("wrong", f"{name} is half an output: {ran}")
            if number == signal.SIGKILL:  # after the last output, too
                left_by_kills |= _left(folder)
            done = found.keys() == made.files.keys() and not (folder / "c.ckpt").exists()
            if ran.code == 0 or (done and ran.words[0] != "audit"):
                break  # it had ended before it was stopped
            if left := _left(folder) - left_by_kills:
                raise Fault("wrong", f"left behind by signal {number}: {sorted(left)}: {ran}")
        else:
            self._last(self._stock.program.run(self._words, folder))
        found = _outputs(folder)
        if found.keys() != made.files.keys():
            raise Fault("wrong", f"{self._words}: wrote {sorted(found)}, not {sorted(made.files)}")
        for name, data in found.items():
            if _compared(name, data) != _compared(name, made.files[name]):
                raise Fault("wrong", f"{self._words}: {name} is another one after a stop")
        if (folder / "c.ckpt").exists():
            raise Fault("wrong", f"{self._words}: its checkpoint is left")
        if left := _left(folder) - left_by_kills:
            raise Fault("wrong", f"{self._words}: left behind: {sorted(left)}")

    def _stop(self, folder: Path, number: signal.Signals, seconds: float) -> Ran:
        """Start the run, stop it at a random moment, and judge how it ends."""
        cold = self.in_group or self._dice.random() < 0.15
        child = Child(self._stock.program, self._words, folder, cold=cold)
        child.wait_for_handlers()
        time.sleep(self._dice.uniform(0, (1.5 if cold and not self.in_group else 0) + seconds))
        to_all = self.in_group and self._dice.random() < 0.7
        for _ in range(1 + (self._dice.random() < 0.1)):
            child.send(number, to_all=to_all)
        ran = child.end()
        self.counts["commands"] += 1
        if number == signal.SIGKILL:
            self.counts["kills"] += 1
        else:
            self.counts["signals"] += 1
            _judge_stop(ran, number)
        return ran

    def _last(self, ran: Ran) -> None:
        self.counts["commands"] += 1
        if ran.code != 0:
            raise Fault("wrong", f"the run after the stops fails: {ran}")

    def _prepare(self, folder: Path) -> None:
        put_parts(folder, self._stock, self.parts)
        for name, of in (("good.json", "constraints.json"), ("good.flag", "wide.flag")):
            (folder / name).write_bytes(self._stock.files[of])

    def _undisturbed(self) -> Made:
        seconds = 0.0
        for _ in range(1 if self.in_group else 2):  # the first one may have to compile
            with fresh_folder(self._stock.folder / "undisturbed") as folder:
                self._prepare(folder)
                started = time.monotonic()
                ran = self._stock.good.run(self._words, folder)
                if ran.code != 0:
                    raise Fault("wrong", f"no undisturbed run: {ran}")
                seconds, files = time.monotonic() - started, _outputs(folder)
        return Made(files, seconds)


class StoppedGroup(Stopped):
    """A run of several processes, stopped from a terminal (all of them) or by its own number."""

    commands = (
        ["constraints", "parts", *KEEP, "-o", "m.json", "--partition", "files", "--workers", "2"],
        ["summarize", "parts", "-o", "s.flag", *KEEP, "--partition", "files", "--workers", "1"],
        [*AUDIT, "--pairs", "60", "--results", "k.jsonl", "-j", "2"],
    )
    parts, most_stops, in_group = 6, 2, True


def _judge_stop(ran: Ran, number: signal.Signals) -> None:
    if ran.code == 0:
        return  # it had done its work
    shown = f"signal {number}: {ran}"
    if "Traceback" in ran.err or "KeyboardInterrupt" in ran.err:
        raise Fault("traceback", shown)
    lines = [line for line in ran.err.splitlines() if "resuming after" not in line]
    lines = [line for line in lines if ": warning: " not in line]
    if ran.code != CODES[number] or len(lines) != 1 or "interrupted" not in lines[0]:
        raise Fault("message", shown)


def _outputs(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and path.name not in GIVEN and not path.name.startswith(".")
    }


def _left(folder: Path) -> set[Path]:
    return set(folder.glob(".*")) | set(folder.parent.glob("tmp/*"))


def _ledger(folder: Path) -> bytes:
    """Return the pairs that are kept for good."""
    path = folder / "k.jsonl"
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1]


def _compared(name: str, data: bytes) -> object:
    """Return what must be the same in every run: of an audit, the outcomes of its pairs."""
    if name != "k.jsonl":
        return data
    records = [json.loads(line) for line in data.splitlines()]
    return sorted((str(r["pair"]), r["outcome"]) for r in records if "outcome" in r)
