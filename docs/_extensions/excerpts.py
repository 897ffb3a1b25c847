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
#: Pages that are lists of links or program text, and how much of a page is kept.
LEFT_OUT = {"_modules", "tests", "genindex.html", "search.html", "py-modindex.html"}
MOST = 60_000
BLOCKS = {"p", "li", "pre", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6"}


class Article(HTMLParser):
    """The text of a page, without navigation."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.depth = 0
        self.in_mark = False  # the sign beside a title that links to it
        self.parts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag == "article"
        self.in_mark = tag == "a" and "headerlink" in (dict(attrs).get("class") or "")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "article"
        self.in_mark = False
        self.parts.append(" " if tag in BLOCKS else "")

    def handle_data(self, data: str) -> None:
        if self.depth and not self.in_mark:
            self.parts.append(data)


def write(app: Any, exception: Exception | None) -> None:
    """Write the texts of all pages as one script."""
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    texts = {
        path.relative_to(site).as_posix(): "".join(Article(path.read_text("utf-8")).parts)
        for path in sorted(site.rglob("*.html"))
        if path.relative_to(site).parts[0] not in LEFT_OUT
    }
    short = {name: " ".join(text.split())[:MOST] for name, text in texts.items()}
    script = f"const EXCERPTS = {json.dumps(short, ensure_ascii=False)};\n"
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
