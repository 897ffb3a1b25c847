"""Checkpoints and audit ledgers with changed bytes: refused, or without any effect."""

from __future__ import annotations

import json
import random
import re
import signal
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from scripts.fuzz.command import Child, Fault, Ran, judge
from scripts.fuzz.stock import Stock
from scripts.fuzz.trial import Trial, fresh_folder

__all__ = ["DamagedCheckpoint", "DamagedLedger", "put_parts"]

PARTS, ROWS = 8, 60
KEEP = ["--checkpoint", "c.ckpt", "--checkpoint-every", "0", "--seed", "7", "-o", "m.json"]
AUDIT = ["audit", "--law", "geometric", "--dim", "4", "--rows", "25", "--t-max", "5", "--json"]
AUDIT += ["--pairs", "12", "--seed", "7"]


def put_parts(folder: Path, stock: Stock, parts: int = PARTS) -> None:
    """Write a folder of tables, all different."""
    lines = stock.files["t.csv"].splitlines(keepends=True)
    dice = random.Random(parts)
    (folder / "parts").mkdir()
    for part in range(parts):
        rows = [dice.choice(lines[1:]) for _ in range(ROWS)]
        (folder / "parts" / f"{part:02}.csv").write_bytes(b"".join([lines[0], *rows]))


@dataclass(frozen=True)
class Kept:
    """The file that an interrupted run left, and the answer of an undisturbed one."""

    data: bytes
    answer: object


class DamagedLedger(Trial):
    """An audit that goes on from a damaged ledger."""

    #: Runs that are resumed, and the file that they resume from.
    resumed: ClassVar = {"audit ledger": [*AUDIT, "--results", "k.jsonl"]}
    name = "k.jsonl"

    def __init__(self, dice: random.Random, stock: Stock) -> None:
        self.what = dice.choice([*self.resumed, *[list(self.resumed)[-1]] * 2])
        self._words = self.resumed[self.what]
        self._dice, self._stock, self.counts = dice, stock, Counter()

    def run(self, folder: Path) -> None:
        known = self._stock.made
        if self.what not in known:
            known[self.what] = self._undisturbed()
        kept = known[self.what]
        assert isinstance(kept, Kept)
        put_parts(folder, self._stock)
        data = _damaged(self._dice, kept.data)
        (folder / self.name).write_bytes(data)
        self.counts["commands"] += 1
        ran = self._stock.program.run(self._words, folder)
        judge(ran)
        if ran.code in (0, 3, 4):
            answer = _answer(ran, folder)
            if answer != kept.answer:
                change = _difference(kept.data, data)
                raise Fault("wrong", f"{self.what}: another answer after {change}: {ran}")

    def _undisturbed(self) -> Kept:
        """Let a run end; kill another one once its file holds most of the work."""
        root = self._stock.folder / "undisturbed"
        good = self._stock.good
        with fresh_folder(root) as folder:
            put_parts(folder, self._stock)
            ran = good.run(self._words, folder)
            if ran.code != 0:
                raise Fault("wrong", f"no undisturbed run: {ran}")
            answer = _answer(ran, folder)
            if (folder / self.name).exists():
                return Kept((folder / self.name).read_bytes(), answer)
        for _ in range(20):
            with fresh_folder(root) as folder:
                put_parts(folder, self._stock)
                path = folder / self.name
                child = Child(good, self._words, folder)
                data = b""
                while not child.has_ended and data.count(b"\n") < PARTS - 2:
                    data = path.read_bytes() if path.exists() else b""
                    if data and b"partition" not in data and b"sha256" in data:
                        break
                    time.sleep(0.002)
                if not child.has_ended:
                    child.send(signal.SIGKILL)
                child.end()
                if path.exists() and path.stat().st_size:
                    return Kept(path.read_bytes(), answer)
        raise Fault("wrong", f"no run could be killed in its middle: {self._words}")


class DamagedCheckpoint(DamagedLedger):
    """A run that goes on from a damaged checkpoint, of one process or of several."""

    resumed: ClassVar = {
        "checkpoint": ["constraints", "parts", *KEEP],
        "checkpoint of workers": [
            "constraints",
            "parts",
            *KEEP,
            "--partition",
            "files",
            "--workers",
            "1",
        ],
    }
    name = "c.ckpt"


def _answer(ran: Ran, folder: Path) -> object:
    """Return what must be the same in every run: all but the time that it took."""
    if "--json" in ran.words:
        return {key: value for key, value in json.loads(ran.out).items() if key != "seconds"}
    return (folder / "m.json").read_bytes()


def _damaged(dice: random.Random, data: bytes) -> bytes:
    """Turn over a bit, or change a digit, a word or the order of lines."""
    how = dice.randrange(7)
    at = dice.randrange(len(data))
    if how <= 1:
        return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
    if how in (2, 3):  # a digit of a short number: positions, counts, seeds
        by_key: dict[bytes, list[int]] = {}
        for found in re.finditer(rb'"([\w-]+)": [\["]?\d{1,4}\b', data):
            by_key.setdefault(found[1], []).append(found.end() - 1)
        if by_key:
            at = dice.choice(by_key[dice.choice(sorted(by_key))])
            return data[:at] + b"%d" % dice.randrange(10) + data[at + 1 :]
    if how == 4:  # one word by another of the same place, or by a word that fits there
        words = list(re.finditer(rb'"(agree|differ|both-bottom|[a-z_]{3,12})"', data))
        if words:
            one, other = dice.choice(words), dice.choice(words)
            word = dice.choice([other[1], b"agree", b"differ"])
            return data[: one.start(1)] + word + data[one.end(1) :]
    lines = data.splitlines(keepends=True)
    at = dice.randrange(len(lines))
    if how == 5:
        lines.insert(dice.randrange(len(lines) + 1), lines[at])
    else:
        del lines[at]
    return b"".join(lines)


def _difference(before: bytes, after: bytes) -> str:
    """Show where two texts part."""
    at = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    return f"{before[max(0, at - 20) : at + 20]!r} -> {after[max(0, at - 20) : at + 20]!r}"
