"""Rule "heavy": Algorithm 1 of the paper, RepLinearSpan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flagstone import guarantees as g
from flagstone.algebra import Flag, Level, Staircase
from flagstone.coins import Coins
from flagstone.rules.base import SpanRule


@dataclass(frozen=True, kw_only=True)
class HeavyRule(SpanRule):
    """The paper's Algorithm 1: the largest V with n(V) ≥ t, t uniform on (t_min - 1, t_max].

    n(V) is the number of sets of the partition that span V; when no space is heavy, V* = {0}.

    Implements Algorithm 1 (RepLinearSpan) of [NST26]. Departures: the window may start past
    k = t_min - 1 > 0 sets (the paper has k = 0), its length T = t_max - k comes from the sharper
    bounds S16 and S17 unless t_max="paper", and "nothing is heavy" is answered by {0}, which the
    paper's choice of m excludes unless there are zero rows.

    Notes
    -----
    **Guarantees**

    - Coverage, for every sample: at most R·(⌈k+T⌉-1)·d(d+1)/2 rows lie outside V* (S10, S23).
    - Replicability: two samples of m rows with the same coins disagree with probability at most
      √(8d·min(m, R·d²·⌈k+T⌉))/T (S16, S17, S23).
    - Containment: if at most k rows are outliers, V* holds no outlier direction (S20).

    References
    ----------
    .. [NST26] M. Noivirt, J. Sorrell, E. Tsfadia, "Computationally Efficient Replicable Learning
       of Parities and Applications", 2026.

    Examples
    --------
    >>> from flagstone import Flag
    >>> flag = Flag(2).update([[1, 0], [0, 1]], weights=[50, 3])  # n(F²) = 3, n(span e1) = 47
    >>> stairs = Staircase.of(flag)
    >>> [flag.dim_at(HeavyRule().index(stairs, t)) for t in (2.5, 3.5, 47.5)]
    [2, 1, 0]
    """

    name: ClassVar[str] = "heavy"

    def draw(self, window: g.Window, coins: Coins) -> float:
        """t = k + T(1 - u), k = t_min - 1, u = coins.uniform("threshold")."""
        return window.start + window.length * (1 - coins.uniform("threshold"))

    def ends(self, stairs: Staircase) -> tuple[tuple[int, Level], ...]:
        """V* is the largest space with t sets or more: one must have more than those before."""
        chosen: list[tuple[int, Level]] = []
        for level in stairs.levels:
            if level.multiplicity > (chosen[-1][0] if chosen else 0):
                chosen.append((level.multiplicity, level))
        return tuple(chosen)

    def margin(self, flag: Flag, t: int | float) -> int:
        """A replaced row moves a multiplicity by at most 2 (S12)."""
        return g.heavy_margin(flag.counts.tolist(), flag.dim, t)
