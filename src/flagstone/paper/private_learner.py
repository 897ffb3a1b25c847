"""The pure-DP parity learner of Kasiviswanathan et al., as functions of rows and secret randomness.

Neighbouring data sets differ in one row (x, y); the number of rows is public. Every source of
randomness below is a parameter, so that a test can walk through all outcomes with their exact
probabilities.
"""

from __future__ import annotations

import decimal
import itertools
import math
import os
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from flagstone.algebra import Array, Field, Rows, Subspace, width
from flagstone.answers import ParityRule
from flagstone.guarantees.paper import blocks_needed


class RandomSource:
    """Secret randomness: from the operating system, never from a seed."""

    def __init__(self) -> None:
        self._random = random.SystemRandom()

    def coin(self, p: Fraction) -> bool:
        """Return True with probability exactly p."""
        return self.below(p.denominator) < p.numerator

    def below(self, n: int) -> int:
        """Return a uniform integer from 0 to n − 1."""
        return self._random.randrange(n)

    def subset(self, n: int, p: Fraction) -> Array:
        """Return n independent coins; p is rounded down to a multiple of 2^-64."""
        words = np.frombuffer(os.urandom(8 * n), dtype=np.uint64)
        return words < np.uint64(int(p * 2**64))

    def vector(self, name: str, field: Field, length: int) -> Array:
        """Return a uniform vector; the name is only there for published coins."""
        assert field.order is not None
        draws = [self.below(field.order) for _ in range(length)]
        return np.array(draws, dtype=field.dtype)


class SeededSource(RandomSource):
    """Reproducible randomness for tests and experiments: not private."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def coin(self, p: Fraction) -> bool:
        """Return True with probability p."""
        return bool(self._generator.random() < float(p))

    def below(self, n: int) -> int:
        """Return a uniform integer from 0 to n − 1, however large n is."""
        bits = (n - 1).bit_length()
        while True:
            draw = int.from_bytes(self._generator.bytes(-(-bits // 8)), "big") >> (-bits % 8)
            if draw < n:
                return draw

    def subset(self, n: int, p: Fraction) -> Array:
        """Return n independent coins."""
        return self._generator.random(n) < float(p)

    def vector(self, name: str, field: Field, length: int) -> Array:
        """Return a uniform vector."""
        assert field.order is not None
        return self._generator.integers(field.order, size=length).astype(field.dtype)


def keep_rate(alpha: Fraction, order: int) -> Fraction:
    """Return p = (e^α − 1)/(q + e^α − 1), the probability with which a row is kept (S29).

    One kept row cuts the solutions to a share 1/q, to nothing, or not at all; so exchanging a
    row changes the probability of a rule by at most the factor 1 + qp/(1 − p), which is e^α. The
    factor rises with p, so p may be rounded down: to a multiple of 2^-64, which a draw of 64 bits
    has exactly.

    >>> keep_rate(Fraction(1), 2) < Fraction("0.46211715726000976") < 2 * keep_rate(Fraction(1), 2)
    True
    """
    grown = exp_below(min(alpha, Fraction(64))) - 1  # beyond that p is 1 but for less than 2^-64
    return Fraction(math.floor(grown / (order + grown) * 2**64), 2**64)


def exp_below(x: Fraction) -> Fraction:
    """Return a number just below e^x, for x > 0: decimals round exp correctly, then one step down.

    >>> 2.718281828459045 < exp_below(Fraction(1)) < Fraction("2.71828182845904523536028747136")
    True
    """
    with decimal.localcontext(prec=60, rounding=decimal.ROUND_FLOOR) as digits:
        exponent = decimal.Decimal(int(x.numerator)) / int(x.denominator)
        return max(Fraction(1), Fraction(digits.next_minus(exponent.exp())))


def base_learner(
    rows: Rows, field: Field, alpha: Fraction, source: RandomSource, *, fit_intercept: bool = False
) -> ParityRule:
    """Learn a rule from rows (x, y), or (x, 1, y), with α-differential privacy.

    With probability ½ the answer is ⊥, for any data. Otherwise each row is kept with
    probability p (`keep_rate`), and the answer is a uniform solution of the kept equations, ⊥ if
    there is none.

    Notes
    -----
    **Guarantees**

    For any two neighbouring data sets the probabilities of each rule, and of ⊥, are
    within a factor exp(α) of each other.
    """
    assert field.order is not None
    dim = width(rows) - (2 if fit_intercept else 1)
    if source.coin(Fraction(1, 2)):
        return ParityRule.bottom(dim, field)
    kept = rows[source.subset(len(rows), keep_rate(alpha, field.order))]
    span = Subspace.span(kept, field) if len(kept) else Subspace.zero(width(rows), field)
    return ParityRule.from_subspace(span, coins=source, fit_intercept=fit_intercept)


def split(n_rows: int, n_blocks: int) -> list[slice]:
    """Return ``n_blocks`` equal blocks of rows and, last, the held-out block with the rest."""
    size = n_rows // (n_blocks + 1)
    edges = [i * size for i in range(n_blocks + 1)] + [n_rows]
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


def noisy_argmin(scores: Sequence[int], alpha: Fraction, source: RandomSource) -> int:
    """Return the place of the smallest score after integer Laplace noise of scale 2/α.

    Notes
    -----
    **Guarantees**

    α-differentially private when a change of one row moves each score by at most 1: the other
    scores and the noise of the others held fixed, the winner's noise is shifted by at most 2.
    The noise is integer and drawn exactly, so that no rounding can tell neighbours apart.
    """
    noisy = [score + integer_laplace(alpha / 2, source) for score in scores]
    return noisy.index(min(noisy))


def integer_laplace(gamma: Fraction, source: RandomSource) -> int:
    """Draw z with probability proportional to exp(−γ|z|): a difference of two geometric draws."""
    return _geometric(gamma, source) - _geometric(gamma, source)


def _geometric(gamma: Fraction, source: RandomSource) -> int:
    """Draw n with probability proportional to exp(−γn), in a number of steps that knows no γ.

    The draw of Canonne, Kamath and Steinke ("The Discrete Gaussian for Differential Privacy",
    2020): with γ = s/t, x = u + t·v has a law proportional to exp(−x/t) when the remainder u and
    the quotient v have theirs; n = ⌊x/s⌋. Exact, by coins of rational probability alone.
    """
    s, t = gamma.numerator, gamma.denominator
    u = source.below(t)
    while not _exp_coin(Fraction(u, t), source):
        u = source.below(t)
    v = 0
    while _exp_coin(Fraction(1), source):
        v += 1
    return (u + t * v) // s


def _exp_coin(gamma: Fraction, source: RandomSource) -> bool:
    """Return True with probability exp(−γ), by coins of rational probability alone."""
    while gamma > 1:
        if not _exp_coin(Fraction(1), source):
            return False
        gamma -= 1
    # Von Neumann: the first K with a failure among coins γ/1, γ/2, … is odd with this probability.
    k = 1
    while source.coin(gamma / k):
        k += 1
    return k % 2 == 1


def boosted_learner(
    rows: Rows,
    field: Field,
    alpha: Fraction,
    delta: Fraction,
    source: RandomSource,
    *,
    choice_alpha: Fraction,
    fit_intercept: bool = False,
) -> tuple[ParityRule, slice]:
    """Run the base learner on disjoint blocks and choose among its rules on the held-out one.

    Notes
    -----
    **Guarantees**

    A row lies in one block only, and what happens on the others is the same or
    post-processing: α-differentially private for rows of the learning blocks, and
    ``choice_alpha`` for those of the held-out one.
    """
    *blocks, held_out = split(len(rows), blocks_needed(delta))
    learned = [
        base_learner(rows[block], field, alpha, source, fit_intercept=fit_intercept)
        for block in blocks
    ]
    candidates = [rule for rule in learned if not rule.is_bottom]
    if not candidates:
        return learned[0], held_out
    table = field.array(rows[held_out])
    X, y = table[:, : candidates[0].dim], table[:, -1]
    wrong = [int(np.count_nonzero(~rule.check(X, y))) if len(X) else 0 for rule in candidates]
    return candidates[noisy_argmin(wrong, choice_alpha, source)], held_out
