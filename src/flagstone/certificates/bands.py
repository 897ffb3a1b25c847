"""Certificates for histograms, where pieces do not add up: bands of counts, S38.

A histogram reads its rows in value order, so a sample is a count for each value (cell). Bands hold
the counts of the frequent cells of a fresh sample; all other rows outside a space are lumped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flagstone.certificates.claims import Claims, SharesBetween
from flagstone.certificates.plan import Plan
from flagstone.certificates.window import Bounds, CertifiedSpace
from flagstone.errors import InputError
from flagstone.fields import Array
from flagstone.flag import Flag
from flagstone.guarantees.binomial import (
    binomial_least,
    binomial_most,
    share_at_least,
    share_at_most,
)
from flagstone.histogram import Histogram, rows_of, values_of

#: Cells that get a band: the most frequent ones, seen at least so often in the pilot.
_MOST_CELLS, _LEAST_SEEN = 256, 3
#: δ goes to: cells, rows outside each space, those of them in no cell, rows between spaces.
_CELLS, _BEYOND, _LUMPED, _BETWEEN = 0.6, 0.15, 0.2, 0.05


class Bands:
    """Counts of the certifying rows: by cell, and by the spaces of a plan.

    Examples
    --------
    >>> pilot = Histogram(2).update([[1, 0]] * 30 + [[0, 1]] * 10)
    >>> bands = Bands.of_pilot(pilot, 400, rule="index", t_min=1, t_max=50)
    >>> bands.cells.tolist(), bands.update([[1, 0], [0, 1], [1, 1], [1, 0]]).listed.tolist()
    ([1, 2], [2, 1])
    """

    def __init__(self, plan: Plan, cells: Any) -> None:
        self.plan = plan
        self.cells: Array = np.asarray(cells, dtype=np.int64)
        self.n_rows, self.n_runs = 0, 1
        self.listed: Array = np.zeros(len(self.cells), dtype=np.int64)
        #: By the first space that holds a row, as in `Collector`: all rows, and those in no cell.
        self.counts: Array = np.zeros(len(plan.parts) + 2, dtype=np.int64)
        self.lumped: Array = self.counts.copy()

    @classmethod
    def of_pilot(cls, pilot: Histogram, n_rows: int, **window: Any) -> Bands:
        """Choose spaces and cells from the histogram of the pilot rows; see `Plan.of_pilot`."""
        plan = Plan.of_pilot(pilot.to_flag(), n_rows, **window)
        frequent = np.argsort(-pilot.counts[1:], kind="stable")[:_MOST_CELLS] + 1
        return cls(plan, np.sort(frequent[pilot.counts[frequent] >= _LEAST_SEEN]))

    def update(self, X: Any, weights: Any = None) -> Bands:
        """Take more certifying rows and return self; weights are refused."""
        spaces = self.plan.spaces
        rows = self.plan.rows(X, weights)
        values = values_of(spaces.field, rows).astype(np.int64)
        place = np.searchsorted(self.cells, values)
        known = np.append(self.cells, -1)[place] == values
        first, size = spaces.first_space(spaces.coordinates(rows)), len(self.counts)
        self.listed = self.listed + np.bincount(place[known], minlength=len(self.cells))
        self.counts = self.counts + np.bincount(first, minlength=size)
        self.lumped = self.lumped + np.bincount(first[~known], minlength=size)
        self.n_rows += len(rows)
        return self

    def merge(self, other: Bands) -> Bands:
        """Return the counts of both; histograms lose nothing to sharding."""
        if not isinstance(other, Bands):
            raise TypeError(f"bands merge with bands, got {type(other).__name__}")
        same = np.array_equal(self.cells, other.cells)
        if not same or self.plan.to_dict() != other.plan.to_dict():
            raise InputError("the bands do not fit: make both from one plan")
        both = Bands(self.plan, self.cells)
        both.n_rows = self.n_rows + other.n_rows
        for name in ("listed", "counts", "lumped"):
            setattr(both, name, getattr(self, name) + getattr(other, name))
        return both

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        arrays = ("cells", "listed", "counts", "lumped")
        seen = {name: getattr(self, name).tolist() for name in arrays}
        return {"plan": self.plan.to_dict(), "n_rows": self.n_rows, **seen}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Bands:
        """The inverse of `to_dict`."""
        read = cls(Plan.from_dict(values["plan"]), values["cells"])
        read.n_rows = values["n_rows"]
        for name in ("listed", "counts", "lumped"):
            setattr(read, name, np.array(values[name], dtype=np.int64))
        return read


def claims_of_bands(
    bands: Bands,
    failure: float,
    edge: float,
    inside: Sequence[int],
    outside: Sequence[int],
    *,
    runs: int = 1,
    factor: float = 1.0,
) -> Claims:
    """All that bands prove of histograms; for the parameters see `claims_of_pieces`.

    The probabilities at the thresholds asked for are not computed for themselves: of some fixed
    ones the least that reaches them is taken. Histograms lose nothing to ``runs``.
    """
    plan, m = bands.plan, round(bands.plan.n_rows * factor)
    n = round(bands.n_rows * factor)
    listed, counts, lumped = (
        np.rint(array * factor).astype(np.int64)
        for array in (bands.listed, bands.counts, bands.lumped)
    )
    each = failure * _CELLS / (2 * max(1, len(listed)))
    low = [share_at_least(hits, n, each) for hits in listed.tolist()]
    high = [share_at_most(hits, n, each) for hits in listed.tolist()]
    levels = [_Level(bands, m, edge / 10**j, low, high) for j in range(5)]
    beyond = np.zeros(len(counts))
    spaces = [CertifiedSpace.zero()]
    for i, part in enumerate(plan.parts):
        delta = failure * part.weight
        if part.dim < plan.spaces.dim:
            beyond[i + 1] = share_at_most(int(counts[i + 2 :].sum()), n, delta * _BEYOND)
        others = share_at_most(int(lumped[i + 2 :].sum()), n, delta * _LUMPED)
        spaces.append(
            CertifiedSpace(
                part.dim,
                tuple((level.inside(i), level.beta) for level in levels),
                tuple((level.outside(i, beyond[i + 1], others), level.beta) for level in levels),
            )
        )
    beyond[0] = SharesBetween(counts, failure * _BETWEEN)[0, len(counts) - 1]
    spaces.append(CertifiedSpace.full(plan.spaces.dim))
    return Claims(tuple(spaces), beyond, Bounds.of_all_rows(m, beyond, plan.spaces.dim))


class _Level:
    """Bands that all counts of m fresh rows keep to, but for a probability of at most β."""

    def __init__(
        self, bands: Bands, m: int, beta: float, low: list[float], high: list[float]
    ) -> None:
        self.m, self.beta, self.spaces = m, beta, bands.plan.spaces
        each = beta / max(1, len(low))
        least = [binomial_most(m, share, each) for share in low]
        self.most = np.array([binomial_least(m, share, each / 2) for share in high], dtype=np.int64)
        F = self.spaces.field
        rows = rows_of(F, bands.cells, self.spaces.dim)
        self.coordinates = self.spaces.coordinates(rows)
        self.first = self.spaces.first_space(self.coordinates)
        self.lower = Flag(self.spaces.dim, F).update(rows, np.array(least, dtype=np.int64))

    def inside(self, i: int) -> int:
        """The largest a with U_i ⊆ V_a in the flag of the lower counts."""
        U, a = self.spaces.subspace(i), 0
        for level in self.lower.levels():
            if not level.subspace >= U:
                break
            a = level.last_index
        return a

    def outside(self, i: int, share: float, lumped: float) -> int:
        """b: the sets of the upper counts and one for each lumped row, or one for each row."""
        codim = self.spaces.dim - self.spaces.dims[i]
        if not codim:
            return 0
        rows = binomial_least(self.m, share, self.beta)
        past = np.flatnonzero(self.first > i + 1)
        images = self.spaces.field.wrap(self.spaces.outside(self.coordinates[past], i), codim)
        sets = Flag(codim, self.spaces.field).update(images, self.most[past]).n_sets
        return min(rows, sets + binomial_least(self.m, lumped, self.beta / 2))
