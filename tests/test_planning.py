"""`plan`: the sizes are those of the statements, and what is printed is what was computed."""

import html
import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from flagstone import guarantees as g
from flagstone.errors import InputError
from flagstone.guarantees import PlanRow, plan
from flagstone.guarantees.binomial import binomial_above, binomial_below

ANALYSES = ["paper (printed)", "paper (corrected)", "heavy (sharp)", "index"]


def test_plan_is_a_table():
    p = plan(20, 0.05, 0.1)
    assert [entry.analysis for entry in p.entries] == ANALYSES
    assert p["index"].rows == p.rows == g.index_rows(20, 0.05, 0.1)
    assert p["index"].length == g.index_length(20, 0.05)
    assert p["heavy (sharp)"].length == g.heavy_length(20, 0.05)
    assert p["paper (printed)"].rows == g.paper_rows(20, 0.05, 0.1)
    lines = str(p).splitlines()
    rule = next(i for i, line in enumerate(lines) if line.startswith("─"))
    assert {len(line) for line in lines[rule - 1 : rule + 5]} == {len(lines[rule])}
    assert json.loads(json.dumps(p.to_dict()))["entries"][3]["rows"] == p.rows
    assert "<table" in p._repr_html_()
    assert hash(p) == hash(plan(20, 0.05, 0.1))
    with pytest.raises(KeyError, match="no analysis 'best'"):
        p["best"]


def test_a_plan_lists_its_analyses():
    found = plan(6, 0.1, 0.6)
    assert [entry.analysis for entry in found] == [entry.analysis for entry in found.entries]
    assert found["index"] in list(found)


def test_plan_for_the_rows_to_come():
    p = plan(21, 0.05, 0.1, delta=0.01)
    assert p.dim == plan(21, 0.05, 0.1).dim == 21
    assert p.rows == g.pac_rows(21, 0.05, 0.1, 0.01) < 0.51 * g.parity_rows(21, 0.05, 0.1, 0.01)
    assert p["paper (printed)"].rows == g.paper_rows(21, 0.05, Fraction(1, 20))
    assert plan(21, 0.5, 0.1, delta=0.01, field="2^8").generalization_rows > p.generalization_rows
    rational = plan(21, 0.05, 0.1, delta=0.01, field="QQ")
    assert rational["index"] == p["index"]
    assert rational["heavy (sharp)"] == p["heavy (sharp)"]
    assert rational["paper (printed)"].rows is None
    assert "infinitely many" in str(rational)


def test_python_takes_the_words_and_the_defaults_of_the_shell():
    assert plan(dim=42, rho=0.05) == plan(42, 0.05, 0.1)


@pytest.mark.parametrize("rule", ["index", "heavy (sharp)"])
@pytest.mark.parametrize(
    ("dim", "rho", "eps", "delta", "contamination"),
    [(1, 0.5, 0.9, 1e-6, 0.1), (3, 0.3, 0.3, 0.05, 0.02), (5, 0.2, 0.2, 0.01, 0.0)],
)
def test_a_plan_counts_that_more_outliers_than_stated_may_be_drawn(
    rule, dim, rho, eps, delta, contamination
):
    """δ holds for both: an outlier direction kept (⊥, say), and too much left out (S37)."""
    line = plan(dim, rho, eps, delta, contamination=contamination)[rule]
    last = line.t_min + line.length - 1
    spoiled = binomial_above(line.rows, contamination, line.t_min - 1)
    entries = dim * last * (1 if rule == "index" else dim)
    missed = binomial_below(line.rows, eps, entries)
    assert spoiled <= delta / 2
    assert spoiled + missed <= delta
    if rule == "index":
        assert g.index_proves(dim, rho, line.length, start=line.t_min - 1)
    else:
        assert g.heavy_proves(dim, rho, line.length, start=line.t_min - 1, n_rows=line.rows)


def test_planned_answers_are_not_bottom():
    """The plan that gave ⊥ in 2.9 % of runs: rows (y) of a rule that is 0, a tenth of them 1."""
    line = plan(1, 0.5, 0.9, delta=1e-6, contamination=0.1)["index"]
    random = np.random.RandomState(13)
    ones = random.binomial(line.rows, 0.1, size=100_000)
    assert not (ones >= line.t_min).any()


def test_plan_with_outliers():
    p = plan(5, 0.05, 0.1, contamination=0.01)
    assert p["paper (printed)"].rows is None
    assert p["index"].t_min == g.outlier_start(p.rows, 0.01) + 1
    assert plan(20, 0.05, 0.1, contamination=0.01).rows is None
    assert "not proven for any number of rows" in str(p)
    both = plan(5, 0.05, 0.1, contamination=0.001)
    k, m = both["heavy (sharp)"].t_min - 1, both["heavy (sharp)"].rows
    assert k == g.outlier_start(m, 0.001)
    T = g.heavy_length(5, 0.05, start=k, n_rows=m)
    assert both["heavy (sharp)"].length == math.ceil(T)


def test_each_line_of_a_plan_has_the_window_of_its_analysis():
    p, of_paper = plan(20, 0.05, 0.1), plan(20, 0.05, 0.2, delta=0.01)
    for corrected in (False, True):
        entry = p["paper (corrected)" if corrected else "paper (printed)"]
        assert entry.rows == g.paper_rows(20, 0.05, 0.1, corrected=corrected)
        assert entry == of_paper[entry.analysis]  # half of eps
        T = g.paper_length(20, 0.05, entry.rows, corrected=corrected)
        assert entry.length == math.ceil(T)
    assert p["heavy (sharp)"].rows == g.heavy_rows(20, 0.05, 0.1)
    for entry in (p["heavy (sharp)"], of_paper["heavy (sharp)"]):
        assert entry.length == math.ceil(g.heavy_length(20, 0.05, n_rows=entry.rows))
    assert p["index"].length == of_paper["index"].length == g.index_length(20, 0.05)


def test_rows_for_generalization_may_outnumber_those_of_the_paper():
    """With one dimension and a tiny delta; the thresholds belong to the larger number."""
    p = plan(1, 0.9, 0.9, delta=1e-300)
    general = g.generalization_rows(1, 0.9, 1e-300)
    printed = g.paper_rows(1, 0.9, Fraction(9, 20))
    assert p.generalization_rows == general
    assert p["paper (printed)"].rows == max(general, printed)


def all_notes(p):
    return [line[2:] for line in str(p).splitlines() if line.startswith("· ")]


def notes(p):
    """All notes but the first, which says what the numbers mean."""
    first, *others = all_notes(p)
    assert first.startswith("for every distribution, with independent rows: two samples disagree")
    assert first.endswith("(for future rows: delta)") == (p.delta is None)
    return others


PAPER_NOTE = (
    "paper, heavy: Algorithm 1 of the paper, with its bounds as printed (the proof uses half the "
    "true sensitivity; S16 proves the theorem), corrected, and sharper; index: the default rule"
)


def test_a_plan_notes_what_was_asked_and_nothing_else():
    """The dash is blamed on outliers only where outliers were asked for."""
    assert notes(plan(5, 0.05, 0.1)) == [PAPER_NOTE]
    half, outliers, last = notes(plan(5, 0.05, 0.1, contamination=0.001))
    assert "about half of all samples have more" in half
    assert outliers.startswith("–: not proven for any number of rows (the paper has no statement")
    assert last == PAPER_NOTE
    assert notes(plan(20, 0.05, 0.1, contamination=0.01)) == [half, outliers, PAPER_NOTE]
    twice = plan(3, 0.1, 0.5, contamination=0.1, each=True)  # 3 · 0.1 < 0.5 < 2 · 3 · 0.1
    assert twice["index"].rows is not None
    assert twice["index, each equation"].rows is None
    assert notes(twice)[2].endswith("for the heavy rule × d(d+1)/2, for index, each equation × 2d)")
    ours, paper, last = notes(plan(21, 0.05, 0.1, delta=0.01))
    assert ours.startswith("ours: with probability 1 - delta at most eps of future rows lie")
    assert paper.startswith("paper: half of eps for rows left out, half for generalization")
    assert paper.endswith(f"needs {g.generalization_rows(21, 0.1, 0.01):,} rows")
    assert last == PAPER_NOTE
    ours, infinite, last = notes(plan(21, 0.05, 0.1, delta=0.01, field="QQ"))
    assert infinite.startswith("paper: counts the linear rules, which are infinitely many over QQ")
    assert last == PAPER_NOTE
    _, _, room, dash, _ = notes(plan(5, 0.05, 0.1, delta=0.01, contamination=0.001))
    assert "pass it as t_min" in room
    assert "× d²" in dash


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ({}, "Rows of dimension 5 over GF(2): rho = 0.05, eps = 0.1"),
        (
            {"contamination": 0.001, "field": 3},
            "Rows of dimension 5 over GF(3): rho = 0.05, eps = 0.1, contamination = 0.001",
        ),
        (
            {"delta": 0.01},
            "Rows of dimension 5 over GF(2): rho = 0.05, eps = 0.1, delta = 0.01",
        ),
        (
            {"delta": 0.01, "contamination": 0.001},
            "Rows of dimension 5 over GF(2): rho = 0.05, eps = 0.1, delta = 0.01, "
            "contamination = 0.001",
        ),
    ],
)
def test_the_title_of_a_plan_repeats_what_was_asked(asked, title):
    p = plan(5, 0.05, 0.1, **asked)
    assert str(p).splitlines()[0] == title
    assert f">{title}</div>" in p._repr_html_()


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (10**12 - 1, "999,999,999,999"),
        (10**12, "1 × 10^12"),
        (10**12 + 1, "1.1 × 10^12"),  # never fewer than needed
        (3 * 10**15, "3 × 10^15"),
        (314 * 10**13, "3.2 × 10^15"),
        (99 * 10**12, "9.9 × 10^13"),
        (995 * 10**10, "1 × 10^13"),
        (None, "–"),
    ],
)
def test_numbers_of_a_plan_are_grouped_or_rounded_up(number, shown):
    p = plan(5, 0.05, 0.1)
    entry = PlanRow("index", 7 if number is None else number, number, 3)
    lines = str(replace(p, entries=(entry,))).splitlines()
    rows = "7" if number is None else shown
    assert [cell.strip() for cell in lines[4].split("  ") if cell] == ["index", rows, shown, "3"]


def test_a_plan_is_printed_in_columns():
    """Names to the left, numbers to the right; the dash where nothing is proven."""
    p = plan(5, 0.05, 0.1, contamination=0.001)
    assert str(p).splitlines()[1:9] == [
        "",
        "analysis           rows needed  length T  first t",
        "─────────────────  ───────────  ────────  ───────",
        "paper (printed)              –         –        –",
        "paper (corrected)            –         –        –",
        "heavy (sharp)       83,045,539   470,589   83,047",
        "index                3,243,663    61,627    3,245",
        "",
    ]
    assert p["paper (printed)"] == PlanRow("paper (printed)", None, None, 1)


def test_a_plan_in_a_notebook_shows_the_printed_cells():
    p = plan(5, 0.05, 0.1, contamination=0.001)
    page = p._repr_html_()
    printed = str(p).splitlines()
    assert re.findall("<th[^>]*>(.*?)</th>", page) == [
        "analysis",
        "rows needed",
        "length T",
        "first t",
    ]
    cells = re.findall("<td[^>]*>(.*?)</td>", page)
    assert len(cells) == 16 + len(all_notes(p))
    for i, entry in enumerate(p.entries):
        mine = cells[4 * i : 4 * i + 4]
        assert mine[0] == entry.analysis
        assert printed[4 + i].split()[-3:] == mine[1:]
        assert ("–" in mine) == (entry.rows is None)
    assert page.count("<tr") == page.count("</tr>") == 5 + len(all_notes(p))
    assert [html.unescape(note) for note in cells[16:]] == [f"· {note}" for note in all_notes(p)]


@pytest.mark.parametrize(
    "use",
    [
        lambda: g.pac_rows(5, 0.1, 0.2, 0.05, rule="median"),
        lambda: str(g.Window("median", 1, 9)),
    ],
)
def test_a_rule_without_bounds_is_refused_and_not_taken_for_the_heavy_one(use):
    with pytest.raises(InputError, match="rule must be 'index' or 'heavy', got 'median'"):
        use()
