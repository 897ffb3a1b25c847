"""What equations say beyond the encoding: against the spaces themselves."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone import GF, QQ, Subspace
from flagstone.answers import Constraints
from flagstone.encoding import ColumnEncoder, Encoding, news, worded
from flagstone.question import ConstraintsQuestion

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def endgames():
    """All boards at the end of a game of tic-tac-toe, x first."""
    found, seen = set(), set()

    def wins(board, player):
        return any(all(board[i] == player for i in line) for line in LINES)

    def play(board, player, other):
        if board in seen:
            return
        seen.add(board)
        if wins(board, other) or "b" not in board:
            found.add(board)
            return
        for i in range(9):
            if board[i] == "b":
                play(board[:i] + player + board[i + 1 :], other, player)

    play("b" * 9, "x", "o")
    return sorted(found)


def encoding_of(field, **columns):
    encoders = (ColumnEncoder.parse(name, text) for name, text in columns.items())
    return Encoding(field, tuple(encoders))


def equations_of(encoding, table):
    """The equations that the rows of a table obey, and its encoded rows."""
    columns = [np.array(column, dtype=object) for column in zip(*table, strict=True)]
    X = encoding.matrix(columns)
    ones = np.full((len(X), 1), encoding.field.one, dtype=encoding.field.dtype)
    V = Subspace.span(np.concatenate([X, ones], axis=1), encoding.field)
    return ConstraintsQuestion().read(V, None, names=encoding.names, target="y"), X


def test_tic_tac_toe_has_no_news():
    boards = endgames()
    assert len(boards) == 958
    encoding = encoding_of(GF(2), **{f"c{i}": "onehot:b,o,x" for i in range(9)})
    checks, _ = equations_of(encoding, boards)
    found = news(checks, encoding)
    assert (len(checks), found.implied, len(found.rows), found.constants) == (9, 9, 0, ())


@pytest.mark.parametrize("field", [GF(2), GF(5), QQ], ids=str)
@given(data=st.data())
def test_news_and_what_was_known_span_all_equations(field, data):
    sizes = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    names = {f"c{i}": "onehot:" + ",".join("abcd"[:n]) for i, n in enumerate(sizes)}
    encoding = encoding_of(field, **names, flag="element")
    row = st.tuples(*(st.sampled_from("abcd"[:n]) for n in sizes), st.integers(0, 1))
    table = data.draw(st.lists(row, min_size=1, max_size=12))
    checks, X = equations_of(encoding, table)
    found = news(checks, encoding)
    assert len(found.rows) + found.implied + len(found.constants) == len(checks)
    assert not found.broken(field, X).any()
    width, place, known = checks.dim + 1, 0, []
    for n in sizes:
        known.append([1 if place <= i < place + n else 0 for i in range(width - 1)] + [1])
        place += n
    for column, value in found.constants:
        known.append([int(i == column) for i in range(width - 1)] + [value])
    rows = [*known, *found.rows.tolist()]
    assert Subspace.span(np.array(rows, dtype=object), field, width) == checks.span
    tried = news(checks, encoding, search=False).rows
    assert len(tried) == len(found.rows)
    assert (found.rows[:, :-1] != 0).sum() <= (tried[:, :-1] != 0).sum() or field is QQ


def test_a_ledger_reads_as_it_was_made():
    encoding = Encoding.plain(QQ, ["net", "vat", "gross"])
    # a rate of 19 % alone: the reduced form would show 100/119 of the gross
    table = [[100 * k, 19 * k, 119 * k] for k in (1, 2, 3)]
    checks, _ = equations_of(encoding, table)
    assert [worded(encoding, row) for row in news(checks, encoding).rows] == [
        "net + vat - gross = 0",
        "19·net - 100·vat = 0",
    ]


def test_categories_that_go_together_are_worded():
    encoding = encoding_of(
        GF(2), odor="onehot:a,c,m", ring="onehot:n,o,t", kind="levels:edible,poisonous"
    )
    table = [
        (odor, ring, kind)
        for odor, ring in itertools.product("acm", "not")
        if (odor == "m") == (ring == "n")
        for kind in [["edible", "poisonous"][odor in "cm"]]
    ]
    checks, _ = equations_of(encoding, table)
    found = news(checks, encoding)
    assert [worded(encoding, row) for row in found.rows] == [
        "odor = a exactly when kind = edible",
        "odor = m exactly when ring = n",
    ]
    wrong = encoding.matrix([np.array([v], dtype=object) for v in ("m", "o", "poisonous")])
    assert found.broken(GF(2), wrong).tolist() == [[False, True]]


def test_columns_called_like_one_hot_ones_are_taken_for_such_if_they_sum_to_one():
    names = ["ring=n", "ring=o", "x"]
    sums = Constraints([[1, 1, 0]], [1], 2, names)
    found = news(sums, Encoding.plain(GF(2), names))
    assert found.implied == 1
    assert [e.column for e in found.encoding.encoders] == ["ring", "x"]
    tied = Constraints([[1, 1, 0], [1, 0, 1]], [1, 0], 2, names)
    found = news(tied, Encoding.plain(GF(2), names))
    assert [worded(found.encoding, row) for row in found.rows] == ["ring = n exactly when x = 1"]
    other = Constraints([[1, 1, 0]], [0], 2, names)
    assert len(news(other, Encoding.plain(GF(2), names)).rows) == 1


def test_rows_that_are_not_one_hot_keep_their_equations():
    encoding = encoding_of(GF(2), ring="onehot:n,o")
    found = news(Constraints([[1, 1]], [0]), encoding)
    assert (found.rows.tolist(), found.implied) == ([[1, 1, 0]], 0)


def squares_of(field, table, degree=2, **columns):
    """The new equations of degree two of a table, and the number of all."""
    encoding = replace(encoding_of(field, **columns), degree=degree)
    cells = [np.array(column, dtype=object) for column in zip(*table, strict=True)]
    X = field.array(encoding.rows(cells)[0])
    ones = np.full((len(X), 1), field.one, dtype=field.dtype)
    V = Subspace.span(np.concatenate([X, ones], axis=1), field)
    checks = ConstraintsQuestion().read(V, None, names=encoding.names, target="y")
    found = news(checks, encoding)
    assert len(found.rows) + found.implied + len(found.constants) == len(checks)
    assert not found.broken(field, X).any()
    return [worded(encoding, row) for row in found.rows], len(checks)


@pytest.mark.parametrize("field", [GF(2), GF(5), QQ], ids=str)
def test_products_of_one_hot_columns_are_no_news(field):
    columns = {"colour": "onehot:r,g,b", "size": "onehot:s,m,l", "kind": "onehot:x,y"}
    every = list(itertools.product("rgb", "sml", "xy"))
    listed, n_checks = squares_of(field, every, **columns)
    assert listed == []
    assert n_checks == 16
    # nor are those of a column that is constant, or of a value that never occurs
    assert squares_of(field, [row for row in every if row[2] == "x"], **columns)[0] == []
    assert squares_of(field, [row for row in every if row[1] != "m"], **columns)[0] == []
    # what is missing among the pairs is
    some = [row for row in every if row[:2] != ("r", "l")]
    assert squares_of(field, some, **columns)[0] == ["never colour = r and size = l"]


@pytest.mark.parametrize("field", [GF(2), GF(5), QQ], ids=str)
@pytest.mark.parametrize("degree", [2, 3])
def test_products_of_constants_are_no_news(field, degree):
    columns = {"a": "onehot:x,y", "b": "onehot:u,v", "c": "element", "d": "levels:no,yes"}
    table = [("x", b, 1, d) for b in "uv" for d in ("no", "yes")]
    assert squares_of(field, table, degree=degree, **columns)[0] == []


def test_a_product_that_decides_a_column_is_worded():
    columns = {"colour": "onehot:r,g,b", "size": "onehot:s,m,l", "fault": "element"}
    table = [(c, s, int((c, s) == ("r", "l"))) for c in "rgb" for s in "sml"]
    listed, _ = squares_of(GF(2), table, **columns)
    assert listed[-1] == "fault = 1 exactly when colour = r and size = l"
    assert set(listed[:-1]) == {
        f"never {what} and fault = 1"
        for what in ("colour = g", "colour = b", "size = s", "size = m")
    }
