"""Pieces of rows whose sets add up, and what they prove (docs/theory/certificates.md, S30 to S32).

A piece starts with an empty flag and ends by its own rows alone, so the pieces of independent rows
are independent and alike. Two kinds, one for each side of a space V:

*inside* (rows of V in its coordinates, zero for a row outside V): the value of a piece is the
number of sets that span V. It has a credit of rows, and every full set adds some.

*outside* (images modulo V, zero for a row of V): the value is the number of sets. A piece has a
credit of sets, and every row adds a part of one.

A piece ends when its credit is used up, so that one that does badly is given up early.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from flagstone import _reference as reference
from flagstone._kernels import kernels
from flagstone.algebra.fields import Array, Field

#: Room for rounding: far above the error of any one factor, far below what matters.
_ROOM = 1e-12
#: No claim goes below exp(−_MOST_NATS); they are found up to exp(_NATS).
_MOST_NATS, _NATS = 200.0, 1e-5


@dataclass(frozen=True)
class Cut:
    """The rule by which one kind of piece ends. Public numbers, fixed before the rows are seen.

    ``dim`` is the number of columns: dim V inside, the codimension of V outside. A piece has a
    ``credit`` of rows (inside) or sets (outside); ``pace`` is the rows for one more set. After
    ``most`` a piece ends in any case: k full sets inside, u rows outside. ``rates`` are the λ > 0
    that are tried on the pieces (`Evidence`).

    >>> cut = Cut(inside=True, dim=3, credit=8, pace=3.5, most=4)
    >>> [cut.allowed(sets) for sets in range(4)], cut.longest
    ([8, 11, 15, 18], 18)
    """

    inside: bool
    dim: int
    credit: int
    pace: float
    most: int
    rates: tuple[float, ...] = ()

    def allowed(self, reached: int) -> int:
        """Rows with this many full sets (inside), and sets after this many rows."""
        more = self.pace * reached if self.inside else reached / self.pace
        return self.credit + math.floor(more)

    @property
    def longest(self) -> int:
        """No piece has more rows than this."""
        return self.allowed(self.most - 1) if self.inside else self.most

    @property
    def looks(self) -> tuple[int, int]:
        """Inside: from which length on a piece is looked at between credits, and how often."""
        return math.floor(0.9 * self.most * self.pace), max(1, int(self.pace / 8))

    @cached_property
    def extremes(self) -> tuple[Array, Array]:
        """Values and lengths such that no possible piece does worse than all of them."""
        if self.inside:
            values = np.arange(self.most)
            return values, np.array([self.allowed(value) for value in values.tolist()])
        # Overdrawn by one set, as early as can be; or at the very end.
        overdrawn = range(self.credit + 1, self.allowed(self.most) + 2)
        lengths = [max(x, math.floor((x - 1 - self.credit) * self.pace)) for x in overdrawn]
        return np.array([*overdrawn, overdrawn[-1]]), np.array([*lengths, self.most])


class Cutter:
    """Cuts a run of rows into pieces, as they come, and counts what comes of them.

    ``outcomes`` says how many pieces had which value and length. A piece counts once the run has
    gone on for ``cut.longest`` rows after its beginning, however short it was: whether it counts is
    then known before it begins (S32).

    >>> from flagstone import GF
    >>> cutter = Cutter(GF(2), Cut(inside=True, dim=2, credit=3, pace=1.0, most=1))
    >>> x, y = [1, 0], [0, 1]
    >>> rows = GF(2).rows([x, y, x, x, x, y, x])
    >>> cutter.update(GF(2).matrix(rows)).outcomes  # the third piece began too late to count
    Counter({(1, 2): 1, (0, 3): 1})
    """

    def __init__(self, field: Field, cut: Cut) -> None:
        self.cut = cut
        self.outcomes: Counter[tuple[int, int]] = Counter()
        self._field = field
        self._flag, self._piece = field.kernel.flag(cut.dim), (0, 0)  # of the open piece
        self._seen = 0
        self._pending: list[tuple[int, int, int]] = []

    def __getstate__(self) -> dict[str, Any]:
        """The flag as arrays: a kernel's own state is not the same on all processors."""
        return vars(self) | {"_flag": self._flag.dump()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._flag = self._field.kernel.flag_load(self.cut.dim, *state["_flag"])

    def copy(self) -> Cutter:
        """Return an independent copy."""
        twin = object.__new__(Cutter)
        vars(twin).update(vars(self))
        twin.outcomes, twin._pending = self.outcomes.copy(), self._pending.copy()
        twin._flag = self._flag.copy()
        return twin

    def update(self, matrix: Array, ticks: Array | None = None, size: int = 0) -> Cutter:
        """Take more rows of the run, as the array that kernels take, and return self.

        With ``ticks``, these are the rows with those numbers among ``size``; the others are zero
        rows. Outside, no other row may be zero.
        """
        if ticks is None:
            ticks, size = np.arange(len(matrix)), len(matrix)
        rule = self.cut.inside, self.cut.credit, self.cut.pace, self.cut.most, *self.cut.looks
        # Flags over the rationals are Python's own.
        cut_pieces = kernels.cut_pieces if self._field.order else reference.cut_pieces
        ends, self._piece = cut_pieces(self._flag, rule, self._piece, matrix, ticks, size)
        for end, value, length in ends.tolist():
            self._pending.append((self._seen + end - length, value, length))
        self._seen += size
        settled = self._seen - self.cut.longest
        self.outcomes.update((x, n) for begin, x, n in self._pending if begin <= settled)
        self._pending = [piece for piece in self._pending if piece[0] > settled]
        return self


def rates(span: float, expected: float) -> tuple[float, ...]:
    """The λ to try, fixed in advance: from the largest that can serve down to a Gaussian one.

    ``span`` is the largest loss of a piece, in sets; ``expected`` the sum that is expected.
    """
    top = 1.25 * math.log(2) / span
    low = min(top / 2, math.sqrt(5 / max(expected, 1.0)))
    grid: Array = top * 1.2 ** -np.arange(1 + math.ceil(math.log(top / low, 1.2)))
    return tuple(grid.tolist())


@dataclass(frozen=True, eq=False)
class Evidence:
    """What pieces of one kind prove about all sums of fresh ones at once, at one confidence.

    If rows are independent and alike, then with probability 1 − δ (``failure``) over the pieces
    seen *every* value of `beyond` and `bound` is right, whichever and how many are asked for.
    ``outcomes`` says how often pieces had which value and length (fractions extrapolate, and prove
    nothing). ``bet`` is c > 0, fixed as well: about √(fresh rows/rows seen) is best.

    Sixty pieces, each with two full sets after ten rows, and 660 fresh rows:

    >>> cut = Cut(inside=True, dim=4, credit=12, pace=5.0, most=2, rates=rates(3.0, 120.0))
    >>> seen = Evidence(cut, {(2, 10): 60}, failure=0.005)
    >>> a = seen.bound(0.01, rows=660)
    >>> a, seen.beyond(a, rows=660) <= 0.01 < seen.beyond(a + 1, rows=660)
    (88, True)
    """

    cut: Cut
    outcomes: Mapping[tuple[int, int], float]
    failure: float
    bet: float = 1.0

    def beyond(self, bound: int, rows: int) -> float:
        """β such that P[sum < bound] ≤ β (inside), P[sum > bound] ≤ β (outside), in fresh rows.

        ``rows``: inside, that many rows are covered by whole pieces; outside, whole pieces with no
        more rows than that cover all of them. 1.0 if nothing is proven.
        """
        if self.cut.inside and bound <= 0:
            return 0.0
        total = bound - self._sign
        nats = last_point(lambda nats: self._surplus(total, nats, rows), 0.0, _MOST_NATS, _NATS)
        return 1.0 if nats is None else math.exp(-nats) * (1 + _ROOM)

    def bound(self, beta: float, rows: int) -> int | None:
        """The best bound on the sum that fails with probability at most β: see `beyond`.

        Inside: the largest a with P[sum < a] ≤ β, 0 if there is none. Outside: the smallest b with
        P[sum > b] ≤ β, or None if no b below ``rows`` is proven.
        """
        nats = -math.log(beta) + _ROOM
        _, values, lengths, times = self._pieces
        # As exp(x) − 1 ≥ x, nothing is proven of sums on the wrong side of what was seen.
        likely = math.floor(rows * float(values @ times) / max(1.0, float(lengths @ times)))
        ends = -1.0, likely + 1.0
        if not self.cut.inside:  # a piece has no more sets than rows
            ends = max(2.0, rows + 2.0), max(1.0, likely - 1.0)
        found = last_point(lambda total: self._surplus(total, nats, rows), *ends, 1.0)
        if found is None:
            return 0 if self.cut.inside else None
        return round(found) + self._sign

    @property
    def _sign(self) -> int:
        """A sum below the bound is one of at most bound − 1; above it, of at least bound + 1."""
        return 1 if self.cut.inside else -1

    def _surplus(self, total: float, nats: float, rows: int) -> float:
        """By how much the pieces prove that a sum like this has a probability of exp(−nats)."""
        if rows <= 0 or not self.outcomes:
            return -math.inf
        numbers = float(total), nats, float(rows), float(self.bet), _ROOM
        return float(kernels.log_mean_product(*self._pieces, *numbers)) + math.log(self.failure)

    @cached_property
    def _pieces(self) -> tuple[Array, Array, Array, Array]:
        """Rates; values, lengths, numbers of the worst possible pieces, then of those seen."""
        # No factor may be negative for any piece that could come: such a rate has the product 0.
        values, lengths = self.cut.extremes
        worst = np.column_stack([values, lengths, np.zeros_like(values)])
        came = [(*piece, times) for piece, times in self.outcomes.items()]
        table = np.concatenate([worst, np.array(came, dtype=float).reshape(-1, 3)])
        values, lengths, times = table.T.copy()
        return self._sign * np.array(self.cut.rates), values, lengths, times


def last_point(
    function: Callable[[float], float], good: float, bad: float, step: float
) -> float | None:
    """Return the last point, in steps from ``good`` to ``bad``, where the function is at least 0.

    It falls from one to the other; None if it is below 0 at ``good``. By the Illinois rule: where
    the chord meets 0, with the value at an end that stays halved.
    """
    at_good, at_bad = function(good), function(bad)
    if not at_good >= 0:
        return None
    if at_bad >= 0:
        return bad
    stayed = 0
    while abs(bad - good) > 1.5 * step:
        part = at_good / (at_good - at_bad) if at_bad > -math.inf else 0.5
        steps = abs(bad - good) / step
        ahead = min(max(1.0, float(round(part * steps))), math.ceil(steps) - 1.0)
        middle = good + ahead * step if bad > good else good - ahead * step
        at_middle = function(middle)
        if at_middle >= 0:
            at_bad /= 2.0 if stayed > 0 else 1.0
            good, at_good, stayed = middle, at_middle, 1
        else:
            at_good /= 2.0 if stayed < 0 else 1.0
            bad, at_bad, stayed = middle, at_middle, -1
    return good
