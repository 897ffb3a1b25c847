"""From what scikit-learn users pass (arrays, frames, sparse, packed rows) to rows over a field."""

from __future__ import annotations

import re
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from flagstone.bitrows import BitRows
from flagstone.checks import checked_weights
from flagstone.errors import InputError
from flagstone.fields import Array, Field, Rows, as_table
from flagstone.lift import chunks, stack_all


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
        plain_table(X),
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


def plain_table(X: Any) -> Any:
    """Return X in a form that scikit-learn understands, or say why there is none.

    Frames of other libraries than pandas become Arrow tables, which hand their column names to
    every supported release of scikit-learn. What scikit-learn would refuse in words that lead
    nowhere, or take silently (masked entries), is refused here.
    """
    if X is None:
        raise InputError("X must be a table of rows, got None")
    refuse_masked(X, "X")
    if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], (list, tuple)):
        return as_table(X, dim=None, name="X")
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise InputError(
            "X has two columns of the same name; rename one of them, or pass X.to_numpy()"
        ) from None
    if isinstance(frame, nw.LazyFrame) and not hasattr(X, "__array__"):
        raise InputError(
            f"X is a {type(X).__name__}, whose rows are not there yet; pass X.collect()"
        )
    if isinstance(frame, nw.DataFrame) and not frame.implementation.is_pandas():
        return frame.to_arrow()
    return X


def refuse_masked(values: Any, name: str) -> None:
    """Name the first masked entry: conversion to a plain array would bring it back."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        place = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        where = ", ".join(f"{w} {i}" for w, i in zip(("row", "column"), place, strict=False))
        raise InputError(f"{name}: {where} is missing (masked); fill it in or drop the row first")


def checked_counts(sample_weight: Any, n_rows: int) -> tuple[Array | None, int]:
    """Return how often each row counts (None for once) and the sum, or say which is bad."""
    refuse_masked(sample_weight, "sample_weight")
    return checked_weights(sample_weight, n_rows, "sample_weight")


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
