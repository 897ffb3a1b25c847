"""Binomial tails and Clopper–Pearson bounds that rounding never moves to the wrong side.

Tails are right to at least ten digits: their largest term, times a continued fraction. Every bound
is moved outwards by more than that, so an upper bound is an upper bound, also in the last digit.
All in plain Python, so that the last digit is the same everywhere; loading SciPy would take longer
than everything else that a small sample needs, and for few hits among very many trials it has seven
digits.
"""

from __future__ import annotations

import math
from functools import lru_cache

from flagstone.errors import InputError
from flagstone.guarantees.exact import smallest

#: Relative room for the error of tails.
_ROOM = 1e-9
#: Tails below this are rounded up to it: doubles that are smaller lose digits, and end at zero.
_LEAST = 1e-300
#: What the last factor of a fraction changes; how far, in standard deviations, a share may be
#: from the one that is sought before the last step, which cubes it.
_TINY, _NARROW = 1e-15, 1e-4


def binomial_above(trials: int, share: float, count: int) -> float:
    """An upper bound on P[Binomial(trials, share) > count], exact but for the last digits.

    >>> round(binomial_above(10, 0.5, 8), 6), 11 / 1024
    (0.010742, 0.0107421875)
    >>> binomial_above(10, 0.5, -1), binomial_above(10, 0.5, 10)
    (1.0, 0.0)
    >>> binomial_above(10_000, 1e-6, 900)  # far less, and not nothing
    1e-300
    """
    if count < 0:
        return 1.0
    if count >= trials or share <= 0:
        return 0.0
    if share >= 1:
        return 1.0
    return _upper(tail_above(trials, share, count))


def binomial_below(trials: int, share: float, count: int) -> float:
    """An upper bound on P[Binomial(trials, share) < count], exact but for the last digits.

    >>> round(binomial_below(10, 0.5, 2), 6)
    0.010742
    """
    if count <= 0 or share >= 1:
        return float(count > trials)
    if count > trials or share <= 0:
        return 1.0
    return _upper(tail_below(trials, share, count))


def _upper(tail: float) -> float:
    return min(1.0, max(_LEAST, tail * (1 + _ROOM)))


def binomial_least(trials: int, share: float, failure: float) -> int:
    """The smallest x with P[Binomial(trials, share) > x] ≤ failure.

    >>> x = binomial_least(10_000, 0.02, 0.001)
    >>> binomial_above(10_000, 0.02, x) <= 0.001 < binomial_above(10_000, 0.02, x - 1)
    True
    """
    z, mean = _deviations(failure), min(1.0, max(0.0, share)) * trials
    skew = (1 - 2 * share) * (z * z - 1) / 6
    spread = math.sqrt(max(0.0, mean * (1 - share)))
    near = min(trials, max(0, round(mean + z * spread + skew)))
    return smallest(lambda x: binomial_above(trials, share, x) <= failure, start=0, near=near)


def share_at_most(count: int, trials: int, failure: float) -> float:
    """Clopper and Pearson's upper bound q on a share: P[Binomial(trials, q) ≤ count] ≤ failure.

    The rule of three:

    >>> round(share_at_most(0, 300, 0.05), 5)
    0.00994
    >>> share_at_most(300, 300, 0.05)
    1.0
    """
    _check(count, trials, failure)
    if count == trials:
        return 1.0
    return min(1.0, tail_share(trials, count, failure, rising=False) * (1 + _ROOM))


def share_at_least(count: int, trials: int, failure: float) -> float:
    """Clopper and Pearson's lower bound q on a share: P[Binomial(trials, q) ≥ count] ≤ failure.

    >>> round(share_at_least(300, 300, 0.05), 5) == round(1 - share_at_most(0, 300, 0.05), 5)
    True
    """
    _check(count, trials, failure)
    if count == 0:
        return 0.0
    return tail_share(trials, count - 1, failure, rising=True) * (1 - _ROOM)


def _check(count: int, trials: int, failure: float) -> None:
    if not 0 <= count <= trials or not 0 < failure < 1:
        raise InputError(
            f"a share is bounded from 0..{trials} hits at a failure in (0, 1), "
            f"got {count} hits and failure {failure!r}"
        )


def tail_above(trials: int, share: float, count: int) -> float:
    """P[Binomial(trials, share) > count], for 0 ≤ count < trials and 0 < share < 1.

    >>> tail_above(10, 0.5, 8) * 1024
    11.0...
    """
    if count + 1 < trials * share:
        return 1 - _downwards(trials, share, count)
    return _upwards(trials, share, count + 1)


def tail_below(trials: int, share: float, count: int) -> float:
    """P[Binomial(trials, share) < count], for 0 < count ≤ trials and 0 < share < 1.

    >>> tail_below(10, 0.5, 2) * 1024
    11.0...
    """
    if count - 1 > trials * share:
        return 1 - _upwards(trials, share, count)
    return _downwards(trials, share, count - 1)


def _deviations(probability: float) -> float:
    """About how many standard deviations out a normal tail of this probability begins."""
    nats = -2 * math.log(probability)
    return math.sqrt(max(0.0, nats - math.log(2 * math.pi * max(1.0, nats))))


def tail_share(n: int, k: int, probability: float, *, rising: bool) -> float:
    """The share at which more than k hits (``rising``), or no more, have this probability.

    By Halley's steps on √(−2 log tail), which is nearly straight in the logarithm of the share of
    what the tail is made of.

    >>> abs(tail_above(50, tail_share(50, 3, 0.01, rising=True), 3) - 0.01) < 1e-12
    True
    """
    if probability > 0.5:
        return tail_share(n, k, 1 - probability, rising=not rising)
    low, high, even = 0.0, 1.0, (k + 0.7) / (n + 0.4)  # chances are about even there
    out, aim = _deviations(probability) / math.sqrt(n), math.sqrt(-2 * math.log(probability))
    if rising:
        share = even * math.exp(-out * math.sqrt((1 - even) / even))
    else:
        skew = out * out * max(0.0, 1 - 2 * even) / 3
        share = min(even + out * math.sqrt(even * (1 - even)) + skew, (1 + even) / 2)
    while True:
        tail = tail_above(n, share, k) if rising else tail_below(n, share, k + 1)
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
    beyond = _beyond(n, p, k)
    excess = beyond + (1 - p) if p > 0.5 else beyond + 1 - p  # above one half, 1 - p is exact
    return _at(n, p, k) * k * (1 - p) / _fraction(p, k, n - k + 1, excess)


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
