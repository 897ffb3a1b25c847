"""Entries of a column as numbers, texts or frames; the first invalid one is named."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, Field
from flagstone.checks import shown
from flagstone.exact import exact_floor, exact_integers, exact_rational, is_missing
from flagstone.notation import FrameProblem, WrittenFrame, one_frame

IS_MISSING = "the value is missing; fill it in or drop the row"
_NOT_HEX = re.compile("[^0-9a-fA-F]")


class BadEntry(ValueError):
    """An entry that an encoder refuses: its index in the batch, why, and its column."""

    def __init__(self, index: int, problem: str, column: str = "") -> None:
        super().__init__(problem)
        self.index, self.problem, self.column = index, problem, column


def refuse(bad: Array, values: Array, problem: str) -> None:
    """Raise BadEntry for the first entry that is marked as bad, if there is one."""
    if bad.any():
        index = int(np.argmax(bad))
        raise BadEntry(index, f"{shown(values[index])} {problem}")


def texts(values: Array) -> Iterable[str]:
    """Return the text of every entry: true/false for booleans, 3 for the number three."""
    if values.dtype == bool:
        return ("true" if value else "false" for value in values)
    return (
        ("true" if value else "false") if isinstance(value, (bool, np.bool_)) else str(value)
        for value in values.tolist()
    )


def whole_range(values: Array) -> tuple[int, int] | None:
    """Return the least and the largest entry of a column of integers; None for other columns."""
    is_whole = values.dtype.kind in "ui" or all(type(value) is int for value in values.tolist())
    return (int(values.min()), int(values.max())) if is_whole and len(values) else None


def finite_elements(values: Array, field: Field) -> Array:
    """Return entries that are elements of a finite field already."""
    order = field.order or 0
    if values.dtype == bool:
        return values.astype(field.dtype)
    if values.dtype.kind == "u" and values.dtype.itemsize == 1:
        # the common case, kept narrow
        if values.size and int(values.max()) >= order:
            refuse(values >= order, values, _not_in(field))
        return values.astype(field.dtype, copy=False)
    whole = integers(values, hint=_not_in(field))
    if values.size and (int(whole.min()) < 0 or int(whole.max()) >= order):
        refuse((whole < 0) | (whole >= order), values, _not_in(field))
    return whole.astype(field.dtype)


def _not_in(field: Field) -> str:
    top = "0 or 1" if field.order == 2 else f"0 … {(field.order or 0) - 1}"
    return f"is not an element of {field.name} ({top})"


def rationals(values: Array, exact: bool) -> Array:
    """Return numbers as fractions; binary floats by their shortest decimal form, or refused."""
    out = np.empty(len(values), dtype=object)
    # a float of 32 bits has a shorter form than the float of 64 bits that tolist makes of it
    cells = list(values) if values.dtype.kind == "f" else values.tolist()
    for index, value in enumerate(cells):
        if is_missing(value) or value == "":
            raise BadEntry(index, IS_MISSING)
        try:
            is_float = isinstance(value, (float, np.floating))
            if exact and is_float and not _is_whole(value):
                raise ValueError(
                    "is a binary float: store decimals as text or decimals, or whole cents"
                )
            as_text = is_float or isinstance(value, (str, Decimal))
            out[index] = exact_rational(str(value)) if as_text else Fraction(value)
        except (ValueError, TypeError, OverflowError) as error:
            problem = str(error) if isinstance(error, ValueError) else "is not a number"
            raise BadEntry(index, f"{shown(value)} {problem}") from None
    return out


def are_rational(values: Array) -> bool:
    """Say whether every entry is a number that can be read exactly."""
    if values.dtype.kind == "f":
        return bool(np.isfinite(values).all())
    return values.dtype.kind in "ui" or all(map(_is_rational, values.tolist()))


def _is_rational(value: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return math.isfinite(value)
    return (
        is_rational(str(value))
        if isinstance(value, (str, Decimal))
        else isinstance(value, Rational)
    )


def is_rational(text: str) -> bool:
    """Say whether a text is a number that can be read exactly."""
    try:
        exact_rational(text)
    except ValueError:
        return False
    return True


def _is_whole(value: Any) -> bool:
    """Say whether a float is a whole number that no other one is rounded to."""
    return bool(abs(value) < 2.0**53 and value == math.floor(value))


def integers(values: Array, hint: str = "is not a whole number") -> Array:
    """Return entries that are whole numbers as integers."""
    kind = values.dtype.kind
    if kind in "bui":
        return values
    if kind == "f":
        with np.errstate(invalid="ignore"):
            small = np.abs(values.astype(np.promote_types(values.dtype, np.float64))) < 2.0**53
            whole = np.isfinite(values) & (np.floor(values) == values) & small
        refuse(~whole, values, hint)
        return values.astype(np.int64)
    found = []
    for index, value in enumerate(values.tolist()):
        if is_missing(value):
            raise BadEntry(index, IS_MISSING)
        whole = exact_floor(value)
        if whole is None or whole != value or (isinstance(value, float) and abs(value) >= 2.0**53):
            raise BadEntry(index, f"{shown(value)} {hint}")
        found.append(whole)
    return exact_integers(found)


def above(values: Array, bound: str) -> Array:
    """Compare integers with the bound as it is written, and floats with the nearest float."""
    exact = exact_rational(bound)
    near = float(exact)
    if values.dtype.kind in "iu":
        return np.asarray(values > math.floor(exact))
    if values.dtype.kind in "bf":
        refuse(np.isnan(values), values, "is not a number")
        return np.asarray(values > near)
    found = []
    for index, value in enumerate(values.tolist()):
        try:
            number = value
            if isinstance(value, Decimal) or (isinstance(value, str) and past_floats(bound)):
                number = exact_rational(str(value))
            if isinstance(number, bool) or is_missing(number):
                raise TypeError
            found.append(number > (exact if isinstance(number, Rational) else near))
        except (TypeError, ValueError):
            raise BadEntry(index, f"{shown(value)} is not a number") from None
    return np.array(found, dtype=bool)


def past_floats(bound: str) -> bool:
    """Say whether whole numbers beside a bound could not be told apart as floats."""
    return abs(exact_rational(bound)) >= 2**52


def frame_lengths(values: Array) -> Counter[int]:
    """Count the frames of each length in a column of text.

    >>> frame_lengths(np.array(["0d55", "0d:56", "{6}b4"], dtype=object))
    Counter({16: 2, 6: 1})
    """
    return Counter(frame.n_bits for frame in frames(values))


def frames(values: Array) -> list[WrittenFrame]:
    """Return the frames that cells of text hold, one each."""
    cells = values.tolist()
    if all(type(cell) is str and cell for cell in cells) and not _NOT_HEX.search("".join(cells)):
        return [WrittenFrame(4 * len(cell), cell.encode()) for cell in cells]
    found = []
    for index, cell in enumerate(cells):
        if is_missing(cell) or cell == "":
            raise BadEntry(index, IS_MISSING)
        if not isinstance(cell, str):
            raise BadEntry(index, f"{shown(cell)} is a number, where a frame is written as text")
        try:
            found.append(one_frame(cell.encode(errors="replace")))
        except FrameProblem as problem:
            raise BadEntry(index, f"{shown(cell)} is no frame: {problem}") from None
    return found
