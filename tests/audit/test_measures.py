"""Comparisons: what each notion looks at, and similarities that are those of the textbook."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from flagstone import Subspace
from flagstone.audit._learners import TaskError, Trial
from flagstone.audit._measures import COMPARISONS, SIMILARITIES, PairComparison, similarity
from flagstone.cli.verbs import COMPARED
from flagstone.errors import InputError


def run(output=None, predicted=None, **attributes):
    made = SimpleNamespace(**attributes) if output is None else output
    return Trial(made, None if predicted is None else np.array(predicted))


def same(a, b, compare="auto", kind="other", tolerance=0.0):
    comparison = PairComparison(compare, tolerance=tolerance)
    comparison.fit(kind)
    found = comparison.pair(a, b)
    return found.outcome == "agree"


def agreeing(a, b, kind="other"):
    """Say of each row whether two outputs agree on it."""
    comparison = PairComparison("auto", n_fixed=len(a.predicted))
    comparison.fit(kind)
    found = comparison.pair(a, b)
    packed = np.frombuffer(bytes.fromhex(found.inputs), dtype=np.uint8)
    return np.unpackbits(packed, count=len(a.predicted)).astype(bool)


def test_the_command_line_offers_every_comparison():
    assert COMPARED == COMPARISONS
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    (row,) = re.findall(r"\| `--compare NAME` \|.*", page.read_text(encoding="utf-8"))
    assert [name for name in SIMILARITIES if not re.search(rf"\b{name}\b", row)] == []


def test_fingerprints_are_compared_whatever_else_differs():
    a = run(fingerprint_="x", coef_=[1], predicted=[0])
    for kind in ("auto", "fingerprint"):
        assert same(a, run(fingerprint_="x", coef_=[2], predicted=[1]), kind)
        assert not same(a, run(fingerprint_="y", coef_=[1], predicted=[0]), kind)


def test_coefficients_are_compared_with_the_intercept_where_there_is_one():
    a = run(coef_=np.array([1, 0]), intercept_=np.array([3]))
    for kind in ("auto", "coef"):
        assert same(a, run(coef_=np.array([1, 0]), intercept_=np.array([3])), kind)
        assert not same(a, run(coef_=np.array([1, 0]), intercept_=np.array([4])), kind)
        assert not same(a, run(coef_=np.array([1, 1]), intercept_=np.array([3])), kind)
        assert same(run(coef_=[1]), run(coef_=[1], intercept_=0), kind)
        assert not same(run(coef_=[1]), run(coef_=[1], intercept_=1), kind)
    assert same(run(coef_=[1], fingerprint_="x"), run(coef_=[1], fingerprint_="y"), "coef")


def test_predictions_are_compared_on_every_row():
    assert same(run(predicted=[0, 1]), run(predicted=[0, 1]))
    assert not same(run(predicted=[0, 1]), run(predicted=[0, 2]))
    assert same(run(coef_=[1], predicted=[0, 1]), run(coef_=[2], predicted=[0, 1]), "predictions")
    assert same(run(predicted=[0.0, 1.0]), run(predicted=[0.1, 0.9]), tolerance=0.11)
    assert not same(run(predicted=[0.0, 1.0]), run(predicted=[0.1, 0.8]), tolerance=0.11)
    with pytest.raises(TaskError, match="predicts nothing"):
        same(run(), run(), "predictions")


def test_answers_that_predict_nothing_agree_with_each_other_only():
    silent, other = run(predicted=[None, None]), run(predicted=[0, 1])
    assert agreeing(silent, silent).tolist() == [True, True]
    assert agreeing(silent, other).tolist() == [False, False]


def test_predictions_of_other_shapes_agree_nowhere():
    one, two = run(predicted=[0, 1]), run(predicted=[[0, 0], [1, 1]])
    assert agreeing(one, two).tolist() == [False, False]
    assert not same(one, two)


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        (np.array([1, 2]), np.array([1, 2]), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        ({1, 2}, {2, 1}, True),
        ("a", "b", False),
        ((1, np.array([1.5])), (1, np.array([1.5])), True),
        ([1, np.array([1.5])], [1, np.array([2.5])], False),
        ({"a": np.zeros(2)}, {"a": np.zeros(2)}, True),
        ({"a": np.zeros(2)}, {"b": np.zeros(2)}, False),
        ([1], [1, 2], False),
    ],
)
def test_plain_outputs_are_compared_as_a_whole(a, b, alike):
    assert same(Trial(a, None), Trial(b, None)) is alike


def test_outputs_without_equality_are_refused():
    class Opaque:
        pass

    with pytest.raises(TaskError, match=r"Opaque predicts nothing .* compare=function"):
        same(Trial(Opaque(), None), Trial(Opaque(), None))


labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@given(pairs=labels, names=st.permutations(range(4)))
def test_names_of_clusters_do_not_matter(pairs, names):
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    a, b, renamed = Trial(0, first), Trial(0, second), Trial(0, np.array(names)[second])
    agree = agreeing(a, b, "clusterer")
    assert np.mean(agree) == np.mean(agreeing(a, renamed, "clusterer"))
    assert agree.all() == (len(set(pairs)) == len(set(first)) == len(set(second)))
    assert agree.all() == same(a, b, kind="clusterer")
    found = similarity("adjusted_rand", a, b, agree)
    assert found == pytest.approx(adjusted_rand_score(first, second))
    # by brute force over all ways to rename
    from itertools import permutations

    best = max(np.mean(np.array(p)[second] == first) for p in permutations(range(4)))
    assert np.mean(agree) == pytest.approx(best)


def test_similarities_by_hand():
    a = run(coef_=np.array([3.0, 0.0, 4.0]), predicted=[0, 1, 1, 0])
    b = run(coef_=np.array([0.0, 0.0, 5.0]), predicted=[0, 1, 0, 0])
    agree = agreeing(a, b)
    assert similarity("churn", a, b, agree) == 0.25
    assert similarity("jaccard", a, b, agree) == 0.5
    assert similarity("coef_distance", a, b, agree) == pytest.approx(np.sqrt(10) / 10)
    assert similarity("coef_distance", a, a, agree) == 0.0
    shorter = run(coef_=np.array([1.0]))
    assert similarity("coef_distance", a, shorter, agree) == 1.0
    assert similarity("jaccard", Trial({1, 2}, None), Trial({2, 3, 4}, None), None) == 0.25
    assert similarity("jaccard", Trial(set(), None), Trial(set(), None), None) == 1.0
    support = [run(get_support=lambda v=v: np.array(v)) for v in ([1, 0, 1], [1, 1, 1])]
    assert similarity("jaccard", *support, None) == pytest.approx(2 / 3)
    for name, words in (("churn", "predictions"), ("jaccard", "features"), ("coef_distance", "co")):
        with pytest.raises(TaskError, match=f"{name}' needs .*{words}"):
            similarity(name, run(), run(), None)


def test_shared_equations_by_hand():
    def span(*vectors):
        found = Subspace.span(vectors)
        return run(finding_=SimpleNamespace(subspace=found), fingerprint_=found.fingerprint())

    a = span([1, 1, 0, 0], [0, 0, 1, 0])  # x0 = x1, x3 = 0
    b = span([1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1])  # x0 = x1
    assert similarity("equations", a, b, None) == 0.5
    assert similarity("equations", a, a, None) == 1.0
    assert similarity("equations", a, span([1, 0, 0, 0], [0, 1, 1, 0]), None) == 1 / 3
    full = span(*np.eye(4, dtype=int))
    assert similarity("equations", full, full, None) == 1.0  # neither has any
    assert similarity("equations", a, full, None) == 0.0
    assert similarity("equations", a, span([1, 0, 1]), None) == 0.0
    with pytest.raises(TaskError, match="estimators"):
        similarity("equations", a, run(), None)
    comparison = PairComparison()
    comparison.fit("span", first=a)
    assert comparison.similarities == ("equations",)


def test_what_is_compared_by_default_fits_the_output():
    def named(output, kind="other", compare="auto"):
        comparison = PairComparison(compare)
        comparison.fit(kind, first=output)
        return comparison.similarities

    assert named(run(coef_=np.array([1.0, 2.0]))) == ("coef_distance",)
    assert named(run(coef_=np.array([1.0, 0.0]))) == ("jaccard", "coef_distance")
    assert named(run(predicted=[0]), kind="clusterer") == ("adjusted_rand",)
    assert named(run(fingerprint_="x", coef_=np.array([1, 0]))) == ()
    assert named(Trial({1}, None)) == ("jaccard",)
    assert named(Trial(np.array([1.5]), None)) == ("coef_distance",)
    assert named(run(predicted=[0])) == ()
    assert named(run(coef_=np.array([1.0])), compare="churn") == ("churn",)
    assert named(run(coef_=np.array([1.0])), compare="coef") == ()


def test_comparisons_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match=r"one of auto, fingerprint, .* got 'shape'"):
        PairComparison("shape")
    with pytest.raises(InputError, match=r"a function or one of .* got 3"):
        PairComparison(3)
    assert PairComparison(lambda a, b: True).anonymous
    assert PairComparison(lambda a, b: True).label == "your function"
    assert PairComparison(lambda a, b: True, name="mine").label == "mine"
    named = PairComparison(test_similarities_by_hand)
    assert not named.anonymous
    assert named.label == "test_similarities_by_hand"
    with pytest.raises(TaskError, match="SimpleNamespace has no fingerprint_"):
        same(run(), run(), "fingerprint")
