"""Saved findings applied to tables in memory: `Finding.predict` and `Finding.check`."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flagstone import AffineSpan, Finding
from flagstone.algebra import GF, pack
from flagstone.answers import Constraints, LinearSystem, ParityRule
from flagstone.encoding import ColumnEncoder, Encoding
from flagstone.errors import BottomError, InputError, InputWarning
from flagstone.question import ParityQuestion

ENCODERS = {
    "host": "onehot:db,web",
    "door": "levels:False,True",
    "retries": "bits:2",
    "temp": "above:40",
}


def rule() -> Finding:
    """alarm = (host is db) ⊕ door ⊕ the second bit of retries."""
    encoders = tuple(ColumnEncoder.parse(*pair) for pair in ENCODERS.items())
    encoding = Encoding(GF(2), encoders, ColumnEncoder.parse("alarm", "levels:no,yes"))
    answer = ParityRule([1, 0, 1, 0, 1, 0], 0, 2, encoding.names, "alarm")
    return Finding(ParityQuestion(), answer, encoding)


def log() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "alarm": ["yes", "no", "yes", "yes"],
            "temp": [39.5, 41.0, 40.0, 12.25],
            "note": ["", "x", None, "y"],
            "door": [False, True, False, True],
            "retries": [0, 1, 2, 3],
            "host": ["db", "db", "web", "web"],
        }
    )


LABELS, FITS = ["yes", "no", "yes", "no"], [True, True, True, False]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_frames_go_through_the_encoders_of_the_finding(frame):
    table = frame(log())
    assert rule().predict(table).tolist() == LABELS
    assert rule().check(table).tolist() == FITS


def test_a_label_beside_the_table_comes_first():
    features = log().drop(columns="alarm")
    assert rule().check(features, log()["alarm"]).tolist() == FITS
    assert rule().check(log(), ["no"] * 4).tolist() == [False, True, False, True]
    with pytest.raises(InputError, match=r"no column 'alarm'.*give the labels as y"):
        rule().check(features)
    with pytest.raises(InputError, match=r"4 row\(s\), but y has 3 label"):
        rule().check(features, ["no"] * 3)


def test_arrays_are_the_features_in_their_order():
    array = log()[list(ENCODERS)].to_numpy()
    assert rule().predict(array).tolist() == LABELS
    assert rule().check(array, log()["alarm"]).tolist() == FITS
    with pytest.raises(InputError, match="X has 3 columns, but 4 are read: host, door"):
        rule().predict(array[:, :3])
    with pytest.raises(InputError, match="y is needed: the label 'alarm'"):
        rule().check(array)


def test_no_rows_give_no_answers():
    assert rule().predict(log()[:0]).tolist() == []
    assert rule().check(log()[:0]).tolist() == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"host": ["db", "db", "mail", "web"]}, "X: row 2, column 'host': 'mail' is none of"),
        ({"retries": [0, 1, 7, 0]}, "X: row 2, column 'retries': .*7.* does not fit into 2 bits"),
        ({"door": [True, None, True, True]}, "X: row 1, column 'door': the value is missing"),
    ],
)
def test_what_has_no_code_is_refused_with_its_place(change, message):
    with pytest.raises(InputError, match=message):
        rule().predict(log().assign(**change))


def test_columns_are_named_as_they_may_have_been_meant():
    with pytest.raises(InputError, match="no column 'door'; did you mean 'Door'"):
        rule().predict(log().rename(columns={"door": "Door"}))


def test_equations_say_which_rows_fit():
    checks = Finding.of(Constraints([[1, 1, 0]], [1], names=["a", "b", "c"]))
    bits = [[1, 0, 1], [1, 1, 0], [0, 1, 1]]
    assert checks.check(bits).tolist() == [True, False, True]
    assert checks.predict(bits).tolist() == [1, 0, 1]
    assert checks.check(pack(np.array(bits))).tolist() == [True, False, True]


def test_systems_are_checked_and_predict_nothing():
    system = Finding.of(LinearSystem([[1, 0], [0, 1]], [1, 0]))
    assert system.check([[1, 1], [1, 0]], [1, 0]).tolist() == [True, False]
    with pytest.raises(InputError, match="predicts nothing"):
        system.predict([[1, 1]])


def test_amounts_read_as_floats_are_exact():
    """0.1 + 0.2 is not 0.3 in floats; as decimals it is."""
    ledger = pd.DataFrame({"gross": [0.3, 0.4], "vat": [0.2, 0.2], "net": [0.1, 0.1]})
    finding = Finding.of(Constraints([[1, 1, -1]], [0], "QQ", ["net", "vat", "gross"]))
    with pytest.warns(InputWarning, match="shortest decimal form, such as 0.1"):
        assert finding.check(ledger).tolist() == [True, False]
    assert finding.check(ledger.astype(str)).tolist() == [True, False]
    model = Finding.of(ParityRule([Fraction(1, 2)], 0, "QQ"))
    assert model.predict([[3]]).tolist() == [Fraction(3, 2)]


def test_they_agree_with_the_estimator():
    cents = np.random.RandomState(2).randint(0, 999, size=(300, 2))
    table = pd.DataFrame({"net": cents[:, 0], "vat": cents[:, 1], "gross": cents.sum(axis=1)})
    table.loc[[4, 90], "vat"] += 1
    model = AffineSpan(field="QQ", contamination=0.01, random_state=1).fit(table)
    assert np.array_equal(model.finding_.check(table), model.predict(table) == 1)
    assert np.flatnonzero(~model.finding_.check(table)).tolist() == [4, 90]


def test_bottom_is_neither_predicted_nor_broken():
    bottom = Finding.of(ParityRule.bottom(2))
    with pytest.raises(BottomError):
        bottom.predict([[1, 1]])
    with pytest.raises(BottomError, match="nothing that rows could break"):
        bottom.check([[1, 1]], [1])


def test_without_an_equation_every_row_fits_and_that_is_said():
    nothing = Finding.of(Constraints(np.zeros((0, 2), dtype=int), [], 2))
    with pytest.warns(InputWarning, match="no equation to check, so every row fits"):
        assert nothing.check([[1, 0], [0, 1]]).tolist() == [True, True]
