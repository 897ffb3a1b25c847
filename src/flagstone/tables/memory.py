"""Rows in memory: arrays and frames of any library, as they are or through an encoding."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from numbers import Number
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from flagstone.algebra import BitRows
from flagstone.algebra.fields import Array, Rows, as_table
from flagstone.checks import shown
from flagstone.encoding import BadEntry, Encoding
from flagstone.errors import EntryTypeError, InputError, InputWarning
from flagstone.exact import (
    exact_array,
    exact_column,
    exact_floor,
    exact_integers,
    exact_rational,
    missing_entries,
)
from flagstone.wording import closest

#: What a column may hold.
_ENTRIES = (str, bool, np.bool_, Number, Decimal)


def encoded_rows(encoding: Encoding, X: Any, y: Any = None) -> tuple[Rows, Array | None]:
    """Return a table in memory as rows over a field, and the label if the encoding has one.

    The columns of a frame are found by name, in any order, among others; those of an array are
    the features in their order. A frame may hold the label, too; ``y`` comes first.

    Examples
    --------
    >>> import pandas as pd
    >>> from flagstone import GF
    >>> from flagstone.encoding import ColumnEncoder
    >>> encoding = Encoding(GF(2), (ColumnEncoder.parse("door", "levels:shut,open"),))
    >>> encoded_rows(encoding, pd.DataFrame({"no": [7, 8], "door": ["open", "shut"]}))[0].unpack()
    array([[1],
           [0]], dtype=uint8)
    """
    if isinstance(X, BitRows):
        X = X.unpack()
    table = plain_table(X)
    columns = [typed_column(values, name) for name, values in _columns(encoding, table, y)]
    if encoding.field.order is None:
        _warn_of_floats(columns)
    try:
        return encoding.rows(columns)
    except BadEntry as bad:
        raise InputError(f"X: row {bad.index}, column {bad.column!r}: {bad.problem}") from None


def _columns(encoding: Encoding, table: Any, y: Any) -> list[tuple[str, Array]]:
    """Return the columns that the encoding reads, by name, each with its own type."""
    label = None if encoding.label is None else encoding.label.column
    frame = None
    if not isinstance(table, np.ndarray):
        frame = nw.from_native(table, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        wanted = encoding.columns if y is None else encoding.without_label().columns
        known = {str(name): i for i, name in enumerate(frame.columns)}
        for name in wanted:
            if name not in known:
                raise InputError(_no_column(name, list(known), is_label=name == label))
        found = [(name, exact_column(frame[:, known[name]].to_native())) for name in wanted]
    else:
        array, names = exact_array(table), encoding.without_label().columns
        if array.ndim != 2 or array.shape[1] != len(names):
            shape = f"{array.shape[1]} columns" if array.ndim == 2 else f"the shape {array.shape}"
            raise InputError(f"X has {shape}, but {len(names)} are read: {_listed(names)}")
        if label is not None and y is None:
            raise InputError(f"y is needed: the label {label!r} of each row")
        found = [(name, exact_column(array[:, j])) for j, name in enumerate(names)]
    if label is None or y is None:
        return found
    refuse_masked(y, "y")
    labels = exact_column(y)
    if found and len(labels) != len(found[0][1]):
        raise InputError(f"X has {len(found[0][1]):,} row(s), but y has {len(labels):,} label(s)")
    return [*found, (label, labels)]


def _no_column(name: str, known: list[str], *, is_label: bool) -> str:
    hint = closest(name, known) or f" (columns: {_listed(known)})"
    return f"X has no column {name!r}{hint}" + "; or give the labels as y" * is_label


def _listed(names: Any, most: int = 6) -> str:
    return ", ".join(map(str, names[:most])) + ", …" * (len(names) > most)


def _warn_of_floats(columns: list[Array]) -> None:
    """Warn that binary floats are read as decimals, as `decimal_fractions` does."""
    for values in columns:
        if values.dtype.kind == "f":
            fractions = values[np.isfinite(values) & (values != np.floor(values))]
            if len(fractions):
                decimal_fractions(fractions[:1], "X")
                return


def plain_table(X: Any) -> Any:
    """Return a table of rows, or raise an error that says what is wrong.

    What scikit-learn would refuse in words that lead nowhere, or take silently (masked entries),
    is refused here.
    """
    if X is None or isinstance(X, (str, dict)):
        hint = "; pass pandas.DataFrame(X)" if isinstance(X, dict) else ""
        hint = "; pass pandas.read_csv(X), say" if isinstance(X, str) else hint
        raise InputError(f"X must be a table of rows, got {shown(X)}{hint}")
    refuse_masked(X, "X")
    if isinstance(X, np.ndarray):
        return X
    if isinstance(X, (list, tuple)) and len(X) and hasattr(X[0], "__len__"):
        return as_table(X, dim=None, name="X")
    if type(X).__module__.startswith("pyarrow") and type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        X = pa.Table.from_batches([X])
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
    if not isinstance(frame, nw.DataFrame):
        return X
    if not frame.columns:  # as an array it would have no rows either
        raise InputError("X is a table without columns: there is nothing to fit")
    return frame.to_native()


def refuse_masked(values: Any, name: str) -> None:
    """Name the first masked entry: conversion to a plain array would bring it back."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        place = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        where = ", ".join(f"{w} {i}" for w, i in zip(("row", "column"), place, strict=False))
        raise InputError(f"{name}: {where} is missing (masked); fill it in or drop the row first")


def decimal_fractions(table: Array, name: str) -> Array:
    """Return numbers with binary floats as fractions, by their shortest decimal form, and say so.

    NaN, infinities and whole numbers stay as they are.
    """
    if table.dtype.kind not in "fO":
        return table
    cells = table.ravel() if table.dtype.kind == "f" else table.ravel().tolist()
    out = np.array(list(cells), dtype=object)
    example = None
    for i, value in enumerate(cells):
        if isinstance(value, (float, np.floating)) and np.isfinite(value) and value % 1:
            out[i] = exact_rational(str(value))
            example = example or value
    if example is not None:
        warnings.warn(
            InputWarning(
                f"{name}: binary floats are read by their shortest decimal form, such as "
                f"{example!s}; numbers of the types Fraction and Decimal are exact"
            ),
            stacklevel=2,
        )
    return table if example is None else out.reshape(table.shape)


def typed_column(values: Array, name: str) -> Array:
    """Return a column of objects that are all booleans or all numbers as such."""
    gaps = missing_entries(values)
    _check_entries(values, gaps, name)
    if not gaps.any():
        return _as_numbers(values)
    out = np.full(len(values), None, dtype=object)
    out[~gaps] = _as_numbers(values[~gaps])
    return out


def _check_entries(values: Array, gaps: Array, name: str) -> None:
    """Refuse entries, gaps aside, that are no text, no truth value and no finite number."""
    if values.dtype.kind in "USbiu":
        return
    cells = values.tolist()
    if values.dtype.kind == "f":
        infinite = np.isinf(values)
    else:
        others = np.array([not isinstance(cell, _ENTRIES) for cell in cells], dtype=bool) & ~gaps
        if others.any():
            row = int(np.argmax(others))
            raise EntryTypeError(
                f"X: row {row}, column {name!r} is {shown(cells[row])}, of type "
                f"{type(cells[row]).__name__}; a column must hold numbers, text, or true and "
                "false: turn it into one of these first"
            )
        infinite = np.array(
            [isinstance(cell, (float, np.floating)) and math.isinf(cell) for cell in cells]
        )
    if infinite.any():
        row = int(np.argmax(infinite))
        raise InputError(
            f"X: row {row}, column {name!r} is {cells[row]}; correct it, or drop the row"
        )


def _as_numbers(values: Array) -> Array:
    if values.dtype.kind in "US":
        return values.astype(object)
    if values.dtype.kind in "biuf":
        return values
    kinds = {type(v) for v in values.tolist()}
    if not kinds & {bool, np.bool_, str}:  # decimals and fractions, too, are what they are
        whole = [floor for value in values.tolist() if (floor := exact_floor(value)) is not None]
        if whole == values.tolist():
            return exact_integers(whole)
    return exact_array(values.tolist()) if kinds <= {bool} or kinds <= {int, float} else values


def are_numbers(values: Array) -> bool:
    """Say whether all entries of a column are numbers, and none is true or false."""
    if values.dtype != object:
        return values.dtype.kind in "uif"
    return all(exact_floor(v) is not None and not isinstance(v, bool) for v in values.tolist())
