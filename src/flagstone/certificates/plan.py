"""What a certificate counts, decided on pilot rows only: spaces, pieces, shares of δ.

Nothing here affects validity, which needs only that the choice was made before the certifying rows
were seen; it decides how much they prove. The constants were settled on eight laws (uniform,
sparse, skewed, Zipf, geometric, two clusters, equal units, frames) and tried on four others (edges
of a graph, blocks, correlated bits, a rare direction), at three sizes each. Of the sets that span a
space the rule certified a share that fell short of the best constants in hindsight by 0 to 0.07, on
the four others, too; by up to 0.18 on three laws where few sets (some fifty to three hundred) were
expected. The least credit was adjusted last, on frames alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.algebra import Array, Flag, Rows
from flagstone.certificates.pieces import Cut, rates
from flagstone.certificates.spaces import NestedSpaces
from flagstone.errors import InputError
from flagstone.guarantees.promise import Window

#: Spaces that are looked at, at most: memory and time stay those of a few flags.
_MOST_SPACES = 12
#: If each space is expected to fill more sets than this, rows are passed over: they tell little.
_ENOUGH = 5000
#: Thresholds next to the window: there the pilot may have erred about where a space begins or ends.
_BELOW, _ABOVE = 0.8, 1.25


def pilot_rows(n_rows: int) -> int:
    """How many of the rows, the first ones, are the pilot: a tenth.

    Examples
    --------
    >>> pilot_rows(50_000), pilot_rows(7)
    (5000, 1)
    """
    return max(1, n_rows // 10)


@dataclass(frozen=True)
class SpacePlan:
    """One space: its dimension, its part of δ, and how pieces are cut on its two sides."""

    dim: int
    weight: float
    inside: Cut
    outside: Cut | None


@dataclass(frozen=True)
class CertificatePlan:
    """Everything that is fixed before the certifying rows are seen.

    Attributes
    ----------
    n_rows, n_pilot : int
        Rows of a sample, and how many of the first ones are the pilot.
    window : Window
        Where thresholds are drawn from.
    spaces, parts : NestedSpaces, tuple of SpacePlan
        The pilot's spaces that matter for the window, the smallest first.
    stride : int
        Of the certifying rows every so-many-th stretch is looked at, to save time.
    """

    n_rows: int
    n_pilot: int
    window: Window
    spaces: NestedSpaces
    parts: tuple[SpacePlan, ...]
    stride: int = 1

    @classmethod
    def of_pilot(cls, pilot: Flag, n_rows: int, window: Window) -> CertificatePlan:
        """Choose spaces and pieces from the flag of the pilot rows."""
        if not 0 < pilot.n_rows < n_rows:
            raise InputError(
                f"a pilot is the first part of the rows: got {pilot.n_rows} pilot rows of {n_rows}"
            )
        rule, t_min, t_max = window.rule, window.t_min, window.t_max
        whole = t_min == int(t_min) and (rule == "heavy" or t_max == int(t_max))
        if rule not in ("index", "heavy") or not (1 <= t_min <= t_max and whole):
            raise InputError(
                'a window is "index" or "heavy" with 1 ≤ t_min ≤ t_max, both whole numbers (of '
                f'"heavy", t_min): got {rule!r} with t_min={t_min}, t_max={t_max}'
            )
        counts, factor = pilot.counts, n_rows / pilot.n_rows
        dims, weights = _chosen(counts, factor, window)
        least = min((int(counts[r - 1]) for r in dims), default=0)
        stride = max(1, int(factor * least / _ENOUGH))
        parts = tuple(
            _space_plan(counts, r, pilot, factor, stride, weight)
            for r, weight in zip(dims, weights, strict=True)
        )
        spaces = NestedSpaces.of_flag(pilot, dims)
        return cls(n_rows, pilot.n_rows, window, spaces, parts, stride)

    def rows(self, X: Any, weights: Any = None) -> Rows:
        """Return certifying rows, checked; weights are refused."""
        if weights is not None:
            raise InputError(
                "a certificate needs rows that were drawn one by one; weights do not say in which "
                "order they came: give every row as often as it was seen"
            )
        return self.spaces.field.rows(X, dim=self.spaces.dim)


def _chosen(counts: Array, factor: float, window: Window) -> tuple[list[int], list[float]]:
    """Dimensions of the spaces that the window meets in the pilot, and the weight of each."""
    low, high = _BELOW * window.start, _ABOVE * window.t_max
    met: list[tuple[bool, float, int]] = []
    start, heaviest = 0, 0
    for end in sorted(set(counts.tolist())):  # from the largest space to the smallest
        sets = end - start
        first, last = (start, end) if window.rule == "index" else (heaviest, sets)
        overlap = min(high, factor * last) - max(low, factor * first)
        # A space whose sets number less than the noise of their end is most likely an accident.
        solid = sets >= max(2.0, math.sqrt(end))
        if overlap > 0.005 * (high - low):
            met.append((solid, overlap, int(np.count_nonzero(counts >= end))))
        start, heaviest = end, max(heaviest, sets)
    met.sort(reverse=True)
    kept = [space for space in met if space[0]][:_MOST_SPACES] or met[:1]
    kept.sort(key=lambda space: space[2])
    total = sum(math.sqrt(overlap) for _, overlap, _ in kept)
    return [dim for _, _, dim in kept], [math.sqrt(overlap) / total for _, overlap, _ in kept]


def _space_plan(
    counts: Array, r: int, pilot: Flag, factor: float, stride: int, weight: float
) -> SpacePlan:
    inside = _cut(True, r, pilot.n_rows, counts[:r], int(counts[r - 1]), factor, stride)
    outside = None
    if r < pilot.dim - 1:  # in codimension one every row outside makes a set of its own
        sets = int(counts[r]) if len(counts) > r else 1
        outside = _cut(False, pilot.dim - r, pilot.n_rows, counts[r:], sets, factor, stride)
    return SpacePlan(r, weight, inside, outside)


def _cut(
    inside: bool, dim: int, n_pilot: int, counts: Array, sets: int, factor: float, stride: int
) -> Cut:
    """How to cut on a side where the pilot has this many sets, ended by these counts."""
    pace, seen = n_pilot / sets, factor * sets / stride
    k = min(math.sqrt(seen) / 2.5, seen / (20 if inside else 60))
    k = max(1.0, k) if inside else k
    # Directions about as rare (inside; outside: as frequent) as the decisive one take turns in
    # being it: a piece lags behind (or leads) the whole by what their counts differ from its.
    rivals = counts[np.abs(counts - sets) <= 4 * math.sqrt(sets)]
    lag = abs(float(rivals.mean()) - sets) * math.sqrt(k / sets) if len(rivals) else 0.0
    if inside:
        credit = 2 + min(1.5, math.sqrt(seen) / 35) + lag
        tried = rates(credit, factor * sets)
        return Cut(True, dim, max(2, math.ceil(credit * pace)), 1.1 * pace, int(k), tried)
    credit = math.ceil(1.5 + lag)
    tried = rates(credit + 1, factor * sets)  # a piece ends one set after it had none left
    return Cut(False, dim, credit, pace / 1.25, max(2, math.ceil(k * pace)), tried)
