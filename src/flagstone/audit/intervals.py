"""Confidence statements about a disagreement rate, with and without optional stopping.

Two kinds of interval, because they promise different things:

*Clopper–Pearson* is exact when the number of pairs was fixed before looking. Stopping "when it
looks good", or collecting more because it does not, voids it.

The *anytime* intervals hold at every number of pairs simultaneously, hence under any stop rule
and any decision to continue (Ville's inequality for a non-negative martingale). They are what
verdicts use. Against a rate p a gambler stakes on every pair; the rates that would not have made
her rich are the interval. With values z in [0, 1] of mean p the factor

    z·q/p + (1 − z)·(1 − q)/(1 − p)

of her wealth has mean 1, for every bet q in [0, 1]; she spreads her money over all q by Jeffreys'
law, Beta(1/2, 1/2). For coins (z is 0 or 1) that is the mixture of likelihood ratios of Krichevsky
and Trofimov (:func:`anytime_interval`). For values between 0 and 1 the factor is larger than that
of a coin of the same mean, the more so the less they vary: the interval of integrated thresholds
(:func:`betting_interval`) narrows with their variance (Waudby-Smith and Ramdas, "Estimating means
of bounded random variables by betting", 2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from flagstone.errors import InputError
from flagstone.guarantees.binomial import share_at_least, share_at_most

#: Bets q at equal quantiles of Jeffreys' law: a fair mixture as it stands, not an approximation
#: of one, so the number of bets decides about width only (256 serve some 10⁵ values).
_BETS = np.sin(np.pi * (np.arange(256) + 0.5) / 512) ** 2

_LARGEST = np.finfo(np.float64).max

#: Values per block: bounds the memory at 256 × 2048 numbers.
_BLOCK = 2048


def check_confidence(confidence: float) -> float:
    """Return the error probability of a confidence in (0, 1)."""
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must lie strictly between 0 and 1, got {confidence}")
    return 1.0 - confidence


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


def log_evidence(successes: float, trials: int, p: float) -> float:
    """Return the log e-value of coins against the hypothesis that their rate is ``p``.

    Notes
    -----
    **Guarantees**

    If every coin has rate ``p`` given the past, the e-value ever reaches 1/α with probability at
    most α, under any stop rule.
    """
    failures = trials - successes
    if (p == 0.0 and successes > 0) or (p == 1.0 and failures > 0):
        return math.inf
    mixture = (
        math.lgamma(successes + 0.5)
        + math.lgamma(failures + 0.5)
        - math.lgamma(trials + 1)
        - math.log(math.pi)
    )
    likelihood = (successes * math.log(p) if successes else 0.0) + (
        failures * math.log1p(-p) if failures else 0.0
    )
    return mixture - likelihood


def log_evidence_of_values(values: npt.ArrayLike, p: float) -> float:
    """Return the log e-value of values in [0, 1] against the hypothesis that their mean is ``p``.

    The order of the values does not matter: no bet depends on what was seen.

    Notes
    -----
    **Guarantees**

    If every value has mean ``p`` given the past, the e-value ever reaches 1/α with probability at
    most α, under any stop rule.
    """
    z, repeats = np.unique(np.asarray(values, dtype=float), return_counts=True)
    return _log_wealth(z, repeats.astype(float), p)


def _log_wealth(z: npt.NDArray[np.float64], repeats: npt.NDArray[np.float64], p: float) -> float:
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


def anytime_interval(
    successes: float, trials: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the rates of a coin whose e-value is below 1/α: valid at every time at once.

    Notes
    -----
    **Guarantees**

    If the coins are independent of one rate, then with probability at least ``confidence`` the
    intervals for *all* numbers of trials hold it, so their number may depend on what was seen.

    Examples
    --------
    The price of looking whenever one likes is a wider interval:

    >>> from flagstone.audit import anytime_interval, clopper_pearson
    >>> low, high = anytime_interval(10, 100)
    >>> exact = clopper_pearson(10, 100)
    >>> low < exact[0] < exact[1] < high
    True
    """
    limit = -math.log(check_confidence(confidence))
    if not 0 <= successes <= trials:
        raise InputError(f"successes must lie in 0..{trials}, got {successes}")
    if trials == 0:
        return 0.0, 1.0

    def inside(p: float) -> bool:
        return log_evidence(successes, trials, p) < limit

    return _ends(inside, successes / trials)


def betting_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Return the means of values in [0, 1] whose e-value is below 1/α: valid at every time.

    Notes
    -----
    **Guarantees**

    If all values have the same mean given the past, then with probability at least ``confidence``
    the intervals for *all* numbers of values hold it, so their number may depend on what was seen.

    Examples
    --------
    Values that vary little tell more than coins of the same mean:

    >>> from flagstone.audit import anytime_interval, betting_interval
    >>> low, high = betting_interval([0.05, 0.15] * 50)
    >>> wide = anytime_interval(10, 100)
    >>> 3 * (high - low) < wide[1] - wide[0]
    True
    """
    limit = -math.log(check_confidence(confidence))
    z, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    if not z.size:
        return 0.0, 1.0
    if not (z[0] >= 0.0 and z[-1] <= 1.0):  # also false for nan
        raise InputError(f"values must lie in [0, 1], got {z[0]:g} to {z[-1]:g}")
    repeats = counts.astype(float)

    def inside(p: float) -> bool:
        return _log_wealth(z, repeats, p) < limit

    # At the mean of the values every bet has lost: the sum of the logs is at most 0 there.
    return _ends(inside, float(z @ repeats / repeats.sum()))


def _ends(inside: Callable[[float], bool], centre: float) -> tuple[float, float]:
    """Return the accepted interval. Wealth is log-convex in the rate, so there is just one."""
    return _edge(inside, centre, 0.0), _edge(inside, centre, 1.0)


def _edge(inside: Callable[[float], bool], centre: float, end: float) -> float:
    """Bisect for the boundary of the accepted set between its centre and an end of [0, 1].

    The returned point is the outer end of the last bracket, so rounding widens the interval.
    """
    if inside(end):
        return end
    good, bad = centre, end
    for _ in range(44):
        middle = 0.5 * (good + bad)
        if inside(middle):
            good = middle
        else:
            bad = middle
    return bad
