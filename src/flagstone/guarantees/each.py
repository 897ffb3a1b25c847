"""One equation or row at a time: how often two samples agree on it (docs/theory/single.md, S44).

Letters: d = dim, T = length, k = start of the window, R = shards, m = n_rows.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flagstone.guarantees.binomial import binomial_below
from flagstone.guarantees.contamination import check_contamination
from flagstone.guarantees.coverage import pac_start
from flagstone.guarantees.exact import (
    Share,
    at_least,
    check_dim,
    check_share,
    exact,
    positive,
    root,
    smallest,
)


def each_rho(
    dim: int,
    length: int,
    *,
    start: int = 0,
    shards: int = 1,
    n_rows: int | None = None,
    drawn: bool = False,
) -> float:
    """Two samples differ on one equation, or row, with at most this probability (S44).

    √(8/(3T)) if the coins also draw the number of rows (`IndexRule(draw_rows=…)`), with any start;
    else (2/√3)·√N/T, where N = R·d·(k+T), or m if that is smaller.

    Notes
    -----
    **Guarantees**

    For every field and distribution, and any equation or row *fixed in advance*: not for one that
    was chosen because it stands in the answer. Needs i.i.d. rows, one flag if ``drawn``, and the
    index rule. A value ≥ 1 says nothing.

    Examples
    --------
    >>> each_rho(20, 1067, drawn=True) < 0.05 < each_rho(20, 1066, drawn=True)
    True
    >>> round(each_rho(20, 1067), 2)
    0.16
    """
    d, T = check_dim(dim), positive("length", length)
    if drawn:
        return root(Fraction(8, 3 * T))
    N = positive("shards", shards) * d * (at_least("start", start, 0) + T)
    N = N if n_rows is None else min(N, n_rows)
    return root(Fraction(4 * N, 3 * T * T))


def each_length(rho: Share) -> int:
    """⌈8/(3ρ²)⌉: the window that makes each equation ρ-replicable, whatever the dimension (S44).

    >>> each_length(0.05)
    1067
    """
    return math.ceil(Fraction(8, 3) / check_share("rho", rho) ** 2)


def each_rows(
    dim: int,
    rho: Share,
    eps: Share,
    delta: Share | None = None,
    *,
    contamination: Share = 0.0,
) -> int | None:
    """Rows 2M to collect, of which the coins use more than M, for S44 and coverage 1 - ε.

    Without delta, of the rows used at most ε lie outside: d(k+T-1) ≤ ε(M+1). With delta, of future
    rows, as in `pac_rows`. None where no number of rows is enough.

    Examples
    --------
    >>> each_rows(20, 0.05, 0.1)
    426398
    >>> each_rows(10, 0.1, 0.1, contamination=0.01) is None  # 2·d·contamination < eps is needed
    True
    """
    d, e, T = check_dim(dim), check_share("eps", eps), each_length(rho)
    c = exact(check_contamination(contamination))
    if 2 * d * c >= e:
        return None
    if delta is None:
        return 2 * smallest(lambda M: d * (math.ceil(2 * c * M) + T - 1) <= e * (M + 1))
    miss = float(check_share("delta", delta) / (2 if c else 1))

    def enough(M: int) -> bool:
        k = pac_start(2 * M, float(c), delta)
        return binomial_below(M + 1, float(e), d * (k + T)) <= miss

    return 2 * smallest(enough)
