"""Binomial tails: summed, to eleven digits, where few terms matter; else SciPy's beta functions.

Loading SciPy takes longer than all else that a small sample needs, and for few hits among very many
trials it has seven digits only.
"""

from __future__ import annotations

import math
from collections.abc import Callable

#: With more hits and more misses than this, sums get long.
_MOST = 1 << 14
#: What is left out of a sum, and left of an interval around a share, relative to them.
_TINY, _NARROW = 1e-16, 1e-14


def above(trials: int, share: float, count: int) -> float:
    """P[Binomial(trials, share) > count], for 0 ≤ count < trials and 0 < share < 1.

    >>> above(10, 0.5, 8) * 1024
    11.0...
    """
    if min(count, trials - count) > _MOST:
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
    if min(count, trials - count) > _MOST:
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
    if min(count, trials - count) > _MOST:
        from scipy.special import betaincinv

        return float(betaincinv(count + 1, trials - count, probability))
    return _solve(lambda share: above(trials, share, count) <= probability)


def share_of_below(trials: int, count: int, probability: float) -> float:
    """The share at which `below` has this probability.

    >>> abs(below(50, share_of_below(50, 4, 0.01), 4) - 0.01) < 1e-12
    True
    """
    if min(count, trials - count) > _MOST:
        from scipy.special import betainccinv  # takes the probability itself: 1 − it would round

        return float(betainccinv(count, trials - count + 1, probability))
    return _solve(lambda share: below(trials, share, count) > probability)


def _solve(too_small: Callable[[float], bool]) -> float:
    """Where shares stop being too small, by bisection."""
    low, high = 0.0, 1.0
    while high - low > _NARROW * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return high


def _at(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) = k] as C. Loader writes it, without differences of large logarithms."""
    if k in (0, n):
        return math.exp(n * (math.log(p) if k else math.log1p(-p)))
    beyond = k - n * p if p < 0.5 else n * (1 - p) - (n - k)
    lost = _lost(k, n * p, -beyond) + _lost(n - k, n * (1 - p), beyond)
    error = _stirling(n) - _stirling(k) - _stirling(n - k)
    return math.exp(error - lost) * math.sqrt(n / (2 * math.pi * k * (n - k)))


def _lost(count: int, mean: float, missing: float) -> float:
    """count · log(count/mean) + missing, for missing = mean − count."""
    close = 2 * mean > count
    return missing - count * (math.log1p(missing / count) if close else math.log(mean / count))


def _stirling(n: int) -> float:
    """log n! less Stirling's formula for it."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / n**2) / n**2) / n**2) / n


def _upwards(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) ≥ k], term by term; from n·p on, each is smaller than the one before."""
    odds, term, total = p / (1 - p), 1.0, 1.0
    for j in range(k, n):
        term *= odds * (n - j) / (j + 1)
        total += term
        if term < _TINY * total:
            break
    return _at(n, p, k) * total


def _downwards(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) ≤ k], likewise."""
    odds, term, total = (1 - p) / p, 1.0, 1.0
    for j in range(k, 0, -1):
        term *= odds * j / (n - j + 1)
        total += term
        if term < _TINY * total:
            break
    return _at(n, p, k) * total
