"""``--workers`` and ``-j``: the same answer from any number of processes, and plain errors."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

from scripts.fuzz.command import Fault, Ran, judge
from scripts.fuzz.damage import damaged_text
from scripts.fuzz.ledgers import AUDIT, put_parts
from scripts.fuzz.stock import Stock
from scripts.fuzz.trial import Trial, fresh_folder

__all__ = ["ManyProcesses"]

ASKED = ["--seed", "7", "-o", "m.json"]
#: Commands for partitions; the number of processes comes last.
COMMANDS = [
    ["constraints", "parts", *ASKED, "--partition", "files", "--workers"],
    [
        "constraints",
        "--linear",
        "parts",
        *ASKED,
        "--field",
        "7",
        "--partition",
        "files",
        "--workers",
    ],
    ["learn", "parts", "-l", "f", *ASKED, "--partition", "files", "--workers"],
    ["summarize", "parts", "-o", "m.json", "--partition", "files", "--workers"],
    ["check", "good.json", "parts", "--workers"],
    ["predict", "good.json", "parts", "-o", "m.json", "--workers"],
    [*AUDIT, "-j"],
    ["audit", "parts", "--pairs", "6", "--t-max", "9", "--json", "-j"],
]


class ManyProcesses(Trial):
    """Two processes on good partitions, or on some of which one is damaged."""

    def __init__(self, dice: random.Random, stock: Stock) -> None:
        self._words = dice.choice(COMMANDS)
        self._damage = dice if dice.random() < 0.5 else None
        self.what = f"{self._words[0]} {self._words[-1]}"
        self._stock, self.counts = stock, Counter()

    def run(self, folder: Path) -> None:
        known, words = self._stock.made, [*self._words, "2"]
        if self._damage is not None:
            self._prepare(folder)
            path = folder / "parts" / "03.csv"
            path.write_bytes(damaged_text(self._damage, path.read_bytes()))
            self.counts["commands"] += 1
            judge(self._stock.program.run(words, folder))
            return
        key = " ".join(words)
        if key not in known:
            with fresh_folder(self._stock.folder / "undisturbed") as other:
                self._prepare(other)
                known[key] = _said(self._stock.good.run([*self._words, "1"], other), other)
        self._prepare(folder)
        self.counts["commands"] += 1
        ran = self._stock.program.run(words, folder)
        judge(ran)
        if _said(ran, folder) != known[key]:
            raise Fault("wrong", f"two processes answer otherwise than one: {ran}")
        if left := sorted(folder.parent.glob("tmp/*")):
            raise Fault("wrong", f"left in the folder for temporary files: {left}: {ran}")

    def _prepare(self, folder: Path) -> None:
        put_parts(folder, self._stock)
        (folder / "good.json").write_bytes(self._stock.files["constraints.json"])


def _said(ran: Ran, folder: Path) -> object:
    """Return the answer, without the time that it took and without the words of the command."""
    path = folder / "m.json"
    if not path.exists():
        lines = ran.out.splitlines()
        return ran.code, [line for line in lines if '"seconds"' not in line]
    try:
        document = json.loads(path.read_bytes())
        document["content"].pop("provenance", None)
        return ran.code, document["content"]
    except (ValueError, TypeError, KeyError):
        return ran.code, path.read_bytes()
