"""Coverage of the *distribution*, for every field: what the answer misses on future rows.

Proofs: docs/theory/certificates.md, S36 and on. Letters: d = dim, m = n_rows, t = threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flagstone.guarantees.binomial import binomial_above, share_at_most
from flagstone.guarantees.exact import Share, at_least, check_share, positive
from flagstone.guarantees.rules import rows_in_first_sets

#: Of δ, this much goes to pieces of rows that are looked at again, and this much to rows that are
#: counted then (S42); the rest to S36: 0.03 for the answer, 0.02 for the span of all rows.
SHARE_OF_PASS, SHARE_OF_START = 0.8, 0.15
_SHARE_OF_FUTURE = 0.03
#: On a stream the first pilot has this many rows, and each is for a multiple of its own rows.
FIRST_PILOT, PILOT_FACTOR = 16, 8
#: Independent violations are called dependent with at most this probability.
_FALSE_ALARMS = 1e-3
#: No bound is sought at failures below exp(−_MOST_NATS): numbers end there.
_MOST_NATS = 600.0


def coverage_certificate(mattering_rows: int, n_rows: int, *, confidence: Share = 0.99) -> float:
    """P[v ∉ V_t] for a future row v, at most, from the flag that chose V_t (S36).

    `mattering_rows` is N_t = Σ_{j ≤ t} dim V_j (`rows_in_first_sets`): the bound is Clopper and
    Pearson's, as if N_t of m independent rows had hit.

    Notes
    -----
    **Guarantees**

    With the given confidence over the sample, for t fixed or drawn by coins. One flag in arrival
    order, neither merged nor sorted. For the heavy rule read d·⌈t⌉ for t.

    Examples
    --------
    >>> coverage_certificate(0, 300, confidence=0.95) < 0.01  # nothing but zero rows so far
    True
    """
    m = positive("n_rows", n_rows)
    N = at_least("mattering_rows", mattering_rows, 0)
    failure = 1 - check_share("confidence", confidence)
    return share_at_most(min(N, m), m, float(failure))


def values_certificate(mattering_rows: int, n_rows: int, *, confidence: Share = 0.99) -> float:
    """P[v ∉ V_t] for a future row v, at most, where rows are read in value order (S41).

    The same N_t rows decide V_t, but which of them they are is known only afterwards; this costs a
    factor of two to three against `coverage_certificate`.

    Examples
    --------
    >>> round(values_certificate(31, 600), 2), round(coverage_certificate(31, 600), 2)
    (0.17, 0.08)
    """
    m = positive("n_rows", n_rows)
    k = at_least("mattering_rows", mattering_rows, 0)
    failure = float(1 - check_share("confidence", confidence)) / ((k + 1) * (k + 2))
    best = 1.0
    for blocks in {k + 1 + round(k * 1.25**j / 4) for j in range(16)}:
        rest = (blocks - k) * (m // blocks)
        if rest:
            choices = math.lgamma(blocks + 1) - math.lgamma(k + 1) - math.lgamma(blocks - k + 1)
            best = min(best, -math.expm1((math.log(failure) - choices) / rest))
    return best


def counted_certificate(
    first: int, skipped: int, outside: int, n_rows: int, *, starts: int, confidence: Share = 0.99
) -> float:
    """P[v ∉ V] for a future row v, at most, where the rows outside V were counted (S42).

    Parameters
    ----------
    first, skipped : int
        Among the ``first`` rows are rows that span V; ``skipped`` of them lie outside.
    outside : int
        All rows outside V.
    n_rows : int
    starts : int
        How many numbers of first rows were considered, fixed in advance (`start_points`).

    Notes
    -----
    **Guarantees**

    With the given confidence over the sample, for every V at once, however it was chosen: by merged
    shards, in value order or by the heavy rule, too.

    Examples
    --------
    Of 400 rows, 25 lie outside a space that rows among the first 48 span, with 2 left out:

    >>> round(counted_certificate(48, 2, 25, 400, starts=8), 2)
    0.16
    """
    n, m = at_least("first", first, 0), positive("n_rows", n_rows)
    j, hits = at_least("skipped", skipped, 0), at_least("outside", outside, 0) - skipped
    ways = math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1)
    ways += math.log(positive("starts", starts)) + math.log((j + 1) * (j + 2))
    nats = ways - math.log(float(1 - check_share("confidence", confidence)))
    if n >= m or nats > _MOST_NATS:
        return 1.0
    return share_at_most(hits, m - n, math.exp(-nats))


def start_points(n_rows: int, dim: int) -> list[int]:
    """Numbers of first rows at which it is asked what they span (S42): by m and d alone.

    >>> start_points(100, 10), start_points(100, 200)
    ([10, 15, 20, 30, 40, 60, 80], [25, 37, 50, 75])
    """
    points, n = [], max(1, min(positive("dim", dim), n_rows // 4))
    while n < n_rows:
        points += [n, n + n // 2] if n > 1 else [n]
        n *= 2
    return [point for point in points if point < n_rows]


def pilot_share(n_pilot: int) -> float:
    """The share of δ for the pilot of this many rows, where pilots are made again and again.

    On a stream of unknown length the first 16, 32, 64, … rows are pilots, and the rows after each
    certify what it chose. Their shares 1/2, 1/6, 1/12, … sum to 1, so that all their certificates
    hold together.
    """
    number = (at_least("n_pilot", n_pilot, FIRST_PILOT) // FIRST_PILOT).bit_length()
    return 1 / (number * (number + 1))


def stream_certificate(
    outside: int, n_rows: int, n_pilot: int, *, levels: int, confidence: Share = 0.99
) -> float:
    """P[v ∉ U] for a future row v, at most, where U was chosen by the pilot of a stream (S43).

    Of the ``n_rows`` rows after the pilot, a number that is a function of ``n_pilot``, ``outside``
    lie outside U. A pilot may choose up to ``levels`` spaces. With the given confidence for all
    pilots and all their spaces at once, and so for every length of the stream. Rows after a pilot
    must lie outside U independently of each other.

    >>> round(stream_certificate(0, 7 * 128, 128, levels=4), 3)
    0.01
    """
    share = float(1 - check_share("confidence", confidence))
    failure = share * pilot_share(n_pilot) / positive("levels", levels)
    return share_at_most(outside, positive("n_rows", n_rows), failure)


def contains_failure(n_rows: int, share: float, threshold: float) -> float:
    """P[V* of a fresh sample ⊄ U], at most: it then lacks one of the equations of U (S43).

    Parameters
    ----------
    n_rows : int
        Rows of the fresh sample.
    share : float
        A bound on P[v ∉ U], the probability that a row violates an equation of U.
    threshold : int or float
        The threshold of the fresh sample, or the first one of its window.

    Notes
    -----
    **Guarantees**

    For both rules, every field, one flag or merged shards. Only the events [v ∉ U] must be
    independent and equally likely, not the rows.

    Examples
    --------
    No violation among 900 of 1000 rows, at 99 % confidence: from t = 12 on the equations stay.

    >>> from flagstone.guarantees.binomial import share_at_most
    >>> [contains_failure(1000, share_at_most(0, 900, 0.01), t) <= 0.01 for t in (11, 12)]
    [False, True]
    """
    return binomial_above(positive("n_rows", n_rows), float(share), math.ceil(threshold) - 1)


def come_in_runs(n_rows: int, hits: int, runs: int) -> bool:
    """Whether violations (hits) come in runs: fewer than independent ones, which S43 needs, make.

    >>> come_in_runs(1000, 20, 3), come_in_runs(1000, 20, 19), come_in_runs(1000, 0, 0)
    (True, False, False)
    """
    return chance_of_runs(n_rows, hits, runs) <= _FALSE_ALARMS


def chance_of_runs(n_rows: int, hits: int, runs: int) -> float:
    """P[at most this many runs of hits], if all orders of the rows are equally likely.

    The runs test of Wald and Wolfowitz, exact: r runs are C(k−1, r−1)·C(n−k+1, r) of C(n, k) orders
    of k hits.

    >>> chance_of_runs(100, 10, 1) < 1e-9, chance_of_runs(100, 10, 9) > 0.1
    (True, True)
    >>> chance_of_runs(100, 0, 0), chance_of_runs(100, 1, 1), chance_of_runs(3, 3, 1)
    (1.0, 1.0, 1.0)
    """
    rest = n_rows - hits
    if hits < 2 or rest < 1:
        return 1.0

    def ways(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    # Probabilities rise up to the usual number of runs and fall after it: sum the shorter side.
    most, usual = min(hits, rest + 1), hits * (rest + 1) / (n_rows + 1)
    below = runs <= usual
    total, r = 0.0, runs if below else runs + 1
    while 1 <= r <= most:
        term = math.exp(ways(hits - 1, r - 1) + ways(rest + 1, r) - ways(n_rows, hits))
        total += term
        if term < 1e-17 * total:
            break
        r += -1 if below else 1
    return min(1.0, total) if below else max(0.0, 1 - total)


def future_coverage(
    counts: Sequence[int],
    n_rows: int,
    sets: int | None,
    *,
    sorted_rows: bool = False,
    any_time: bool = False,
    confidence: float = 0.99,
) -> tuple[float | None, float | None]:
    """P[v ∉ V_t] and P[v ∉ V_1] for future rows v, at most; None where that says nothing.

    By S36, or by S41 for rows in value order. `sets` is t, or None for merged shards, where only
    V_1 is bounded: the span of all rows does not depend on their order, and is always by S36.
    If `any_time`, for every number m of rows at once: each has the share 1/(m(m + 1)) of δ.

    Examples
    --------
    >>> [round(share, 3) for share in future_coverage([400, 300], 1000, 20)]
    [0.066, 0.013]
    >>> future_coverage([1] * 20, 20, 1)  # as many rows as directions
    (None, None)
    """

    def sure(share: float) -> Fraction:
        failure = Fraction((1 - confidence) * share)
        return 1 - (failure / (n_rows * (n_rows + 1)) if any_time else failure)

    rest = 1 - SHARE_OF_PASS - SHARE_OF_START - _SHARE_OF_FUTURE
    span = coverage_certificate(len(counts), n_rows, confidence=sure(rest))
    future = 1.0
    if sets is not None:
        prove = values_certificate if sorted_rows and sets > 1 else coverage_certificate
        future = prove(rows_in_first_sets(counts, sets), n_rows, confidence=sure(_SHARE_OF_FUTURE))
    return future if future < 1 else None, span if span < 1 else None
