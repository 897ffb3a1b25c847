"""Show text from each page below the results of a search, also on pages opened as files.

Sphinx fetches pages for that, which browsers allow on a web server only. Here the texts of all
pages are written into one script, which the search page loads.
"""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

SCRIPTS = ("excerpts.js", "search.js")
#: Pages that are lists of links or program text, and how much of a section is kept.
LEFT_OUT = {"_modules", "tests", "genindex.html", "search.html", "py-modindex.html"}
MOST = 20_000
#: The sign beside a title that links to it, and the link to the source: no text of the page.
MARKS = {"headerlink", "viewcode-link"}
BLOCKS = {"p", "li", "pre", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6"}


class Article(HTMLParser):
    """The text of a page without navigation and titles, by section; prose and code apart."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.in_article = self.in_title = self.in_code = self.in_mark = False
        self.sections: list[tuple[str, list[str], list[str]]] = [("", [], [])]
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_article |= tag == "article"
        self.in_title |= tag in {"h1", "h2", "h3", "h4", "h5", "h6"}
        self.in_code |= tag == "pre"
        classes = set((dict(attrs).get("class") or "").split())
        if MARKS & classes:
            self.in_mark = True
        if "classifier" in classes:  # the type of a parameter: pages draw the colon
            self.handle_data(": ")
        anchor = dict(attrs).get("id")
        if self.in_article and anchor and tag in {"section", "dt"}:  # dt: a method or attribute
            self.sections.append((anchor, [], []))

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            for part in self.sections[-1][1:]:
                part.append(" ")
        if tag == "article":
            self.in_article = False
        elif tag == "pre":
            self.in_code = False
        elif tag.startswith("h"):
            self.in_title = False
        elif tag == "a":
            self.in_mark = False

    def handle_data(self, data: str) -> None:
        if self.in_article and not self.in_title and not self.in_mark:
            self.sections[-1][1 + self.in_code].append(data)

    def excerpts(self) -> list[list[str]]:
        """Return anchor, prose and code of each section."""
        found = [
            [anchor, *(" ".join("".join(part).split())[:MOST] for part in parts)]
            for anchor, *parts in self.sections
        ]
        return [section for section in found if any(section[1:])] or [["", "", ""]]


def write(app: Any, exception: Exception | None) -> None:
    """Write the texts of all pages as one script."""
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    texts = {
        path.relative_to(site).as_posix(): Article(path.read_text("utf-8")).excerpts()
        for path in sorted(site.rglob("*.html"))
        if path.relative_to(site).parts[0] not in LEFT_OUT
    }
    script = f"const EXCERPTS = {json.dumps(texts, ensure_ascii=False)};\n"
    (site / "_static" / "excerpts.js").write_text(script, encoding="utf-8")


def load(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """Load both scripts on the search page, and there only."""
    if name == "search":
        for script in SCRIPTS:
            app.add_js_file(script)


def setup(app: Any) -> dict[str, bool]:
    """Connect both."""
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
