"""Rows that do not fit: what they break, against the equations themselves."""

from dataclasses import replace

import numpy as np

from flagstone import GF, Finding
from flagstone.answers import Constraints, LinearSystem, ParityRule
from flagstone.encoding import Encoding
from flagstone.measurement import Measurement
from flagstone.question import SubspaceQuestion
from flagstone.report.misfits import misfit_section, misfits_of

CHECKS = Constraints([[1, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0], [0, 1, 0, 1, 1, 1]], [1, 0, 0])


def with_rows(answer, *values: str, misfits: int | None = None) -> Finding:
    places = tuple((f"<i>{i}.hex", i, None if i == 2 else i + 1) for i in range(1, len(values) + 1))
    misfits = len(values) if misfits is None else misfits
    rows = Measurement(100, None, misfits, 3, places, values)
    return replace(Finding.of(answer), rows=rows)


def test_places_are_escaped_and_rows_shown_as_written():
    page = misfit_section(with_rows(CHECKS, "100001"))
    assert "<code>{6}84</code>" in page
    assert "&lt;i&gt;1.hex, line 2" in page
    assert "breaks x1 ⊕ x3 ⊕ x4 ⊕ x5 = 0" in page
    assert "3 rows of another length skipped" in page


def test_a_bit_order_is_undone():
    checks = Constraints([[1, 0, 0, 0, 0, 0, 0, 1]], [0])
    found = with_rows(checks, "10000000")
    turned = replace(found, provenance={"reading": {"bit_order": "lsb"}})
    assert misfits_of(turned)[0].written == "{8}01"


def test_the_limit_is_said_and_places_are_enough():
    assert "The first 2 are listed" in misfit_section(
        with_rows(CHECKS, "000000", "010000", misfits=9)
    )
    found = with_rows(CHECKS, "000000", "010000")
    assert "are listed" not in misfit_section(found)
    assert "row 2" in misfit_section(found)
    bare = replace(found, rows=replace(found.rows, values=()))
    assert '<td class="number">2</td>' in misfit_section(bare)
    many = Constraints(np.eye(9, dtype=int), np.ones(9, dtype=int))
    page = misfit_section(with_rows(many, "0" * 9))
    assert "x5 = 1 … and 3 more" in page
    assert misfit_section(Finding.of(CHECKS)) == ""


def test_every_kind_of_answer_says_what_it_can():
    [misfit] = misfits_of(with_rows(Constraints([[3, 1]], [2], 7), "1 5"))
    assert (misfit.written, misfit.breaks) == (None, ("x0 + 5·x1 = 3 (mod 7)",))
    [misfit] = misfits_of(with_rows(ParityRule([1, 0, 1], 1), "1011"))
    expected = ParityRule([1, 0, 1], 1).predict([[1, 0, 1]])[0]
    assert misfit.breaks == (f"the rule says {expected}",)
    [misfit] = misfits_of(with_rows(LinearSystem([[1, 0]], [1], 5), "1 0 4"))
    assert misfit.breaks == ()
    encoding = Encoding.plain(GF(2), ("x0", "x1"), label="y")
    subspace = Finding(SubspaceQuestion(), Constraints([[1, 1]], [0]), encoding)
    rows = Measurement(9, None, 2, 0, (("a", 1, 1), ("a", 2, 2)), ("101", "110"))
    said = [misfit.breaks for misfit in misfits_of(replace(subspace, rows=rows))]
    assert said == [("x0 ⊕ x1 = 0",), ("negative, but inside",)]


def test_long_rows_are_cut():
    wide = Constraints(np.ones((1, 700), dtype=int), [0], 3)
    page = misfit_section(with_rows(wide, "1 " * 699 + "1"))
    assert "…</p>" in page
    assert len(page) < 6000
