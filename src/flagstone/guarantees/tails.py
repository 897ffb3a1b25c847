"""Binomial tails: summed, to eleven digits, where few terms matter; else SciPy's beta functions.

Loading SciPy takes longer than all else that a small sample needs, and for few hits among very many
trials it has seven digits only.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

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
    return _solve(lambda share: _log(above(trials, share, count) / probability))


def share_of_below(trials: int, count: int, probability: float) -> float:
    """The share at which `below` has this probability.

    >>> abs(below(50, share_of_below(50, 4, 0.01), 4) - 0.01) < 1e-12
    True
    """
    if min(count, trials - count) > _MOST:
        from scipy.special import betainccinv  # takes the probability itself: 1 − it would round

        return float(betainccinv(count, trials - count + 1, probability))
    return _solve(lambda share: -_log(below(trials, share, count) / probability))


def _log(ratio: float) -> float:
    return math.log(ratio) if ratio > 0 else -math.inf


def _solve(excess: Callable[[float], float]) -> float:
    """The share at which a rising excess is 0: false position, the Illinois way."""
    low, high, at_low, at_high, side = 0.0, 1.0, -math.inf, math.inf, 0
    while high - low > _NARROW * high:
        part = at_low / (at_low - at_high) if at_high - at_low < math.inf else 0.5
        share = low + (high - low) * part
        if not low < share < high:
            share = (low + high) / 2
            if not low < share < high:
                break
        found = excess(share)
        if abs(found) < _NARROW:
            return share
        if found > 0:
            high, at_high, at_low = share, found, at_low / 2 if side > 0 else at_low
        else:
            low, at_low, at_high = share, found, at_high / 2 if side < 0 else at_high
        side = 1 if found > 0 else -1
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
    return _at(n, p, k) * _series(p / (1 - p), n - k, k + 1)


def _downwards(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) ≤ k], likewise."""
    return _at(n, p, k) * _series((1 - p) / p, k, n - k + 1)


def _series(odds: float, up: int, down: int) -> float:
    """1 + r_0 + r_0·r_1 + …, with r_i = odds · (up − i)/(down + i), while terms matter.

    Added one after another, so that the last digit is the same everywhere.
    """
    total = term = 1.0
    start, size = 0, 16
    while start < up and term >= _TINY * total:
        i = np.arange(start, min(up, start + size), dtype=float)
        ratios = odds * (up - i) / (down + i)
        ratios[0] *= term
        terms = np.cumprod(ratios)
        total += float(np.cumsum(terms)[-1])
        term, start, size = float(terms[-1]), start + size, 2 * size
    return total
