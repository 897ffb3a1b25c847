"""From the caller's rows to a 2-D array or BitRows, with errors that name the row."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.checks import shown
from flagstone.errors import EntryTypeError, InputError
from flagstone.exact import Array, exact_array, exact_floor, exact_integers, is_missing


def as_table(X: Any, *, dim: int | None, name: str) -> Array | BitRows:
    """Return X as a 2-D array or BitRows of ``dim`` columns; its entries are not looked at."""
    table = X if isinstance(X, BitRows) else _as_array(X, dim, name)
    columns = table.shape[1]
    if columns == 0:
        raise InputError(f"{name} has 0 columns; rows need at least one entry")
    if dim is not None and columns != dim:
        raise InputError(f"{name} has {columns} column(s), but {dim} are expected")
    return table


def _as_array(X: Any, dim: int | None, name: str) -> Array:
    if hasattr(X, "toarray"):
        X = X.toarray()
    # Asked of plain arrays, too, this would load numpy.ma.
    if isinstance(X, np.ndarray) and type(X) is not np.ndarray and np.ma.is_masked(X):
        _fail_at(np.ma.getmaskarray(X), name, "is missing (masked); fill or drop the row first")
    # Of arrays their dimensions tell it, and numpy.isscalar takes long when it is first called.
    if not isinstance(X, np.ndarray) and (isinstance(X, (str, bytes)) or np.isscalar(X)):
        raise InputError(f"{name} must be a table of rows, got {shown(X)}")
    try:
        array = exact_array(X)
    except ValueError:
        array = _nested(X, name)
    if array.ndim == 1 and array.size == 0:
        if dim is None:
            raise InputError(f"{name} has no rows; say how many columns it has with dim=…")
        return np.zeros((0, dim), dtype=np.uint8)
    if array.ndim == 1 and array.dtype == object:
        array = _nested(X, name)
    if array.ndim == 2 and array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = _nested(X, name)  # a list that mixes text with numbers: keep the numbers
    if array.ndim != 2:
        hint = (
            f"; for a single row write [{name}], for a single column {name}.reshape(-1, 1)"
            if array.ndim == 1
            else ""
        )
        raise InputError(
            f"{name} must be a table of rows (2 dimensions), got {array.ndim} dimension(s){hint}"
        )
    return array


def _nested(X: Any, name: str) -> Array:
    """Build an object array from nested sequences of equal length, or say which row differs."""
    rows = []
    for i, row in enumerate(X):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__"):
            raise InputError(f"{name}: row {i} must be a sequence of entries, got {shown(row)}")
        rows.append(row)
        if len(row) != len(rows[0]):
            raise InputError(
                f"{name}: row {i} has {len(row)} entries, but row 0 has {len(rows[0])}; "
                "all rows must have the same length"
            )
    out = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            out[i, j] = value
    return out


def _fail_at(bad: Array, name: str, problem: str) -> None:
    flat = int(np.argmax(bad))
    i, j = divmod(flat, bad.shape[1])
    raise InputError(f"{name}: row {i}, column {j} {problem}")


def fail_value(
    table: Array,
    bad: Array | int,
    name: str,
    problem: str,
    error: type[InputError] = InputError,
) -> NoReturn:
    """Raise for the first bad entry (a mask, or its flat position), showing its value."""
    flat = bad if isinstance(bad, int) else int(np.argmax(bad))
    i, j = divmod(flat, table.shape[1])
    raise error(f"{name}: row {i}, column {j} is {shown(table[i, j])}, {problem}")


def whole_numbers(table: Array, name: str, *, floor: bool = False) -> Array:
    """Return a table as an integer array (possibly of Python integers), or say what is not.

    Accepts booleans, integers, floats and decimals that are whole, and objects that are any of
    these; with ``floor`` fractions are rounded down instead of refused.
    """
    kind = table.dtype.kind
    if not table.size:
        return np.zeros(table.shape, dtype=np.uint8)
    if kind in "bui":
        return table if table.dtype.isnative else table.astype(table.dtype.newbyteorder("="))
    if kind == "f":
        finite = np.isfinite(table)
        if not finite.all():
            fail_value(table, ~finite, name, _NO_NUMBER)
        floored = np.floor(table if table.itemsize >= 8 else table.astype(np.float64))
        if not floor and not (whole := floored == table).all():
            fail_value(table, ~whole, name, "which is not a whole number")
        if table.size and np.abs(floored).max() >= 2.0**62:
            return _objects(floored.astype(object), name, floor)
        return floored.astype(np.int64)
    if kind == "O":
        return _objects(table, name, floor)
    if kind == "c":
        raise InputError(f"{name}: complex data not supported; entries must be whole numbers")
    return fail_value(table, 0, name, f"of type {table.dtype}; {_ENCODE}", EntryTypeError)


def _objects(table: Array, name: str, floor: bool) -> Array:
    def whole(value: Any, flat: int) -> int:
        below = exact_floor(value)
        # an older NumPy compares a long double with an int as doubles
        rounded = np.floor(value) if isinstance(value, np.floating) else below
        if below is not None and (floor or rounded == value):
            return below
        if below is not None:
            fail_value(table, flat, name, "which is not a whole number")
        if isinstance(value, (float, np.floating)):
            fail_value(table, flat, name, _NO_NUMBER)
        if is_missing(value):
            fail_value(table, flat, name, "a missing value; fill or drop the row first")
        kind = type(value).__name__
        return fail_value(table, flat, name, f"of type {kind}; {_ENCODE}", EntryTypeError)

    values = [whole(value, flat) for flat, value in enumerate(table.ravel())]
    return exact_integers(values).reshape(table.shape)


_NO_NUMBER = "which is not a number (NaN or infinite); fill or drop the row first"
_ENCODE = "entries must be whole numbers, so encode it first"
