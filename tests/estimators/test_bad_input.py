"""Bad input, through every estimator, answered in the caller's words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flagstone import (
    AffineSpan,
    FieldEncoder,
    IndexRule,
    InputError,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    SubspaceClassifier,
)
from flagstone.errors import ReplicabilityWarning, WindowError
from flagstone.estimators import EliminationClassifier
from tests.optional import PRIVATE

REPLICABLE = [ParityClassifier, LinearSpan, AffineSpan, LinearEquations, SubspaceClassifier]
ALL = [*REPLICABLE, EliminationClassifier, *PRIVATE]
WEIGHTED = [*REPLICABLE, EliminationClassifier]
LABELLED = [
    ParityClassifier,
    LinearEquations,
    SubspaceClassifier,
    EliminationClassifier,
    *PRIVATE,
]
X = np.random.RandomState(0).randint(0, 2, size=(60, 3))
Y = X[:, 0] ^ X[:, 1]

pytestmark = pytest.mark.filterwarnings("ignore::flagstone.errors.ReplicabilityWarning")


def spoilt(value, dtype):
    table = X.astype(dtype)
    table[7, 2] = value
    return table


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (spoilt(5, int), r"row 7, column 2 is 5, which is not in GF\(2\)"),
        (spoilt(-1, int), "row 7, column 2 is -1"),
        (spoilt(0.5, float), "row 7, column 2 is 0.5, which is not a whole number"),
        (spoilt(np.nan, float), "row 7, column 2 is nan"),
        (spoilt(np.inf, float), "row 7, column 2 is inf"),
        (spoilt("red", object), "row 7, column 2 is 'red'.*encode it first"),
        (spoilt(None, object), "row 7, column 2 is None.*missing"),
        (X.astype(complex), "[Cc]omplex data not supported"),
        (X[:, 0], "Expected 2D array, got 1D array"),
        (X[:, :0], r"0 feature\(s\)"),
        (X[:0], r"0 sample\(s\)|inconsistent"),
        ([[0, 1], [1]], "row 1 has 1 entries, but row 0 has 2"),
        ([[0, 1], [1, "red"]], "row 1, column 1 is 'red'"),
        ([[[0]], [[1]]], r"X must be a table of rows \(2 dimensions\), got 3"),
    ],
)
def test_tables_that_are_no_rows_over_the_field(cls, table, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cls().fit(table, Y[: len(table)])


@pytest.mark.parametrize("cls", ALL)
def test_the_column_is_named_and_the_way_out_shown(cls):
    frame = pd.DataFrame(spoilt(5, int), columns=["a", "b", "age"])
    with pytest.raises(InputError, match=r"row 7, column 2 \('age'\) is 5.*FieldEncoder"):
        cls().fit(frame, Y)


@pytest.mark.parametrize("cls", [*ALL, FieldEncoder])
def test_masked_entries_are_missing(cls):
    with pytest.raises(InputError, match=r"X: row 7, column 2 is missing \(masked\)"):
        cls().fit(np.ma.masked_equal(spoilt(5, int), 5), Y)
    unmasked = cls().fit(np.ma.array(X), np.ma.array(Y))
    assert unmasked.n_features_in_ == 3


def test_masked_labels_and_weights_are_missing():
    mask = np.arange(60) == 4
    for cls in LABELLED:
        with pytest.raises(InputError, match=r"y: row 4 is missing \(masked\)"):
            cls().fit(X, np.ma.array(Y, mask=mask))
    for cls in WEIGHTED:
        with pytest.raises(InputError, match=r"sample_weight: row 4 is missing \(masked\)"):
            cls().fit(X, Y, sample_weight=np.ma.array(Y, mask=mask))


@pytest.mark.parametrize("cls", [*ALL, FieldEncoder])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (None, "X must be a table of rows, got None"),
        ("a.csv", r"X must be a table of rows, got 'a.csv'; pass pandas.read_csv\(X\), say"),
        ({"a": [1, 0]}, r"X must be a table of rows, got .*; pass pandas.DataFrame\(X\)"),
        (pd.DataFrame(X, columns=["a", "b", "a"]), "two columns of the same name; rename"),
        (pl.LazyFrame({"a": Y}), r"X is a LazyFrame.*pass X.collect\(\)"),
    ],
)
def test_tables_that_only_we_explain(cls, table, message):
    with pytest.raises(InputError, match=message):
        cls().fit(table, Y)


@pytest.mark.parametrize("cls", ALL)
def test_missing_values_in_a_nullable_column(cls):
    frame = pd.DataFrame({"a": pd.array([1, None, 0], dtype="Int64"), "b": [0, 1, 1]})
    with pytest.raises(ValueError, match=r"row 1, column 0 \('a'\)"):
        cls().fit(frame, [0, 1, 1])


@pytest.mark.parametrize("cls", ALL)
def test_another_width_than_at_fit(cls):
    model = cls().fit(X, Y)
    wide = np.zeros((2, 4), dtype=int)
    for name in ("predict", "transform", "syndrome", "measure"):
        if hasattr(model, name):
            arguments = (wide, [0, 1]) if name == "measure" else (wide,)
            with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 3"):
                getattr(model, name)(*arguments)
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="X has 4 features"):
            model.partial_fit(wide, [0, 1])


@pytest.mark.parametrize("cls", LABELLED)
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (Y[:5], r"60 row\(s\), y has 5 label\(s\)"),
        (np.column_stack([Y, Y]), "1d array|shape"),
        (np.where(np.arange(60) == 4, np.nan, 0), "y: row 4 is nan, a missing"),
        (np.array([0, "x"] * 30, dtype=object), "mix|uniformly strings|'x'"),
    ],
)
def test_labels_that_do_not_fit(cls, labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cls().fit(X, labels)


def test_right_hand_sides_outside_the_field():
    with pytest.raises(InputError, match=r"y: row 3, column 0 is 4, which is not in GF\(3\)"):
        LinearEquations(field=3).fit(X[:5], [0, 1, 2, 4, 0])


@pytest.mark.parametrize("cls", WEIGHTED)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1] + [1] * 59, "sample_weight: row 0 has weight -1"),
        ([1, 0.5] + [1] * 58, "sample_weight: row 1 has weight 0.5"),
        ([1] * 59, r"shape \(60,\), got shape \(59,\)"),
        ([[1]] * 60, "one number per row"),
        (["a"] * 60, "whole numbers"),
        ([np.nan] + [1] * 59, "row 0 has weight nan"),
        ([0] * 60, "sample_weight is zero for every row"),
    ],
)
def test_weights_that_are_no_counts(cls, weights, message):
    model = cls()
    with pytest.raises(InputError, match=message):
        model.fit(X, Y, sample_weight=weights)
    with pytest.raises(Exception, match="not fitted"):
        _ = model.fingerprint_


@pytest.mark.parametrize("cls", REPLICABLE)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rho": 0}, "rho"),
        ({"rho": 1.5}, "rho"),
        ({"eps": 1.0}, "eps"),
        ({"eps": 0}, "eps"),
        ({"rule": "best"}, "rule must be 'index' or 'heavy'"),
        ({"rule": IndexRule(t_max=61)}, "more sets than there are rows"),
        ({"contamination": 0.5}, "contamination"),
        ({"contamination": -0.1}, "contamination"),
        ({"random_state": 1.5}, "seed"),
        ({"random_state": np.random.RandomState(0)}, "seed"),
        ({"field": 6}, "no field of order 6"),
        ({"field": "QR"}, "field must be"),
        ({"certify": "yes"}, "certify"),
    ],
)
def test_parameters_out_of_range(cls, parameters, message):
    with pytest.raises(InputError, match=message):
        cls(**parameters).fit(X, Y)


@pytest.mark.parametrize("cls", REPLICABLE)
def test_a_window_past_the_last_set(cls):
    wide = np.random.RandomState(1).randint(0, 2, size=(60, 12))
    with pytest.warns(ReplicabilityWarning, match=r"contamination × rank must stay below 1"):
        model = cls(contamination=0.4).fit(wide, np.arange(60) % 2)
    assert model.finding_.is_empty
    with pytest.warns(ReplicabilityWarning, match="give a smaller t_min"):
        cls(rule=IndexRule(t_min=59)).fit(wide, np.arange(60) % 2)
    model = cls(contamination=0.4).partial_fit(wide, np.arange(60) % 2)
    with pytest.warns(ReplicabilityWarning):
        _ = model.formula_
    with pytest.raises(WindowError, match="must not come before the first, t_min = 30, got 20"):
        cls(rule=IndexRule(t_min=30, t_max=20)).fit(wide, np.arange(60) % 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"choice": "best"}, "choice must be 'sparsest' or 'lexmin' or 'uniform'"),
        ({"field": "QQ", "choice": "uniform"}, "choice='uniform' needs a finite field"),
        ({"on_bottom": "guess"}, "on_bottom must be 'raise' or 'majority'"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False, got 'no'"),
    ],
)
@pytest.mark.parametrize("cls", [ParityClassifier, EliminationClassifier])
def test_parameters_of_linear_rules(cls, parameters, message):
    with pytest.raises(InputError, match=message):
        cls(**parameters).fit(X, Y)


def test_affine_is_true_or_false():
    with pytest.raises(InputError, match="affine must be True or False, got 0"):
        SubspaceClassifier(affine=0).fit(X, Y)


@pytest.mark.parametrize("cls", [ParityClassifier, EliminationClassifier, *PRIVATE])
def test_a_single_class_is_a_rule_or_bottom(cls):
    """Labels that are all 0 follow the rule y = 0 on every row seen; so nothing is undefined."""
    model = cls(random_state=1).fit(X, [0] * 60)
    assert model.classes_.tolist() == [0]
    if cls not in PRIVATE:
        assert model.formula_ == "y = 0"
    constant = cls(fit_intercept=True, random_state=1, on_bottom="majority").fit(X, [1] * 60)
    assert constant.predict(X).tolist() == [1] * 60


@pytest.mark.parametrize("cls", ALL)
def test_other_numbers_are_refused_with_the_way_out(cls):
    wild = np.array([[-3, 7, 2], [5, -1, 1000]] * 20)
    model = cls(random_state=1)
    with pytest.raises(InputError, match=r"is not in GF\(2\).*make_pipeline\(FieldEncoder\(\)"):
        model.fit(wild, [0, 1] * 20)
    model.fit(FieldEncoder(out_of_field="reduce").fit_transform(wild), [0, 1] * 20)
    tame = cls(random_state=1).fit(wild % 2, [0, 1] * 20)
    if hasattr(model, "flag_"):
        assert model.flag_ == tame.flag_


def test_a_frame_without_columns_is_called_that():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (pd.DataFrame(index=range(3)), pl.DataFrame()):
        with pytest.raises(InputError, match="without columns"):
            ParityClassifier().fit(frame, [0, 1, 1])


def test_the_encoder_that_an_error_proposes_has_the_field():
    with pytest.raises(InputError, match=r"make_pipeline\(FieldEncoder\(\), AffineSpan"):
        AffineSpan().fit([[0, 2]])
    with pytest.raises(InputError, match=r"make_pipeline\(FieldEncoder\(field=7\), AffineSpan"):
        AffineSpan(field=7).fit([[0, 9]])


def test_equations_that_half_of_the_rows_break_are_warned_of():
    random = np.random.RandomState(5)
    X = random.randint(0, 2, size=(2000, 12))
    X[random.random_sample(2000) < 0.45, :10] = 1  # a plane, in less than half of the rows
    model = LinearSpan(rule=IndexRule(t_min=0.08, t_max=0.12), random_state=1)
    with pytest.warns(ReplicabilityWarning) as said:
        model.fit(X)
    text = str(said[-1].message)
    assert text.startswith("Not supported by the rows (too many rows do not fit): ")
    assert "% of the rows do not fit, more than " in text
    assert "; a window that starts earlier" in text


def test_an_infinite_amount_is_called_so():
    with pytest.raises(InputError, match=r"row 1, column 0 \('a'\) is inf, an infinite value"):
        AffineSpan(field="QQ").fit(pd.DataFrame({"a": [0.5, np.inf], "b": [1, 2]}))


FRAMES = [
    (pd.DataFrame, r"X\.select_dtypes\('number'\)$"),
    (pl.DataFrame, r"X\.select\(polars\.selectors\.numeric\(\)\)$"),
]


@pytest.mark.parametrize(("frame", "remedy"), FRAMES, ids=["pandas", "polars"])
def test_columns_of_text_over_the_rationals_come_with_the_way_to_leave_them_out(frame, remedy):
    table = frame({"date": ["2026-01-01"] * 60, "net": [0.5] * 60})
    with pytest.raises(
        InputError, match=r"\('date'\) is '2026-01-01', .* such columns out: " + remedy
    ):
        AffineSpan(field="QQ").fit(table)


@pytest.mark.parametrize("cls", ALL)
def test_fractions_over_a_finite_field_come_with_the_rationals(cls):
    with pytest.raises(
        InputError, match=rf"equations between numbers: {cls.__name__}\(field='QQ'\)"
    ):
        cls().fit(pd.DataFrame({"net": [0.5, 1.5] * 30, "vat": [1, 0] * 30}), [0, 1] * 30)
