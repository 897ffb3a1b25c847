"""Coverage of the *distribution*, for every field: what the answer misses on rows to come.

Proofs: docs/theory/certificates.md, S36, S37. Letters: d = dim, m = n_rows, t = threshold.
"""

from __future__ import annotations

import math

from flagstone.guarantees.binomial import binomial_below, share_at_most
from flagstone.guarantees.contamination import check_contamination, outlier_start_for_failure
from flagstone.guarantees.exact import (
    Share,
    at_least,
    check_dim,
    check_share,
    exact,
    positive,
    smallest,
)
from flagstone.guarantees.heavy import heavy_length
from flagstone.guarantees.index import index_length

__all__ = ["coverage_certificate", "coverage_rows", "pac_rows", "pac_start"]


def coverage_certificate(mattering_rows: int, n_rows: int, *, confidence: Share = 0.99) -> float:
    """P[v ∉ V_t] for a row v to come, at most, from the flag that chose V_t (S36).

    `mattering_rows` is N_t = Σ_{j ≤ t} dim V_j (`rows_in_first_sets`): the bound is Clopper and
    Pearson's, as if N_t of m independent rows had hit.

    Guarantees
    ----------
    With the given confidence over the sample, for t fixed or drawn by coins. One flag in arrival
    order; neither merged shards nor a histogram. For the heavy rule read d·⌈t⌉ for t.

    Examples
    --------
    >>> coverage_certificate(0, 300, confidence=0.95) < 0.01  # nothing but zero rows so far
    True
    """
    m = positive("n_rows", n_rows)
    N = at_least("mattering_rows", mattering_rows, 0)
    failure = 1 - check_share("confidence", confidence)
    return share_at_most(min(N, m), m, float(failure))


def coverage_rows(dim: int, threshold: int, eps: Share, delta: Share) -> int:
    """Rows with which P[v ∉ V_t] ≤ ε at confidence 1 - δ: P[Bin(m, ε) < d·t] ≤ δ (S36).

    For every distribution over every field; `threshold` is the largest t that can be drawn.

    Examples
    --------
    >>> m = coverage_rows(10, 100, 0.1, 0.05)
    >>> binomial_below(m, 0.1, 1000) <= 0.05 < binomial_below(m - 1, 0.1, 1000)
    True
    """
    entries = check_dim(dim) * positive("threshold", threshold)
    e, share = float(check_share("eps", eps)), float(check_share("delta", delta))
    return smallest(lambda m: binomial_below(m, e, entries) <= share, start=entries)


def pac_start(n_rows: int, contamination: Share, delta: Share) -> int:
    """k, the outliers to allow for: more than k of m i.i.d. rows with probability ≤ δ/2 (S37).

    Examples
    --------
    A share of 10 % is exceeded by half of all samples; this start hardly ever:

    >>> from flagstone.guarantees import outlier_start
    >>> outlier_start(1000, 0.1), pac_start(1000, 0.1, 0.01), pac_start(1000, 0.0, 0.01)
    (100, 125, 0)
    """
    share = check_share("delta", delta)
    if not contamination:
        return 0
    return outlier_start_for_failure(n_rows, float(contamination), float(share / 2))


def pac_rows(
    dim: int,
    rho: Share,
    eps: Share,
    delta: Share,
    *,
    rule: str = "index",
    start: int = 0,
    contamination: Share = 0.0,
) -> int | None:
    """Rows with which an answer is ρ-replicable and (ε, δ)-PAC, every field (S37).

    A parity rule is right on all of U*, an affine span and a subspace rule accept all of it: what
    they get wrong lies outside. So no half of ε goes to generalization, and the number of rules
    plays no role: the bound holds over QQ, too. With outliers, a row being one with probability
    `contamination`, the window begins after `pac_start`, half of δ pays for more of them, and ε
    counts them as rows to be covered: None if that cannot be, which happens when
    d·contamination ≥ ε (heavy rule: d²·contamination).

    Examples
    --------
    >>> from flagstone.guarantees import parity_rows
    >>> f"{pac_rows(21, 0.05, 0.1, 0.05):.2g} instead of {parity_rows(21, 0.05, 0.1, 0.05):.2g}"
    '2.4e+08 instead of 4.8e+08'
    >>> pac_rows(5, 0.1, 0.2, 0.05, contamination=0.05) is None
    True
    """
    d, e, share = check_dim(dim), check_share("eps", eps), check_share("delta", delta)
    k0, c = at_least("start", start, 0), exact(check_contamination(contamination))
    each = d if rule == "index" else d * d  # rows that one more threshold may leave out
    if c * each >= e:
        return None
    miss = float(share / 2 if c else share)

    def enough(m: int) -> bool:
        k = max(k0, pac_start(m, float(c), delta))
        if rule == "index":
            T: float = index_length(d, rho, start=k)
        else:
            T = heavy_length(d, rho, start=k, n_rows=m)
        return binomial_below(m, float(e), each * math.ceil(k + T)) <= miss

    return smallest(enough)
