"""Sizes of the pure-DP parity learner. Proof: docs/theory/learners.md, S29.

For comparison: it pays for confidence by *blocks*, each of which must generalize by itself, where
the replicable learner pays by a term of its one sample (S26).
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

from flagstone.errors import InputError
from flagstone.guarantees.exact import Share, check_order, check_share, positive


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
