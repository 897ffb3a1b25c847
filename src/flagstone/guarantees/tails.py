"""Binomial tails to ten digits: summed for up to 2^15 trials, by SciPy's beta functions beyond.

Loading SciPy takes longer than all else that a small sample needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["above", "below", "share_of_above", "share_of_below"]

#: Beyond, logarithms of factorials have too few digits after the point left, and sums get long.
_MOST = 1 << 15
#: What is left of a sum, and of an interval around a share, relative to it.
_SMALL = 1e-15


def above(trials: int, share: float, count: int) -> float:
    """P[Binomial(trials, share) > count], for 0 ≤ count < trials and 0 < share < 1.

    >>> above(10, 0.5, 8) * 1024
    11.0...
    """
    if trials > _MOST:
        from scipy.special import betainc  # P[Bin(n, p) > k] = I_p(k + 1, n − k)

        return float(betainc(count + 1, trials - count, share))
    if count + 1 < trials * share:
        return 1 - _downwards(trials, share, count)
    return _upwards(trials, share, count + 1)


def below(trials: int, share: float, count: int) -> float:
    """P[Binomial(trials, share) < count], for 0 < count ≤ trials and 0 < share < 1.

    >>> below(10, 0.5, 2) * 1024
    11.0...
    """
    if trials > _MOST:
        from scipy.special import betaincc  # P[Bin(n, p) < k] = 1 − I_p(k, n − k + 1)

        return float(betaincc(float(count), float(trials - count + 1), share))
    if count - 1 > trials * share:
        return 1 - _upwards(trials, share, count)
    return _downwards(trials, share, count - 1)


def share_of_above(trials: int, count: int, probability: float) -> float:
    """The share at which `above` has this probability.

    >>> abs(above(50, share_of_above(50, 3, 0.01), 3) - 0.01) < 1e-12
    True
    """
    if trials > _MOST:
        from scipy.special import betaincinv

        return float(betaincinv(count + 1, trials - count, probability))
    return _solve(lambda share: above(trials, share, count) <= probability)


def share_of_below(trials: int, count: int, probability: float) -> float:
    """The share at which `below` has this probability.

    >>> abs(below(50, share_of_below(50, 4, 0.01), 4) - 0.01) < 1e-12
    True
    """
    if trials > _MOST:
        from scipy.special import betainccinv  # takes the probability itself: 1 − it would round

        return float(betainccinv(count, trials - count + 1, probability))
    return _solve(lambda share: below(trials, share, count) > probability)


def _solve(too_small: Callable[[float], bool]) -> float:
    """Where shares stop being too small, by bisection."""
    low, high = 0.0, 1.0
    while high - low > _SMALL * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return high


def _at(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) = k]."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def _upwards(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) ≥ k], term by term; from n·p on, each is smaller than the one before."""
    odds, term, total = p / (1 - p), 1.0, 1.0
    for j in range(k, n):
        term *= odds * (n - j) / (j + 1)
        total += term
        if term < _SMALL * total:
            break
    return _at(n, p, k) * total


def _downwards(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) ≤ k], likewise."""
    odds, term, total = (1 - p) / p, 1.0, 1.0
    for j in range(k, 0, -1):
        term *= odds * j / (n - j + 1)
        total += term
        if term < _SMALL * total:
            break
    return _at(n, p, k) * total
