"""The drawing against its own axes: every shade, line and step stands where its numbers say."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from flagstone.algebra import Level, Staircase
from flagstone.guarantees import Window
from flagstone.pipeline import rep_linear_span
from flagstone.plots import ScreeDisplay
from flagstone.plots.svg import scree_svg

STEPS = [(1, 10, 6), (11, 60, 4), (61, 95, 2)]


def stairs(steps, dim) -> Staircase:
    return Staircase(dim, tuple(Level(height, first, last) for first, last, height in steps))


def scree(steps, dim, window, t, margin, chosen) -> ScreeDisplay:
    return ScreeDisplay(stairs(steps, dim), Window("index", *map(int, window)), t, margin, chosen)


class Drawing:
    """An SVG read back: places on the page become set indices and dimensions by the ticks."""

    def __init__(self, scree: ScreeDisplay) -> None:
        self.root = ElementTree.fromstring(scree_svg(scree))
        self.is_log = scree.is_log
        ticks = [e for e in self.all("text") if re.fullmatch(r"[\d,]+", e.text or "")]
        across, up = (
            {
                int(e.text.replace(",", "")): float(e.get(place))
                for e in ticks
                if e.get("text-anchor") == anchor
            }
            for anchor, place in (("middle", "x"), ("end", "y"))
        )
        self.across = [(math.log(v) if self.is_log else v, x) for v, x in across.items()]
        lines = {float(e.get("y1")) for e in self.all("line", "grid")}
        # A label hangs a little below its line: take the line nearest to it.
        self.up = [(v, min(lines, key=lambda line, y=y: abs(line - y))) for v, y in up.items()]

    def all(self, tag: str, name: str | None = None):
        found = self.root.iter(f"{{http://www.w3.org/2000/svg}}{tag}")
        return [e for e in found if name is None or e.get("class") == name]

    def set_at(self, x: float) -> float:
        (low, left), (high, right) = min(self.across), max(self.across)
        value = low + (x - left) / (right - left) * (high - low)
        return math.exp(value) if self.is_log else value

    def dim_at(self, y: float) -> float:
        (low, base), (high, top) = min(self.up), max(self.up)
        return low + (y - base) / (top - base) * (high - low)

    def band(self, name: str) -> tuple[float, float]:
        [rect] = self.all("rect", name)
        x, width = float(rect.get("x")), float(rect.get("width"))
        return self.set_at(x), self.set_at(x + width)

    def middle(self, name: str) -> float:
        [rect] = self.all("rect", name)
        return self.dim_at(float(rect.get("y")) + float(rect.get("height")) / 2)

    def stair(self) -> list[tuple[float, float]]:
        [path] = self.all("path", "stair")
        numbers = [float(x) for x in re.findall(r"-?[\d.]+", path.get("d"))]
        points = zip(numbers[::2], numbers[1::2], strict=True)
        return [(self.set_at(x), self.dim_at(y)) for x, y in points]


@pytest.mark.parametrize("margin", [1, 4, 9])
def test_the_margin_covers_the_thresholds_that_give_the_same_answer(margin):
    """From t - margin to t + margin, both included: at most half a set more on either side."""
    drawing = Drawing(scree(STEPS, 6, (20.0, 60.0), 30.0, margin, 4))
    low, high = drawing.band("margin")
    assert 30 - margin - 0.55 <= low <= 30 - margin + 0.05
    assert 30 + margin - 0.05 <= high <= 30 + margin + 0.55
    assert drawing.middle("margin") == pytest.approx(4, abs=0.05)


def test_a_margin_that_leaves_the_axis_is_cut():
    low, high = Drawing(scree(STEPS, 6, (1.0, 60.0), 3.0, 8, 6)).band("margin")
    assert 0.4 <= low <= 1
    assert 10.95 <= high <= 11.55
    low, high = Drawing(scree(STEPS, 6, (1.0, 60.0), 90.0, 20, 2)).band("margin")
    assert 69.4 <= low <= 70.05
    assert 95 <= high <= 95.6


@pytest.mark.parametrize("margin", [None, 0])
def test_without_a_margin_none_is_drawn(margin):
    drawing = Drawing(scree(STEPS, 6, (20.0, 60.0), 30.0, margin, 4))
    assert drawing.all("rect", "margin") == []
    assert len(drawing.all("line", "mark")) == 1


def test_window_threshold_and_answer_stand_where_they_are():
    drawing = Drawing(scree(STEPS, 6, (20.0, 60.0), 30.0, 4, 4))
    low, high = drawing.band("window")
    assert 19.45 <= low <= 20.05
    assert 59.95 <= high <= 60.55
    [mark] = drawing.all("line", "mark")
    assert mark.get("x1") == mark.get("x2")
    assert drawing.set_at(float(mark.get("x1"))) == pytest.approx(30, abs=0.05)
    [dot] = drawing.all("circle", "dot")
    assert drawing.set_at(float(dot.get("cx"))) == pytest.approx(30, abs=0.05)
    assert drawing.dim_at(float(dot.get("cy"))) == pytest.approx(4, abs=0.05)


def test_the_stairs_go_down_between_two_sets():
    points = Drawing(ScreeDisplay(stairs(STEPS, 6))).stair()
    for first, last, dim in STEPS:
        level = [x for x, y in points if y == pytest.approx(dim, abs=0.05)]
        assert first - 0.55 <= min(level) <= first + 0.05
        assert last - 0.05 <= max(level) <= last + 0.55
    assert points[-1][1] == pytest.approx(0, abs=0.05)


def test_a_logarithmic_axis_shows_a_narrow_window():
    plot = scree([(1, 40, 5), (41, 90_000, 3)], 5, (30.0, 80.0), 50.0, 9, 3)
    drawing = Drawing(plot)
    assert drawing.is_log
    for name, low, high in (("margin", 41, 59), ("window", 30, 80)):
        a, b = drawing.band(name)
        assert a == pytest.approx(low, rel=0.02)
        assert b == pytest.approx(high, rel=0.02)
    [mark] = drawing.all("line", "mark")
    assert drawing.set_at(float(mark.get("x1"))) == pytest.approx(50, rel=0.01)
    [first, *_] = [x for x, y in drawing.stair() if y == pytest.approx(3, abs=0.05)]
    assert first == pytest.approx(40.5, rel=0.02)


def test_a_finding_is_drawn_with_the_numbers_of_its_promises():
    rows = np.random.RandomState(0).randint(0, 2, size=(400, 4)).astype(np.uint8)
    found = rep_linear_span(rows, t_max=60, random_state=1)
    guarantee, flag = found.promises, found.flag
    drawing = Drawing(ScreeDisplay.of(found))
    t, s = float(guarantee.setup.threshold), guarantee.measured.margin
    low, high = drawing.band("margin")
    assert max(0.4, t - s - 0.55) <= low <= max(1, t - s) + 0.05
    assert min(drawing.stair()[-1][0], t + s) - 0.05 <= high <= t + s + 0.55
    low, high = drawing.band("window")
    assert low == pytest.approx(guarantee.setup.window.t_min, abs=0.55)
    assert high == pytest.approx(guarantee.setup.window.t_max, abs=0.55)
    for level in flag.levels():
        here = [x for x, y in drawing.stair() if y == pytest.approx(level.dim, abs=0.05)]
        assert (min(here), max(here)) == pytest.approx((level.first, level.last), abs=0.55)
    staircase = Drawing(ScreeDisplay.from_flag(flag)).stair()
    assert [y for _, y in staircase] == pytest.approx([y for _, y in drawing.stair()], abs=0.05)
