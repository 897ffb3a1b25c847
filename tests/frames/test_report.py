"""The page of frames: layers as on the console, and marked bits."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flagstone import GF, Coins, Finding, Flag, ask, certify
from flagstone.answers import Constraints
from flagstone.frames.digests import DigestAnalysis
from flagstone.frames.digests.layer_text import layer_lines
from flagstone.frames.report import FrameView
from flagstone.question import ConstraintsQuestion
from flagstone.report import html_report
from flagstone.report.misfits import misfit_section, misfits_of
from flagstone.rules import rule_named
from tests.report.test_misfits import CHECKS, with_rows


def framed() -> tuple[Finding, DigestAnalysis]:
    """Frames with a constant byte, a pair and an XOR of nibbles, three of them damaged."""
    rows = np.random.RandomState(3).randint(0, 2, size=(800, 24)).astype(np.uint8)
    rows[:, :8] = [1, 0, 1, 0, 0, 1, 0, 1]
    rows[:, 20:] = rows[:, 8:12] ^ rows[:, 12:16] ^ rows[:, 16:20]
    rows[7, 0] ^= 1
    rows[400, 9] ^= 1
    question = ConstraintsQuestion()
    asked = ask(
        Flag(25).update(question.lift(GF(2), GF(2).rows(rows))),
        question,
        rule_named("index", t_min=5, t_max=20),
        Coins(1),
    )
    found = certify(asked, rows)
    analysis = DigestAnalysis(found.answer)
    analysis.update(rows)
    wrong = np.flatnonzero(~found.answer.check(rows)).tolist()
    counted = dataclasses.replace(
        found.rows,
        places=tuple(("a.hex", i + 1, i + 1) for i in wrong),
        values=tuple("".join(map(str, rows[i])) for i in wrong),
    )
    return dataclasses.replace(found, rows=counted), analysis


def test_layers_are_said_as_on_the_console():
    found, analysis = framed()
    page = html_report(found, FrameView(analysis))
    assert '<ul class="pattern" data-copy><li><span>10100101</span> <span>????????</span>' in page
    for label, text, remark in layer_lines(analysis):
        if label != "pattern":
            assert f">{text}" in page
            assert not remark or f'<span class="remark">{remark}</span>' in page
    assert f'<ul class="digest" data-copy><li>{analysis.digests[0].name}</li>' in page
    assert "The check bits as a C function of a frame" in page
    assert "static int frame_check" in page
    plain = Constraints([[1, 1, 1, 0]], [0])
    assert '<dl class="layers">' not in html_report(
        Finding.of(plain), FrameView(DigestAnalysis(plain))
    )
    assert "<li>x2 = x0 ⊕ x1</li>" in html_report(
        Finding.of(plain), FrameView(DigestAnalysis(plain, solve=[2]))
    )
    bare = html_report(found, FrameView(DigestAnalysis(found.answer)))  # it saw no rows
    assert "not looked for: the rows were not read again" in bare
    assert "10100101" in bare


@given(st.lists(st.integers(0, 1), min_size=6, max_size=6))
def test_a_row_breaks_something_exactly_if_it_does_not_fit(bits):
    view = FrameView(DigestAnalysis(CHECKS, solve=[5]))
    found = with_rows(CHECKS, "".join(map(str, bits)))
    [by_layer], [by_equation] = misfits_of(found, view), misfits_of(found)
    fits = bool(CHECKS.check([bits])[0])
    assert fits == (not by_layer.breaks) == (not by_equation.breaks)
    for i in by_layer.marks:
        assert any(f"x{i}" in said for said in by_layer.breaks)


def test_constants_pairs_and_check_bits_are_marked_and_named():
    view = FrameView(DigestAnalysis(CHECKS, solve=[5]))
    [misfit] = misfits_of(with_rows(CHECKS, "010001"), view)
    assert misfit.marks == {0, 2}
    assert misfit.breaks == ("x0 = 1", "x1 ⊕ x2 = 0")
    assert misfit.written == "{6}44"
    [misfit] = misfits_of(with_rows(CHECKS, "100001"), view)
    assert misfit.marks == {5}
    assert misfit.breaks == ("check bit x5",)
    page = misfit_section(with_rows(CHECKS, "100001"), view)
    assert "<span>10000<mark>1</mark></span>" in page
    assert "<code>{6}84</code>" in page
    assert "&lt;i&gt;1.hex, line 2" in page
    assert "breaks check bit x5" in page
    assert "3 rows of another length skipped" in page
