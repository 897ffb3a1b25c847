"""From the pieces that were seen to the sum of fresh ones: docs/theory/certificates.md, S31, S32.

A piece has a value X and a length L. For a rate λ let μ be the number with E exp(−λX + μL) = 1.
Chernoff's bound says that the pieces in M fresh rows add up to s or less with probability at most
exp(λs − μM). If that probability were above β = exp(−b), then μ < (λs + b)/M, and the product of
1 + c·(1 − exp(−λX + L(λs + b)/M)) over the pieces seen would have a mean of at most 1: it is large
only by luck. A negative λ speaks of sums that reach s or more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flagstone.certificates.pieces import Cut
from flagstone.fields import Array

__all__ = ["Evidence", "rates"]

#: Room for rounding: far above the error of any one factor, far below what matters.
_ROOM = 1e-12
#: No claim goes below exp(−_MOST_NATS).
_MOST_NATS = 200.0


def rates(span: float, expected: float) -> Array:
    """The grid of λ, fixed in advance: from the largest that can serve down to a Gaussian one.

    ``span`` is the largest loss of a piece, in sets; ``expected`` the sum that is expected.

    Examples
    --------
    >>> rates(3.0, 1000.0).round(3).tolist()
    [0.289, 0.241, 0.201, 0.167, 0.139, 0.116, 0.097, 0.081, 0.067]
    """
    top = 1.25 * math.log(2) / span
    low = min(top / 2, math.sqrt(5 / max(expected, 1.0)))
    return np.asarray(top * 1.2 ** -np.arange(1 + math.ceil(math.log(top / low, 1.2))))


@dataclass(frozen=True, eq=False)
class Evidence:
    """What pieces of one kind prove about all sums of fresh ones at once, at one confidence.

    Attributes
    ----------
    cut : Cut
        How the pieces were cut, and how fresh ones would be.
    outcomes : mapping of (value, length) to int
        How often pieces came out like that. (Fractions extrapolate; they prove nothing.)
    grid : array
        Positive rates λ, fixed before the pieces were seen.
    failure : float
        δ: the probability that anything claimed here is false.
    bet : float
        c > 0, fixed as well. About √(fresh rows/rows seen) is best.

    Guarantees
    ----------
    If rows are independent and alike, then with probability 1 − δ over the pieces seen *every*
    value of `beyond` and `bound` is right, whichever and how many are asked for.

    Examples
    --------
    Sixty pieces, each with two full sets after ten rows, and 660 fresh rows:

    >>> cut = Cut(inside=True, dim=4, credit=12, pace=5.0, most=2)
    >>> seen = Evidence(cut, {(2, 10): 60}, rates(3.0, 120.0), failure=0.005)
    >>> a = seen.bound(0.01, rows=660)
    >>> a, seen.beyond(a, rows=660) <= 0.01 < seen.beyond(a + 1, rows=660)
    (88, True)
    """

    cut: Cut
    outcomes: Mapping[tuple[int, int], float]
    grid: Array
    failure: float
    bet: float = 1.0

    def beyond(self, bound: int, rows: int) -> float:
        """β such that P[sum < bound] ≤ β (inside), P[sum > bound] ≤ β (outside), in fresh rows.

        ``rows``: inside, that many rows are covered by whole pieces; outside, whole pieces with no
        more rows than that cover all of them. 1.0 if nothing is proven.
        """
        if self.cut.inside and bound <= 0:
            return 0.0
        if not self._claims(bound, rows, 0.0):
            return 1.0
        low, high = 0.0, _MOST_NATS
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self._claims(bound, rows, middle) else (low, middle)
        return math.exp(-low) * (1 + _ROOM)

    def bound(self, beta: float, rows: int) -> int | None:
        """The best bound on the sum that fails with probability at most β: see `beyond`.

        Inside: the largest a with P[sum < a] ≤ β, 0 if there is none. Outside: the smallest b with
        P[sum > b] ≤ β, or None if no b below ``rows`` is proven.
        """
        nats = -math.log(beta) + _ROOM
        low, high = 0, max(1, rows + 1)  # a piece has no more sets than rows
        if not self.cut.inside and not self._claims(high, rows, nats):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            claimed = self._claims(middle, rows, nats)
            low, high = (middle, high) if claimed == self.cut.inside else (low, middle)
        return low if self.cut.inside else high

    def _claims(self, bound: int, rows: int, nats: float) -> bool:
        if rows <= 0 or not self.outcomes:
            return False
        sign = 1 if self.cut.inside else -1
        return self._log_evidence(bound - sign, rows, nats) >= -math.log(self.failure)

    def _log_evidence(self, total: int, rows: int, nats: float) -> float:
        """The log of the mean over λ of the products, each rounded down."""
        lam = self.grid if self.cut.inside else -self.grid
        mu = (lam * total + nats) / rows
        # The factor must be ≥ 0 for every piece that could come, not only for those that came. A
        # rate that violates this has the product 0, and keeps its weight in the mean.
        fair = self._losses(lam, mu, *self.cut.extremes).max(axis=1) < 1
        if not fair.any():
            return -math.inf
        values, lengths = np.array(list(self.outcomes), dtype=float).T
        times = np.array(list(self.outcomes.values()), dtype=float)
        logs = np.log1p(-self._losses(lam[fair], mu[fair], values, lengths)) @ times
        top = float(logs.max())
        mean = float(np.exp(logs - top).sum()) / len(lam)
        return top + math.log(mean) - _ROOM * float(times.sum())

    def _losses(self, lam: Array, mu: Array, values: Array, lengths: Array) -> Array:
        """c·(exp(−λX + μL) − 1), rounded up; the factor of a piece is 1 minus that."""
        exponents = np.outer(mu, lengths) - np.outer(lam, values)
        loss = self.bet * np.expm1(np.minimum(exponents, 700.0))
        return np.asarray(loss + _ROOM * (1 + np.abs(loss)))
