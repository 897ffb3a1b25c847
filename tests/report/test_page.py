"""The report as text: complete, escaped, self-contained."""

import dataclasses
import hashlib
import re
from base64 import b64encode
from datetime import UTC, date, datetime
from html.parser import HTMLParser

import numpy as np
import pytest

from flagstone import GF, Coins, Finding, Flag, IndexRule, Subspace, __version__, ask
from flagstone.algebra import Level, Staircase
from flagstone.answers import Constraints, LinearSystem, ParityRule
from flagstone.encoding import Encoding
from flagstone.errors import InputError, MissingDependencyError, ReplicabilityWarning
from flagstone.guarantees import Window
from flagstone.measurement import Measurement
from flagstone.pipeline import certify
from flagstone.plots import ScreeDisplay
from flagstone.plots.svg import scree_svg
from flagstone.question import ConstraintsQuestion, ParityQuestion, SpanQuestion, SubspaceQuestion
from flagstone.report import date_of, html_report, write_report
from flagstone.rules import rule_named
from flagstone.text import promise_rows

HOSTILE = '<script>alert("x")</script>'


def finding(
    names: tuple[str, ...] = ("a", "b", "c", "d"), rule: str = "index", **options: object
) -> Finding:
    """A finding of rows with d = a ⊕ c and a few damaged rows."""
    rows = np.random.RandomState(0).randint(0, 2, size=(400, 4)).astype(np.uint8)
    rows[:, 3] = rows[:, 0] ^ rows[:, 2]
    rows[:4, 3] ^= 1
    question = ConstraintsQuestion()
    places = tuple((f"{HOSTILE}.csv", i, i + 1) for i in range(1, 5))
    return ask(
        Flag(5).update(question.lift(GF(2), GF(2).rows(rows))),
        question,
        rule_named(rule, contamination=0.01, **options),
        Coins(1),
        encoding=Encoding.plain(GF(2), names),
        rows=Measurement(400, 4, 4, 0, places),
        provenance={
            "command": f"flagstone constraints '{HOSTILE}.csv' --seed 1",
            "sources": [f"{HOSTILE}.csv"],
        },
    )


def stairs(*steps: tuple[int, int], dim: int) -> Staircase:
    """A staircase from (dimension, sets) of its steps."""
    levels, first = [], 1
    for height, sets in steps:
        levels.append(Level(height, first, first + sets - 1))
        first += sets
    return Staircase(dim, tuple(levels))


class Tags(HTMLParser):
    """Collect tags, attributes that could load something, and whether tags are balanced."""

    VOID = ("meta", "link", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.loads: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        self.loads += [v for k, v in attrs if k in ("src", "href", "action", "data") and v]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_complete_and_in_order():
    page = html_report(finding())
    order = ["check equation", "Rows that do not", "Fingerprint", "Promises", "How the data fill",
             "How often each direction", "Repeat it"]  # fmt: skip
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "a ⊕ c ⊕ d = 0" in page
    assert finding().fingerprint in page
    assert "4 of 400 rows (1 %) do not fit" in page
    for word in ("certified at 99 %", "proven", "not proven"):
        assert f">{word}</span>" in page


def test_nothing_is_loaded_and_tags_are_balanced():
    page = html_report(finding((HOSTILE, '" onload="x', "'c'", "&amp;")))
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.loads == ["data:,"]
    assert not tags.seen & {"img", "iframe", "object", "embed", "base", "form"}
    assert tags.handlers == []
    assert "content=\"default-src 'none'; style-src 'sha256-" in page
    assert "unsafe" not in page[: page.index("<style>")]
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
        LinearSystem([[1, 0], [0, 0]], [1, 1], 5),
    ],
)
def test_every_kind_of_answer_has_a_page(answer):
    page = html_report(Finding.of(answer))
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert page.count("<script") == 1


def test_the_policy_admits_this_script_and_this_style_alone():
    page = html_report(finding((HOSTILE, "</style>", "</script>", "d")))
    policy = re.search(r'Policy" content="([^"]+)"', page)[1]
    for tag in ("style", "script"):
        [body] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in policy
    assert "unsafe" not in policy


def test_version_and_date_are_said_and_can_be_held_fixed(monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    page = html_report(finding())
    assert f'flagstone {__version__} · <time datetime="1970-01-02">1970-01-02</time>' in page
    (tmp_path / "r.html").write_text(page)
    assert date_of(tmp_path / "r.html") == date(1970, 1, 2)
    assert date_of(tmp_path / "none.html") is None
    (tmp_path / "none.html").write_text("<time datetime='soon'>")
    assert date_of(tmp_path / "none.html") is None
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert html_report(finding(), made=date(1970, 1, 2)) == page
    assert f'<time datetime="{datetime.now(UTC).date()}">' in html_report(finding())
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH must be a number of seconds"):
        html_report(finding())


def test_masks_come_in_file_order_where_columns_are_frames():
    checks = Constraints([[1, 0, 0, 0, 0, 1, 0, 0, 0]], [1])
    frames = {"reading": {"format": "bits"}}
    page = html_report(dataclasses.replace(Finding.of(checks), provenance=frames))
    assert "<pre data-copy>{9}840 = 1</pre>" in page
    assert "<pre data-copy>0x21 = 1</pre>" in page
    named = dataclasses.replace(checks, names=tuple("abcdefghi"))
    named = dataclasses.replace(Finding.of(named), provenance=frames)
    assert "file order" not in html_report(named)
    body = html_report(Finding.of(checks)).partition("<main>")[2].partition("<script>")[0]
    assert "frame" not in body


def test_a_span_has_a_page():
    for V in (Subspace.zero(3), Subspace.span([[1, 1, 0]]), Subspace.span([[3, 1]], 5)):
        page = html_report(Finding.of(Constraints.from_subspace(V)))
        assert f"<h1>A span of dimension {V.dim} of {V.ambient_dim}, " in page


def test_a_page_is_written_whole_and_replaced_only_when_asked(tmp_path):
    path = tmp_path / "r.html"
    write_report(path, finding())
    finding().report(path)  # the same once more
    assert path.read_text() == html_report(finding())
    finding(("e", "f", "g", "h")).report(path)  # a page may replace another one
    assert "e ⊕ g ⊕ h = 0" in path.read_text()


def test_the_drawing_shows_window_margin_and_threshold():
    svg = scree_svg(ScreeDisplay.of(finding()), standalone=True)
    for part in ('class="window"', 'class="margin"', 'class="mark"', 'class="stair"', "<style>"):
        assert part in svg
    assert 'class="bold"' not in svg


def test_the_drawing_of_the_heavy_rule_shows_its_threshold():
    """It is a number of sets: the step that has this many is drawn, and no window of sets."""
    found = finding(rule="heavy", t_max=60)
    svg = scree_svg(ScreeDisplay.of(found), standalone=True)
    for part in ('class="window"', 'class="margin"', 'class="mark"'):
        assert part not in svg
    assert 'class="stair"' in svg
    [(x1, x2, y)] = re.findall(r'<line class="bold" x1="([\d.]+)" x2="([\d.]+)" y1="([\d.]+)"', svg)
    chosen = next(step for step in found.stairs.levels if step.dim == found.subspace.dim)
    assert found.threshold <= chosen.multiplicity
    corners = re.search(r'<path class="stair" d="([^"]+)"', svg)[1]
    assert f"{x1} {y}" in corners
    assert f"{x2} {y}" in corners
    assert (
        f"t = {found.threshold:,.4g} ≤ {chosen.multiplicity} sets, dimension {chosen.dim}</text>"
        in svg
    )
    assert f"The threshold {found.threshold:,.4g} was drawn from {found.window}." in svg
    page = html_report(found)
    assert svg[svg.index('<line class="bold"') : svg.index("</text></svg>")] in page


def test_a_heavy_threshold_that_no_step_reaches_is_said():
    steps = stairs((3, 4), (1, 9), dim=3)
    scree = ScreeDisplay(steps, Window("heavy", 1, 50), 40.5, 3, 0)
    svg = scree_svg(scree, standalone=True)
    assert "t = 40.5: no step has this many sets" in svg
    assert 'class="bold"' in svg
    assert "The threshold 40.5 was drawn from (0, 50]." in svg


def test_the_drawing_marks_the_chosen_dimension():
    steps = stairs((5, 10), (3, 80), (1, 5), dim=5)
    scree = ScreeDisplay(steps, Window("index", 20, 30), 25, 5, 3)
    assert "t = 25, dimension 3" in scree_svg(scree)
    assert not scree.is_log
    assert ScreeDisplay(stairs((3, 5000), dim=3), Window("index", 1, 9), 4, 1, 3).is_log
    assert "all rows are zero" in ScreeDisplay(stairs(dim=3)).describe()
    numbers = [float(x) for x in re.findall(r'(?:x|y|cx|cy|x1|y1)="([-\d.]+)"', scree_svg(scree))]
    assert all(0 <= number <= 720 for number in numbers)


def test_svg_needs_no_matplotlib_and_png_says_what_to_install(monkeypatch, tmp_path):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'flagstone\[plot\]'"):
        finding().plot(tmp_path / "scree.png")
    finding().plot(tmp_path / "scree.svg")
    drawn = (tmp_path / "scree.svg").read_text(encoding="utf-8")
    assert drawn == scree_svg(ScreeDisplay.of(finding()), standalone=True) + "\n"


def test_masks_carry_their_right_hand_sides():
    page = html_report(Finding.of(ParityRule([1, 0, 0, 0, 1], 1)))
    assert "<pre data-copy>0x11 ^ 1</pre>" in page
    page = html_report(Finding.of(Constraints([[1, 1, 0], [0, 1, 1]], [1, 0])))
    assert re.search(r"<pre data-copy>0x[0-9a-f]+ = [01]\n0x[0-9a-f]+ = [01]</pre>", page)
    assert "= 1</pre>" in page or "= 1\n" in page


def test_control_characters_are_shown_not_written():
    page = html_report(finding(("\x1b[31mred", "b\x00", "c\u202e", "d")))
    assert not set("\x1b\x00\u202e") & set(page)
    assert "\\x1b[31mred" in page


def test_is_empty_is_said_first():
    rows = np.random.RandomState(0).randint(0, 2, size=(50, 3)).astype(np.uint8)
    flag = Flag(3).update(rows)
    past = IndexRule(t_min=49, t_max=50)  # past the last set
    for question, title in (
        (ParityQuestion(choice="uniform"), "this rule is only a draw of the coins"),
        (SpanQuestion(), "the rows say nothing"),
        (ConstraintsQuestion(), "the rows say nothing"),
        (SubspaceQuestion(), "the rows say nothing"),
    ):
        with pytest.warns(ReplicabilityWarning, match="starts past the last of the"):
            found = ask(flag, question, past, Coins(1))
        assert found.subspace == Subspace.zero(3)
        assert f"<h1>No direction was kept: {title}</h1>" in html_report(found)
    empty = ask(Flag(3).update(0 * rows), SpanQuestion(), IndexRule(), Coins(1))
    assert (
        "<h1>A span of dimension 0 of 3, no check equation holds beyond constants;"
        in html_report(empty)
    )


def test_what_is_proven_is_said_with_its_condition():
    found = finding()
    lines = {
        what: (text, badge, kind)
        for what, text, badge, kind in promise_rows(found.promises, found.rows.uncovered)
    }
    text, badge, kind = lines["Damaged rows"]
    assert "up to 4 corrupted rows (at a rate of exactly 1 %" in text
    assert badge == "proven under this condition"
    assert kind != "proven"
    assert "of these rows uncovered" in lines["Coverage"][0]


def test_the_margin_has_one_wording():
    for margin, text in (
        (0, "one altered row may change the answer"),
        (1, "the answer does not change if one row is altered"),
        (1234, "the answer does not change if up to 1,234 rows are altered"),
    ):
        found = finding()
        measured = dataclasses.replace(found.promises.measured, margin=margin)
        promises = dataclasses.replace(found.promises, measured=measured)
        found = dataclasses.replace(found, promises=promises)
        lines = {
            what: line for what, line, _, _ in promise_rows(found.promises, found.rows.uncovered)
        }
        assert lines["Margin"] == text[0].upper() + text[1:]
        assert text in str(found.promises)
        assert lines["Margin"] in html_report(found)


@pytest.mark.parametrize(
    ("rule", "options"),
    [("index", {}), ("index", {"t_max": 100}), ("heavy", {}), ("heavy", {"t_max": 100})],
)
def test_page_and_figure_show_the_same_picture(rule, options):
    """One axis, one window, one threshold, whatever draws them."""
    pytest.importorskip("matplotlib")
    rows = np.random.RandomState(0).randint(0, 2, size=(2000, 4)).astype(np.uint8)
    found = ask(Flag(4).update(rows), SpanQuestion(), rule_named(rule, **options), Coins(1))
    scree = ScreeDisplay.of(found)
    assert scree.image(".png")[:4] == b"\x89PNG"
    axis = scree.ax_
    svg = scree_svg(scree, standalone=True)
    assert (axis.get_xscale() == "log") == scree.is_log == ("logarithmic" in svg)
    assert axis.get_xlim() == (0.5, scree.end + 0.5)
    legend = axis.get_legend_handles_labels()[1]
    assert scree.choice in legend
    for text in (axis.get_xlabel(), axis.get_ylabel(), *legend):
        assert text in svg


def test_the_page_warns_and_hints_as_the_console_does():
    found = finding()
    damaged = html_report(dataclasses.replace(found, rows=Measurement(400, 99, 99)))
    said = "24.8 % of the rows do not fit, more than the stated contamination, 1 %."
    assert f'<p class="note">{said}</p></header>' in damaged
    assert 'class="note"' not in html_report(found)
    lost = finding(t_min=1, t_max=1)
    assert f'<p class="note">A{lost.hint[1:]}.</p></header>' in html_report(lost)


def test_the_page_says_what_is_certified_and_what_is_withheld():
    X = np.random.RandomState(1).randint(0, 2, size=(2000, 4))
    X[:, 3] = X[:, 0] ^ X[:, 1]
    rule = IndexRule(t_min=0.02, t_max=0.08)
    asked = ask(Flag(4).update(X), SpanQuestion(), rule, Coins(1))
    page = html_report(certify(asked, GF(2).rows(X)))
    assert "(certified at 99 % confidence from 1,800 rows)" in page
    assert ">certified at 99 %<" in page
    assert "of future rows do not fit (99 % confidence)</h1>" in page
    thrice = GF(2).rows(np.repeat(X[:, [0, 1, 2, 3] * 4], 3, axis=0))
    asked = ask(Flag(16).update(thrice), SpanQuestion(), rule, Coins(1))
    page = html_report(certify(asked, thrice))
    assert "No promise about fresh samples: rows repeat in runs" in page
    assert ">withheld<" in page
    few = html_report(ask(Flag(4).update(X[:3]), SpanQuestion(), IndexRule(), Coins(1)))
    assert "<h1>Not supported by the rows (too few: 3 rows of rank " in few
