"""Hold the built site to what it promises: ``python scripts/check_site.py build/site``.

No page loads anything from the network; every page of the gallery has its picture; links lead
somewhere; code has copy buttons. With a browser: the search finds pages opened as files and shows
excerpts, no code is cut off in a window of 1280 pixels, and no text in one of 400.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "srcset")}
#: The first line of every code block that is wider than its box.
CUT_OFF = """() => [...document.querySelectorAll(".bd-article pre")]
  .filter((block) => block.scrollWidth > block.clientWidth + 1)
  .map((block) => block.textContent.trim().split("\\n")[0])"""
#: What reaches out of a narrow window without a box that scrolls.
TOO_WIDE = """() => [...document.querySelectorAll(".bd-article *")]
  .filter((part) => part.getBoundingClientRect().right > window.innerWidth + 1
    && !part.closest("pre, .math, .pst-scrollable-table-container, .wide-picture")
    && !part.closest(".output_subarea, .headerlink"))
  .map((part) => part.textContent.trim().slice(0, 60))"""
#: Tables drawn by pandas, and a page of columns of names.
NOT_NARROW = {"gallery", "genindex.html"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Page(HTMLParser):
    """What a page loads, where it leads, and which anchors it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.anchors: set[str] = set()
        self.has_code = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag refers to."""
        relation = dict(attrs).get("rel")
        self.has_code |= (dict(attrs).get("class") or "").startswith("highlight-")
        for name, value in attrs:
            if (tag, name) in LOADING and value and relation not in {"canonical", "author"}:
                self.loads.append(value.split()[0])
            elif (tag, name) == ("a", "href") and value:
                self.leads.append(value)
            elif name == "id" and value:
                self.anchors.add(value)


def problems(site: Path) -> list[str]:
    """Return what is wrong with the pages as files."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        for url in page.loads:
            if urlsplit(url).scheme in {"http", "https"} or url.startswith("//"):
                found.append(f"{name} loads {url}")
        for url in page.leads:
            parts = urlsplit(url)
            if parts.scheme or url.startswith("//") or (not parts.path and not parts.fragment):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{name} leads to {url}, which is not there")
            elif (
                parts.fragment
                and name.parts[0] != "_modules"  # sources lead back to the right page, not place
                and target in pages
                and unquote(parts.fragment) not in pages[target].anchors
            ):
                found.append(f"{name} leads to {url}, which has no such place")
        if page.has_code and not any("copybutton" in url for url in page.loads):
            found.append(f"{name} has code without copy buttons")
        drawn = any("sphx_glr_" in url for url in page.loads)
        if name.parts[0] == "gallery" and name.stem != "index" and not drawn:
            found.append(f"{name} has no picture")
    return found


def in_a_browser(site: Path) -> list[str]:
    """Return what is wrong with search and code, seen in a browser that has no network."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None or importlib.util.find_spec("playwright") is None:
        print("no browser, or no playwright: search and width of code were not checked")
        return []
    from playwright.sync_api import sync_playwright

    found: list[str] = []
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.on("request", lambda r: r.url.startswith("http") and found.append(f"loads {r.url}"))
        page.on("console", lambda m: m.type == "error" and found.append(f"console: {m.text}"))
        page.goto(f"{(site / 'search.html').as_uri()}?q=contamination")
        page.wait_for_selector("#search-results li", timeout=20_000)
        if not page.locator("#search-results a", has_text="window").count():
            found.append("the search for 'contamination' misses the page about windows")
        if not page.locator("#search-results li p.context mark", has_text="contamination").count():
            found.append("the results of a search have no excerpts")
        if page.locator("#search-results li p.context", has_text="[source]").count():
            found.append("the excerpts of a search show the links to sources")
        shown = page.locator("#search-results li:visible p.context").all_inner_texts()
        if len(set(shown)) < len(shown):
            found.append("the results of a search show the same text twice")
        for path in sorted(site.rglob("*.html")):
            name = path.relative_to(site)
            if name.parts[0] in {"_modules", "_static", "tests"}:  # program text, templates
                continue
            page.goto(path.as_uri())
            if cut := page.evaluate(CUT_OFF):
                found.append(f"{name} has code that is cut off at 1280 pixels: {cut}")
            if name.parts[0] not in NOT_NARROW:
                page.set_viewport_size({"width": 400, "height": 900})
                if wide := page.evaluate(TOO_WIDE):
                    found.append(f"{name} is wider than 400 pixels: {wide[:3]}")
                page.set_viewport_size({"width": 1280, "height": 900})
        chromium.close()
    return found


def main() -> int:
    """Print every problem; the number of them is the verdict."""
    site = Path(sys.argv[1]).resolve()
    found = problems(site)
    found += in_a_browser(site)
    print("\n".join(found) or f"{sum(1 for _ in site.rglob('*.html'))} pages, nothing amiss")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
