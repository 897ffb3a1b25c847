"""Equations and rows in the words of a table."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from flagstone import GF, QQ, Finding
from flagstone.answers import ParityRule
from flagstone.encoding import (
    ColumnEncoder,
    Encoding,
    cells,
    constant_text,
    number_text,
    worded,
    worded_rule,
)

COLUMNS = {
    "odor": "onehot:a,c,m",
    "class": "levels:edible,poisonous",
    "size": "above:3.5",
    "n": "bits:3",
    "flag": "element",
}
ENCODING = Encoding(GF(2), tuple(ColumnEncoder.parse(c, t) for c, t in COLUMNS.items()))


def said(*columns: str, value: int = 0) -> str:
    row = [int(name in columns) for name in ENCODING.names]
    return worded(ENCODING, np.array([*row, value]))


def test_two_statements_are_tied():
    assert said("odor=m", "flag") == "odor = m exactly when flag = 1"
    assert said("odor=m", "flag", value=1) == "odor = m exactly when flag = 0"
    assert said("odor=a", "odor=c", "class") == "odor = a or c exactly when class = poisonous"
    assert said("class", "size>3.5", value=1) == "class = poisonous exactly when size ≤ 3.5"


def test_more_statements_are_counted_and_other_columns_stay_equations():
    assert said("odor=m", "class", "flag", value=1) == (
        "an odd number of these hold: odor = m; class = poisonous; flag = 1"
    )
    assert said("n[0]", "odor=m") == "odor=m ⊕ n[0] = 0"


def test_over_other_fields_only_what_ties_two_statements_is_worded():
    encoders = tuple(ColumnEncoder.parse(c, "onehot:a,b,c") for c in "xy")
    over = Encoding(QQ, encoders)
    row = np.array([Fraction(v) for v in (1, 0, 0, -1, -1, 0, 0)], dtype=object)
    assert worded(over, row) == "x = a exactly when y = a or b"
    row[-1] = Fraction(1)
    assert worded(over, row) == "x=a - y=a - y=b = 1"


def test_missing_values_are_called_so():
    columns = (("smokes", "levels:no,yes"), ("daily", "onehot:few,many,(missing)"))
    encoding = Encoding(GF(2), tuple(ColumnEncoder.parse(*pair) for pair in columns))
    assert (
        worded(encoding, np.array([1, 0, 0, 1, 1])) == "daily is missing exactly when smokes = no"
    )
    assert (
        worded(encoding, np.array([1, 0, 0, 1, 0])) == "smokes = yes exactly when daily is missing"
    )


def test_rows_are_cells_again():
    row = [0, 1, 0, 1, 0, 1, 1, 0, 1]
    assert cells(ENCODING, row) == {
        "odor": "c",
        "class": "poisonous",
        "size": "≤ 3.5",
        "n": "3",
        "flag": "1",
    }
    assert cells(ENCODING, [0] * 9)["odor"] == "none of them"
    money = Encoding.plain(QQ, ["net"], label="gross")
    assert cells(money, [Fraction(-5363, 100), Fraction(2, 3)]) == {"net": "-53.63", "gross": "2/3"}
    assert number_text(QQ, Fraction(7)) == "7"
    assert number_text(QQ, Fraction("5.5600000000000005")) == "5.5600000000000005"
    assert number_text(QQ, Fraction("-5e-16")) == "-0.0000000000000005"
    assert number_text(QQ, Fraction(10**20 + 1, 10)) == "100000000000000000001/10"


def test_constants():
    texts = [constant_text(ENCODING, i, v) for i, v in ((0, 0), (2, 1), (3, 1), (4, 0), (8, 1))]
    assert texts == [
        "odor is never a",
        "odor is always m",
        "class is always poisonous",
        "size is always ≤ 3.5",
        "flag = 1",
    ]


def test_rules_for_a_label():
    label = ColumnEncoder.parse("ill", "levels:no,yes")
    encoding = replace(ENCODING, label=label)
    coef = np.array([0, 1, 1, 0, 0, 0, 0, 0, 0])
    assert worded_rule(encoding, coef, 0) == "ill = yes exactly when odor = c or m"
    assert worded_rule(encoding, coef, 1) == "ill = no exactly when odor = c or m"
    coef[-1] = 1
    rule = ParityRule(coef, 1, 2, encoding.names, "ill")
    finding = replace(Finding.of(rule), encoding=encoding)
    assert finding.lines == (
        "ill = yes exactly when an even number of these hold: odor = c or m; flag = 1",
    )
    plain = Encoding.plain(GF(2), ["a", "b"], label="y")
    assert worded_rule(plain, np.array([1, 1]), 0) is None
