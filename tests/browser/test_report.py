"""The report in a real browser: it renders, stays silent, loads nothing, and fits a phone.

Its slider goes through the levels by keyboard and pointer; without scripts there is a list.

Screenshots go to the directory named by FLAGSTONE_SCREENSHOTS, if it is set.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from flagstone.cli import main
from flagstone.store import load

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
SVG = '"><svg onload=alert(2)>'
SCRIPT = "</script><script>alert(3)</script>"


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
    import numpy as np

    random = np.random.RandomState(4)
    rows = (random.random_sample((500, 12)) < np.geomspace(0.5, 0.05, 12)).astype(int)
    rows[:, 11] = rows[:, 0] ^ rows[:, 3] ^ rows[:, 7]
    rows[:500:100, 11] ^= 1  # damaged rows, far from each other
    rows[:500:100, 10] ^= 1
    rows[:, 5] = 1
    rows[6:8, 5] = 0
    names = [HOSTILE, *(f"column {i}" for i in range(1, 7)), SCRIPT, "8", "9", "10", SVG]
    lines = (json.dumps(dict(zip(names, map(int, row), strict=True))) for row in rows)
    table.write_text("\n".join(lines) + "\n")
    page = folder / "report.html"
    words = ["--seed", "7", "--t-min", "8", "--t-max", "20"]
    words += ["--report", str(page), "-o", str(folder / "finding.json")]
    with pytest.raises(SystemExit) as stop:
        main(["constraints", str(table), *words])
    assert not stop.value.code
    return page


def visit(browser, report, **options):
    """Open the report, noting everything that is said or asked for."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(60_000)
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


def finding_of(report) -> dict:
    return json.loads((report.parent / "finding.json").read_text())["content"]


@pytest.mark.parametrize("view", VIEWS)
def test_it_renders_without_a_sound(browser, report, view):
    page, noise = visit(browser, report, **VIEWS[view])
    assert page.locator("h1").inner_text().startswith("1 check equation holds; at most")
    assert noise == []
    assert page.locator("img, iframe, [onload], [onerror], [style]").count() == 0
    assert page.locator("script").count() == 1
    shown = page.locator(".answer li").first.inner_text()
    assert shown == f"{HOSTILE} ⊕ column 3 ⊕ {SCRIPT} ⊕ {SVG} = 0"
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= VIEWS[view]["viewport"]["width"], "the page scrolls sideways"
    keep(page, view)
    picture = page.locator("svg.scree").bounding_box()
    assert picture is not None
    assert picture["width"] > 280


def luminance(colour: str) -> float:
    red, green, blue = (int(x) / 255 for x in colour.strip("rgb()").split(",")[:3])

    def linear(x: float) -> float:
        return x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


#: What stands behind an element: the nearest ancestor with a colour of its own.
BEHIND = """(element) => {
  for (; element; element = element.parentElement) {
    const colour = getComputedStyle(element).backgroundColor;
    if (!colour.endsWith(", 0)")) return colour;
  }
}"""


def check_contrast(page, *selectors: str) -> None:
    """Check that ink and what is behind it differ enough to be read."""
    for selector in selectors:
        element = page.locator(selector).first
        ink = luminance(element.evaluate("(element) => getComputedStyle(element).color"))
        behind = luminance(element.evaluate(BEHIND))
        low, high = sorted((ink, behind))
        assert (high + 0.05) / (low + 0.05) >= 4.5, selector


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_in_both_themes(browser, report, scheme):
    page, _ = visit(browser, report, color_scheme=scheme)
    paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (paper > 0.5) == (scheme == "light")
    check_contrast(
        page,
        "h1", "p", ".kicker", "summary", "figcaption", ".full", "thead th", ".current .stat",
        ".tag", ".badge.proven", ".badge.open", ".breaks", "h3", ".equations",
        ".tools button", ".where", ".hint",
    )  # fmt: skip


def test_promises_keep_their_words_whole(browser, report):
    page, _ = visit(browser, report, **VIEWS["desktop"])
    lines = page.locator(".promises tbody th").evaluate_all(
        """cells => cells.map(cell => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return range.getClientRects().length;
        })"""
    )
    assert lines
    assert set(lines) == {1}


def shown_level(page) -> int:
    """The number of the only level that is seen, as the page says it."""
    seen = page.locator(".level:visible")
    assert seen.count() == 1
    number, total = page.locator(".where").inner_text().split(" ")[1::2]
    assert int(total) == page.locator(".level").count()
    index = page.locator(".level").evaluate_all("all => all.findIndex(x => x.offsetParent)")
    assert index == int(number) - 1
    return index


def test_the_slider_goes_by_keyboard(browser, report):
    page, noise = visit(browser, report)
    levels = finding_of(report)["levels"]
    last = len(levels) - 1
    assert last > 4
    dims = [level[0] for level in levels]
    chosen = dims.index(finding_of(report)["subspace"]["dim"])
    assert shown_level(page) == chosen
    slider = page.get_by_role("slider", name="Level of the flag")
    slider.focus()
    for key, expected in [
        ("Home", 0), ("ArrowLeft", 0), ("ArrowRight", 1), ("ArrowUp", 2), ("ArrowDown", 1),
        ("PageUp", min(6, last)), ("PageDown", max(1, min(6, last) - 5)), ("End", last),
        ("ArrowRight", last),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert shown_level(page) == expected, key
        dim, sets, first = levels[expected]
        said = page.locator(".current .stat").all_inner_texts()
        assert said[0].split() == [str(dim), "dimension"]
        numbers = str(first) if sets == 1 else f"{first} – {first + sets - 1}"
        assert said[1].split("\n")[0] == numbers
        assert said[3].split()[0] == str(finding_of(report)["rows"]["levels"][expected])
        assert slider.get_attribute("aria-valuetext").startswith(f"{dim} dimension, {numbers} ")
    page.get_by_role("button", name="Larger space").click()
    assert shown_level(page) == last - 1
    page.get_by_role("button", name="Level of the answer").click()
    assert shown_level(page) == chosen
    assert page.get_by_role("button", name="Level of the answer").is_disabled()
    assert noise == []


def test_the_slider_goes_by_pointer_along_the_plot(browser, report):
    page, noise = visit(browser, report, **VIEWS["desktop"])
    places = page.locator(".level").evaluate_all(
        "all => all.map(x => [Number(x.dataset.left), Number(x.dataset.right)])"
    )
    for selector in ("svg.scree", ".slider input"):
        page.locator(selector).scroll_into_view_if_needed()
        page.get_by_role("button", name="Level of the answer").click(force=True)
        drawing, box = (page.locator(x).bounding_box() for x in ("svg.scree", selector))
        height = box["y"] + box["height"] / 2

        def at(index: int, drawing=drawing) -> float:
            return drawing["x"] + sum(places[index]) / 2 * drawing["width"] / 720

        page.mouse.move(at(len(places) - 1), height)
        page.mouse.down()
        assert shown_level(page) == len(places) - 1, selector
        widest = max(range(len(places)), key=lambda i: places[i][1] - places[i][0])
        page.mouse.move(at(widest), height, steps=4)
        assert shown_level(page) == widest, selector
        page.mouse.up()
        page.mouse.move(at(0), height)
        assert shown_level(page) == widest, selector
        band = page.locator(".cursor rect").bounding_box()
        assert abs(band["x"] + band["width"] / 2 - at(widest)) < 2
        thumb = float(page.locator(".slider input").input_value())
        assert places[widest][0] <= thumb <= places[widest][1]
    assert noise == []


def test_without_scripts_there_is_a_list_of_levels(browser, report):
    page, noise = visit(browser, report, java_script_enabled=False)
    keep(page, "no-script")
    levels = page.locator(".level")
    assert levels.count() == len(finding_of(report)["levels"])
    assert all(level.is_visible() for level in levels.all())
    assert page.locator("button, input").count() == 0
    assert page.locator(".level details[open]").count() == 1
    assert page.locator(".chosen .equations").is_visible()
    first = levels.first
    first.locator("summary").click()
    assert first.locator(".hint").is_visible()
    assert noise == []


def test_buttons_copy_what_stands_beside_them(browser, report):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(report.as_uri())
    page.locator(".answer").hover()
    page.locator(".answer + .copy").click()
    page.get_by_text("Copied").wait_for()
    lines = list(load(report.parent / "finding.json").lines)
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(lines)
    page.locator(".current .equations").hover()
    page.locator(".current .equations + .copy").click()
    page.locator(".current .equations + .copy:has-text('Copied')").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(["column 5 = 1", *lines])
    page.locator(".full").hover()
    page.locator(".full + .copy:has-text('Copy')").click()
    page.locator(".full + .copy:has-text('Copied')").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == finding_of(report)["fingerprint"]


def test_one_changed_letter_and_the_policy_refuses_the_script(browser, report, tmp_path):
    """So nothing else runs either, whatever it may be."""
    text = report.read_text()
    for old, new in (('"use strict";', '"use strict"; '), (":root {", ":root  {")):
        forged = tmp_path / "forged.html"
        forged.write_text(text.replace(old, new, 1))
        page, noise = visit(browser, forged)
        assert any("Content Security Policy" in line for line in noise)
        if "strict" in old:
            assert page.locator(".slider").count() == 0
    injected = tmp_path / "injected.html"
    injected.write_text(text.replace("<h1>", "<img src=x onerror='document.title = 1'><h1>", 1))
    page, _ = visit(browser, injected)
    assert page.title() == load(report.parent / "finding.json").title


def test_misfits_are_shown_with_what_they_break(browser, report):
    page, _ = visit(browser, report)
    rows = finding_of(report)["rows"]
    tables = page.locator("h3 + .scroll tbody")
    assert page.locator("h3 .breaks").all_inner_texts() == [
        f"{HOSTILE} ⊕ column 3 ⊕ {SCRIPT} ⊕ {SVG} = 0",
        "column 5 = 1",
    ]
    assert [len(tables.nth(i).locator("tr").all()) for i in (0, 1)] == [5, 2]
    assert rows["misfits"] == 7
    cells = tables.nth(1).locator("tr").first.locator("td").all_inner_texts()
    assert cells[0].endswith("table.jsonl line 7")
    assert cells[1:] == ["0"]
    assert not any(bits in page.content() for bits in rows["values"])


def test_it_prints_with_everything_unfolded(browser, report):
    page, noise = visit(browser, report, viewport={"width": 760, "height": 1000})
    page.emulate_media(media="print")
    keep(page, "print")
    assert page.locator(".level summary:visible").count() == len(finding_of(report)["levels"])
    assert page.locator(".level .bits:visible, button:visible, input:visible").count() == 0
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
    assert page.locator("details .equations").first.is_visible()
