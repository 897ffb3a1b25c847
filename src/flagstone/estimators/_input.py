"""From what scikit-learn users pass (arrays, frames, sparse, packed rows) to rows over a field."""

from __future__ import annotations

import re
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from flagstone.bitrows import BitRows
from flagstone.errors import InputError
from flagstone.estimators._rows import chunks, stack_all
from flagstone.fields import Field, Rows


def table_rows(
    estimator: BaseEstimator, X: Any, field: Field, *, reset: bool, reduce: bool
) -> Rows:
    """Return X as rows over the field; remember (``reset``) or check its width and names.

    Packed rows pass through as they are. Frames of any library keep their column names.
    Sparse rows are unfolded a piece at a time.
    """
    if isinstance(X, BitRows):
        return _packed_rows(estimator, X, field, reset)
    # Without reduction the field looks at every entry itself and names row and column.
    table: Any = validate_data(
        estimator,
        plain_frame(X),
        reset=reset,
        accept_sparse="csr",
        dtype="numeric" if reduce else None,
        ensure_all_finite=reduce,
    )
    offset = 0
    try:
        if isinstance(table, np.ndarray):
            return field.rows(table, reduce=reduce)
        parts: list[Rows] = []
        for piece in chunks(table.shape[0]):
            offset = piece.start
            parts.append(field.rows(table[piece].toarray(), reduce=reduce))
        return stack_all(field, parts)
    except InputError as error:
        raise _placed(error, estimator, offset, reduce) from None


def plain_frame(X: Any) -> Any:
    """Return a frame of another library than pandas as an Arrow table; anything else as it is.

    Arrow tables hand their column names to every supported release of scikit-learn.
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame) and not frame.implementation.is_pandas():
        return frame.to_arrow()
    return X


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


def _placed(error: InputError, estimator: BaseEstimator, offset: int, reduce: bool) -> InputError:
    """Count the row from the first of the table, add the column's name and the way out."""
    text = str(error)
    place = re.match(r"X: row (\d+), column (\d+)", text)
    if place:
        row, column = int(place[1]) + offset, int(place[2])
        names = getattr(estimator, "feature_names_in_", None)
        known = "" if names is None else f" ({names[column]!r})"
        text = f"X: row {row}, column {column}{known}{text[place.end() :]}"
    if "is not in GF" in text and not reduce:
        text += "; encode them with FieldEncoder, or map them with out_of_field='reduce'"
    return InputError(text)
