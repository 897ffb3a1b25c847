"""The report as text: complete, escaped, self-contained."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from flagstone import (
    GF,
    AffineSubspace,
    Coins,
    Constraints,
    Flag,
    ParityRule,
    Subspace,
    select_span,
)
from flagstone.errors import MissingDependencyError
from flagstone.models import Layout, Model, SpanAnswer
from flagstone.plots import ScreeDisplay
from flagstone.reports import Scree, html_report, plot_bytes, scree_svg
from flagstone.reports.promises import promise_rows
from flagstone.tables import ColumnEncoder, Encoding

HOSTILE = '<script>alert("x")</script>'


def model(names: tuple[str, ...] = ("a", "b", "c", "d"), **options: object) -> Model:
    """A model of rows with d = a ⊕ c and a few damaged rows."""
    rows = np.random.RandomState(0).randint(0, 2, size=(400, 4)).astype(np.uint8)
    rows[:, 3] = rows[:, 0] ^ rows[:, 2]
    rows[:4, 3] ^= 1
    layout = Layout(ones=True)
    flag = Flag(5).update(layout.rows(rows, GF(2)))
    result = select_span(flag, Coins(1), contamination=0.01, **options)  # type: ignore[arg-type]
    answer = Constraints.from_subspace(
        AffineSubspace.from_homogeneous(result.subspace), names=names
    )
    places = [[f"{HOSTILE}.csv", i, i + 1] for i in range(1, 5)]
    return Model(
        "constraints",
        answer,
        layout,
        Encoding(GF(2), tuple(ColumnEncoder(name, "element") for name in names)),
        result.subspace,
        result.guarantee,
        tuple((v.dim, v.multiplicity, v.first_index) for v in flag.levels()),
        {
            "seed": "1",
            "command": f"flagstone constraints '{HOSTILE}.csv' --seed 1",
            "sources": [f"{HOSTILE}.csv"],
            "rows": {"read": 400, "skipped": 0, "uncovered": 4, "misfits": 4, "places": places},
            "directions": [{"count": 5, "kept": True, "vector": HOSTILE}],
        },
    )


class Tags(HTMLParser):
    """Collect tags, attributes that could load something, and whether tags are balanced."""

    VOID = ("meta", "link", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.loads: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.loads += [v for k, v in attrs if k in ("src", "href", "action", "data") and v]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_complete_and_in_order():
    page = html_report(model())
    order = ["check equation", "Fingerprint", "Promises", "How the data fill", "Rows that do not",
             "How often each direction", "Repeat it"]  # fmt: skip
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "a ⊕ c ⊕ d = 0" in page
    assert model().fingerprint in page
    assert "4 of 400 rows (1 %) do not fit" in page
    for word in ("measured", "proven", "not proven"):
        assert f">{word}</span>" in page


def test_nothing_is_loaded_and_tags_are_balanced():
    page = html_report(model((HOSTILE, '" onload="x', "'c'", "&amp;")))
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.loads == ["data:,"]
    assert not tags.seen & {"script", "img", "iframe", "object", "embed", "base", "form"}
    assert "default-src 'none'" in page
    assert "url(" not in page
    assert "@import" not in page
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; ⊕ &#x27;c&#x27;" in page
    assert "&amp;amp;" in page


@pytest.mark.parametrize(
    "answer",
    [
        ParityRule([1, 0, 1], 1, names=(HOSTILE, "b", "c"), target=HOSTILE),
        ParityRule.bottom(3),
        Constraints(np.zeros((0, 3), dtype=np.uint8), np.zeros(0, dtype=np.uint8)),
        Constraints([[0, 0]], [1]),
        Constraints([[3, 1]], [2], 7),
    ],
)
def test_every_kind_of_answer_has_a_page(answer):
    page = html_report(Model.of(answer))
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert "<script" not in page


def test_a_span_has_a_page():
    from flagstone import Subspace

    for V in (Subspace.zero(3), Subspace.span([[1, 1, 0]]), Subspace.span([[3, 1]], 5)):
        assert "A span of dimension" in html_report(Model.of(SpanAnswer(V)))


def test_the_drawing_shows_window_margin_and_threshold():
    svg = scree_svg(Scree.of(model()), standalone=True)
    for part in ('class="window"', 'class="margin"', 'class="mark"', 'class="stair"', "<style>"):
        assert part in svg
    heavy = scree_svg(Scree.of(model(rule="heavy")))
    assert 'class="window"' not in heavy
    assert 'class="stair"' in heavy


def test_the_drawing_marks_the_chosen_dimension():
    scree = Scree([(1, 10, 5), (11, 90, 3), (91, 95, 1)], 5, (20.0, 30.0), 25.0, 5, 3)
    assert "t = 25, dimension 3" in scree_svg(scree)
    assert not scree.is_log
    assert Scree([(1, 5000, 3)], 3, (1.0, 9.0), 4.0, 1, 3).is_log
    assert "all rows are zero" in Scree([], 3).describe()
    numbers = [float(x) for x in re.findall(r'(?:x|y|cx|cy|x1|y1)="([-\d.]+)"', scree_svg(scree))]
    assert all(0 <= number <= 720 for number in numbers)


def test_png_says_what_to_install_when_matplotlib_is_missing(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'flagstone\[plot\]'"):
        plot_bytes(Scree([(1, 5, 2)], 2), ".png")
    assert plot_bytes(Scree([(1, 5, 2)], 2), ".svg").startswith(b"<svg")


def test_masks_carry_their_right_hand_sides():
    page = html_report(Model.of(ParityRule([1, 0, 0, 0, 1], 1)))
    assert "<pre>0x11 ^ 1</pre>" in page
    page = html_report(Model.of(Constraints([[1, 1, 0], [0, 1, 1]], [1, 0])))
    assert re.search(r"<pre>0x[0-9a-f]+ = [01]\n0x[0-9a-f]+ = [01]</pre>", page)
    assert "= 1</pre>" in page or "= 1\n" in page


def test_control_characters_are_shown_not_written():
    page = html_report(model(("\x1b[31mred", "b\x00", "c\u202e", "d")))
    assert not set("\x1b\x00\u202e") & set(page)
    assert "\\x1b[31mred" in page


def test_nothing_kept_is_said_first():
    rows = np.random.RandomState(0).randint(0, 2, size=(50, 3)).astype(np.uint8)
    flag = Flag(3).update(rows)
    zero = Subspace.zero(3)
    levels = tuple((v.dim, v.multiplicity, v.first_index) for v in flag.levels())
    rule = Model("learn", ParityRule([1, 1]), Layout(label=True), subspace=zero, levels=levels)
    assert "<h1>No direction was kept: this rule is only a draw of the coins</h1>" in (
        html_report(rule)
    )
    span = Model("span", SpanAnswer(zero), Layout(), subspace=zero, levels=levels)
    assert "<h1>No direction was kept" in html_report(span)
    empty = Model("span", SpanAnswer(zero), Layout(), subspace=zero)  # all rows were zero
    assert "<h1>A span of dimension 0 of 3</h1>" in html_report(empty)


def test_what_is_proven_is_said_with_its_condition():
    found = model()
    lines = {what: (text, badge, kind) for what, text, badge, kind in promise_rows(found)}
    text, badge, kind = lines["Damaged rows"]
    assert "at most 4 are damaged; at a rate of 1 % more than that" in text
    assert badge.startswith("proven, but for probability 0.")
    assert kind != "proven"
    assert "of these 400 rows lie outside" in lines["Coverage"][0]
    assert "of any 400 rows" not in lines["Coverage"][0]


@pytest.mark.parametrize("t_max", [None, 100])
def test_page_and_figure_show_the_same_picture(t_max, monkeypatch):
    """One axis, one window, one threshold, whatever draws them."""
    pytest.importorskip("matplotlib")
    rows = np.random.RandomState(0).randint(0, 2, size=(2000, 4)).astype(np.uint8)
    flag = Flag(4).update(rows)
    result = select_span(flag, Coins(1), t_max=t_max)
    levels = tuple((v.dim, v.multiplicity, v.first_index) for v in flag.levels())
    found = Model(
        "span", SpanAnswer(result.subspace), Layout(), None, result.subspace, result.guarantee,
        levels,
    )  # fmt: skip
    scree = Scree.of(found)
    drawn = []
    plot = ScreeDisplay.plot
    monkeypatch.setattr(ScreeDisplay, "plot", lambda self, ax: drawn.append(plot(self, ax=ax)))
    assert plot_bytes(scree, ".png")[:4] == b"\x89PNG"
    axis = drawn[0].figure_.axes[0]
    svg = scree_svg(scree, standalone=True)
    assert (axis.get_xscale() == "log") == scree.is_log == ("logarithmic" in svg)
    assert axis.get_xlim() == (0.5, scree.end + 0.5)
    for text in (axis.get_xlabel(), axis.get_ylabel(), *axis.get_legend_handles_labels()[1]):
        assert text in svg
