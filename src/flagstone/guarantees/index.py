"""Rule "index": V* = V_t for t uniform on {k+1..k+T}. Proofs: docs/theory/guarantees.md, S18, S19.

Letters: d = dim, T = length, k = start of the window, R = shards, m = n_rows.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flagstone.guarantees.exact import (
    ROUNDING,
    Share,
    at_least,
    check_dim,
    check_share,
    exact,
    positive,
    smallest,
)


def index_constant(dim: int) -> float:
    """C(d) = 2√(d/3) + √(2(d-1)), the constant of the index rule (S18).

    Examples
    --------
    >>> all(index_constant(d) ** 2 < 6.6 * d for d in range(1, 2000))
    True
    """
    d = check_dim(dim)
    return 2 * math.sqrt(d / 3) + math.sqrt(2 * (d - 1))


def _mattering_rows(d: int, length: int, start: int, shards: int, n_rows: int | None) -> int:
    """How many rows can move the first k + T sets: each holds at most d rows of each shard."""
    rows = shards * d * (start + length)
    return rows if n_rows is None else min(rows, n_rows)


def index_proves(
    dim: int,
    rho: Share,
    length: int,
    *,
    start: int = 0,
    shards: int = 1,
    n_rows: int | None = None,
) -> bool:
    """Whether C(d)·√N/T ≤ ρ, decided in exact arithmetic (S18, S21, S23).

    Examples
    --------
    >>> T = index_length(10, 0.1)
    >>> index_proves(10, 0.1, T), index_proves(10, 0.1, T - 1)
    (True, False)
    """
    d, r, T = check_dim(dim), check_share("rho", rho), positive("length", length)
    N = _mattering_rows(d, T, at_least("start", start, 0), positive("shards", shards), n_rows)
    # C(d)² = a + √b with rational a, b: compare (ρT)²/N - a with √b without rounding.
    a, b = Fraction(4 * d, 3) + 2 * (d - 1), Fraction(32 * d * (d - 1), 3)
    rest = (r * T) ** 2 / N - a if N else a
    return rest >= 0 and rest * rest >= b


def index_rho(
    dim: int, length: int, *, start: int = 0, shards: int = 1, n_rows: int | None = None
) -> float:
    """The probability that two samples disagree is at most C(d)·√N/T (S18, S21, S23).

    N = R·d·(k+T) bounds the rows that can move the first k + T sets, and N ≤ m if `n_rows` is
    given. For k = 0 and one shard the bound reads C(d)·√(d/T).

    Notes
    -----
    **Guarantees**

    For every field, every distribution of the rows and every number of rows. Needs i.i.d. rows and
    the same m, T and shard tree in both runs. A value ≥ 1 says nothing.

    Examples
    --------
    >>> index_rho(10, 62_318) < 0.1 < index_rho(10, 62_000)
    True
    >>> index_rho(10, 62_318, n_rows=1000) < index_rho(10, 62_318)  # few rows move few sets
    True
    """
    d, T = check_dim(dim), positive("length", length)
    N = _mattering_rows(d, T, at_least("start", start, 0), positive("shards", shards), n_rows)
    return index_constant(d) * math.sqrt(Fraction(N, T * T))


def index_length(
    dim: int, rho: Share, *, start: int = 0, shards: int = 1, n_rows: int | None = None
) -> int:
    """The smallest T for which the index rule is proven ρ-replicable (S18, S21, S23).

    ⌈d·C(d)²/ρ²⌉ for k = 0 and one shard; with a start k it solves T² ≥ A·(k+T),
    A = R·d·C(d)²/ρ². With `n_rows`, ⌈C(d)·√m/ρ⌉ if that is smaller.

    Examples
    --------
    >>> index_length(10, 0.1)
    62318
    >>> index_length(10, 0.1, shards=4) <= 4 * index_length(10, 0.1)
    True
    """
    check_dim(dim)
    check_share("rho", rho)
    return smallest(lambda T: index_proves(dim, rho, T, start=start, shards=shards, n_rows=n_rows))


def index_uncovered(dim: int, length: int, *, start: int = 0, shards: int = 1) -> int:
    """At most R·d·(k+T-1) rows of any sample lie outside V* (S9, S23).

    Examples
    --------
    >>> index_uncovered(10, 1)  # t = 1: V* is the span of everything
    0
    """
    d, T = check_dim(dim), positive("length", length)
    return positive("shards", shards) * d * (at_least("start", start, 0) + T - 1)


def index_length_for_eps(dim: int, eps: Share, n_rows: int, *, shards: int = 1) -> int:
    """T = 1 + ⌊εm/(R·d)⌋: the longest window whose length costs at most ε of the rows (S9).

    Examples
    --------
    >>> index_length_for_eps(10, 0.29, 1000)  # 0.29 · 1000 / 10 is 29, also in floating point
    30
    """
    d, e, m = check_dim(dim), check_share("eps", eps), at_least("n_rows", n_rows, 0)
    return 1 + math.floor(e * m / (positive("shards", shards) * d))


def index_rows(
    dim: int,
    rho: Share,
    eps: Share,
    *,
    start: int = 0,
    shards: int = 1,
    contamination: Share = 0.0,
) -> int | None:
    """Rows with which the index rule is proven ρ-replicable and covers 1 - ε: m = dT/ε (S18, S24).

    With a start k (given outright, or ⌈contamination·m⌉): R·d·(k+T) ≤ ε·m. None when no number of
    rows is enough, which happens when R·d·contamination ≥ ε.

    Examples
    --------
    >>> index_rows(10, 0.1, 0.1)
    6231800
    >>> f"{index_rows(20, 0.05, 0.1):.1e}"
    '2.1e+08'
    >>> index_rows(10, 0.1, 0.1, contamination=0.02) is None  # ten directions at 2 % each
    True
    """
    d, r, e = check_dim(dim), check_share("rho", rho), check_share("eps", eps)
    c, R = exact(contamination), positive("shards", shards)
    if c == 0:
        T = index_length(d, rho, start=start, shards=R)
        return math.ceil(R * d * (start + T) / e)
    if R * d * c * ROUNDING >= e:
        return None
    # Real k ≤ cm + 1 and T ≤ T(cm + 1) + 1 make the condition smooth in m, hence monotone.
    A = R * d * index_constant(d) ** 2 / float(r) ** 2

    def enough(m: int) -> bool:
        k = c * m + 1
        T = (A + math.sqrt(A * A + 4 * A * float(k))) / 2 + 1
        return R * d * (k + Fraction(T)) * ROUNDING <= e * m

    return smallest(enough)
