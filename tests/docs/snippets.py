"""Code blocks of Markdown pages: which there are, and what they say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {"gallery", "generated", "_build"}
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if not GENERATED & set(page.relative_to(ROOT).parts)
    ),
]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    ((?:flagstone|make|python|pip) .*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block, its language and its text."""

    language: str
    text: str


@dataclass(frozen=True)
class Command:
    """A line for a shell, the exit code that its comment announces, and what is shown below it."""

    page: Path
    line: str
    shown: str = ""

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line, comments=True)

    @property
    def exit_code(self) -> int:
        announced = re.search(r"# exit code (\d+)", self.line)
        return int(announced[1]) if announced else 0

    def __str__(self) -> str:
        return f"{self.page.stem}: {' '.join(self.words)}"


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(found[1], found[2]) for found in _BLOCK.finditer(text)]


def commands(page: Path) -> Iterator[Command]:
    """Yield what a reader would type, in order: console and sh blocks, indented commands."""
    text = page.read_text(encoding="utf-8")
    found: list[tuple[int, str, str]] = []
    for block in _BLOCK.finditer(text):
        lines = block[2].replace("\\\n", " ")
        if block[1] == "console":
            for line, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", lines, re.MULTILINE):
                found.append((block.start(), line, shown))
        elif block[1] == "sh":
            found += [(block.start(), line, "") for line in lines.splitlines() if line.strip()]
    found += [(line.start(), line[1], "") for line in _INDENTED.finditer(text)]
    for _, line, shown in sorted(found, key=lambda item: item[0]):
        yield Command(page, line, shown)
