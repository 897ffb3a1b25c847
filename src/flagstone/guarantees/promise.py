"""`Guarantee`: what is proven for one fit, what its data certify, and what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from flagstone import text
from flagstone.guarantees.binomial import binomial_least
from flagstone.guarantees.coverage import (
    PILOT_FACTOR,
    SHARE_OF_START,
    chance_of_runs,
    come_in_runs,
    contains_failure,
    counted_certificate,
    future_coverage,
    start_points,
    stream_certificate,
)
from flagstone.guarantees.rules import bounds_of
from flagstone.markup import card, table

#: Of certified promises, unless the caller asks for another one.
CONFIDENCE = 0.99
#: An answer that leaves out more than this share of future rows is not worth acting on.
MOST_OUTSIDE = 0.5
#: Runs that are less likely than this show that rows depend on each other.
_DEPENDENT = 1e-6
#: A fresh answer that lacks some equation more often than this is not said to contain them.
MOST_LACKING = 0.05
#: Outside this many levels of its flag a pilot of a stream has rows counted.
STREAM_LEVELS = 4


@dataclass(frozen=True)
class Window:
    """Where a threshold is drawn from: {t_min..t_max} (index), or (t_min - 1, t_max] (heavy).

    Examples
    --------
    >>> print(Window("index", 1, 100), Window("heavy", 4, 10.5))
    {1..100} (3, 10.5]
    """

    rule: str
    t_min: int
    t_max: int | float

    @property
    def start(self) -> int:
        """k = t_min - 1: the sets before the window, and the outliers that are kept out."""
        return self.t_min - 1

    @property
    def length(self) -> int | float:
        """T, the number of thresholds, or the length of the interval."""
        return self.t_max - self.start

    @property
    def whole(self) -> bool:
        """Whether V* is V_t itself, so that thresholds are integers: see `RuleBounds`."""
        return bounds_of(self.rule).whole

    def __str__(self) -> str:
        if self.whole:
            return f"{{{self.t_min}..{self.t_max}}}"
        return f"({self.start}, {self.t_max:g}]"


@dataclass(frozen=True)
class Setup:
    """What two runs must have in common, for a promise about both of them.

    Attributes
    ----------
    dim, n_rows, n_shards : int
        Dimension D of the rows, their number m (zero rows included), shards merged.
    window, threshold : Window, int or float
        Where the threshold was drawn from, and what was drawn.
    sorted_rows : bool
        Whether the rows were counted by weights and read in the order of their values.
    labels : tuple of str or None
        The labels of a classifier that was not given the possible ones and numbers those it sees:
        the promise is then about samples that show the same labels. None where nothing is
        numbered, or the numbers do not depend on the sample.
    conditions : tuple of str
        What must hold besides, because of how the rows were prepared.
    """

    dim: int
    n_rows: int
    n_shards: int
    window: Window
    threshold: int | float
    sorted_rows: bool = False
    labels: tuple[str, ...] | None = None
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """What the caller asked for: rho (or None) and eps; the stated rate of outliers."""

    rho: float | None
    eps: float
    contamination: float = 0.0


@dataclass(frozen=True)
class Proven:
    """What holds for every distribution, before a row is seen. None: nothing is proven.

    Attributes
    ----------
    rho : float or None
        Two samples of m rows disagree with at most this probability.
    eps : float or None
        At most this share of any m rows lies outside the answer.
    containment_failure : float or None
        Outlier directions stay out unless more than k = t_min - 1 rows are outliers: the
        probability of that, if each row is one independently at the stated rate.
    rows_needed : int or None
        Rows with which the asked rho and eps are both proven; None if rho was not asked, or if no
        number of rows suffices.
    each : float or None
        For any equation, or row, that is fixed in advance: two samples differ on whether the answer
        has it with at most this probability (S44).
    """

    rho: float | None
    eps: float | None
    containment_failure: float | None = None
    rows_needed: int | None = None
    each: float | None = None


@dataclass(frozen=True)
class Counted:
    """Rows outside a space that were counted, and what their number certifies (S42, S43).

    Attributes
    ----------
    dim : int
        Of the space: the answer, or a level of the flag that holds it. On a stream, a level of the
        flag of a pilot.
    first, skipped : int or None
        The first rows, which hold rows that span the space, and those of them outside; None where
        that was not found out. On a stream, the rows of the pilot, and None.
    n_rows : int
        Rows among which was counted: all of them; on a stream those after the pilot.
    outside, runs : int
        The rows outside among these, and the runs of consecutive rows that they make.
    eps : float
        A future row lies outside the space with at most this probability; 1 where nothing is known.
    """

    dim: int
    first: int | None
    skipped: int | None
    n_rows: int
    outside: int
    runs: int
    eps: float = 1.0

    @property
    def in_runs(self) -> bool:
        """Whether the rows outside come in runs, as independent ones hardly ever do (S43)."""
        return come_in_runs(self.n_rows, self.outside, self.runs)

    @property
    def shows_dependence(self) -> bool:
        """Whether they come in so few runs that rows certainly depend on each other.

        Of a level that holds fewer than half of the rows that does not follow: it may be the span
        of the last ones, so that those outside come first.
        """
        few = chance_of_runs(self.n_rows, self.outside, self.runs) <= _DEPENDENT
        return few and 2 * self.outside <= self.n_rows

    def certified(self, ambient_dim: int, confidence: float) -> Counted:
        """Return it with what the counts certify, as their share of this confidence (S42)."""
        share = 1 - SHARE_OF_START * (1 - confidence)
        starts = start_points(self.n_rows, ambient_dim)
        if self.first is None or self.skipped is None or self.first not in starts:
            return replace(self, eps=1.0)
        eps = counted_certificate(
            self.first,
            self.skipped,
            self.outside,
            self.n_rows,
            starts=len(starts),
            confidence=share,
        )
        return replace(self, eps=eps)

    @classmethod
    def of_stream(
        cls, dim: int, n_pilot: int, outside: int, runs: int, confidence: float
    ) -> Counted:
        """Return what the rows after a pilot certify, as their share of this confidence."""
        n_rows, share = (PILOT_FACTOR - 1) * n_pilot, 1 - SHARE_OF_START * (1 - confidence)
        eps = stream_certificate(outside, n_rows, n_pilot, levels=STREAM_LEVELS, confidence=share)
        return cls(dim, n_pilot, None, n_rows, outside, runs, eps)


@dataclass(frozen=True)
class Contains:
    """How many equations of the answer a fresh answer has, too, and how surely (S43).

    Of the ``of`` linearly independent equations of the answer they are those of the level of the
    flag with dimension ``dim``. A fresh answer lacks one of them with probability at most
    ``failure``.
    """

    equations: int
    of: int
    dim: int
    failure: float


class _OnDemand:
    """A number that may be given as a function: it is called when the number is first read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, holder: object, owner: type) -> int | None:
        if holder is None:
            raise AttributeError(self._name)  # no default, as dataclasses ask
        values = vars(holder)
        if callable(values[self._name]):
            values[self._name] = values[self._name]()
        number: int | None = values[self._name]
        return number

    def __set__(self, holder: object, value: int | Callable[[], int | None] | None) -> None:
        vars(holder)[self._name] = value


@dataclass(frozen=True)
class Certificate:
    """Statements about fresh samples that hold together, at one confidence over the rows at hand.

    Attributes
    ----------
    rule, t_min, t_max : str, int, int or float
        The window: t uniform on {t_min..t_max} ("index") or on (t_min − 1, t_max] ("heavy").
    n_rows, n_runs : int
        Rows of a sample, and the runs of consecutive rows (shards) that its flag is made of.
    n_pilot, n_certifying : int
        The rows that chose what to look at, and those that were cut into pieces, which certify
        ``rho``: of very many rows a part is enough (S34). Rows outside are counted among all rows
        after the pilot.
    confidence : float
    rho : float or None
        Two fresh samples give different answers with at most this probability. None: nothing
        below 1 is certified.
    t_first, t_last : int or None
        At each of these thresholds a fresh sample gives the very space that was asked about
        (index rule: V_t; heavy rule: the answer at t), with probability at least the confidence.
        None: at no threshold, or another space than the pilot's.
    misses : float or None
        A fresh sample gives another space with at most this probability: at the threshold that was
        asked about, or else at one drawn from the window. None: nothing below 1 is certified.
    lacks : float or None
        A fresh sample gives a space that does not lie in this one, and so lacks one of its
        equations, with at most this probability (at the same thresholds). None: as above.
    eps : float or None
        A future row lies outside that space with at most this probability.
    rows_needed : int or None
        How many rows would certify the rho that was asked for, if they looked like these; often far
        fewer do, since pieces are cut anew for them. None if it is certified already, or if more
        rows of this kind would not help.

    Notes
    -----
    **Guarantees**

    With probability ``confidence`` over the rows at hand, ``rho``, ``misses``, ``lacks``, ``eps``
    and the range ``t_first..t_last`` are all right. Needs independent rows from one source (rows
    that come in runs of equals break it), and a window and a pilot chosen before the certifying
    rows were seen. ``rows_needed`` is an extrapolation and promises nothing.

    Examples
    --------
    >>> certificate = Certificate(rule="index", t_min=101, t_max=160, n_rows=10_000, n_runs=1,
    ...     n_pilot=1000, n_certifying=9000, confidence=0.99, rho=0.004, t_first=95, t_last=170,
    ...     misses=0.002, lacks=0.001, eps=0.008, rows_needed=None)
    >>> print(certificate)
    certified at 99 % confidence, from 9000 rows: two samples of 10000 rows agree with probability
    ≥ 0.996; a fresh one gives this space with probability ≥ 0.998; at most 0.8 % of future rows
    lie outside
    """

    rule: str
    t_min: int
    t_max: int | float
    n_rows: int
    n_runs: int
    n_pilot: int
    n_certifying: int
    confidence: float
    rho: float | None
    t_first: int | None
    t_last: int | None
    misses: float | None
    lacks: float | None
    eps: float | None
    rows_needed: _OnDemand = _OnDemand()

    def fits(self, setup: Setup, confidence: float) -> bool:
        """Say whether a certificate, read from a file, can be one for these numbers."""
        window, n_rows = setup.window, setup.n_rows
        shares = (self.rho, self.misses, self.lacks, self.eps)
        given = [t for t in (self.t_first, self.t_last) if t is not None]
        here = (self.rule, self.t_min, self.t_max, self.n_rows)
        return (
            here == (window.rule, window.t_min, window.t_max, n_rows)
            and math.isclose(1 - self.confidence, 1 - confidence, rel_tol=1e-6)
            and self.n_runs == setup.n_shards
            and min(self.n_pilot, self.n_certifying) >= 1
            and self.n_pilot + self.n_certifying <= n_rows
            and all(0 <= share <= 1 for share in shares if share is not None)
            and (self.misses is None or (self.lacks is not None and self.lacks <= self.misses))
            and len(given) != 1
            and all(type(t) is int and t >= 1 for t in given)
            and given == sorted(given)
            and (self.rows_needed is None or self.rows_needed > n_rows)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; ``Certificate(**values)`` reads them back."""
        return asdict(self)

    __getstate__ = to_dict  # copies and pickles hold the number, not what would compute it

    def __str__(self) -> str:
        return text.certificate(self)


@dataclass(frozen=True)
class Certified:
    """What the rows prove about their own distribution, with one confidence for all of it.

    Attributes
    ----------
    confidence : float
    any_time : bool
        Whether the rows themselves may have decided how many were collected (a stream): what is
        certified then holds for every number of rows at once.
    future, span : float or None
        From the flag alone (S36): a future row lies outside the answer, or outside the span of all
        rows, with at most this probability. None where the order of rows is lost.
    counted : Counted or None
        What was counted outside the answer; None where nothing was.
    levels : tuple of Counted
        The same, and what was counted outside larger levels of the flag. They stay where promises
        are withheld because rows depend on each other: what they certify needs that rows violate
        equations independently of each other, not that rows are independent.
    certificate : Certificate or None
        What a second pass certified about fresh samples; None without one.
    """

    confidence: float = CONFIDENCE
    any_time: bool = False
    future: float | None = None
    span: float | None = None
    counted: Counted | None = None
    levels: tuple[Counted, ...] = ()
    certificate: Certificate | None = None

    @property
    def rho(self) -> float | None:
        """Two samples of m rows disagree with at most this probability."""
        return None if self.certificate is None else self.certificate.rho

    @property
    def eps(self) -> float | None:
        """A future row lies outside the answer with at most this probability."""
        counted = None if self.counted is None else self.counted.eps
        second = None if self.certificate is None else self.certificate.eps
        known = (self.future, counted, second)
        return min((e for e in known if e is not None and e < 1), default=None)


@dataclass(frozen=True)
class Measured:
    """What the flag of these rows shows about them, exactly.

    Attributes
    ----------
    bracket : tuple of int
        Bounds on the number of these rows outside the answer.
    margin : int
        The answer does not change if up to this many rows are altered, at the same threshold.
    dim : int
        Of the answer V*.
    is_empty : bool
        Whether no direction was kept: samples may agree, but on nothing.
    outside : int or None
        How many of these rows lie outside, where they were counted.
    about : str
        What the answer is: "equations" of V*, a "rule" that is one of them, the "system" V* itself;
        "" for ⊥.
    """

    bracket: tuple[int, int]
    margin: int
    dim: int = 0
    is_empty: bool = False
    outside: int | None = None
    about: str = "equations"


@dataclass(frozen=True)
class Guarantee:
    """The promises of one fit: proven, certified, measured. `print` it for a sentence.

    Attributes
    ----------
    setup : Setup
        What both runs must have in common.
    asked : Asked
        What the caller asked for.
    proven : Proven
        Holds for every distribution, before a row is seen.
    measured : Measured
        Holds for these rows.
    certified : Certified
        Holds for the distribution at hand, with the stated confidence over the rows.
    withheld : str or None
        Why nothing is promised about fresh samples, regardless of the numbers.

    Examples
    --------
    >>> g = Guarantee(
    ...     Setup(dim=20, n_rows=1000, n_shards=1, window=Window("index", 1, 6), threshold=3),
    ...     Asked(rho=None, eps=0.1), Proven(rho=None, eps=0.1), Measured((2, 41), margin=2))
    >>> print(g)
    replicability not proven; coverage of 90 % proven in advance (this sample: at most 4.1 % of \
these rows uncovered); the answer does not change if up to 2 rows are altered
    """

    setup: Setup
    asked: Asked
    proven: Proven
    measured: Measured
    certified: Certified = field(default_factory=Certified)
    withheld: str | None = None

    def with_coverage(self, counts: Sequence[int]) -> Guarantee:
        """Return the promises with what a flag of these counts certifies about future rows."""
        setup, certified, dim = self.setup, self.certified, self.measured.dim
        decide = bounds_of(setup.window.rule).per_set(setup.dim) // setup.dim  # sets per threshold
        sets = decide * math.ceil(setup.threshold) if setup.n_shards == 1 else None
        future, span = future_coverage(
            counts,
            setup.n_rows,
            sets,
            sorted_rows=setup.sorted_rows,
            any_time=certified.any_time,
            confidence=certified.confidence,
        )
        if dim == len(counts) and span is not None:
            # V* is the span of all rows. Which of the two it is depends on the rows, so that
            # its bound has a share of δ of its own.
            future = span if future is None else min(future, span)
        future = 0.0 if dim == setup.dim else future
        return replace(self, certified=replace(certified, future=future, span=span))

    def withhold(self, reason: str) -> Guarantee:
        """Return what is left to promise if rows were not drawn independently.

        What was counted outside of levels stays: it needs independent violations, not rows.
        """
        known = self.certified
        return replace(
            self,
            proven=replace(self.proven, rho=None, containment_failure=None, each=None),
            certified=Certified(known.confidence, known.any_time, levels=known.levels),
            withheld=reason,
        )

    @property
    def contains(self) -> Contains | None:
        """The most equations of the answer that a fresh answer is certified to have, too (S43).

        None where there is no equation, a fresh answer may well lack one, or the rows that break
        them come in runs. Where promises are ``withheld``, this is all that is certified.
        """
        setup, kept, second = self.setup, self.measured.dim, self.certified.certificate
        m, t = setup.n_rows, setup.threshold
        outside, independent = self._outside
        known = [(dim, contains_failure(m, eps, t)) for dim, eps in outside]
        if independent and second is not None and second.lacks is not None:
            known.append((kept, second.lacks))
        sure = [one for one in known if one[1] <= MOST_LACKING and one[0] < setup.dim]
        if not sure:
            return None
        dim, failure = min(sure)
        return Contains(setup.dim - dim, setup.dim - kept, dim, failure)

    @property
    def contains_from(self) -> int | None:
        """A first threshold with which samples like this one would certify all its equations (S43).

        A forecast, for the window of *fresh* rows. None where they are certified, where there is no
        equation, or where that many full sets would need more rows than there are.
        """
        m, kept, found = self.setup.n_rows, self.measured.dim, self.contains
        shares = [eps for dim, eps in self._outside[0] if dim == kept]
        if not shares or not 0 < kept < self.setup.dim or (found and found.dim == kept):
            return None
        first = binomial_least(m, min(shares), 1 - self.certified.confidence) + 1
        return first if first * kept <= m else None

    @property
    def _outside(self) -> tuple[list[tuple[int, float]], bool]:
        """Spaces (dimension, bound on future rows outside); whether no violations cluster."""
        levels = self.certified.levels
        independent = self.withheld is None and not any(level.in_runs for level in levels)
        found = [(level.dim, level.eps) for level in levels if not level.in_runs]
        if independent and self.certified.eps is not None:
            found.append((self.measured.dim, self.certified.eps))
        return found, independent

    @property
    def misses(self) -> float | None:
        """A fresh answer is another one with at most this probability; None: not certified."""
        return None if (second := self.certified.certificate) is None else second.misses

    @property
    def is_unmeasured(self) -> bool:
        """Whether there was no second pass over the rows, and without one little is known.

        The flag alone pays for every row of the first sets, and so bounds what lies outside by far
        more than there is: a bound above one half then says nothing about the answer.
        """
        known, certified = self.certified.eps, self.certified
        weak = known is None or known >= MOST_OUTSIDE
        looked = certified.certificate is not None or certified.counted is not None
        return weak and not looked and self.withheld is None

    @property
    def is_replicable_proven(self) -> bool:
        """Whether the asked rho (or, if none was asked, any below 1) is proven in advance."""
        known, asked = self.proven.rho, self.asked.rho
        return known is not None and (asked is None or known <= asked)

    @property
    def is_coverage_proven(self) -> bool:
        """Whether the asked eps is proven in advance, for every sample of this size."""
        return self.proven.eps is not None and self.proven.eps <= self.asked.eps

    @property
    def uncovered_share(self) -> float:
        """The largest share of *these* rows that can lie outside the answer."""
        outside = self.measured.outside
        return (self.measured.bracket[1] if outside is None else outside) / self.setup.n_rows

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """What the promise on replicability rests on, in words."""
        return text.hypotheses(self)

    def to_dict(
        self,
        *,
        uncovered: float | None = None,
        misfits: float | None = None,
        errs_outside: bool = True,
    ) -> dict[str, Any]:
        """Return the numbers as JSON values, with the measured shares, if any.

        If ``errs_outside``, only rows outside V* can break the answer.
        """
        setup, certified, measured = self.setup, self.certified, self.measured
        facts = asdict(certified) | {
            "rho": certified.rho,
            "eps": certified.eps,
            "error": certified.eps if errs_outside else None,
        }
        del facts["counted"]  # the level of the answer
        facts["levels"] = list(facts["levels"])
        return {
            "proven": asdict(self.proven),
            "certified": facts,
            "measured": {
                "uncovered": uncovered,
                "misfits": misfits,
                "bracket": list(measured.bracket),
                "margin": measured.margin,
            },
            "contains": None if self.contains is None else asdict(self.contains),
            "equal": None if (missed := self.misses) is None else {"failure": missed},
            "shards": setup.n_shards,
            "sorted_rows": setup.sorted_rows,
            "labels": None if setup.labels is None else list(setup.labels),
            "conditions": list(setup.conditions),
            "withheld": self.withheld,
        }

    def __str__(self) -> str:
        return "; ".join(text.promises(self))

    def _repr_html_(self) -> str:
        rows = text.promise_rows(self)
        return card("Promises", table([r[:3] for r in rows], badges=[r[3] for r in rows]))


def counted_outside(levels: Sequence[Counted], dim: int) -> Counted | None:
    """Return what was counted outside the answer, of this dimension, if it says something."""
    return next((level for level in levels if level.dim == dim and level.eps < 1), None)
