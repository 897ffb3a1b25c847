"""From the pieces that were seen to the sum of fresh ones: docs/theory/certificates.md, S31, S32.

A piece has a value X and a length L. For a rate λ let μ be the number with E exp(−λX + μL) = 1.
Chernoff's bound says that the pieces in M fresh rows add up to s or less with probability at most
exp(λs − μM). If that probability were above β = exp(−b), then μ < (λs + b)/M, and the product of
1 + c·(1 − exp(−λX + L(λs + b)/M)) over the pieces seen would have a mean of at most 1: it is large
only by luck. A negative λ speaks of sums that reach s or more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flagstone._kernels import kernels
from flagstone.algebra.fields import Array
from flagstone.certificates.pieces import Cut

#: Room for rounding: far above the error of any one factor, far below what matters.
_ROOM = 1e-12
#: No claim goes below exp(−_MOST_NATS); they are found up to exp(_NATS).
_MOST_NATS, _NATS = 200.0, 1e-5


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

    Notes
    -----
    **Guarantees**

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
        nats = self._edge(rows, False, bound - self._sign, 0.0, _MOST_NATS, _NATS)
        return 1.0 if nats is None else math.exp(-nats) * (1 + _ROOM)

    def bound(self, beta: float, rows: int) -> int | None:
        """The best bound on the sum that fails with probability at most β: see `beyond`.

        Inside: the largest a with P[sum < a] ≤ β, 0 if there is none. Outside: the smallest b with
        P[sum > b] ≤ β, or None if no b below ``rows`` is proven.
        """
        nats, sign = -math.log(beta) + _ROOM, self._sign
        _, values, lengths, times = self._pieces
        # As exp(x) − 1 ≥ x, nothing is proven of sums on the wrong side of what was seen.
        likely = math.floor(rows * float(values @ times) / max(1.0, float(lengths @ times)))
        if self.cut.inside:
            found = self._edge(rows, True, nats, -1.0, likely + 1.0, 1.0)
            return 0 if found is None else round(found) + sign
        # A piece has no more sets than rows.
        found = self._edge(rows, True, nats, max(2.0, rows + 2.0), max(1.0, likely - 1.0), 1.0)
        return None if found is None else round(found) + sign

    @property
    def _sign(self) -> int:
        """A sum below the bound is one of at most bound − 1; above it, of at least bound + 1."""
        return 1 if self.cut.inside else -1

    def _edge(
        self, rows: int, at_total: bool, other: float, good: float, bad: float, step: float
    ) -> float | None:
        """How far from ``good`` to ``bad`` the evidence reaches.

        Points are totals, for ``other`` nats, or nats, for the total ``other``.
        """
        if rows <= 0 or not self.outcomes:
            return None
        needed = -math.log(self.failure)

        def surplus(point: float) -> float:
            total, nats = (point, float(other)) if at_total else (float(other), point)
            numbers = total, nats, float(rows), float(self.bet), _ROOM
            return float(kernels.log_mean_product(*self._pieces, *numbers)) - needed

        return last_point(surplus, good, bad, step)

    @cached_property
    def _pieces(self) -> tuple[Array, Array, Array, Array]:
        """Rates; values, lengths, numbers of the worst pieces that could come, then of those seen.

        A factor must not be negative for any piece that could come, not only for those that came;
        a rate that violates this has the product 0, and keeps its weight in the mean.
        """
        values, lengths = self.cut.extremes
        worst = np.column_stack([values, lengths, np.zeros_like(values)])
        came = [(*piece, times) for piece, times in self.outcomes.items()]
        table = np.concatenate([worst, np.array(came, dtype=float).reshape(-1, 3)])
        values, lengths, times = table.T.copy()
        return self._sign * self.grid, values, lengths, times


def last_point(
    function: Callable[[float], float], good: float, bad: float, step: float
) -> float | None:
    """Return the last point, in steps from ``good`` to ``bad``, where the function is at least 0.

    It falls from one to the other; None if it is below 0 at ``good``. By the Illinois rule: where
    the chord meets 0, with the value at an end that stays halved.

    >>> last_point(lambda x: 10 - x * x, 0.0, 100.0, 1.0)
    3.0
    """
    at_good, at_bad = function(good), function(bad)
    if not at_good >= 0:
        return None
    if at_bad >= 0:
        return bad
    stayed = 0
    while abs(bad - good) > 1.5 * step:
        part = at_good / (at_good - at_bad) if at_bad > -math.inf else 0.5
        steps = abs(bad - good) / step
        ahead = min(max(1.0, float(round(part * steps))), math.ceil(steps) - 1.0)
        middle = good + ahead * step if bad > good else good - ahead * step
        at_middle = function(middle)
        if at_middle >= 0:
            at_bad /= 2.0 if stayed > 0 else 1.0
            good, at_good, stayed = middle, at_middle, 1
        else:
            at_good /= 2.0 if stayed < 0 else 1.0
            bad, at_bad, stayed = middle, at_middle, -1
    return good
