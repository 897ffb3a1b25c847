"""Some files, some commands, and what must never come of them."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.dom import minidom

__all__ = ["FAULTS", "Content", "Fault", "Ran", "Trial", "call", "fresh_folder"]

#: What can be wrong: the process died or ate its memory; it did not end; it showed a traceback;
#: something that was kept is gone or wrong; it said something it should not.
FAULTS = ("crash", "hang", "traceback", "loss", "manners")
CODES = range(5)
MARKUP = "<img src=x"  #: stands in hostile names, and never in a page
SMALL = 30_000


class Fault(Exception):
    """A case failed: how, and where to look."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail[-3000:]


@dataclass(frozen=True)
class Content:
    """What stands under a name: bytes, so many times; or a pipe; or a link."""

    data: bytes = b""
    times: int = 1
    link: str | None = None
    is_pipe: bool = False

    def put(self, path: Path) -> None:
        """Make it, with a time that never changes."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.is_pipe:
            os.mkfifo(path)
        elif self.link is not None:
            path.symlink_to(self.link)
        else:
            with path.open("wb") as stream:
                for _ in range(self.times):
                    stream.write(self.data)
            os.utime(path, (1, 1))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        if self.is_pipe:
            return {"pipe": True}
        if self.link is not None:
            return {"link": self.link}
        try:
            found: dict[str, Any] = {"text": self.data.decode()}
        except UnicodeDecodeError:
            found = {"base64": base64.b64encode(self.data).decode()}
        return found | ({} if self.times == 1 else {"times": self.times})

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Content:
        """Read the JSON form."""
        data = base64.b64decode(found.get("base64", "")) or found.get("text", "").encode()
        return cls(data, found.get("times", 1), found.get("link"), found.get("pipe", False))


@dataclass(frozen=True)
class Ran:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str


@dataclass
class Trial:
    """Files in a fresh folder, and commands that are run there, one after the other.

    Where ``must_answer``, the files are good, and an error is a fault, too. ``also`` looks at
    what was said.
    """

    what: str
    files: dict[str, Content]
    commands: list[list[str]]
    must_answer: bool = False
    ran: list[Ran] = field(default_factory=list)
    also: Callable[[Trial], None] | None = None

    def run(self, folder: Path) -> None:
        """Run everything; raises a Fault."""
        with fresh_folder(folder):
            for name, content in self.files.items():
                content.put(Path(name))
            for words in self.commands:
                done = call(words)
                self.ran.append(done)
                _judge(words, done)
                if self.must_answer and done.code not in (0, 3):
                    raise Fault("loss", f"{words}: good input is refused: {done.err}")
            _judge_files(Path(), set(self.files))
        if self.also is not None:
            self.also(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, with which the corpus keeps it."""
        files = {name: content.to_dict() for name, content in self.files.items()}
        must = {"must_answer": True} if self.must_answer else {}
        return {"what": self.what, "files": files, "commands": self.commands, **must}

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Trial:
        """Read the JSON form."""
        files = {name: Content.from_dict(content) for name, content in found["files"].items()}
        return cls(found["what"], files, found["commands"], found.get("must_answer", False))

    @property
    def is_small(self) -> bool:
        """Whether the corpus can keep it."""
        return sum(len(content.data) for content in self.files.values()) <= SMALL


@contextlib.contextmanager
def fresh_folder(folder: Path) -> Iterator[None]:
    """Work in an empty folder of this name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with contextlib.chdir(folder):
        yield
    shutil.rmtree(folder, ignore_errors=True)


def call(words: list[str]) -> Ran:
    """Run the command line in this process; whatever it raises is a Fault.

    Standard output and error of the process must be files. The verbs ``load()`` and ``read()``
    stand for a user of the library.
    """
    from flagstone.cli import main

    run: Callable[..., Any] = {"load()": _load, "read()": _read}.get(words[0], main)
    streams = []
    for number, name in ((1, "stdout"), (2, "stderr")):  # caught below Python: libraries, too
        os.ftruncate(number, 0)
        os.lseek(number, 0, os.SEEK_SET)
        stream = io.TextIOWrapper(open(number, "wb", closefd=False), "utf-8")
        setattr(sys, name, stream)
        streams.append(stream)
    code: Any = 0
    try:
        run(words)
    except SystemExit as stop:
        code = stop.code
    except BaseException as error:  # what the verbs do not expect is what we look for
        kind = "crash" if isinstance(error, MemoryError) else "traceback"
        raise Fault(kind, f"{words}: {traceback.format_exc()}") from error
    finally:
        for stream in streams:
            stream.flush()
    texts = [os.pread(number, os.fstat(number).st_size, 0) for number in (1, 2)]
    return Ran(int(code or 0), *(text.decode("utf-8", "surrogateescape") for text in texts))


def _load(words: list[str]) -> None:
    """Load a file, and the flag inside, as the library does: it raises errors of ours alone."""
    from flagstone import Flag, Histogram
    from flagstone.errors import FlagstoneError
    from flagstone.models import load

    path = Path(words[1])
    tries: list[Callable[[], Any]] = [lambda: load(path)]
    if path.is_file():
        with contextlib.suppress(Exception):  # where it is no file of ours, no flag is inside
            inside = base64.b64decode(json.loads(path.read_bytes())["content"]["bytes"])
            tries += [lambda: Flag.from_bytes(inside), lambda: Histogram.from_bytes(inside)]
    refused = 0
    for make in tries:
        try:
            repr(make())
        except FlagstoneError:
            refused += 1
    if refused == len(tries):
        _refuse()


def _read(words: list[str]) -> None:
    """Read every cell of a table as the library does."""
    from flagstone.errors import FlagstoneError
    from flagstone.tables import open_table

    options = {"format": words[3]} if words[2:3] == ["--format"] else {}
    try:
        for _, batch in open_table(words[1], **options).batches():
            for index in range(len(batch.columns)):
                batch.column(index).tolist()
    except FlagstoneError:
        _refuse()


def _refuse() -> NoReturn:
    print("flagstone: error: refused", file=sys.stderr)
    sys.exit(1)


def _judge(words: list[str], done: Ran) -> None:
    shown = f"{words} → {done.code}: {done.out[-1000:]!r} {done.err[-1000:]!r}"
    if "not enough memory" in done.err:
        raise Fault("crash", shown)
    if "Traceback" in done.err:
        raise Fault("traceback", shown)
    if done.code not in CODES:
        raise Fault("manners", f"exit code: {shown}")
    data_alone = words[0] == "predict" and "--json" not in words
    for text in (done.err, "" if data_alone else done.out):
        if not text.replace("\n", "").isprintable():
            raise Fault("manners", f"control characters: {shown}")
    errors = [line for line in done.err.splitlines() if ": warning: " not in line]
    all_failed = words[0] == "audit" and done.code == 1 and done.out  # its report says so
    if (done.code in (1, 2) and not all_failed) or (done.code == 3 and not done.out):
        said = done.out and not data_alone
        if not errors or not errors[-1].startswith("flagstone: error: ") or said:
            raise Fault("manners", f"no plain error: {shown}")
    elif "--json" in words:
        try:
            json.loads(done.out)
        except ValueError:
            raise Fault("manners", f"no JSON: {shown}") from None
    elif "python" in words and done.code == 0:
        try:
            compile(done.out, "answer", "exec")
        except (SyntaxError, ValueError):
            raise Fault("manners", f"no Python: {shown}") from None


def _judge_files(folder: Path, given: set[str]) -> None:
    """Look at what the commands wrote: pages, drawings, findings; and nothing half-done."""
    for path in folder.rglob("*"):
        if str(path) in given or not path.is_file():
            continue
        if path.name.startswith(".flagstone-") or path.suffix == ".lock":
            raise Fault("loss", f"left behind: {path}")
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        if path.suffix == ".html" and MARKUP in text:
            raise Fault("manners", f"{path}: markup from data: {text[text.index(MARKUP) :][:200]}")
        if path.suffix == ".svg":
            try:
                minidom.parseString(text.encode())
            except Exception as error:
                raise Fault("manners", f"{path}: no XML ({error})") from error
        if path.suffix in (".json", ".svg", ".html") and any(
            not c.isprintable() and c not in "\n\t" for c in text
        ):
            raise Fault("manners", f"{path}: control characters")
