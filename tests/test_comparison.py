"""Shared equations are those that follow from both answers, however these are written."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import GF, AffineSubspace, Finding, Subspace
from flagstone.algebra.fields import as_field
from flagstone.answers import Constraints, LinearSystem, ParityRule
from flagstone.comparison import beyond, common, compare, listed
from flagstone.encoding import ColumnEncoder, Encoding
from flagstone.errors import InputError
from flagstone.question import ConstraintsQuestion, EquationsQuestion, SpanQuestion
from tests import naive
from tests.bridge import plain
from tests.strategies import MAX_DIM, rows_of, table, vectors

#: The widest rows whose every equation can be tried.
DIMS = {2: 5, 7: 2, 4: 3, 9: 2, "QQ": 3}


@st.composite
def point_pairs(draw, order):
    """Draw two sets of points whose affine spans share some points."""
    dim = draw(st.integers(1, DIMS[order]))
    pool = draw(st.lists(vectors(order, dim), min_size=1, max_size=dim + 2))
    rows = rows_of(order, dim, max_rows=5, pool=pool).filter(len)
    return dim, draw(rows), draw(rows)


def finding_of(question, answer):
    return Finding(question, answer, Encoding.plain(answer.field, answer.names or names(answer)))


def names(answer):
    return [f"x{i}" for i in range(answer.dim)]


def equations(order, dim, points):
    """The finding of the equations that points obey."""
    ones = [(*point, 1) for point in points]
    V = Subspace.span(table(order, dim + 1, ones), order, dim + 1)
    answer = Constraints.from_subspace(AffineSubspace.from_homogeneous(V))
    return finding_of(ConstraintsQuestion(), answer)


def span_of(order, finding, extra=()):
    """Everything that follows from the equations of a finding, by the oracle."""
    space = naive.ambient(order, finding.answer.dim + 1)
    return space.span([*plain(order, finding.answer.augmented), *extra])


@pytest.mark.parametrize("order", [2, 7, 4, 9])
@given(data=st.data())
def test_shared_equations_are_those_that_all_points_obey(order, data):
    """Brute force: every equation there is, on every point of both sets."""
    dim, one, two = data.draw(point_pairs(order))
    a, b = equations(order, dim, one), equations(order, dim, two)
    both = common(a, b)
    space = naive.ambient(order, dim + 1)
    held = span_of(order, both)
    for left in product(range(order), repeat=dim):
        for right in range(order):
            equation = (*left, space.F.neg(right))
            obeyed = all(space.dot(equation, (*point, 1)) == 0 for point in (*one, *two))
            assert space.contains(held, (*left, right)) == obeyed
    assert_parts(order, a, b)
    assert both.fingerprint == equations(order, dim, [*one, *two]).fingerprint


@given(data=st.data())
def test_shared_equations_over_the_rationals(data):
    dim, one, two = data.draw(point_pairs("QQ"))
    a, b = equations("QQ", dim, one), equations("QQ", dim, two)
    assert common(a, b).answer == equations("QQ", dim, [*one, *two]).answer
    assert common(a, b).fingerprint == equations("QQ", dim, [*one, *two]).fingerprint
    assert_parts("QQ", a, b)


def assert_parts(order, a, b):
    """Shared equations and those beyond make up each answer, and none of them is too many."""
    both, found = common(a, b), compare(a, b).to_dict()
    assert found["shared"] == {
        "fingerprint": both.fingerprint,
        "lines": list(listed(both)),
        "implied": 0,
    }
    assert span_of(order, both) == naive.ambient(order, a.answer.dim + 1).span(
        [row_of(order, both, line) for line in listed(both)]
    )
    for finding, key in ((a, "only_in_first"), (b, "only_in_second")):
        lines = beyond(finding, both)
        assert found[key] == lines
        assert len(lines) == len(finding.answer) - len(both.answer)
        extra = [row_of(order, finding, line) for line in lines]
        assert span_of(order, both, extra) == span_of(order, finding)


def row_of(order, finding, line):
    """Read an equation that was written for people."""
    F, row = as_field(order), [0] * (finding.answer.dim + 1)
    left, right = line.split(" (")[0].split(" = ")
    row[-1] = F.format(F.one) if right == "1" else right
    sign = ""
    for word in left.replace("⊕", "+").split():
        if word in "+-":
            sign = word.strip("+")
            continue
        if word.startswith("-"):
            sign, word = "-", word[1:]
        factor, _, name = word.rpartition("·")
        row[int(name[1:])] = f"{sign}{factor or 1}"
    convert = naive.field(order).element
    return tuple(Fraction(str(v)) if order == "QQ" else convert(int(v)) for v in row)


@given(data=st.data())
def test_many_findings_share_what_any_two_orders_of_them_do(data):
    dim = data.draw(st.integers(1, MAX_DIM[2]))
    sets = data.draw(st.lists(rows_of(2, dim, max_rows=5).filter(len), min_size=3, max_size=4))
    found = [equations(2, dim, points) for points in sets]
    whole = common(*found)
    assert whole.fingerprint == common(*reversed(found)).fingerprint
    assert whole.answer == equations(2, dim, [p for points in sets for p in points]).answer


@pytest.mark.parametrize("order", [2, 7, "QQ"])
@given(data=st.data())
def test_systems_share_what_follows_from_both(order, data):
    """Kept equations, contradictions included: the meet of their spans."""
    dim = data.draw(st.integers(1, 3))
    rows = rows_of(order, dim + 1, max_rows=4).filter(len)
    systems = []
    for points in (data.draw(rows), data.draw(rows)):
        X = table(order, dim + 1, points)
        systems.append(LinearSystem(X[:, :-1], X[:, -1], order))
    a, b = (finding_of(EquationsQuestion(), system) for system in systems)
    space = naive.ambient(order, dim + 1)
    meet = space.meet(span_of(order, a), span_of(order, b))
    assert span_of(order, common(a, b)) == meet


def test_an_implied_equation_is_shared():
    a = Finding.of(Constraints([[1, 1, 0], [0, 1, 1]], [1, 0]))
    b = Finding.of(Constraints([[1, 0, 1]], [1]))
    found = compare(a, b).to_dict()
    assert not found["same"]
    lines = ["x0 ⊕ x2 = 1"]
    assert found["shared"] == {"fingerprint": b.fingerprint, "lines": lines, "implied": 0}
    assert found["only_in_second"] == []
    assert len(found["only_in_first"]) == 1


def test_a_constant_bit_is_said_by_itself():
    """What a capture has beyond the shared equations is said as shortly as it can be."""
    checks = np.random.RandomState(1).randint(0, 2, size=(8, 40))
    one = np.eye(40, dtype=int)[17:18]
    a = Finding.of(Constraints(checks, np.ones(8, dtype=int)))
    b = Finding.of(Constraints(np.vstack([checks, one]), [*[1] * 8, 1]))
    found = compare(a, b).to_dict()
    assert (found["only_in_first"], found["only_in_second"]) == ([], ["x17 = 1"])
    assert found["shared"]["fingerprint"] == a.fingerprint


def test_equations_that_the_encoding_implies_are_counted_not_listed():
    """One-hot columns sum to 1 in both tables, which is no news."""
    encoding = Encoding(GF(2), tuple(ColumnEncoder.parse(c, "onehot:a,b,c") for c in "xy"))
    ones = [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]
    some = Constraints([*ones, [1, 0, 0, 1, 0, 0]], [1, 1, 0], names=encoding.names)
    more = Constraints(
        [*ones, [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0]], [1, 1, 0, 0], names=encoding.names
    )
    a, b = (Finding(ConstraintsQuestion(), answer, encoding) for answer in (some, more))
    found = compare(a, b)
    assert listed(found.shared) == ("x = a exactly when y = a",)
    assert found.to_dict()["shared"]["implied"] == 2
    assert (found.only_in_first, len(found.only_in_second)) == ((), 1)
    assert "shared: x = a exactly when y = a" in str(found).splitlines()


def test_spans_and_equations_with_constants_share_equations():
    span = finding_of(SpanQuestion(), Constraints([[1, 1, 0], [0, 0, 1]], [0, 0]))
    affine = finding_of(ConstraintsQuestion(), Constraints([[1, 1, 0], [0, 0, 1]], [0, 1]))
    both = common(span, affine)
    assert (both.question, both.answer.lines) == (ConstraintsQuestion(), ("x0 ⊕ x1 = 0",))
    assert common(span, span) == span


def test_everything_follows_from_a_contradiction():
    nothing = Finding.of(Constraints([[0, 0]], [1]))
    some = Finding.of(Constraints([[1, 1]], [1]))
    assert common(nothing, some).answer == some.answer
    found = compare(nothing, some).to_dict()
    assert (found["only_in_first"], found["only_in_second"]) == (["0 = 1"], [])
    assert common(nothing, nothing).fingerprint == nothing.fingerprint


@pytest.mark.parametrize(
    ("one", "two", "words"),
    [
        (Constraints([[1, 1]], [0]), Constraints([[1, 1]], [0], 3), "over different fields"),
        (Constraints([[1, 1]], [0]), Constraints([[1, 1, 1]], [0]), "numbers of columns (2, 3)"),
        (Constraints([[1, 1]], [0]), LinearSystem([[0, 1]], [0]), "different questions"),
        (ParityRule([1, 0]), ParityRule([1, 1, 0]), "rules share no equations"),
        (ParityRule([1, 0]), ParityRule([1, 1], 1), "the same label where x1 = 1"),
        (ParityRule([1, 0]), ParityRule([1, 0], 1), "the same label nowhere"),
        (ParityRule([2, 1], field=7), ParityRule([1, 1], 1, field=7), "where x0 = 1 (mod 7)"),
    ],
)
def test_what_cannot_share_equations_says_why(one, two, words):
    a, b = Finding.of(one), Finding.of(two)
    found = compare(a, b).to_dict()
    assert found["shared"] is None
    assert words in found["note"]
    assert found["only_in_first"] == list(a.answer.lines)
    with pytest.raises(InputError):
        common(a, b)


def test_a_comparison_is_an_object_that_shows_itself():
    a = Finding.of(Constraints([[1, 1, 0], [0, 1, 1]], [1, 0]))
    b = Finding.of(Constraints([[1, 0, 1]], [1]))
    found = compare(a, b)
    assert not found
    assert compare(a, a)
    assert found.shared.answer == b.answer
    assert (found.only_in_first, found.only_in_second) == (("x1 ⊕ x2 = 0",), ())
    assert str(found).startswith("same: no\nfingerprints: ")
    assert "Not the same" in found._repr_html_()
