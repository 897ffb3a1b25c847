"""One solution of a linear system: uniform, lexicographically smallest, or with the fewest terms.

The solution with the fewest terms is a nearest codeword, so no search is quick in every case. Two
searches share the work.
Solutions of up to four terms are sums of one or two columns that meet, where there are few columns.
And written with an information set (coordinates that determine a solution), every solution is a
start, zero there, plus a combination of moves. If all combinations of p moves have been tried, any
other solution has more than p terms within the information set; so disjoint sets add up to a lower
bound, as in the algorithm of Brouwer and Zimmermann for the weight of a code. Where it meets the
best solution found, that is proven.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from flagstone.algebra import Array, Field, Subspace
from flagstone.errors import InputError, Parameter

#: Coefficients that the search looks at: over GF(2), other finite fields, and QQ.
_LOOKS = {"bits": 1 << 28, "finite": 1 << 22, "rational": 1 << 17}
#: This many solutions are improved at a time.
_CHUNK = 4096
#: Sums of two columns are listed up to this many.
_PAIRS = 1 << 18


class VectorCoins(Protocol):
    """A source of uniform vectors by name: published coins, or a secret source."""

    def vector(self, name: str, field: Any, length: int, /) -> Array: ...


CHOICES = ("uniform", "lexmin", "sparsest")


def check_choice(choice: str, field: Field) -> None:
    """Refuse an unknown choice, and a uniform choice over an infinite field."""
    if choice not in CHOICES:
        raise InputError(
            Parameter("choice"), f" must be 'uniform', 'lexmin' or 'sparsest', got {choice!r}"
        )
    if choice == "uniform" and field.order is None:
        raise InputError(
            Parameter("choice", "uniform"),
            " needs a finite field: there is no uniform distribution over QQ; use ",
            Parameter("choice", "lexmin"),
            ", which sets the free coordinates to 0, or ",
            Parameter("choice", "sparsest"),
        )


def pick_solution(
    system: Subspace,
    *,
    choice: str,
    coins: VectorCoins | None,
    name: str,
    counted: int | None = None,
) -> Array:
    """Return one w with ⟨w, a⟩ = b for all (a, b) in the system, which must be solvable.

    "uniform": all coordinates are drawn as one vector r from the coins, under ``name``; the free
    ones are kept and the pivots solved for. Whatever the free coordinates are, w is uniform on the
    solutions, and one r serves every system. "lexmin": the lexicographically smallest solution. A
    coordinate is bound when an equation ends in it, so the pivots are taken from the right and the
    rest is 0. "sparsest": one with as few terms as `sparsest` finds among the first ``counted``
    coordinates (all, if None).
    """
    F, n = system.field, system.ambient_dim - 1
    check_choice(choice, F)
    if choice == "uniform":
        if coins is None:
            raise InputError("choice='uniform' needs coins: pass coins=Coins(seed)")
        A, b, pivots = system.basis[:, :n], system.basis[:, n], list(system.pivots)
        w = np.array(coins.vector(name, F, n))
        w[pivots] = F.zero
        if pivots:
            w[pivots] = F.sub(b, F.dot(F.rows(A), w[np.newaxis, :])[:, 0])
        return w
    if choice == "sparsest":
        return sparsest(system, n if counted is None else counted).solution.copy()
    flipped = np.concatenate([system.basis[:, :n][:, ::-1], system.basis[:, n:]], axis=1)
    echelon = Subspace.span(flipped, F, dim=n + 1)
    w = np.array(F.array(F.empty(1, n))[0])
    w[[n - 1 - p for p in echelon.pivots]] = echelon.basis[:, n]
    return w


class Sparse(NamedTuple):
    """A solution, and whether it is proven that none has fewer terms."""

    solution: Array
    proven: bool


@dataclass
class _Form:
    """All solutions by an information set: a start that is zero there, and moves.

    ``fresh`` counts its coordinates that are in no earlier set, ``level`` the moves that were
    combined, ``bases`` are the combinations of one move less with the last move of each.
    """

    start: Array
    moves: Array
    fresh: int
    level: int = 0
    bases: Array | None = None
    last: Array | None = None

    @property
    def bound(self) -> int:
        """The fewest terms, in the fresh coordinates, of a solution that was not tried."""
        return max(0, self.level + 1 - (len(self.moves) - self.fresh))


@lru_cache(maxsize=8)  # the answer, and what is said of it, ask the same
def sparsest(system: Subspace, counted: int) -> Sparse:
    """Return one w with few terms, and ⟨w, a⟩ = b for all (a, b) in a system that has a solution.

    Terms are counted among the first ``counted`` coordinates; a constant after them is not counted.
    A function of the system alone. Coordinates that are constant in it, multiples of the constant
    one if there is one and zero otherwise, get 0. If ``proven``, no solution has fewer terms.

    >>> rows = [[1, 0, 1, 0, 1], [0, 1, 0, 1, 1], [0, 0, 1, 1, 0]]     # (x, y)
    >>> found = sparsest(Subspace.span(rows), 4)
    >>> found.solution.tolist(), found.proven
    ([1, 1, 0, 0], True)
    """
    F, n = system.field, system.ambient_dim - 1
    A, b = system.basis[:, :n], system.basis[:, n]
    used = _used(F, A, counted)
    w = np.array(F.array(F.empty(1, n))[0])
    if not used:
        return Sparse(w, True)
    # features first: as the constant is no multiple of them, an information set needs no other
    table = np.concatenate([A[:, used], b[:, np.newaxis]], axis=1)
    search = _Search(F, Subspace.span(table, F, dim=len(used) + 1), sum(i < counted for i in used))
    w[used] = search.best
    return Sparse(w, search.proven)


def _used(F: Field, A: Array, counted: int) -> list[int]:
    """Return the coordinates that are not constant, and the constant one unless it is free."""
    rest = [i for i in range(counted, A.shape[1]) if (A[:, i] != 0).any()]
    constant = Subspace.span(A[:, rest].T, F, dim=len(A)) if len(A) else None
    if constant is None:
        return []
    return [*np.flatnonzero(~constant.contains(A[:, :counted].T)).tolist(), *rest]


def _few_terms(F: Field, columns: Array, target: Array) -> tuple[dict[int, Any] | None, int]:
    """Return a sum of at most four multiples of columns, and how many it takes at least."""
    f = len(columns)
    if not (target != 0).any():
        return {}, 0
    if F.order is None or f * (F.order - 1) > _PAIRS:
        return None, 1
    sizes = np.arange(1, F.order, dtype=F.dtype)
    words = np.concatenate([F.mul(size, columns) for size in sizes])
    wanted = target[np.newaxis]
    if F.order == 2:  # packed bits add as single ones do
        words, wanted = np.packbits(words, axis=1), np.packbits(wanted, axis=1)
    one = np.arange(len(words))[:, np.newaxis]
    sums = [(np.zeros_like(wanted), one[:1, :0]), (words, one)]
    if len(words) ** 2 <= 2 * _PAIRS:
        two = np.stack(np.triu_indices(len(words), 1), axis=1)
        sums.append((F.add(words[two[:, 0]], words[two[:, 1]]), two))
    for terms in range(1, 2 * len(sums) - 1):
        (left, left_of), (right, right_of) = sums[terms // 2], sums[-(-terms // 2)]
        listed = {row.tobytes(): i for i, row in reversed(list(enumerate(right)))}
        for i, row in enumerate(F.sub(wanted, left)):
            if (j := listed.get(row.tobytes())) is not None:
                found = [*left_of[i].tolist(), *right_of[j].tolist()]
                return {k % f: sizes[k // f] for k in found}, terms
    return None, 2 * len(sums) - 1


class _Search:
    """Looks for a solution with few terms among the first coordinates, until its budget is used."""

    def __init__(self, F: Field, system: Subspace, counted: int) -> None:
        self.F, self.counted, self.n = F, counted, system.ambient_dim - 1
        kind = "rational" if F.order is None else "bits" if F.order == 2 else "finite"
        self._left = _LOOKS[kind]
        first = np.array(F.array(F.empty(1, self.n))[0])
        first[list(system.pivots)] = system.basis[:, -1]
        self.best, self.weight = first, counted + 1
        self._keep(first)
        self._fewest = self._meet(system)
        n_moves = self.n - system.dim
        self.proven = n_moves == 0 or self.weight <= self._fewest
        # one round over all moves looks at them twice; larger ones are not even listed
        if not self.proven and 2 * n_moves * self.n <= self._left:
            self._space = Subspace.span(system.basis[:, :-1], F, dim=self.n).annihilator()
            self._run()

    def _meet(self, system: Subspace) -> int:
        """Look for solutions of up to four terms, and return how few terms are possible."""
        F, f, equations = self.F, self.counted, system.basis
        constant = Subspace.span(equations[:, f:-1].T, F, dim=len(equations))
        columns = constant.reduce(equations.T)  # modulo the constant, which is free of charge
        terms, fewest = _few_terms(F, columns[:f], columns[-1])
        if terms is None:
            return fewest
        w = np.array(F.array(F.empty(1, self.n))[0])
        for column, size in terms.items():
            w[column] = size
        for pivot in constant.pivots:
            row = equations[[pivot]]
            shown = F.dot(F.rows(row[:, :-1]), w[np.newaxis])[:, 0]
            w[[f]] = F.mul(F.sub(row[:, -1], shown), F.inv(row[:, f]))
        self._keep(w)
        return fewest

    def _run(self) -> None:
        forms = list(self._forms())
        self._descend()
        for level in range(len(forms[0].moves) + 1):
            for form in forms:
                if self.weight <= max(self._fewest, sum(form.bound for form in forms)):
                    self.proven = True
                    return
                if level and not self._raise(form):
                    return
        self.proven = True  # everything was tried

    def _forms(self) -> Iterator[_Form]:
        """Return the solutions by information sets that share as little as can be."""
        fresh = list(range(self.counted))
        taken: list[int] = []
        while fresh:
            form, new = self._form(fresh, taken)
            if not new:
                return
            yield form
            fresh, taken = [i for i in fresh if i not in new], [*taken, *new]

    def _form(self, fresh: list[int], others: list[int]) -> tuple[_Form, list[int]]:
        """Return the solutions by the first information set, and its fresh coordinates."""
        columns = [*fresh, *others, *range(self.counted, self.n)]
        place = np.argsort(columns)
        space = Subspace.span(self._space.basis[:, columns], self.F, dim=self.n)
        start = space.reduce(self.best[np.newaxis, columns])[0][place]
        self._keep(start)
        new = [columns[p] for p in space.pivots if p < len(fresh)]
        return _Form(start, space.basis[:, place], len(new)), new

    def _descend(self) -> None:
        """Improve the best solution by one move, as long as that helps."""
        weight = self.weight + 1
        while self.weight < weight:
            weight = self.weight
            zeros = np.flatnonzero(self.best[: self.counted] == 0).tolist()
            others = np.flatnonzero(self.best[: self.counted] != 0).tolist()
            self._raise(self._form(zeros, others)[0])

    def _raise(self, form: _Form) -> bool:
        """Try all combinations of one move more; False where that is past the budget."""
        F, k = self.F, len(form.moves)
        if form.level >= k:
            return True
        if form.bases is None or form.last is None:
            bases, last = form.start[np.newaxis], np.array([-1])
        else:
            if F.order is None:
                return False  # a move has infinitely many sizes
            size = len(form.bases) * k * (F.order - 1) * self.n
            if size > self._left:
                return False
            bases, last = self._extended(form.bases, form.last, form.moves)
        if bases.size * k > self._left:
            return False
        self._left -= bases.size * k
        for start in range(0, len(bases), _CHUNK):
            self._improve(bases[start : start + _CHUNK], form.moves)
        form.bases, form.last, form.level = bases, last, form.level + 1
        return True

    def _extended(self, bases: Array, last: Array, moves: Array) -> tuple[Array, Array]:
        """Return the bases with one later move more, in every size."""
        order = self.F.order
        assert order is not None
        found, places = [], []
        for i, move in enumerate(moves):
            earlier = bases[last < i]
            for size in range(1, order):
                found.append(self.F.add(earlier, self.F.mul(self.F.dtype.type(size), move)))
                places.append(np.full(len(earlier), i))
        return np.concatenate(found), np.concatenate(places)

    def _improve(self, bases: Array, moves: Array) -> None:
        """Add one move in the size that cancels the most terms, and keep the best result."""
        F, f = self.F, self.counted
        B, M = bases[:, :f], moves[:, :f]
        here, there = (B != 0).astype(np.float32), (M != 0).astype(np.float32)
        both = here @ there.T  # whole numbers below 2^24 are exact in single precision
        terms = here.sum(axis=1)[:, np.newaxis] + there.sum(axis=1) - both
        cancelled, sizes = (both, None) if F.order == 2 else self._cancelled(B, M)
        i, j = np.unravel_index(np.argmin(terms - cancelled), both.shape)
        self._keep(F.add(bases[i], moves[j] if sizes is None else F.mul(sizes[i, j], moves[j])))

    def _keep(self, w: Array) -> None:
        """Keep a solution if it is the best so far."""
        weight = int(np.count_nonzero(w[: self.counted] != 0))
        if weight < self.weight:
            self.weight, self.best = weight, w

    def _cancelled(self, B: Array, M: Array) -> tuple[Array, Array]:
        """Return how many terms of each base a move can cancel, and in which size it does."""
        F = self.F
        inverses = M.copy()
        inverses[M != 0] = F.inv(M[M != 0])
        counts = np.zeros((len(B), len(M)), dtype=np.int64)
        sizes = np.full((len(B), len(M)), F.one, dtype=F.dtype)
        for i, base in enumerate(F.neg(B)):
            quotients = np.sort(F.mul(base, inverses), axis=1)
            places = np.arange(quotients.shape[1])
            new = np.ones(quotients.shape, dtype=bool)
            new[:, 1:] = quotients[:, 1:] != quotients[:, :-1]
            runs = places - np.maximum.accumulate(np.where(new, places, 0), axis=1) + 1
            runs[quotients == 0] = 0
            ends = runs.argmax(axis=1)
            rows = np.arange(len(M))
            counts[i] = runs[rows, ends]
            some = counts[i] > 0
            sizes[i, some] = quotients[rows, ends][some]
        return counts, sizes
