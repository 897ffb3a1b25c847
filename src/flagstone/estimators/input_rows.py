"""From what scikit-learn users pass (arrays, frames, sparse, packed rows) to rows over a field."""

from __future__ import annotations

import re
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields import Array, Field, Rows
from flagstone.algebra.lift import chunks
from flagstone.checks import checked_weights
from flagstone.errors import EntryTypeError, InputError
from flagstone.exact import exact_array
from flagstone.tables.memory import decimal_fractions, plain_table, refuse_masked

#: How a data frame of each library is cut to its columns of numbers.
_NUMBERS_ONLY = {
    "pandas": ": X.select_dtypes('number')",
    "polars": ": X.select(polars.selectors.numeric())",
}


def table_rows(
    estimator: BaseEstimator, X: Any, field: Field, *, reset: bool, reduce: bool = False
) -> Rows:
    """Return X as rows over the field; remember (``reset``) or check its width and names.

    Packed rows pass through as they are. Frames of any library keep their column names.
    Sparse rows are unfolded a piece at a time.
    """
    if isinstance(X, BitRows):
        return _packed_rows(estimator, X, field, reset)
    # The field looks at every entry itself and names row and column; scikit-learn would make
    # floats of integers, which have too few digits for some.
    table, rules = plain_table(X), {"dtype": None, "ensure_all_finite": False}
    names = named_columns(table)
    if names is not None:
        validate_data(estimator, names, reset=reset, skip_check_array=True)
        table = check_array(exact_array(table), **rules)
    else:
        table = validate_data(estimator, table, reset=reset, accept_sparse="csr", **rules)
    offset = 0
    try:
        if isinstance(table, np.ndarray):
            if field.order is None:
                table = decimal_fractions(table, "X")
            return field.rows(table, reduce=reduce)
        parts: list[Rows] = []
        for piece in chunks(*table.shape):
            offset = piece.start
            parts.append(field.rows(table[piece].toarray(), reduce=reduce))
        return field.stack(*parts)
    except InputError as error:
        raise _placed(error, estimator, offset, X) from None


def named_columns(table: Any) -> Any | None:
    """Return an object whose column names every scikit-learn reads; None without a frame.

    That is a frame of pandas as it is, and an Arrow table without rows for any other.
    """
    if isinstance(table, np.ndarray):  # asking about it would take as long as packing some rows
        return None
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    if frame.implementation.is_pandas():
        return table
    import pyarrow as pa

    return pa.table([pa.nulls(0)] * frame.shape[1], names=list(frame.columns))


def checked_counts(sample_weight: Any, n_rows: int) -> Array | None:
    """Return how often each row counts (None for once), or say which number is bad."""
    refuse_masked(sample_weight, "sample_weight")
    return checked_weights(sample_weight, n_rows, "sample_weight")[0]


def feature_names(estimator: BaseEstimator, input_features: Any = None) -> Array:
    """Return the names of the columns, or x0, x1, … without names.

    ``input_features`` that are others are refused in scikit-learn's words.
    """
    check_is_fitted(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    n_features = estimator.n_features_in_
    if input_features is not None:
        given = list(input_features)
        if names is not None and given != list(names):
            raise InputError("input_features is not equal to feature_names_in_")
        if len(given) != n_features:
            raise InputError(
                "input_features should have length equal to number of features "
                f"({n_features}), got {len(given)}"
            )
    known = (f"x{i}" for i in range(n_features)) if names is None else map(str, names)
    return np.array(list(known), dtype=object)


def _packed_rows(estimator: BaseEstimator, X: BitRows, field: Field, reset: bool) -> Rows:
    if not len(X):
        raise InputError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if reset:
        estimator.n_features_in_ = X.dim
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    elif X.dim != estimator.n_features_in_:
        raise InputError(
            f"X has {X.dim} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    return field.rows(X)


def _placed(error: InputError, estimator: BaseEstimator, offset: int, X: Any) -> InputError:
    """Count the row from the first of the table, add the column's name and the way out."""
    text = str(error)
    place = re.match(r"X: row (\d+), column (\d+)", text)
    name = None
    if place:
        row, column = int(place[1]) + offset, int(place[2])
        names = getattr(estimator, "feature_names_in_", None)
        name = None if names is None else names[column]
        known = "" if name is None else f" ({name!r})"
        text = f"X: row {row}, column {column}{known}{text[place.end() :]}"
    me, field = type(estimator).__name__, getattr(estimator, "field", 2)
    encoder = "FieldEncoder()" if field == 2 else f"FieldEncoder(field={field!r})"
    if isinstance(error, EntryTypeError):  # in words that scikit-learn's checks look for
        text += " (an argument must be turned from a string, say, into a number): "
        text += f"make_pipeline({encoder}, {me}(...))"
    elif "is not a whole number" in text:
        text += f"; for equations between numbers: {me}(field='QQ'); to encode them: "
        text += f"make_pipeline(FieldEncoder(encoders=...), {me}(...))"
    elif "is not in GF" in text:
        text += f"; make_pipeline({encoder}, {me}(...)) encodes other numbers"
    if name is not None and re.search("not a rational number|no rational;", text):
        text += f"; if {name!r} is no column of numbers, leave such columns out"
        text += _NUMBERS_ONLY.get(type(X).__module__.partition(".")[0], "")
    return type(error)(text)
