"""Encoders: each kind is one class, which holds all that is special about it.

How entries are encoded, how the encoded columns are called, what is said of them in the words of
the table, and which columns it is proposed for. To add a kind, write its class and list it at the
end of this module: of several kinds that suit a column, the first one listed is proposed.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, Field
from flagstone.checks import shown
from flagstone.encoding._column import ENCODERS, ColumnEncoder, Statement, number_text
from flagstone.encoding._entries import (
    IS_MISSING,
    BadEntry,
    frame_lengths,
    frames,
    integers,
    is_rational,
    refuse,
    texts,
    whole_range,
)
from flagstone.errors import InputError, Parameter
from flagstone.exact import (
    exact_modulo,
    exact_rational,
    is_missing,
    missing_entries,
    truth_value,
    whole_number,
)
from flagstone.notation import digit_bits

#: The level of missing values, where they have one.
MISSING = "(missing)"
#: More values than this are not a category.
MOST_CATEGORIES = 32
#: Bits of a frame in one cell; and of one that is not taken for a word.
_MOST_BITS, _SHORT_FRAME = 1 << 17, 16
#: Identifiers that happen to be hexadecimal: A0, A1, …, A1499.
_NUMBERED = re.compile(r"([A-Fa-f]+)[0-9]+")
#: Numbers as people and spreadsheets write them: 1.234,56 or $1,234.56 or 12 %.
_GROUPED = re.compile(r"\W*(?:\d+|\d{1,3}(?:[.,'\s]\d{3})+)(?:[.,]\d+)?\W*")
_SEPARATED = re.compile(r"\d[.,'\s]\d")
#: Fields for labels of up to this many values.
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


class Element(ColumnEncoder):
    """Entries are elements of the field already."""

    kind = "element"
    usage = (
        "element - entries are elements of the field already (0 or 1, true or false); over "
        "QQ numbers, decimals exactly (element:exact refuses binary floats)"
    )
    is_plain = True
    loses_nothing = True

    def problem(self) -> str | None:
        return None if self.values in ((), ("exact",)) else "it takes no values"

    @property
    def is_binary(self) -> bool:
        return False

    def encode(self, values: Array, field: Field) -> Array:
        if field.order is None:
            return self._rationals(values)[:, np.newaxis]
        top = "0 or 1" if field.order == 2 else f"0 … {field.order - 1}"
        problem = f"is not an element of {field.name} ({top})"
        whole = values
        if values.dtype.kind != "b" and values.dtype != np.uint8:  # the common case, kept narrow
            whole = integers(_with_truths(values), hint=problem)
        if values.size and (int(whole.min()) < 0 or int(whole.max()) >= field.order):
            refuse((whole < 0) | (whole >= field.order), values, problem)
        return whole.astype(field.dtype, copy=False)[:, np.newaxis]

    def _rationals(self, values: Array) -> Array:
        """Return numbers as fractions; binary floats by their shortest decimal form, or refused."""
        out = np.empty(len(values), dtype=object)
        # a float of 32 bits has a shorter form than the float of 64 bits that tolist makes of it
        cells = list(values) if values.dtype.kind == "f" else values.tolist()
        for index, value in enumerate(cells):
            if is_missing(value) or value == "":
                raise BadEntry(index, IS_MISSING)
            is_float = isinstance(value, (float, np.floating))
            # a whole number that no other one is rounded to
            is_whole = is_float and abs(value) < 2.0**53 and value == math.floor(value)
            try:
                if self.values and is_float and not is_whole:
                    raise ValueError(
                        "is a binary float: store decimals as text or decimals, or whole cents"
                    )
                truth = truth_value(value) if isinstance(value, str) else None
                as_text = is_float or isinstance(value, (str, Decimal))
                as_text &= truth is None
                number = value if truth is None else truth
                out[index] = exact_rational(str(number)) if as_text else Fraction(number)
            except (ValueError, TypeError, OverflowError) as error:
                problem = str(error) if isinstance(error, ValueError) else "is not a number"
                raise BadEntry(index, f"{shown(value)} {problem}") from None
        return out

    def statement(self, part: Array, field: Field) -> Statement | None:
        if field.order != 2:
            return None
        return Statement(part[0], f"{self.column} = 1", f"{self.column} = 0", is_category=False)

    @classmethod
    def proposal(cls, column: str, values: Array, field: Field) -> tuple[ColumnEncoder, str] | None:
        if not len(values):
            return cls(column), "no rows to judge by"
        if values.dtype.kind == "b":
            return cls(column), "true and false are 1 and 0"
        if field.order is None:
            reason = "whole numbers" if values.dtype.kind in "ui" else "numbers, read exactly"
            return (cls(column), reason) if all(map(_is_number, values.tolist())) else None
        found = whole_range(values)
        if found is not None and found[0] >= 0 and found[1] < field.order:
            return cls(column), f"whole numbers, all in {field.name}"
        return None


class _Listed(ColumnEncoder):
    """What encoders have in common that list the values of a column."""

    loses_nothing = True

    def problem(self) -> str | None:
        if not self.values or len(set(self.values)) < len(self.values):
            return "different values must be listed, each once"
        return None

    def reads(self, field: Field) -> str:
        return "text"

    def label_remedy(self, field: Field) -> list[str | Parameter]:
        if self.width == 1:
            return []
        levels = Parameter("encode", {self.column: Levels(self.column, self.values).text})
        if len(self.values) <= (field.order or math.inf):
            return ["number its values: ", levels]
        large = next(prime for prime in _PRIMES if prime >= len(self.values))
        remedy = "number its values over a field that is large enough: "
        return [remedy, Parameter("field", large), ", ", levels]

    def encode(self, values: Array, field: Field) -> Array:
        places = self._places(values)
        if (places < 0).any():
            gaps = self.missing(values)
            if MISSING not in self.values and gaps.any():
                raise BadEntry(int(np.argmax(gaps)), IS_MISSING)
            listed = ", ".join(self.values)
            refuse(places < 0, values, f"is none of the listed values {listed}")
        return self.from_places(places, field)

    def encode_known(self, values: Array, field: Field) -> Array:
        return self.from_places(self._places(values), field)

    def _places(self, values: Array) -> Array:
        """Return the place of each entry among the listed values, -1 for others."""
        known = {value: i for i, value in enumerate(self.values)}
        listed = [truth_value(value) for value in self.values]
        cells = list(texts(values))
        for cell in {*cells} - {*known}:  # 5 may be listed and be written +5 or 5.0, true as True
            number, truth = whole_number(cell), truth_value(cell)
            known[cell] = known.get(str(number), -1) if number is not None else -1
            if truth is not None and listed.count(truth) == 1:
                known[cell] = listed.index(truth)
        places = np.array([known[cell] for cell in cells], dtype=np.int64)
        places[missing_entries(values)] = -1
        if MISSING in known and (places < 0).any():
            places[self.missing(values)] = known[MISSING]
        return places

    @abstractmethod
    def from_places(self, places: Array, field: Field) -> Array:
        """Return the encoded columns of entries at these places among the listed values."""


class Hex(ColumnEncoder):
    """Entries are frames in hexadecimal digits; every bit is a column."""

    kind = "hex"
    usage = "hex:48 - a frame of 48 bits in hexadecimal digits, its first bit first"
    holds_frames = True

    def problem(self) -> str | None:
        if len(self.values) == 1 and _in_range(self.values[0], 1, _MOST_BITS):
            return None
        return f"the number of bits must be given, between 1 and {_MOST_BITS:,}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}[{i}]" for i in range(int(self.values[0])))

    def reads(self, field: Field) -> str:
        return "text"

    def encode(self, values: Array, field: Field) -> Array:
        refuse(~self.fits(values), values, f"is no frame of {self.width} bits")
        digits = [frame.digits for frame in frames(values)]
        return digit_bits(digits, self.width).astype(field.dtype, copy=False)

    def fits(self, values: Array) -> Array:
        return np.array([frame.n_bits == self.width for frame in frames(values)], dtype=bool)

    def cell(self, part: Sequence[Any], field: Field) -> str:
        return "".join(map(str, part))

    @classmethod
    def proposal(cls, column: str, values: Array, field: Field) -> tuple[ColumnEncoder, str] | None:
        """Propose it for text that is all frames, and no dates or words."""
        cells = set(values.tolist()) if field.order == 2 and values.dtype.kind in "OU" else set()
        if len(cells) < 2 or not all(isinstance(cell, str) for cell in cells):
            return None
        if not any(re.search("[a-fA-F]", cell) for cell in cells):
            return None
        numbered = [_NUMBERED.fullmatch(cell) for cell in cells]
        if all(numbered) and len({found[1] for found in numbered if found}) == 1:
            return None
        try:
            lengths = frame_lengths(values)
        except BadEntry:
            return None
        n_bits = min(lengths, key=lambda n: (-lengths[n], n))
        with_numbers = sum(re.search("[0-9]", cell) is not None for cell in cells)
        if n_bits < _SHORT_FRAME or 2 * with_numbers < len(cells):
            return None
        others = len(values) - lengths[n_bits]
        reason = f"frames of {n_bits} bits"
        if others:
            reason += (
                f"; {others:,} of the {len(values):,} looked at have other lengths and are left out"
            )
        return cls(column, (str(n_bits),)), reason


class Levels(_Listed):
    """The listed values become 0, 1, …."""

    kind = "levels"
    usage = "levels:no,yes - the listed values become 0, 1, … in this order"

    @property
    def is_binary(self) -> bool:
        return len(self.values) <= 2

    @property
    def labels(self) -> tuple[str, ...]:
        return self.values

    def from_places(self, places: Array, field: Field) -> Array:
        if field.order is not None and len(self.values) > field.order:
            raise InputError(
                f"column {self.column!r} lists {len(self.values)} levels, but {field.name} "
                f"has {field.order} elements; use onehot, or a larger field"
            )
        return np.maximum(places, 0).astype(field.dtype)[:, np.newaxis]

    def cell(self, part: Sequence[Any], field: Field) -> str:
        if int(part[0]) < len(self.values):
            return self.values[int(part[0])]
        return number_text(field, part[0])

    def constant(self, index: int, value: Any, field: Field) -> str:
        return f"{self.column} is always {self.cell([value], field)}"

    def statement(self, part: Array, field: Field) -> Statement | None:
        if len(self.values) != 2:
            return None
        said = [_is_one_of(self.column, [value]) for value in self.values]
        return Statement(part[0], said[1], said[0])

    @classmethod
    def proposal(cls, column: str, values: Array, field: Field) -> tuple[ColumnEncoder, str] | None:
        if whole_range(values) is not None:
            # Two numbers that come again and again, such as -1 and 1, are names of two things.
            numbers = sorted(set(values.tolist()))
            if field.order == 2 and len(numbers) == 2 < len(values):
                return cls(column, tuple(map(str, numbers))), "whole numbers with 2 values"
            return None
        found = sorted(set(texts(values)))
        if values.dtype.kind == "f" or len(found) != 2 or _are_amounts(found, field):
            return None
        return listing(column, found), "text with 2 values"


class Bits(ColumnEncoder):
    """A whole number becomes its bits."""

    kind = "bits"
    usage = "bits:8 - a whole number becomes its bits, least significant first"
    loses_nothing = True

    def problem(self) -> str | None:
        if len(self.values) == 1 and _in_range(self.values[0], 1, 64):
            return None
        return "the number of bits must be between 1 and 64"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}[{i}]" for i in range(int(self.values[0])))

    def reads(self, field: Field) -> str:
        return "integer"

    def encode(self, values: Array, field: Field) -> Array:
        whole, top = integers(values), (1 << self.width) - 1
        bad = (whole < 0) | (whole > top)
        refuse(bad, values, f"does not fit into {self.width} bits (0 … {top})")
        shifts = np.arange(self.width, dtype=np.uint64)
        bits = (whole.astype(np.uint64)[:, np.newaxis] >> shifts) & np.uint64(1)
        return bits.astype(field.dtype)

    def cell(self, part: Sequence[Any], field: Field) -> str:
        return str(sum(int(bit) << i for i, bit in enumerate(part)))

    @classmethod
    def proposal(cls, column: str, values: Array, field: Field) -> tuple[ColumnEncoder, str] | None:
        found = whole_range(values)
        if found is None or found[0] < 0 or found[1].bit_length() > 64:
            return None
        n_bits = max(1, found[1].bit_length())
        return cls(column, (str(n_bits),)), f"whole numbers up to {shown(found[1])}"


class Mod(ColumnEncoder):
    """A whole number is taken modulo the order of the field."""

    kind = "mod"
    usage = "mod - a whole number modulo the order of the field"

    @property
    def names(self) -> tuple[str, ...]:
        return (f"{self.column} mod q",)

    def names_over(self, field: Field) -> tuple[str, ...]:
        return self.names if field.order is None else (f"{self.column} mod {field.order}",)

    @property
    def is_binary(self) -> bool:
        return False

    def encode(self, values: Array, field: Field) -> Array:
        whole = integers(values)
        if field.order is None:
            raise InputError("encoder 'mod' needs a finite field; QQ takes whole numbers as is")
        return exact_modulo(whole, field.order).astype(field.dtype)[:, np.newaxis]

    def cell(self, part: Sequence[Any], field: Field) -> str:
        return f"≡ {number_text(field, part[0])} (mod {field.order})"

    def constant(self, index: int, value: Any, field: Field) -> str:
        return f"{self.names_over(field)[0]} = {number_text(field, value)}"

    @classmethod
    def proposal(cls, column: str, values: Array, field: Field) -> tuple[ColumnEncoder, str] | None:
        found = whole_range(values)
        if found is None:
            return None
        return cls(column), f"whole numbers from {shown(found[0])} to {shown(found[1])}"


class Above(ColumnEncoder):
    """1 if a number is greater than a bound, else 0."""

    kind = "above"
    usage = "above:3.5 - 1 where the number is greater"
    advice = ("For equations between numbers: ", Parameter("field", "QQ"), ". ")

    def problem(self) -> str | None:
        try:
            is_good = len(self.values) == 1 and math.isfinite(float(self._bound))
        except (ValueError, OverflowError):
            is_good = False
        return None if is_good else "one number must be given"

    @property
    def _bound(self) -> Fraction:
        return exact_rational(self.values[0])

    @property
    def _is_past_floats(self) -> bool:
        """Whether whole numbers near the bound would be equal as floats."""
        return abs(self._bound) >= 2**52

    @property
    def names(self) -> tuple[str, ...]:
        return (f"{self.column}>{self.values[0]}",)

    def reads(self, field: Field) -> str:
        return "text" if self._is_past_floats else "number"

    def label_remedy(self, field: Field) -> list[str | Parameter]:
        return []

    def encode(self, values: Array, field: Field) -> Array:
        return _zeros_and_ones(self._above(values)[:, np.newaxis], field)

    def _above(self, values: Array) -> Array:
        """Compare integers with the bound as it is written, and floats with the nearest float."""
        exact, near = self._bound, float(self._bound)
        if values.dtype.kind in "iu":
            return np.asarray(values > math.floor(exact))
        if values.dtype.kind in "bf":
            refuse(np.isnan(values), values, "is not a number")
            return np.asarray(values > near)
        found = []
        for index, value in enumerate(values.tolist()):
            try:
                number = value
                if isinstance(value, Decimal) or (isinstance(value, str) and self._is_past_floats):
                    number = exact_rational(str(value))
                if isinstance(number, bool) or is_missing(number):
                    raise TypeError
                found.append(number > (exact if isinstance(number, Rational) else near))
            except (TypeError, ValueError):
                raise BadEntry(index, f"{shown(value)} is not a number") from None
        return np.array(found, dtype=bool)

    def cell(self, part: Sequence[Any], field: Field) -> str:
        return f"{'>' if part[0] else '≤'} {self.values[0]}"

    def constant(self, index: int, value: Any, field: Field) -> str:
        return f"{self.column} is always {self.cell([value], field)}"

    def statement(self, part: Array, field: Field) -> Statement | None:
        bound = self.values[0]
        return Statement(part[0], f"{self.column} > {bound}", f"{self.column} ≤ {bound}")

    @classmethod
    def proposal(cls, column: str, values: Array, field: Field) -> tuple[ColumnEncoder, str] | None:
        if values.dtype.kind != "f":
            return None
        values = values[~np.isnan(values)]
        finite = values[np.isfinite(values)]
        middle = f"{float(np.median(finite)):.6g}" if len(finite) else "0"
        reason = f"fractional numbers; {middle} is the median of these rows"
        if len(finite) and not values.min() <= float(middle) < values.max():
            # the median is the largest number, or is rounded: the number below it divides the rows
            different = np.unique(values)
            if len(different) == 1:
                return None
            place = int(np.searchsorted(different, np.median(finite)))
            middle = repr(float(different[max(0, place - 1)]))
            reason = f"fractional numbers; some of these rows are above {middle}, some are not"
        return cls(column, (middle,)), reason


class OneHot(_Listed):
    """Every listed value has a column, which is 1 in rows with this value."""

    kind = "onehot"
    usage = "onehot:red,green,blue - one column per listed value"
    is_one_hot = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}={value}" for value in self.values)

    def from_places(self, places: Array, field: Field) -> Array:
        return _zeros_and_ones(places[:, np.newaxis] == np.arange(self.width), field)

    def cell(self, part: Sequence[Any], field: Field) -> str:
        found = [value for value, bit in zip(self.values, part, strict=True) if bit]
        return " and ".join(found) or "none of them"

    def constant(self, index: int, value: Any, field: Field) -> str:
        return f"{self.column} is {'always' if value else 'never'} {self.values[index]}"

    def statement(self, part: Array, field: Field) -> Statement | None:
        used = np.flatnonzero(part != 0).tolist()
        if any(part[i] != part[used[0]] for i in used):
            return None
        values = [self.values[i] for i in used]
        others = [value for i, value in enumerate(self.values) if i not in used]
        negated = _is_one_of(self.column, values, "is not")
        if 0 < len(others) <= len(used):
            negated = _is_one_of(self.column, others)
        return Statement(part[used[0]], _is_one_of(self.column, values), negated)

    @classmethod
    def proposal(cls, column: str, values: Array, field: Field) -> tuple[ColumnEncoder, str] | None:
        found = sorted(set(texts(values)))
        if not 2 < len(found) <= MOST_CATEGORIES or _are_amounts(found, field):
            return None
        return listing(column, found), f"text with {len(found)} values"


def listing(column: str, values: Sequence[str]) -> ColumnEncoder:
    """Return the encoder that lists values: two as 0 and 1, more in a column each."""
    return (Levels if len(values) <= 2 else OneHot)(column, tuple(values))


def grouped_numbers(found: Collection[str]) -> bool:
    """Say whether texts are numbers with separators or signs, such as 1.234,56 or $5."""
    return all(map(_GROUPED.fullmatch, found)) and not all(map(str.isdigit, found))


def _are_amounts(found: Collection[str], field: Field) -> bool:
    """Say whether texts are such numbers over QQ, one with a separator: <5 may be a category."""
    return field.order is None and grouped_numbers(found) and any(map(_SEPARATED.search, found))


def _with_truths(values: Array) -> Array:
    """Return entries with 1 and 0 for the texts true and false; others as they are."""
    cells = values.tolist() if values.dtype.kind in "OUT" else []
    texts_found = {cell for cell in cells if isinstance(cell, str)}
    truths = {cell: truth for cell in texts_found if (truth := truth_value(cell)) is not None}
    if not truths:
        return values
    out = values.astype(object)
    out[:] = [truths.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
    return out


def _zeros_and_ones(mask: Array, field: Field) -> Array:
    """Return a mask as elements; over QQ as numbers, for a row is also written as text."""
    return np.asarray(mask).astype(np.uint8).astype(field.dtype, copy=False)


def _is_one_of(column: str, values: Sequence[str], verb: str = "=") -> str:
    """Return that a column has one of some values, or that it has none of them."""
    if list(values) == [MISSING]:
        return f"{column} {'is' if verb == '=' else verb} missing"
    return f"{column} {verb} {' or '.join(values)}"


def _in_range(text: str, low: int, high: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high


def _is_number(value: Any) -> bool:
    """Say whether an entry is a number that can be read exactly."""
    if isinstance(value, (float, np.floating)):
        return math.isfinite(value)
    if isinstance(value, (str, Decimal)):
        return is_rational(str(value))
    return isinstance(value, Rational)


ENCODERS.update(
    (encoder.kind, encoder) for encoder in (Element, Hex, Levels, Bits, Mod, Above, OneHot)
)
