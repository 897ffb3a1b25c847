"""Write docs/theory/statements.md: every numbered statement with its title, code and tests.

    python scripts/statements.py            # write the page
    python scripts/statements.py --check    # exit code 1 if it is not up to date

All of it is read off the other pages: headings "### S12. Title", and the paragraph "Code: …. Tests:
…." that ends a statement.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

THEORY = Path(__file__).parents[1] / "docs" / "theory"
PAGES = ("flag", "rules", "guarantees", "learners", "certificates", "single", "lower")
HEADING = re.compile(r"^### S(\d+)\. (.+)$", re.MULTILINE)
_HEAD = """# All statements

Each statement with the code that uses it and the tests that check it. This page is made by
`scripts/statements.py` from the others.

| | statement | page | code | tests |
|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Statement:
    """A numbered statement, and what it says of code and tests."""

    number: int
    title: str
    page: str
    code: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def line(self) -> str:
        """Its line in the table."""
        code = ", ".join(f"`{name}`" for name in self.code) or "–"
        tests = ", ".join(f"`{name}`" for name in self.tests) or "–"
        title = self.title.replace("|", "\\|")
        place = f"{self.page}.md#{self.anchor}"
        return f"| S{self.number} | {title} | [{self.page}]({place}) | {code} | {tests} |"

    @property
    def anchor(self) -> str:
        """Its anchor on the page: made of its heading, as GitHub and the site make it."""
        return re.sub(r"[^\w\- ]", "", f"S{self.number}. {self.title}".lower()).replace(" ", "-")


def statements() -> list[Statement]:
    """Return all statements, by their numbers."""
    found = []
    for page in PAGES:
        text = (THEORY / f"{page}.md").read_text(encoding="utf-8")
        parts = HEADING.split(text)[1:]
        for number, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            own = re.split(r"^## ", body, flags=re.MULTILINE)[0]
            code = _named(own, r"Code: (.+?)\.(?:\s+Tests:|\n\n|\Z)")
            tests = _named(own, r"Tests:\s+(.+?)(?:\.\n|\. |\Z)")
            tests = tuple(name for name in tests if name.startswith("tests/"))
            found.append(Statement(int(number), title, page, code, tests))
    return sorted(found, key=lambda statement: statement.number)


def _named(text: str, pattern: str) -> tuple[str, ...]:
    """Return what stands in backquotes in the last paragraph of this kind."""
    paragraphs = re.findall(pattern, text, flags=re.DOTALL)
    return tuple(re.findall(r"`([^`]+)`", paragraphs[-1])) if paragraphs else ()


def page() -> str:
    """Return the whole page."""
    return _HEAD + "".join(f"{statement.line}\n" for statement in statements())


def main() -> int:
    path, text = THEORY / "statements.md", page()
    if "--check" in sys.argv:
        return int(not path.exists() or path.read_text(encoding="utf-8") != text)
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
