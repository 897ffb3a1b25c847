"""The oracle: linear algebra by definition, independent of everything in `src`.

Elements are Python integers (or fractions), field tables come from polynomial arithmetic, and a
subspace of a tiny space is the *set of its vectors*. Where the space is too large to list
(GF(251), GF(65521), QQ, wide rows over GF(2)) a subspace is its reduced row echelon form by
schoolbook elimination. Both forms answer the same questions, so a property is written once.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

#: Largest number of vectors that we are willing to list.
LISTABLE = 1024

#: Conway polynomials, constant term first, from the published tables.
CONWAY = {
    4: (1, 1, 1),
    8: (1, 1, 0, 1),
    9: (2, 2, 1),
    16: (1, 1, 0, 0, 1),
    25: (2, 4, 1),
    27: (1, 2, 0, 1),
    243: (1, 2, 0, 0, 0, 1),
    256: (1, 0, 1, 1, 1, 0, 0, 0, 1),
}


class Rationals:
    """QQ, by `fractions.Fraction`."""

    order = None
    zero, one = Fraction(0), Fraction(1)

    def element(self, a):
        return Fraction(a)

    def add(self, a, b):
        return a + b

    def neg(self, a):
        return -a

    def mul(self, a, b):
        return a * b

    def inv(self, a):
        return 1 / a


class Primes:
    """GF(p), by the remainder of integers."""

    zero, one = 0, 1

    def __init__(self, p):
        self.order = p

    def element(self, a):
        assert 0 <= a < self.order
        return int(a)

    def add(self, a, b):
        return (a + b) % self.order

    def neg(self, a):
        return -a % self.order

    def mul(self, a, b):
        return a * b % self.order

    def inv(self, a):
        return pow(a, self.order - 2, self.order)


class Extension(Primes):
    """GF(p^k): integers whose digits in base p are coefficients, modulo the Conway polynomial."""

    def __init__(self, q):
        self.order = q
        self.modulus = CONWAY[q]
        self.degree = len(self.modulus) - 1
        self.p = round(q ** (1 / self.degree))

    def digits(self, a):
        return [a // self.p**i % self.p for i in range(self.degree)]

    def number(self, digits):
        return sum(digit % self.p * self.p**i for i, digit in enumerate(digits))

    def add(self, a, b):
        return self.number(x + y for x, y in zip(self.digits(a), self.digits(b), strict=True))

    def neg(self, a):
        return self.number(-x for x in self.digits(a))

    @cache  # noqa: B019  the few fields of the tests live as long as the process
    def mul(self, a, b):
        product_ = [0] * (2 * self.degree - 1)
        for i, x in enumerate(self.digits(a)):
            for j, y in enumerate(self.digits(b)):
                product_[i + j] += x * y
        for top in range(len(product_) - 1, self.degree - 1, -1):
            factor = product_[top]
            for i, coefficient in enumerate(self.modulus):
                product_[top - self.degree + i] -= factor * coefficient
        return self.number(product_[: self.degree])

    @cache  # noqa: B019
    def inv(self, a):
        return next(b for b in range(self.order) if self.mul(a, b) == 1)


@cache
def field(order):
    """Return the arithmetic of a field given by its order, or by "QQ"."""
    if order == "QQ":
        return Rationals()
    return Extension(order) if order in CONWAY else Primes(order)


class Ambient:
    """F^dim, with the questions that both forms of a subspace answer."""

    def __init__(self, order, dim):
        self.F = field(order)
        self.order, self.dim = order, dim

    def vector(self, v):
        assert len(v) == self.dim
        return tuple(self.F.element(a) for a in v)

    def axpy(self, a, x, y):
        """Return y + a·x."""
        F = self.F
        return tuple(F.add(v, F.mul(a, u)) for u, v in zip(x, y, strict=True))

    def dot(self, x, y):
        F, total = self.F, self.F.zero
        for a, b in zip(x, y, strict=True):
            total = F.add(total, F.mul(a, b))
        return total

    def unit(self, i):
        return tuple(self.F.one if j == i else self.F.zero for j in range(self.dim))

    def full(self):
        return self.span([self.unit(i) for i in range(self.dim)])

    def zero(self):
        return self.span([])


class Listed(Ambient):
    """Subspaces as frozen sets of vectors."""

    def span(self, rows):
        return self.extend(frozenset([(self.F.zero,) * self.dim]), rows)

    def extend(self, V, rows):
        for v in map(self.vector, rows):
            if v not in V:
                V = frozenset(self.axpy(a, v, x) for a in range(self.order) for x in V)
        return V

    def size(self, V):
        dim = 0
        while self.order**dim < len(V):
            dim += 1
        assert self.order**dim == len(V)
        return dim

    def contains(self, V, v):
        return self.vector(v) in V

    def within(self, V, W):
        return V <= W

    def sum(self, V, W):
        return V if W <= V else W if V <= W else self.extend(V, W)

    def meet(self, V, W):
        return V & W

    def basis(self, V):
        rows, W = [], self.zero()
        for v in sorted(V):
            if v not in W:
                rows.append(v)
                W = self.extend(W, [v])
        return rows

    def annihilator(self, V):
        """Every functional that vanishes on V, by trying them all."""
        return frozenset(h for h in self.functionals() if not any(self.dot(h, v) for v in V))

    def functionals(self):
        return product(range(self.order), repeat=self.dim)


class Reduced(Ambient):
    """Subspaces as tuples of rows in reduced row echelon form."""

    def span(self, rows):
        return self.reduced(map(self.vector, rows))

    @cache  # noqa: B019
    def full(self):
        return super().full()

    def reduced(self, rows):
        return rref(self.F, list(rows))

    def size(self, V):
        return len(V)

    def contains(self, V, v):
        return self.reduced([*V, self.vector(v)]) == V

    def within(self, V, W):
        return self.sum(V, W) == W

    def sum(self, V, W):
        return self.reduced([*V, *W]) if V and W else V or W

    def meet(self, V, W):
        """Zassenhaus: the rows (0 | u) of the reduced form of (V V; W 0) span the meet."""
        if len(V) == self.dim or len(W) == self.dim:
            return W if len(V) == self.dim else V
        zeros = (self.F.zero,) * self.dim
        both = rref(self.F, [v + v for v in V] + [w + zeros for w in W])
        return self.reduced(row[self.dim :] for row in both if not any(row[: self.dim]))

    def basis(self, V):
        return list(V)

    def annihilator(self, V):
        """One functional for each column without a pivot."""
        F = self.F
        pivots = [next(i for i, a in enumerate(v) if a) for v in V]
        rows = []
        for free in set(range(self.dim)) - set(pivots):
            h = list(self.unit(free))
            for pivot, v in zip(pivots, V, strict=True):
                h[pivot] = F.neg(v[free])
            rows.append(h)
        return self.span(rows)


@cache
def ambient(order, dim):
    """Return F^dim: listed when it is small enough, else in reduced form."""
    if order != "QQ" and order**dim <= LISTABLE:
        return Listed(order, dim)
    return Reduced(order, dim)


def rref(F, rows):
    """Schoolbook elimination: the non-zero rows of the reduced row echelon form."""
    if F.order == 2:
        return rref_of_bits(rows)
    rows, rank = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        found = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[rank], rows[found] = rows[found], rows[rank]
        scale = F.inv(rows[rank][column])
        rows[rank] = [F.mul(scale, a) for a in rows[rank]]
        for i in range(len(rows)):
            if i != rank and rows[i][column]:
                factor = F.neg(rows[i][column])
                rows[i] = [
                    F.add(a, F.mul(factor, b)) for a, b in zip(rows[i], rows[rank], strict=True)
                ]
        rank += 1
    return tuple(tuple(row) for row in rows[:rank])


def rref_of_bits(rows):
    """The same over GF(2), where a row is a number (first column highest) and minus is XOR."""
    basis = []
    for v in (int("".join(map(str, row)), 2) for row in rows):
        for b in basis:
            v = min(v, v ^ b)
        if v:
            basis = [b ^ v if b >> (v.bit_length() - 1) & 1 else b for b in basis] + [v]
    dim = len(rows[0]) if rows else 0
    return tuple(tuple(b >> i & 1 for i in reversed(range(dim))) for b in sorted(basis)[::-1])


def stable_partition(space, rows):
    """Algorithm 3 of the paper, literally; zero rows, on which it never ends, are left out."""
    remaining = [i for i, row in enumerate(rows) if any(row)]
    sets = []
    while remaining:
        chosen, V = [], space.zero()
        for i in remaining:
            if not space.contains(V, rows[i]):
                chosen.append(i)
                V = space.sum(V, space.span([rows[i]]))
        sets.append(chosen)
        remaining = [i for i in remaining if i not in chosen]
    return sets


def chain(space, rows):
    """Return V_1, V_2, …: the spans of the sets of the stable partition."""
    return [space.span([rows[i] for i in A]) for A in stable_partition(space, rows)]


def at(space, V, j):
    """Return V_j of a chain: everything for j = 0, {0} past the last set."""
    return space.full() if j == 0 else V[j - 1] if j <= len(V) else space.zero()


def merge(space, V, W):
    """Return M_k = Σ_{i+j=k} V_i ∩ W_j for k = 1, 2, … as long as it is not {0}."""
    merged = []
    for k in range(1, len(V) + len(W) + 1):
        M = space.zero()
        for i in range(k + 1):
            M = space.sum(M, space.meet(at(space, V, i), at(space, W, k - i)))
        if space.size(M):
            merged.append(M)
    assert all(space.within(N, M) for M, N in pairwise(merged))
    return merged


def multiplicities(V):
    """Return n(U) = #{j : V_j = U} for the spaces of a chain."""
    return Counter(V)


def height(space, V, h):
    """Return f_h = #{j : the functional h does not vanish on V_j}."""
    return sum(any(space.dot(h, v) for v in space.basis(U)) for U in V)
