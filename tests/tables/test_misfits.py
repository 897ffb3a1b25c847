"""Rows of a table that do not fit: cells by equation, in Python, in the shell and on the page."""

from dataclasses import replace

import pandas as pd
import pytest

from flagstone import GF, QQ, AffineSpan, Finding
from flagstone.answers import Constraints, LinearSystem, ParityRule
from flagstone.cli.runner import run
from flagstone.encoding import ColumnEncoder, Encoding
from flagstone.measurement import Measurement
from flagstone.question import SubspaceQuestion
from flagstone.report import html_report
from flagstone.tables import Place, is_frames, misfit_groups, misfit_records

COLUMNS = (("odor", "onehot:a,c,m"), ("ring", "onehot:n,o"), ("veil", "levels:p,u"))
ENCODING = Encoding(GF(2), tuple(ColumnEncoder.parse(*pair) for pair in COLUMNS))
CHECKS = Constraints(
    [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1]],
    [1, 1, 0, 0],
    2,
    ENCODING.names,
)


def with_rows(answer, encoding, *values):
    rows = Measurement(
        100,
        None,
        len(values),
        0,
        tuple(("a.csv", i, i + 1) for i in range(1, 1 + len(values))),
        values,
    )
    return replace(Finding.of(answer), encoding=encoding, rows=rows)


def test_rows_that_break_the_same_equations_are_together():
    finding = with_rows(CHECKS, ENCODING, "001010", "001011", "100100", "010011")
    assert finding.lines == ("odor = m exactly when ring = n",)
    assert finding.unlisted == (
        "not listed: 1 constant (veil is always p), 2 equations implied by the encoding"
    )
    groups = misfit_groups(finding)
    assert [(g.breaks, g.columns) for g in groups] == [
        (("odor = m exactly when ring = n",), ("odor", "ring")),
        (("odor = m exactly when ring = n", "veil is always p"), ("odor", "ring", "veil")),
        (("veil is always p",), ("veil",)),
    ]
    assert groups[0].rows == [
        (Place("a.csv", 1, 2), ("m", "o")),
        (Place("a.csv", 3, 4), ("a", "n")),
    ]
    assert groups[1].rows == [(Place("a.csv", 2, 3), ("m", "o", "u"))]


@pytest.mark.parametrize("order", [2, 7])
def test_remainders_are_not_shown_as_numbers_of_the_table(order):
    pairs = ("a", "mod"), ("b", "element"), ("c", "mod")
    encoding = Encoding(GF(order), tuple(ColumnEncoder.parse(*pair) for pair in pairs))
    rule = Constraints([[1, 1, 0], [0, 0, 1]], [0, 1], order, encoding.names)
    finding = with_rows(rule, encoding, *[{2: "101", 7: "1 0 1"}[order]])
    assert f"(c mod {order} = 1)" in finding.unlisted
    assert f"a mod {order}" in finding.lines[0]
    (group,) = misfit_groups(finding)
    assert group.columns == ("a", "b")
    assert group.rows[0][1] == (f"≡ 1 (mod {order})", "0")


def test_labels_and_systems():
    rule = ParityRule([1, 0, 1], 1, 2, ["a", "b", "c"], "y")
    plain = Encoding.plain(GF(2), ["a", "b", "c"], label="y")
    [group] = misfit_groups(with_rows(rule, plain, "1011"))
    assert group.breaks == ("the rule y = a ⊕ c ⊕ 1",)
    assert (group.columns, group.rows[0][1]) == (("a", "c", "y"), ("1", "1", "1"))
    inside = with_rows(Constraints([[1, 1]], [1]), Encoding.plain(GF(2), ["a", "b"]), "100", "111")
    inside = replace(
        inside,
        question=SubspaceQuestion(affine=True),
        encoding=Encoding.plain(GF(2), ["a", "b"], label="y"),
    )
    assert [g.breaks for g in misfit_groups(inside)] == [
        ("a ⊕ b = 1",),
        ("a negative row that fits",),
    ]
    system = LinearSystem([[1, 0]], [1], 5)
    [group] = misfit_groups(
        with_rows(system, Encoding.plain(GF(5), ["x0", "x1"], label="b"), "1 0 4")
    )
    assert (group.columns, group.rows[0][1]) == (("x0", "x1", "b"), ("1", "0", "4"))


def test_the_page_of_a_table_has_cells_and_no_bits():
    finding = with_rows(CHECKS, ENCODING, "001010")
    page = html_report(finding).partition("<main>")[2].partition("<script>")[0]
    assert "1 row breaks" in page
    assert "<td>a.csv line 2</td><td>m</td><td>o</td>" in page
    assert "001010" not in page
    assert "frame" not in page
    assert "0x" not in page
    assert page.index("Rows that do not fit") < page.index("Fingerprint")


@pytest.mark.parametrize(
    ("provenance", "expected"),
    [
        ({}, False),
        ({"sources": ["a.csv"]}, False),
        ({"sources": ["a.hex.gz"]}, True),
        ({"sources": ["a.txt"], "reading": {"format": "bits"}}, True),
        ({"sources": ["a.bits"], "reading": {"format": "csv"}}, False),
    ],
)
def test_what_are_frames(provenance, expected):
    assert is_frames(replace(Finding.of(CHECKS), provenance=provenance)) is expected


def test_a_notebook_shows_the_same():
    rows = pd.DataFrame({"ring=n": [1, 0] * 60, "ring=o": [0, 1] * 60, "x": [1, 0, 0, 0] * 30})
    finding = AffineSpan(random_state=1).fit(rows).finding_
    assert finding.title == "No check equation holds beyond the encoding"
    assert "1 equation implied by the encoding; print(finding.answer) lists all" in (
        finding._repr_html_()
    )
    assert finding.fingerprint == Finding.of(finding.answer).answer.fingerprint("constraints")


def test_categories_beside_amounts_over_the_rationals(tmp_path, capsys):
    """A misfit is kept as text: one-hot columns must be numbers there, not True and False."""
    ledger = pd.DataFrame({"kind": ["a", "b", "c"] * 200, "net": range(600), "gross": range(600)})
    ledger.loc[7, "gross"] = 0
    ledger.to_csv(tmp_path / "ledger.csv", index=False)
    words = [
        "constraints",
        tmp_path / "ledger.csv",
        "--field",
        "QQ",
        "--encode",
        "auto",
        "--seed",
        1,
    ]
    assert run([*map(str, words), "--contamination", "0.01"]) == 0
    assert "line 9: net 7, gross 0, off by 7" in capsys.readouterr().out


def test_a_row_that_breaks_two_equations_is_off_by_two_amounts():
    checks = Constraints([[1, 1, -1, 0], [0, 0, 1, -2]], [0, 1], "QQ", ["a", "b", "c", "d"])
    finding = with_rows(checks, Encoding.plain(QQ, ["a", "b", "c", "d"]), "1 1 5/2 7/8", "1 1 2 1")
    one, both = misfit_groups(finding)
    assert both.breaks == finding.lines == ("c - 2·d = 1", "a + b - c = 0")
    assert (both.columns[-1], both.rows[0][1][-1]) == ("off by", "-0.25; -0.5")
    assert one.breaks == ("c - 2·d = 1",)
    assert both.rows[0][0].row == 1
    assert misfit_records(finding)[0] == {
        "file": "a.csv",
        "row": 1,
        "line": 2,
        "cells": {"a": "1", "b": "1", "c": "2.5", "d": "0.875"},
        "breaks": ["c - 2·d = 1", "a + b - c = 0"],
        "off_by": ["-0.25", "-0.5"],
    }


def test_a_constant_is_missed_by_an_amount_too():
    checks = Constraints([[1, 0], [0, 1]], [2, 5], "QQ", ["a", "b"])
    finding = with_rows(checks, Encoding.plain(QQ, ["a", "b"]), "3 9/2")
    [record] = misfit_records(finding)
    assert (record["breaks"], record["off_by"]) == (["a = 2", "b = 5"], ["1", "-0.5"])


def test_records_of_categories_hold_their_cells_and_no_amounts():
    finding = with_rows(CHECKS, ENCODING, "001010", "100100")
    first, second = misfit_records(finding)
    assert first["cells"] == {"odor": "m", "ring": "o", "veil": "p"}
    assert second["breaks"] == ["odor = m exactly when ring = n"]
    assert first["off_by"] is None
    assert misfit_records(replace(finding, rows=Measurement(9))) == []
