"""`plan`: the sizes are those of the statements, and what is printed is what was computed."""

import html
import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from flagstone import guarantees as g
from flagstone.guarantees import PlanRow, plan

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
    assert "<table>" in p._repr_html_()
    assert hash(p) == hash(plan(20, 0.05, 0.1))
    with pytest.raises(KeyError, match="no analysis 'best'"):
        p["best"]


def test_plan_for_the_parity_learner():
    p = plan(21, 0.05, 0.1, delta=0.01)
    assert p.dim == plan(21, 0.05, 0.1).dim == 21
    assert p.rows == g.parity_rows(21, 0.05, 0.1, 0.01)
    assert p["paper (printed)"].rows == g.paper_rows(21, 0.05, Fraction(1, 20))
    assert plan(21, 0.5, 0.1, delta=0.01, field="2^8").generalization_rows > p.generalization_rows
    rational = plan(21, 0.05, 0.1, delta=0.01, field="QQ")
    assert all(entry.rows is None for entry in rational.entries)
    assert "infinitely many" in str(rational)


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
    for p, dim in [(plan(20, 0.05, 0.1), 20), (plan(20, 0.05, 0.2, delta=0.01), 20)]:
        for corrected in (False, True):
            entry = p["paper (corrected)" if corrected else "paper (printed)"]
            assert entry.rows == g.paper_rows(dim, 0.05, 0.1, corrected=corrected)
            T = g.paper_length(dim, 0.05, entry.rows, corrected=corrected)
            assert entry.length == math.ceil(T)
        entry = p["heavy (sharp)"]
        assert entry.rows == g.heavy_rows(dim, 0.05, 0.1)
        assert entry.length == math.ceil(g.heavy_length(dim, 0.05, n_rows=entry.rows))
        assert p["index"].length == g.index_length(dim, 0.05)


def test_rows_for_generalization_may_outnumber_those_of_a_rule():
    """With few dimensions and a small delta; the thresholds belong to the larger number."""
    p = plan(2, 0.9, 0.1, delta=1e-60)
    general = g.generalization_rows(2, 0.1, 1e-60)
    assert p.generalization_rows == general > g.heavy_rows(2, 0.9, 0.05)
    assert p["index"].rows == p["heavy (sharp)"].rows == general
    assert p["heavy (sharp)"].length == math.ceil(g.heavy_length(2, 0.9, n_rows=general))


def notes(p):
    return [line[2:] for line in str(p).splitlines() if line.startswith("· ")]


PAPER_NOTE = "paper (printed) rests on a sensitivity that is off by a factor of two"


def test_a_plan_notes_what_was_asked_and_nothing_else():
    """The dash is blamed on outliers only where outliers were asked for."""
    assert notes(plan(5, 0.05, 0.1)) == [PAPER_NOTE]
    outliers, last = notes(plan(5, 0.05, 0.1, contamination=0.001))
    assert outliers.startswith("–: not proven for any number of rows (the paper has no statement")
    assert last == PAPER_NOTE
    assert notes(plan(20, 0.05, 0.1, contamination=0.01)) == [outliers, PAPER_NOTE]
    rows, general, last = notes(plan(21, 0.05, 0.1, delta=0.01))
    assert rows == "half of eps for rows left out, half for generalization"
    assert general == f"generalization alone: {g.generalization_rows(21, 0.1, 0.01):,} rows"
    assert last == PAPER_NOTE
    rows, infinite, last = notes(plan(21, 0.05, 0.1, delta=0.01, field="QQ"))
    assert infinite.startswith("over QQ the linear rules are infinitely many")
    assert last == PAPER_NOTE


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
            "Labelled rows of dimension 5 over GF(2): rho = 0.05, eps = 0.1, delta = 0.01",
        ),
        (
            {"delta": 0.01, "contamination": 0.001},
            "Labelled rows of dimension 5 over GF(2): rho = 0.05, eps = 0.1, delta = 0.01, "
            "contamination = 0.001",
        ),
    ],
)
def test_the_title_of_a_plan_repeats_what_was_asked(asked, title):
    p = plan(5, 0.05, 0.1, **asked)
    assert str(p).splitlines()[0] == title
    assert f"<caption>{title}</caption>" in p._repr_html_()


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
    assert re.findall("<th>(.*?)</th>", page) == [
        "analysis",
        "rows needed",
        "length T",
        "first t",
    ]
    cells = re.findall("<td>(.*?)</td>", page)
    assert len(cells) == 16
    for i, entry in enumerate(p.entries):
        mine = cells[4 * i : 4 * i + 4]
        assert mine[0] == entry.analysis
        assert printed[4 + i].split()[-3:] == mine[1:]
        assert ("–" in mine) == (entry.rows is None)
    assert page.count("<tr>") == page.count("</tr>") == 5
    assert [html.unescape(note) for note in re.findall("<li>(.*?)</li>", page)] == notes(p)
