"""Linear combinations as text for people and as expressions for Python."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, Field


def feature_names(names: Sequence[str] | None, dim: int) -> tuple[str, ...]:
    """Return the given names, or x0, x1, … for features without names."""
    return tuple(names) if names is not None else tuple(f"x{i}" for i in range(dim))


def combination(field: Field, coef: Array, names: Sequence[str], constant: Any = 0) -> str:
    """Return Σ coef_i·name_i + constant as text.

    Examples
    --------
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
    """Return the remark that says where an equation holds; nothing over GF(2) and QQ."""
    if field.order in (None, 2):
        return ""
    return f" (mod {field.order})" if field.degree == 1 else f" (in {field.name})"


def equation(field: Field, coef: Array, names: Sequence[str], rhs: Any) -> str:
    """Return one equation, such as ``x0 ⊕ x3 = 1`` or ``3·x0 + x4 = 0 (mod 11)``."""
    return f"{combination(field, coef, names)} = {field.format(rhs)}{modulus(field)}"


def expression(field: Field, coef: Array, constant: Any = 0) -> str:
    """Return Σ coef_i·x[i] + constant as a Python expression in one row ``x`` of plain numbers.

    It needs no library: over GF(p^k) multiplication by a constant is written out on the
    base-p digits of the entries. Over QQ it names ``Fraction`` where a coefficient is not whole.
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
    def number(value: Fraction) -> str:
        top, bottom = value.numerator, value.denominator
        if max(abs(top), bottom) >= 10**4000:  # too long for a literal of Python
            return f"Fraction({hex(top)}, {hex(bottom)})"
        text = str(top) if bottom == 1 else f"Fraction({top}, {bottom})"
        return f"({text})" if value < 0 else text

    parts = [f"{number(Fraction(c))}*x[{i}]" for i, c in enumerate(coef) if c != 0]
    parts += [number(Fraction(constant))] if constant != 0 else []
    return " + ".join(parts) or "0"


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
    """Return a 0/1 vector as a hexadecimal bit mask: bit i stands for column i."""
    return hex(sum(1 << int(i) for i in np.flatnonzero(coef)))
