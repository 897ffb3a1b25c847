"""A second pass over the rows of an answer: what they certify about fresh samples."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flagstone.algebra import Array, Field, Flag, Rows, Subspace, width
from flagstone.answers import Constraints
from flagstone.certificates import (
    Certifier,
    LevelCounts,
    NestedSpaces,
    SerialDependence,
    pilot_rows,
)
from flagstone.errors import InputError, WindowError
from flagstone.finding import Finding
from flagstone.guarantees.coverage import (
    FIRST_PILOT,
    PILOT_FACTOR,
    SHARE_OF_PASS,
    come_in_runs,
    contains_failure,
    counted_certificate,
    pilot_share,
    start_points,
)
from flagstone.guarantees.exact import Share, check_share
from flagstone.guarantees.promise import (
    CONFIDENCE,
    STREAM_LEVELS,
    Counted,
    Guarantee,
    Window,
    counted_outside,
)
from flagstone.rules import SpanRule
from flagstone.wording import counted

#: This many of the levels above the answer are counted, and the span of all rows.
_MOST_LEVELS = 8

_DRIFT = (
    "neighbouring rows are more alike than independent rows are: readings that drift, or rows that "
    "were sorted, say nothing certain about future rows; take rows at longer intervals"
)
_DEDUPLICATE = "count each run once (deduplicate-runs, on the command line)"


def _burst(levels: Sequence[Counted]) -> str | None:
    """Why rows depend on each other, if those outside a level come in runs; None otherwise."""
    for level in levels:
        if level.shows_dependence:
            return (
                f"rows that break equations come in runs ({level.outside:,} of them in "
                f"{counted(level.runs, 'run')}), so that rows depend on each other"
            )
    return None


def _known(finding: Finding) -> tuple[Guarantee, Subspace]:
    """The promises of a finding, and V*."""
    if finding.promises is None or finding.subspace is None:
        raise InputError("a bare answer has no window and no flag: there is nothing to certify")
    return finding.promises, finding.subspace


def planned(finding: Finding, pilot: Flag, confidence: Share = CONFIDENCE) -> Certifier | None:
    """Decide from the pilot rows what the other rows certify; None if there are no others."""
    setup = _known(finding)[0].setup
    if not 0 < pilot.n_rows < setup.n_rows:
        return None
    share = check_share("confidence", confidence)
    certain = 1 - SHARE_OF_PASS * (1 - float(share))
    return Certifier.of_pilot(pilot, setup.n_rows, setup.window, confidence=certain)


def _tracked(finding: Finding) -> list[int]:
    """Dimensions of the answer and of a few levels above it, those that most sets span."""
    kept = _known(finding)[1].dim
    if finding.spaces is None:
        return [kept]
    larger = [level for level in finding.stairs.levels if level.dim > kept]
    some = sorted(larger, key=lambda level: level.multiplicity, reverse=True)[:_MOST_LEVELS]
    return [kept, *sorted({level.dim for level in (*larger[:1], *some)})]


class SecondPass:
    """What the rows of a finding show when they are read again, in the order of the fit.

    The pilot, the first tenth of the rows, decides what to look at; the other rows certify it
    (`Certifier`; docs/theory/certificates.md, S30 to S37). Passes over several shards add up: no
    piece of rows that certifies reaches over the end of a shard, and the pilots of all shards
    decide together (`planned` makes the ``certifier``; without one, rows are only counted). Memory:
    a few flags.
    """

    def __init__(
        self,
        finding: Finding,
        certifier: Certifier | None = None,
        n_pilot: int = 0,
        n_before: int = 0,
    ) -> None:
        self._field, self._n_pilot = finding.field, n_pilot
        self.certifier = None if certifier is None else certifier.empty()
        self.dependence = SerialDependence()
        (promises, V), dims = _known(finding), _tracked(finding)
        m = promises.setup.n_rows
        self.levels = LevelCounts(finding.field, V.ambient_dim, dims, m, n_before)
        self.n_rows = 0
        # by how many of {0} and all levels of the flag do not hold a row: how many of these do not
        known = [0, *finding.spaces.dims] if finding.spaces else [V.dim]
        self._place = np.searchsorted([known.index(dim) for dim in dims], np.arange(len(known) + 1))
        self._plan: Callable[[Flag], Certifier | None] | None = None
        self._pilot = Flag(V.ambient_dim, finding.field)

    @classmethod
    def of_all_rows(cls, finding: Finding, *, confidence: Share = CONFIDENCE) -> SecondPass:
        """Return a pass over all rows as one shard, which plans when its pilot is complete."""
        found = cls(finding, n_pilot=pilot_rows(_known(finding)[0].setup.n_rows))
        found._plan = partial(planned, finding, confidence=check_share("confidence", confidence))
        return found

    def update(self, rows: Rows, place: Array | None = None) -> SecondPass:
        """Take more lifted rows, in the order of the fit, and return self.

        ``place`` says how many of {0} and the levels of the flag do not hold each row, or, where
        ``finding.spaces`` is None, whether V* does not: counting them certifies coverage.
        """
        left = max(0, self._n_pilot - self.n_rows)
        if self._plan is not None and left:
            self._pilot.update(rows[:left])
            if len(rows) >= left:
                self.certifier = self._plan(self._pilot)
        if place is not None:
            self.levels.update(rows, self._place[place.astype(np.intp, copy=False)])
        self.dependence.update(self._field.matrix(rows))
        self.n_rows += len(rows)
        if self.certifier is not None and len(rows) > left:
            self.certifier.update(rows[left:])
        return self

    def merge(self, other: SecondPass) -> SecondPass:
        """Return what both show, as shards of their own."""
        both = copy.copy(self)
        both.certifier = None
        if self.certifier is not None and other.certifier is not None:
            both.certifier = self.certifier.merge(other.certifier)
        both.dependence = self.dependence.merge(other.dependence)
        both.levels = self.levels.merge(other.levels)
        both.n_rows = self.n_rows + other.n_rows
        return both

    def certify(self, finding: Finding, confidence: float) -> Finding:
        """Return the finding of these rows with what they certify."""
        n_rows = _known(finding)[0].setup.n_rows
        if self.n_rows != n_rows:
            raise InputError(
                f"certifying needs the rows of the fit: {n_rows:,} of them, got {self.n_rows:,}"
            )
        complete = self.levels.n_rows == self.n_rows
        levels = self.levels.counted(confidence) if complete else ()
        return _certified(finding, self.certifier, self.dependence, confidence, levels)


class StreamPilot:
    """What the first rows of a stream chose, and what the rows after them show.

    The window of the rule for eight times as many rows is certified, at a confidence that all
    pilots share.
    """

    def __init__(self, flag: Flag, rule: SpanRule, confidence: float) -> None:
        self.n_pilot, m = flag.n_rows, PILOT_FACTOR * flag.n_rows
        self.certifier: Certifier | None = None
        certain = 1 - SHARE_OF_PASS * pilot_share(self.n_pilot) * (1 - confidence)
        # a window for more rows than these says nothing about them
        with contextlib.suppress(WindowError):
            window = rule.window(flag.dim, m)
            self.certifier = Certifier.of_pilot(flag, m, window, confidence=certain)
        levels = [level for level in flag.levels() if level.dim < flag.dim]
        longest = sorted(levels, key=lambda level: level.multiplicity, reverse=True)
        dims = sorted({level.dim for level in (*levels[:1], *longest[: STREAM_LEVELS - 1])})
        self._spaces = NestedSpaces.of_flag(flag, dims)
        self._levels = LevelCounts(flag.field, flag.dim, dims, 0)

    def update(self, rows: Rows) -> None:
        """Take the next rows: certify, and count those outside the levels of the pilot."""
        if self.certifier is not None:
            self.certifier.update(rows)
        if self._levels.dims:
            self._levels.update(rows, self._place(rows))

    def _place(self, rows: Rows) -> Array:
        """Say of each row how many of the levels do not hold it."""
        first = self._spaces.first_space(self._spaces.coordinates(rows))  # {0} is one of those
        return np.maximum(first.astype(np.intp), 1) - 1

    def counted(self, finding: Finding, confidence: float) -> tuple[Counted, ...]:
        """Return what was counted outside the levels that hold the answer."""
        V, levels = _known(finding)[1], self._levels
        beyond = int(self._place(V.rows).max(initial=0)) if levels.dims else 0
        numbers = zip(levels.dims, levels.outside.tolist(), levels.runs.tolist(), strict=True)
        return tuple(
            Counted.of_stream(dim, self.n_pilot, outside, runs, confidence)
            for dim, outside, runs in list(numbers)[beyond:]
        )


def certified_rho(field: Field, rows: Rows, window: Window, confidence: float) -> float | None:
    """Return the rho that lifted rows certify for a window; None for none."""
    n_pilot = pilot_rows(len(rows))
    pilot = Flag(width(rows), field).update(rows[:n_pilot])
    certain = 1 - SHARE_OF_PASS * (1 - confidence)
    certifier = Certifier.of_pilot(pilot, len(rows), window, confidence=certain)
    return certifier.update(rows[n_pilot:]).forecast(1.0)


class StreamCertification:
    """Certifies a stream of unknown length: it looks at every power of two rows.

    At 16, 32, 64, … rows the flag so far is a pilot, and the rows up to eight times as many certify
    what it chose. Each look spends its own share of δ (`pilot_share`), so that certificates hold
    for every number of rows at once, also for one at which something was first certified; and so do
    the bounds on coverage. Of m rows, those up to the last power of two certify.
    """

    def __init__(self, rule: SpanRule, confidence: Share) -> None:
        self._rule = rule
        self.confidence = float(check_share("confidence", confidence))
        self._collecting: dict[int, StreamPilot] = {}  # by the number of rows to reach
        self._last: StreamPilot | None = None
        self._repeats = SerialDependence()

    def parts(self, n_before: int, rows: Rows) -> Iterator[Rows]:
        """Cut rows that come after others where a pilot ends."""
        start = 0
        while start < len(rows):
            power = max(FIRST_PILOT, 1 << (n_before + start).bit_length())
            stop = min(len(rows), power - n_before)
            yield rows[start:stop]
            start = stop

    def update(self, rows: Rows, flag: Flag) -> None:
        """Take a part of the rows, and the flag of all rows up to its end."""
        m = flag.n_rows
        self._repeats.update(flag.field.matrix(rows))
        for pilot in self._collecting.values():
            pilot.update(rows)
        if m < FIRST_PILOT or m & (m - 1):
            return
        self._last = self._collecting.pop(m, self._last)
        self._collecting[PILOT_FACTOR * m] = StreamPilot(flag, self._rule, self.confidence)

    def certified(self, finding: Finding) -> Finding:
        """Return the finding of all rows so far with what they certify."""
        window, last, certifier = finding.window, self._last, None
        if last is not None and window is not None and finding.flag is not None:
            certifier = last.certifier and last.certifier.for_sample(finding.flag.n_rows, window)
        levels = () if last is None else last.counted(finding, self.confidence)
        promises = _known(finding)[0]
        promises = replace(promises, certified=replace(promises.certified, any_time=True))
        finding = replace(finding, promises=promises)
        return _certified(finding, certifier, self._repeats, self.confidence, levels)


class EquationCertificate(NamedTuple):
    """One equation of an answer: the rows that break it, and whether fresh answers have it.

    ``failure`` is None where violations come in runs, or nothing is known.
    """

    text: str
    violations: int
    failure: float | None


def certify_equations(
    finding: Finding, X: Any, *, confidence: Share = CONFIDENCE
) -> tuple[EquationCertificate, ...]:
    """Certify, equation by equation, that a fresh answer implies it (S43).

    Parameters
    ----------
    finding : Finding
        Of check equations (`LinearSpan`, `AffineSpan`, ``constraints``).
    X : rows over the field
        Those of the fit, in the order of the fit.
    confidence : float, default 0.99
        Of all equations together: δ is shared among them. It is not shared with the promises of the
        finding.

    Notes
    -----
    **Guarantees**

    Each failure is a bound on the probability that a fresh answer, at the same threshold and with
    as many rows, does not imply the equation. Rows must break it independently of each other.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import IndexRule, LinearSpan
    >>> X = np.random.RandomState(1).randint(0, 2, size=(300, 5))
    >>> X[:, 3:] = X[:, :2]
    >>> X[::9, 4] ^= 1
    >>> finding = LinearSpan(rule=IndexRule(t_min=40, t_max=40), random_state=7).fit(X).finding_
    >>> for text, violations, failure in certify_equations(finding, X):
    ...     print(text, violations, failure < 0.05)
    x0 ⊕ x3 = 0 0 True
    x1 ⊕ x4 = 0 34 False
    """
    answer, V, g = finding.answer, finding.subspace, finding.promises
    if not isinstance(answer, Constraints) or answer.is_bottom or V is None or g is None:
        raise InputError("equations are certified for a finding of check equations, with its flag")
    F, m, t = finding.field, g.setup.n_rows, g.setup.threshold
    rows = F.rows(X, dim=answer.dim)
    if len(rows) != m:
        raise InputError(f"equations are certified on the {m:,} rows of the fit, got {len(rows):,}")
    lifted, broken = finding.question.lift(F, rows, None), answer.syndrome(X) != 0
    points, outside = start_points(m, V.ambient_dim), ~V.contains(lifted)

    def spanned(n: int) -> bool:
        return Subspace.of_rows(lifted[:n][~outside[:n]], F).dim == V.dim

    first = next((n for n in points if spanned(n)), m)
    share = 1 - (1 - check_share("confidence", confidence)) / max(1, len(answer))
    skipped, found = int(outside[:first].sum()), []
    for text, bad in zip(answer.lines, broken.T, strict=True):
        hits = int(bad.sum())
        runs = int(np.count_nonzero(bad[1:] & ~bad[:-1])) + int(bad[0])
        broken_by = skipped + int(bad[first:].sum())
        starts = max(1, len(points))
        eps = counted_certificate(first, skipped, broken_by, m, starts=starts, confidence=share)
        known = eps < 1 and not come_in_runs(m, hits, runs)
        failure = contains_failure(m, eps, t) if known else None
        found.append(EquationCertificate(text, hits, failure))
    return tuple(found)


def _certified(
    finding: Finding,
    certifier: Certifier | None,
    dependence: SerialDependence,
    confidence: float,
    levels: tuple[Counted, ...] = (),
) -> Finding:
    (promises, subspace), flag = _known(finding), finding.flag
    assert flag is not None
    if promises.withheld:
        return finding
    outside, before = counted_outside(levels, subspace.dim), promises.certified
    certified = replace(before, confidence=confidence, counted=outside, levels=levels)
    promises = replace(promises, certified=certified)
    if dependence.beyond_chance:
        return replace(finding, promises=promises.withhold(f"{dependence}; {_DEDUPLICATE}"))
    if dependence.drifts:
        return replace(finding, promises=promises.withhold(_DRIFT))
    if (burst := _burst(levels)) is not None:
        return replace(finding, promises=promises.withhold(burst))
    if certifier is not None:
        certificate = certifier.certificate(
            subspace,
            threshold=promises.setup.threshold,
            rho=promises.asked.rho or 0.05,
            runs=promises.setup.n_shards,
        )
        promises = replace(promises, certified=replace(certified, certificate=certificate))
    if before.confidence != confidence or before.any_time:
        promises = promises.with_coverage(flag.counts.tolist())
    return replace(finding, promises=promises)
