"""What the certifying rows prove of each space, with δ shared out over all of it (S34)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.certificates.collector import Collector
from flagstone.certificates.evidence import Evidence
from flagstone.certificates.plan import SidePlan
from flagstone.certificates.window import CertifiedSpace, RowBounds
from flagstone.guarantees.binomial import binomial_above, binomial_least, share_at_most

#: δ goes to: pieces inside, pieces outside, rows outside, rows between spaces.
_INSIDE, _OUTSIDE, _BEYOND, _BETWEEN = 0.55, 0.15, 0.25, 0.05


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
    collector: Collector,
    failure: float,
    edge: float,
    inside: Sequence[int],
    outside: Sequence[int],
    *,
    runs: int = 1,
    factor: float = 1.0,
) -> Claims:
    """All that pieces and counts prove of flags in arrival order, merged from ``runs`` shards.

    Parameters
    ----------
    collector, failure
        What was seen, and the probability δ that anything here is false.
    edge : float
        β: where does U ⊆ V_t end, and V_t ⊆ U begin, but for this probability, and smaller ones?
    inside, outside : sequences of int
        Thresholds t at which the probabilities of U ⊄ V_t and of V_t ⊄ U are wanted themselves.
    runs, factor
        The shards of a sample; how many times the rows to extrapolate to, 1 for none.
    """
    betas = (edge, edge / 10, edge / 1000)
    plan, m = collector.plan, round(collector.plan.n_rows * factor)
    counts = np.rint(collector.counts * factor).astype(np.int64)
    beyond = np.zeros(len(counts))
    beyond[0] = 1.0
    spaces = [CertifiedSpace.zero()]
    for i, part in enumerate(plan.parts):
        delta, outer = failure * part.weight, None
        seen = {
            side: {piece: times * factor for piece, times in collector.outcomes(i, side).items()}
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
