"""Layers are a basis of the equations, whatever they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import InputError, Subspace
from flagstone.answers import Constraints
from flagstone.answers.relations import sparse_basis
from flagstone.frames.digests import Frame, Layers, Relation, analyze, propose


def systems(draw):
    """Equations with constants, pairs and sums among few columns, so that layers overlap."""
    d = draw(st.integers(2, 12))
    k = draw(st.integers(0, d - 1))
    A = draw(st.lists(st.lists(st.integers(0, 1), min_size=d, max_size=d), min_size=k, max_size=k))
    point = np.array(draw(st.lists(st.integers(0, 1), min_size=d, max_size=d)))
    A = np.array(A, dtype=np.int64).reshape(k, d)
    return Constraints(A, A @ point % 2)


def equations(layers):
    """The layers as rows (a | b)."""
    d = layers.frame.dim
    relations = [Relation((i,), int(c)) for i, c in enumerate(layers.pattern) if c != "?"] + [
        *layers.pairs,
        *layers.relations,
    ]
    if layers.solved is not None:
        relations += layers.solved.relations
    rows = np.zeros((len(relations), d + 1), dtype=np.uint8)
    for row, relation in zip(rows, relations, strict=True):
        row[list(relation.columns)] = 1
        row[-1] = relation.value
    return rows


@settings(deadline=None, max_examples=60)
@given(st.composite(systems)())
def test_layers_are_a_basis_of_the_equations(constraints):
    frame = Frame.of(constraints)
    for solve in (None, (), *propose(frame)[:3]):
        rows = equations(Layers.of(constraints, solve))
        assert len(rows) == len(constraints)
        assert Constraints(rows[:, :-1], rows[:, -1]) == constraints


@settings(deadline=None, max_examples=50)
@given(st.composite(systems)())
def test_proposals_are_neighbours_that_can_be_solved_for(constraints):
    frame = Frame.of(constraints)
    for columns in propose(frame):
        assert columns == tuple(range(columns[0], columns[-1] + 1))
        solved = Layers.solved_for(frame, columns).solved
        assert not solved.matrix[:, list(columns)].any()
        assert not solved.matrix[:, ~frame.varies].any()
        everyone = (
            np.array(
                constraints.subspace.direction.basis
                if constraints.rhs.any()
                else constraints.subspace.basis
            )
            ^ frame.point
        )
        assert not solved.broken(np.vstack([everyone, frame.point])).any()


def test_check_bytes_at_the_end_are_proposed_past_habits_of_the_payload():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(400, 40))
    X[:, 9] = X[:, 3] & 0  # a constant
    X[:, 12] = 1 ^ X[:, 11]  # a pair
    X[:, 21] = X[:, 20] ^ X[:, 22]  # a habit
    X[:, 32:] = X[:, :32] @ rng.integers(0, 2, size=(32, 8)) % 2
    layers = Layers.of(Constraints.from_subspace(Subspace.span(X)))
    assert layers.solved.columns == tuple(range(32, 40))
    assert layers.pattern == "?" * 9 + "0" + "?" * 30
    assert layers.pairs == ()  # opposite bits need a constant, which a span has not
    assert [r.columns for r in layers.relations] == [(20, 21, 22)]


def test_a_sparse_basis_finds_what_the_echelon_form_smears():
    rng = np.random.default_rng(5)
    sparse = np.zeros((8, 41), dtype=np.uint8)
    for i, row in enumerate(sparse):
        row[rng.choice(32, 4, replace=False)] = 1
        row[32 + i] = 1
    while True:
        mix = rng.integers(0, 2, size=(8, 8))
        if Subspace.span(mix).dim == 8:
            break
    echelon = Subspace.span(mix @ sparse % 2).basis
    weights = sparse_basis(echelon)[:, :-1].sum(axis=1).tolist()
    assert weights == [5] * 8


def test_rows_that_break_a_relation_or_a_check_bit():
    layers = Layers.of(Constraints([[1, 1, 0, 0], [0, 1, 1, 1]], [1, 0]), solve=[3])
    X = np.array([[0, 1, 1, 0], [1, 1, 1, 0], [0, 1, 1, 1]])
    assert layers.pairs[0].broken(X).tolist() == [False, True, False]
    assert layers.solved.broken(X).tolist() == [[False], [True], [True]]  # x3 = x0 ⊕ x2 ⊕ 1


@pytest.mark.parametrize(
    ("solve", "words"),
    [
        ([0], "constant"),
        ([1, 1], "twice"),
        ([3], "do not say what x3 is"),
        ([1, 2], "do not say what x1,x2 is"),
    ],
)
def test_what_cannot_be_solved_for_is_said(solve, words):
    with pytest.raises(InputError, match=words):
        Layers.of(Constraints([[1, 0, 0, 0], [0, 1, 1, 0]], [1, 0]), solve)


def test_frames_in_which_nothing_varies():
    frame = [1, 0] * 4 + [1]
    analysis = analyze(Constraints(np.eye(9), frame), np.array([frame] * 5))
    assert analysis.layers.pattern == "101010101"
    assert (analysis.digests, analysis.layers.solved, analysis.layers.relations) == ([], None, ())


def test_only_bits_that_equations_determine_have_layers():
    with pytest.raises(InputError, match="over"):
        Layers.of(Constraints([[1, 2]], [1], 7))
    with pytest.raises(InputError, match="contradict"):
        Layers.of(Constraints([[0, 0]], [1]))


def test_an_analysis_counts_the_rows_that_break_digest_and_relations():
    rng = np.random.default_rng(8)
    X = rng.integers(0, 2, size=(5000, 40), dtype=np.uint8)
    X[:, 9] = X[:, 8]
    X[:, 32:] = X[:, :32] @ rng.integers(0, 2, size=(32, 8)) % 2
    answer = Constraints.from_subspace(Subspace.span(X))
    X[::50] ^= (rng.random((100, 40)) < 0.1).astype(np.uint8)
    found = analyze(answer, X).to_dict()
    wrong = int((answer.syndrome(X) != 0).any(axis=1).sum())
    assert found["digest"][0]["rows_verified"] == 5000
    assert 0 < found["digest"][0]["rows_broken"] <= wrong
    pair = next(one for one in found["relations"] if one["kind"] == "pair")
    assert pair["rows_broken"] == int((X[:, 8] != X[:, 9]).sum()) > 0
    assert analyze(answer).to_dict()["relations"][0]["rows_broken"] is None
