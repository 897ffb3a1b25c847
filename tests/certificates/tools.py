"""Shared by the tests of certificates: g, h, G, H by definition; laws small enough to list."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from flagstone import GF, Flag, Subspace
from flagstone.algebra.lift import value_order
from flagstone.guarantees import future_coverage
from tests import naive


def g_of(space, chain, U):
    """How many spaces of a chain hold U."""
    return sum(space.within(U, V) for V in chain)


def h_of(space, chain, U):
    """How many spaces of a chain are not inside U."""
    return sum(not space.within(V, U) for V in chain)


def full_sets(space, rows, U):
    """G: how many sets of the first fit of the rows in U span U."""
    chain = naive.chain(space, [row for row in rows if space.contains(U, row)])
    return sum(V == U for V in chain)


def sets_modulo(space, rows, U):
    """H: how many sets the rows outside U make, where a set holds a row that it spans modulo U."""
    spans = []
    for row in rows:
        if space.contains(U, row):
            continue
        for j, V in enumerate(spans):
            if not space.contains(V, row):
                spans[j] = space.sum(V, space.span([row]))
                break
        else:
            spans.append(space.sum(U, space.span([row])))
    return len(spans)


class TinyLaw:
    """A distribution on a few vectors, with every sample of m rows and its probability."""

    def __init__(self, order, dim, masses):
        self.space = naive.ambient(order, dim)
        self.dim, self.order = dim, order
        self.masses = {tuple(row): Fraction(mass) for row, mass in masses.items()}
        assert sum(self.masses.values()) == 1

    def samples(self, m):
        for rows in product(self.masses, repeat=m):
            probability = Fraction(1)
            for row in rows:
                probability *= self.masses[row]
            yield rows, probability

    @cache  # noqa: B019  the few laws of the tests live as long as the process
    def chains(self, m, arrange=tuple):
        """Each chain that m rows can give, with its probability; `arrange` orders the rows."""
        found = {}
        for rows, probability in self.samples(m):
            chain = tuple(naive.chain(self.space, arrange(rows)))
            found[chain] = found.get(chain, 0) + probability
        return found

    def probability(self, holds):
        return sum(mass for row, mass in self.masses.items() if holds(row))

    def missed(self, V):
        """P[v ∉ V]."""
        return self.probability(lambda v: not self.space.contains(V, v))


def at(space, chain, t):
    return naive.at(space, chain, t)


def heavy(space, chain, t):
    """The largest space with at least t sets, {0} if there is none."""
    counts = naive.multiplicities(chain)
    return max((V for V, n in counts.items() if n >= t), key=space.size, default=space.zero())


LAWS = {
    "a line and a rare point": TinyLaw(2, 2, {(1, 1): "4/5", (1, 0): "1/5"}),
    "three points of a plane": TinyLaw(2, 2, {(1, 0): "1/2", (0, 1): "1/3", (1, 1): "1/6"}),
    "with a zero row": TinyLaw(2, 2, {(0, 0): "1/4", (1, 0): "1/2", (0, 1): "1/8", (1, 1): "1/8"}),
    "three axes": TinyLaw(2, 3, {(1, 0, 0): "6/10", (0, 1, 0): "3/10", (0, 0, 1): "1/10"}),
    "rivals": TinyLaw(
        2, 3, {(1, 0, 0): "3/8", (0, 1, 0): "3/8", (1, 1, 1): "1/8", (0, 0, 1): "1/8"}
    ),
    "over three": TinyLaw(3, 2, {(1, 0): "1/2", (1, 1): "1/4", (1, 2): "1/4"}),
}

#: Nested spaces for each of them, from {0} to everything.
TOWERS = {
    "a line and a rare point": [[(1, 1)]],
    "three points of a plane": [[(1, 0)]],
    "with a zero row": [[(1, 0)]],
    "three axes": [[(1, 0, 0)], [(1, 0, 0), (0, 1, 0)]],
    "rivals": [[(1, 0, 0)], [(1, 0, 0), (0, 1, 0)]],
    "over three": [[(1, 0)]],
}


def tower(name):
    space = LAWS[name].space
    return [space.zero(), *(space.span(rows) for rows in TOWERS[name]), space.full()]


def coverage_failures(trials, *, sorted_rows, confidence):
    """How often each bound of `future_coverage` is wrong, and how often the first says anything.

    Laws on GF(2)^3 with frequent and rare rows, samples of 30 to 800 rows, thresholds up to 8.
    """
    random, vectors = np.random.RandomState(7), np.array(list(product((0, 1), repeat=3)))
    failures, informative = [0, 0], 0
    for _ in range(trials):
        law = random.dirichlet(np.full(8, 0.2))
        m, t = int(random.choice([30, 200, 800])), int(random.randint(1, 9))
        rows = vectors[random.choice(8, size=m, p=law)]
        order = value_order(GF(2), GF(2).rows(rows)) if sorted_rows else slice(None)
        flag = Flag(3).update(rows[order])
        counts = flag.counts.tolist()
        bounds = future_coverage(counts, m, t, sorted_rows=sorted_rows, confidence=confidence)
        answers = (flag.span_at(t), Subspace.span(rows))
        for k, (bound, V) in enumerate(zip(bounds, answers, strict=True)):
            failures[k] += bound is not None and law[~V.contains(vectors)].sum() > bound
        informative += bounds[0] is not None
    return failures, informative
