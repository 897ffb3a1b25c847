"""Rule "index": the span of one random set of the partition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flagstone import guarantees as g
from flagstone.algebra import Flag, Level, Staircase
from flagstone.coins import Coins
from flagstone.guarantees.exact import exact
from flagstone.rules.base import DEFAULT_EPS, SpanRule


@dataclass(frozen=True, kw_only=True)
class IndexRule(SpanRule):
    """V* = V_t for t uniform on {t_min..t_max}: the span of one random set of the partition.

    Below, k = t_min - 1 and T = t_max - k, the length of the window.

    Notes
    -----
    **Guarantees**

    - V* lies in the span of the rows (with merged shards: in the span of all of them).
    - Coverage, for every sample: at most R·d·(k+T-1) rows lie outside V* (S9, S23).
    - Replicability, for every distribution and field: two samples of m rows with the same coins
      disagree with probability at most C(d)·√(min(m, R·d·(k+T)))/T (S18, S21, S23).
    - One equation, or row, fixed in advance: two samples differ on whether it holds on V* (lies in
      V*) with probability at most √(8/(3T)) with ``draw_rows``, else (2/√3)·√(min(m, R·d·(k+T)))/T
      (S44).
    - Containment: if at most k rows are outliers, V* holds no outlier direction (S20).

    Examples
    --------
    >>> from flagstone import Coins, Flag
    >>> flag = Flag(2).update([[1, 0], [0, 1]], weights=[50, 3])
    >>> rule = IndexRule(t_max=40)
    >>> window = rule.window(flag.dim, flag.n_rows)
    >>> t = rule.draw(window, Coins(7))
    >>> t in range(1, 41) and rule.index(Staircase.of(flag), t) == (1 if t <= 3 else 4)
    True
    """

    name: ClassVar[str] = "index"

    def _default_first_threshold(self, dim: int, n_rows: int, n_shards: int) -> int:
        """Half way to the last threshold (docs/theory/rules.md, "Which window?")."""
        if n_rows < 4 * dim:  # t = 2 would keep next to nothing
            return 1
        first = 1 + math.ceil(exact(self.eps) * n_rows / (2 * n_shards * dim))
        if exact(self.eps) == exact(DEFAULT_EPS):
            return first
        # an eps that was asked for is not exceeded
        return min(first, int(self._promised_length(dim, n_rows, n_shards, 0)))

    def _each(self, dim: int, n_rows: int, window: g.Window, n_shards: int) -> float | None:
        T, known = int(window.length), {"start": window.start, "shards": n_shards, "n_rows": n_rows}
        drawn = self.draw_rows is not None and n_shards == 1
        rho = g.each_rho(dim, T, **known, drawn=drawn)
        return rho if rho < 1 else None

    def draw(self, window: g.Window, coins: Coins) -> int:
        """t = t_min + ⌊uT⌋, T = t_max - t_min + 1, u = coins.uniform("threshold")."""
        u = Fraction(coins.uniform("threshold"))  # exact: in floats u·T may round up to T
        return window.t_min + math.floor(u * int(window.length))

    def ends(self, stairs: Staircase) -> tuple[tuple[int, Level], ...]:
        """V* = V_t: a space is chosen up to its last set."""
        return tuple((level.last, level) for level in stairs.levels)

    def margin(self, flag: Flag, t: int | float) -> int:
        """The largest s with V_{t-s} = V_{t+s} (S11)."""
        return g.index_margin(flag.counts.tolist(), flag.dim, int(t))
