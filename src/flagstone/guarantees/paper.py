"""Sizes of the paper's algorithms: Algorithm 1, the learner of parities, the private learners.

Algorithm 1 as printed, and with the corrected sensitivity: docs/theory/guarantees.md, S14 and S15,
with the counterexample to the printed one. The PAC learner of parities (Algorithm 2, S26) and the
private learners (S29, S47): docs/theory/learners.md.

A table with d features gives rows (x, y) of dimension D = d + 1, or (x, 1, y) of dimension
D = d + 2 with an intercept. The PAC learner pays half of ε for rows outside U*, half for
generalization. The pure-DP learner is there for comparison: it pays for confidence by *blocks*,
each of which must generalize by itself, where the replicable learner pays by a term of its one
sample (S26).
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

from flagstone.errors import InputError
from flagstone.guarantees.exact import (
    Share,
    check_order,
    check_share,
    positive,
    root,
    smallest,
    times_log,
)
from flagstone.guarantees.rules import index_rows

#: Printed: gap ≤ 3·√(m ln 1/δ). Replacing a row moves a multiplicity by 2, not 1: 4, and the step
#: 2√m + 2√(m·L) ≤ 4√(m·L) needs L ≥ 1; below that L is replaced by 1.
_CONSTANT_AND_LEAST_LOG = {False: (3, 0.0), True: (4, 1.0)}


def paper_gap(n_rows: int, delta: Share, *, corrected: bool = False) -> float:
    """Bound on max_V ``|n_1(V) - n_2(V)|`` of two samples, at confidence 1 - delta (S14, S15).

    The paper's key lemma prints 3·√(m·ln(1/δ)), from a sensitivity of 1 to replaced rows. The
    sensitivity is 2, and removing rows gives 2√m + 2√(m·ln(1/δ)), at most 4·√(m·ln(1/δ)) when
    δ ≤ 1/e; for larger δ the logarithm is replaced by 1.

    Examples
    --------
    >>> paper_gap(10_000, 0.01) < paper_gap(10_000, 0.01, corrected=True)
    True
    """
    m, share = positive("n_rows", n_rows), check_share("delta", delta)
    constant, least = _CONSTANT_AND_LEAST_LOG[corrected]
    return constant * root(times_log(Fraction(m), 1 / share, at_least=least))


def paper_length(dim: int, rho: Share, n_rows: int, *, corrected: bool = False) -> float:
    """T_max of the paper's theorem on the replicable linear span (S14; corrected: S15).

    Printed: (12d/ρ)·√(m·ln(2/ρ)). Corrected: (16d/ρ)·√(m·ln(2/ρ)), with ln(2/ρ) replaced by 1
    where it is smaller (ρ > 2/e).

    Notes
    -----
    **Guarantees**

    With the corrected value Algorithm 1 is ρ-replicable, by the paper's argument with another
    bound on the mean. The printed value is enough as well, but by another proof (S16 needs far
    less), not by the printed one.

    Examples
    --------
    >>> round(paper_length(10, 0.1, 10_000))
    207698
    >>> round(paper_length(10, 0.1, 10_000, corrected=True))
    276931
    """
    d, share, m = positive("dim", dim), check_share("rho", rho), positive("n_rows", n_rows)
    constant, least = _CONSTANT_AND_LEAST_LOG[corrected]
    return root(times_log((4 * constant * d / share) ** 2 * m, 2 / share, at_least=least))


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
    d, r, e = positive("dim", dim), check_share("rho", rho), check_share("eps", eps)
    constant, least = _CONSTANT_AND_LEAST_LOG[corrected]
    return math.ceil(times_log((4 * constant * d**3 / (r * e)) ** 2, 2 / r, at_least=least))


def generalization_rows(dim: int, eps: Share, delta: Share, *, order: int | None = 2) -> int | None:
    """m ≥ 8·((D-1)·ln q + ln(1/δ))/ε: small empirical error is small error (S26).

    With these rows, at confidence 1 - δ, each of the q^(D-1) linear rules with at most ε/2 of the
    rows wrong has error at most ε. None over QQ (`order=None`), where the rules are infinitely
    many and this count of them says nothing.

    Examples
    --------
    >>> generalization_rows(21, 0.1, 0.05)
    1349
    >>> generalization_rows(21, 0.1, 0.05, order=None) is None
    True
    """
    e, share = check_share("eps", eps), check_share("delta", delta)
    rules = _linear_rules(dim, order)
    return None if rules is None else math.ceil(times_log(8 / e, rules / share))


def parity_rows(
    dim: int,
    rho: Share,
    eps: Share,
    delta: Share,
    *,
    order: int | None = 2,
    contamination: Share = 0.0,
) -> int | None:
    """Rows with which the parity learner is ρ-replicable and (ε, δ)-PAC, index rule (S26).

    The larger of 2·D·T(D)/ε and 8·((D-1)·ln q + ln(1/δ))/ε, D = `dim` the dimension of the rows
    (`ParityQuestion.dim`). None where no number of rows is proven to suffice (QQ; heavy
    contamination).

    Examples
    --------
    >>> parity_rows(21, 0.05, 0.1, 0.05) == index_rows(21, 0.05, 0.05)  # replicability decides
    True
    """
    half = check_share("eps", eps) / 2
    span = index_rows(dim, rho, half, contamination=contamination)
    general = generalization_rows(dim, eps, delta, order=order)
    return None if span is None or general is None else max(span, general)


def parity_failure(dim: int, eps: Share, n_rows: int, *, order: int | None = 2) -> float | None:
    """δ = min(1, q^(D-1)·exp(-εm/8)): the confidence that m rows give (S26); None over QQ.

    Examples
    --------
    >>> parity_failure(21, 0.1, generalization_rows(21, 0.1, 0.05)) <= 0.05
    True
    """
    e, m = check_share("eps", eps), positive("n_rows", n_rows)
    rules = _linear_rules(dim, order)
    return None if rules is None else math.exp(min(0.0, math.log(rules) - float(e * m / 8)))


def parity_error(dim: int, delta: Share, n_rows: int, *, order: int | None = 2) -> float | None:
    """ε = 8·((D-1)·ln q + ln(1/δ))/m: the error that m rows allow to promise (S26); None over QQ.

    Valid when at most ε/2 of the rows are left wrong. A value ≥ 1 says nothing.

    Examples
    --------
    >>> parity_error(21, 0.05, generalization_rows(21, 0.1, 0.05)) <= 0.1
    True
    """
    share, m = check_share("delta", delta), positive("n_rows", n_rows)
    rules = _linear_rules(dim, order)
    return None if rules is None else float(times_log(Fraction(8, m), rules / share))


def _linear_rules(dim: int, order: int | None) -> int | None:
    """How many linear rules there are: q^(D-1); None for infinitely many."""
    d = positive("dim", dim)
    q: int | None = None if order is None else check_order(order)
    return None if q is None else q ** (d - 1)


class PrivateSizes(NamedTuple):
    """Blocks of the pure-DP learner: their number K, rows in each, rows held out for the choice."""

    blocks: int
    block_rows: int
    held_out: int


def blocks_needed(delta: Fraction) -> int:
    """K: if each of K runs is good with probability 1/4, none is with probability at most δ/2."""
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
    d, T, m = positive("dim", dim), positive("length", length), positive("n_rows", n_rows)
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
    d, e = positive("dim", dim), float(check_share("eps", eps))
    r, a = float(check_share("rho", rho)), _alpha(alpha)
    low = 4 / a * math.log(d / float(check_share("failure", failure)))
    tau = private_span_start(alpha, delta)

    def enough(m: int) -> bool:
        T = smallest(lambda T: private_span_rho(d, T, m, alpha, delta) <= r)
        return (tau + T + low) * d * (d + 1) / 2 <= e * m

    return smallest(enough)
