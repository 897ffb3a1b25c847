"""Replicable and private at once: Algorithm 1 with secret noise on the multiplicities (S47)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flagstone.algebra import FieldLike, Flag, Subspace, as_field, width
from flagstone.answers import ParityRule
from flagstone.coins import Coins
from flagstone.guarantees import private_span_rho, private_span_start
from flagstone.guarantees.exact import positive
from flagstone.paper.private_learner import RandomSource, integer_laplace
from flagstone.question import ParityQuestion

#: Draws integer noise of law ∝ exp(−γ|z|) from secret randomness.
Noise = Callable[[Fraction, RandomSource], int]


@dataclass(frozen=True)
class PrivateSpan:
    """A span that is replicable and private, and what is proven of it. Nothing else is kept.

    Attributes
    ----------
    subspace : Subspace
        V*: the largest space whose noisy multiplicity reaches the threshold; {0} if none does.
    alpha, delta : float
        Of differential privacy, for one replaced row; the number of rows is public.
    rho : float
        Two samples of this many rows, with the same seed, disagree with at most this probability;
        1 or more says nothing.
    threshold : int
        Drawn by the published coins from {start + 1..start + length}.
    start, length : int
    """

    subspace: Subspace
    alpha: float
    delta: float
    rho: float
    threshold: int
    start: int
    length: int


def private_span(
    X: Any,
    *,
    alpha: float,
    delta: float,
    length: int,
    random_state: int | str,
    field: FieldLike = 2,
    source: RandomSource | None = None,
) -> PrivateSpan:
    """Return a span of rows that comes out the same on a fresh sample and protects every row.

    Each space of the stable partition has a multiplicity. Secret noise is added to it, and the
    largest space whose noisy multiplicity reaches a published random threshold is the answer.

    Parameters
    ----------
    X : rows over the field
    alpha, delta : float
        The privacy that is promised.
    length : int
        T, the number of thresholds: a longer window is more replicable, and covers less. See
        :func:`~flagstone.guarantees.private_span_rho` and
        :func:`~flagstone.guarantees.private_span_rows`.
    random_state : int or str
        The published seed, for the threshold.
    field : Field, int or str, default=2
    source : RandomSource, optional
        Of the noise, which must be secret: by default the system's entropy. Another one is for
        tests and voids privacy.

    Notes
    -----
    **Guarantees**

    (α, δ)-differentially private for one replaced row; two samples of m rows disagree with
    probability at most ``rho`` (docs/theory/learners.md, S47). Running time is not kept secret.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(1).randint(0, 2, size=(6000, 4))
    >>> X[:, 3] = X[:, 0] ^ X[:, 1]
    >>> span = private_span(X, alpha=1.0, delta=1e-6, length=900, random_state=2026)
    >>> span.subspace.dim, span.start, span.rho < 1
    (3, 57, True)
    """
    F = as_field(field)
    rows = F.rows(X)
    flag = Flag(width(rows), F).update(rows)
    return noisy_heavy(flag, alpha, delta, length, Coins(random_state), source or RandomSource())


def private_parity(
    X: Any,
    y: Any,
    *,
    alpha: float,
    delta: float,
    length: int,
    random_state: int | str,
    field: FieldLike = 2,
    source: RandomSource | None = None,
) -> ParityRule:
    """Return a linear rule that comes out the same on a fresh sample and protects every row.

    Algorithm 2 on top of `private_span`: rows (x, y), and a rule drawn by the published coins among
    those that fit the span; ⊥ where none does. Parameters and guarantees as there.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(1).randint(0, 2, size=(6000, 4))
    >>> rule = private_parity(
    ...     X, X[:, 0] ^ X[:, 3], alpha=1.0, delta=1e-6, length=900, random_state=2026)
    >>> print(rule)
    y = x0 ⊕ x3
    """
    F = as_field(field)
    rows = ParityQuestion().lift(F, F.rows(X), F.elements(y))
    span = private_span(
        rows,
        alpha=alpha,
        delta=delta,
        length=length,
        random_state=random_state,
        field=F,
        source=source,
    )
    return ParityRule.from_subspace(span.subspace, coins=Coins(random_state))


def noisy_heavy(
    flag: Flag,
    alpha: float,
    delta: float,
    length: int,
    coins: Coins,
    source: RandomSource,
    noise: Noise = integer_laplace,
) -> PrivateSpan:
    """Choose the largest space whose noisy multiplicity reaches the threshold (S47)."""
    start, T = private_span_start(alpha, delta), positive("length", length)
    t = start + 1 + math.floor(Fraction(coins.uniform("threshold")) * T)
    gamma = Fraction(alpha) / 4
    # every space gets its noise, whether or not a larger one was heavy
    heavy = [
        flag.span_at(level.first)
        for level in flag.levels()
        if level.multiplicity + noise(gamma, source) >= t
    ]
    chosen = max(heavy, key=lambda V: V.dim, default=Subspace.zero(flag.dim, flag.field))
    rho = private_span_rho(flag.dim, T, flag.n_rows, alpha, delta)
    return PrivateSpan(chosen, float(alpha), float(delta), rho, t, start, T)
