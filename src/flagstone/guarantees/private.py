"""Sizes of the private learners. Proofs: docs/theory/learners.md, S29 and S47.

The pure-DP learner is there for comparison: it pays for confidence by *blocks*, each of which must
generalize by itself, where the replicable learner pays by a term of its one sample (S26).
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

from flagstone.errors import InputError
from flagstone.guarantees.exact import (
    Share,
    check_dim,
    check_order,
    check_share,
    positive,
    smallest,
)


class PrivateSizes(NamedTuple):
    """Blocks of the pure-DP learner: their number K, rows in each, rows held out for the choice."""

    blocks: int
    block_rows: int
    held_out: int


def blocks_needed(delta: Fraction) -> int:
    """K: so many runs, each good with probability 1/4, leave none good with at most δ/2."""
    # Logarithms of the integers: 2/δ itself may be too large for floating point.
    log = math.log(2 * delta.denominator) - math.log(delta.numerator)
    return max(1, math.ceil(log / -math.log(3 / 4)))


def private_sizes(
    n_features: int, eps: Share, delta: Share, alpha: float = 1.0, *, order: int = 2
) -> PrivateSizes:
    """Blocks with which the pure-DP learner errs on at most ε at confidence 1 − δ (S29).

    K = ⌈ln(2/δ)/ln(4/3)⌉ blocks of (4/(pε))·(d·ln q + ln 2) rows, p = (e^α − 1)/(q + e^α − 1), and
    a held-out block of max((32/ε)·ln(4K/δ), (16/(αε))·ln(8K/δ)) rows.

    Examples
    --------
    Ten times the confidence takes more blocks, of the same size:

    >>> private_sizes(20, 0.1, 0.1)
    PrivateSizes(blocks=11, block_rows=1260, held_out=1948)
    >>> private_sizes(20, 0.1, 0.01)
    PrivateSizes(blocks=19, block_rows=1260, held_out=2860)
    """
    d, e = positive("n_features", n_features), float(check_share("eps", eps))
    blocks, share = blocks_needed(check_share("delta", delta)), float(delta)
    q, a = check_order(order), _alpha(alpha)
    keep = -math.expm1(-a) / (1 + (q - 1) * math.exp(-a))
    block_rows = 4 / (keep * e) * (d * math.log(q) + math.log(2))
    held_out = max(
        32 / e * math.log(4 * blocks / share), 16 / (a * e) * math.log(8 * blocks / share)
    )
    return PrivateSizes(blocks, math.ceil(block_rows), math.ceil(held_out))


def private_rows(
    n_features: int,
    eps: Share,
    delta: Share,
    alpha: float = 1.0,
    *,
    order: int = 2,
    equal_blocks: bool = False,
) -> int:
    """Rows that suffice for the pure-DP learner: of the order d·ln(1/δ)/(εα) (S29).

    With ``equal_blocks`` those of :class:`~flagstone.paper.PrivateParityClassifier` (unless it
    answers ⊥ by a majority, which takes half of α from the choice), whose held-out block is as
    large as the others; without, of the learner that divides its rows best.

    Examples
    --------
    >>> private_rows(20, 0.1, 0.1), private_rows(20, 0.1, 0.1, equal_blocks=True)
    (15808, 23376)
    """
    blocks, block_rows, held_out = private_sizes(n_features, eps, delta, alpha, order=order)
    if equal_blocks:
        return (blocks + 1) * max(block_rows, held_out)
    return blocks * block_rows + held_out


def _alpha(alpha: Any) -> float:
    number = isinstance(alpha, Real) and not isinstance(alpha, bool)
    if not number or not 0 < alpha < math.inf:
        raise InputError(f"alpha must be positive, got {alpha!r}")
    return float(alpha)


def private_span_start(alpha: float, delta: Share) -> int:
    """τ = 1 + ⌈(4/α)·ln(1/δ)⌉: thresholds above it are (α, δ)-private (S47).

    Notes
    -----
    **Guarantees**

    With integer Laplace noise of law ∝ exp(−α|z|/4) on the multiplicity of every space that occurs.
    Needs δ ≤ 1 − exp(−α/4), which holds unless α is about as small as 4δ.

    Examples
    --------
    >>> private_span_start(1.0, 1e-6)
    57
    """
    a, share = _alpha(alpha), check_share("delta", delta)
    if float(share) > -math.expm1(-a / 4):
        raise InputError(f"delta must be at most 1 - exp(-alpha/4), got {delta!r} at alpha={a:g}")
    log = math.log(share.denominator) - math.log(share.numerator)
    return 1 + math.ceil(4 / a * log * (1 + 1e-12))


def private_span_rho(dim: int, length: int, n_rows: int, alpha: float, delta: Share) -> float:
    """Two samples of m rows disagree with at most this probability (S47).

    (√(8dm) + 8d/α)/T, or (√(8dN) + 8d/α + 1)/T with N = d²(τ + T + z) and z = ⌈(4/α)·ln(2dT)⌉,
    whichever is less. The root is that of the rule without noise (S16, S17), 8d/α the noise of both
    runs.

    Examples
    --------
    >>> private_span_rho(5, 10_000, 100_000, 1.0, 1e-6) < 0.25
    True
    >>> private_span_rho(5, 10_000, 100_000, 0.01, 1e-6) > 0.5
    True
    """
    d, T, m = check_dim(dim), positive("length", length), positive("n_rows", n_rows)
    a, tau = _alpha(alpha), private_span_start(alpha, delta)
    N = d * d * (tau + T + math.ceil(4 / a * math.log(2 * d * T)))
    return (min(math.sqrt(8 * d * m), math.sqrt(8 * d * N) + 1) + 8 * d / a) / T


def private_span_rows(
    dim: int, rho: Share, eps: Share, alpha: float, delta: Share, *, failure: Share = 0.05
) -> int:
    """Rows that suffice to be ρ-replicable, (α, δ)-private, and to cover 1 - ε of the rows (S47).

    The last but for a probability ``failure`` of the noise.

    Examples
    --------
    What both cost together is mostly what replicability costs alone:

    >>> from flagstone.guarantees import heavy_rows
    >>> 1 < private_span_rows(20, 0.1, 0.1, 1.0, 1e-6) / heavy_rows(20, 0.1, 0.1) < 1.01
    True
    """
    d, e = check_dim(dim), float(check_share("eps", eps))
    r, a = float(check_share("rho", rho)), _alpha(alpha)
    low = 4 / a * math.log(d / float(check_share("failure", failure)))
    tau = private_span_start(alpha, delta)

    def enough(m: int) -> bool:
        T = smallest(lambda T: private_span_rho(d, T, m, alpha, delta) <= r)
        return (tau + T + low) * d * (d + 1) / 2 <= e * m

    return smallest(enough)
