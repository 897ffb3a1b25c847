"""Binomial tails and Clopper–Pearson bounds that rounding never tips the wrong way.

Tails are right to at least ten digits (`flagstone.guarantees.tails`); every value here is moved
outwards by more than that, so an upper bound is an upper bound, also in the last digit.
"""

from __future__ import annotations

import math

from flagstone.errors import InputError
from flagstone.guarantees import tails
from flagstone.guarantees.exact import smallest

#: Relative room for the error of tails.
_ROOM = 1e-9


def binomial_above(trials: int, share: float, count: int) -> float:
    """An upper bound on P[Binomial(trials, share) > count], exact but for the last digits.

    Examples
    --------
    >>> round(binomial_above(10, 0.5, 8), 6), 11 / 1024
    (0.010742, 0.0107421875)
    >>> binomial_above(10, 0.5, -1), binomial_above(10, 0.5, 10)
    (1.0, 0.0)
    """
    if count < 0:
        return 1.0
    if count >= trials or share <= 0:
        return 0.0
    if share >= 1:
        return 1.0
    return min(1.0, tails.above(trials, share, count) * (1 + _ROOM))


def binomial_below(trials: int, share: float, count: int) -> float:
    """An upper bound on P[Binomial(trials, share) < count], exact but for the last digits.

    Examples
    --------
    >>> round(binomial_below(10, 0.5, 2), 6)
    0.010742
    """
    if count <= 0 or share >= 1:
        return float(count > trials)
    if count > trials or share <= 0:
        return 1.0
    return min(1.0, tails.below(trials, share, count) * (1 + _ROOM))


def binomial_least(trials: int, share: float, failure: float) -> int:
    """The smallest x with P[Binomial(trials, share) > x] ≤ failure.

    Examples
    --------
    >>> x = binomial_least(10_000, 0.02, 0.001)
    >>> binomial_above(10_000, 0.02, x) <= 0.001 < binomial_above(10_000, 0.02, x - 1)
    True
    """
    near = _quantile(trials, share, failure, 1)
    return smallest(lambda x: binomial_above(trials, share, x) <= failure, start=0, near=near)


def binomial_most(trials: int, share: float, failure: float) -> int:
    """The largest x with P[Binomial(trials, share) < x] ≤ failure.

    Examples
    --------
    >>> x = binomial_most(10_000, 0.02, 0.001)
    >>> binomial_below(10_000, 0.02, x) <= 0.001 < binomial_below(10_000, 0.02, x + 1)
    True
    """
    near = _quantile(trials, share, failure, -1)
    return smallest(lambda x: binomial_below(trials, share, x + 1) > failure, start=0, near=near)


def _quantile(trials: int, share: float, failure: float, side: int) -> int:
    """About where the upper tail (1) or the lower one (-1) has this probability."""
    z, mean = tails.deviations(failure), min(1.0, max(0.0, share)) * trials
    skew = (1 - 2 * share) * (z * z - 1) / 6
    spread = math.sqrt(max(0.0, mean * (1 - share)))
    return min(trials, max(0, round(mean + side * z * spread + skew)))


def share_at_most(count: int, trials: int, failure: float) -> float:
    """Clopper and Pearson's upper bound q on a share: P[Binomial(trials, q) ≤ count] ≤ failure.

    Examples
    --------
    The rule of three:

    >>> round(share_at_most(0, 300, 0.05), 5)
    0.00994
    >>> share_at_most(300, 300, 0.05)
    1.0
    """
    _check(count, trials, failure)
    if count == trials:
        return 1.0
    return min(1.0, tails.share_of_below(trials, count + 1, failure) * (1 + _ROOM))


def share_at_least(count: int, trials: int, failure: float) -> float:
    """Clopper and Pearson's lower bound q on a share: P[Binomial(trials, q) ≥ count] ≤ failure.

    Examples
    --------
    >>> round(share_at_least(300, 300, 0.05), 5) == round(1 - share_at_most(0, 300, 0.05), 5)
    True
    """
    _check(count, trials, failure)
    if count == 0:
        return 0.0
    return tails.share_of_above(trials, count - 1, failure) * (1 - _ROOM)


def _check(count: int, trials: int, failure: float) -> None:
    if not 0 <= count <= trials or not 0 < failure < 1:
        raise InputError(
            f"a share is bounded from 0..{trials} hits at a failure in (0, 1), "
            f"got {count} hits and failure {failure!r}"
        )
