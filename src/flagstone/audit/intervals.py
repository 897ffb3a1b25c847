"""Confidence intervals for a mean, with and without optional stopping.

*Clopper–Pearson* is exact when the number of pairs was fixed before looking. Stopping "when it
looks good", or collecting more because it does not, voids it.

The *anytime* interval holds at every number of pairs simultaneously, hence under any stop rule
(Ville's inequality for a non-negative martingale). Against a mean p a gambler stakes on every
value; the means that would not have made her rich are the interval. With values z in [0, 1] of
mean p the factor

    z·q/p + (1 − z)·(1 − q)/(1 − p)

of her wealth has mean 1, for every bet q in [0, 1]; she spreads her money over all q by Jeffreys'
law, Beta(1/2, 1/2). For values 0 and 1 that is the mixture of likelihood ratios of Krichevsky and
Trofimov. The less the values vary, the larger the factor, and the narrower the interval
(Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from flagstone.errors import InputError
from flagstone.guarantees.binomial import share_at_least, share_at_most

Floats = npt.NDArray[np.float64]

#: Bets q at equal quantiles of Jeffreys' law: a fair mixture as it is, not an approximation of
#: one. Their number only affects the width; 256 are enough for about 10⁵ values.
_BETS = np.sin(np.pi * (np.arange(256) + 0.5) / 512) ** 2

_LARGEST = np.finfo(np.float64).max

#: Values per block: bounds the memory at 256 × 2048 numbers.
_BLOCK = 2048


def check_confidence(confidence: float) -> float:
    """Return the error probability of a confidence in (0, 1)."""
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must lie strictly between 0 and 1, got {confidence}")
    return 1.0 - confidence


def check_claim(claim: float | None) -> None:
    """Refuse a claimed rho outside of [0, 1]."""
    if claim is not None and not 0.0 <= claim <= 1.0:
        raise InputError(f"a claimed rho must lie in [0, 1], got {claim}")


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of values; 0 of a single one."""
    n = len(values)
    return 0.0 if n < 2 else float(np.std(values, ddof=1) / math.sqrt(n))


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided binomial interval of Clopper and Pearson.

    Notes
    -----
    **Guarantees**

    If ``trials`` was fixed beforehand, the interval holds the true rate with probability at
    least ``confidence``, for every rate. Without trials it is (0, 1).

    Examples
    --------
    No disagreement in 59 pairs excludes 5 % or more (one-sided), as the rule of three has it:

    >>> from flagstone.audit import clopper_pearson
    >>> round(clopper_pearson(0, 59, confidence=0.90)[1], 4)
    0.0495
    """
    alpha = check_confidence(confidence)
    if not 0 <= successes <= trials:
        raise InputError(f"successes must lie in 0..{trials}, got {successes}")
    if trials == 0:
        return 0.0, 1.0
    return share_at_least(successes, trials, alpha / 2), share_at_most(successes, trials, alpha / 2)


def anytime_interval(values: npt.ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Return the means of values in [0, 1] whose e-value is below 1/α: valid at every time.

    Notes
    -----
    **Guarantees**

    If all values have the same mean given the past, then with probability at least ``confidence``
    the intervals for *all* numbers of values hold it, so their number may depend on what was seen.

    Examples
    --------
    The price of looking whenever you like is a wider interval:

    >>> from flagstone.audit import anytime_interval, clopper_pearson
    >>> low, high = anytime_interval([1] * 10 + [0] * 90)
    >>> exact = clopper_pearson(10, 100)
    >>> low < exact[0] < exact[1] < high
    True

    Values that vary little tell more than zeros and ones of the same mean:

    >>> steady = anytime_interval([0.05, 0.15] * 50)
    >>> 3 * (steady[1] - steady[0]) < high - low
    True
    """
    limit = -math.log(check_confidence(confidence))
    z, repeats = _distinct(values)
    if not z.size:
        return 0.0, 1.0
    # At the mean of the values every bet has lost; wealth is log-convex in p, so no gaps.
    centre = float(z @ repeats / repeats.sum())

    def edge(end: float) -> float:
        """Bisect between the mean and an end of [0, 1]; rounding widens the interval."""
        if _log_wealth(z, repeats, end) < limit:
            return end
        good, bad = centre, end
        for _ in range(44):
            middle = 0.5 * (good + bad)
            if _log_wealth(z, repeats, middle) < limit:
                good = middle
            else:
                bad = middle
        return bad

    return edge(0.0), edge(1.0)


def log_evidence(values: npt.ArrayLike, p: float) -> float:
    """Return the log e-value of values in [0, 1] against the hypothesis that their mean is ``p``.

    The order of the values does not matter: no bet depends on what was seen.

    Notes
    -----
    **Guarantees**

    If every value has mean ``p`` given the past, the e-value ever reaches 1/α with probability at
    most α, under any stop rule.

    Examples
    --------
    Nine ones of ten speak against a mean of ½, and not against one of 0.9:

    >>> from flagstone.audit import log_evidence
    >>> log_evidence([1] * 9 + [0], 0.5) > 1, log_evidence([1] * 9 + [0], 0.9) < 0
    (True, True)
    """
    return _log_wealth(*_distinct(values), p)


def _distinct(values: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the different values, and how often each occurs."""
    z, repeats = np.unique(np.asarray(values, dtype=float), return_counts=True)
    if z.size and not (z[0] >= 0.0 and z[-1] <= 1.0):  # also for nan
        raise InputError(f"values must lie in [0, 1], got {z[0]:g} to {z[-1]:g}")
    return z, repeats.astype(float)


def _log_wealth(z: Floats, repeats: Floats, p: float) -> float:
    """Return the log of the mean over all bets of the product of the factors."""
    if z.size and ((p == 0.0 and z[-1] > 0.0) or (p == 1.0 and z[0] < 1.0)):
        return math.inf
    # At p = 0 only zeros are left, at p = 1 only ones: the other term is 0 there. The odds come
    # first, because 1/p alone may be too large; where even they are, less wealth is a safe claim.
    with np.errstate(over="ignore"):
        on_one = np.minimum(z / p, _LARGEST) if p > 0.0 else np.zeros_like(z)
    on_zero = (1.0 - z) / (1.0 - p) if p < 1.0 else np.zeros_like(z)
    wealth = np.zeros_like(_BETS)
    for start in range(0, len(z), _BLOCK):
        part = slice(start, start + _BLOCK)
        factors = np.outer(_BETS, on_one[part]) + np.outer(1.0 - _BETS, on_zero[part])
        wealth += np.log(factors) @ repeats[part]
    top = float(wealth.max())
    return top + math.log(float(np.exp(wealth - top).mean()))
