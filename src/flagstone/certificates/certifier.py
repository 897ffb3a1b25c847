"""`Certifier`: from a pilot to a `Certificate`, in one pass over the rows that certify."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from flagstone.algebra import Array, Flag, Rows, Subspace
from flagstone.certificates.claims import CertifiedSpace, Claims, SetsOutside, mean_failure
from flagstone.certificates.pieces import Cut, Cutter, Evidence
from flagstone.certificates.plan import CertificatePlan
from flagstone.errors import InputError
from flagstone.guarantees.binomial import share_at_most
from flagstone.guarantees.exact import Share, check_share, positive
from flagstone.guarantees.promise import Certificate, Window

#: More rows than this many times those at hand are not worth extrapolating to.
_FARTHEST = 256.0
#: Rows that are looked at, or passed over, in a stretch; those taken at a time if none are passed.
_STRETCH, _MANY = 1 << 14, 1 << 17
#: δ goes to: pieces inside, pieces outside, rows outside, rows between spaces (S34).
_INSIDE, _OUTSIDE, _BEYOND, _BETWEEN = 0.55, 0.15, 0.25, 0.05

Outcomes = Counter[tuple[int, int]]


class Certifier:
    """Certifies a window of thresholds for flags in arrival order, from independent rows.

    Make one with `of_pilot`, from the flag of the first tenth of the rows (`pilot_rows`); give it
    all the others with `update`, in the order they come; ask it with `certificate`. For shards,
    give each its own certifier of the same plan, and `merge` them: no piece of rows reaches over
    the end of a run of consecutive rows.

    ``counts`` has the zero rows; the rows in U_1; those in U_2 but not in U_1; …; those in none of
    the spaces, of all ``n_rows``. Of these ``n_cut`` were cut into pieces: all if ``plan.stride``
    is 1.

    One certifier may be asked about any space and threshold, as often as one likes; but how many
    rows it gets must be fixed beforehand, not by what it has said so far. See `Certificate`.

    A plane in GF(2)^3; of a hundred rows one lies outside. Where does a fresh sample find it?

    >>> import numpy as np
    >>> from flagstone import Flag, Subspace
    >>> from flagstone.guarantees import Window
    >>> random = np.random.RandomState(1)
    >>> X = random.randint(0, 2, size=(5000, 3))
    >>> X[:, 2] = X[:, 0] ^ X[:, 1] ^ (random.random_sample(5000) < 0.01)
    >>> certifier = Certifier.of_pilot(Flag(3).update(X[:500]), 5000, Window("index", 101, 600))
    >>> plane = Subspace.span([[1, 0, 1], [0, 1, 1]])
    >>> print(certifier.update(X[500:]).certificate(plane))
    certified at 99 % confidence, from 4500 rows: two samples of 5000 rows agree with probability
    ≥ 0.9996; a fresh one gives this space with probability ≥ 0.9998; at most 1.6 % of future
    rows lie outside
    """

    def __init__(self, plan: CertificatePlan, confidence: Share = 0.99) -> None:
        share = check_share("confidence", confidence)
        self.plan, self.confidence, self._failure = plan, float(share), float(1 - share)
        self.n_rows = self.n_cut = self.n_runs = self._in_run = 0
        self.counts: Array = np.zeros(len(plan.weights) + 2, dtype=np.int64)
        cuts = [*plan.inside, *filter(None, plan.outside)]
        self._before = {cut: Outcomes() for cut in cuts}
        self._run: dict[Cut, Cutter] = {}  # empty before the first row of a run
        self._proven: dict[tuple[int, float | None], tuple[Claims, float]] = {}

    @classmethod
    def of_pilot(
        cls, pilot: Flag, n_rows: int, window: Window, *, confidence: Share = 0.99
    ) -> Certifier:
        """Decide what to count, from the flag of the first `pilot_rows` of ``n_rows`` rows only."""
        return cls(CertificatePlan.of_pilot(pilot, n_rows, window), confidence)

    def outcomes(self, cut: Cut) -> Outcomes:
        """Return how often pieces that were cut like this had which value and length."""
        return self._before[cut] + (self._run[cut].outcomes if self._run else Outcomes())

    def update(self, X: Any) -> Certifier:
        """Take more certifying rows of this run, in the order they come: all of them or none."""
        spaces = self.plan.spaces
        rows = spaces.field.rows(X, dim=spaces.dim)
        counts, run = self.counts.copy(), self._next_run()
        seen, start, cut = self._in_run, 0, 0
        size = _MANY if self.plan.stride == 1 else _STRETCH
        while start < len(rows):
            stretch, into = divmod(seen + start, size)
            stop = min(len(rows), start + size - into)
            looked = stretch % self.plan.stride == 0
            counts += self._take(rows[start:stop], run if looked else None)
            cut += looked * (stop - start)
            start = stop
        if len(rows):
            self.n_runs += self._in_run == 0
            self.n_rows, self._in_run = self.n_rows + len(rows), seen + len(rows)
            self.counts, self._run, self.n_cut = counts, run, self.n_cut + cut
            self._proven.clear()
        return self

    def _next_run(self) -> dict[Cut, Cutter]:
        """The cutters, as copies: an interrupt must not leave half an update."""
        if self._run:
            return {cut: cutter.copy() for cut, cutter in self._run.items()}
        return {cut: Cutter(self.plan.spaces.field, cut) for cut in self._before}

    def _take(self, rows: Rows, run: dict[Cut, Cutter] | None) -> Array:
        """Cut rows into pieces, unless they are passed over, and return their counts."""
        spaces = self.plan.spaces
        coordinates = spaces.coordinates(rows)
        first = spaces.first_space(coordinates)
        if run is not None:
            self._cut(coordinates, first, run)
        return np.bincount(first, minlength=len(self.counts))

    def _cut(self, coordinates: Rows, first: Array, run: dict[Cut, Cutter]) -> None:
        spaces, n = self.plan.spaces, len(first)
        for i, (inner, outer) in enumerate(zip(self.plan.inside, self.plan.outside, strict=True)):
            inside = first <= i + 1
            ticks = np.flatnonzero(inside)
            run[inner].update(spaces.inside(coordinates[ticks], i), ticks, n)
            if outer is not None:
                beyond = np.flatnonzero(~inside)
                run[outer].update(spaces.outside(coordinates[beyond], i), beyond, n)

    def merge(self, other: Certifier) -> Certifier:
        """Return the certifier of the rows of both; rows that come later begin a new run."""
        if not isinstance(other, Certifier):
            raise TypeError(f"a certifier merges with a certifier, got {type(other).__name__}")
        if self.confidence != other.confidence:
            raise InputError(
                f"the certifiers do not fit: one is for a confidence of {self.confidence:g}, the "
                f"other for {other.confidence:g}; make both from one plan"
            )
        if self.plan != other.plan:
            raise InputError("the certifiers do not fit: make both from one plan")
        both = self.empty()
        for part in (self, other):
            both.n_rows, both.n_runs = both.n_rows + part.n_rows, both.n_runs + part.n_runs
            both.counts, both.n_cut = both.counts + part.counts, both.n_cut + part.n_cut
            for cut, total in both._before.items():
                total.update(part.outcomes(cut))
        return both

    def certificate(
        self,
        subspace: Subspace | None = None,
        *,
        threshold: int | float | None = None,
        rho: Share | None = None,
        runs: int | None = None,
    ) -> Certificate:
        """Return what the rows so far prove of the window, and of an answer read at a threshold.

        Without a subspace only rho is certified. `rows_needed` is estimated for the ``rho`` that
        would do, when it is first read. ``runs`` is the number of runs of consecutive rows that the
        flag of a sample is made of; by default as many as certifying rows came in.
        """
        plan = self.plan
        n_runs = max(1, self.n_runs) if runs is None else positive("runs", runs)
        if (n_runs, threshold) not in self._proven:
            claims = self._claims(n_runs, 1.0, threshold)
            self._proven[n_runs, threshold] = claims, claims.rho(self.plan.window)
        claims, found = self._proven[n_runs, threshold]
        needed: Callable[[], int | None] | None = None
        if rho is not None and found > rho and self.n_rows:
            # of the rows so far, whatever comes before the forecast is read
            needed = partial(copy.copy(self)._rows_needed, float(check_share("rho", rho)), n_runs)
        i = self._index(subspace)
        first = last = misses = lacks = eps = None
        if i is not None:
            space = claims.spaces[i + 1]
            eps = space.eps
            first, last = space.certain(plan.window.rule, self._failure / 2)
            if threshold is not None:
                misses = space.fails(plan.window.rule, threshold)
                lacks = space.fails_outside(threshold)
            else:
                lacks = space.fails_outside(plan.window.t_min)
                misses = mean_failure([space], plan.window)
        return Certificate(
            **vars(plan.window),
            n_rows=plan.n_rows,
            n_runs=n_runs,
            n_pilot=plan.n_pilot,
            n_certifying=self.n_cut,
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
        return min((cut.longest for cut in self.plan.inside), default=0)

    def empty(self) -> Certifier:
        """Return a certifier of the same plan that has seen no rows: for those of another run."""
        return Certifier(self.plan, self.confidence)

    def for_sample(self, n_rows: int, window: Window) -> Certifier:
        """Return the certifier of the same evidence for samples of another size and window.

        Valid also for a window that was chosen after a look at the evidence: what certifies is
        known about the pieces, not about a sample.
        """
        other = copy.copy(self)
        other.plan = replace(self.plan, n_rows=n_rows, window=window)
        other._proven = {}
        return other

    def forecast(self, factor: float) -> float | None:
        """The rho that ``factor`` times the rows, all like these, would certify; None for none."""
        rho = self._claims(max(1, self.n_runs), factor).rho(self._window(factor))
        return rho if rho < 1 else None

    def _index(self, subspace: Subspace | None) -> int | None:
        """Which of the plan's spaces this is."""
        spaces = self.plan.spaces
        if subspace is None or subspace.dim not in spaces.dims:
            return None
        if (subspace.field, subspace.ambient_dim) != (spaces.field, spaces.dim):
            return None
        i = spaces.dims.index(subspace.dim)
        inside = spaces.first_space(spaces.coordinates(subspace.rows)) <= i + 1
        return i if inside.all() else None

    def _window(self, factor: float) -> Window:
        """The window for ``factor`` times the rows."""
        window = self.plan.window
        if factor == 1:
            return window
        low = round(factor * window.start)
        return Window(window.rule, low + 1, low + math.ceil(factor * window.length))

    def _claims(
        self,
        runs: int,
        factor: float,
        threshold: float | None = None,
        betas: Sequence[float] = (),
    ) -> Claims:
        """What is proven of flags in arrival order, merged from ``runs`` shards.

        Of each space U: where U ⊆ V_t ends and V_t ⊆ U begins, but for each probability β; and the
        probabilities that either is false at the ends of the window and at the threshold.
        """
        plan, window, edge = self.plan, self._window(factor), self._failure / 2
        m, counts = round(plan.n_rows * factor), np.rint(self.counts * factor).astype(np.int64)
        betas = betas or (edge, edge / 10, edge / 1000)
        asked = [] if threshold is None else [math.ceil(threshold)]
        # For the heavy rule U must be heavy at t_max, by sets past those that others can have.
        past = 0 if window.whole else window.start
        spaces = [CertifiedSpace.zero()]
        for i, (dim, inner_cut, outer_cut) in enumerate(
            zip(plan.spaces.dims, plan.inside, plan.outside, strict=True)
        ):
            inner = self._evidence(i, inner_cut, factor)
            outer = None if outer_cut is None else self._evidence(i, outer_cut, factor)
            rows, eps = int(counts[i + 2 :].sum()), 0.0
            if dim < plan.spaces.dim:
                delta = self._failure * plan.weights[i] * _BEYOND
                eps = share_at_most(rows, int(counts.sum()), delta)
            sets, covered = SetsOutside(m, eps, outer, runs), m - runs * (inner_cut.longest - 1)
            ends = [t + past for t in (math.ceil(window.t_max), *asked)]
            inside = [(inner.bound(beta, covered) or 0, beta) for beta in betas]
            inside += [(t, inner.beyond(t, covered)) for t in ends]
            outside = [(sets.bound(beta), beta) for beta in betas]
            outside += [(t - 1, sets.beyond(t - 1)) for t in (window.t_min, *asked)]
            spaces.append(CertifiedSpace(dim, tuple(inside), tuple(outside), eps))
        spaces.append(CertifiedSpace.full(plan.spaces.dim))
        shared, each = self._failure * _BETWEEN, runs * plan.spaces.dim
        return Claims(m, tuple(spaces), counts.tolist(), shared, each, merged=runs > 1)

    def _evidence(self, i: int, cut: Cut, factor: float) -> Evidence:
        """What the pieces on one side of a space prove, each counted ``factor`` times."""
        seen = {piece: times * factor for piece, times in self.outcomes(cut).items()}
        failure = self._failure * self.plan.weights[i] * (_INSIDE if cut.inside else _OUTSIDE)
        return Evidence(cut, seen, failure, math.sqrt(self.plan.stride))

    def _rows_needed(self, rho: float, runs: int) -> int | None:
        """Try more and more rows that look like these, then narrow down."""
        # One β that ρ leaves room for serves nearly as well as several, in less time.
        betas = [min(self._failure / 2, rho / 10)]

        def enough(factor: float) -> bool:
            return self._claims(runs, factor, betas=betas).rho(self._window(factor)) <= rho

        high = 2.0
        while not enough(high):
            if high == 4 and not enough(_FARTHEST):  # often no number of rows would do
                return None
            high *= 2
        low = high / 2
        for _ in range(2):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if enough(middle) else (middle, high)
        return math.ceil(self.plan.n_rows * high)
