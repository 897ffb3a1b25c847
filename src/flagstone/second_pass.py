"""A second pass over the rows of an answer: what they certify about fresh samples."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np

from flagstone.algebra.fields import Array, Rows
from flagstone.algebra.flag import Flag
from flagstone.certificates import Certifier, pilot_rows, pilot_share
from flagstone.certificates.serial_dependence import SerialDependence
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.guarantees.coverage import SHARE_OF_PASS
from flagstone.guarantees.exact import Share, check_share
from flagstone.guarantees.promise import CONFIDENCE, Counted
from flagstone.rules import SpanRule

#: On a stream a pilot is an eighth of the rows that it is for; the first one has so many rows.
_EIGHTH, _FIRST_PILOT = 8, 16

_DRIFT = (
    "neighbouring rows are more alike than independent rows are: readings that drift, or rows that "
    "were sorted, say nothing certain about rows to come; take rows at longer intervals"
)
_DEDUPLICATE = "count each run once (deduplicate-runs, on the command line)"


#: Returns [file, row, line] of the first marked rows, at most so many: ``places(mask, most)``.
Places: TypeAlias = Callable[[Array, int], Sequence[list[Any]]]


class Observer(Protocol):
    """Watches the rows of the second pass, for a purpose that the pass knows nothing of."""

    def update(self, rows: Array, broken: Array | None, places: Places) -> None:
        """Take a matrix of rows, and a mask of those that break the answer, where that is known."""


@runtime_checkable
class MergeableObserver(Observer, Protocol):
    """An observer that can watch the parts of a table in several processes."""

    #: How many of the first rows of the whole table it needs before the pass.
    n_first: int

    def begin(self, rows: Array) -> None:
        """Take the first rows of the table, which are not counted yet."""

    def empty(self) -> Self:
        """Return the observer as it was before the pass, for one part."""

    def merge(self, other: Self) -> Self:
        """Return the observer of both parts; ``other`` comes after."""


def planned(finding: Finding, pilot: Flag, confidence: Share = CONFIDENCE) -> Certifier | None:
    """Decide from the pilot rows what the others are asked; None where there are no others."""
    promises = finding.promises
    if promises is None or finding.flag is None:
        raise InputError("a bare answer has no window and no flag: there is nothing to certify")
    setup = promises.setup
    if not 0 < pilot.n_rows < setup.n_rows:
        return None
    share = check_share("confidence", confidence)
    certain = 1 - SHARE_OF_PASS * (1 - float(share))
    return Certifier.plan(pilot, setup.n_rows, **vars(setup.window), confidence=certain)


class _Start:
    """How many first rows hold rows that span V*, and how many rows lie outside, then and later.

    Whether they span it is asked at ever longer intervals: that any number of them does is enough.
    """

    def __init__(self, finding: Finding) -> None:
        assert finding.subspace is not None
        self._dim = finding.subspace.dim
        self._span = Flag(finding.subspace.ambient_dim, finding.field)  # of rows inside
        self._asked = 8  # at so many rows, next
        while self._asked < self._dim:  # too few rows to span it, whatever they are
            self._asked += max(8, self._asked // 16)
        self.n_rows = self.outside = 0
        self.first: tuple[int, int] | None = None  # rows, and those of them outside

    def update(self, rows: Rows, outside: Array) -> None:
        """Take more rows, and whether each lies outside V*."""
        start = 0
        while self.first is None and start < len(rows):
            stop = min(len(rows), start + self._asked - self.n_rows)
            left_out = outside[start:stop]
            self._span.update(rows[start:stop][~left_out])
            self._count(left_out)
            if self.n_rows == self._asked:
                self._asked += max(8, self._asked // 16)
                if self.n_rows - self.outside >= self._dim == self._span.rank:
                    self.first = self.n_rows, self.outside
            start = stop
        self._count(outside[start:])

    def _count(self, left_out: Array) -> None:
        self.n_rows += len(left_out)
        self.outside += int(np.count_nonzero(left_out))

    def merge(self, other: _Start) -> _Start:
        """Return the counts of both; the rows of ``other`` come after."""
        both = copy.copy(self)
        if self.first is None and other.first is not None:
            both.first = self.n_rows + other.first[0], self.outside + other.first[1]
        both.n_rows, both.outside = self.n_rows + other.n_rows, self.outside + other.outside
        return both

    def counted(self, confidence: float) -> Counted | None:
        """What the counts certify about future rows; None where that is nothing."""
        if self.first is None:
            return None
        return Counted.of(*self.first, self.outside, self.n_rows, confidence)


class SecondPass:
    """What the rows of one run show when they are read again; those of several runs add up.

    No piece of rows that certifies reaches over the end of a run (S35), and of each run the first
    tenth is pilot: all pilots together decided what is looked at.

    Parameters
    ----------
    finding : Finding
    certifier : Certifier, optional
        As `planned`; without one rows are only counted.
    n_pilot : int
        How many of the rows, the first ones, were pilot.
    """

    def __init__(
        self, finding: Finding, certifier: Certifier | None = None, n_pilot: int = 0
    ) -> None:
        self._field, self._n_pilot = finding.field, n_pilot
        self.certifier = None if certifier is None else certifier.empty()
        self.dependence, self.start = SerialDependence(), _Start(finding)
        self.n_rows = 0

    def update(self, rows: Rows, outside: Array | None = None) -> SecondPass:
        """Take more lifted rows, in the order of the fit, and return self.

        Who knows which of them lie outside V* should say so: their number certifies coverage.
        """
        certifying = rows[max(0, self._n_pilot - self.n_rows) :]
        if outside is not None:
            self.start.update(rows, outside)
        self.dependence.update(self._field.matrix(rows))
        self.n_rows += len(rows)
        if self.certifier is not None and len(certifying):
            self.certifier.update(certifying)
        return self

    def merge(self, other: SecondPass) -> SecondPass:
        """Return what both show, as runs of their own."""
        both = copy.copy(self)
        both.certifier = None
        if self.certifier is not None and other.certifier is not None:
            both.certifier = self.certifier.merge(other.certifier)
        both.dependence, both.start = (
            self.dependence.merge(other.dependence),
            self.start.merge(other.start),
        )
        both.n_rows = self.n_rows + other.n_rows
        return both

    def forecast(self, factor: float) -> float | None:
        """Return the rho that so many times the rows, like these, would certify; None for none."""
        return None if self.certifier is None else self.certifier.forecast(factor)

    def certify(self, finding: Finding, confidence: float) -> Finding:
        """Return the finding of these rows with what they certify."""
        promises = finding.promises
        n_rows = finding.rows.read if promises is None else promises.setup.n_rows
        if self.n_rows != n_rows:
            raise InputError(
                f"an answer is certified on the rows of its fit: {n_rows:,} of them, got "
                f"{self.n_rows:,}"
            )
        complete = self.start.n_rows == self.n_rows
        counted = self.start.counted(confidence) if complete else None
        return _certified(finding, self.certifier, self.dependence, confidence, counted)


class Certification(SecondPass):
    """One pass over the rows of a finding, in the order of the fit.

    The first tenth, the pilot, decides what to look at; the other rows certify it
    (docs/theory/certificates.md, S30 to S37). Memory: a few flags.

    Parameters
    ----------
    finding : Finding
        With promises for rows that were counted one by one.
    confidence : float, default 0.99

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import Coins, Flag, IndexRule, SpanQuestion, ask
    >>> random = np.random.RandomState(1)
    >>> X = random.randint(0, 2, size=(5000, 3))
    >>> X[:, 2] = X[:, 0] ^ X[:, 1] ^ (random.random_sample(5000) < 0.01)
    >>> rule = IndexRule(t_min=101, t_max=600)
    >>> finding = ask(Flag(3).update(X), SpanQuestion(), rule, Coins(7))
    >>> promises = Certification(finding).update(finding.field.rows(X)).certified().promises
    >>> print(promises.certified.certificate)
    certified at 99.2 % confidence, from 4500 rows: two samples of 5000 rows agree with probability
    ≥ 0.9995; a fresh one gives this space with probability ≥ 1 - 2e-87; at most 1.7 % of the rows
    to come lie outside
    """

    def __init__(self, finding: Finding, *, confidence: Share = CONFIDENCE) -> None:
        promises = finding.promises
        if promises is None or finding.flag is None:
            raise InputError("a bare answer has no window and no flag: there is nothing to certify")
        super().__init__(finding, n_pilot=pilot_rows(promises.setup.n_rows))
        self._finding = finding
        self.confidence = float(check_share("confidence", confidence))
        self._pilot = Flag(finding.flag.dim, finding.field)

    def update(self, rows: Rows, outside: Array | None = None) -> Certification:
        """Take more lifted rows, in the order of the fit: see `SecondPass.update`."""
        left = self._n_pilot - self._pilot.n_rows
        if left > 0:
            self._pilot.update(rows[:left])
            if len(rows) >= left:
                self.certifier = planned(self._finding, self._pilot, self.confidence)
        super().update(rows, outside)
        return self

    def certified(self) -> Finding:
        """Return the finding with what all its rows certify."""
        return self.certify(self._finding, self.confidence)


class StreamCertification:
    """Certifies while rows come, how many nobody knows: a look at every power of two.

    At 16, 32, 64, … rows the flag so far is a pilot, and the rows up to eight times as many certify
    what it chose. Each look spends its own share of δ (`pilot_share`), so whoever collects until
    something is certified is not deceived; nor by the bounds on coverage, which hold for every
    number of rows at once. Of m rows, those up to the last power of two speak.

    Parameters
    ----------
    rule : SpanRule
        Its window, at each number of rows, is what is certified.
    confidence : float

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import LinearSpan
    >>> random = np.random.RandomState(1)
    >>> span = LinearSpan(t_min=0.02, t_max=0.1, random_state=7, confidence=0.99)
    >>> for _ in range(20):
    ...     X = random.randint(0, 2, size=(500, 3))
    ...     X[:, 2] = X[:, 0] ^ X[:, 1] ^ (random.random_sample(500) < 0.005)
    ...     _ = span.partial_fit(X)
    >>> span.guarantee_.certified.rho < 0.01
    True
    """

    def __init__(self, rule: SpanRule, confidence: Share) -> None:
        self._rule = rule
        self.confidence = float(check_share("confidence", confidence))
        self._collecting: dict[int, Certifier] = {}  # by the number of rows to come to
        self._last: Certifier | None = None
        self._repeats = SerialDependence()

    def parts(self, n_before: int, rows: Rows) -> Iterator[Rows]:
        """Cut rows that come after others where a pilot ends."""
        start = 0
        while start < len(rows):
            power = max(_FIRST_PILOT, 1 << (n_before + start).bit_length())
            stop = min(len(rows), power - n_before)
            yield rows[start:stop]
            start = stop

    def update(self, rows: Rows, flag: Flag) -> None:
        """Take a part of the rows, and the flag of all rows up to its end."""
        m = flag.n_rows
        self._repeats.update(flag.field.matrix(rows))
        for certifier in self._collecting.values():
            certifier.update(rows)
        if m < _FIRST_PILOT or m & (m - 1):
            return
        self._last = self._collecting.pop(m, self._last)
        window = self._rule.window(flag.dim, _EIGHTH * m)
        share = SHARE_OF_PASS * pilot_share((m // _FIRST_PILOT).bit_length())
        certain = 1 - share * (1 - self.confidence)
        planned = Certifier.plan(flag, _EIGHTH * m, **vars(window), confidence=certain)
        self._collecting[_EIGHTH * m] = planned

    def certified(self, finding: Finding) -> Finding:
        """Return the finding of all rows so far with what they certify."""
        window, last = finding.window, self._last
        if last is not None and window is not None and finding.flag is not None:
            last = last.for_sample(finding.flag.n_rows, window.t_min, window.t_max)
        promises = finding.promises
        assert promises is not None
        promises = replace(promises, certified=replace(promises.certified, any_time=True))
        finding = replace(finding, promises=promises)
        return _certified(finding, last, self._repeats, self.confidence)


def _certified(
    finding: Finding,
    certifier: Certifier | None,
    dependence: SerialDependence,
    confidence: float,
    counted: Counted | None = None,
) -> Finding:
    promises, flag, subspace = finding.promises, finding.flag, finding.subspace
    assert promises is not None
    assert flag is not None
    assert subspace is not None
    if promises.withheld:
        return finding
    if dependence.beyond_chance:
        return replace(finding, promises=promises.withhold(f"{dependence}; {_DEDUPLICATE}"))
    if dependence.drifts:
        return replace(finding, promises=promises.withhold(_DRIFT))
    certificate = promises.certified.certificate
    if certifier is not None:
        certificate = certifier.certificate(
            subspace,
            threshold=promises.setup.threshold,
            rho=promises.asked.rho or 0.05,
            runs=promises.setup.n_shards,
        )
    before = promises.certified
    known = before.confidence == confidence and not before.any_time
    certified = replace(before, confidence=confidence, counted=counted, certificate=certificate)
    promises = replace(promises, certified=certified)
    if not known:
        promises = promises.with_coverage(flag.counts.tolist(), subspace.dim)
    return replace(finding, promises=promises)
