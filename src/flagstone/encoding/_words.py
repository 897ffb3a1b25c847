"""Equations and rows in the words of a table: columns and their values instead of bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, Field
from flagstone.answers import equation
from flagstone.encoding._column import MISSING, ColumnEncoder
from flagstone.encoding._encoding import Encoding


@dataclass(frozen=True)
class Statement:
    """Something that holds in a row or does not: ``odor = m``, ``class = edible``, ``x3 = 1``."""

    coefficient: Any  #: what it adds to an equation where it holds
    text: str
    negated: str
    is_category: bool  #: whether words say more than a 0/1 column does


def cells(
    encoding: Encoding, row: Sequence[Any], columns: Sequence[str] | None = None
) -> dict[str, str]:
    """Return an encoded row, with its label if there is one, as (some) cells of the table.

    What an encoder does not keep is not known: of a number above a bound only that it is above.

    >>> from flagstone import GF
    >>> ring, x = ColumnEncoder.parse("ring", "onehot:n,o"), ColumnEncoder("x", "element")
    >>> e = Encoding(GF(2), (ring, x))
    >>> cells(e, [0, 1, 1])
    {'ring': 'o', 'x': '1'}
    """
    found = {
        encoder.column: _cell(encoding.field, encoder, row[part])
        for encoder, part in encoding.parts
        if columns is None or encoder.column in columns
    }
    if encoding.label is not None and len(row) > sum(e.width for e in encoding.encoders):
        found[encoding.label.column] = _cell(encoding.field, encoding.label, row[-1:])
    return found


def _cell(field: Field, encoder: ColumnEncoder, part: Sequence[Any]) -> str:
    kind, values = encoder.kind, encoder.values
    if kind == "onehot":
        return " and ".join(v for v, bit in zip(values, part, strict=True) if bit) or "none of them"
    if kind == "levels" and int(part[0]) < len(values):
        return values[int(part[0])]
    if kind == "bits":
        return str(sum(int(bit) << i for i, bit in enumerate(part)))
    if kind == "above":
        return f"{'>' if part[0] else '≤'} {values[0]}"
    if kind == "hex":
        return "".join(map(str, part))
    return number_text(field, part[0])


def number_text(field: Field, value: Any) -> str:
    """Return an element as people write it: over QQ as a decimal where that is exact.

    >>> from flagstone import QQ
    >>> number_text(QQ, Fraction(5363, 100)), number_text(QQ, Fraction(1, 3))
    ('53.63', '1/3')
    """
    if isinstance(value, Fraction):
        rest = value.denominator
        for prime in (2, 5):
            while rest % prime == 0:
                rest //= prime
        if 1 < value.denominator < 10**12 and rest == 1 and abs(value.numerator) < 10**16:
            return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():f}"
    return field.format(value)


def worded(encoding: Encoding, row: Array) -> str:
    """Return an equation (a | b) over the columns of a table, in words where it is of categories.

    Examples
    --------
    >>> from flagstone import GF
    >>> columns = ("odor", "onehot:a,c,m"), ("ring", "onehot:n,o,t"), ("class", "levels:good,bad")
    >>> e = Encoding(GF(2), tuple(ColumnEncoder.parse(*pair) for pair in columns))
    >>> print(worded(e, np.array([0, 0, 1, 1, 0, 0, 0, 0])))
    odor = m exactly when ring = n
    >>> print(worded(e, np.array([1, 1, 0, 0, 0, 0, 1, 1])))
    odor = a or c exactly when class = good
    >>> print(worded(e, np.array([0, 0, 1, 0, 1, 0, 1, 0])))
    an even number of these hold: odor = m; ring = o; class = bad
    >>> pairs = Encoding(GF(2), e.encoders[:2], degree=2)
    >>> unit = np.array([name == "odor=a·ring=n" for name in (*pairs.names, "")], dtype=int)
    >>> print(worded(pairs, unit))
    never odor = a and ring = n
    """
    F, names = encoding.field, encoding.names
    found = statements(encoding, row[:-1])
    if found is None or not any(s.is_category for s in found):
        return equation(F, row[:-1], names, row[-1])
    if len(found) == 1 and row[-1] == 0 and (row[:-1] != 0).sum() == 1:
        return f"never {found[0].text}"
    if len(found) == 2:
        said = _exactly_when(F, found, row[-1])
        if said is not None:
            return said
    if F.order == 2 and len(found) > 2:
        return f"an {'odd' if row[-1] else 'even'} number of these hold: {_listed(found)}"
    return equation(F, row[:-1], names, row[-1])


def worded_rule(encoding: Encoding, coef: Array, constant: Any) -> str | None:
    """Return a rule for the label in words, if one of its columns is a category.

    >>> from flagstone import GF
    >>> e = Encoding(GF(2), (ColumnEncoder.parse("odor", "onehot:a,c,m"),),
    ...     ColumnEncoder.parse("class", "levels:edible,poisonous"))
    >>> worded_rule(e, np.array([0, 1, 1]), 0)
    'class = poisonous exactly when odor = c or m'
    """
    F, label = encoding.field, encoding.label
    found = statements(encoding, coef)
    target = None if label is None else _binary(F, label, F.one)
    if F.order != 2 or not found or target is None:
        return None
    if not any(s.is_category for s in found):
        return None
    said = target.negated if constant and len(found) == 1 else target.text
    if len(found) == 1:
        return f"{said} exactly when {found[0].text}"
    number = "an even number" if constant else "an odd number"
    return f"{said} exactly when {number} of these hold: {_listed(found)}"


def constant_text(encoding: Encoding, column: int, value: Any) -> str:
    """Return that a column is constant, in the words of the table."""
    F = encoding.field
    for encoder, part in encoding.parts:
        if column not in range(part.start, part.stop):
            continue
        if encoder.kind == "onehot":
            level = encoder.values[column - part.start]
            return f"{encoder.column} is {'always' if value else 'never'} {level}"
        if encoder.kind in ("levels", "above"):
            return f"{encoder.column} is always {_cell(F, encoder, [value])}"
    return f"{encoding.names[column]} = {number_text(F, value)}"


def statements(encoding: Encoding, coef: Array) -> list[Statement] | None:
    """Return what a sum of columns is a sum of; None where a column is no statement."""
    F, found, width = encoding.field, [], 0
    for encoder, place in encoding.parts:
        part, width = coef[place], place.stop
        used = np.flatnonzero(part != 0).tolist()
        if not used:
            continue
        if encoder.kind == "onehot":
            if any(part[i] != part[used[0]] for i in used):
                return None
            values = [encoder.values[i] for i in used]
            others = [v for i, v in enumerate(encoder.values) if i not in used]
            negated = _is_one_of(encoder.column, values, "is not")
            if 0 < len(others) <= len(used):
                negated = _is_one_of(encoder.column, others)
            text = _is_one_of(encoder.column, values)
            found.append(Statement(part[used[0]], text, negated, is_category=True))
        elif (statement := _binary(F, encoder, part[0])) is not None:
            found.append(statement)
        else:
            return None
    for i in width + np.flatnonzero(coef[width:] != 0):
        product = _product(encoding, encoding.monomials.terms[i], coef[i])
        if product is None:
            return None
        found.append(product)
    return found


def _product(encoding: Encoding, term: Sequence[int], coefficient: Any) -> Statement | None:
    """Return that statements hold together; None where a column is no statement."""
    unit = np.zeros(len(encoding.monomials.names), dtype=encoding.field.dtype)
    parts: list[Statement] = []
    for column in term:
        unit[:] = encoding.field.zero
        unit[column] = encoding.field.one
        parts += statements(encoding, unit) or []
    if len(parts) < len(term):
        return None
    text = " and ".join(part.text for part in parts)
    return Statement(coefficient, text, f"not ({text})", any(part.is_category for part in parts))


def _is_one_of(column: str, values: Sequence[str], verb: str = "=") -> str:
    """Return that a column has one of some values, or that it has none of them."""
    if list(values) == [MISSING]:
        return f"{column} {'is' if verb == '=' else verb} missing"
    return f"{column} {verb} {' or '.join(values)}"


def _binary(field: Field, encoder: ColumnEncoder, coefficient: Any) -> Statement | None:
    """Return the statement that a column of two values makes; None for other columns."""
    name, values = encoder.column, encoder.values
    if encoder.kind == "levels" and len(values) == 2:
        said = [_is_one_of(name, [value]) for value in values]
        return Statement(coefficient, said[1], said[0], True)
    if encoder.kind == "above":
        return Statement(coefficient, f"{name} > {values[0]}", f"{name} ≤ {values[0]}", True)
    if encoder.kind == "element" and field.order == 2:
        return Statement(coefficient, f"{name} = 1", f"{name} = 0", False)
    return None


def _exactly_when(field: Field, pair: list[Statement], value: Any) -> str | None:
    """Return which of two statements holds with which; None if they are not tied to each other."""
    first, second = pair
    zero, a, b = (np.array([v], dtype=field.dtype) for v in (0, *(s.coefficient for s in pair)))
    fits = {
        (p, q)
        for p, q in product((0, 1), repeat=2)
        if field.add(a if p else zero, b if q else zero)[0] == value
    }
    if fits == {(0, 0), (1, 1)}:
        return f"{first.text} exactly when {second.text}"
    if fits == {(0, 1), (1, 0)}:
        if " is not " in second.negated and " is not " not in first.negated:
            return f"{second.text} exactly when {first.negated}"
        return f"{first.text} exactly when {second.negated}"
    return None


def _listed(found: Sequence[Statement]) -> str:
    return "; ".join(s.text for s in found)
