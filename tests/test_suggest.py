"""Windows that pilot rows suggest, for other rows."""

from dataclasses import replace

import numpy as np
import pytest

from flagstone import GF, QQ, Flag, LinearSpan, ParityClassifier, suggest_window
from flagstone.algebra.staircase import Staircase
from flagstone.errors import InputError
from flagstone.question import ConstraintsQuestion, ParityQuestion
from flagstone.rules import rule_named


def rows(m, damage=0.01, seed=1, d=8):
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(m, d))
    X[:, -1] = X[:, 0] ^ X[:, 5] ^ (random.random_sample(m) < damage)
    return X


@pytest.mark.parametrize("rule", ["index", "heavy"])
def test_the_window_is_the_middle_third_of_the_widest_plateau(rule):
    X = rows(1500)
    found = suggest_window(X, rule=rule, random_state=1)
    stairs = Staircase.of(Flag(8).update(X))
    ends = rule_named(rule).ends(stairs)
    assert found.plateau == stairs.widest(ends)
    first, last = found.plateau.first, found.plateau.last
    window = found.protocol.to_rule().window(8, 1500)
    third = (last - first + 1) / 3
    assert first - 1 + third == pytest.approx(window.t_min - 1, abs=1.5)
    assert first - 1 + 2 * third == pytest.approx(window.t_max, abs=1.5)
    assert found.protocol.rule == window.rule == rule


@pytest.mark.parametrize("m", [300, 1500, 6000])
def test_fractions_serve_any_number_of_fresh_rows(m):
    parameters = suggest_window(rows(1500), random_state=3).protocol.parameters
    answers = {
        LinearSpan(**parameters).fit(rows(m, seed=seed)).formula_ for seed in (11, 12, 13, 14)
    }
    assert answers == {"x0 ⊕ x5 ⊕ x7 = 0"}


def test_what_is_forecast_is_certified_on_fresh_rows():
    found = suggest_window(rows(1500), random_state=3)
    assert [m for m, _ in found.forecast] == [1500 << k for k in range(6)]
    shares = [1.0 if rho is None else rho for _, rho in found.forecast]
    assert shares == sorted(shares, reverse=True)
    assert found.rows_needed == 1500
    fresh = LinearSpan(**found.protocol.parameters).fit(rows(1500, seed=8)).guarantee_
    assert fresh.certified.rho < 0.1
    assert "to certify agreement ≥ 0.95: about 1,500 rows" in str(found)


@pytest.mark.parametrize("seed", range(4))
def test_the_forecast_asks_for_about_as_many_rows_as_it_takes(seed):
    """Pieces that were cut for few rows made it ask for eight times as many, or for any number."""
    found = suggest_window(rows(800, seed=seed, d=24), random_state=seed)
    certified = [
        LinearSpan(**found.protocol.parameters)
        .fit(rows(800 << k, seed=100 + seed, d=24))
        .guarantee_.certified.rho
        for k in range(5)
    ]
    needed = next(800 << k for k, rho in enumerate(certified) if rho is not None and rho <= 0.05)
    assert needed / 2 <= found.rows_needed <= 2 * needed


def test_it_says_where_no_forecast_reaches_the_goal():
    random = np.random.RandomState(1)
    X = (random.random_sample((300, 6)) < 0.5 ** np.arange(1, 7)).astype(int)
    found = suggest_window(X[:40], random_state=3)
    assert found.rows_needed is None or found.rows_needed > 40
    assert ("no forecast" in str(found)) == (found.rows_needed is None)


@pytest.mark.parametrize(
    "X",
    [np.zeros((50, 4), int), np.eye(20, dtype=int), np.ones((1, 4), int)],
    ids=["zero rows", "as many rows as directions", "one row"],
)
def test_rows_without_a_plateau_suggest_nothing(X):
    with pytest.raises(InputError, match="pilot rows show no plateau"):
        suggest_window(X)


@pytest.mark.parametrize("m", [2, 3, 7, 40, 1000])
def test_constant_rows_have_one_plateau_and_the_window_lies_in_it(m):
    found = suggest_window(np.ones((m, 4), int), random_state=1)
    assert found.plateau == (1, 1, m)
    assert found.protocol.to_rule().window(4, m).t_max <= m


def test_questions_fields_and_names():
    X = rows(600)
    found = suggest_window(X, question=ConstraintsQuestion(), names=list("abcdefgh"))
    assert found.protocol.encoding.names == tuple("abcdefgh")
    assert found.protocol.question == ConstraintsQuestion()
    assert len(found.protocol.seed) > 8  # drawn afresh
    found = suggest_window(X[:, :-1], X[:, -1], question=ParityQuestion(True), random_state=1)
    fitted = ParityClassifier(**found.protocol.parameters).fit(X[:, :-1], X[:, -1])
    assert fitted.formula_ == "y = x0 ⊕ x5"
    assert suggest_window(X[:, :-1], X[:, -1]).protocol.question == ParityQuestion(True)
    thin = np.random.RandomState(0).randint(0, 3, size=(60, 1)) @ np.array([[1, 2]])
    for field in (GF(7), QQ):
        assert suggest_window(thin, field=field, random_state=1).plateau.dim == 1


def test_labels_are_those_that_the_classifier_takes():
    X = rows(1500)
    words = np.where(X[:, -1] == 1, "fault", "fine")
    numbered = suggest_window(X[:, :-1], (words == "fine").astype(int), random_state=1)
    for y in (words, words.astype(object), np.where(words == "fine", 1, -1), words == "fine"):
        found = suggest_window(X[:, :-1], y, random_state=1)
        assert (found.plateau, found.forecast) == (numbered.plateau, numbered.forecast)
        fitted = ParityClassifier(**found.protocol.parameters).fit(X[:, :-1], y)
        assert fitted.coef_.tolist() == [1, 0, 0, 0, 0, 1, 0]
    named = suggest_window(X[:, :-1], words, random_state=1).protocol.encoding
    assert named.labels == ("fault", "fine")


@pytest.mark.parametrize("y", [[0.5, 1.5], [None, "a"], ["a", 1], ["a", "b", "c"]])
def test_labels_that_no_classifier_takes_are_refused(y):
    with pytest.raises(InputError):
        suggest_window(rows(12), np.resize(np.array(y, dtype=object), 12))


def test_frames_name_the_columns_of_the_protocol():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame, names = pd.DataFrame(rows(600), columns=list("abcdefgh")), tuple("abcdefgh")
    for table in (frame, pl.from_pandas(frame), pl.from_pandas(frame).to_arrow()):
        assert suggest_window(table).protocol.encoding.names == names
    found = suggest_window(frame[list("abcdefg")], frame["h"])
    assert found.protocol.encoding.label.column == "h"
    named = suggest_window(rows(600), names=frame.columns)  # an index has no truth value
    assert named.protocol.encoding.names == names
    numbered = suggest_window(pd.DataFrame(rows(600)))
    assert numbered.protocol.encoding.names[:2] == ("x0", "x1")
    assert repr(numbered) == f"Suggestion({numbered})"


def test_a_window_for_the_equations_certifies_that_fresh_answers_have_them():
    pilot = suggest_window(rows(600), random_state=7)
    assert [m for m, _ in pilot.equations] == [600 * k for k in (1, 2, 4, 8, 16, 32)]
    chosen = pilot.for_equations()
    m, first = next(point for point in pilot.equations if point[1] is not None)
    assert (chosen.protocol.max_rows, chosen.protocol.t_min) == (m, first)
    assert chosen.protocol.t_max >= first
    fresh = rows(m, seed=2)
    span = LinearSpan(**chosen.protocol.parameters).fit(fresh)
    promises = span.guarantee_
    assert promises.contains is not None
    assert promises.contains.failure <= 0.05
    assert promises.contains.equations == promises.contains.of
    fixed = suggest_window(rows(600), max_rows=2 * m, random_state=7).for_equations()
    assert fixed.protocol.max_rows == 2 * m
    with pytest.raises(InputError, match="too many rows break them"):
        replace(pilot, equations=((600, None),)).for_equations()


@pytest.mark.parametrize("y", [1, "x", [0, 1, 1], []])
def test_labels_are_one_per_row(y):
    with pytest.raises(InputError):
        suggest_window(rows(300), y)


def switches(damage, seed):
    random = np.random.RandomState(seed)
    X = random.randint(0, 2, size=(4000, 10))
    return X, X[:, 1] ^ X[:, 4] ^ X[:, 8] ^ (random.random_sample(4000) < damage)


@pytest.mark.parametrize("seed", [0, 12, 16])
def test_a_window_for_labels_is_where_a_rule_fits(seed):
    """Damaged labels make the whole space a plateau, often the widest: it has no rule."""
    found = suggest_window(*switches(0.04, seed), random_state=2026)
    assert (found.plateau.dim, found.is_bottom) == (11, False)
    learner = ParityClassifier(**found.protocol.parameters).fit(*switches(0.04, 100 + seed))
    assert learner.formula_ == "y = x1 ⊕ x4 ⊕ x8"


def test_where_no_rule_fits_the_pilot_it_is_said():
    found = suggest_window(*switches(0.5, 1), random_state=1)
    assert found.is_bottom
    assert str(found).endswith("but no rule fits there (⊥)")
    assert "no rule fits there" in found._repr_html_()
