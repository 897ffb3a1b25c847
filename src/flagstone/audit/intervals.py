"""Confidence statements about a disagreement rate, with and without optional stopping.

Two kinds of interval, because they promise different things:

*Clopper–Pearson* is exact when the number of pairs was fixed before looking. Stopping "when it
looks good", or collecting more because it does not, voids it.

The *anytime* interval holds at every number of pairs simultaneously, hence under any stop rule
and any decision to continue (Ville's inequality for a non-negative supermartingale). It is a
little wider, and it is what verdicts use.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flagstone.errors import InputError

__all__ = ["Moments", "anytime_interval", "clopper_pearson", "log_evidence"]

Moments = tuple[int, float, float]
"""(n, Σ Z, Σ (Z − c)²) of disagreement values Z in [0, 1]; each centre c in [0, 1] may depend on
earlier values only (a running mean, say)."""

#: Bets of the variance-adaptive part: any fixed set in (0, 1) is valid, these serve n up to ~1e8.
_BETS = tuple(0.9 * 3.0**-k for k in range(9))


def check_confidence(confidence: float) -> float:
    """Return the error probability of a confidence in (0, 1)."""
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must lie strictly between 0 and 1, got {confidence}")
    return 1.0 - confidence


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided binomial interval of Clopper and Pearson.

    Guarantees
    ----------
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
    from scipy.stats import beta

    low = 0.0 if successes == 0 else beta.ppf(alpha / 2, successes, trials - successes + 1)
    high = (
        1.0 if successes == trials else beta.ppf(1 - alpha / 2, successes + 1, trials - successes)
    )
    return float(low), float(high)


def _log_binary(moments: Moments, p: float) -> float:
    """Log of the uniform mixture of Bernoulli likelihood ratios against the rate ``p``.

    For values in [0, 1] the ratio is convex in the value, so its mean is at most that of a coin:
    the process is a supermartingale for every law with mean ``p``, and a martingale for coins.
    """
    n, s, _ = moments
    log_beta = math.lgamma(s + 1) + math.lgamma(n - s + 1) - math.lgamma(n + 2)
    if (p == 0.0 and s > 0) or (p == 1.0 and s < n):
        return math.inf
    likelihood = (s * math.log(p) if s > 0 else 0.0) + ((n - s) * math.log1p(-p) if s < n else 0.0)
    return log_beta - likelihood


def _log_bernstein(moments: Moments, p: float) -> float:
    """Log of a mixture of exp(±b·Σ(Z−p) − ψ(b)·Σ(Z−c)²), ψ(b) = −ln(1−b) − b.

    Fan's inequality, exp(bx − ψ(b)x²) ≤ 1 + bx for x ≥ −1, at x = ±(Z−c) gives each factor, when Z
    has mean ``p`` and c is fixed beforehand, a mean of at most e^(∓b(p−c))(1 ± b(p−c)) ≤ 1: a
    supermartingale. It is sharp when Z varies little about its running mean, which is what
    integrating the threshold out achieves. Centres other than ``p`` keep it convex in ``p``, so
    that the accepted rates form an interval.
    """
    n, s, squares = moments
    drift = s - n * p
    terms = [
        sign * bet * drift - (-math.log1p(-bet) - bet) * squares
        for bet in _BETS
        for sign in (1.0, -1.0)
    ]
    top = max(terms)
    return top + math.log(math.fsum(math.exp(x - top) for x in terms)) - math.log(len(terms))


def log_evidence(moments: Moments, p: float, *, integrated: bool = False) -> float:
    """Return the log e-value against the hypothesis that the mean is ``p``.

    Guarantees
    ----------
    If every value has mean ``p`` given the past, the e-value ever reaches 1/α with probability at
    most α, under any stop rule. With ``integrated`` the evidence is the average of the two
    mixtures above (an average of supermartingales is one); otherwise the first alone.
    """
    if moments[0] == 0:
        return 0.0
    first = _log_binary(moments, p)
    if not integrated or first == math.inf:
        return first
    second = _log_bernstein(moments, p)
    top = max(first, second)
    return top + math.log(0.5 * math.exp(first - top) + 0.5 * math.exp(second - top))


def anytime_interval(
    moments: Moments, confidence: float = 0.95, *, integrated: bool = False
) -> tuple[float, float]:
    """Return the rates whose e-value is below 1/α: valid at every time at once.

    Guarantees
    ----------
    If each value has the same mean given the past (pairs are independent), then with probability
    at least ``confidence`` the intervals for *all* numbers of pairs hold the
    true rate, so the number of pairs may depend on what was seen.

    Examples
    --------
    The price of looking whenever one likes is a wider interval:

    >>> from flagstone.audit import anytime_interval, clopper_pearson
    >>> low, high = anytime_interval((100, 10, 10))
    >>> exact = clopper_pearson(10, 100)
    >>> low < exact[0] < exact[1] < high
    True
    """
    limit = -math.log(check_confidence(confidence))
    n, s, _ = moments
    if n == 0:
        return 0.0, 1.0
    centre = min(1.0, max(0.0, s / n))

    def inside(p: float) -> bool:
        return log_evidence(moments, p, integrated=integrated) < limit

    return _edge(inside, centre, 0.0), _edge(inside, centre, 1.0)


def _edge(inside: Callable[[float], bool], centre: float, end: float) -> float:
    """Bisect for the boundary of the accepted set between its centre and an end of [0, 1].

    The returned point is the outer end of the last bracket, so rounding widens the interval.
    """
    if inside(end):
        return end
    good, bad = centre, end
    for _ in range(60):
        middle = 0.5 * (good + bad)
        if inside(middle):
            good = middle
        else:
            bad = middle
    return bad
