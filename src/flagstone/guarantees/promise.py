"""`Guarantee`: what is proven for one fit, what its data certify, and what was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from flagstone import text
from flagstone.guarantees.certificate import Certificate
from flagstone.guarantees.coverage import SHARE_OF_START, counted_certificate, future_coverage
from flagstone.guarantees.window import Window
from flagstone.markup import card, table

#: Of certified promises, unless the caller asks for another one.
CONFIDENCE = 0.99
#: An answer that leaves out more than this share of future rows is not worth acting on.
MOST_OUTSIDE = 0.5


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
    """

    rho: float | None
    eps: float | None
    containment_failure: float | None = None
    rows_needed: int | None = None


@dataclass(frozen=True)
class Counted:
    """Rows outside the answer that a second pass counted, and what their number certifies (S42).

    Attributes
    ----------
    first, skipped : int
        The first rows, which hold rows that span the answer, and those of them outside.
    outside : int
        All rows outside.
    eps : float
        A future row lies outside the answer with at most this probability.
    """

    first: int
    skipped: int
    outside: int
    eps: float

    @classmethod
    def of(
        cls, first: int, skipped: int, outside: int, n_rows: int, confidence: float
    ) -> Counted | None:
        """Return what the counts certify, as their share of this confidence; None for nothing."""
        share = 1 - SHARE_OF_START * (1 - confidence)
        eps = counted_certificate(first, skipped, outside, n_rows, confidence=share)
        return cls(first, skipped, outside, eps) if eps < 1 else None


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
        What a second pass counted; None without one.
    certificate : Certificate or None
        What a second pass certified about fresh samples; None without one.
    """

    confidence: float = CONFIDENCE
    any_time: bool = False
    future: float | None = None
    span: float | None = None
    counted: Counted | None = None
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
        return min((e for e in known if e is not None), default=None)


@dataclass(frozen=True)
class Measured:
    """What the flag of these rows shows about them, exactly.

    Attributes
    ----------
    bracket : tuple of int
        Bounds on the number of these rows outside the answer.
    margin : int
        The answer does not change if up to so many rows are altered, with the threshold held fixed.
    nothing_kept : bool
        Whether no direction was kept: samples may agree, but on nothing.
    """

    bracket: tuple[int, int]
    margin: int
    nothing_kept: bool = False


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
        Why nothing is promised about fresh samples, whatever the numbers would say.

    Examples
    --------
    >>> g = Guarantee(
    ...     Setup(dim=20, n_rows=1000, n_shards=1, window=Window("index", 1, 6), threshold=3),
    ...     Asked(rho=None, eps=0.1), Proven(rho=None, eps=0.1), Measured((2, 41), margin=2))
    >>> print(g)
    replicability not proven; coverage of 90 % proven in advance (this sample: at most 4.1 % of \
these rows uncovered); no 2 altered rows change the answer
    """

    setup: Setup
    asked: Asked
    proven: Proven
    measured: Measured
    certified: Certified = field(default_factory=Certified)
    withheld: str | None = None

    def with_coverage(self, counts: Sequence[int], dim: int) -> Guarantee:
        """Return the promises with what a flag of these counts certifies about future rows.

        ``dim`` is the dimension of the answer.
        """
        setup, certified = self.setup, self.certified
        each = setup.dim if setup.window.rule == "heavy" else 1
        sets = each * math.ceil(setup.threshold) if setup.n_shards == 1 else None
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
        nothing = dim == 0 and len(counts) > 0
        return replace(
            self,
            certified=replace(certified, future=future, span=span),
            measured=replace(self.measured, nothing_kept=nothing),
        )

    def withhold(self, reason: str) -> Guarantee:
        """Return what is left to promise if rows were not drawn independently."""
        return replace(
            self,
            proven=replace(self.proven, rho=None, containment_failure=None),
            certified=Certified(self.certified.confidence, self.certified.any_time),
            withheld=reason,
        )

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
    def is_replicable(self) -> bool:
        """Whether the asked rho (or, if none was asked, any below 1) is proven or certified."""
        known, asked = self.certified.rho, self.asked.rho
        enough = known is not None and (asked is None or known <= asked)
        return self.is_replicable_proven or enough

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
        return self.measured.bracket[1] / self.setup.n_rows

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
        derived = {
            "rho": certified.rho,
            "eps": certified.eps,
            "error": certified.eps if errs_outside else None,
        }
        return {
            "proven": asdict(self.proven),
            "certified": derived | asdict(certified),
            "measured": {
                "uncovered": uncovered,
                "misfits": misfits,
                "bracket": list(measured.bracket),
                "margin": measured.margin,
            },
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


def certified_from_dict(values: Mapping[str, Any]) -> Certified:
    """Read the primary facts of `Certified`: the bounds of the flag are computed again."""
    counted, certificate = values["counted"], values["certificate"]
    return Certified(
        confidence=values["confidence"],
        any_time=bool(values["any_time"]),
        counted=None if counted is None else Counted(**counted),
        certificate=None if certificate is None else Certificate(**certificate),
    )
