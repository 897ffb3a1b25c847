"""An encoding: a matrix and its columns give the same rows, features first, the label last."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import GF, QQ, pack
from flagstone.encoding import BadEntry, ColumnEncoder, Encoding
from flagstone.errors import FormatError


def whole(matrix):
    return matrix


def of_columns(matrix):
    return [matrix[:, i].copy() for i in range(matrix.shape[1])]


def elements(field, n_columns, label=False) -> Encoding:
    encoders = [ColumnEncoder.parse(f"x{i}", "element") for i in range(n_columns)]
    return Encoding(field, tuple(encoders[: n_columns - label]), encoders[-1] if label else None)


DTYPES = [np.uint8, np.int8, np.int64, np.uint64, np.float64, object]


@given(data=st.data(), order=st.sampled_from([2, 3, 7, 256]), dtype=st.sampled_from(DTYPES))
@settings(deadline=None, max_examples=100)
def test_a_matrix_and_its_columns_are_encoded_alike(data, order, dtype):
    """Good ones become themselves; a bad entry is named by its row and column in both."""
    field, n_rows, n_columns = GF(order), data.draw(st.integers(0, 5)), data.draw(st.integers(1, 4))
    top = min(order - 1, 127)
    rows = data.draw(st.lists(st.integers(0, top), min_size=20, max_size=20))
    matrix = np.array(rows[: n_rows * n_columns]).reshape(n_rows, n_columns)
    encoding = elements(field, n_columns, label=data.draw(st.booleans()) and n_columns > 1)
    for given_as in (whole, of_columns):
        found = encoding.matrix(given_as(matrix.astype(dtype)))
        assert found.dtype == field.dtype
        assert found.tolist() == matrix.tolist()
    if n_rows and order < 256:
        i, j = data.draw(st.integers(0, n_rows - 1)), data.draw(st.integers(0, n_columns - 1))
        lows = [] if np.dtype(dtype).kind == "u" else [-1]
        matrix[i, j] = data.draw(st.sampled_from([order, order + 1, *lows]))
        for given_as in (whole, of_columns):
            with pytest.raises(BadEntry, match="is not an element of") as caught:
                encoding.matrix(given_as(matrix.astype(dtype)))
            assert (caught.value.index, caught.value.column) == (i, f"x{j}")
            assert str(caught.value) == caught.value.problem
            assert caught.value.problem.startswith(str(int(matrix[i, j])))


@pytest.mark.parametrize("bad", [0.5, 1.25, float("nan"), float("inf")])
def test_fractions_of_a_matrix_are_not_rounded(bad):
    """They lie between 0 and 1, and in no field."""
    matrix = np.array([[0.0, 1.0], [1.0, bad]])
    for order in (2, 7):
        for given_as in (whole, of_columns):
            with pytest.raises(BadEntry, match=f"{bad} is not an element of GF") as caught:
                elements(GF(order), 2).matrix(given_as(matrix))
            assert (caught.value.index, caught.value.column) == (1, "x1")


def test_a_matrix_of_booleans():
    matrix = np.array([[True, False], [True, True]])
    for given_as in (whole, of_columns):
        found = elements(GF(5), 2).matrix(given_as(matrix))
        assert found.tolist() == [[1, 0], [1, 1]]
        assert found.dtype == GF(5).dtype


def test_a_matrix_of_rationals():
    encoding = elements(QQ, 2)
    for values in (np.array([[1, -2], [30, 4]]), np.array([["1", "-2"], ["30", "4/1"]], object)):
        found = encoding.matrix(values)
        assert [[str(value) for value in row] for row in found] == [["1", "-2"], ["30", "4"]]
    for values in (np.array([[1, 2]]), np.array([[1, 2]], dtype=np.uint8)):
        assert encoding.matrix(values).tolist() == [[1, 2]]


MIXED = Encoding(
    GF(3),
    (
        ColumnEncoder.parse("n", "bits:2"),
        ColumnEncoder.parse("t", "above:1.5"),
        ColumnEncoder.parse("e", "element"),
    ),
    ColumnEncoder.parse("y", "levels:7,5"),
)


def test_encoders_of_any_width_share_a_matrix():
    matrix = np.array([[2, 1, 2, 5], [1, 2, 0, 7], [3, 3, 1, 5]])
    for given_as in (whole, of_columns):
        found = MIXED.matrix(given_as(matrix))
        assert found.tolist() == [[0, 1, 0, 2, 1], [1, 0, 1, 0, 0], [1, 1, 1, 1, 1]]
        assert found.dtype == GF(3).dtype
    one = Encoding(GF(3), (ColumnEncoder.parse("n", "bits:2"),))
    assert one.matrix(matrix[:, :1]).tolist() == [[0, 1], [1, 0], [1, 1]]
    matrix[2, 3] = 6
    with pytest.raises(BadEntry, match="6 is none of the listed values 7, 5") as caught:
        MIXED.matrix(matrix)
    assert (caught.value.index, caught.value.column) == (2, "y")


def test_names_columns_and_kinds():
    assert MIXED.columns == ("n", "t", "e", "y")
    assert MIXED.names == ("n[0]", "n[1]", "t>1.5", "e")
    assert MIXED.kinds == {"n": "integer", "t": "number", "e": "integer", "y": "text"}
    features = MIXED.without_label()
    assert features.columns == ("n", "t", "e")
    assert (features.names, features.field) == (MIXED.names, MIXED.field)
    assert features.kinds == {"n": "integer", "t": "number", "e": "integer"}
    assert elements(QQ, 1).kinds == {"x0": "text"}


def test_the_written_form_is_read_back():
    for encoding in (MIXED, MIXED.without_label()):
        assert Encoding.from_dict(encoding.to_dict()) == encoding
    assert MIXED.to_dict() == {
        "field": "GF(3)",
        "columns": [["n", "bits:2"], ["t", "above:1.5"], ["e", "element"]],
        "label": ["y", "levels:7,5"],
    }


@pytest.mark.parametrize(
    "change",
    [
        {"field": "GF(6)"},
        {"field": None},
        {"columns": None},
        {"columns": [["n"]]},
        {"columns": [["n", "bits:0"]]},
        {"label": []},
        {"label": ["y"]},
        {"label": ["y", "levels:7,7"]},
        {"label": 3},
    ],
)
def test_a_damaged_form_is_refused(change):
    with pytest.raises(FormatError, match="the encoders cannot be read"):
        Encoding.from_dict(MIXED.to_dict() | change)
    for name in change:
        rest = {key: value for key, value in MIXED.to_dict().items() if key != name}
        with pytest.raises(FormatError, match="the encoders cannot be read"):
            Encoding.from_dict(rest)


COLUMN_DTYPES = [bool, np.uint8, np.int8, np.int32, np.uint64, np.int64, ">i8", np.float64, object]


@given(
    data=st.data(),
    order=st.sampled_from([2, 2, 2, 7]),
    n_columns=st.sampled_from([1, 2, 3, 64, 65, 66, 129]),
    n_rows=st.sampled_from([0, 1, 5, 4100]),
    form=st.sampled_from(["C", "F", "columns", "packed"]),
)
@settings(deadline=None, max_examples=80)
def test_rows_are_those_of_the_matrix_in_the_form_of_the_field(
    data, order, n_columns, n_rows, form
):
    field = GF(order)
    label = n_columns > 1 and data.draw(st.booleans())
    encoding = elements(field, n_columns, label)
    random = np.random.RandomState(data.draw(st.integers(0, 99)))
    matrix = random.randint(0, 2, (n_rows, n_columns))
    if n_rows and form != "packed" and data.draw(st.booleans()):
        matrix[random.randint(n_rows), random.randint(n_columns)] = order
    dtypes = st.sampled_from(COLUMN_DTYPES[int(matrix.max(initial=0) > 1) :])
    if form == "columns":
        values = [column.astype(data.draw(dtypes)) for column in matrix.T]
    elif form == "packed":
        values = pack(matrix) if n_rows else GF(2).empty(0, n_columns)
    else:
        values = matrix.astype(data.draw(dtypes), order=form)
    plain = values.unpack() if form == "packed" else values
    if matrix.max(initial=0) == order:
        errors = []
        for encode in (encoding.matrix, encoding.rows):
            with pytest.raises(BadEntry) as caught:
                encode(values)
            errors.append(vars(caught.value))
        assert errors[0] == errors[1]
        return
    X, y = encoding.split(encoding.matrix(plain))
    rows, labels = encoding.rows(values)
    assert type(rows) is type(field.rows(X))
    assert field.array(rows).tolist() == X.tolist()
    assert field.array(rows).dtype == field.dtype
    assert (labels is None) == (y is None)
    if y is not None:
        assert labels.tolist() == y.tolist()
        assert labels.dtype == field.dtype


def test_encoders_of_any_kind_end_in_rows_of_the_field():
    encoding = Encoding(
        GF(2), (ColumnEncoder.parse("a", "bits:2"),), ColumnEncoder.parse("b", "levels:no,yes")
    )
    values = [np.array([2, 3]), np.array(["yes", "no"], dtype=object)]
    rows, labels = encoding.rows(values)
    assert rows == pack([[0, 1], [1, 1]])
    assert labels.tolist() == [1, 0]
