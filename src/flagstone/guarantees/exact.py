"""Exact arithmetic for promises: a bound that rounding can break is not a bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, TypeAlias

from flagstone.checks import checked_integer
from flagstone.errors import InputError, Parameter

#: A probability or share: floats are read as the decimal they print as.
Share: TypeAlias = float | Fraction
#: Floating point errs by less than this factor in the few steps to the length of a window.
ROUNDING = 1 + Fraction(1, 2**50)


def exact(value: Any) -> Fraction:
    """The number a person means: floats are read as the decimal they print as.

    >>> exact(0.29) * 100  # in floating point this product is 28.999999999999996
    Fraction(29, 1)
    """
    if isinstance(value, Rational):
        return Fraction(value)
    return Fraction(repr(float(value)))


def smallest(holds: Callable[[int], bool], start: int = 1, near: int | None = None) -> int:
    """The smallest integer ≥ `start` at which a monotone condition holds; soon found `near` it.

    >>> smallest(lambda n: n * n >= 1000)
    32
    """
    low = high = start if near is None else max(start, near)
    step = 1
    if holds(high):
        while high > start and holds(low := max(start, high - step)):
            high, step = low, 2 * step
        if high == start:
            return start
    else:
        while not holds(high := low + step):
            low, step = high, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def root(value: Fraction) -> float:
    """The square root as a float, also where the value itself is too large for one.

    >>> root(Fraction(10) ** 400)
    1e+200
    """
    if value < 2**1000:
        return math.sqrt(value)
    return float(math.isqrt(math.floor(value)))


def times_log(factor: Fraction, ratio: Fraction, *, at_least: float = 0.0) -> Fraction:
    """`factor · max(ln(ratio), at_least)`, without overflow."""
    log = math.log(ratio.numerator) - math.log(ratio.denominator)
    return factor * Fraction(max(log, at_least))


def positive(name: str, value: object) -> int:
    """An integer ≥ 1, or an error in the caller's words."""
    return checked_integer(value, 1, Parameter(name), " must be an integer of at least 1")


def at_least(name: str, value: object, low: int) -> int:
    """An integer ≥ `low`, or an error in the caller's words."""
    return checked_integer(value, low, Parameter(name), f" must be an integer of at least {low}")


def check_order(order: object) -> int:
    """The number of elements of a finite field, or an error in the caller's words."""
    return checked_integer(order, 2, "order must be the number of elements of a finite field")


_WHY_NOT_ZERO = {
    "rho": "0 would mean that two samples never disagree, which no amount of data promises",
    "eps": "0 would mean that no row is ever left out, which no amount of data promises",
    "delta": "0 would mean certainty, which no amount of data promises",
}


#: Sizes go with powers of 1/rho and 1/eps: below this they are too large for floating point.
_SMALLEST_SHARE = Fraction(1, 10**40)


def check_share(name: str, value: Any) -> Fraction:
    """A probability strictly between 0 and 1, as the decimal it prints as."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(
            Parameter(name), f" must be a number strictly between 0 and 1, got {value!r}"
        )
    share = exact(value)
    if not 0 < share < 1:
        why = _WHY_NOT_ZERO.get(name, "") if share == 0 else ""
        raise InputError(
            Parameter(name),
            f" must lie strictly between 0 and 1, got {value!r}" + (f": {why}" if why else ""),
        )
    if name in ("rho", "eps") and share < _SMALLEST_SHARE:
        raise InputError(
            Parameter(name), f" must be at least {float(_SMALLEST_SHARE):g}, got {value!r}"
        )
    return share
