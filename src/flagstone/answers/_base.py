"""`Answer`: what a subspace says; and what all answers share: their text and their JSON form."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from flagstone.algebra import Array, Field, as_field
from flagstone.errors import FormatError, InputError
from flagstone.markup import card, listing


class Answer(ABC):
    """A frozen value: equal when the mathematics is equal; column names do not matter.

    Attributes
    ----------
    kind : str
        The question it answers, unless a finding says otherwise.
    field : Field
    dim : int
        The number of feature columns (of unknowns, for equations).
    names : tuple of str or None
        What the columns are called; x0, x1, … otherwise. No part of equality.
    """

    kind: ClassVar[str]
    field: Field
    names: tuple[str, ...] | None

    @property
    @abstractmethod
    def augmented(self) -> Array | None:
        """The canonical rows: coefficients and, last, right-hand sides; None for ⊥."""

    @property
    def shown(self) -> Array | None:
        """The rows as they are shown, and as the syndrome of equations has them; None for ⊥."""
        return self.augmented

    @property
    def canonical_lines(self) -> tuple[str, ...]:
        """The canonical rows for people, one text each."""
        return self.lines

    @property
    @abstractmethod
    def lines(self) -> tuple[str, ...]:
        """The answer for people, one text for each of its rows."""

    @property
    def text(self) -> str:
        """The answer for people."""
        return "\n".join(self.lines)

    @property
    def basis_lines(self) -> tuple[str, ...]:
        """The rows that obey the answer, written down; only equations that rows obey have them."""
        raise InputError("a basis is printed of a span or of check equations, not of this answer")

    @property
    @abstractmethod
    def expression(self) -> str:
        """The answer as a Python expression in one row ``x`` of plain numbers."""

    @property
    @abstractmethod
    def is_bottom(self) -> bool:
        """Whether the answer is ⊥: there is no rule, or the equations contradict each other."""

    @abstractmethod
    def _side(self, value: Any) -> str:
        """Return how a right-hand side is written behind a bit mask."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values; ``from_dict`` reads them back."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the answer that :meth:`to_dict` wrote."""

    @property
    def bits(self) -> tuple[Array, tuple[str, ...]]:
        """The coefficients as rows of bits, and what is to be written behind each (GF(2) only)."""
        if self.field.order != 2:
            raise InputError(f"bit masks exist over GF(2) only, this answer is over {self.field}")
        rows = self.shown
        if rows is None:
            raise InputError("⊥ has no masks: no linear rule fits")
        return rows[:, :-1], tuple(self._side(b) for b in rows[:, -1].tolist())

    @property
    def masks(self) -> tuple[str, ...]:
        """The coefficients as hexadecimal bit masks; bit i is column i (GF(2) only)."""
        return tuple(mask(row) for row in self.bits[0])

    @property
    def mask_lines(self) -> tuple[str, ...]:
        """The masks with their right-hand sides."""
        return tuple(mask + side for mask, side in zip(self.masks, self.bits[1], strict=True))

    def fingerprint(self, kind: str | None = None, labels: Sequence[str] | None = None) -> str:
        """Return the SHA-256 of the canonical text, 64 hex digits: what two people compare.

        The text, in UTF-8 with a newline after each line: ``flagstone finding v2``,
        ``question`` and its kind, ``field`` and the field's name, ``columns`` and their number,
        where labels are named ``labels`` and a JSON list of them (ASCII, no spaces), then
        ``bottom``, or ``rows`` and their number and the rows themselves: coefficients and
        right-hand side, apart by one space, in reduced row echelon form (of a rule: w and c).

        Examples
        --------
        >>> import hashlib
        >>> from flagstone.answers import ParityRule
        >>> text = "flagstone finding v2\\nquestion parity\\nfield GF(2)\\ncolumns 3\\nrows 1\\n"
        >>> rule = ParityRule([0, 1, 1], 1)
        >>> rule.fingerprint() == hashlib.sha256(f"{text}0 1 1 1\\n".encode()).hexdigest()
        True
        """
        head = f"flagstone finding v2\nquestion {kind or self.kind}\n".encode()
        named = b""
        if labels is not None:
            named = f"labels {json.dumps(list(labels), separators=(',', ':'))}\n".encode()
        where, body = self._canonical()
        return hashlib.sha256(head + where + named + body).hexdigest()

    def _canonical(self) -> tuple[bytes, bytes]:
        where = f"field {self.field}\ncolumns {self.dim}\n".encode()
        rows = self.augmented
        if rows is None:
            return where, b"bottom\n"
        return where, f"rows {len(rows)}\n".encode() + self.field.canonical_text(rows)

    @property
    @abstractmethod
    def dim(self) -> int: ...

    @property
    def support(self) -> tuple[int, ...]:
        """The columns that appear in the answer."""
        rows = self.augmented
        return () if rows is None else tuple(np.flatnonzero((rows[:, :-1] != 0).any(0)).tolist())

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._canonical() == other._canonical()

    def __hash__(self) -> int:
        return hash(self._canonical())

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        lines = list(self.lines) or [self.text]
        return card(f"{type(self).__name__} over {self.field}", listing(lines))


def frozen(array: Array) -> Array:
    """Return a read-only copy."""
    out = np.array(array)
    out.flags.writeable = False
    return out


def check_names(names: Sequence[str] | None, dim: int) -> tuple[str, ...] | None:
    """Return names as a tuple, one per feature."""
    if names is None:
        return None
    out = tuple(str(name) for name in names)
    if len(out) != dim:
        raise InputError(f"names must name every feature: {dim} are needed, got {len(out)}")
    return out


def to_json(field: Field, values: Array) -> list[Any]:
    """Return elements as JSON values: integers, or texts such as ``"3/4"`` over QQ."""
    if field.order is None:
        return [field.format(v) for v in values]
    return [int(v) for v in values]


def from_json(field: Field, values: Any, what: str, dim: int | None = None) -> Array:
    """Return elements from JSON values, or raise FormatError naming what does not fit."""
    if not isinstance(values, list) or any(isinstance(v, (list, dict, bool)) for v in values):
        raise FormatError(f"{what} must be a list of elements of {field}, got {values!r}")
    if not values:
        return field.array(field.empty(0, 1))[:, 0]
    try:
        column = field.rows(as_column(values), name=what)
    except InputError as error:
        raise FormatError(str(error)) from error
    if dim is not None and len(values) != dim:
        raise FormatError(f"{what} has {len(values)} entries, but {dim} are expected")
    return field.array(column)[:, 0]


def header(data: Any) -> tuple[Field, int, tuple[str, ...] | None]:
    """Return what every saved answer states: its field, the number of its columns, their names."""
    try:
        field, dim, names = as_field(data["field"]), data["dim"], data["names"]
    except (KeyError, TypeError, InputError) as error:
        raise FormatError(f"a saved answer must state field, dim and names ({error})") from error
    if not isinstance(dim, int) or isinstance(dim, bool) or dim < 1:
        raise FormatError(f"dim must be a positive integer, got {dim!r}")
    if names is None:
        return field, dim, None
    if (
        not isinstance(names, list)
        or len(names) != dim
        or not all(isinstance(n, str) for n in names)
    ):
        raise FormatError(f"names must be a list of {dim} texts, got {names!r}")
    return field, dim, tuple(names)


def as_column(values: list[Any]) -> Array:
    """Return values as the only column of a table of objects."""
    out = np.empty((len(values), 1), dtype=object)
    out[:, 0] = values
    return out


# Linear combinations as text for people, and as expressions for Python


def feature_names(names: Sequence[str] | None, dim: int) -> tuple[str, ...]:
    """Return the given names, or x0, x1, … for features without names."""
    return tuple(names) if names is not None else tuple(f"x{i}" for i in range(dim))


def combination(field: Field, coef: Array, names: Sequence[str], constant: Any = 0) -> str:
    """Return Σ coef_i·name_i + constant as text.

    >>> import numpy as np
    >>> from flagstone import GF
    >>> combination(GF(2), np.array([1, 0, 1]), ["a", "b", "c"], 1)
    'a ⊕ c ⊕ 1'
    >>> combination(GF(11), np.array([3, 0, 1]), ["a", "b", "c"])
    '3·a + c'
    """
    if field.order == 2:
        terms = [names[i] for i in np.flatnonzero(coef).tolist()] + (["1"] if constant else [])
        return " ⊕ ".join(terms) or "0"
    signed = [_term(field, value, names[i]) for i, value in enumerate(coef) if value != 0]
    if constant != 0:
        signed.append(("-" if constant < 0 else "+", field.format(abs(constant))))
    if not signed:
        return "0"
    (sign, first), *rest = signed
    return "".join([first if sign == "+" else f"-{first}", *(f" {s} {t}" for s, t in rest)])


def _term(field: Field, value: Any, name: str) -> tuple[str, str]:
    size = abs(value)
    return "-" if value < 0 else "+", name if size == 1 else f"{field.format(size)}·{name}"


def modulus(field: Field) -> str:
    """Return the modulus written after an equation; nothing over GF(2) and QQ."""
    if field.order in (None, 2):
        return ""
    return f" (mod {field.order})" if field.degree == 1 else f" (in {field.name})"


def equation(field: Field, coef: Array, names: Sequence[str], rhs: Any) -> str:
    """Return one equation, such as ``x0 ⊕ x3 = 1`` or ``3·x0 + x4 = 0 (mod 11)``."""
    return f"{combination(field, coef, names)} = {field.format(rhs)}{modulus(field)}"


def expression(field: Field, coef: Array, constant: Any = 0) -> str:
    """Return Σ coef_i·x[i] + constant as a Python expression in one row ``x`` of plain numbers.

    It needs no library: over GF(p^k) multiplication by a constant is written out on the
    base-p digits of the entries. Over QQ it names ``Fraction``, as floats would not add up exactly.
    """
    if field.order is None:
        return _rational(coef, constant)
    terms = [(int(c), int(i)) for i, c in enumerate(coef) if c != 0]
    if field.order == 2:
        return " ^ ".join([f"x[{i}]" for _, i in terms] + (["1"] if constant else [])) or "0"
    if field.degree == 1:
        parts = [f"x[{i}]" if c == 1 else f"{c}*x[{i}]" for c, i in terms]
        parts += [str(int(constant))] if constant else []
        return f"({' + '.join(parts)}) % {field.order}" if parts else "0"
    return _extension(field, terms, int(constant))


def _rational(coef: Array, constant: Any) -> str:
    """Write a sum of fractions; numbers are read as they are written, floats by their decimals."""

    def number(value: Fraction) -> str:
        top, bottom = value.numerator, value.denominator
        if max(abs(top), bottom) >= 10**4000:  # too long for a literal of Python
            return f"Fraction({hex(top)}, {hex(bottom)})"
        return str(top) if bottom == 1 else f"Fraction({top}, {bottom})"

    terms = [(Fraction(c), exact_entry(i)) for i, c in enumerate(coef) if c != 0]
    terms += [(Fraction(constant), "")] if constant != 0 else []
    code = ""
    for value, entry in terms:
        size = abs(value)
        term = entry if entry and size == 1 else number(size) + f"*{entry}" * bool(entry)
        sign = (" - " if value < 0 else " + ") if code else "-" * (value < 0)
        code += sign + term
    return code or "0"


def exact_entry(key: int | str) -> str:
    """Return the exact value of an entry of a row ``x`` as Python, whatever its type is there."""
    return f"Fraction(str(x[{key!a}]))"


def _extension(field: Field, terms: list[tuple[int, int]], constant: int) -> str:
    """Write the sum digit by digit: c·x is linear over GF(p) in the base-p digits of x."""
    p, k = field.characteristic, field.degree
    if p == 2:
        parts = [f"(x[{i}] >> {j} & 1) * {_times(field, c, j)}" for c, i in terms for j in range(k)]
        parts += [str(constant)] if constant else []
        return " ^ ".join(parts) or "0"
    digits = []
    for place in range(k):
        parts = []
        for c, i in terms:
            for j in range(k):
                factor = _times(field, c, j) // p**place % p
                if factor:
                    parts.append(f"{factor}*(x[{i}] // {p**j} % {p})")
        if constant // p**place % p:
            parts.append(str(constant // p**place % p))
        if parts:
            digits.append(f"{p**place} * (({' + '.join(parts)}) % {p})")
    return " + ".join(digits) or "0"


def _times(field: Field, c: int, j: int) -> int:
    """Return the element c·α^j, where α^j is the element with the single digit 1 at place j."""
    unit = np.array([field.characteristic**j], dtype=field.dtype)
    return int(field.mul(np.array([c], dtype=field.dtype), unit)[0])


def mask(coef: Array) -> str:
    """Return a 0/1 vector as a hexadecimal bit mask: bit i is column i."""
    return hex(sum(1 << int(i) for i in np.flatnonzero(coef)))
