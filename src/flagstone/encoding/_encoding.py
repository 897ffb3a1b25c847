"""An encoding: the encoders of all chosen columns, and of the label, in order."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from flagstone._kernels import kernels
from flagstone.algebra import Array, BitRows, Field, Rows, as_field
from flagstone.encoding._column import ColumnEncoder, number_text
from flagstone.encoding._encoders import Element, Levels
from flagstone.encoding._entries import BadEntry, texts
from flagstone.encoding._monomials import Monomials
from flagstone.errors import FormatError


@dataclass(frozen=True)
class Encoding:
    """How a table becomes a matrix over a field: features first, the label last.

    With ``drop_missing``, rows in which a value is missing are left out; otherwise they are
    refused, except by encoders that list a level for them. With a ``degree`` above 1, the features
    are all products of up to this many encoded columns (`Monomials`).

    Examples
    --------
    >>> from flagstone import GF
    >>> encoding = Encoding(GF(2), (ColumnEncoder.parse("level", "bits:2"),))
    >>> encoding.names
    ('level[0]', 'level[1]')
    >>> Encoding.from_dict(encoding.to_dict()) == encoding
    True
    """

    field: Field
    encoders: tuple[ColumnEncoder, ...]
    label: ColumnEncoder | None = None
    drop_missing: bool = False
    degree: int = 1

    @cached_property
    def monomials(self) -> Monomials:
        """The features as products of encoded columns."""
        names = tuple(name for encoder in self.encoders for name in encoder.names_over(self.field))
        groups: list[int] = []
        for encoder, part in self.parts:
            if encoder.is_one_hot:
                groups += [part.start] * encoder.width
            else:
                groups += range(part.start, part.stop) if encoder.is_binary else [-1]
        return Monomials(self.field, self.degree, names, tuple(groups))

    @cached_property
    def parts(self) -> tuple[tuple[ColumnEncoder, slice], ...]:
        """The encoder of each column of the table, and which encoded columns are its own."""
        stops = list(itertools.accumulate(encoder.width for encoder in self.encoders))
        return tuple(
            (encoder, slice(stop - encoder.width, stop))
            for encoder, stop in zip(self.encoders, stops, strict=True)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read, in the order in which they are encoded."""
        return tuple(encoder.column for encoder in self._all)

    @property
    def _all(self) -> tuple[ColumnEncoder, ...]:
        return self.encoders if self.label is None else (*self.encoders, self.label)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features: encoded columns, and their products up to the degree."""
        if self.degree > 1:
            return self.monomials.columns
        return tuple(name for encoder in self.encoders for name in encoder.names_over(self.field))

    @property
    def kinds(self) -> dict[str, str]:
        """What the text of each column must be read as: integer, number or text."""
        return {encoder.column: encoder.reads(self.field) for encoder in self._all}

    @classmethod
    def plain(
        cls,
        field: Field,
        names: Sequence[str],
        *,
        label: str | None = None,
        labels: Array | None = None,
        kind: str = "element",
    ) -> Encoding:
        """Return the encoding of columns that hold elements already (or whole numbers modulo q).

        ``labels`` names what the elements 0, 1, … of the label mean.
        """
        target: ColumnEncoder | None = None
        if label is not None:
            target = Element(label)
            if labels is not None:
                whole = [int(v) if isinstance(v, float) and v.is_integer() else v for v in labels]
                values = np.empty(len(whole), dtype=object)
                values[:] = whole
                target = Levels(label, tuple(texts(values)))
        return cls(field, tuple(ColumnEncoder.parse(name, kind) for name in names), target)

    @property
    def labels(self) -> tuple[str, ...] | None:
        """What the elements 0, 1, … of the label mean; None if they are the labels."""
        return None if self.label is None else self.label.labels

    def decoded(self, elements: Array) -> list[str]:
        """Return elements of the label as the texts that they mean.

        A rule may take a value without a label: it is then written as the element.
        """
        named = dict(enumerate(self.labels or ()))
        return [named.get(v, number_text(self.field, v)) for v in elements.tolist()]

    def without_label(self) -> Encoding:
        """Return the encoding of the features alone."""
        return replace(self, label=None)

    def rows(self, values: BitRows | Array | Sequence[Array]) -> tuple[Rows, Array | None]:
        """Encode as :meth:`matrix` does; return the features as rows of the field, and the label.

        Every entry is looked at once. Bits that need no encoder, of whatever type, go from where
        they were read right into packed rows; what is wrong with others, the matrix says.

        >>> from flagstone import GF
        >>> Encoding.plain(GF(2), ["a", "b"]).rows([np.array([1, 0]), np.array([True, True])])[0]
        BitRows(2 rows, dim=2)
        """
        if self.field.order == 2 and self._is_plain and (packed := _packed(values)) is not None:
            rows: Rows = packed
            y = None
            if self.label is not None:
                rows, y = packed.split_last()
        else:
            X, y = self.split(self.matrix(values))
            rows = self.field.trusted(X)
        return (rows if self.degree == 1 else self.monomials.expand(rows)), y

    @property
    def _is_plain(self) -> bool:
        return all(encoder.is_plain for encoder in self._all)

    def split(self, matrix: Array) -> tuple[Array, Array | None]:
        """Return encoded rows as features and, if there is a label, its column."""
        return (matrix, None) if self.label is None else (matrix[:, :-1], matrix[:, -1])

    def kept(self, values: Array | BitRows | Sequence[Array]) -> Array | None:
        """Return the index of each row that is read; None if all are.

        Frames of another length are left out, and with ``drop_missing`` rows with missing values.
        """
        chosen = [
            (index, encoder)
            for index, encoder in enumerate(self._all)
            if self.drop_missing or encoder.holds_frames
        ]
        if not chosen or isinstance(values, BitRows):
            return None
        kept: Array | None = None
        for index, encoder in chosen:
            column = values[:, index] if isinstance(values, np.ndarray) else values[index]
            found = ~encoder.missing(column) if self.drop_missing else np.ones(len(column), bool)
            if encoder.holds_frames:
                try:
                    found[found] = encoder.fits(column[found])
                except BadEntry as bad:
                    at = int(found.nonzero()[0][bad.index])
                    raise BadEntry(at, bad.problem, encoder.column) from None
            kept = found if kept is None else kept & found
        return None if kept is None or kept.all() else kept.nonzero()[0]

    def matrix(
        self, values: Array | BitRows | Sequence[Array], *, ignore_unknown: bool = False
    ) -> Array:
        """Encode values of exactly :attr:`columns`, in this order: one array, or one per column.

        Products of columns are not among them. Values that an encoder does not list become zeros
        if they are to be ignored.
        """
        if isinstance(values, BitRows):
            values = values.unpack()
        if isinstance(values, np.ndarray):
            order = self.field.order
            is_whole = self._is_plain and values.dtype.kind in "bui"
            if order and is_whole and _all_below(values, order):
                return values.astype(self.field.dtype, copy=False)
            values = list(values.T)
        n_columns = sum(encoder.width for encoder in self._all)
        # column by column into column-major memory: every write is contiguous
        out = np.empty((len(values[0]), n_columns), dtype=self.field.dtype, order="F")
        place = 0
        for encoder, column in zip(self._all, values, strict=True):
            try:
                encode = encoder.encode_known if ignore_unknown else encoder.encode
                part = encode(column, self.field)
            except BadEntry as bad:
                raise BadEntry(bad.index, bad.problem, encoder.column) from None
            out[:, place : place + part.shape[1]] = part
            place += part.shape[1]
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON form that :meth:`from_dict` reads."""
        pairs = [[encoder.column, encoder.text] for encoder in self.encoders]
        label = None if self.label is None else [self.label.column, self.label.text]
        found = {"field": self.field.name, "columns": pairs, "label": label}
        found |= {"missing": "drop"} if self.drop_missing else {}
        return found | ({"degree": self.degree} if self.degree > 1 else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Encoding:
        """Read the form that :meth:`to_dict` writes."""
        try:
            encoders = tuple(ColumnEncoder.parse(str(c), str(t)) for c, t in data["columns"])
            label, missing = data["label"], data.get("missing", "refuse")
            if missing not in ("refuse", "drop"):
                raise ValueError(f"missing must be 'refuse' or 'drop', got {missing!r}")
            found = cls(
                as_field(data["field"]),
                encoders,
                None if label is None else ColumnEncoder.parse(str(label[0]), str(label[1])),
                missing == "drop",
                data.get("degree", 1),
            )
            found.monomials.check_memory()
            return found
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise FormatError(f"the encoders cannot be read ({error})") from error


def _all_below(values: Array, order: int) -> bool:
    return not values.size or (int(values.min()) >= 0 and int(values.max()) < order)


def _packed(values: BitRows | Array | Sequence[Array]) -> BitRows | None:
    """Return values as packed rows; None if one of them is neither 0 nor 1."""
    if isinstance(values, BitRows):
        return values
    parts = [values] if isinstance(values, np.ndarray) else values
    if not all(part.dtype.kind in "bui" and part.dtype.isnative for part in parts):
        return None
    if isinstance(values, np.ndarray):
        words, fits = kernels.pack(values)
        return BitRows.trusted(words, values.shape[1]) if fits else None
    words, fits = kernels.pack_columns(parts)
    return BitRows.trusted(words, len(parts)) if fits else None
