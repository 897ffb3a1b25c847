"""Coverage of the *distribution*, for every field: what the answer misses on rows to come.

Proofs: docs/theory/certificates.md, S36, S37. Letters: d = dim, m = n_rows, t = threshold.
"""

from __future__ import annotations

from flagstone.guarantees.binomial import binomial_below, share_at_most
from flagstone.guarantees.exact import Share, at_least, check_dim, check_share, positive, smallest
from flagstone.guarantees.index import index_length

__all__ = ["coverage_certificate", "coverage_rows", "pac_rows"]


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


def pac_rows(dim: int, rho: Share, eps: Share, delta: Share, *, start: int = 0) -> int:
    """Rows with which an answer is ρ-replicable and (ε, δ)-PAC, index rule, every field (S37).

    A parity rule is right on all of U*, an affine span and a subspace rule accept all of it: what
    they get wrong lies outside. So no half of ε goes to generalization, and the number of rules
    plays no role: the bound holds over QQ, too.

    Examples
    --------
    >>> from flagstone.guarantees import parity_rows
    >>> f"{pac_rows(21, 0.05, 0.1, 0.05):.2g} instead of {parity_rows(21, 0.05, 0.1, 0.05):.2g}"
    '2.4e+08 instead of 4.8e+08'
    """
    k = at_least("start", start, 0)
    return coverage_rows(dim, k + index_length(dim, rho, start=k), eps, delta)
