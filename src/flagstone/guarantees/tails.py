"""Binomial tails, to eleven digits: their largest term, times a continued fraction.

In plain Python, so that the last digit is the same everywhere; loading SciPy would take longer than
all else that a small sample needs, and for few hits among very many trials it has seven digits.
"""

from __future__ import annotations

import math
from functools import lru_cache

#: What the last factor of a fraction changes; how far, in standard deviations, a share may be
#: from the one that is sought before the last step, which cubes it.
_TINY, _NARROW = 1e-15, 1e-4


def above(trials: int, share: float, count: int) -> float:
    """P[Binomial(trials, share) > count], for 0 ≤ count < trials and 0 < share < 1.

    >>> above(10, 0.5, 8) * 1024
    11.0...
    """
    if count + 1 < trials * share:
        return 1 - _downwards(trials, share, count)
    return _upwards(trials, share, count + 1)


def below(trials: int, share: float, count: int) -> float:
    """P[Binomial(trials, share) < count], for 0 < count ≤ trials and 0 < share < 1.

    >>> below(10, 0.5, 2) * 1024
    11.0...
    """
    if count - 1 > trials * share:
        return 1 - _upwards(trials, share, count)
    return _downwards(trials, share, count - 1)


def share_of_above(trials: int, count: int, probability: float) -> float:
    """The share at which `above` has this probability.

    >>> abs(above(50, share_of_above(50, 3, 0.01), 3) - 0.01) < 1e-12
    True
    """
    return _share(trials, count, probability, True)


def share_of_below(trials: int, count: int, probability: float) -> float:
    """The share at which `below` has this probability.

    >>> abs(below(50, share_of_below(50, 4, 0.01), 4) - 0.01) < 1e-12
    True
    """
    return _share(trials, count - 1, probability, False)


def deviations(probability: float) -> float:
    """About how many standard deviations out a normal tail of this probability begins.

    >>> round(deviations(0.01), 1), round(deviations(1e-9), 1)
    (2.3, 6.0)
    """
    nats = -2 * math.log(probability)
    return math.sqrt(max(0.0, nats - math.log(2 * math.pi * max(1.0, nats))))


def _share(n: int, k: int, probability: float, rising: bool) -> float:
    """The share at which more than k hits (``rising``), or no more, have this probability.

    By Halley's steps on √(−2 log tail), which is nearly straight in the logarithm of the share of
    what the tail is made of.
    """
    if probability > 0.5:
        return _share(n, k, 1 - probability, not rising)
    low, high, even = 0.0, 1.0, (k + 0.7) / (n + 0.4)  # chances are about even there
    out, aim = deviations(probability) / math.sqrt(n), math.sqrt(-2 * math.log(probability))
    if rising:
        share = even * math.exp(-out * math.sqrt((1 - even) / even))
    else:
        skew = out * out * max(0.0, 1 - 2 * even) / 3
        share = min(even + out * math.sqrt(even * (1 - even)) + skew, (1 + even) / 2)
    while True:
        tail = above(n, share, k) if rising else below(n, share, k + 1)
        low, high = (share, high) if (tail < probability) == rising else (low, share)
        rest, ahead = 1 - share, 0.0
        slope = _at(n, share, k) * (n - k) / rest
        if slope and 0 < tail < 1:
            root = math.sqrt(-2 * math.log(tail))
            # Derivatives of the logarithms, of the tail and of its own derivative.
            first = slope * (share if rising else rest) / tail
            second = k + 1 - (n - k - 1) * share / rest if rising else n - k - k * rest / share
            step = root * (root - aim) / first
            bend = 1 + step * (second - first + first / root**2) / 2
            step = min(step / max(0.5, bend), 1.0)
            ahead = share * math.exp(step) if rising else share - rest * math.expm1(step)
            if abs(root - aim) <= _NARROW:
                return ahead
        if not low < ahead < high:
            ahead = (low + high) / 2
            if ahead in (low, high):
                return ahead
        share = ahead


@lru_cache(maxsize=1)  # for a tail, and then for its slope
def _at(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) = k] as C. Loader writes it, without differences of large logarithms."""
    if k in (0, n):
        return math.exp(n * (math.log(p) if k else math.log1p(-p)))
    beyond = _beyond(n, p, k)
    lost = _lost(k, n * p, -beyond) + _lost(n - k, n * (1 - p), beyond)
    error = _stirling(n) - _stirling(k) - _stirling(n - k)
    return math.exp(error - lost) * math.sqrt(n / (2 * math.pi * k * (n - k)))


def _beyond(n: int, p: float, k: int) -> float:
    """k − n·p, rounded once."""
    part, whole = p.as_integer_ratio()
    return (k * whole - n * part) / whole


def _lost(count: int, mean: float, missing: float) -> float:
    """count · log(count/mean) + missing, for missing = mean − count."""
    if abs(missing) > 0.5 * count:
        return missing - count * math.log(mean / count)
    v = missing / (2 * count + missing)  # log(mean/count) = 2·(v + v³/3 + v⁵/5 + …)
    rest, power, i = 0.0, v**3, 3
    while abs(power) > _TINY / 100 * v * v:
        rest, power, i = rest + power / i, power * v * v, i + 2
    return missing * v - 2 * count * rest


def _stirling(n: int) -> float:
    """log n! less Stirling's formula for it."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / n**2) / n**2) / n**2) / n


def _upwards(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) ≥ k], for k not far below n·p, k > 0."""
    return _at(n, p, k) * k * (1 - p) / _fraction(p, k, n - k + 1, _beyond(n, p, k) + 1 - p)


def _downwards(n: int, p: float, k: int) -> float:
    """P[Binomial(n, p) ≤ k], for k not far above n·p, k < n."""
    return _at(n, p, k) * (n - k) * p / _fraction(1 - p, n - k, k + 1, p - _beyond(n, p, k))


def _fraction(p: float, a: float, b: float, excess: float) -> float:
    """p^a·(1 − p)^b over the incomplete beta function at p; ``excess`` is a + 1 − (a + b)·p.

    The even part of Gauss's continued fraction, from front to back, as W. J. Lentz does it: few
    steps in the tail, about √(a + b) at most.
    """
    a, b = float(a), float(b)  # exact up to 2^53, and faster than integers
    value = front = a * excess / (a + 1)
    back, factor, m = 0.0, math.inf, 0.0
    while abs(factor - 1) > _TINY:
        m += 1
        odd = a + 2 * m - 1
        over = m * (b - m) * p / odd
        numerator = (a + m - 1) * (a + b + m - 1) * p * over / odd
        denominator = m + over + (a + m) * (excess + m * (2 - p)) / (odd + 2)
        back = 1 / (denominator + numerator * back)
        front = denominator + numerator / front
        factor = front * back
        value *= factor
    return value
