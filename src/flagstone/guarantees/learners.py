"""Sizes of the PAC learner of parities (the paper's Algorithm 2, S26).

A table with d features gives rows (x, y) of dimension D = d + 1, or (x, 1, y) of dimension
D = d + 2 with an intercept. The PAC learner pays half of ε for rows outside U*, half for
generalization. Proofs: docs/theory/learners.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

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
