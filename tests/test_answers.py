"""Answers against brute force: what fits, which one is chosen, and how it is written down."""

import hashlib
import itertools
import json
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from flagstone.algebra import AffineSubspace, Subspace, pack
from flagstone.algebra.fields import GF, QQ, as_field
from flagstone.answers import Constraints, LinearSystem, ParityRule
from flagstone.coins import Coins
from flagstone.errors import BottomError, FormatError, InputError
from tests.strategies import ORDERS, elements, table

SMALL = (2, 3, 4)
WRITTEN = (*ORDERS, 9, 27)


class Scripted:
    """Coins that answer with a given vector, to walk through all of them."""

    def __init__(self, vector):
        self.given = vector

    def vector(self, name, field, length):
        assert len(self.given) == length
        return np.array(self.given, dtype=as_field(field).dtype)


def fits(field, w, rows):
    """Say whether ⟨w, a⟩ = b for all rows (a, b), in the field's scalar arithmetic alone."""
    F = as_field(field)
    for *a, b in rows:
        total = F.array(F.empty(1, 1))[0, 0]
        for wi, ai in zip(w, a, strict=True):
            total = F.add(total, F.mul(wi, ai))
        if total != b:
            return False
    return True


@st.composite
def systems(draw, orders=SMALL, max_dim=3, max_rows=4):
    order = draw(st.sampled_from(orders))
    n = draw(st.integers(1, max_dim))
    rows = draw(st.lists(st.tuples(*[elements(order)] * (n + 1)), max_size=max_rows))
    return order, n, rows


@st.composite
def vectors_over(draw, orders=WRITTEN, dim=4):
    order = draw(st.sampled_from(orders))
    coef = draw(st.tuples(*[elements(order)] * dim))
    rows = draw(st.lists(st.tuples(*[elements(order)] * dim), min_size=1, max_size=5))
    return order, coef, draw(elements(order)), rows


@given(systems())
def test_uniform_choice_meets_every_fitting_rule_equally_often(system):
    order, n, rows = system
    U = Subspace.span(table(order, n + 1, rows), order, n + 1)
    fitting = [w for w in itertools.product(range(order), repeat=n) if fits(order, w, rows)]
    met = Counter()
    for r in itertools.product(range(order), repeat=n):
        rule = ParityRule.from_subspace(U, coins=Scripted(r))
        met[None if rule.is_bottom else tuple(rule.coef.tolist())] += 1
    expected = fitting or [None]
    assert met == {w: order**n // len(expected) for w in expected}


@given(systems())
def test_lexmin_is_the_smallest_fitting_rule(system):
    order, n, rows = system
    U = Subspace.span(table(order, n + 1, rows), order, n + 1)
    fitting = [w for w in itertools.product(range(order), repeat=n) if fits(order, w, rows)]
    rule = ParityRule.from_subspace(U, choice="lexmin")
    assert rule.is_bottom == (not fitting)
    if fitting:
        assert tuple(rule.coef.tolist()) == min(fitting)


@given(systems(max_dim=2))
def test_intercept_is_the_coordinate_of_the_column_of_ones(system):
    order, n, rows = system
    lifted = [(*a, 1, b) for *a, b in rows]
    U = Subspace.span(table(order, n + 2, lifted), order, n + 2)
    fitting = [w for w in itertools.product(range(order), repeat=n + 1) if fits(order, w, lifted)]
    rule = ParityRule.from_subspace(U, choice="lexmin", fit_intercept=True)
    assert rule.is_bottom == (not fitting)
    if fitting:
        assert (*rule.coef.tolist(), rule.intercept) == min(fitting)
        if rows:
            X, y = table(order, n + 1, rows)[:, :n], table(order, n + 1, rows)[:, n]
            assert rule.check(X, y).all()


@given(systems(orders=("QQ", 251, 8), max_dim=4))
def test_a_rule_is_right_on_everything_it_was_read_off(system):
    order, n, rows = system
    U = Subspace.span(table(order, n + 1, rows), order, n + 1)
    choice = "lexmin" if order == "QQ" else "uniform"
    rule = ParityRule.from_subspace(U, coins=Coins(1), choice=choice)
    if not rule.is_bottom:
        X = table(order, n + 1, rows)
        assert rule.check(X[:, :n], X[:, n]).all()
    else:
        assert U.contains([[0] * n + [1]]).all()


def test_equal_spans_and_seeds_give_equal_rules_and_names_play_no_part():
    U = Subspace.span([[1, 1, 0, 0, 1], [0, 0, 1, 1, 0]])
    same = Subspace.span([[1, 1, 1, 1, 1], [0, 0, 1, 1, 0]])
    a = ParityRule.from_subspace(U, coins=Coins(7))
    b = ParityRule.from_subspace(same, coins=Coins("7"), names=["p", "q", "r", "s"])
    assert a == b
    assert hash(a) == hash(b)
    assert a.fingerprint() == b.fingerprint()
    assert len({ParityRule.from_subspace(U, coins=Coins(s)) for s in range(64)}) == 4
    assert a != ParityRule.bottom(4)
    assert a != ParityRule(a.coef, a.intercept, 3)


@pytest.mark.parametrize("order", ORDERS)
def test_the_smallest_contradiction_is_bottom(order):
    U = Subspace.span([[0, 0, 1]], order)
    assert ParityRule.from_subspace(U, choice="lexmin").is_bottom
    assert not ParityRule.from_subspace(Subspace.zero(3, order), choice="lexmin").is_bottom


def test_the_rationals_have_no_uniform_choice():
    U = Subspace.span([[2, 1, 3]], "QQ")
    with pytest.raises(InputError, match="choice='uniform' needs a finite field"):
        ParityRule.from_subspace(U, coins=Coins(1))
    rule = ParityRule.from_subspace(U, choice="lexmin")
    assert rule.coef.tolist() == [0, 3]
    assert rule.text == "y = 3·x1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"choice": "best"}, "choice must be 'uniform', 'lexmin' or 'sparsest'"),
        ({"choice": "uniform"}, "needs coins"),
        ({"choice": "lexmin", "names": ["a"]}, "2 are needed, got 1"),
    ],
)
def test_bad_arguments_are_explained(arguments, message):
    with pytest.raises(InputError, match=message):
        ParityRule.from_subspace(Subspace.span([[1, 0, 1]]), **arguments)


def test_too_narrow_a_subspace_is_explained():
    with pytest.raises(InputError, match="need at least 3 columns, got 2"):
        ParityRule.from_subspace(Subspace.full(2), choice="lexmin", fit_intercept=True)


@given(vectors_over())
def test_the_expression_of_a_rule_evaluates_to_its_prediction(case):
    order, coef, intercept, rows = case
    rule = ParityRule(table(order, 4, [coef])[0], intercept, order)
    X = table(order, 4, rows)
    values = [eval(rule.expression, {"x": list(row), "Fraction": Fraction}) for row in rows]
    assert values == rule.predict(X).tolist()


@given(vectors_over())
def test_rules_survive_json(case):
    order, coef, intercept, _ = case
    rule = ParityRule(table(order, 4, [coef])[0], intercept, order, ("a", "b", "c", "d"), "z")
    back = ParityRule.from_dict(json.loads(json.dumps(rule.to_dict())))
    assert back == rule
    assert (back.text, back.names, back.target) == (rule.text, rule.names, "z")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (ParityRule([0, 1, 0, 1], 1), "y = x1 ⊕ x3 ⊕ 1"),
        (ParityRule([0, 0]), "y = 0"),
        (ParityRule([0, 0], 1), "y = 1"),
        (ParityRule.bottom(2), "⊥"),
        (ParityRule([3, 0, 1], 2, 11), "y = 3·x0 + x2 + 2 (mod 11)"),
        (ParityRule([3, 1], 0, "2^8"), "y = 3·x0 + x1 (in GF(2^8))"),
        (ParityRule([-1, Fraction(-1, 2)], -3, "QQ"), "y = -x0 - 1/2·x1 - 3"),
        (ParityRule([1, 1], 0, 2, ("left", "right"), "fault"), "fault = left ⊕ right"),
    ],
)
def test_text(rule, text):
    assert str(rule) == rule.text == text


def test_fingerprint_is_the_documented_text():
    text = "flagstone finding v2\nquestion parity\nfield GF(11)\ncolumns 3\nrows 1\n3 0 10 2\n"
    rule = ParityRule([3, 0, 10], 2, 11)
    assert rule.fingerprint() == hashlib.sha256(text.encode()).hexdigest()
    text = "flagstone finding v2\nquestion parity\nfield GF(2)\ncolumns 3\nbottom\n"
    assert ParityRule.bottom(3).fingerprint() == hashlib.sha256(text.encode()).hexdigest()
    text = "flagstone finding v2\nquestion constraints\nfield GF(2)\ncolumns 2\nrows 1\n1 1 1\n"
    checks = Constraints([[1, 1]], [1])
    assert checks.fingerprint() == hashlib.sha256(text.encode()).hexdigest()
    text = text.replace("constraints", "subspace").replace(
        "rows", 'labels ["n\\u00e9","yes"]\nrows'
    )
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert checks.fingerprint("subspace", labels=["né", "yes"]) == expected


def test_masks_are_for_gf2():
    assert ParityRule([0, 0, 0, 1, 0, 0, 0, 1]).masks == ("0x88",)
    assert int(ParityRule([0] * 100 + [1]).masks[0], 16) == 1 << 100
    with pytest.raises(InputError, match=r"GF\(2\) only"):
        _ = ParityRule([1], 0, 3).masks
    assert ParityRule([1, 1], 1).mask_lines == ("0x3 ^ 1",)
    assert Constraints([[1, 1]], [1]).mask_lines == ("0x3 = 1",)
    with pytest.raises(InputError, match="⊥ has no masks"):
        _ = ParityRule.bottom(2).masks


def test_bottom_predicts_nothing_and_says_why():
    rule = ParityRule.bottom(3)
    assert rule.expression == "None"
    assert rule.support == ()
    assert ParityRule.from_dict(rule.to_dict()) == rule
    with pytest.raises(BottomError, match=r"⊥.*no linear rule fits"):
        rule.predict([[0, 0, 0]])


def test_rules_are_frozen_values():
    rule = ParityRule([1, 0])
    with pytest.raises(AttributeError):
        rule.intercept = 1
    with pytest.raises(ValueError, match="read-only"):
        rule.coef[0] = 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"field": "GF(6)"}, "field"),
        ({"dim": 0}, "dim"),
        ({"coef": [1, 2]}, "not in GF"),
        ({"coef": [1]}, "1 entries, but 2"),
        ({"coef": "11"}, "list of elements"),
        ({"coef": [[1], [0]]}, "list of elements"),
        ({"intercept": 7}, "intercept"),
        ({"names": ["a"]}, "2 texts"),
        ({"target": 3}, "target"),
    ],
)
def test_a_saved_rule_that_does_not_fit_is_refused(change, message):
    data = ParityRule([1, 0]).to_dict() | change
    with pytest.raises(FormatError, match=message):
        ParityRule.from_dict(data)


def test_wrong_width_and_labels_are_refused():
    rule = ParityRule([1, 0])
    with pytest.raises(InputError, match=r"3 column\(s\), but 2"):
        rule.predict([[1, 0, 1]])
    with pytest.raises(InputError, match="y: row 1, column 0 is 2"):
        rule.check([[1, 0], [1, 1]], [0, 2])
    with pytest.raises(InputError, match=r"X has 2 row\(s\) but y has 1"):
        rule.check([[1, 0], [1, 1]], [0])


@given(vectors_over(), vectors_over())
def test_constraints_hold_exactly_on_the_subspace(case, probe):
    order, _, _, rows = case
    V = Subspace.span(table(order, 4, rows), order)
    checks = Constraints.from_subspace(V)
    assert len(checks) == 4 - V.dim
    X = table(order, 4, rows + (probe[3] if probe[0] == order else []))
    assert checks.check(X).tolist() == V.contains(X).tolist()
    values = [eval(checks.expression, {"x": list(row), "Fraction": Fraction}) for row in X]
    assert values == V.contains(X).tolist()
    assert Constraints.from_dict(json.loads(json.dumps(checks.to_dict()))) == checks


@given(vectors_over(orders=(2, 3, 4, 251, "QQ")))
def test_affine_constraints_hold_exactly_on_the_affine_subspace(case):
    order, point, _, rows = case
    A = AffineSubspace.from_point(
        table(order, 4, [point])[0], Subspace.span(table(order, 4, rows), order)
    )
    checks = Constraints.from_subspace(A)
    X = np.concatenate([A.points(), A.field.array(A.field.rows(table(order, 4, rows)))])
    assert checks.check(X).tolist() == A.contains(X).tolist()
    assert ((checks.syndrome(X) == 0).all(axis=1) == A.contains(X)).all()


def test_an_empty_affine_subspace_asks_for_0_equal_1():
    checks = Constraints.from_subspace(AffineSubspace.empty(3))
    assert checks.lines == ("0 = 1",)
    assert checks.is_bottom
    assert not checks.check(np.eye(3, dtype=np.uint8)).any()
    assert eval(checks.expression, {"x": [0, 0, 0]}) is False


def test_the_full_space_obeys_everything():
    checks = Constraints.from_subspace(Subspace.full(3))
    assert checks.lines == ()
    assert checks.syndrome(np.eye(3, dtype=np.uint8)).shape == (3, 0)
    assert checks.check(np.eye(3, dtype=np.uint8)).all()
    assert Constraints.from_dict(checks.to_dict()) == checks


def test_constraints_are_canonical_and_written_with_names():
    a = Constraints([[1, 1, 0], [0, 1, 1]], [1, 0], names=["a", "b", "c"])
    b = Constraints([[1, 0, 1], [1, 1, 0], [0, 1, 1]], [1, 1, 0])
    assert a == b
    assert a.text == "a ⊕ c = 1\nb ⊕ c = 0"
    assert a.masks == ("0x5", "0x6")
    assert Constraints([[3, 0, 1]], [0], 11).text == "x0 + 4·x2 = 0 (mod 11)"
    with pytest.raises(InputError, match="one right-hand side per row"):
        Constraints([[1, 1]], [1, 0])


@given(systems())
def test_the_solutions_of_a_system(system):
    order, n, rows = system
    V = Subspace.span(table(order, n + 1, rows), order, n + 1)
    kept = LinearSystem.from_subspace(V)
    everything = list(itertools.product(range(order), repeat=n))
    good = [w for w in everything if fits(order, w, rows)]
    assert kept.is_feasible == bool(good)
    assert [w for w in everything if kept.solutions.contains([w]).all()] == good
    assert kept.check(np.array(everything)).tolist() == [w in good for w in everything]
    if good:
        assert tuple(kept.solve().tolist()) == min(good)
        assert kept.contradiction is None
        assert tuple(kept.solve(choice="uniform", coins=Coins(3)).tolist()) in good
    else:
        assert kept.contradiction.verify(kept.matrix, kept.rhs)
        A, b = table(order, n + 1, rows)[:, :n], table(order, n + 1, rows)[:, n]
        contradiction = kept.derive_contradiction(A, b)
        assert contradiction.verify(A, b)
        assert len(contradiction.rows) <= n + 1
        with pytest.raises(BottomError, match="0 = 1"):
            kept.solve()


def test_a_contradiction_is_verified_on_tables_of_every_kind():
    A, b = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), [1, 0, 0]
    contradiction = LinearSystem(A, b).derive_contradiction(A, b)
    for rows in (A.tolist(), pack(A), sparse.csr_array(A), sparse.coo_array(A)):
        assert contradiction.verify(rows, b)
        assert not contradiction.verify(rows, [1, 0, 1])


def test_the_contradiction_over_the_rationals_and_in_words():
    A, b = [[1, 1], [2, 2], [0, 1]], [1, 3, 5]
    system = LinearSystem(A, b, "QQ")
    contradiction = system.derive_contradiction(A, b)
    assert contradiction.verify(A, b)
    assert not contradiction.verify(A, [1, 2, 5])
    assert not contradiction.verify([[1, 1], [2, 3], [0, 1]], b)
    assert not contradiction.verify([[1, 1], [3, 2], [0, 1]], b)
    assert not contradiction.verify(A, [1, 4, 5])
    with pytest.raises(InputError, match="uses equation 1, but there are 1; give all"):
        contradiction.verify(A[:1], b)
    assert str(contradiction) == "-2·(equation 0) + equation 1 gives 0 = 1"


def test_no_contradiction_where_there_is_none():
    with pytest.raises(InputError, match="feasible"):
        LinearSystem([[1, 0]], [1]).derive_contradiction([[1, 0]], [1])
    broken = LinearSystem([[1, 0], [1, 0]], [0, 1])
    with pytest.raises(InputError, match="do not span"):
        broken.derive_contradiction([[1, 0]], [1])
    with pytest.raises(InputError, match="at least two columns"):
        LinearSystem.from_subspace(Subspace.full(1))


def test_systems_know_their_kind():
    system = LinearSystem([[1, 0]], [1])
    assert LinearSystem.from_dict(system.to_dict()) == system
    assert system != Constraints([[1, 0]], [1])
    assert system.fingerprint() != Constraints([[1, 0]], [1]).fingerprint()
    with pytest.raises(FormatError, match="one right-hand side per row"):
        LinearSystem.from_dict(system.to_dict() | {"rhs": []})
    assert repr(system) == "LinearSystem(1 equation in 2 unknowns: x0 = 1)"
    assert LinearSystem([[1, 0]], [Fraction(1, 2)], QQ).text == "x0 = 1/2"
    assert LinearSystem([[2, 1]], [3], GF(5)).text == "x0 + 3·x1 = 4 (mod 5)"


def test_long_rationals_are_printed_fingerprinted_and_saved():
    """Exact means exact: past the length up to which Python writes integers out, too."""
    draw = random.Random(1)
    X = np.array(
        [[Fraction(draw.randrange(1, 10**400), draw.randrange(1, 10**400)) for _ in range(6)]
         for _ in range(4)], dtype=object,
    )  # fmt: skip
    checks = Constraints.from_subspace(Subspace.span(X, QQ))
    assert max(len(line) for line in checks.lines) > 4300
    assert Constraints.from_dict(json.loads(json.dumps(checks.to_dict()))) == checks
    assert len(checks.fingerprint()) == 64
    assert eval(checks.expression, {"x": X[0].tolist(), "Fraction": Fraction})


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, "2^2", 7, "QQ"]))
def test_constraints_are_shown_in_a_basis_with_few_terms(seed, field):
    rng = np.random.RandomState(seed)
    F = as_field(field)
    values = rng.randint(0, F.order or 5, size=(rng.randint(1, 6), 8)) * (rng.rand(8) < 0.7)
    found = Constraints.from_subspace(Subspace.span(values, field))
    assert Subspace.span(found.shown, field, 9) == found.span
    few, canonical = (np.count_nonzero(r[:, :-1] != 0) for r in (found.shown, found.augmented))
    assert few <= canonical
    again = Constraints(found.shown[:, :-1], found.shown[:, -1], field)
    assert again == found
    assert again.lines == found.lines
    assert again.canonical_lines == found.canonical_lines
    assert len(found.lines) == len(found) == found.syndrome(values).shape[1]
    assert found.check(values).all()


def test_the_syndrome_belongs_to_the_equations_that_are_shown():
    found = Constraints([[1, 0, 1, 1, 0], [0, 1, 1, 1, 1]], [0, 1])
    assert found.lines == ("x0 ⊕ x1 ⊕ x4 = 1", "x0 ⊕ x2 ⊕ x3 = 0")
    assert found.canonical_lines == ("x0 ⊕ x2 ⊕ x3 = 0", "x1 ⊕ x2 ⊕ x3 ⊕ x4 = 1")
    assert found.syndrome([[1, 0, 1, 0, 1]]).tolist() == [[1, 0]]
    assert found.mask_lines == ("0x13 = 1", "0xd = 0")
    assert eval(found.expression, {"x": [1, 0, 1, 0, 0]})
