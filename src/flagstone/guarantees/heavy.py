"""Rule "heavy" (the paper's Algorithm 1), with sharper bounds. Proofs: docs/theory, S10, S16, S17.

V* = the largest V with n(V) ≥ t, t uniform on (k, k+T]. Letters as in `index`.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flagstone.errors import InputError
from flagstone.guarantees.exact import (
    ROUNDING,
    Share,
    at_least,
    check_dim,
    check_share,
    exact,
    positive,
    root,
    smallest,
)


def _real_length(length: float) -> Fraction:
    T = exact(length)
    if T <= 0:
        raise InputError(f"length must be positive, got {length!r}")
    return T


def _mattering_rows(d: int, T: Fraction, start: int, shards: int, n_rows: int | None) -> int:
    """V* depends on the first d·⌈k+T⌉ sets, each with at most d rows of each shard (S17)."""
    rows = shards * d * d * math.ceil(start + T)
    return rows if n_rows is None else min(rows, n_rows)


def heavy_proves(
    dim: int,
    rho: Share,
    length: float,
    *,
    start: int = 0,
    shards: int = 1,
    n_rows: int | None = None,
) -> bool:
    """Whether √(8dN)/T ≤ ρ, decided in exact arithmetic (S16, S17).

    Examples
    --------
    >>> heavy_proves(2, 0.1, 6400), heavy_proves(2, 0.1, 6399)
    (True, False)
    """
    d, r, T = check_dim(dim), check_share("rho", rho), _real_length(length)
    N = _mattering_rows(d, T, at_least("start", start, 0), positive("shards", shards), n_rows)
    return 8 * d * N <= (r * T) ** 2


def heavy_rho(
    dim: int, length: float, *, start: int = 0, shards: int = 1, n_rows: int | None = None
) -> float:
    """Two samples disagree with probability at most √(8dN)/T (S16, S17, S23).

    N is the smaller of m (`n_rows`; the bound then reads 2√(2dm)/T) and R·d²·⌈k+T⌉ (without
    shards and start √(8d³/T), for every m).

    Notes
    -----
    **Guarantees**

    For every field and distribution; needs i.i.d. rows and the same m, T, path and shard tree in
    both runs. A value ≥ 1 says nothing.

    Examples
    --------
    >>> heavy_rho(2, 6400)
    0.1
    >>> heavy_rho(2, 6400, n_rows=100) < 0.1
    True
    """
    d, T = check_dim(dim), _real_length(length)
    N = _mattering_rows(d, T, at_least("start", start, 0), positive("shards", shards), n_rows)
    return root(8 * d * N / T**2)


def heavy_length(
    dim: int, rho: Share, *, start: int = 0, shards: int = 1, n_rows: int | None = None
) -> float:
    """The smaller of the two lengths that make Algorithm 1 ρ-replicable (S16, S17).

    2√(2dm)/ρ if `n_rows` is given, and ⌈8d³/ρ²⌉ for every number of rows (with start and shards:
    the smallest integer T with 8·R·d³·(k+T) ≤ (ρT)²).

    Examples
    --------
    >>> heavy_length(10, 0.1)
    800000.0
    >>> round(heavy_length(10, 0.1, n_rows=1_000_000), 1)
    89442.7
    """
    d, r = check_dim(dim), check_share("rho", rho)
    k, R = at_least("start", start, 0), positive("shards", shards)
    second = smallest(lambda T: 8 * R * d**3 * (k + T) <= (r * T) ** 2)
    every = float(second)
    while exact(every) < second:
        every = math.nextafter(every, math.inf)
    if n_rows is None:
        return every
    first = root(8 * d * positive("n_rows", n_rows) / r**2)
    while not heavy_proves(d, rho, first, start=k, shards=R, n_rows=n_rows):
        first = math.nextafter(first, math.inf)
    return min(first, every)


def heavy_uncovered(dim: int, length: float, *, start: int = 0, shards: int = 1) -> int:
    """At most R·(⌈k+T⌉ - 1)·d(d+1)/2 rows of any sample lie outside V* (S10, S23).

    A space that is not heavy has n(V) < t ≤ k+T, hence at most ⌈k+T⌉ - 1 sets.

    Examples
    --------
    >>> heavy_uncovered(10, 100)
    5445
    >>> heavy_uncovered(10, 1)  # t ≤ 1: V* is the span of everything
    0
    """
    d, T = check_dim(dim), _real_length(length)
    k, R = at_least("start", start, 0), positive("shards", shards)
    return R * (math.ceil(k + T) - 1) * (d * (d + 1) // 2)


def heavy_length_for_eps(dim: int, eps: Share, n_rows: int, *, shards: int = 1) -> float:
    """T = εm/(R·d(d+1)/2): the longest window whose length costs at most ε of the rows (S10).

    Examples
    --------
    >>> heavy_length_for_eps(10, 0.1, 5500)
    10.0
    """
    d, e, m = check_dim(dim), check_share("eps", eps), at_least("n_rows", n_rows, 0)
    return float(2 * e * m / (positive("shards", shards) * d * (d + 1)))


def heavy_rows(
    dim: int,
    rho: Share,
    eps: Share,
    *,
    start: int = 0,
    shards: int = 1,
    contamination: Share = 0.0,
) -> int | None:
    """Rows with which Algorithm 1 is proven ρ-replicable and covers 1 - ε (S16, S17, S24).

    The smaller of 2d³(d+1)²/(ρε)² and 4d⁴(d+1)/(ρ²ε). With a start k (given outright, or
    ⌈contamination·m⌉): R·(k+T)·d(d+1)/2 ≤ ε·m; None when no number of rows is enough.

    Examples
    --------
    >>> heavy_rows(10, 0.1, 0.1)
    440000000
    >>> heavy_rows(4, 0.1, 0.8) == 2 * 4**3 * 5**2 * 10_000 // 8**2  # the first, for large ε
    True
    """
    d, r, e = check_dim(dim), check_share("rho", rho), check_share("eps", eps)
    c, R = exact(contamination), positive("shards", shards)
    k0, area = at_least("start", start, 0), Fraction(d * (d + 1), 2)
    if R * area * c * ROUNDING >= e:
        return None

    def enough(m: int) -> bool:
        k = c * m + 1 if c else Fraction(k0)
        if c or k0:
            A = float(8 * R * d**3 / r**2)
            T = (A + math.sqrt(A * A + 4 * A * float(k))) / 2 + 1
            T = min(T, root(8 * d * m / r**2))
            return R * area * (k + Fraction(T)) * ROUNDING <= e * m
        room = (e * m / (R * area)) ** 2  # the square of the longest window that ε allows
        slack = ROUNDING**2 if room > 2**106 else 1  # past 2^53, not every integer is a float
        return room >= slack * 8 * d * m / r**2 or room >= slack * (8 * R * d**3 / r**2) ** 2

    return smallest(enough)
