"""One run of ``python -m flagstone``: its exit code, what it said, its time and its memory."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["FAULTS", "MEMORY", "Child", "Fault", "Program", "Ran", "end_all", "judge"]

#: What can be wrong with a run, and what each word means on the page.
FAULTS = {
    "crash": "the process died of a signal",
    "hang": "it did not end in its time",
    "memory": "it took more than 1 GB of memory, or asked for more than there is",
    "traceback": "it showed a Python traceback",
    "wrong": "an answer changed, kept work was lost, good input was refused, or files or processes "
    "were left behind",
    "message": "an error that is not one sentence, a control character on the terminal, a wrong "
    "exit code, or JSON, XML or Python that does not parse",
}
MEMORY = 10**9  #: resident bytes that a command may take
#: In which a command must end: of processor time, for the machine may be busy, and at most this
#: many times as long by the clock.
SECONDS, SLOWER = 120.0, 5
_ADDRESS_SPACE = 6 << 30  #: protects the machine; what counts is MEMORY
_CODES = range(5)
_RUNNING: set[int] = set()  #: the sessions that have not ended
#: Run by a fresh interpreter to learn which modules commands load.
_LOADED = """
import contextlib, json, runpy, sys
commands = json.loads(sys.argv.pop())
for words in commands:
    sys.argv[1:] = words
    with contextlib.suppress(SystemExit):
        runpy.run_module("flagstone", run_name="__main__", alter_sys=True)
print(json.dumps(sorted(sys.modules)), file=sys.__stderr__)
"""


class Fault(Exception):
    """A case failed: how (a key of FAULTS), and what was seen."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail[-3000:]


@dataclass(frozen=True)
class Ran:
    """What a command said, how it ended (negative: of which signal), and its peak of memory."""

    words: list[str]
    code: int
    out: str
    err: str
    memory: int = 0

    def __str__(self) -> str:
        return f"{self.words} -> {self.code}: {self.out[-1000:]!r} {self.err[-1500:]!r}"


@dataclass(frozen=True)
class Program:
    """Which flagstone is run: the one in the folder ``source``.

    A ``warm`` one runs in a fork of this process, which has loaded its modules beforehand, and
    saves a second each time; else every run is a fresh interpreter.
    """

    source: Path
    warm: bool = False

    def load(self, commands: Sequence[Sequence[str]]) -> None:
        """Import what these commands import, without running them here (they start threads)."""
        run = [sys.executable, "-c", _LOADED, json.dumps(commands)]
        done = subprocess.run(run, capture_output=True, text=True, env=self.environment({}))
        for name in json.loads(done.stderr.splitlines()[-1]):
            if name.partition(".")[0] != "__main__" and name != "flagstone.__main__":
                with contextlib.suppress(Exception):
                    importlib.import_module(name)

    def environment(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """Return the environment of a run; None removes a variable."""
        known: dict[str, str | None] = {**os.environ, "PYTHONPATH": str(self.source)}
        # reports bear the day, and the outputs of two runs are compared even over midnight
        known["SOURCE_DATE_EPOCH"] = "0"
        known |= changes
        return {key: value for key, value in known.items() if value is not None}

    def run(self, words: Sequence[str], folder: Path, **given: Any) -> Ran:
        """Run a command to its end."""
        seconds = given.pop("seconds", None)
        return Child(self, words, folder, **given).end(seconds)


class Child:
    """A running command, in a session of its own.

    Parameters
    ----------
    folder : Path
        Where it runs; its temporary files go to the folder ``tmp`` beside it.
    cold : bool
        Use a fresh interpreter even where the program is warm; always so for commands that start
        processes of their own.
    streams : dict
        What stands in place of descriptors 0, 1, 2: a path, or None for a closed one.
    limits : dict
        Of resources, by their number in :mod:`resource`.
    environment : dict
        Changes of environment variables.
    prefix : list of str
        Words before the interpreter.
    """

    def __init__(
        self,
        program: Program,
        words: Sequence[str],
        folder: Path,
        *,
        cold: bool = False,
        streams: Mapping[int, str | None] | None = None,
        limits: Mapping[int, int] | None = None,
        environment: Mapping[str, str | None] | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        self.words, self.started = list(words), time.monotonic()
        cold = cold or not program.warm or bool({"--workers", "-j", "--cluster"} & set(words))
        self._said = [tempfile.TemporaryFile() for _ in range(2)]
        self.temporary = temporary = folder.parent / "tmp"
        temporary.mkdir(exist_ok=True)
        changes = {"TMPDIR": str(temporary), **(environment or {})}
        streams = dict(streams or {})
        limits = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_AS: _ADDRESS_SPACE,
            **(limits or {}),
        }
        sys.stdout.flush()
        sys.stderr.flush()
        # the child has our handlers at first: wait_for_handlers must not take them for its own
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        self.pid = os.fork()
        if self.pid:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            self._ended = os.pidfd_open(self.pid)
            _RUNNING.add(self.pid)
            return
        try:
            os.setsid()
            os.chdir(folder)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for number, stream in enumerate(self._said, 1):
                os.dup2(stream.fileno(), number)
            for number, path in streams.items():
                if path is None:
                    os.close(number)
                else:
                    os.dup2(os.open(path, os.O_RDWR), number)
            script = _LIBRARY.get(words[0])
            code = ["-c", script, *words[1:]] if script else ["-m", "flagstone", *words]
            run = [*prefix, sys.executable, *code]
            environment = program.environment(changes)
            for which, most in limits.items():
                resource.setrlimit(which, (most, most))
            if not cold:
                _become(self.words, environment)
            os.closerange(3, 256)
            os.execvpe(run[0], run, environment)
        finally:
            os._exit(126)

    def wait_for_handlers(self) -> None:
        """Wait until the program, and not Python, answers signals."""
        caught = 1 << (signal.SIGTERM - 1)
        while time.monotonic() < self.started + SECONDS:
            status = Path(f"/proc/{self.pid}/status").read_text()
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            taken = int(fields.get("SigCgt", "0"), 16) & ~int(fields.get("SigBlk", "0"), 16)
            if taken & caught or fields["State"].startswith("Z"):
                return
            time.sleep(0.001)
        raise Fault("hang", f"{self.words}: the program does not take signals over")

    @property
    def has_ended(self) -> bool:
        """Whether the process is over."""
        return bool(select.select([self._ended], [], [], 0)[0])

    def send(self, number: int, *, to_all: bool = False) -> None:
        """Send a signal to the process, or to all that it started, as a terminal does."""
        (os.killpg if to_all else os.kill)(self.pid, number)

    def end(self, seconds: float | None = None) -> Ran:
        """Wait for the end; raises a Fault if time or memory run out before it.

        ``seconds`` are by the clock; without them, the limits of every command hold.
        """
        fault = None
        while not select.select([self._ended], [], [], 0.05)[0]:
            if self._is_over(seconds):
                fault = Fault("hang", f"{self.words}: no end after {seconds or SECONDS:g} seconds")
            elif self._resident() > MEMORY:
                fault = Fault("memory", f"{self.words}: more than {MEMORY:,} bytes")
            if fault is not None:
                break
        left = self._left_processes() if fault is None else False
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        _RUNNING.discard(self.pid)
        os.close(self._ended)
        texts = []
        for stream in self._said:
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "surrogateescape"))
            stream.close()
        if fault is not None:
            raise Fault(fault.kind, f"{fault.detail}: {texts[1][-1000:]!r}")
        code = os.waitstatus_to_exitcode(status)
        ran = Ran(self.words, code, *texts, usage.ru_maxrss * 1024)
        if left and code != -signal.SIGKILL:
            raise Fault("wrong", f"processes are left behind: {ran}")
        return ran

    def _is_over(self, seconds: float | None) -> bool:
        """Whether the time of the process is over."""
        clock = time.monotonic() - self.started
        if seconds is not None:
            return clock > seconds
        if clock < SECONDS or clock > SLOWER * SECONDS:
            return clock > SECONDS
        with contextlib.suppress(OSError, IndexError):
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12]) > SECONDS * os.sysconf("SC_CLK_TCK")
        return False

    def _resident(self) -> int:
        with contextlib.suppress(OSError, IndexError):
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
            return pages * resource.getpagesize()
        return 0

    def _left_processes(self) -> bool:
        """Whether processes that it started outlive it by more than five seconds."""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            if not _members(self.pid):
                return False
            time.sleep(0.05)
        return True


def end_all() -> None:
    """End all that is still running, because this process ends."""
    for pid in _RUNNING:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _members(session: int) -> list[int]:
    """Return the living processes of a session, without its leader."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            if fields[3] == str(session) and fields[0] not in "ZX":
                found.append(int(path.parent.name))
    return [pid for pid in found if pid != session]


def _become(words: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Be ``python -m flagstone`` in this fork, and end."""
    code: Any = 0
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        errors = "backslashreplace" if number == 2 else "strict"
        stream = open(number, "w" if number else "r", encoding="utf-8", errors=errors)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv[:] = ["flagstone", *words]
    try:
        if words[0] in _LIBRARY:
            sys.argv[:] = words
            exec(_LIBRARY[words[0]], {"__name__": "__main__"})
        else:
            runpy.run_module("flagstone", run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        code = stop.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        code = 1
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(int(code or 0))


#: Users of the library: what they run, with files as arguments.
_LIBRARY = {
    "read()": """
import sys, flagstone
options = {"format": sys.argv[3]} if sys.argv[2:3] == ["--format"] else {}
try:
    table = flagstone.tables.open_table(sys.argv[1], **options)
    for _, batch in table.batches():
        for index in range(len(table.columns)):
            batch.column(index).tolist()
except flagstone.FlagstoneError:
    sys.exit("flagstone: error: refused")
""",
    "rows()": """
import sys, flagstone
for path in sys.argv[1:]:
    print(path, flush=True)
    try:
        table = flagstone.tables.open_table(path)
        for batch in table.rows(table.encoding(2)):
            batch.matrix
    except flagstone.FlagstoneError:
        pass
""",
    "load()": """
import base64, contextlib, json, os, sys, flagstone
path = sys.argv[1]
tries = [lambda: flagstone.load(path)]
if os.path.isfile(path):
    with contextlib.suppress(Exception):  # where it is no document, no flag is inside
        inside = base64.b64decode(json.load(open(path, "rb"))["content"]["bytes"])
        tries += [lambda: flagstone.Flag.from_bytes(inside)]
refused = 0
for make in tries:
    try:
        repr(make())
    except flagstone.FlagstoneError:
        refused += 1
if refused == len(tries):
    sys.exit("flagstone: error: refused")
""",
}


def _is_error(line: str, code: int, *, in_json: bool) -> bool:
    """Say whether a line is an error as the command line says it: a sentence, or JSON."""
    if not in_json:
        return line.startswith("flagstone: error: ")
    try:
        said = json.loads(line)
    except ValueError:
        return False
    return set(said) == {"error", "exit_code"} and said["exit_code"] == code


def judge(ran: Ran, *, needs_error: bool = True) -> None:
    """Raise a Fault if a run broke one of the rules that hold for every command."""
    words, shown = ran.words, str(ran)
    if "MemoryError" in ran.err:
        raise Fault("memory", shown)
    if "Traceback (most recent call last)" in ran.err or "Fatal Python error" in ran.err:
        raise Fault("traceback" if ran.code >= 0 else "crash", shown)
    if ran.code < 0 or ran.code in (126, 127, 134, 139):
        raise Fault("crash", shown)
    if ran.memory > MEMORY or "not enough memory" in ran.err:
        raise Fault("memory", f"{ran.memory:,} bytes: {shown}")
    if ran.code not in _CODES:
        raise Fault("message", f"exit code: {shown}")
    data_alone = words[0] == "predict" and "--json" not in words
    for text in (ran.err, "" if data_alone else ran.out):
        if not text.replace("\n", "").isprintable():
            raise Fault("message", f"control characters: {shown}")
    errors = [line for line in ran.err.splitlines() if ": warning: " not in line]
    all_failed = words[0] == "audit" and ran.code == 1 and ran.out  # its report says so
    if (ran.code in (1, 2) and not all_failed) or (ran.code == 3 and not ran.out):
        said = ran.out and not data_alone
        is_plain = bool(errors) and _is_error(errors[-1], ran.code, in_json="--json" in words)
        if (needs_error and not is_plain) or said:
            raise Fault("message", f"no plain error: {shown}")
    elif "--json" in words:
        _parses("JSON", json.loads, ran.out, shown)
    elif "python" in words and ran.code == 0:
        _parses("Python", lambda text: compile(text, "answer", "exec"), ran.out, shown)


def _parses(what: str, parse: Callable[[str], object], text: str, shown: str) -> None:
    try:
        parse(text)
    except (SyntaxError, ValueError):
        raise Fault("message", f"no {what}: {shown}") from None
