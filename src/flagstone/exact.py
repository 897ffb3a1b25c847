"""Numbers, exactly: from text, objects and columns of a frame, never through a float.

Python's own limit of digits plays no part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

#: More digits than this are refused, because reading them alone would take seconds per number.
MOST_DIGITS = 1_000_000
#: Larger powers of ten are refused, because a short column of them would fill the memory.
MOST_EXPONENT = 1_000

_PIECE = 600  # digits that int() takes under any setting of sys.set_int_max_str_digits
_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_RATIONAL = re.compile(
    r"([+-]?)(?=\.?[0-9])([0-9]*)(?:/([0-9]+)|(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?)"
)


def exact_integer(text: str) -> int:
    """Return the integer that a sign and digits denote.

    >>> exact_integer("-" + "9" * 5000) == 1 - 10**5000
    True
    """
    if len(text) <= _PIECE:
        return int(text)
    if len(text) > MOST_DIGITS:
        raise ValueError(f"has {len(text):,} digits, more than the {MOST_DIGITS:,} that are read")
    if text.startswith("-"):
        return -_natural(text[1:])
    return _natural(text.removeprefix("+"))


def whole_number(cell: str) -> int | None:
    """Return the whole number that a cell holds, however it is written, or None.

    >>> whole_number("+1"), whole_number(" -7.0"), whole_number("0.5"), whole_number("1e3")
    (1, -7, None, None)
    """
    if cell.isdigit() and cell.isascii() and len(cell) < 19:  # nearly always
        return int(cell)
    found = _WHOLE.fullmatch(cell.strip())
    return None if found is None else exact_integer(found[1])


def truth_value(cell: str) -> int | None:
    """Return 1 for the text true and 0 for false, in any case; None for another one.

    >>> truth_value("True"), truth_value("FALSE"), truth_value("yes")
    (1, 0, None)
    """
    return {"true": 1, "false": 0}.get(cell.strip().lower())


def _natural(digits: str) -> int:
    if len(digits) <= _PIECE:
        return int(digits)
    half = len(digits) // 2
    shift: int = 10**half
    return _natural(digits[:-half]) * shift + _natural(digits[-half:])


def exact_integers(values: list[int]) -> Array:
    """Return integers as int64 where all of them fit, as objects otherwise: never rounded.

    >>> exact_integers([1, -2]).dtype, exact_integers([2**70]).tolist() == [2**70]
    (dtype('int64'), True)
    """
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def exact_modulo(values: Array, order: int) -> Array:
    """Return integers modulo an order, which need not fit into their type.

    >>> exact_modulo(np.array([-1, 7], dtype=np.int8), 256)
    array([255,   7])
    """
    narrow = values.dtype != object and values.dtype.itemsize < 8
    return np.asarray((values.astype(np.int64) if narrow else values) % order)


def exact_rational(text: str) -> Fraction:
    """Return the rational that a text such as ``3/4``, ``-7``, ``0.75`` or ``1e3`` denotes.

    Anything else is a ValueError, whose text says what is wrong with the number.

    >>> exact_rational("-6/8"), exact_rational("1.50e-1")
    (Fraction(-3, 4), Fraction(3, 20))
    >>> exact_rational("1e999999999")
    Traceback (most recent call last):
    ...
    ValueError: has an exponent beyond ±1,000, which written out would fill the memory
    """
    found = _RATIONAL.fullmatch(text.strip())
    if found is None:
        raise ValueError("is not a rational number (write 3, -7, 12.50 or 3/4)")
    sign, whole, bottom, after, power = found.groups(default="")
    if power and (len(power) > 9 or abs(int(power)) > MOST_EXPONENT):
        raise ValueError(
            f"has an exponent beyond ±{MOST_EXPONENT:,}, which written out would fill the memory"
        )
    top = exact_integer(sign + whole + after)
    if bottom:
        if not bottom.strip("0"):
            raise ValueError("divides by zero")
        return Fraction(top, exact_integer(bottom))
    shift = int(power or 0) - len(after)
    return Fraction(top * 10**shift) if shift >= 0 else Fraction(top, 10**-shift)


def exact_floor(value: Any) -> int | None:
    """Return the largest whole number up to a number of any type; None for anything else.

    >>> exact_floor(Decimal("7.5")), exact_floor(np.uint64(2**63)) == 2**63, exact_floor("7")
    (7, True, None)
    """
    if isinstance(value, (Integral, np.bool_)):
        return int(value)
    if isinstance(value, Decimal):
        # written out, a large exponent would fill the memory
        short = value.is_finite() and value.adjusted() <= MOST_EXPONENT
        return math.floor(value) if short else None
    if isinstance(value, np.floating):  # math.floor would read a long double as a float
        return int(np.floor(value)) if np.isfinite(value) else None
    if isinstance(value, float):
        return math.floor(value) if math.isfinite(value) else None
    return math.floor(Fraction(value)) if isinstance(value, Rational) else None


def is_missing(value: Any) -> bool:
    """Say whether an entry is missing: None, NaN, or what pandas writes in its place.

    >>> [is_missing(value) for value in (None, float("nan"), Decimal("NaN"), 0, "")]
    [True, True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.generic)) and bool(value != value)


def missing_entries(values: Array) -> Array:
    """Say of each entry whether it is missing.

    >>> missing_entries(np.array([0.0, np.nan])).tolist(), missing_entries(np.array([3])).tolist()
    ([False, True], [False])
    """
    if values.dtype.kind in "fmM":
        return np.asarray(values != values)
    if values.dtype == object:
        return np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def exact_array(X: Any) -> Array:
    """Return an array, a nested list or a data frame as an array, with no integer rounded.

    NumPy makes one type of all that a table holds, and of integers beside fractions, or signed
    beside unsigned ones, that is float64: 53 bits. Where that would round, entries stay objects.

    >>> print(np.asarray([[2**63 + 1, -1]])[0, 0], exact_array([[2**63 + 1, -1]])[0, 0])
    9.223372036854776e+18 9223372036854775809
    """
    if isinstance(X, np.ndarray):
        return X
    columns = _columns_of(X)
    if columns is not None:
        return _side_by_side([exact_column(column) for column in columns])
    if str(getattr(X, "dtype", "")) in ("Int128", "UInt128"):  # Polars has them, NumPy has not
        return exact_integers(X.to_list()) if not X.null_count() else np.array(X.to_list(), object)
    array = np.asarray(X)
    # whatever was an integer before is now a float past those that are all exact
    wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8
    if wide and (np.abs(array) >= 2.0**53).any():
        array = np.array(X, dtype=object)
    return array


def exact_column(X: Any) -> Array:
    """Return a column of a frame as an array: lists and structs in it are entries, not columns."""
    values = exact_array(X)
    if values.dtype.kind in "mM":  # NumPy would hand out dates of nanoseconds as plain integers
        return values.astype(f"{values.dtype.kind}8[us]").astype(object)
    if values.ndim == 1:
        return values
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def _columns_of(X: Any) -> list[Any] | None:
    """Return the columns of a data frame of any library, each with its own type."""
    if hasattr(X, "iloc"):  # pandas and those who follow it
        if X.ndim == 1:
            return None
        first, *others = set(X.dtypes) or {None}
        if not others and isinstance(first, np.dtype) and first.kind in "bui":
            return None  # of one type of NumPy's, and perhaps without a copy
        return [X.iloc[:, j] for j in range(X.shape[1])]
    each = getattr(X, "iter_columns", None) or getattr(X, "itercolumns", None)  # Polars; Arrow
    return None if each is None else list(each())


def _side_by_side(columns: Sequence[Array]) -> Array:
    """Return columns as one table: of numbers where these stay what they are, else of objects."""
    if columns and all(column.dtype.kind in "buifc" for column in columns):
        common = np.result_type(*columns)
        if common.kind != "f" or all(map(_fits_a_float, columns)):
            return np.column_stack(columns)
    table = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        table[:, j] = column
    return table


def _fits_a_float(column: Array) -> bool:
    wide = column.dtype.kind in "iu" and column.dtype.itemsize == 8
    return not wide or not ((column > 2**53) | (column < -(2**53))).any()
