"""Kills and signals at random moments: one line, the right exit code, and nothing lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from scripts.fuzz.trial import Fault, fresh_folder

__all__ = ["Stops"]

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
PARTS, ROWS = 40, 60
PROGRAM = "from flagstone.cli import main; main()"
KEEP = ["--checkpoint", "c.ckpt", "--checkpoint-every", "0", "--seed", "1"]
PAGES = ["-o", "m.json", "--report", "r.html", "--plot", "p.svg"]

#: Long runs; all but the last two go on from where they were.
COMMANDS = [
    ["constraints", "parts", *KEEP, *PAGES],
    ["learn", "parts", "-l", "f", "--contamination", "0.1", *KEEP, *PAGES],
    ["summarize", "parts", "-o", "s.flag", *KEEP],
    ["span", "parts", "--field", "QQ", *KEEP, "-o", "m.json"],
    ["audit", "--law", "geometric", "--dim", "5", "--rows", "60", "--t-max", "9", "--json"]
    + ["--pairs", "200", "--results", "k.jsonl"],
    ["predict", "good.json", "parts", "-o", "p.csv"],
    ["merge", "good.flag", "good.flag", "-o", "s.flag"],
]


@dataclass
class Stops:
    """Cases of one kind, with what undisturbed runs made: that is what stopped ones must make."""

    folder: Path
    good: dict[str, bytes]
    kills: int = 0
    signals: int = 0
    _made: dict[int, tuple[dict[str, bytes], float]] = field(default_factory=dict)

    def run(self, dice: random.Random) -> str:
        """Stop a command some times, then let it end; raises a Fault. Returns the verb."""
        number = dice.randrange(len(COMMANDS))
        words = COMMANDS[number]
        if number not in self._made:
            with fresh_folder(self.folder):
                self._prepare()
                self._run(words)
                self._clean()
                started = time.monotonic()
                self._run(words)
                self._made[number] = (self._outputs(), time.monotonic() - started)
        with fresh_folder(self.folder):
            self._prepare()
            self._stopped(words, dice, *self._made[number])
        return words[0]

    def _stopped(
        self, words: list[str], dice: random.Random, expected: dict[str, bytes], seconds: float
    ) -> None:
        left_by_kills: set[Path] = set()
        for _ in range(dice.choice([1, 2, 3, 5])):
            kept = _ledger()
            number = dice.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
            child = Child(words, cold=dice.random() < 0.15)
            child.wait_for_handlers()
            time.sleep(dice.uniform(0, (1.5 if child.cold else 0) + seconds))
            child.send(number, twice=dice.random() < 0.1)
            code, err = child.end()
            if number == signal.SIGKILL:
                self.kills += 1
            else:
                self.signals += 1
                _judge(words, code, err, number)
            if not _ledger().startswith(kept):
                raise Fault("loss", f"{words}: pairs that were kept are gone")
            found = self._outputs()
            for name, data in found.items():
                if name != "k.jsonl" and data != expected.get(name):
                    raise Fault("loss", f"{words}: {name} is half an output")
            done = found.keys() == expected.keys() and not Path("c.ckpt").exists()
            if code == 0 or (done and words[0] != "audit"):
                break  # it had ended before it was stopped
            left = set(Path().glob(".*")) - left_by_kills
            if left and number != signal.SIGKILL:
                raise Fault("loss", f"{words}: left behind by signal {number}: {left}")
            left_by_kills |= left
        else:
            self._run(words)
        found = self._outputs()
        if found.keys() != expected.keys():
            raise Fault("loss", f"{words}: made {sorted(found)}, not {sorted(expected)}")
        for name, data in found.items():
            if _compared(name, data) != _compared(name, expected[name]):
                raise Fault("loss", f"{words}: {name} is another after a stop")
        if Path("c.ckpt").exists():
            raise Fault("loss", f"{words}: its checkpoint is left")

    def _prepare(self) -> None:
        lines = self.good["t.csv"].splitlines(keepends=True)
        Path("parts").mkdir()
        for part in range(PARTS):
            rows = [lines[1 + (part * ROWS + i) % (len(lines) - 1)] for i in range(ROWS)]
            Path("parts", f"{part:02}.csv").write_bytes(b"".join([lines[0], *rows]))
        for name, of in (("good.json", "constraints.json"), ("good.flag", "wide.flag")):
            Path(name).write_bytes(self.good[of])

    def _run(self, words: list[str]) -> None:
        code, err = Child(words, cold=False).end()
        if code != 0:
            raise Fault("loss", f"{words}: the run after the stops ends with {code}: {err}")

    def _clean(self) -> None:
        for path in Path().iterdir():
            if path.is_file() and not path.name.startswith("good."):
                path.unlink()

    def _outputs(self) -> dict[str, bytes]:
        given = ("good.json", "good.flag", "c.ckpt", "out.txt", "err.txt")
        files = (path for path in Path().iterdir() if path.is_file())
        return {
            path.name: path.read_bytes()
            for path in files
            if path.name not in given and not path.name.startswith(".")
        }


def _ledger() -> bytes:
    """Return the pairs that are kept for good."""
    path = Path("k.jsonl")
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1]


def _compared(name: str, data: bytes) -> object:
    """Return what must be the same in every run: of audits all but the seconds that a pair took."""
    if name != "k.jsonl":
        return data
    records = [json.loads(line) for line in data.splitlines()]
    return [{key: record[key] for key in record if key != "seconds"} for record in records]


def _judge(words: list[str], code: int, err: str, number: int) -> None:
    if code == 0:
        return  # it had done its work
    shown = f"{words}, signal {number} → {code}: {err}"
    if "Traceback" in err:
        raise Fault("traceback", shown)
    lines = [line for line in err.splitlines() if "resuming after" not in line]
    lines = [line for line in lines if ": warning: " not in line]
    if code != CODES[signal.Signals(number)] or len(lines) != 1 or "interrupted" not in lines[0]:
        raise Fault("manners", shown)


class Child:
    """A run of the command line: a process of its own, or (quicker) a fork of this one."""

    def __init__(self, words: list[str], *, cold: bool) -> None:
        self.cold = cold
        out, err = (os.open(n, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for n in ("out.txt", "err.txt"))
        if cold:
            command = [sys.executable, "-c", PROGRAM, *words]
            self._child = subprocess.Popen(command, stdout=out, stderr=err)
            self.pid = self._child.pid
        else:
            self.pid = os.fork()
            if not self.pid:
                _become(words, out, err)
        os.close(out)
        os.close(err)

    def wait_for_handlers(self) -> None:
        """Wait until the program, and not Python, answers signals."""
        caught = 1 << (signal.SIGTERM - 1)
        for _ in range(20_000):
            status = Path(f"/proc/{self.pid}/status").read_text()
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            if int(fields.get("SigCgt", "0"), 16) & caught or fields["State"].startswith("Z"):
                return
            time.sleep(0.001)
        raise Fault("hang", "the program does not take signals over")

    def send(self, number: int, *, twice: bool) -> None:
        """Send a signal; a child that has ended is still there to get it."""
        for _ in range(1 + twice):
            os.kill(self.pid, number)

    def end(self) -> tuple[int, str]:
        """Return exit code (negative: the signal that killed it) and what stands on stderr."""
        if self.cold:
            code = self._child.wait()
        else:
            code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return code, Path("err.txt").read_text(errors="replace")


def _become(words: list[str], out: int, err: int) -> None:
    """Be the command, and end."""
    code = 70
    try:
        from flagstone.cli import main

        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
        sys.argv[1:] = words
        main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
