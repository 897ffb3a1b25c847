"""The report in a real browser: it renders, stays silent, loads nothing, and fits a phone.

Screenshots go to the directory named by FLAGSTONE_SCREENSHOTS, if it is set.
"""

import os
import shutil
from pathlib import Path

import pytest

from flagstone.cli import main

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
SVG = '"><svg onload=alert(2)>'


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium of the system; without it the tests are skipped, or fail if required."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    reason = "no Chromium is installed (apt-get install chromium)"
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program, reason = None, "the playwright package is not installed"
    if program is None:
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(f"REQUIRE_BROWSER=1, but {reason}")
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """A report of a table whose column names attack the page."""
    folder = tmp_path_factory.mktemp("report")
    table = folder / "table.jsonl"
    import json

    import numpy as np

    rows = np.random.RandomState(4).randint(0, 2, size=(500, 12))
    rows[:, 11] = rows[:, 0] ^ rows[:, 3] ^ rows[:, 7]
    rows[:5, 11] ^= 1
    names = [HOSTILE, *(f"column {i}" for i in range(1, 11)), SVG]
    lines = (json.dumps(dict(zip(names, map(int, row), strict=True))) for row in rows)
    table.write_text("\n".join(lines) + "\n")
    page = folder / "report.html"
    words = ["--seed", "7", "--contamination", "0.01", "--report", str(page)]
    with pytest.raises(SystemExit) as stop:
        main(["constraints", str(table), *words])
    assert not stop.value.code
    return page


def visit(browser, report, **options):
    """Open the report, noting everything that is said or asked for."""
    context = browser.new_context(**options)
    page = context.new_page()
    noise: list[str] = []
    page.on("console", lambda message: noise.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noise.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (noise.append("dialog"), dialog.dismiss()))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("file:", "data:"))
            else noise.append(f"request: {request.url}")
        ),
    )
    page.goto(report.as_uri())
    return page, noise


def keep(page, name: str) -> None:
    folder = os.environ.get("FLAGSTONE_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


VIEWS = {
    "desktop": {"viewport": {"width": 1100, "height": 800}},
    "phone": {"viewport": {"width": 360, "height": 740}, "is_mobile": True},
    "dark": {"viewport": {"width": 1100, "height": 800}, "color_scheme": "dark"},
}


@pytest.mark.parametrize("view", VIEWS)
def test_it_renders_without_a_sound(browser, report, view):
    page, noise = visit(browser, report, **VIEWS[view])
    keep(page, view)
    assert page.locator("h1").inner_text().startswith("1 check equation holds; at most")
    assert noise == []
    assert page.locator("script, img, iframe, [onload], [onerror]").count() == 0
    shown = page.locator(".answer li").first.inner_text()
    assert shown == f"{HOSTILE} ⊕ column 3 ⊕ column 7 ⊕ {SVG} = 0"
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= VIEWS[view]["viewport"]["width"], "the page scrolls sideways"
    picture = page.locator("svg.scree").bounding_box()
    assert picture is not None
    assert picture["width"] > 280


def luminance(colour: str) -> float:
    red, green, blue = (int(x) / 255 for x in colour.strip("rgb()").split(",")[:3])

    def linear(x: float) -> float:
        return x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_in_both_themes(browser, report, scheme):
    page, _ = visit(browser, report, color_scheme=scheme)
    paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (paper > 0.5) == (scheme == "light")
    for selector in ("h1", "p", ".kicker", "summary", "figcaption", ".full", "thead th"):
        ink = luminance(
            page.evaluate(f"getComputedStyle(document.querySelector({selector!r})).color")
        )
        low, high = sorted((ink, paper))
        assert (high + 0.05) / (low + 0.05) >= 4.5, selector


def test_it_prints_with_everything_unfolded(browser, report):
    page, noise = visit(browser, report, viewport={"width": 760, "height": 1000})
    page.emulate_media(media="print")
    keep(page, "print")
    directions = page.locator("details:has-text('All directions') table")
    assert directions.bounding_box()["height"] > 50
    paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert paper > 0.99
    assert len(page.pdf(format="A4")) > 10_000
    assert noise == []


def test_details_open_by_keyboard(browser, report):
    page, _ = visit(browser, report)
    summary = page.locator("summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
    assert page.locator("details pre").first.is_visible()
