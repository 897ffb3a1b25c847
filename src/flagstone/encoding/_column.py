"""Columns: how one of them becomes elements of a field, and what is said of it afterwards.

An encoder is a small value with a text form, the one that ``--encode`` takes and that models
store. It depends on nothing but that text, never on the data it is applied to, so that two
people who publish it encode alike. The kinds of encoders stand in `flagstone.encoding._encoders`.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra.fields import Array, Field
from flagstone.errors import InputError, Parameter
from flagstone.exact import missing_entries

#: Texts that other programs write for a missing value.
MARKERS = frozenset(["NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>", "?"])
#: A float is known by up to 17 digits; a longer decimal is shown as a fraction.
_SHOWN_DIGITS = 20
#: All encoders by their kind, in the order in which they are proposed.
ENCODERS: dict[str, type[ColumnEncoder]] = {}


@dataclass(frozen=True)
class Statement:
    """Something that holds in a row or does not: ``odor = m``, ``class = edible``, ``x3 = 1``."""

    coefficient: Any  #: what it adds to an equation where it holds
    text: str
    negated: str
    is_category: bool = True  #: whether words say more than a 0/1 column does


@dataclass(frozen=True)
class ColumnEncoder(ABC):
    """How one column is encoded; `parse` makes one of its text form.

    Parameters
    ----------
    column : str
    values : tuple of str
        The listed values, the number of bits, or the bound.

    Attributes
    ----------
    kind : str
        One of ``element``, ``levels``, ``onehot``, ``bits``, ``above``, ``mod``, ``hex``.

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
    values: tuple[str, ...] = ()

    kind: ClassVar[str]
    #: An example and what it does.
    usage: ClassVar[str]
    #: Whether entries are elements already.
    is_plain: ClassVar[bool] = False
    #: Whether different entries always stay different.
    loses_nothing: ClassVar[bool] = False
    #: Whether exactly one of the encoded columns is 1, the others 0.
    is_one_hot: ClassVar[bool] = False
    #: Whether entries are frames, of which those of another length are left out.
    holds_frames: ClassVar[bool] = False
    #: What else may be meant by the entries that it is proposed for.
    advice: ClassVar[tuple[str | Parameter, ...]] = ()

    @staticmethod
    def parse(column: str, text: str) -> ColumnEncoder:
        """Read the text form, e.g. ``bits:8`` or ``levels:no,yes``."""
        kind, _, rest = text.partition(":")
        try:
            values = tuple(next(csv.reader([rest]))) if rest else ()
        except csv.Error:
            raise InputError(
                f"encoder {text!r} of column {column!r}: its values cannot be told apart; put "
                'those with a line end in quotes, "…"'
            ) from None
        problem: str | None = "no such encoder"
        if kind in ENCODERS:
            found = ENCODERS[kind](column, values)
            if (problem := found.problem()) is None:
                return found
        known = "; ".join(encoder.usage for encoder in ENCODERS.values())
        raise InputError(f"encoder {text!r} of column {column!r}: {problem}. Encoders: {known}")

    def problem(self) -> str | None:
        """Say what is wrong with the values, if something is."""
        return "it takes no values" if self.values else None

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
        return (self.column,)

    def names_over(self, field: Field) -> tuple[str, ...]:
        """Return the names of the encoded columns over a field."""
        return self.names

    @cached_property
    def width(self) -> int:
        """How many encoded columns there are."""
        return len(self.names)

    @property
    def is_binary(self) -> bool:
        """Whether every encoded column holds 0 or 1, for any table."""
        return True

    @property
    def labels(self) -> tuple[str, ...] | None:
        """What the elements 0, 1, … of a label stand for; None where they are the labels."""
        return None

    def reads(self, field: Field) -> str:
        """Say what untyped text must be read as: integer, number or text."""
        return "text" if field.order is None else "integer"

    @abstractmethod
    def encode(self, values: Array, field: Field) -> Array:
        """Return the encoded columns, shape (n_rows, width); BadEntry names a bad row.

        It refuses missing values (see `missing`) itself: not every source of entries does.
        """

    def encode_known(self, values: Array, field: Field) -> Array:
        """Encode as `encode` does, with zeros for values that are not listed."""
        return self.encode(values, field)

    def fits(self, values: Array) -> Array:
        """Say of each entry whether it makes a row: a frame of another length does not."""
        return np.ones(len(values), dtype=bool)

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

    def cell(self, part: Sequence[Any], field: Field) -> str:
        """Return the entry that encoded columns mean, as far as they determine it."""
        return number_text(field, part[0])

    def constant(self, index: int, value: Any, field: Field) -> str:
        """Return that an encoded column always has a value."""
        return f"{self.names[index]} = {number_text(field, value)}"

    def statement(self, part: Array, field: Field) -> Statement | None:
        """Return what a sum of the encoded columns says, with these coefficients, not all 0.

        None if the sum is not a statement, which holds or does not.
        """
        return None

    def label_remedy(self, field: Field) -> list[str | Parameter]:
        """Return what to do where it makes no label, one element; nothing where it makes one."""
        if self.loses_nothing and self.width == 1:
            return []
        remedy = "choose a larger field, or say which numbers stand for 1, such as "
        return [remedy, Parameter("encode", {self.column: "above:0"})]

    @classmethod
    def proposal(cls, column: str, values: Array, field: Field) -> tuple[ColumnEncoder, str] | None:
        """Return the encoder of this kind that suits some values of a column, and the reason.

        None where this kind does not suit. Of several kinds that do, the first one of `ENCODERS` is
        proposed.
        """
        return None


def number_text(field: Field, value: Any) -> str:
    """Return an element as people write it: over QQ as a decimal if that is exact and short.

    >>> from flagstone import QQ
    >>> number_text(QQ, Fraction(5363, 100)), number_text(QQ, Fraction(1, 3))
    ('53.63', '1/3')
    """
    if isinstance(value, Fraction) and 1 < value.denominator < 10**_SHOWN_DIGITS:
        context = Context(prec=_SHOWN_DIGITS)
        decimal = context.divide(Decimal(value.numerator), Decimal(value.denominator))
        if not context.flags[Inexact]:
            return f"{decimal.normalize(context):f}"
    return field.format(value)
