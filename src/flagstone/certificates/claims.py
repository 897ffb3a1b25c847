"""What is certified of each space, and so of a window of thresholds (S33, S34)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.certificates.pieces import Evidence
from flagstone.guarantees.binomial import binomial_above, binomial_least, share_at_most
from flagstone.guarantees.promise import Window
from flagstone.guarantees.rules import bounds_of, index_constant


@dataclass(frozen=True)
class CertifiedSpace:
    """What is known of one space U, for a fresh sample.

    For each (a, β) of ``inside``, U ⊆ V_a but for a probability of at most β. For each (b, β′) of
    ``outside``, V_{b+1} ⊆ U but for a probability of at most β′. A future row lies outside U with
    probability at most ``eps``.
    """

    dim: int
    inside: tuple[tuple[float, float], ...]
    outside: tuple[tuple[float, float], ...]
    eps: float = 1.0

    @classmethod
    def zero(cls) -> CertifiedSpace:
        """{0}, which is in every V_t."""
        return cls(0, ((math.inf, 0.0),), ())

    @classmethod
    def full(cls, dim: int) -> CertifiedSpace:
        """F^d, which holds every V_t."""
        return cls(dim, (), ((0.0, 0.0),), 0.0)

    def pairs(self, rule: str) -> list[tuple[float, float, float]]:
        """(x, y, β): for x < t ≤ y the rule gives U, but for a probability of at most β.

        The heavy rule needs t > b, so that nothing outside U is heavy, and t ≤ a − b.
        """
        return [
            (b, a if bounds_of(rule).whole else a - b, beta + beyond)
            for a, beta in self.inside
            for b, beyond in self.outside
        ]

    def fails(self, rule: str, t: float) -> float:
        """The probability, at most, that the rule does not give U at t; at most 1."""
        return min([1.0, *(beta for x, y, beta in self.pairs(rule) if x < t <= y)])

    def certain(self, rule: str, beta: float) -> tuple[int | None, int | None]:
        """First and last threshold at which each side fails with probability at most β."""
        inside = [a for a, fails in self.inside if fails <= beta]
        outside = [b for b, fails in self.outside if fails <= beta]
        if not inside or not outside:
            return None, None
        first, last = int(min(outside)) + 1, int(max(inside))
        last -= 0 if bounds_of(rule).whole else first - 1
        return (first, last) if first <= last else (None, None)

    def fails_inside(self, t: float) -> float:
        """The least β with a ≥ t; infinite if there is none."""
        return min((beta for a, beta in self.inside if a >= t), default=math.inf)

    def fails_outside(self, t: float) -> float:
        """The least β′ with b < t; infinite if there is none."""
        return min((beta for b, beta in self.outside if b < t), default=math.inf)


@dataclass(frozen=True, eq=False)
class Claims:
    """Statements about fresh samples that hold together, at one confidence.

    Samples have ``n_rows`` = m rows, of which one set holds ``each`` at most, over all shards.
    ``spaces`` go from {0} to F^d. Of the rows seen, ``counts[i]`` lay in space i and in none before
    it; with probability 1 - ``failure`` all values of `share` are right. The rows that can move
    V_1, …, V_t, as far as they lie between spaces i and j, number min(m·(share(i, j) + β′_j·eps_j),
    each·t) on average, at most (S33). If the sample is ``merged`` of shards, any row but a zero row
    may move them (S34): min(m·P[v ≠ 0], each·t).
    """

    n_rows: int
    spaces: tuple[CertifiedSpace, ...]
    counts: Sequence[int]
    failure: float
    each: int
    merged: bool = False

    def seen(self, i: int, j: int) -> float:
        """The share of the rows seen that lay in space j but not in space i."""
        return sum(self.counts[i + 1 : j + 1]) / max(1, sum(self.counts))

    def share(self, i: int, j: int) -> float:
        """P[v in space j but not in space i], at most, for all pairs i < j together."""
        failure = self.failure / math.comb(len(self.counts), 2)
        return share_at_most(sum(self.counts[i + 1 : j + 1]), sum(self.counts), failure)

    @cached_property
    def _nonzero(self) -> float:
        """P[v ≠ 0], at most."""
        return self.share(0, len(self.spaces) - 1)

    def moving(self, i: int, j: int, missed: Any) -> Any:
        """The rows that can move spaces between two, where V ⊄ space j has this probability."""
        if self.merged:
            return self.n_rows * self._nonzero
        return self.n_rows * (self.share(i, j) + missed * self.spaces[j].eps)

    def rho(self, window: Window) -> float:
        """The probability, at most, that two samples disagree for this window; at most 1."""
        if window.whole:
            return index_window(self, window)
        return mean_failure(self.spaces, window, samples=2)


@dataclass(frozen=True, eq=False)
class SetsOutside:
    """How many sets the rows outside one space make: no more than rows, and fewer by the pieces."""

    n_rows: int
    share: float
    evidence: Evidence | None
    runs: int

    def bound(self, beta: float) -> int:
        """b with P[more than b sets] ≤ β."""
        sets = self.evidence.bound(beta, self._covered) if self.evidence else None
        if sets is not None and sets <= self._likely:
            return sets  # this many rows, or fewer, are less likely than 1 − β
        rows = binomial_least(self.n_rows, self.share, beta)
        return rows if sets is None else min(rows, sets)

    def beyond(self, sets: int) -> float:
        """β with P[more sets than this] ≤ β."""
        proven = self.evidence.beyond(sets, self._covered) if self.evidence else 1.0
        if proven <= 0.5 and sets < self._likely:
            return proven
        return min(proven, binomial_above(self.n_rows, self.share, sets))

    @property
    def _likely(self) -> int:
        """Less than the median of the number of rows, however its mean was rounded."""
        return math.floor(self.n_rows * self.share) - 1

    @property
    def _covered(self) -> int:
        """Rows of the pieces that cover all rows: each run ends inside a last piece."""
        assert self.evidence is not None
        return self.n_rows + self.runs * (self.evidence.cut.longest - 1)


def index_window(claims: Claims, window: Window) -> float:
    """The least ρ that S33 gives for t uniform on the window of the index rule; at most 1.

    The window is cut into pieces at the thresholds where something becomes certified, by dynamic
    programming over all ways to do so. One space that holds throughout the window, and fails in one
    sample of a thousand:

    >>> plane = CertifiedSpace(2, ((90, 0.0005),), ((10, 0.0005),))
    >>> spaces = CertifiedSpace.zero(), plane, CertifiedSpace.full(3)
    >>> claims = Claims(1000, spaces, [0, 990, 10], 0.01, each=3)
    >>> index_window(claims, Window("index", 11, 90))
    0.002
    """
    low, high, spaces = window.start, window.t_max, claims.spaces
    marks = {t for space in spaces for t, _ in (*space.inside, *space.outside)}
    cuts = np.array(sorted({low, high} | {int(t) for t in marks if low < t < high}), dtype=float)
    cost = length = cuts - cuts[:, np.newaxis]  # of the piece (x, y]: row x, column y > x
    points = cuts.tolist()
    fails = [np.array([inner.fails_inside(y) for y in points]) for inner in spaces]
    misses = [np.array([[outer.fails_outside(x + 1)] for x in points]) for outer in spaces]

    def cheaper(i: int, j: int, moved: Any = 0.0) -> Array:
        with np.errstate(invalid="ignore"):  # of pieces without length
            return np.asarray(np.minimum(cost, moved + 2 * length * (fails[i] + misses[j])))

    for i, space in enumerate(spaces):
        if space.inside and space.outside:
            cost = cheaper(i, i)
    alone = best = _cheapest(cost)
    for (i, inner), (j, outer) in combinations(enumerate(spaces), 2):
        freedom = outer.dim - inner.dim
        constant = index_constant(freedom) if freedom else 0.0
        fewest = min(claims.n_rows * claims.seen(i, j), claims.each * points[1])
        # Nothing is known on one side, or one such piece costs as much as all do without it.
        if not (inner.inside and outer.outside) or constant * math.sqrt(fewest) >= alone:
            continue
        most = claims.moving(i, j, np.where(np.isfinite(misses[j]), misses[j], 0.0))
        cost = cheaper(i, j, constant * np.sqrt(np.minimum(most, claims.each * cuts)))
        best = math.nan
    best = _cheapest(cost) if math.isnan(best) else best
    return min(1.0, best / (high - low))


def _cheapest(cost: Array) -> float:
    """The least cost of pieces (x, y] that make up the whole window."""
    best = np.zeros(len(cost))
    for y in range(1, len(cost)):
        best[y] = (best[:y] + cost[:y, y]).min()
    return float(best[-1])


def mean_failure(spaces: Sequence[CertifiedSpace], window: Window, samples: int = 1) -> float:
    """The mean over the window of P[one of the samples misses the space known best at t].

    With two samples it bounds the ρ of the heavy rule (S34).

    >>> plane = CertifiedSpace(2, ((110, 0.0005),), ((10, 0.0005),))
    >>> mean_failure([plane], Window("heavy", 11, 100), samples=2)
    0.002
    >>> mean_failure([plane], Window("heavy", 1, 100), samples=2)  # nothing is known for t ≤ 10
    0.1018
    """
    low, high = window.start, window.t_max
    marks = {t for space in spaces for pair in space.pairs(window.rule) for t in pair[:2]}
    cuts = sorted({low, high} | {t for t in marks if low < t < high})
    # Nothing changes between two marks, and ranges are closed on the right.
    bad = [
        (y - x) * min(1.0, samples * min(space.fails(window.rule, y) for space in spaces))
        for x, y in pairwise(cuts)
    ]
    return min(1.0, math.fsum(bad) / (high - low))
