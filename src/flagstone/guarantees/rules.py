"""The two rules: how often samples disagree, what the answer leaves out, what outliers can do.

Rule "index": V* = V_t for t uniform on {k+1..k+T} (docs/theory/guarantees.md, S18, S19). Rule
"heavy", the paper's Algorithm 1: V* = the largest V with n(V) ≥ t, t uniform on (k, k+T] (S10, S16,
S17). Their bounds have one shape (`RuleBounds`). Then: single equations or rows that are fixed in
advance (docs/theory/single.md, S44); what the flag of one sample shows by itself
(docs/theory/rules.md, S8, S11, S12); outliers (S20, S21, S22). Letters: d = dim, T = length,
k = start of the window, R = shards, m = n_rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flagstone.errors import InputError, Parameter
from flagstone.guarantees.binomial import tail_above
from flagstone.guarantees.exact import (
    ROUNDING,
    Share,
    at_least,
    check_share,
    exact,
    positive,
    root,
    smallest,
)


@dataclass(frozen=True)
class RuleBounds:
    """Bounds of one rule: `INDEX` and `HEAVY` have the same shape.

    Two samples of m = ``n_rows`` rows disagree with probability at most C(d)·√N/T, where
    N = min(m, R·a(d)·⌈k+T⌉): a set holds at most a(d) rows of each shard that can move the answer.
    At most R·b(d)·(⌈k+T⌉ - 1) rows of any sample lie outside the answer.

    ==========  ===================  ==================
    letter      index                heavy
    ==========  ===================  ==================
    C(d)        2√(d/3) + √(2(d-1))  √(8d)
    a(d)        d                    d²
    b(d)        d                    d(d+1)/2
    T           an integer           a real number
    statements  S9, S18, S21, S23    S10, S16, S17, S23
    ==========  ===================  ==================

    Attributes
    ----------
    square : callable
        C(d)² = p + √q, as the rational numbers (p, q).
    per_set, outside : callable
        a(d) and b(d).
    whole : bool
        Whether V* is V_t itself, so that t and T are integers; otherwise V* is the largest space
        that t sets or more span. Certificates know these two readings of a threshold.

    Examples
    --------
    >>> INDEX.rho(10, 62_318) == index_rho(10, 62_318), HEAVY.uncovered(10, 100)
    (True, 5445)
    """

    square: Callable[[int], tuple[Fraction, Fraction]]
    per_set: Callable[[int], int]
    outside: Callable[[int], int]
    whole: bool

    def proves(
        self,
        dim: int,
        rho: Share,
        length: float,
        *,
        start: int = 0,
        shards: int = 1,
        n_rows: int | None = None,
    ) -> bool:
        """Whether C(d)·√N/T ≤ ρ, decided in exact arithmetic (S16, S17, S18, S21, S23).

        Examples
        --------
        >>> T = index_length(10, 0.1)
        >>> index_proves(10, 0.1, T), index_proves(10, 0.1, T - 1)
        (True, False)
        >>> heavy_proves(2, 0.1, 6400), heavy_proves(2, 0.1, 6399)
        (True, False)
        """
        d, T, r = positive("dim", dim), self._length(length), check_share("rho", rho)
        N, (p, q) = self._moving(d, T, start, shards, n_rows), self.square(d)
        rest = (r * T) ** 2 / N - p if N else p  # compared with √q
        return rest >= 0 and rest * rest >= q

    def rho(
        self, dim: int, length: float, *, start: int = 0, shards: int = 1, n_rows: int | None = None
    ) -> float:
        """Two samples disagree with probability at most C(d)·√N/T (S16, S17, S18, S21, S23).

        For k = 0 and one shard this reads C(d)·√(d/T) (index) and √(8d³/T) (heavy), for every m.

        Notes
        -----
        **Guarantees**

        For every field, every distribution of the rows and every number of rows. Needs i.i.d. rows
        and the same m, T, order of reading and shard tree in both runs. A value ≥ 1 says nothing.

        Examples
        --------
        >>> index_rho(10, 62_318) < 0.1 < index_rho(10, 62_000)
        True
        >>> index_rho(10, 62_318, n_rows=1000) < index_rho(10, 62_318)  # few rows move few sets
        True
        >>> heavy_rho(2, 6400), heavy_rho(2, 6400, n_rows=100) < 0.1
        (0.1, True)
        """
        d, T = positive("dim", dim), self._length(length)
        N = self._moving(d, T, start, shards, n_rows)
        if self.whole:
            return index_constant(d) * math.sqrt(N / T**2)
        return root(8 * d * N / T**2)

    def uncovered(self, dim: int, length: float, *, start: int = 0, shards: int = 1) -> int:
        """At most R·b(d)·(⌈k+T⌉ - 1) rows of any sample lie outside V* (S9, S10, S23).

        Rows outside V_t lie in the t - 1 sets before it; a space that is not heavy has
        n(V) < t ≤ k+T, hence at most ⌈k+T⌉ - 1 sets.

        Examples
        --------
        >>> index_uncovered(10, 1), heavy_uncovered(10, 1)  # t ≤ 1: V* is the span of everything
        (0, 0)
        >>> heavy_uncovered(10, 100)
        5445
        """
        d, T = positive("dim", dim), self._length(length)
        k, R = at_least("start", start, 0), positive("shards", shards)
        return R * (math.ceil(k + T) - 1) * self.outside(d)

    def length(
        self, dim: int, rho: Share, *, start: int = 0, shards: int = 1, n_rows: int | None = None
    ) -> float:
        """The shortest window that makes the rule ρ-replicable (S16, S17, S18, S21, S23).

        For k = 0 and one shard ⌈d·C(d)²/ρ²⌉ (index) and ⌈8d³/ρ²⌉ (heavy), for every number of rows;
        with `n_rows`, ⌈C(d)·√m/ρ⌉ (index) and 2√(2dm)/ρ (heavy) if that is less.

        Examples
        --------
        >>> index_length(10, 0.1), heavy_length(10, 0.1)
        (62318, 800000.0)
        >>> index_length(10, 0.1, shards=4) <= 4 * index_length(10, 0.1)
        True
        >>> round(heavy_length(10, 0.1, n_rows=1_000_000), 1)
        89442.7
        """
        known = {"start": start, "shards": shards}
        if self.whole:
            return smallest(lambda T: self.proves(dim, rho, T, **known, n_rows=n_rows))
        T = smallest(lambda T: self.proves(dim, rho, T, **known))
        every = float(T)
        while exact(every) < T:
            every = math.nextafter(every, math.inf)
        if n_rows is None:
            return every
        first = root(self.square(dim)[0] * positive("n_rows", n_rows) / exact(rho) ** 2)
        while not self.proves(dim, rho, first, **known, n_rows=n_rows):
            first = math.nextafter(first, math.inf)
        return min(first, every)

    def length_for_eps(self, dim: int, eps: Share, n_rows: int, *, shards: int = 1) -> float:
        """The longest window whose length costs at most ε of the rows (S9, S10).

        εm/(R·b(d)) (heavy), and 1 + ⌊εm/(R·b(d))⌋ (index).

        Examples
        --------
        >>> index_length_for_eps(10, 0.29, 1000)  # 0.29 · 1000 / 10 is 29, also in floating point
        30
        >>> heavy_length_for_eps(10, 0.1, 5500)
        10.0
        """
        d, e, m = positive("dim", dim), check_share("eps", eps), at_least("n_rows", n_rows, 0)
        longest = e * m / (positive("shards", shards) * self.outside(d))
        return 1 + math.floor(longest) if self.whole else float(longest)

    def promised_length(
        self, dim: int, rho: Share, n_rows: int, *, start: int = 0, shards: int = 1
    ) -> float:
        """The length that a rule takes for ρ and m rows: of the index rule one for every m."""
        m = None if self.whole else n_rows
        return self.length(dim, rho, start=start, shards=shards, n_rows=m)

    def rows(
        self,
        dim: int,
        rho: Share,
        eps: Share,
        *,
        start: int = 0,
        shards: int = 1,
        contamination: Share = 0.0,
    ) -> int | None:
        """Rows with which a rule is proven ρ-replicable and covers 1 - ε (S16, S17, S18, S24).

        The least m with R·b(d)·(k+T) ≤ ε·m, T the length of the window and k its start (given
        outright, or ⌈contamination·m⌉). Without a start this is d²·C(d)²/(ρ²ε) (index), and the
        smaller of 2d³(d+1)²/(ρε)² and 4d⁴(d+1)/(ρ²ε) (heavy). None when no number of rows is
        enough, which happens when R·b(d)·contamination ≥ ε.

        Examples
        --------
        >>> index_rows(10, 0.1, 0.1), heavy_rows(10, 0.1, 0.1)
        (6231800, 440000000)
        >>> heavy_rows(4, 0.1, 0.8) == 2 * 4**3 * 5**2 * 10_000 // 8**2  # the first, for large ε
        True
        >>> index_rows(10, 0.1, 0.1, contamination=0.02) is None  # ten directions at 2 % each
        True
        """
        d, r, e = positive("dim", dim), check_share("rho", rho), check_share("eps", eps)
        check_contamination(contamination)
        c, k0, R = exact(contamination), at_least("start", start, 0), positive("shards", shards)
        each = R * self.outside(d)  # rows outside, for one more threshold
        if each * c * ROUNDING >= e:
            return None
        if self.whole and not c:
            return math.ceil(each * (k0 + self.length(d, rho, start=k0, shards=R)) / e)
        # Real k ≤ cm + 1 and T ≤ T(cm + 1) + 1 make the condition smooth in m, hence monotone.
        square = R * d * index_constant(d) ** 2 / float(r) ** 2 if self.whole else 0.0

        def enough(m: int) -> bool:
            k = c * m + 1 if c else Fraction(k0)
            if self.whole:
                T = _enough_length(square, k)
            elif k:
                T = min(_enough_length(float(8 * R * d**3 / r**2), k), root(8 * d * m / r**2))
            else:
                room = (e * m / each) ** 2  # the square of the longest window that ε allows
                slack = (
                    ROUNDING**2 if room > 2**106 else 1
                )  # past 2^53, not all integers are floats
                return (
                    room >= slack * 8 * d * m / r**2 or room >= slack * (8 * R * d**3 / r**2) ** 2
                )
            return each * (k + Fraction(T)) * ROUNDING <= e * m

        return smallest(enough)

    def _length(self, length: float) -> Fraction:
        if self.whole:
            return Fraction(positive("length", length))
        T = exact(length)
        if T <= 0:
            raise InputError(f"length must be positive, got {length!r}")
        return T

    def _moving(self, d: int, T: Fraction, start: int, shards: int, n_rows: int | None) -> int:
        """N, the rows that can move the answer."""
        k, R = at_least("start", start, 0), positive("shards", shards)
        rows = R * self.per_set(d) * math.ceil(k + T)
        return rows if n_rows is None else min(rows, n_rows)


INDEX = RuleBounds(
    lambda d: (Fraction(4 * d, 3) + 2 * (d - 1), Fraction(32 * d * (d - 1), 3)),
    lambda d: d,
    lambda d: d,
    whole=True,
)
HEAVY = RuleBounds(
    lambda d: (Fraction(8 * d), Fraction(0)),
    lambda d: d * d,  # V* depends on the first d·⌈k+T⌉ sets (S17)
    lambda d: d * (d + 1) // 2,
    whole=False,
)
index_proves, index_rho, index_uncovered = INDEX.proves, INDEX.rho, INDEX.uncovered
heavy_proves, heavy_rho, heavy_uncovered = HEAVY.proves, HEAVY.rho, HEAVY.uncovered
index_length, index_length_for_eps, index_rows = INDEX.length, INDEX.length_for_eps, INDEX.rows
heavy_length, heavy_length_for_eps, heavy_rows = HEAVY.length, HEAVY.length_for_eps, HEAVY.rows
_BOUNDS = {"index": INDEX, "heavy": HEAVY}


def bounds_of(rule: str) -> RuleBounds:
    """The bounds of the rule of this name.

    >>> bounds_of("heavy").uncovered(10, 100)
    5445
    """
    if rule not in _BOUNDS:
        names = " or ".join(map(repr, _BOUNDS))
        raise InputError(Parameter("rule"), f" must be {names}, got {rule!r}")
    return _BOUNDS[rule]


def index_constant(dim: int) -> float:
    """C(d) = 2√(d/3) + √(2(d-1)), the constant of the index rule (S18).

    Examples
    --------
    >>> all(index_constant(d) ** 2 < 6.6 * d for d in range(1, 2000))
    True
    """
    d = positive("dim", dim)
    return 2 * math.sqrt(d / 3) + math.sqrt(2 * (d - 1))


def _enough_length(A: float, k: Fraction) -> float:
    """A real T with T² ≥ A·(k+T), with room for rounding it up to an integer."""
    return (A + math.sqrt(A * A + 4 * A * float(k))) / 2 + 1


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
    was chosen because the answer contains it. Needs i.i.d. rows, one flag if ``drawn``, and the
    index rule. A value ≥ 1 says nothing.

    Examples
    --------
    >>> each_rho(20, 1067, drawn=True) < 0.05 < each_rho(20, 1066, drawn=True)
    True
    >>> round(each_rho(20, 1067), 2)
    0.16
    """
    d, T = positive("dim", dim), positive("length", length)
    if drawn:
        return root(Fraction(8, 3 * T))
    N = positive("shards", shards) * d * (at_least("start", start, 0) + T)
    N = N if n_rows is None else min(N, n_rows)
    return root(Fraction(4 * N, 3 * T * T))


def each_length(rho: Share) -> int:
    """⌈8/(3ρ²)⌉: the window that makes each equation ρ-replicable, in any dimension (S44).

    >>> each_length(0.05)
    1067
    """
    return math.ceil(Fraction(8, 3) / check_share("rho", rho) ** 2)


def _dim_at(counts: Sequence[int], j: int) -> int:
    return sum(1 for c in counts if c >= j)


def rows_in_first_sets(counts: Sequence[int], sets: int) -> int:
    """Σ_{j ≤ sets} dim V_j: how many rows sit in the first sets of the partition.

    Examples
    --------
    >>> rows_in_first_sets([5, 2, 1], 2)  # V_1 has dimension 3, V_2 has dimension 2
    5
    """
    last = at_least("sets", sets, 0)
    return sum(min(int(c), last) for c in counts)


def uncovered_bracket(counts: Sequence[int], t: int, *, shards: int = 1) -> tuple[int, int]:
    """Lower and upper bound on the rows outside V_t, from the flag alone (S8).

    Σ_{j<t} (dim V_j - dim V_t) ≤ uncovered ≤ R·Σ_{j<s} dim V_j ≤ R·Σ_{j<t} dim V_j, where s ≤ t is
    the first set with the same space as V_t; and never more than the non-zero rows. With merged
    shards (R > 1) the lower bound stays, and the upper one grows by the factor R.

    Examples
    --------
    >>> uncovered_bracket([5, 2, 1], 2)  # V_2 misses one direction of V_1, and one row
    (1, 3)
    >>> uncovered_bracket([5, 5, 5], 4)  # V_4 = V_1 misses nothing
    (0, 0)
    >>> uncovered_bracket([5, 2, 1], 6)  # V_6 = {0} misses all eight rows
    (8, 8)
    """
    index, R = positive("t", t), positive("shards", shards)
    last_larger = max((int(c) for c in counts if c < index), default=0)  # V_j ≠ V_t up to here
    before = rows_in_first_sets(counts, last_larger)
    low = before - last_larger * _dim_at(counts, index)
    return low, min(R * before, sum(int(c) for c in counts))


def index_margin(counts: Sequence[int], dim: int, t: int) -> int:
    """The largest s with V_{t-s} = V_{t+s}: no s altered rows change V_t (S11).

    Notes
    -----
    **Guarantees**

    With t held fixed, no s rows added, removed or replaced (inside their shards) change V_t.

    Examples
    --------
    >>> index_margin([9, 9, 4], 3, 6)  # V_5 = ... = V_9 has dimension 2, V_4 and V_10 do not
    1
    >>> index_margin([9, 9, 9], 3, 2)  # V_t is the whole space: it can only shrink
    7
    """
    d, index = positive("dim", dim), positive("t", t)
    r = _dim_at(counts, index)
    inside = [int(c) for c in counts if c >= index]
    outside = [int(c) for c in counts if c < index]
    # Indices above t with the same space, and below; a full space cannot grow, {0} cannot shrink.
    room_below = min(inside) - index if r else None
    room_above = index - 1 - (max(outside) if outside else 0) if r < d else None
    return min(room for room in (room_below, room_above) if room is not None)


def heavy_margin(counts: Sequence[int], dim: int, t: float) -> int:
    """How many altered rows certainly leave the heavy rule's answer as it is (S12).

    One replaced row moves a multiplicity n(V) by at most 2: so V* stays heavy while
    2s ≤ n(V*) - t, and nothing larger becomes heavy while n(W) + 2s < t for all W ⊋ V*.

    Notes
    -----
    **Guarantees**

    With t held fixed, no s rows added, removed or replaced (inside their shards) change V*.

    Examples
    --------
    >>> heavy_margin([20], 1, 4.5)  # n = 20: seven altered rows leave at least 6 ≥ 4.5
    7
    """
    d, needed = positive("dim", dim), math.ceil(t)
    largest_outside = 0
    ordered = sorted((int(c) for c in counts), reverse=True)
    for r in range(len(ordered), 0, -1):  # from the largest space to the smallest
        multiplicity = ordered[r - 1] - (ordered[r] if r < len(ordered) else 0)
        if multiplicity >= needed:
            rooms = [multiplicity - needed]
            if r < d:
                rooms.append(needed - 1 - largest_outside)
            return min(rooms) // 2
        largest_outside = max(largest_outside, multiplicity)
    return (needed - 1 - largest_outside) // 2


def check_contamination(contamination: object) -> float:
    """A share of outliers in [0, 0.5), or an error in the caller's words."""
    try:
        share = float(contamination)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        share = math.nan
    if isinstance(contamination, bool) or not 0 <= share < 0.5:
        raise InputError(
            Parameter("contamination"),
            " is the largest share of rows that may be outliers and must lie in [0, 0.5), got "
            f"{contamination!r}",
        )
    return share


def outlier_start(n_rows: int, contamination: float) -> int:
    """k = ⌈contamination·m⌉: sets after the k-th hold no outlier direction (S20).

    Notes
    -----
    **Guarantees**

    If at most k rows are outliers and the others lie in V_clean, then V_j ⊆ V_clean for all j > k,
    wherever the outliers were placed.

    Examples
    --------
    >>> outlier_start(1000, 0.007)  # 0.007 · 1000 is 7, also in floating point
    7
    """
    return math.ceil(exact(check_contamination(contamination)) * at_least("n_rows", n_rows, 0))


def containment_failure(n_rows: int, start: int, rate: float) -> float:
    """P[Binomial(m, rate) > k]: the chance that i.i.d. rows bring more than k outliers (S21).

    At k = ⌈rate·m⌉ this is close to one half: state a rate with some room, or take the start
    from `outlier_start_for_failure`.

    Examples
    --------
    >>> round(containment_failure(10_000, 200, 0.02), 2)
    0.48
    >>> containment_failure(10_000, 300, 0.02) < 1e-9
    True
    """
    m, k = positive("n_rows", n_rows), at_least("start", start, 0)
    p = check_contamination(rate)
    if k >= m or p == 0:
        return 0.0
    return tail_above(m, float(p), k)


def outlier_start_for_failure(n_rows: int, rate: float, failure: float) -> int:
    """The smallest k with P[Binomial(m, rate) > k] ≤ failure: a start for i.i.d. outliers (S21).

    Examples
    --------
    >>> k = outlier_start_for_failure(10_000, 0.02, 0.001)
    >>> containment_failure(10_000, k, 0.02) <= 0.001 < containment_failure(10_000, k - 1, 0.02)
    True
    """
    allowed = float(check_share("failure", failure))
    return smallest(lambda k: containment_failure(n_rows, k, rate) <= allowed, start=0)


def blind_adversary_rho(length: int, outliers: int) -> float:
    """What k rows replaced in each sample, without knowing t, add to ρ: 4k/T (S22, index rule).

    Examples
    --------
    >>> blind_adversary_rho(1000, 10)
    0.04
    """
    return 4 * at_least("outliers", outliers, 0) / positive("length", length)


def adaptive_adversary_rho(dim: int, length: int, outliers: int) -> float:
    """What k rows replaced in each sample, knowing t, add to ρ: 4dk/T (S22, index rule).

    Examples
    --------
    >>> adaptive_adversary_rho(5, 1000, 10) == 5 * blind_adversary_rho(1000, 10)
    True
    """
    return positive("dim", dim) * blind_adversary_rho(length, outliers)


def adversary_length(dim: int, rho: float, outliers: int, *, adaptive: bool = False) -> int:
    """The smallest T that keeps ρ against k replaced rows per sample (S22, index rule, start k).

    C(d)·√(d(k+T))/T + 4k/T ≤ ρ, with 4dk in place of 4k against an adversary who knows t.

    Examples
    --------
    >>> T = adversary_length(5, 0.2, 100)
    >>> index_rho(5, T, start=100) + blind_adversary_rho(T, 100) <= 0.2
    True
    >>> adversary_length(5, 0.2, 100, adaptive=True) > T
    True
    """
    d, allowed = positive("dim", dim), float(check_share("rho", rho))
    k = at_least("outliers", outliers, 0)

    def enough(T: int) -> bool:
        added = adaptive_adversary_rho(d, T, k) if adaptive else blind_adversary_rho(T, k)
        return index_rho(d, T, start=k) + added <= allowed

    return smallest(enough)
