"""FieldEncoder: columns of real tables become field elements."""

import re
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from flagstone import FieldEncoder, IndexRule, InputError, ParityClassifier
from flagstone.errors import EntryTypeError, InputWarning

COLUMNS = {
    "on": [True, False, True, True],
    "mode": ["a", "b", "a", "b"],
    "colour": ["red", "green", "blue", "red"],
    "level": [0, 5, 3, 1],
    "bit": [0, 1, 1, 0],
}
NAMES = [
    "on", "mode", "colour=blue", "colour=green", "colour=red",
    "level[0]", "level[1]", "level[2]", "bit",
]  # fmt: skip
CODES = [
    [1, 0, 0, 0, 1, 0, 0, 0, 0],
    [0, 1, 0, 1, 0, 1, 0, 1, 1],
    [1, 0, 1, 0, 0, 1, 1, 0, 1],
    [1, 1, 0, 0, 1, 1, 0, 0, 0],
]


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
def test_frames_of_every_library(frame):
    table = frame(COLUMNS)
    encoder = FieldEncoder().fit(table)
    assert encoder.get_feature_names_out().tolist() == NAMES
    assert encoder.transform(table).tolist() == CODES
    assert encoder.transform(table).dtype == np.uint8
    assert encoder.feature_names_in_.tolist() == list(COLUMNS)
    assert encoder.encoders_ == {
        "on": "element",
        "mode": "levels:a,b",
        "colour": "onehot:blue,green,red",
        "level": "bits:3",
        "bit": "element",
    }


def test_arrays_without_names():
    X = np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object)
    encoder = FieldEncoder().fit(X)
    assert encoder.transform(X).tolist() == CODES
    assert encoder.get_feature_names_out()[0] == "x0"
    assert FieldEncoder().fit_transform([[1, 6], [0, 1]]).tolist() == [[1, 0, 1, 1], [0, 1, 0, 0]]


def test_published_encoders_make_a_second_run_encode_alike():
    first = FieldEncoder().fit(pd.DataFrame(COLUMNS))
    few = pd.DataFrame({name: values[:1] for name, values in COLUMNS.items()})
    second = FieldEncoder(encoders=first.encoders_).fit(few)
    assert second.encoding_ == first.encoding_
    assert second.transform(few).tolist() == CODES[:1]


def test_larger_fields_hold_more():
    table = pd.DataFrame({"level": [0, 5, 3], "big": [0, 12, 3]})
    encoder = FieldEncoder(field=11).fit(table)
    assert encoder.encoders_ == {"level": "element", "big": "bits:4"}
    exact = FieldEncoder(field="QQ").fit_transform(table)
    assert exact.tolist() == [[0, 0], [5, 12], [3, 3]]


def test_reduction_maps_numbers_into_the_field():
    table = pd.DataFrame({"a": [-1, 7, 3], "b": [0.5, 1.5, -0.5], "c": ["u", "v", "u"]})
    encoder = FieldEncoder(field=3, out_of_field="reduce").fit(table)
    assert encoder.transform(table).tolist() == [[2, 0, 0], [1, 1, 1], [0, 2, 0]]


def test_set_output_gives_named_frames():
    table = pd.DataFrame(COLUMNS)
    out = FieldEncoder().set_output(transform="pandas").fit_transform(table)
    assert out.columns.tolist() == NAMES
    assert out.to_numpy().tolist() == CODES


def test_constant_text_is_left_out_and_said_so():
    table = pd.DataFrame({"site": ["x", "x"], "bit": [0, 1]})
    encoder = FieldEncoder().fit(table)
    assert encoder.get_feature_names_out().tolist() == ["bit"]
    assert "always 'x'" in encoder.left_out_["site"]
    with pytest.raises(InputError, match="no column of X carries information"):
        FieldEncoder().fit(table[["site"]])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([0.5, 1.5, 2.5], r"fractional.*'above:1.5'"),
        ([-1, 5, 3], r"from -1 to 5.*'mod'"),
        ([f"id{i}" for i in range(40)], "like an identifier"),
        ([1, None, 2], "row 1, column 'c' is missing"),
        ([1.0, float("nan"), 2.0], "row 1, column 'c' is missing"),
        ([True, None, False], "row 1, column 'c' is missing"),
        (["a", None, "b"], "row 1, column 'c' is missing"),
    ],
)
@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
def test_what_would_lose_information_is_refused(column, message, frame):
    with pytest.raises(InputError, match=message):
        FieldEncoder().fit(frame({"c": column}))


def test_fractional_numbers_are_refused_with_every_way_on():
    with pytest.raises(InputError) as caught:
        FieldEncoder().fit(pd.DataFrame({"temp": [0.5, 1.5, 2.5]}))
    assert str(caught.value) == (
        "column 'temp' holds fractional numbers; 1.5 is the median of these rows. For equations "
        "between numbers: field='QQ'. To encode it (1 where the number is greater): "
        "FieldEncoder(encoders={'temp': 'above:1.5'}); or drop the column"
    )
    encoder = FieldEncoder(encoders={"temp": "above:1.5"})
    assert encoder.fit_transform(pd.DataFrame({"temp": [0.5, 1.5, 2.5]})).tolist() == [
        [0],
        [0],
        [1],
    ]


def test_values_without_a_code_are_refused_with_their_place():
    encoder = FieldEncoder().fit(pd.DataFrame({"mode": ["a", "b"], "level": [2, 3]}))
    with pytest.raises(InputError, match=r"row 1, column 'mode': 'c' is none of the listed"):
        encoder.transform(pd.DataFrame({"mode": ["a", "c"], "level": [1, 1]}))
    with pytest.raises(InputError, match=r"row 0, column 'level': 4 does not fit into 2 bits"):
        encoder.transform(pd.DataFrame({"mode": ["a"], "level": [4]}))
    with pytest.raises(InputError, match=r"encoders names column 'nope', but X has 'a'"):
        FieldEncoder(encoders={"nope": "element"}).fit(pd.DataFrame({"a": [0, 1]}))
    with pytest.raises(InputError, match="no such encoder"):
        FieldEncoder(encoders={"a": "magic"}).fit(pd.DataFrame({"a": [0, 1]}))
    with pytest.raises(InputError, match="out_of_field must be"):
        FieldEncoder(out_of_field="drop").fit([[0]])
    with pytest.raises(InputError, match="minimum of 1 is required"):
        FieldEncoder().fit(pd.DataFrame({"a": []}))
    with pytest.raises(ValueError, match="feature names should match"):
        encoder.transform(pd.DataFrame({"mode": ["a"], "other": [1]}))
    with pytest.raises(InputError, match="not equal to feature_names_in_"):
        encoder.get_feature_names_out(["p", "q"])


def test_a_category_that_the_fit_did_not_see_is_refused_or_ignored():
    seen = pd.DataFrame({"c": ["r", "g", "b"], "l": ["no", "yes", "no"]})
    rare = pd.DataFrame({"c": ["g", "violet"], "l": ["perhaps", "yes"]})
    with pytest.raises(InputError, match=r"row 1, column 'c': 'violet' is none of the listed"):
        FieldEncoder().fit(seen).transform(rare)
    lenient = FieldEncoder(handle_unknown="ignore").fit(seen)
    assert lenient.get_feature_names_out().tolist() == ["c=b", "c=g", "c=r", "l"]
    assert lenient.transform(rare).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    with pytest.raises(InputError, match="handle_unknown must be 'error' or 'ignore', got 'skip'"):
        FieldEncoder(handle_unknown="skip").fit(seen)


def test_a_grid_search_outlives_a_rare_category():
    """A fold without it could not score the others: nan, and a warning of scikit-learn's."""
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"c": rng.choice(["r", "g", "b"], 60), "n": rng.randint(0, 2, 60)})
    frame.loc[7, "c"] = "violet"
    y = np.where(frame["n"], "good", "bad")
    search = GridSearchCV(
        make_pipeline(
            FieldEncoder(handle_unknown="ignore"),
            ParityClassifier(random_state=1, classes=["bad", "good"], on_bottom="majority"),
        ),
        {"parityclassifier__rule": [IndexRule(t_max=2), IndexRule(t_max=4)]},
        cv=3,
        error_score="raise",
    )
    search.fit(frame, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_an_index_that_became_a_column_is_recognised():
    frame = pd.DataFrame({"Unnamed: 0": range(9), "on": [True, False, True] * 3})
    with pytest.raises(
        InputError, match=r"'Unnamed: 0' holds row numbers, like the index.*drop it"
    ):
        FieldEncoder().fit(frame)


@pytest.mark.parametrize("dtype", ["category", "string", object, "string[pyarrow]"])
def test_text_categories_beside_booleans(dtype):
    frame = pd.DataFrame({"t": pd.Series(["a", "b", "a"], dtype=dtype), "on": [True, False, True]})
    assert FieldEncoder().fit_transform(frame).tolist() == [[0, 1], [1, 0], [0, 1]]
    for table in (frame, pl.from_pandas(frame)):
        said = r"row 0, column 0 \('t'\) is 'a', of type str.*make_pipeline\(FieldEncoder\(\), Par"
        with pytest.raises(InputError, match=said):
            ParityClassifier().fit(table, [0, 1, 1])


def test_missing_values_become_a_level_on_request():
    table = pd.DataFrame({"mode": ["a", None, "b", "NA"], "n": [1.0, 0.0, float("nan"), 1.0]})
    with pytest.warns(InputWarning, match="'NA' in column 'mode' is taken for a missing value"):
        encoder = FieldEncoder(missing="level").fit(table)
    assert encoder.encoders_ == {"mode": "onehot:a,b,(missing)", "n": "onehot:0.0,1.0,(missing)"}
    assert encoder.transform(table).tolist() == [
        [1, 0, 0, 0, 1, 0],
        [0, 0, 1, 1, 0, 0],
        [0, 1, 0, 0, 0, 1],
        [0, 0, 1, 0, 1, 0],
    ]
    with pytest.raises(InputError, match=r"row 1, column 'mode' is missing \(1 in 'mode'"):
        FieldEncoder().fit(table)
    with pytest.raises(InputError, match="missing must be 'refuse' or 'level', got 'drop'"):
        FieldEncoder(missing="drop").fit(table)
    with pytest.raises(InputError, match=r"row 2, column 'mode' \(NaN\): the value is missing"):
        FieldEncoder().fit(table[["mode"]].iloc[[0, 2]]).transform(table[["mode"]].iloc[[0, 2, 1]])


def test_the_text_na_is_reported():
    with pytest.warns(InputWarning, match="'NA' in column 'a' is read as a value") as said:
        encoder = FieldEncoder().fit(pd.DataFrame({"a": ["x", "NA", "y"]}))
    assert encoder.encoders_ == {"a": "onehot:NA,x,y"}
    advised = re.findall(r"missing='(\w+)'", str(said[0].message))
    assert advised
    for way in advised:
        with pytest.warns(InputWarning, match="is taken for a missing value"):
            FieldEncoder(missing=way).fit(pd.DataFrame({"a": ["x", "NA", "y"]}))


def test_decimals_are_elements_of_the_rationals():
    table = pd.DataFrame({"net": [Decimal("53.63"), Decimal("0.10")], "vat": [10.73, 0.02]})
    with pytest.warns(InputWarning, match="shortest decimal form, such as 10"):
        encoded = FieldEncoder(field="QQ").fit_transform(table)
    assert encoded.tolist() == [[F(5363, 100), F(1073, 100)], [F(1, 10), F(2, 100)]]


@pytest.mark.parametrize("names", [[0, 1], pd.MultiIndex.from_tuples([("p", "q"), ("p", "s")])])
def test_frames_without_names_of_text_are_read_by_column(names):
    table = pd.DataFrame([[1, 5], [0, 2], [1, 7]], columns=names)
    encoder = FieldEncoder().fit(table)
    assert encoder.encoders_ == {"x0": "element", "x1": "bits:3"}
    assert encoder.transform(table).tolist() == [[1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1]]


@pytest.mark.parametrize("missing", ["refuse", "level"])
def test_infinite_numbers_are_refused_with_their_row(missing):
    with pytest.raises(InputError, match="row 2, column 'a' is -inf; correct it, or drop the row"):
        FieldEncoder(missing=missing).fit(pd.DataFrame({"a": [1.0, 0.0, -np.inf]}))
    with pytest.raises(InputError, match="row 1, column 'a' is inf"):
        FieldEncoder(missing=missing).fit(pd.DataFrame({"a": [None, np.inf, "text"]}, dtype=object))


def test_entries_of_another_type_are_named_by_their_row_in_the_table():
    with pytest.raises(EntryTypeError, match=r"row 2, column 'a' is \[1\], of type list"):
        FieldEncoder(missing="level").fit(pd.DataFrame({"a": [None, "x", [1]]}))


@pytest.mark.parametrize(
    ("cells", "encoder"),
    [
        ([True, False], "element"),
        ([np.float64(1), 0, 1], "element"),
        ([5.0, 5.0], "bits:3"),
        ([2.0**53, 1.0], "levels:1,9007199254740992"),
        ([2**70, 1], f"levels:1,{2**70}"),
        ([Decimal("0.0"), Decimal(1)], "element"),
        ([1, "a"], "levels:1,a"),
    ],
)
def test_a_column_of_objects_is_encoded_as_the_numbers_that_it_holds(cells, encoder):
    X = np.empty((8 * len(cells), 1), dtype=object)
    X[:, 0] = cells * 8
    fitted = FieldEncoder().fit(X)
    assert fitted.encoders_ == {"x0": encoder}
    assert fitted.transform(X).max() <= 1
