"""Outliers: how many sets they spoil, how likely they are, what an adversary can add.

Proofs: docs/theory/guarantees.md, S20, S21, S22.
"""

from __future__ import annotations

import math

from flagstone.errors import InputError, Parameter
from flagstone.guarantees.exact import at_least, check_dim, check_share, exact, positive, smallest
from flagstone.guarantees.rules import index_rho
from flagstone.guarantees.tails import above


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
    return above(m, float(p), k)


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
    return check_dim(dim) * blind_adversary_rho(length, outliers)


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
    d, allowed = check_dim(dim), float(check_share("rho", rho))
    k = at_least("outliers", outliers, 0)

    def enough(T: int) -> bool:
        added = adaptive_adversary_rho(d, T, k) if adaptive else blind_adversary_rho(T, k)
        return index_rho(d, T, start=k) + added <= allowed

    return smallest(enough)
