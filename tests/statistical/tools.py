"""Shared by the Monte-Carlo checks: samples as flags, exact disagreement, derived tolerances.

Every check has a mirror: the same experiment with the threshold divided by 100 must *violate* the
inequality, on a distribution made hard for that threshold. So no check passes for lack of power.
"""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from flagstone import distributions as laws
from flagstone.algebra.flag import Flag, merge_flags
from flagstone.algebra.staircase import Staircase
from flagstone.algebra.subspace import Subspace
from flagstone.guarantees import Window
from flagstone.rules import HeavyRule, IndexRule

RULES = {"index": IndexRule(), "heavy": HeavyRule()}

#: A correct bound may be reported broken, or a broken one correct, with at most this probability.
ALPHA = 1e-4


class Sample:
    """One sample of m rows: its distinct rows with weights, and its flag."""

    def __init__(self, law, m, rng, shards=1):
        sizes = [m // shards + (i < m % shards) for i in range(shards)]
        parts = [law.sample_weighted(size, rng) for size in sizes]
        self.rows = np.concatenate([rows for rows, _ in parts])
        self.weights = np.concatenate([weights for _, weights in parts])
        self.m = m
        flags = [Flag(law.dim, law.field).update(rows, weights) for rows, weights in parts]
        self.flag = merge_flags(flags)
        assert self.flag.n_rows == m

    def uncovered(self, space):
        """How many rows lie outside the space, counted row by row."""
        return int(self.weights[~space.contains(self.rows)].sum())


def pairs(law, m, count, seed, shards=1):
    rng = np.random.RandomState(seed)
    for _ in range(count):
        yield Sample(law, m, rng, shards), Sample(law, m, rng, shards)


def answer(rule, flag, t):
    return flag.span_at(RULES[rule].index(Staircase.of(flag), t))


def disagreement(window, first, second):
    """The exact share of thresholds of the window for which two flags give different answers."""
    chains = [
        [(level, flag.span_at(level.first)) for level in flag.levels()] for flag in (first, second)
    ]
    k, end = window.start, window.t_max
    cuts = {k, end} | {
        cut
        for chain in chains
        for level, _ in chain
        if k < (cut := level.last if window.rule == "index" else level.multiplicity) < end
    }
    bad = Fraction(0)
    for low, high in pairwise(sorted(cuts)):
        # The answers are constant on (low, high], so the right end speaks for all of it.
        if len({_chosen(window.rule, chain, high) for chain in chains}) > 1:
            bad += Fraction(high) - Fraction(low)
    return float(bad / Fraction(window.length))


def _chosen(rule, chain, t):
    for level, space in chain:
        if (level.last if rule == "index" else level.multiplicity) >= t:
            return space
    return None  # {0}


def disagreements(window, law, m, count, seed, shards=1):
    return [disagreement(window, a.flag, b.flag) for a, b in pairs(law, m, count, seed, shards)]


def lower_limit(values, alpha=ALPHA):
    """A lower confidence limit for the mean of i.i.d. values in [0, 1] (Chernoff, with KL)."""
    mean, n = float(np.mean(values)), len(values)
    low, high = 0.0, mean
    for _ in range(60):
        p = (low + high) / 2
        if n * _kl(mean, p) > math.log(1 / alpha):
            low = p
        else:
            high = p
    return low


def _kl(x, p):
    if p <= 0:
        return 0.0 if x == 0 else math.inf
    parts = x * math.log(x / p) if x else 0.0
    return parts + ((1 - x) * math.log((1 - x) / (1 - p)) if x < 1 else 0.0)


def holds(values, bound):
    """The values are no evidence, at level ALPHA, that their mean exceeds the bound."""
    return lower_limit(values) <= bound


def violated(values, bound):
    """The values prove, at level ALPHA, that their mean exceeds the bound."""
    return lower_limit(values) > bound


def on_basis(expected, m):
    """A law on unit vectors whose expected counts in m rows are given; the rest is on zero."""
    masses = np.asarray(expected, dtype=float) / m
    assert masses.sum() <= 1
    support = np.vstack([np.eye(len(masses), dtype=int), np.zeros((1, len(masses)), dtype=int)])
    return laws.Finite(support, [*masses, 1 - math.fsum(masses)])


def staircase(dim, length, m, start=0):
    """Hard for the index rule: counts spread over the upper three quarters of the window."""
    steps = (np.arange(dim) + 0.5) / dim
    return on_basis(start + length * (1 - 0.75 * steps), m)


def rising_gaps(dim, length, m):
    """Hard for the heavy rule: multiplicities that rise from the largest space to the smallest.

    They reach 0.9 of the window, or as far as m rows go.
    """
    counts = np.cumsum(length * (np.arange(dim) + 1) / dim)
    return on_basis(min(0.9, 0.99 * m / counts.sum()) * counts, m)


def rotated(law, seed):
    """The same law in another basis of F^d: nothing may depend on unit vectors."""
    rng = np.random.RandomState(seed)
    while True:
        basis = rng.randint(0, 2, size=(law.dim, law.dim))
        if Subspace.span(basis).dim == law.dim:
            return laws.Finite(law.support @ basis % 2, law.probabilities)


def rivals(dim, length, m):
    """Unit vectors and their sum, all equally likely: the last spaces are a matter of luck."""
    support = np.vstack([np.eye(dim, dtype=int), np.ones((1, dim), dtype=int)])
    masses = np.full(dim + 1, 0.9 * dim * length / (dim + 1) / m)
    support = np.vstack([support, np.zeros((1, dim), dtype=int)])
    return laws.Finite(support, [*masses, 1 - math.fsum(masses)])


def hard_laws(dim, m, window):
    """Distributions that are known to be hard, by name."""
    length, start = window.length, window.start
    just_below = length if window.rule == "index" else length / dim
    # The √d blocks need a square; the remaining columns stay zero.
    root = math.isqrt(dim)
    block = laws.blocks(root * root)
    padded = np.pad(block.support, ((0, 0), (0, dim - root * root)))
    plane = Subspace.span(np.eye(dim, dtype=int)[: dim // 2])
    return {
        "just below the threshold": rotated(staircase(dim, just_below, m, start), 1),
        "rising gaps": rotated(rising_gaps(dim, just_below, m), 2),
        "rival spaces": rivals(dim, just_below, m),
        "geometric": laws.geometric(dim),
        "square-root blocks": laws.Finite(padded, block.probabilities),
        "rare direction": laws.rare_direction(dim, m),
        "planted with outliers": laws.planted_subspace(plane, contamination=0.02),
    }


HARD = [
    "just below the threshold",
    "rising gaps",
    "rival spaces",
    "geometric",
    "square-root blocks",
    "rare direction",
    "planted with outliers",
]


def window_of(rule, length, start=0):
    return Window(rule, start + 1, start + length)
