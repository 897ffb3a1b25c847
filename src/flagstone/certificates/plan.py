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

import numpy as np

from flagstone.algebra import Array, Flag
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
    """How many of the rows, the first ones, are the pilot: a tenth."""
    return max(1, n_rows // 10)


@dataclass(frozen=True)
class CertificatePlan:
    """Everything that is fixed before the certifying rows are seen.

    ``spaces`` are the pilot's spaces that matter for the window, the smallest first. Each has a
    part of δ, its weight, and a rule by which pieces are cut ``inside`` it and ``outside`` (None in
    codimension one or less: there every row outside makes a set of its own). To save time every
    ``stride``-th stretch of the certifying rows is looked at.
    """

    n_rows: int
    n_pilot: int
    window: Window
    spaces: NestedSpaces
    weights: tuple[float, ...]
    inside: tuple[Cut, ...]
    outside: tuple[Cut | None, ...]
    stride: int = 1

    @classmethod
    def of_pilot(cls, pilot: Flag, n_rows: int, window: Window) -> CertificatePlan:
        """Choose spaces and pieces from the flag of the pilot rows."""
        if not 0 < pilot.n_rows < n_rows:
            raise InputError(
                f"a pilot is the first part of the rows: got {pilot.n_rows} pilot rows of {n_rows}"
            )
        t_min, t_max = window.t_min, window.t_max
        ends = (t_min, t_max) if window.whole else (t_min,)
        if not 1 <= t_min <= t_max or any(t != int(t) for t in ends):
            raise InputError(
                'a window has 1 ≤ t_min ≤ t_max, both whole numbers (of "heavy", t_min): got '
                f"{window.rule!r} with t_min={t_min}, t_max={t_max}"
            )
        counts, factor = pilot.counts, n_rows / pilot.n_rows
        dims, weights = _chosen(counts, factor, window)
        least = min((int(counts[r - 1]) for r in dims), default=0)
        stride = max(1, int(factor * least / _ENOUGH))
        return cls(
            n_rows,
            pilot.n_rows,
            window,
            NestedSpaces.of_flag(pilot, dims),
            tuple(weights),
            inside=tuple(_cut(pilot, r, factor, stride, inside=True) for r in dims),
            outside=tuple(
                _cut(pilot, r, factor, stride, inside=False) if r < pilot.dim - 1 else None
                for r in dims
            ),
            stride=stride,
        )


def _chosen(counts: Array, factor: float, window: Window) -> tuple[list[int], list[float]]:
    """Dimensions of the spaces that the window meets in the pilot, and the weight of each."""
    low, high = _BELOW * window.start, _ABOVE * window.t_max
    met: list[tuple[bool, float, int]] = []
    start, heaviest = 0, 0
    for end in sorted(set(counts.tolist())):  # from the largest space to the smallest
        sets = end - start
        first, last = (start, end) if window.whole else (heaviest, sets)
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


def _cut(pilot: Flag, r: int, factor: float, stride: int, *, inside: bool) -> Cut:
    """Return how to cut on one side of the space of dimension r, from the sets of the pilot there.

    A sample has ``factor`` times the rows of the pilot; every stride-th stretch is looked at.
    """
    if inside:
        dim, counts = r, pilot.counts[:r]
        sets = int(counts[-1])
    else:
        dim, counts = pilot.dim - r, pilot.counts[r:]
        sets = int(counts[0]) if len(counts) else 1
    pace, expected = pilot.n_rows / sets, factor * sets
    seen = expected / stride
    k = min(math.sqrt(seen) / 2.5, seen / (20 if inside else 60))
    k = max(1.0, k) if inside else k
    # Directions about as rare (inside; outside: as frequent) as the decisive one take turns in
    # being it: a piece lags behind (or leads) the whole by what their counts differ from its.
    rivals = counts[np.abs(counts - sets) <= 4 * math.sqrt(sets)]
    lag = abs(float(rivals.mean()) - sets) * math.sqrt(k / sets) if len(rivals) else 0.0
    if inside:
        credit = 2 + min(1.5, math.sqrt(seen) / 35) + lag
        rows = max(2, math.ceil(credit * pace))
        return Cut(True, dim, rows, 1.1 * pace, int(k), rates(credit, expected))
    last = math.ceil(1.5 + lag)
    tried = rates(last + 1, expected)  # a piece ends one set after it had none left
    return Cut(False, dim, last, pace / 1.25, max(2, math.ceil(k * pace)), tried)
