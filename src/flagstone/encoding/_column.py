"""Encoders: how one column of a table becomes elements of a field.

An encoder is a small value with a text form, the one that ``--encode`` takes and that models
store. It depends on nothing but that text, never on the data it is applied to, so that two
people who publish it encode alike.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, Field
from flagstone.checks import shown
from flagstone.errors import InputError
from flagstone.exact import (
    exact_floor,
    exact_integers,
    exact_modulo,
    exact_rational,
    is_missing,
    missing_entries,
)
from flagstone.notation import FrameProblem, WrittenFrame, digit_bits, one_frame

KINDS = {
    "element": "element - entries are elements of the field already (0 or 1, true or false); over "
    "QQ numbers, decimals exactly (element:exact refuses binary floats)",
    "levels": "levels:no,yes - the listed values become 0, 1, … in this order",
    "onehot": "onehot:red,green,blue - one column per listed value",
    "bits": "bits:8 - a whole number becomes its bits, least significant first",
    "above": "above:3.5 - 1 where the number is greater",
    "mod": "mod - a whole number modulo the order of the field",
    "hex": "hex:48 - a frame of 48 bits in hexadecimal digits, its first bit first",
}
#: The level of missing values, where they have one.
MISSING = "(missing)"
#: Texts that other programs write for a missing value.
MARKERS = frozenset(["NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>", "?"])
_IS_MISSING = "the value is missing; fill it in or drop the row"
_NOT_HEX = re.compile("[^0-9a-fA-F]")
#: Bits of a frame in one cell.
_MOST_BITS = 1 << 17


class BadEntry(ValueError):
    """An entry that an encoder refuses: its index in the batch, why, and its column."""

    def __init__(self, index: int, problem: str, column: str = "") -> None:
        super().__init__(problem)
        self.index, self.problem, self.column = index, problem, column


@dataclass(frozen=True, slots=True)
class ColumnEncoder:
    """How one column is encoded.

    Parameters
    ----------
    column : str
    kind : str
        One of ``element``, ``levels``, ``onehot``, ``bits``, ``above``, ``mod``, ``hex``.
    values : tuple of str
        The listed values, the number of bits, or the bound.

    Examples
    --------
    >>> from flagstone import GF
    >>> encoder = ColumnEncoder.parse("colour", "onehot:red,blue")
    >>> encoder.names
    ('colour=red', 'colour=blue')
    >>> encoder.encode(np.array(["blue", "red"], dtype=object), GF(2)).tolist()
    [[0, 1], [1, 0]]
    >>> ColumnEncoder.parse("t", "bits:3").encode(np.array([6]), GF(2)).tolist()
    [[0, 1, 1]]
    >>> ColumnEncoder.parse("data", "hex:6").encode(np.array(["{6}b4"], dtype=object), GF(2))
    array([[1, 0, 1, 1, 0, 1]], dtype=uint8)
    """

    column: str
    kind: str
    values: tuple[str, ...] = ()

    @classmethod
    def parse(cls, column: str, text: str) -> ColumnEncoder:
        """Read the text form, e.g. ``bits:8`` or ``levels:no,yes``."""
        kind, _, rest = text.partition(":")
        try:
            values = tuple(next(csv.reader([rest]))) if rest else ()
        except csv.Error:
            raise InputError(
                f"encoder {text!r} of column {column!r}: its values cannot be told apart; put "
                'those with a line end in quotes, "…"'
            ) from None
        problem = None
        if kind not in KINDS:
            problem = "no such encoder"
        elif kind in ("levels", "onehot") and (not values or len(set(values)) < len(values)):
            problem = "different values must be listed, each once"
        elif kind == "bits" and not (len(values) == 1 and _in_range(values[0], 1, 64)):
            problem = "the number of bits must be between 1 and 64"
        elif kind == "hex" and not (len(values) == 1 and _in_range(values[0], 1, _MOST_BITS)):
            problem = f"the number of bits must be given, between 1 and {_MOST_BITS:,}"
        elif kind == "above" and not (len(values) == 1 and _is_number(values[0])):
            problem = "one number must be given"
        elif values and (kind == "mod" or (kind == "element" and values != ("exact",))):
            problem = "it takes no values"
        if problem:
            known = "; ".join(KINDS.values())
            raise InputError(f"encoder {text!r} of column {column!r}: {problem}. Encoders: {known}")
        return cls(column, kind, values)

    @property
    def text(self) -> str:
        """The text form that :meth:`parse` reads."""
        if not self.values:
            return self.kind
        quoted = [
            f'"{v.replace(chr(34), chr(34) * 2)}"' if not v or set(v) & set(',"\r\n') else v
            for v in self.values
        ]
        return f"{self.kind}:{','.join(quoted)}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the encoded columns."""
        if self.kind == "onehot":
            return tuple(f"{self.column}={value}" for value in self.values)
        if self.kind in ("bits", "hex"):
            return tuple(f"{self.column}[{i}]" for i in range(int(self.values[0])))
        if self.kind == "above":
            return (f"{self.column}>{self.values[0]}",)
        if self.kind == "mod":
            return (f"{self.column} mod q",)
        return (self.column,)

    @property
    def width(self) -> int:
        """How many encoded columns there are."""
        if self.kind == "onehot":
            return len(self.values)
        return int(self.values[0]) if self.kind in ("bits", "hex") else 1

    @property
    def is_binary(self) -> bool:
        """Whether every encoded column holds 0 or 1, whatever the table holds."""
        return self.kind in ("onehot", "bits", "hex", "above") or (
            self.kind == "levels" and len(self.values) <= 2
        )

    def reads(self, field: Field) -> str:
        """Say what untyped text must be read as: integer, number or text."""
        if self.kind == "above":
            return "text" if _past_floats(self.values[0]) else "number"
        as_text = self.kind in ("levels", "onehot", "hex") or field.order is None
        return "text" if as_text else "integer"

    def encode(self, values: Array, field: Field, *, ignore_unknown: bool = False) -> Array:
        """Return the encoded columns, shape (n_rows, len(names)); BadEntry names a bad row.

        Values that are not listed become zeros if they are to be ignored.
        """
        if self.kind == "element":
            exact = self.values == ("exact",)
            rational = field.order is None
            found = _rationals(values, exact) if rational else _finite_elements(values, field)
            return found[:, np.newaxis]
        if self.kind in ("levels", "onehot"):
            codes = self._codes(values, refuse=not ignore_unknown)
            if self.kind == "levels":
                if field.order is not None and len(self.values) > field.order:
                    raise InputError(
                        f"column {self.column!r} lists {len(self.values)} levels, but {field.name} "
                        f"has {field.order} elements; use onehot, or a larger field"
                    )
                return np.maximum(codes, 0).astype(field.dtype)[:, np.newaxis]
            places = np.arange(len(self.values))
            return _zeros_and_ones(codes[:, np.newaxis] == places, field)
        if self.kind == "above":
            return _zeros_and_ones(_above(values, self.values[0])[:, np.newaxis], field)
        if self.kind == "hex":
            fits = self.fits(values)
            _refuse(~fits, values, f"is no frame of {self.values[0]} bits")
            digits = [frame.digits for frame in _frames(values)]
            return digit_bits(digits, int(self.values[0])).astype(field.dtype, copy=False)
        whole = _integers(values)
        if self.kind == "mod":
            if field.order is None:
                raise InputError("encoder 'mod' needs a finite field; QQ takes whole numbers as is")
            return exact_modulo(whole, field.order).astype(field.dtype)[:, np.newaxis]
        n_bits = int(self.values[0])
        out_of_range = (whole < 0) | (whole > (1 << n_bits) - 1)
        _refuse(out_of_range, values, f"does not fit into {n_bits} bits (0 … {(1 << n_bits) - 1})")
        shifts = np.arange(n_bits, dtype=np.uint64)
        bits = (whole.astype(np.uint64)[:, np.newaxis] >> shifts) & np.uint64(1)
        return bits.astype(field.dtype)

    def fits(self, values: Array) -> Array:
        """Say of each entry whether it makes a row: a frame of another length does not."""
        if self.kind != "hex":
            return np.ones(len(values), dtype=bool)
        n_bits = int(self.values[0])
        return np.array([frame.n_bits == n_bits for frame in _frames(values)], dtype=bool)

    def missing(self, values: Array) -> Array:
        """Say of each entry whether it is missing: null, NaN, empty, or a text such as NA.

        A text that the encoder lists is a value.

        >>> ColumnEncoder.parse("a", "levels:no,NA").missing(np.array(["no", "NA", "?", ""], "O"))
        array([False, False,  True,  True])
        """
        if values.dtype.kind in "buimM":
            return missing_entries(values)
        unlisted = MARKERS.difference(self.values)
        unlisted |= {""}.difference(self.values)
        gaps = [isinstance(cell, str) and cell.strip() in unlisted for cell in values.tolist()]
        return np.asarray(missing_entries(values) | np.array(gaps, dtype=bool))

    def _codes(self, values: Array, *, refuse: bool) -> Array:
        """Return the place of each entry among the listed values, -1 for others."""
        places = {value: i for i, value in enumerate(self.values)}
        codes = np.array([places.get(text, -1) for text in texts(values)], dtype=np.int64)
        codes[missing_entries(values)] = -1
        if (codes < 0).any():
            gaps = self.missing(values)
            if MISSING in places:
                codes[gaps] = places[MISSING]
            elif refuse and gaps.any():
                raise BadEntry(int(np.argmax(gaps)), _IS_MISSING)
            if refuse:
                listed = ", ".join(self.values)
                _refuse(codes < 0, values, f"is none of the listed values {listed}")
        return codes


def texts(values: Array) -> Iterable[str]:
    """Return the text of every entry: true/false for booleans, 3 for the number three."""
    if values.dtype == bool:
        return ("true" if value else "false" for value in values)
    return (
        ("true" if value else "false") if isinstance(value, (bool, np.bool_)) else str(value)
        for value in values.tolist()
    )


def frame_lengths(values: Array) -> Counter[int]:
    """Count the frames of each length in a column of text.

    >>> frame_lengths(np.array(["0d55", "0d:56", "{6}b4"], dtype=object))
    Counter({16: 2, 6: 1})
    """
    return Counter(frame.n_bits for frame in _frames(values))


def _frames(values: Array) -> list[WrittenFrame]:
    """Return the frames that cells of text hold, one each."""
    cells = values.tolist()
    if all(type(cell) is str and cell for cell in cells) and not _NOT_HEX.search("".join(cells)):
        return [WrittenFrame(4 * len(cell), cell.encode()) for cell in cells]
    found = []
    for index, cell in enumerate(cells):
        if is_missing(cell) or cell == "":
            raise BadEntry(index, _IS_MISSING)
        if not isinstance(cell, str):
            raise BadEntry(index, f"{shown(cell)} is a number, where a frame is written as text")
        try:
            found.append(one_frame(cell.encode(errors="replace")))
        except FrameProblem as problem:
            raise BadEntry(index, f"{shown(cell)} is no frame: {problem}") from None
    return found


def _zeros_and_ones(mask: Array, field: Field) -> Array:
    """Return a mask as elements; over QQ as numbers, for a row is also written as text."""
    return np.asarray(mask).astype(np.uint8).astype(field.dtype, copy=False)


def _finite_elements(values: Array, field: Field) -> Array:
    order = field.order or 0
    if values.dtype == bool:
        return values.astype(field.dtype)
    if values.dtype.kind == "u" and values.dtype.itemsize == 1:
        # the common case, kept narrow
        if values.size and int(values.max()) >= order:
            _refuse(values >= order, values, _not_in(field))
        return values.astype(field.dtype, copy=False)
    whole = _integers(values, hint=_not_in(field))
    if values.size and (int(whole.min()) < 0 or int(whole.max()) >= order):
        _refuse((whole < 0) | (whole >= order), values, _not_in(field))
    return whole.astype(field.dtype)


def _not_in(field: Field) -> str:
    top = "0 or 1" if field.order == 2 else f"0 … {(field.order or 0) - 1}"
    return f"is not an element of {field.name} ({top})"


def _rationals(values: Array, exact: bool) -> Array:
    """Return numbers as fractions; binary floats by their shortest decimal form, or refused."""
    out = np.empty(len(values), dtype=object)
    # a float of 32 bits has a shorter form than the float of 64 bits that tolist makes of it
    cells = list(values) if values.dtype.kind == "f" else values.tolist()
    for index, value in enumerate(cells):
        if is_missing(value) or value == "":
            raise BadEntry(index, _IS_MISSING)
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


def _is_whole(value: Any) -> bool:
    """Say whether a float is a whole number that no other one is rounded to."""
    return bool(abs(value) < 2.0**53 and value == math.floor(value))


def _integers(values: Array, hint: str = "is not a whole number") -> Array:
    kind = values.dtype.kind
    if kind in "bui":
        return values
    if kind == "f":
        with np.errstate(invalid="ignore"):
            small = np.abs(values.astype(np.promote_types(values.dtype, np.float64))) < 2.0**53
            whole = np.isfinite(values) & (np.floor(values) == values) & small
        _refuse(~whole, values, hint)
        return values.astype(np.int64)
    found = []
    for index, value in enumerate(values.tolist()):
        if is_missing(value):
            raise BadEntry(index, _IS_MISSING)
        whole = exact_floor(value)
        if whole is None or whole != value or (isinstance(value, float) and abs(value) >= 2.0**53):
            raise BadEntry(index, f"{shown(value)} {hint}")
        found.append(whole)
    return exact_integers(found)


def _above(values: Array, bound: str) -> Array:
    """Compare integers with the bound as it is written, and floats with the nearest float."""
    exact = exact_rational(bound)
    near = float(exact)
    if values.dtype.kind in "iu":
        return np.asarray(values > math.floor(exact))
    if values.dtype.kind in "bf":
        _refuse(np.isnan(values), values, "is not a number")
        return np.asarray(values > near)
    above = []
    for index, value in enumerate(values.tolist()):
        try:
            number = value
            if isinstance(value, Decimal) or (isinstance(value, str) and _past_floats(bound)):
                number = exact_rational(str(value))
            if isinstance(number, bool) or is_missing(number):
                raise TypeError
            above.append(number > (exact if isinstance(number, Rational) else near))
        except (TypeError, ValueError):
            raise BadEntry(index, f"{shown(value)} is not a number") from None
    return np.array(above, dtype=bool)


def _past_floats(bound: str) -> bool:
    """Say whether whole numbers beside a bound could not be told apart as floats."""
    return abs(exact_rational(bound)) >= 2**52


def _refuse(bad: Array, values: Array, problem: str) -> None:
    if bad.any():
        index = int(np.argmax(bad))
        raise BadEntry(index, f"{shown(values[index])} {problem}")


def _in_range(text: str, low: int, high: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(exact_rational(text)))
    except (ValueError, OverflowError):
        return False
