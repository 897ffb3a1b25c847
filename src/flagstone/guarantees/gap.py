"""Far fewer rows for a distribution with a gap: most directions frequent, the others rare.

Proof: docs/theory/certificates.md, S35. V is a space of dimension `rank`; `p_in` is the least
probability, over the hyperplanes U of V, that a row lies in V but not in U; `p_out` the probability
that it lies outside V.
"""

from __future__ import annotations

from flagstone.guarantees.binomial import binomial_above, binomial_below, binomial_least
from flagstone.guarantees.exact import Share, at_least, check_share, positive, smallest


def gap_rho(
    rank: int,
    t_min: int,
    t_max: int,
    n_rows: int,
    *,
    p_in: Share,
    p_out: Share,
    shards: int = 1,
) -> float:
    """Two samples disagree with at most this probability, for t in {t_min..t_max} (S35).

    2·(P[Bin(m, p_in) < r·t_max + (R-1)(r-1)] + P[Bin(m, p_out) ≥ t_min]).

    Notes
    -----
    **Guarantees**

    For flags in arrival order, merged or not. Each sample gives V itself with probability at least
    1 minus half of the value. A value ≥ 1 says nothing.

    Examples
    --------
    >>> gap_rho(34, 101, 160, 50_000, p_in=0.2, p_out=0.0005) < 1e-6
    True
    """
    r, m = at_least("rank", rank, 0), positive("n_rows", n_rows)
    first, last = positive("t_min", t_min), at_least("t_max", t_max, t_min)
    lost = (positive("shards", shards) - 1) * (r - 1)
    inside = binomial_below(m, float(check_share("p_in", p_in)), r * last + lost) if r else 0.0
    return 2 * (inside + binomial_above(m, float(check_share("p_out", p_out)), first - 1))


def gap_rows(rank: int, rho: Share, *, p_in: Share, p_out: Share) -> int | None:
    """Rows with which some threshold is proven ρ-replicable (S35); None unless p_in > r·p_out.

    When p_in ≥ 4r·p_out these are O(r·ln(1/ρ)/p_in) rows, where every distribution at once takes
    6.6·d³/(ρ²ε).

    Examples
    --------
    >>> gap_rows(34, 0.01, p_in=0.2, p_out=0.0005)
    827
    >>> gap_rows(34, 0.01, p_in=0.2, p_out=0.02) is None
    True
    """
    r, asked = at_least("rank", rank, 0), float(check_share("rho", rho))
    inner, outer = check_share("p_in", p_in), check_share("p_out", p_out)
    if inner <= r * outer:
        return None

    def enough(m: int) -> bool:
        t = 1 + binomial_least(m, float(outer), asked / 4)  # one half of ρ for each side
        return gap_rho(r, t, t, m, p_in=p_in, p_out=p_out) <= asked

    return smallest(enough)
