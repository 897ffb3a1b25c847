"""From certified spaces to a certified ρ for a window: docs/theory/certificates.md, S33, S34."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.guarantees import index_constant


@dataclass(frozen=True)
class CertifiedSpace:
    """What is known of one space U, for a fresh sample.

    Attributes
    ----------
    dim : int
    inside : tuple of (a, β)
        U ⊆ V_a but for a probability of at most β, for each pair.
    outside : tuple of (b, β′)
        V_{b+1} ⊆ U but for a probability of at most β′, for each pair.
    """

    dim: int
    inside: tuple[tuple[float, float], ...]
    outside: tuple[tuple[float, float], ...]

    @classmethod
    def zero(cls) -> CertifiedSpace:
        """{0}, which is in every V_t."""
        return cls(0, ((math.inf, 0.0),), ())

    @classmethod
    def full(cls, dim: int) -> CertifiedSpace:
        """F^d, which holds every V_t."""
        return cls(dim, (), ((0.0, 0.0),))

    def pairs(self, rule: str) -> list[tuple[float, float, float]]:
        """(x, y, β): for x < t ≤ y the rule gives U, but for a probability of at most β.

        The heavy rule needs t > b, so that nothing outside U is heavy, and t ≤ a − b.
        """
        return [
            (b, a if rule == "index" else a - b, beta + beyond)
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
        last -= first - 1 if rule == "heavy" else 0
        return (first, last) if first <= last else (None, None)

    def fails_inside(self, t: float) -> float:
        """The least β with a ≥ t; infinite if there is none."""
        return min((beta for a, beta in self.inside if a >= t), default=math.inf)

    def fails_outside(self, t: float) -> float:
        """The least β′ with b < t; infinite if there is none."""
        return min((beta for b, beta in self.outside if b < t), default=math.inf)


@dataclass(frozen=True, eq=False)
class RowBounds:
    """How many rows can move the spaces V_t between two of the spaces, on average.

    E N ≤ min(m·(between[i, l] + β′_l·beyond[l]), each·t) for V_1, …, V_t between spaces i and l
    (S33).
    """

    n_rows: int
    between: Mapping[tuple[int, int], float] | Array
    beyond: Array
    each: int
    #: What between[i, l] is not below, however costly it is itself.
    least: Callable[[int, int], float] = lambda i, j: 0.0

    @classmethod
    def of_all_rows(cls, n_rows: int, beyond: Array, each: int) -> RowBounds:
        """For merged shards: any row but a zero row may matter (S34)."""
        return cls(n_rows, np.full((len(beyond), len(beyond)), beyond[0]), 0 * beyond, each)


def index_window(
    spaces: Sequence[CertifiedSpace], bounds: RowBounds, t_min: int, t_max: int
) -> float:
    """The least ρ that S33 gives for t uniform on {t_min..t_max}; at most 1.

    ``spaces`` are nested, from {0} to F^d. The window is cut into pieces at the thresholds where
    something becomes certified, by dynamic programming over all ways to do so.

    Examples
    --------
    One space that holds throughout the window, and fails in one sample of a thousand:

    >>> plane = CertifiedSpace(2, ((90, 0.0005),), ((10, 0.0005),))
    >>> spaces = [CertifiedSpace.zero(), plane, CertifiedSpace.full(3)]
    >>> bounds = RowBounds(1000, np.ones((3, 3)), np.zeros(3), 3)
    >>> index_window(spaces, bounds, 11, 90)
    0.002
    """
    low, high = t_min - 1, t_max
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
        fewest = min(bounds.n_rows * bounds.least(i, j), bounds.each * points[1])
        # Nothing is known on one side, or one such piece costs as much as all do without it.
        if not (inner.inside and outer.outside) or constant * math.sqrt(fewest) >= alone:
            continue
        finite = np.where(np.isfinite(misses[j]), misses[j], 0.0)
        most = bounds.n_rows * (bounds.between[i, j] + finite * bounds.beyond[j])
        cost = cheaper(i, j, constant * np.sqrt(np.minimum(most, bounds.each * cuts)))
        best = math.nan
    best = _cheapest(cost) if math.isnan(best) else best
    return min(1.0, best / (high - low))


def _cheapest(cost: Array) -> float:
    """The least cost of pieces (x, y] that make up the whole window."""
    best = np.zeros(len(cost))
    for y in range(1, len(cost)):
        best[y] = (best[:y] + cost[:y, y]).min()
    return float(best[-1])


def heavy_window(spaces: Sequence[CertifiedSpace], t_min: int, t_max: int | float) -> float:
    """The least ρ that S34 gives for t uniform on the reals in (t_min − 1, t_max]; at most 1.

    Examples
    --------
    >>> plane = CertifiedSpace(2, ((110, 0.0005),), ((10, 0.0005),))
    >>> heavy_window([plane], 11, 100)
    0.002
    >>> heavy_window([plane], 1, 100)  # nothing is known for t ≤ 10
    0.1018
    """
    return mean_failure(spaces, "heavy", t_min, t_max, samples=2)


def mean_failure(
    spaces: Sequence[CertifiedSpace], rule: str, t_min: int, t_max: int | float, samples: int = 1
) -> float:
    """The mean over the window of P[one of the samples misses the space known best at t]."""
    low = t_min - 1
    marks = {t for space in spaces for pair in space.pairs(rule) for t in pair[:2]}
    cuts = sorted({low, t_max} | {t for t in marks if low < t < t_max})
    # Nothing changes between two marks, and ranges are closed on the right.
    bad = [
        (y - x) * min(1.0, samples * min(space.fails(rule, y) for space in spaces))
        for x, y in pairwise(cuts)
    ]
    return min(1.0, math.fsum(bad) / (t_max - low))
