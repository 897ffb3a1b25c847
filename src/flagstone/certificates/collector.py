"""One pass over the certifying rows: where they lie, and the pieces they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, Rows
from flagstone.certificates.pieces import Cutter
from flagstone.certificates.plan import CertificatePlan
from flagstone.errors import InputError

#: Rows that are looked at, or passed over, in a stretch; those taken at a time if none are passed.
_STRETCH, _MANY = 1 << 14, 1 << 17
_SIDES = ("inside", "outside")

Outcomes = Counter[tuple[int, int]]


class Collector:
    """Counts of rows between the spaces of a plan, and outcomes of pieces on both sides of each.

    Attributes
    ----------
    n_rows, n_runs : int
        Rows given, zero rows included, and the runs of consecutive rows that they came in.
    counts : array of int, length number of spaces + 2
        Zero rows; rows in U_1; rows in U_2 but not in U_1; …; rows in none of the spaces. Of the
        rows that were looked at, that is, all of them if ``plan.stride`` is 1.

    Notes
    -----
    **Guarantees**

    The result depends on the rows and their order alone, not on how they are split over calls of
    `update`. Merging adds everything up; no piece reaches over the end of a run.

    Examples
    --------
    >>> from flagstone import Flag
    >>> pilot = Flag(2).update([[1, 1]] * 40)
    >>> plan = CertificatePlan.of_pilot(pilot, 400, rule="index", t_min=1, t_max=300)
    >>> collector = Collector(plan).update([[1, 1]] * 50 + [[0, 0], [1, 0]])
    >>> collector.counts.tolist()
    [1, 50, 1]
    >>> collector.outcomes(0, "inside")  # eight rows make eight full sets of dimension one
    Counter({(8, 8): 6})
    """

    def __init__(self, plan: CertificatePlan) -> None:
        self.plan = plan
        self.n_rows = self.n_runs = self._in_run = 0
        self.counts: Array = np.zeros(len(plan.parts) + 2, dtype=np.int64)
        self._before = {side: [Outcomes() for _ in plan.parts] for side in _SIDES}
        self._run: dict[str, list[Cutter | None]] | None = None

    def outcomes(self, i: int, side: str) -> Outcomes:
        """Return how often pieces on one side of space i had which value and length."""
        cutter = self._run[side][i] if self._run else None
        return self._before[side][i] + (cutter.outcomes if cutter else Outcomes())

    def update(self, X: Any, weights: Any = None) -> Collector:
        """Take more certifying rows of this run, in the order they come, and return self.

        All rows are taken or none. Weights are refused.
        """
        rows = self.plan.rows(X, weights)
        counts, run = self.counts.copy(), self._next_run()
        seen, start = self._in_run, 0
        size = _MANY if self.plan.stride == 1 else _STRETCH
        while start < len(rows):
            stretch, into = divmod(seen + start, size)
            stop = min(len(rows), start + size - into)
            if stretch % self.plan.stride == 0:
                counts += self._take(rows[start:stop], run)
            start = stop
        if len(rows):
            self.n_runs += self._run is None
            self.n_rows, self._in_run = self.n_rows + len(rows), seen + len(rows)
            self.counts, self._run = counts, run
        return self

    def _next_run(self) -> dict[str, list[Cutter | None]]:
        """The cutters, as copies: an interrupt must not leave half an update."""
        if self._run:
            return {side: [c and c.copy() for c in cutters] for side, cutters in self._run.items()}
        field = self.plan.spaces.field
        plans = {side: [getattr(part, side) for part in self.plan.parts] for side in _SIDES}
        return {side: [plan and Cutter(field, plan.cut) for plan in plans[side]] for side in _SIDES}

    def _take(self, rows: Rows, run: dict[str, list[Cutter | None]]) -> Array:
        spaces, n = self.plan.spaces, len(rows)
        coordinates = spaces.coordinates(rows)
        first = spaces.first_space(coordinates)
        held = [n - int(np.count_nonzero(first))]  # how many rows lie in {0}, U_1, U_2, …
        for i, (inner, outer) in enumerate(zip(*run.values(), strict=True)):
            inside = first <= i + 1
            ticks = np.flatnonzero(inside)
            held.append(len(ticks))
            if inner:
                inner.update(spaces.inside(coordinates[ticks], i), ticks, n)
            if outer:
                ticks = np.flatnonzero(~inside)
                outer.update(spaces.outside(coordinates[ticks], i), ticks, n)
        return np.diff([0, *held, n])

    def merge(self, other: Collector) -> Collector:
        """Return both together, as runs of their own; rows that come later begin a new run."""
        if not isinstance(other, Collector):
            raise TypeError(f"a collector merges with a collector, got {type(other).__name__}")
        if self.plan is not other.plan and self.plan.to_dict() != other.plan.to_dict():
            raise InputError("the collectors do not fit: make both from one plan")
        both = Collector(self.plan)
        for part in (self, other):
            both._add(part.n_rows, part.n_runs, part.counts)
            for side, totals in both._before.items():
                for i, total in enumerate(totals):
                    total.update(part.outcomes(i, side))
        return both

    def _add(self, n_rows: int, n_runs: int, counts: Array) -> None:
        self.n_rows, self.n_runs = self.n_rows + n_rows, self.n_runs + n_runs
        self.counts = self.counts + counts

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; a piece that has not ended is left out."""
        pieces = {
            side: [
                sorted([x, n, times] for (x, n), times in self.outcomes(i, side).items())
                for i in range(len(self.plan.parts))
            ]
            for side in _SIDES
        }
        seen = {"n_rows": self.n_rows, "n_runs": self.n_runs, "counts": self.counts.tolist()}
        return {"plan": self.plan.to_dict(), **seen, **pieces}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Collector:
        """Read what `to_dict` wrote; rows that come later begin a new run."""
        read = cls(CertificatePlan.from_dict(values["plan"]))
        read._add(values["n_rows"], values["n_runs"], np.array(values["counts"]))
        for side, totals in read._before.items():
            for total, pieces in zip(totals, values[side], strict=True):
                total.update({(x, n): times for x, n, times in pieces})
        return read
