"""`Certifier`: from a pilot to a `Certificate`, in one pass over the rows that certify."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace
from flagstone.certificates.claims import Claims, claims_of_pieces
from flagstone.certificates.collector import Collector
from flagstone.certificates.plan import CertificatePlan
from flagstone.certificates.window import heavy_window, index_window, mean_failure
from flagstone.errors import InputError
from flagstone.guarantees.certificate import Certificate
from flagstone.guarantees.exact import Share, check_share, positive

#: More rows than this many times those at hand are not worth extrapolating to.
_FARTHEST = 256.0


class Certifier:
    """Certifies a window of thresholds for flags in arrival order, from rows drawn one by one.

    Make one with `plan`, from the flag of the first tenth of the rows (`pilot_rows`); give it all
    the others with `update`, in the order they come; ask it with `certificate`. For shards, give
    each its own certifier of the same plan, and `merge` them.

    Attributes
    ----------
    collector : Collector
        What was seen so far.
    confidence : float

    Notes
    -----
    **Guarantees**

    See `Certificate`. One certifier may be asked about any space and threshold, as often as one
    likes; but how many rows it gets must be fixed beforehand, not by what it has said so far.

    Examples
    --------
    A plane in GF(2)^3; of a hundred rows one lies outside. Where does a fresh sample find it?

    >>> import numpy as np
    >>> from flagstone import Flag, Subspace
    >>> random = np.random.RandomState(1)
    >>> X = random.randint(0, 2, size=(5000, 3))
    >>> X[:, 2] = X[:, 0] ^ X[:, 1] ^ (random.random_sample(5000) < 0.01)
    >>> certifier = Certifier.plan(Flag(3).update(X[:500]), 5000, t_min=101, t_max=600)
    >>> plane = Subspace.span([[1, 0, 1], [0, 1, 1]])
    >>> print(certifier.update(X[500:]).certificate(plane))
    certified at 99 % confidence, from 4500 rows: two samples of 5000 rows agree with probability
    ≥ 0.9996; a fresh one gives this space with probability ≥ 0.9998; at most 1.6 % of future
    rows lie outside
    """

    def __init__(self, collector: Collector, confidence: Share = 0.99) -> None:
        self.collector = collector
        share = check_share("confidence", confidence)
        self.confidence, self._failure = float(share), float(1 - share)
        self._proven: dict[tuple[int, float | None], tuple[Claims, float]] = {}

    @classmethod
    def plan(
        cls,
        pilot: Flag,
        n_rows: int,
        *,
        rule: str = "index",
        t_min: int,
        t_max: int | float,
        confidence: Share = 0.99,
    ) -> Certifier:
        """Decide what to look at, from the flag of the pilot rows and public numbers alone.

        Parameters
        ----------
        pilot : Flag
            Of the first rows, `pilot_rows(n_rows)` of them.
        n_rows : int
            Rows of the whole sample, the pilot included: fresh samples have as many.
        rule, t_min, t_max
            The window: {t_min..t_max} ("index") or the reals in (t_min − 1, t_max] ("heavy").
        confidence : float, default 0.99
        """
        window: dict[str, Any] = {"rule": rule, "t_min": t_min, "t_max": t_max}
        return cls(Collector(CertificatePlan.of_pilot(pilot, n_rows, **window)), confidence)

    def update(self, X: Any, weights: Any = None) -> Certifier:
        """Take certifying rows, in the order they come, and return self; see `Collector.update`."""
        self.collector.update(X, weights)
        self._proven.clear()
        return self

    def merge(self, other: Certifier) -> Certifier:
        """Return the certifier of the rows of both, as runs of their own."""
        if not isinstance(other, Certifier):
            raise TypeError(f"a certifier merges with a certifier, got {type(other).__name__}")
        if self.confidence != other.confidence:
            raise InputError(
                f"the certifiers do not fit: one is for a confidence of {self.confidence:g}, the "
                f"other for {other.confidence:g}; make both from one plan"
            )
        return Certifier(self.collector.merge(other.collector), self.confidence)

    def certificate(
        self,
        subspace: Subspace | None = None,
        *,
        threshold: int | float | None = None,
        rho: Share | None = None,
        runs: int | None = None,
    ) -> Certificate:
        """What the rows so far prove.

        Parameters
        ----------
        subspace : Subspace, optional
            The answer that is asked about; without one only ``rho`` is certified.
        threshold : int or float, optional
            The threshold it was read at.
        rho : float, optional
            How large a probability of disagreement would do; `rows_needed` is estimated for it.
        runs : int, optional
            How many runs of consecutive rows the flag of a sample is made of; by default as many
            as certifying rows came in.
        """
        plan, collector = self.collector.plan, self.collector
        n_runs = max(1, collector.n_runs) if runs is None else positive("runs", runs)
        if (n_runs, threshold) not in self._proven:
            claims = self._claims(n_runs, 1.0, threshold)
            self._proven[n_runs, threshold] = claims, self._rho(claims, 1.0)
        claims, found = self._proven[n_runs, threshold]
        needed = None
        if rho is not None and found > rho and collector.n_rows:
            needed = self._rows_needed(float(check_share("rho", rho)), n_runs)
        i = self._index(subspace)
        first = last = misses = lacks = eps = None
        if i is not None:
            space, eps = claims.spaces[i + 1], float(claims.beyond[i + 1])
            first, last = space.certain(plan.rule, self._failure / 2)
            if threshold is not None:
                misses = space.fails(plan.rule, threshold)
                lacks = space.fails_outside(threshold)
            else:
                lacks = space.fails_outside(plan.t_min)
                misses = mean_failure([space], plan.rule, plan.t_min, plan.t_max)
        return Certificate(
            rule=plan.rule,
            t_min=plan.t_min,
            t_max=plan.t_max,
            n_rows=plan.n_rows,
            n_runs=n_runs,
            n_pilot=plan.n_pilot,
            n_certifying=collector.n_rows,
            confidence=self.confidence,
            rho=found if found < 1 else None,
            t_first=first,
            t_last=last,
            misses=misses if misses is not None and misses < 1 else None,
            lacks=lacks if lacks is not None and lacks < 1 else None,
            eps=eps,
            rows_needed=needed,
        )

    @property
    def piece_rows(self) -> int:
        """Rows that the shortest kind of piece may take; no piece reaches over the end of a run."""
        parts = self.collector.plan.parts
        return min((part.inside.cut.longest for part in parts), default=0)

    def empty(self) -> Certifier:
        """Return a certifier of the same plan that has seen no rows: for those of another run."""
        return Certifier(Collector(self.collector.plan), self.confidence)

    def for_sample(self, n_rows: int, t_min: int, t_max: int | float) -> Certifier:
        """Return the certifier of the same evidence for samples of another size and window.

        Valid for every size and window, also for one that was chosen after a look at the evidence:
        what certifies is known about the pieces, not about a sample.
        """
        collector = copy.copy(self.collector)
        collector.plan = replace(self.collector.plan, n_rows=n_rows, t_min=t_min, t_max=t_max)
        return Certifier(collector, self.confidence)

    def forecast(self, factor: float) -> float | None:
        """The rho that ``factor`` times the rows, all like these, would certify; None for none."""
        rho = self._rho(self._claims(max(1, self.collector.n_runs), factor), factor)
        return rho if rho < 1 else None

    def _index(self, subspace: Subspace | None) -> int | None:
        """Which of the plan's spaces this is."""
        spaces = self.collector.plan.spaces
        if subspace is None or subspace.dim not in spaces.dims:
            return None
        if (subspace.field, subspace.ambient_dim) != (spaces.field, spaces.dim):
            return None
        i = spaces.dims.index(subspace.dim)
        inside = spaces.first_space(spaces.coordinates(subspace.rows)) <= i + 1
        return i if inside.all() else None

    def _window(self, factor: float) -> tuple[int, int | float]:
        """First and last threshold of the window, for ``factor`` times the rows."""
        plan = self.collector.plan
        if factor == 1:
            return plan.t_min, plan.t_max
        low = round(factor * (plan.t_min - 1))
        return low + 1, low + math.ceil(factor * (plan.t_max - plan.t_min + 1))

    def _claims(self, runs: int, factor: float, threshold: float | None = None) -> Claims:
        first, last = self._window(factor)
        asked = [] if threshold is None else [math.ceil(threshold)]
        # For the heavy rule U must be heavy at t_max, by sets past those that others can have.
        past = first - 1 if self.collector.plan.rule == "heavy" else 0
        return claims_of_pieces(
            self.collector,
            self._failure,
            self._failure / 2,
            [t + past for t in (math.ceil(last), *asked)],
            [first, *asked],
            runs=runs,
            factor=factor,
        )

    def _rho(self, claims: Claims, factor: float) -> float:
        first, last = self._window(factor)
        if self.collector.plan.rule == "index":
            return index_window(claims.spaces, claims.bounds, first, int(last))
        return heavy_window(claims.spaces, first, last)

    def _rows_needed(self, rho: float, runs: int) -> int | None:
        """Try more and more rows that look like these, then narrow down.

        Where four times the rows are too few, the most that are tried are tried next: often nothing
        would do.
        """

        def enough(factor: float) -> bool:
            return self._rho(self._claims(runs, factor), factor) <= rho

        high = 2.0
        while not enough(high):
            if high == 4 and not enough(_FARTHEST):
                return None
            high *= 2
        low = high / 2
        for _ in range(2):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if enough(middle) else (middle, high)
        return math.ceil(self.collector.plan.n_rows * high)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"confidence": self.confidence, **self.collector.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certifier:
        """Read what `to_dict` wrote; rows that come later begin a new run."""
        return cls(Collector.from_dict(values), values["confidence"])
