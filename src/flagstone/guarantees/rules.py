"""The two rules: how often samples disagree, what the answer leaves out, how many rows that takes.

Rule "index": V* = V_t for t uniform on {k+1..k+T} (docs/theory/guarantees.md, S18, S19). Rule
"heavy", the paper's Algorithm 1: V* = the largest V with n(V) ≥ t, t uniform on (k, k+T] (S10, S16,
S17). Their bounds have one shape (`_Shape`). Letters: d = dim, T = length, k = start of the window,
R = shards, m = n_rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class _Shape:
    """Two samples disagree with probability at most C(d)·√N/T, N = min(m, R·a(d)·⌈k+T⌉).

    A set holds at most a(d) rows of each shard that can move the answer, and at most
    R·b(d)·(⌈k+T⌉ - 1) rows lie outside of it.

    Attributes
    ----------
    square : callable
        C(d)² = p + √q, as the rational numbers (p, q).
    mattering, outside : callable
        a(d) and b(d).
    """

    square: Callable[[int], tuple[Fraction, Fraction]]
    mattering: Callable[[int], int]
    outside: Callable[[int], int]

    def rows(self, d: int, T: Fraction, start: int, shards: int, n_rows: int | None) -> int:
        """N, the rows that can move the answer."""
        k, R = at_least("start", start, 0), positive("shards", shards)
        rows = R * self.mattering(d) * math.ceil(k + T)
        return rows if n_rows is None else min(rows, n_rows)

    def proves(self, d: int, rho: Share, T: Fraction, N: int) -> bool:
        """Whether C(d)·√N/T ≤ ρ, without rounding: (ρT)²/N - p is compared with √q."""
        r, (p, q) = check_share("rho", rho), self.square(d)
        rest = (r * T) ** 2 / N - p if N else p
        return rest >= 0 and rest * rest >= q

    def uncovered(self, d: int, T: Fraction, start: int, shards: int) -> int:
        """The rows of any sample that may lie outside V*: sets k+1..k+T miss fewer than ⌈k+T⌉."""
        k, R = at_least("start", start, 0), positive("shards", shards)
        return R * (math.ceil(k + T) - 1) * self.outside(d)


_INDEX = _Shape(
    lambda d: (Fraction(4 * d, 3) + 2 * (d - 1), Fraction(32 * d * (d - 1), 3)),
    lambda d: d,
    lambda d: d,
)
_HEAVY = _Shape(
    lambda d: (Fraction(8 * d), Fraction(0)),
    lambda d: d * d,  # V* depends on the first d·⌈k+T⌉ sets (S17)
    lambda d: d * (d + 1) // 2,
)


def _whole(length: int) -> Fraction:
    """The length of a window of the index rule."""
    return Fraction(positive("length", length))


def _real(length: float) -> Fraction:
    """The length of a window of the heavy rule."""
    T = exact(length)
    if T <= 0:
        raise InputError(f"length must be positive, got {length!r}")
    return T


def index_constant(dim: int) -> float:
    """C(d) = 2√(d/3) + √(2(d-1)), the constant of the index rule (S18).

    Examples
    --------
    >>> all(index_constant(d) ** 2 < 6.6 * d for d in range(1, 2000))
    True
    """
    d = check_dim(dim)
    return 2 * math.sqrt(d / 3) + math.sqrt(2 * (d - 1))


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
    d, T = check_dim(dim), _whole(length)
    return _INDEX.proves(d, rho, T, _INDEX.rows(d, T, start, shards, n_rows))


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
    d, T = check_dim(dim), _whole(length)
    return index_constant(d) * math.sqrt(_INDEX.rows(d, T, start, shards, n_rows) / T**2)


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
    return _INDEX.uncovered(check_dim(dim), _whole(length), start, shards)


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
    d, T = check_dim(dim), _real(length)
    return _HEAVY.proves(d, rho, T, _HEAVY.rows(d, T, start, shards, n_rows))


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
    d, T = check_dim(dim), _real(length)
    return root(8 * d * _HEAVY.rows(d, T, start, shards, n_rows) / T**2)


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
    return _HEAVY.uncovered(check_dim(dim), _real(length), start, shards)


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
