"""Numbers from text, exactly, however long they are: Python's own limit of digits plays no part."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np

#: More digits than this are refused, because reading them alone would take seconds per number.
MOST_DIGITS = 1_000_000
#: Larger powers of ten are refused, because a short column of them would fill the memory.
MOST_EXPONENT = 1_000

_PIECE = 600  # digits that int() takes under any setting of sys.set_int_max_str_digits
_RATIONAL = re.compile(
    r"([+-]?)(?=\.?[0-9])([0-9]*)(?:/([0-9]+)|(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?)"
)


def exact_integer(text: str) -> int:
    """Return the integer that a sign and digits stand for.

    Examples
    --------
    >>> from flagstone.fields import exact_integer
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


def _natural(digits: str) -> int:
    if len(digits) <= _PIECE:
        return int(digits)
    half = len(digits) // 2
    shift: int = 10**half
    return _natural(digits[:-half]) * shift + _natural(digits[-half:])


def exact_integers(values: list[int]) -> np.ndarray[Any, Any]:
    """Return integers as int64 where all of them fit, as objects otherwise: never rounded.

    Examples
    --------
    >>> from flagstone.fields import exact_integers
    >>> exact_integers([1, -2]).dtype, exact_integers([2**70]).tolist() == [2**70]
    (dtype('int64'), True)
    """
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def exact_rational(text: str) -> Fraction:
    """Return the rational that a text such as ``3/4``, ``-7``, ``0.75`` or ``1e3`` stands for.

    Anything else is a ValueError, whose text says what is wrong with the number.

    Examples
    --------
    >>> from flagstone.fields import exact_rational
    >>> exact_rational("-6/8"), exact_rational("1.50e-1")
    (Fraction(-3, 4), Fraction(3, 20))
    >>> exact_rational("1e999999999")
    Traceback (most recent call last):
    ...
    ValueError: has an exponent beyond ±1,000, which written out would fill the memory
    """
    found = _RATIONAL.fullmatch(text.strip())
    if found is None:
        raise ValueError("is not a rational number (write 3, -7 or 3/4)")
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
