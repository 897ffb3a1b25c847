"""What every trial is, and the commonest one: commands on files in a fresh folder."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.dom import minidom

from scripts.fuzz.command import Fault, Program, Ran, judge

__all__ = ["MARKUP", "Commands", "Content", "Trial", "fresh_folder"]

MARKUP = "<img src=x"  #: stands in hostile names, and never in a page
SMALL = 30_000


class Trial:
    """One case: made from dice and a stock by its class, run in an empty folder."""

    what = ""  #: in a word, for the list of what was found
    counts: Counter[str]  #: commands, kills and signals

    def run(self, folder: Path) -> None:
        """Try it; raises a Fault."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any] | None:
        """Return a JSON form that needs no dice, where there is one."""
        return None


@contextlib.contextmanager
def fresh_folder(root: Path) -> Iterator[Path]:
    """Yield an empty folder, with an empty ``tmp`` beside it; remove both."""
    for path in (root / "case", root / "tmp"):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
    try:
        yield root / "case"
    finally:
        shutil.rmtree(root / "case", ignore_errors=True)
        shutil.rmtree(root / "tmp", ignore_errors=True)


@dataclass(frozen=True)
class Content:
    """What stands under a name: bytes, repeated; or a pipe; or a link."""

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


class Commands(Trial):
    """Files, and commands that are run beside them, one after the other.

    Where ``must_answer``, the files are good, and an error is a fault, too.
    """

    def __init__(
        self,
        what: str,
        files: dict[str, Content],
        commands: list[list[str]],
        *,
        program: Program,
        must_answer: bool = False,
    ) -> None:
        self.what, self.files, self.commands = what, files, commands
        self.program, self.must_answer = program, must_answer
        self.ran: list[Ran] = []
        self.counts = Counter()

    def run(self, folder: Path) -> None:
        for name, content in self.files.items():
            content.put(folder / name)
        for words in self.commands:
            self.counts["commands"] += 1
            ran = self.program.run(words, folder)
            self.ran.append(ran)
            judge(ran)
            if self.must_answer and ran.code not in (0, 3):
                raise Fault("wrong", f"good input is refused: {ran}")
        _judge_files(folder, set(self.files))
        self.look()

    def look(self) -> None:
        """Look at what was said by all commands; raises a Fault."""

    def to_dict(self) -> dict[str, Any] | None:
        if sum(len(content.data) for content in self.files.values()) > SMALL:
            return None
        files = {name: content.to_dict() for name, content in self.files.items()}
        must = {"must_answer": True} if self.must_answer else {}
        return {"what": self.what, "files": files, "commands": self.commands, **must}

    @classmethod
    def from_dict(cls, found: dict[str, Any], program: Program) -> Commands:
        """Read the JSON form."""
        files = {name: Content.from_dict(content) for name, content in found["files"].items()}
        must = found.get("must_answer", False)
        return Commands(found["what"], files, found["commands"], program=program, must_answer=must)


def _judge_files(folder: Path, given: set[str]) -> None:
    """Look at what the commands wrote: pages, drawings, findings; and nothing half-done."""
    left = list(folder.parent.glob("tmp/*"))
    if left:
        raise Fault("wrong", f"left in the folder for temporary files: {sorted(left)}")
    for path in folder.rglob("*"):
        if str(path.relative_to(folder)) in given or not path.is_file():
            continue
        if path.name.startswith(".flagstone-") or path.suffix == ".lock":
            raise Fault("wrong", f"left behind: {path.name}")
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        if path.suffix == ".html" and MARKUP in text:
            at = text.index(MARKUP)
            raise Fault("message", f"{path.name}: markup from data: {text[at:][:200]}")
        if path.suffix == ".svg":
            try:
                minidom.parseString(text.encode())
            except Exception as error:
                raise Fault("message", f"{path.name}: no XML ({error})") from error
        if path.suffix in (".json", ".svg", ".html") and any(
            not c.isprintable() and c not in "\n\t" for c in text
        ):
            raise Fault("message", f"{path.name}: control characters")
