"""What the certifying rows prove of each space, and so of a window: docs/theory/certificates.md.

δ is shared out over the spaces and all that is said of them (S34); certified spaces give a ρ for a
window of thresholds (S33, S34).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.certificates.pieces import Evidence
from flagstone.certificates.plan import CertificatePlan, SidePlan
from flagstone.guarantees.binomial import binomial_above, binomial_least, share_at_most
from flagstone.guarantees.rules import index_constant

#: δ goes to: pieces inside, pieces outside, rows outside, rows between spaces.
_INSIDE, _OUTSIDE, _BEYOND, _BETWEEN = 0.55, 0.15, 0.25, 0.05


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


@dataclass(frozen=True, eq=False)
class Claims:
    """Statements about fresh samples of m rows that hold together, at one confidence.

    ``spaces`` run from {0} to F^d; ``beyond`` bounds the share of all future rows outside each
    (that outside {0} by 1, where no more is needed).
    """

    spaces: tuple[CertifiedSpace, ...]
    beyond: Array
    bounds: RowBounds


class SharesBetween(dict[tuple[int, int], float]):
    """P[v in space l but not in space i], at most, for all pairs i < l at once.

    Each is computed when it is asked for; it is never below the share that was seen.

    Examples
    --------
    >>> between = SharesBetween(np.array([0, 90, 10]), 0.01)
    >>> round(between[0, 1], 2), round(between[0, 2], 2), round(between[1, 2], 2)
    (0.96, 1.0, 0.21)
    >>> between.seen(1, 2)
    0.1
    """

    def __init__(self, counts: Array, failure: float) -> None:
        super().__init__()
        self._held = np.cumsum(counts).tolist()
        self._each = failure / math.comb(len(counts), 2)

    def __missing__(self, pair: tuple[int, int]) -> float:
        i, j = pair
        hits, n = self._held[j] - self._held[i], self._held[-1]
        self[pair] = share_at_most(hits, n, self._each)
        return self[pair]

    def seen(self, i: int, j: int) -> float:
        """The share of the rows seen that lay there."""
        share: float = (self._held[j] - self._held[i]) / max(1, self._held[-1])
        return share


def claims_of_pieces(
    plan: CertificatePlan,
    counts: Array,
    outcomes: Callable[[int, str], Mapping[tuple[int, int], float]],
    failure: float,
    betas: Sequence[float],
    inside: Sequence[int],
    outside: Sequence[int],
    *,
    runs: int = 1,
    factor: float = 1.0,
) -> Claims:
    """All that pieces and counts prove of flags in arrival order, merged from ``runs`` shards.

    Parameters
    ----------
    plan, counts, outcomes
        What was looked at, and what was seen: see `Certifier`.
    failure : float
        The probability δ that anything here is false.
    betas : sequence of float
        Where does U ⊆ V_t end, and V_t ⊆ U begin, but for each of these probabilities β?
    inside, outside : sequences of int
        Thresholds t at which the probabilities of U ⊄ V_t and of V_t ⊄ U are wanted themselves.
    runs, factor
        The shards of a sample; how many times the rows to extrapolate to, 1 for none.
    """
    m = round(plan.n_rows * factor)
    counts = np.rint(counts * factor).astype(np.int64)
    beyond = np.zeros(len(counts))
    beyond[0] = 1.0
    spaces = [CertifiedSpace.zero()]
    for i, part in enumerate(plan.parts):
        delta, outer = failure * part.weight, None
        seen = {
            side: {piece: times * factor for piece, times in outcomes(i, side).items()}
            for side in ("inside", "outside")
        }
        inner = _evidence(part.inside, seen["inside"], delta * _INSIDE, plan.stride)
        if part.outside is not None:
            outer = _evidence(part.outside, seen["outside"], delta * _OUTSIDE, plan.stride)
        if part.dim < plan.spaces.dim:
            rows = int(counts[i + 2 :].sum())
            beyond[i + 1] = share_at_most(rows, int(counts.sum()), delta * _BEYOND)
        sets = _Outside(m, beyond[i + 1], outer, runs)
        covered = m - runs * (part.inside.cut.longest - 1)
        spaces.append(
            CertifiedSpace(
                part.dim,
                inside=(
                    *((inner.bound(beta, covered) or 0, beta) for beta in betas),
                    *((t, inner.beyond(t, covered)) for t in inside),
                ),
                outside=(
                    *((sets.bound(beta), beta) for beta in betas),
                    *((t - 1, sets.beyond(t - 1)) for t in outside),
                ),
            )
        )
    between = SharesBetween(counts, failure * _BETWEEN)
    spaces.append(CertifiedSpace.full(plan.spaces.dim))
    bounds = RowBounds(m, between, beyond, plan.spaces.dim, between.seen)
    if runs > 1:
        beyond[0] = between[0, len(counts) - 1]
        bounds = RowBounds.of_all_rows(m, beyond, runs * plan.spaces.dim)
    return Claims(tuple(spaces), beyond, bounds)


def _evidence(
    plan: SidePlan, pieces: Mapping[tuple[int, int], float], failure: float, stride: int
) -> Evidence:
    return Evidence(plan.cut, pieces, np.array(plan.rates), failure, math.sqrt(stride))


@dataclass(frozen=True, eq=False)
class _Outside:
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


def mean_failure(
    spaces: Sequence[CertifiedSpace], rule: str, t_min: int, t_max: int | float, samples: int = 1
) -> float:
    """The mean over the window of P[one of the samples misses the space known best at t].

    With two samples it bounds the ρ of the heavy rule, t uniform on (t_min − 1, t_max] (S34).

    Examples
    --------
    >>> plane = CertifiedSpace(2, ((110, 0.0005),), ((10, 0.0005),))
    >>> mean_failure([plane], "heavy", 11, 100, samples=2)
    0.002
    >>> mean_failure([plane], "heavy", 1, 100, samples=2)  # nothing is known for t ≤ 10
    0.1018
    """
    low = t_min - 1
    marks = {t for space in spaces for pair in space.pairs(rule) for t in pair[:2]}
    cuts = sorted({low, t_max} | {t for t in marks if low < t < t_max})
    # Nothing changes between two marks, and ranges are closed on the right.
    bad = [
        (y - x) * min(1.0, samples * min(space.fails(rule, y) for space in spaces))
        for x, y in pairwise(cuts)
    ]
    return min(1.0, math.fsum(bad) / (t_max - low))
