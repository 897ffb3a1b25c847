"""The levels of a page against the flag: spaces, answers, rows, and where the page ends."""

import re
from dataclasses import replace

import numpy as np
import pytest

from flagstone import GF, QQ, Coins, Finding, Flag, IndexRule, ask
from flagstone.algebra import AffineSubspace, Subspace
from flagstone.answers import Constraints
from flagstone.encoding import Encoding
from flagstone.errors import ReplicabilityWarning
from flagstone.pipeline import certify
from flagstone.plots import ScreeDisplay
from flagstone.plots.svg import ScreeDrawing
from flagstone.question import (
    ConstraintsQuestion,
    EquationsQuestion,
    ParityQuestion,
    SpanQuestion,
    SubspaceQuestion,
)
from flagstone.report import html_report, levels
from flagstone.report.levels import level_list, level_views


def frames(d: int = 10) -> np.ndarray:
    random = np.random.RandomState(2)
    X = (random.random_sample((700, d)) < np.linspace(0.5, 0.05, d)).astype(np.uint8)
    X[:, 1] = 1
    X[:, -1] = X[:, 0] ^ X[:, 2] ^ 1
    X[:9, -1] ^= 1
    X[:4, 1] ^= 1
    return X


def found(question=None, X=None, field=2, **rule) -> Finding:
    question = question or ConstraintsQuestion()
    F, X = GF(field) if field != 0 else QQ, frames() if X is None else X
    y = X[:, 0] ^ X[:, 2] if question.labelled else None
    lifted = question.lift(F, F.rows(X), None if y is None else F.elements(y))
    rule = IndexRule(**({"t_min": 12, "t_max": 30} | rule))
    return ask(Flag(question.dim(X.shape[1]), F).update(lifted), question, rule, Coins(4))


def equation(line, dim):
    """Return the row (a | b) of a printed equation."""
    left, value = line.split(" = ")
    row = [0] * dim + [int(value)]
    for name in left.split(" ⊕ "):
        row[int(name[1:])] ^= 1
    return row


def test_each_level_has_the_equations_pattern_and_rows_of_its_space():
    X, asked = frames(), found()
    certified = certify(asked, X)
    views = level_views(certified)
    assert len(views) == len(asked.stairs.levels) > 3
    lifted = ConstraintsQuestion().lift(GF(2), GF(2).rows(X))
    for view, level in zip(views, asked.flag.levels(), strict=True):
        answer = Constraints.from_subspace(
            AffineSubspace.from_homogeneous(asked.flag.span_at(level.first))
        )
        inside = X[asked.flag.span_at(level.first).contains(lifted)]  # these rows span the level
        constant = (inside == inside[0]).all(axis=0)
        bits = zip(inside[0], constant, strict=True)
        assert view.pattern == "".join(str(bit) if same else "?" for bit, same in bits)
        constants = [line for line in answer.canonical_lines if "⊕" not in line]
        assert list(view.lines)[: bool(constants)] == [", ".join(constants)] * bool(constants)
        others = [equation(line, X.shape[1]) for line in view.lines[bool(constants) :]]
        shown = Subspace.span(
            np.array(others, dtype=np.uint8).reshape(-1, X.shape[1] + 1), GF(2), X.shape[1] + 1
        )  # with the constants, all equations
        assert len(others) == shown.dim == len(answer) - len(constants)
        assert shown <= Subspace.span(answer.augmented, GF(2), X.shape[1] + 1)
        outside = int((~asked.flag.span_at(level.first).contains(lifted)).sum())
        assert view.outside == (outside, outside)
        assert view.is_chosen == (asked.flag.span_at(level.first) == asked.subspace)
    for bounded, counted in zip(level_views(asked), views, strict=True):
        assert bounded.outside[0] <= counted.outside[0] <= bounded.outside[1]
    assert [view.place for view in views] == ScreeDrawing(ScreeDisplay.of(asked)).steps()


def test_the_page_says_whether_rows_were_counted_or_bounded():
    asked = found()
    assert "were counted exactly, in the second reading" in html_report(certify(asked, frames()))
    page = html_report(asked)
    assert "are bounded by the flag" in page
    assert re.search(r"<b>\d+ – \d+</b> rows break it", page)


@pytest.mark.parametrize(
    ("question", "field"),
    [
        (SpanQuestion(), 3),
        (ParityQuestion(intercept=True), 2),
        (EquationsQuestion(), 2),
        (SubspaceQuestion(affine=True), 2),
        (SpanQuestion(), 0),
    ],
)
def test_every_question_has_levels(question, field):
    asked = found(question, field=field)
    views = level_views(asked)
    [chosen] = [view for view in views if view.is_chosen]
    lines = [line for joined in chosen.lines for line in joined.split(", ")]
    assert sorted(lines) == sorted(asked.answer.lines)
    body, remark = level_list(asked)
    assert body.count('<li class="level') == len(views)
    assert body.count(" chosen") == 1
    assert "bounded" in remark


def test_what_the_page_has_no_room_for_is_said(monkeypatch):
    asked = found()
    monkeypatch.setattr(levels, "_CHARACTERS", 20)
    body, remark = level_list(asked)
    told = [view for view in level_views(asked) if view.lines is not None]
    assert any(view.is_chosen for view in told)
    assert f"holds the equations of the {len(told)} levels next to the answer’s" in remark
    assert "at most 20 characters, and" in remark
    assert "No room for its equations in this page" in body
    monkeypatch.setattr(levels, "_LEVELS", 3)
    body, remark = level_list(asked)
    assert body.count('<li class="level') == 3
    assert f"Of {len(asked.stairs.levels)} levels the 3 next to the answer’s are listed" in remark
    monkeypatch.undo()
    monkeypatch.setattr(levels, "_EQUATIONS", 1)
    assert "… and 1 more" in level_list(asked)[0]


def test_time_is_bounded_too(monkeypatch):
    monkeypatch.setattr(levels, "_ENTRIES", 2 * 11**2)
    assert sum(view.lines is not None for view in level_views(found())) == 2


def test_without_a_flag_or_a_choice_there_is_no_slider():
    assert level_list(Finding.of(Constraints([[1, 1]], [0]))) == ("", "")
    one = ask(Flag(3).update([[1, 0, 0]] * 9), SpanQuestion(), IndexRule(t_max=3), Coins(1))
    assert level_list(one) == ("", "")
    with pytest.warns(ReplicabilityWarning):
        lost = found(t_min=690, t_max=699)
    assert not any(view.is_chosen for view in level_views(lost))
    assert " chosen" not in level_list(lost)[0]


def test_names_from_data_stay_text():
    asked = found()
    names = ("<b>", "</script>", '"', *(f"x{i}" for i in range(3, 10)))
    body, _ = level_list(replace(asked, encoding=Encoding.plain(GF(2), names)))
    assert "&lt;b&gt; ⊕" in body
    assert "<b> ⊕" not in body
