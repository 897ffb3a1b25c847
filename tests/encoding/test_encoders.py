"""Encoders: explicit, reversible to text, refusing what they were not told about."""

import re
from decimal import Decimal
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import GF, QQ, FieldEncoder
from flagstone.encoding import ENCODERS, BadEntry, ColumnEncoder, Encoding, Levels
from flagstone.errors import FormatError, InputError
from flagstone.tables import open_table, propose


def encode(text, values, field=2):
    from flagstone.algebra.fields import as_field

    return ColumnEncoder.parse("c", text).encode(np.asarray(values), as_field(field)).tolist()


@pytest.mark.parametrize(
    ("text", "values", "field", "expected"),
    [
        ("element", [True, False], 2, [[1], [0]]),
        ("element", [1.0, 0.0], 2, [[1], [0]]),
        ("element", [4, 0], 5, [[4], [0]]),
        ("element", ["3/4", "-2"], "QQ", [["3/4"], ["-2"]]),
        ("levels:no,yes", ["yes", "no"], 2, [[1], [0]]),
        ("levels:no", ["no", "no"], 2, [[0], [0]]),
        ('levels:""', ["", ""], 2, [[0], [0]]),
        ("levels:3,1,2", [2, 3], 3, [[2], [0]]),
        ("levels:false,true", [True, False], 2, [[1], [0]]),
        ("levels:False,True", [True, False], 2, [[1], [0]]),
        ("levels:false,true", np.array(["TRUE", "False"], dtype=object), 2, [[1], [0]]),
        ("element", np.array(["True", "false", 1], dtype=object), 2, [[1], [0], [1]]),
        ("element", np.array(["True", "FALSE"]), 7, [[1], [0]]),
        ("onehot:a,b,c", ["c", "a"], 2, [[0, 0, 1], [1, 0, 0]]),
        ("bits:3", [5, 2], 2, [[1, 0, 1], [0, 1, 0]]),
        ("bits:64", [2**63], 2, [[0] * 63 + [1]]),
        ("bits:1", [0, 1], 2, [[0], [1]]),
        ("bits:3", [7.0, 0.0], 2, [[1, 1, 1], [0, 0, 0]]),
        ("bits:53", [2.0**53 - 1], 2, [[1] * 53]),
        ("above:2.5", [2, 3], 2, [[0], [1]]),
        ("above:2.5", [2.5, 2.75], 2, [[0], [1]]),
        ("above:0", np.array([-1, 0.5], dtype=object), 2, [[0], [1]]),
        ("mod", [-1, 9], 7, [[6], [2]]),
        ("mod", np.array([-(2**63), 2**63 - 1], dtype=object), 7, [[6], [0]]),
        ("mod", np.array([2**64 - 1], dtype=np.uint64), 7, [[1]]),
        ("mod", np.array([10**30, -(10**30) - 1], dtype=object), 7, [[1], [5]]),
        ("element", np.array([0, 4, 1], dtype=np.uint8), 5, [[0], [4], [1]]),
        ("element", np.array([], dtype=np.uint8), 5, []),
        ("element", np.array([], dtype=np.int64), 5, []),
        ("element", [2.0, -3.0], "QQ", [["2"], ["-3"]]),
        ("levels:a,b,c", ["c", "b"], 3, [[2], [1]]),
        ("levels:a,b,c", ["c", "b"], "QQ", [[2], [1]]),
        ("onehot:true,false", np.array([True, "false"], dtype=object), 3, [[1, 0], [0, 1]]),
        ("levels:2,3.5", np.array([3.5, 2], dtype=object), 2, [[1], [0]]),
    ],
)
def test_each_encoder(text, values, field, expected):
    values = np.asarray(values, dtype=np.uint64) if text == "bits:64" else values
    assert [[str(e) for e in row] for row in encode(text, values, field)] == [
        [str(e) for e in row] for row in expected
    ]


@pytest.mark.parametrize(
    ("text", "values", "problem"),
    [
        ("element", [0, 2], "2 is not an element of GF"),
        ("element", [0, -1], "-1 is not an element"),
        ("element", [0.0, 0.5], "0.5 is not an element"),
        ("element", np.array(["1", 1], dtype=object)[::-1], "'1' is not an element"),
        ("levels:True,TRUE", np.array(["TRUE", "true"], dtype=object), "'true' is none"),
        ("levels:a,b", ["a", "z"], "'z' is none of the listed values a, b"),
        ("bits:3", [0, 8], r"8 does not fit into 3 bits \(0 … 7\)"),
        ("bits:3", [0, -1], "-1 does not fit"),
        ("above:1", [0.0, float("nan")], "nan is not a number"),
        ("above:1", np.array([1, True], dtype=object), "True is not a number"),
        ("above:1", np.array([1.5, "2"], dtype=object), "'2' is not a number"),
        ("bits:2", [3, 4], r"4 does not fit into 2 bits \(0 … 3\)"),
        ("bits:64", [0.0, 2.0**53], "is not a whole number"),
        ("bits:8", [0.0, 0.5], "0.5 is not a whole number"),
        ("bits:8", [0.0, float("inf")], "inf is not a whole number"),
        ("mod", np.array([1, None], dtype=object), "the value is missing; fill it in"),
        ("element", np.array([1, 2], dtype=np.uint8), r"2 is not an element of GF\(2\) \(0 or 1\)"),
        ("element", np.array([0, 3], dtype=np.uint64), "3 is not an element"),
    ],
)
def test_what_does_not_fit_is_refused_by_index(text, values, problem):
    with pytest.raises(BadEntry, match=problem) as caught:
        encode(text, values)
    assert caught.value.index == 1
    assert str(caught.value) == caught.value.problem


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("1/0", "divides by zero"),
        ("x", "is not a rational number"),
        (object(), "is not a number"),
        (float("inf"), "is not a rational number"),
        (None, "the value is missing"),
        (float("nan"), "the value is missing"),
        ("", "the value is missing"),
    ],
)
def test_what_is_no_rational_is_refused_by_index(value, problem):
    with pytest.raises(BadEntry, match=problem) as caught:
        encode("element", np.array([1, value], dtype=object), "QQ")
    assert caught.value.index == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["53.63", "1e-2", "-3/4"], [F(5363, 100), F(1, 100), F(-3, 4)]),
        ([Decimal("53.63"), Decimal("1E+2"), 7], [F(5363, 100), F(100), F(7)]),
        ([53.63, 0.1, 2.0], [F(5363, 100), F(1, 10), F(2)]),
        (np.array([53.63, 0.1], np.float32), [F(5363, 100), F(1, 10)]),
        ([2**70, -1], [F(2**70), F(-1)]),
        ([True, "True", "FALSE"], [F(1), F(1), F(0)]),
    ],
)
def test_numbers_over_the_rationals_are_read_exactly(values, expected):
    values = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    assert encode("element", values, "QQ") == [[value] for value in expected]


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300))
def test_a_float_is_read_by_its_shortest_decimal_form(value):
    found = encode("element", np.array([value]), "QQ")[0][0]
    assert float(found) == value
    assert found == F(repr(value))


def test_binary_floats_are_refused_on_request():
    for values in (np.array([2.0, 0.5]), np.array([Decimal("0.5"), 0.5], dtype=object)):
        with pytest.raises(BadEntry, match=r"0\.5 is a binary float") as caught:
            encode("element:exact", values, "QQ")
        assert caught.value.index == 1
    assert encode("element:exact", np.array(["0.5"], dtype=object), "QQ")[0][0] == F(1, 2)


def test_the_elements_of_a_field_are_named():
    with pytest.raises(BadEntry, match=r"5 is not an element of GF\(5\) \(0 … 4\)"):
        encode("element", [4, 5], 5)
    with pytest.raises(BadEntry, match=r"5 is not an element of GF\(5\) \(0 … 4\)"):
        encode("element", np.array([4, 5], dtype=np.uint8), 5)


def test_rationals_know_no_remainder():
    with pytest.raises(InputError, match="'mod' needs a finite field"):
        encode("mod", [1], "QQ")


@pytest.mark.parametrize(
    ("text", "finite", "rational", "names"),
    [
        ("element", "integer", "text", ("c",)),
        ("levels:a,b", "text", "text", ("c",)),
        ("onehot:a,b", "text", "text", ("c=a", "c=b")),
        ("bits:2", "integer", "integer", ("c[0]", "c[1]")),
        ("above:0.5", "number", "number", ("c>0.5",)),
        ("mod", "integer", "text", ("c mod q",)),
    ],
)
def test_what_text_is_read_as_and_columns_are_called(text, finite, rational, names):
    encoder = ColumnEncoder.parse("c", text)
    assert (encoder.reads(GF(2)), encoder.reads(QQ)) == (finite, rational)
    assert encoder.names == names
    assert encoder.text == text


@pytest.mark.parametrize(
    "text", ["bit", "levels", "levels:", "onehot:a,a", "bits", "bits:0", "bits:65", "bits:-1",
             "above", "above:x", "above:nan", "above:inf", "above:1,2", "element:1", "mod:2",
             "bits:1,2", "bits:٣", "bits:+3", "bits: 3", "bits:x", "levels:a,b,a"]
)  # fmt: skip
def test_bad_encoder_texts_are_explained(text):
    with pytest.raises(InputError, match="of column 'c'"):
        ColumnEncoder.parse("c", text)


def test_more_levels_than_elements_are_refused():
    with pytest.raises(InputError, match=r"3 levels, but GF\(2\) has 2 elements"):
        encode("levels:a,b,c", ["a"])


@given(st.lists(st.text(), min_size=1, unique=True))
@settings(deadline=None, max_examples=60)
def test_the_text_form_holds_any_values(values):
    encoder = Levels("c", tuple(values))
    assert ColumnEncoder.parse("c", encoder.text) == encoder


@pytest.mark.parametrize(
    ("values", "field", "expected"),
    [
        ([True, False], GF(2), "c=element (true and false are 1 and 0)"),
        ([0, 1], GF(2), "c=element (whole numbers, all in GF(2))"),
        ([0, 200], GF(2), "c=bits:8 (whole numbers up to 200)"),
        ([0, 6], GF(7), "c=element (whole numbers, all in GF(7))"),
        ([-4, 6], GF(7), "c=mod (whole numbers from -4 to 6)"),
        (
            [0.5, 1.5],
            GF(2),
            "c=above:1 (fractional numbers; 1 is the median",
        ),
        (["b", "a"], GF(2), "c=levels:a,b (text with 2 values)"),
        (["b", "a", "c"], GF(2), "c=onehot:a,b,c (text with 3 values)"),
        (["1/2", "3"], QQ, "c=element (numbers, read exactly)"),
        (["a", "a"], GF(2), "c: leave it out (it is always 'a'"),
        ([str(i) + "x" for i in range(99)], GF(2), "c: leave it out (text with 99 different"),
    ],
)
def test_proposals_come_with_a_reason(values, field, expected):
    values = np.array(values, dtype=object) if isinstance(values[0], str) else np.array(values)
    assert str(propose("c", values, field)).startswith(expected)


def test_a_table_coerces_nothing_silently_but_explains_a_proposal(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("door,level,fault\nopen,3,no\nshut,0,yes\n")
    table = open_table(path)
    with pytest.raises(InputError) as caught:
        table.encoding(2, label="fault")
    message = str(caught.value)
    assert "column 'door' (and 2 more) does not hold elements of GF(2)" in message
    assert "encode={'door': 'levels:open,shut', 'level': 'bits:2', " in message
    assert "encode='auto'" in message
    auto = table.encoding(2, label="fault", encode="auto")
    assert auto.names == ("door", "level[0]", "level[1]")
    (batch,) = table.rows(auto)
    assert batch.matrix.tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]
    assert Encoding.from_dict(auto.to_dict()) == auto
    with pytest.raises(InputError, match=r"^encode names the column 'dor'.*did you mean 'door'"):
        table.encoding(2, encode={"dor": "element"})
    with pytest.raises(InputError, match="the label 'level' must become one element"):
        table.encoding(2, label="level", encode={"level": "bits:2", "*": "auto"})


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        (
            "ring",
            r"label 'ring' holds text with 3 values, .* field=3, encode={'ring': 'levels:n,",
        ),
        ("level", r"label 'level' holds whole numbers up to 3, .* choose a larger field, or say"),
        (
            "score",
            r"label 'score' holds whole numbers from -1 to 1, .*'score': 'above:0'}",
        ),
        ("veil", r"label 'veil' cannot be learned: it is always 'x' in the rows looked at"),
    ],
)
def test_a_label_that_is_no_element_of_the_field_comes_with_advice(tmp_path, label, problem):
    path = tmp_path / "t.csv"
    path.write_text("ring,level,score,veil\nn,0,-1,x\no,2,0,x\np,3,1,x\n")
    table = open_table(path)
    with pytest.raises(InputError, match=problem):
        table.encoding(2, label=label, encode="auto")
    if label == "ring":
        with pytest.raises(InputError, match=r"number its values: encode={'ring': 'levels:n,o,p'}"):
            table.encoding(5, label=label, encode="auto")


def test_elements_of_the_label_are_decoded_and_others_written_as_they_are():
    encoding = Encoding.plain(GF(3), ["a"], label="y", labels=np.array(["no", "yes"]))
    assert encoding.labels == ("no", "yes")
    assert encoding.decoded(GF(3).elements([1, 0, 2])) == ["yes", "no", "2"]
    plain = Encoding.plain(GF(3), ["a"], label="y")
    assert plain.labels is None
    assert plain.decoded(GF(3).elements([1, 0, 2])) == ["1", "0", "2"]
    whole = Encoding.plain(GF(2), ["a"], label="y", labels=np.array([-1.0, 0.5]))
    assert whole.labels == ("-1", "0.5")
    assert Encoding.from_dict(whole.to_dict()) == whole


def test_features_and_label_are_told_apart():
    encoding = Encoding(
        GF(2), (ColumnEncoder.parse("a", "bits:2"),), ColumnEncoder.parse("y", "element")
    )
    matrix = encoding.matrix([np.array([1, 2]), np.array([0, 1])])
    assert matrix.tolist() == [[1, 0, 0], [0, 1, 1]]
    X, y = encoding.split(matrix)
    assert (X.tolist(), y.tolist()) == ([[1, 0], [0, 1]], [0, 1])
    features = encoding.without_label()
    assert (features.columns, features.names) == (("a",), ("a[0]", "a[1]"))
    assert features.split(X)[1] is None
    # one array, or one per column
    assert encoding.matrix(np.array([[1, 0], [2, 1]])).tolist() == matrix.tolist()


def test_a_damaged_encoding_is_refused():
    with pytest.raises(FormatError, match="encoders cannot be read"):
        Encoding.from_dict({"field": "GF(2)", "columns": [["a", "nonsense"]], "label": None})


@pytest.mark.parametrize("page", ["docs/command-line.md", "docs/guide/encoders.md", FieldEncoder])
def test_every_kind_is_documented(page):
    if isinstance(page, str):
        text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    else:
        text = page.__doc__
    written = set(re.findall(r"`(?:COLUMN=|\")?(\w+)(?::[^`]*)?\"?`", text))
    assert ENCODERS.keys() - written == set()
