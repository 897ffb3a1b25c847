"""The paper's analysis of Algorithm 1: as printed, and with the corrected sensitivity.

Proofs and the counterexample to the printed sensitivity: docs/theory/guarantees.md, S14 and S15.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flagstone.guarantees.exact import (
    Share,
    check_dim,
    check_share,
    positive,
    root,
    times_log,
)

# Printed: gap ≤ 3·√(m ln 1/δ). Replacing a row moves a multiplicity by 2, not 1, which makes it 4.
_PRINTED, _CORRECTED = 3, 4


def _gap_constant(corrected: bool) -> int:
    return _CORRECTED if corrected else _PRINTED


def _log_floor(corrected: bool) -> float:
    # The step 2√m + 2√(m·L) ≤ 4√(m·L) needs L ≥ 1; below that L is replaced by 1.
    return 1.0 if corrected else 0.0


def paper_gap(n_rows: int, delta: Share, *, corrected: bool = False) -> float:
    """Bound on max_V ``|n_1(V) - n_2(V)|`` of two samples, at confidence 1 - delta (S14, S15).

    The paper's key lemma prints 3·√(m·ln(1/δ)), from a sensitivity of 1 to replaced rows. The
    sensitivity is 2, and the argument gives 2√m + 2√(m·ln(1/δ)), at most 4·√(m·ln(1/δ)) when
    δ ≤ 1/e; for larger δ the logarithm is replaced by 1.

    Examples
    --------
    >>> paper_gap(10_000, 0.01) < paper_gap(10_000, 0.01, corrected=True)
    True
    """
    m, share = positive("n_rows", n_rows), check_share("delta", delta)
    log = times_log(Fraction(m), 1 / share, at_least=_log_floor(corrected))
    return _gap_constant(corrected) * root(log)


def paper_length(dim: int, rho: Share, n_rows: int, *, corrected: bool = False) -> float:
    """T_max of the paper's theorem on the replicable linear span (S14; corrected: S15).

    Printed: (12d/ρ)·√(m·ln(2/ρ)). Corrected: (16d/ρ)·√(m·ln(2/ρ)), with ln(2/ρ) replaced by 1
    where it is smaller (ρ > 2/e).

    Notes
    -----
    **Guarantees**

    With the corrected value Algorithm 1 is ρ-replicable, by the paper's own argument. The printed
    value is enough as well, but by another proof (S16 needs far less), not by the printed one.

    Examples
    --------
    >>> round(paper_length(10, 0.1, 10_000))
    207698
    >>> round(paper_length(10, 0.1, 10_000, corrected=True))
    276931
    """
    d, share, m = check_dim(dim), check_share("rho", rho), positive("n_rows", n_rows)
    factor = (4 * _gap_constant(corrected) * d / share) ** 2 * m
    return root(times_log(factor, 2 / share, at_least=_log_floor(corrected)))


def paper_rows(dim: int, rho: Share, eps: Share, *, corrected: bool = False) -> int:
    """Rows after which the paper's Algorithm 1 is ρ-replicable and covers 1 - ε (S14, S15).

    Printed: 144·d⁶·ln(2/ρ)/(ρε)². Corrected: 256 in place of 144.

    Examples
    --------
    >>> f"{paper_rows(20, 0.05, 0.1):.1e}"
    '1.4e+15'
    >>> round(144 / 256 * paper_rows(10, 0.1, 0.1, corrected=True)) == paper_rows(10, 0.1, 0.1)
    True
    """
    d, r, e = check_dim(dim), check_share("rho", rho), check_share("eps", eps)
    factor = (4 * _gap_constant(corrected) * d**3 / (r * e)) ** 2
    return math.ceil(times_log(factor, 2 / r, at_least=_log_floor(corrected)))
