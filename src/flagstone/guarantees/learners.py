"""Sizes of the learners of parities: PAC (the paper's Algorithm 2, S26), and pure-DP (S29).

A table with d features gives rows (x, y) of dimension D = d + 1, or (x, 1, y) of dimension
D = d + 2 with an intercept. The PAC learner pays half of ε for rows outside U*, half for
generalization. The pure-DP learner, for comparison, pays for confidence by *blocks*, each of which
must generalize by itself. Proofs: docs/theory/learners.md.
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
    times_log,
)
from flagstone.guarantees.rules import index_rows


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
    d = check_dim(dim)
    q: int | None = None if order is None else check_order(order)
    return None if q is None else q ** (d - 1)


class PrivateSizes(NamedTuple):
    """Blocks of the pure-DP learner: their number K, rows in each, rows held out for the choice."""

    blocks: int
    block_rows: int
    held_out: int


def blocks_needed(delta: Fraction) -> int:
    """K runs, each good with probability 1/4, leave none good with probability at most δ/2."""
    # Logarithms of the integers: 2/δ itself may be too large for floating point.
    log = math.log(2 * delta.denominator) - math.log(delta.numerator)
    return max(1, math.ceil(log / -math.log(3 / 4)))


def private_sizes(
    n_features: int, eps: Share, delta: Share, alpha: float = 1.0, *, order: int = 2
) -> PrivateSizes:
    """Blocks with which the pure-DP learner errs on at most ε at confidence 1 − δ (S29).

    K = ⌈ln(2/δ)/ln(4/3)⌉ blocks of (8q/(αε))·(d·ln q + ln 2) rows, and a held-out block of
    max((32/ε)·ln(4K/δ), (16/(αε))·ln(8K/δ)) rows.

    Examples
    --------
    Ten times the confidence takes more blocks, of the same size:

    >>> private_sizes(20, 0.1, 0.1)
    PrivateSizes(blocks=11, block_rows=2329, held_out=1948)
    >>> private_sizes(20, 0.1, 0.01)
    PrivateSizes(blocks=19, block_rows=2329, held_out=2860)
    """
    d, e = positive("n_features", n_features), float(check_share("eps", eps))
    blocks, share = blocks_needed(check_share("delta", delta)), float(delta)
    q = check_order(order)
    a = _alpha(alpha, q)
    block_rows = 8 * q / (a * e) * (d * math.log(q) + math.log(2))
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
    (27567, 27948)
    """
    blocks, block_rows, held_out = private_sizes(n_features, eps, delta, alpha, order=order)
    if equal_blocks:
        return (blocks + 1) * max(block_rows, held_out)
    return blocks * block_rows + held_out


def _alpha(alpha: Any, order: int) -> float:
    number = isinstance(alpha, Real) and not isinstance(alpha, bool)
    if not number or not 0 < alpha <= order:
        raise InputError(f"alpha must lie in (0, {order}], got {alpha!r}")
    return float(alpha)
