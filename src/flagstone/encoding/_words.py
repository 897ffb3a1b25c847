"""Equations and rows in the words of a table: columns and their values instead of bits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, Field
from flagstone.answers import equation
from flagstone.encoding._column import Statement, number_text
from flagstone.encoding._encoding import Encoding


def cells(
    encoding: Encoding, row: Sequence[Any], columns: Sequence[str] | None = None
) -> dict[str, str]:
    """Return an encoded row, with its label if there is one, as (some) cells of the table.

    What an encoder does not keep is not known: of a number above a bound only that it is above.

    >>> from flagstone import GF
    >>> from flagstone.encoding import ColumnEncoder
    >>> ring, x = ColumnEncoder.parse("ring", "onehot:n,o"), ColumnEncoder.parse("x", "element")
    >>> e = Encoding(GF(2), (ring, x))
    >>> cells(e, [0, 1, 1])
    {'ring': 'o', 'x': '1'}
    """
    found = {
        encoder.column: encoder.cell(row[part], encoding.field)
        for encoder, part in encoding.parts
        if columns is None or encoder.column in columns
    }
    if encoding.label is not None and len(row) > sum(e.width for e in encoding.encoders):
        found[encoding.label.column] = encoding.label.cell(row[-1:], encoding.field)
    return found


def worded(encoding: Encoding, row: Array) -> str:
    """Return an equation (a | b) over the columns of a table, in words where it is of categories.

    Examples
    --------
    >>> from flagstone import GF
    >>> from flagstone.encoding import ColumnEncoder
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
    >>> from flagstone.encoding import ColumnEncoder
    >>> e = Encoding(GF(2), (ColumnEncoder.parse("odor", "onehot:a,c,m"),),
    ...     ColumnEncoder.parse("class", "levels:edible,poisonous"))
    >>> worded_rule(e, np.array([0, 1, 1]), 0)
    'class = poisonous exactly when odor = c or m'
    """
    F, label = encoding.field, encoding.label
    found = statements(encoding, coef)
    target = None if label is None else label.statement(np.array([F.one], dtype=F.dtype), F)
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
    for encoder, part in encoding.parts:
        if column in range(part.start, part.stop):
            return encoder.constant(column - part.start, value, encoding.field)
    return f"{encoding.names[column]} = {number_text(encoding.field, value)}"


def statements(encoding: Encoding, coef: Array) -> list[Statement] | None:
    """Return what a sum of columns is a sum of; None if a column is not a statement."""
    F, found, width = encoding.field, [], 0
    for encoder, place in encoding.parts:
        part, width = coef[place], place.stop
        if (part != 0).any():
            found.append(encoder.statement(part, F))
    for i in width + np.flatnonzero(coef[width:] != 0):
        found.append(_product(encoding, encoding.monomials.terms[i], coef[i]))
    said = [statement for statement in found if statement is not None]
    return said if len(said) == len(found) else None


def _product(encoding: Encoding, term: Sequence[int], coefficient: Any) -> Statement | None:
    """Return that statements hold together; None if a column is not a statement."""
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
