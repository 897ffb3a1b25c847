"""`Guarantee`: what is proven for one fit, what its data certify, and what neither covers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flagstone.errors import FormatError
from flagstone.guarantees.certificate import Certificate
from flagstone.guarantees.coverage import future_coverage
from flagstone.guarantees.rows import promise_rows
from flagstone.guarantees.window import Window
from flagstone.guarantees.words import promises_in_words, shown
from flagstone.markup import card, table

#: Of certified promises, unless somebody asks for another one.
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Guarantee:
    """The promises of one fit. `print` it for a sentence, `to_dict()` for the numbers.

    *Proven* holds for every distribution, before a row is seen. *Certified* holds for the
    distribution at hand, with the stated confidence over the rows it rests on.

    Attributes
    ----------
    dim, n_rows, n_shards : int
        Dimension D of the rows, their number m (zero rows included), shards merged.
    window, threshold : Window, int or float
        Where the threshold was drawn from, and what was drawn.
    rho : float or None
        Proven in advance: two samples of m rows disagree with at most this probability. None when
        nothing below 1 is proven.
    rho_asked : float or None
        What the caller asked for.
    certificate : Certificate or None
        What a second look at the rows certified about fresh samples; None if nobody looked.
    eps_future, eps_span : float or None
        Certified from the flag alone (S36): a row to come lies outside the answer, or outside the
        span of all rows, with at most this probability. None where the order of rows is lost.
    eps_counted : float or None
        Certified from the rows outside that a second look counted (S42), about the same; None if
        nobody counted.
    confidence : float
        Of everything that is certified, together.
    eps : float or None
        Proven in advance: at most this share of any m rows lies outside the answer. None when
        nothing below 1 is proven.
    eps_asked : float
        What the caller asked for.
    uncovered_bracket : tuple of int
        Bounds on the number of *these* rows outside the answer, from the flag alone.
    margin : int
        No `margin` altered rows change the answer, with the threshold held fixed.
    contamination, containment_failure : float, float or None
        Outlier directions stay out unless more than k = t_min - 1 rows are outliers; the
        second is the probability of that if each row is one independently at the stated rate.
    rows_needed : int or None
        Rows with which the asked rho and eps are both proven; None if rho was not asked, or if no
        number of rows suffices.
    labels : tuple of str or None
        The labels of a classifier that was not told which can occur and numbers them as they do:
        the promise is then on samples that show the same ones. None where nothing is numbered,
        or the numbers do not depend on the sample.
    nothing_kept : bool
        Whether no direction was kept: samples may agree, but on nothing.
    in_values : bool
        Whether the rows were read in the order of their values (a histogram), not as they came.
    any_time : bool
        Whether somebody may have stopped collecting rows because of what they said (a stream):
        what is certified then holds for every number of rows at once.
    withheld : str or None
        Why nothing is promised about fresh samples, whatever the numbers would say.
    conditions : tuple of str
        What must hold besides, because of how the rows came to be what they are.

    Examples
    --------
    >>> g = Guarantee(dim=20, n_rows=1000, n_shards=1, window=Window("index", 1, 6), threshold=3,
    ...     rho=None, rho_asked=None, eps=0.1, eps_asked=0.1, uncovered_bracket=(2, 41), margin=2,
    ...     contamination=0.0, containment_failure=None, rows_needed=None)
    >>> print(g)
    replicability not proven; coverage of 90 % proven in advance (this sample: at most 4.1 % of \
these rows uncovered); no 2 altered rows change the answer
    """

    dim: int
    n_rows: int
    n_shards: int
    window: Window
    threshold: int | float
    rho: float | None
    rho_asked: float | None
    eps: float | None
    eps_asked: float
    uncovered_bracket: tuple[int, int]
    margin: int
    contamination: float
    containment_failure: float | None
    rows_needed: int | None
    labels: tuple[str, ...] | None = None
    certificate: Certificate | None = None
    eps_future: float | None = None
    eps_span: float | None = None
    eps_counted: float | None = None
    confidence: float = CONFIDENCE
    in_values: bool = False
    any_time: bool = False
    nothing_kept: bool = False
    withheld: str | None = None
    conditions: tuple[str, ...] = ()

    def with_coverage(self, counts: Sequence[int], dim: int) -> Guarantee:
        """Return the promises with what a flag of these counts certifies of rows to come.

        ``dim`` is the dimension of the answer.
        """
        each = self.dim if self.window.rule == "heavy" else 1
        sets: int | None = each * math.ceil(self.threshold)
        if dim == len(counts):
            sets = 1  # the span of all rows
        elif self.n_shards > 1:
            sets = None
        future, span = future_coverage(
            counts,
            self.n_rows,
            sets,
            in_values=self.in_values,
            any_time=self.any_time,
            confidence=self.confidence,
        )
        future = 0.0 if dim == self.dim else future
        nothing = dim == 0 and len(counts) > 0
        return replace(self, eps_future=future, eps_span=span, nothing_kept=nothing)

    def is_covered_by(self, counts: Sequence[int], dim: int) -> bool:
        """Whether a flag of these counts certifies the same, up to the last digits."""
        said = (self.eps_future, self.eps_span)
        if self.withheld is not None:
            return said == (None, None)
        again = self.with_coverage(counts, dim)
        return self.nothing_kept == again.nothing_kept and all(
            map(_is_close, said, (again.eps_future, again.eps_span))
        )

    def withhold(self, reason: str) -> Guarantee:
        """Return what is left to promise if rows were not drawn independently."""
        return replace(
            self,
            rho=None,
            certificate=None,
            eps_future=None,
            eps_span=None,
            eps_counted=None,
            containment_failure=None,
            withheld=reason,
        )

    @property
    def rho_certified(self) -> float | None:
        """Certified: two samples of m rows disagree with at most this probability."""
        return None if self.certificate is None else self.certificate.rho

    @property
    def eps_certified(self) -> float | None:
        """Certified: a row to come lies outside the answer with at most this probability."""
        second = None if self.certificate is None else self.certificate.eps
        known = (self.eps_future, self.eps_counted, second)
        return min((e for e in known if e is not None), default=None)

    @property
    def is_replicable(self) -> bool:
        """Whether the asked rho (or, if none was asked, any below 1) is proven or certified."""
        known = self.rho_certified
        enough = known is not None and (self.rho_asked is None or known <= self.rho_asked)
        return self.is_replicable_proven or enough

    @property
    def is_replicable_proven(self) -> bool:
        """Whether the asked rho (or, if none was asked, any below 1) is proven in advance."""
        return self.rho is not None and (self.rho_asked is None or self.rho <= self.rho_asked)

    @property
    def is_coverage_proven(self) -> bool:
        """Whether the asked eps is proven in advance, for every sample of this size."""
        return self.eps is not None and self.eps <= self.eps_asked

    @property
    def uncovered_share(self) -> float:
        """The largest share of *these* rows that can lie outside the answer."""
        return self.uncovered_bracket[1] / self.n_rows

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """What the promise on replicability rests on."""
        shards = (
            "rows in one summary, or in histograms"
            if self.n_shards == 1
            else f"the same tree of {self.n_shards} shards"
        )
        labels = () if self.labels is None else (f"the same labels in both samples{shown(self)}",)
        return (
            "rows over the field, drawn independently from one distribution (outliers, if any, "
            "included)",
            f"the same number of rows in both runs (here {self.n_rows}, zero rows included)",
            f"the same window {self.window} and the same published seed",
            f"rows read {'in the order of their values' if self.in_values else 'as they come'}",
            shards,
            *labels,
            *self.conditions,
        )

    def to_dict(
        self,
        *,
        uncovered: float | None = None,
        misfits: float | None = None,
        errs_outside: bool = True,
    ) -> dict[str, Any]:
        """Return the promises as JSON values, with the shares that were measured, if any.

        Each of ``replicability``, ``coverage`` and ``error`` says what is ``proven``, what is
        ``certified`` from the data and what was ``measured``; null where there is nothing to say.
        If ``errs_outside``, only rows outside V* can break the answer.
        """
        coverage = self._certified("eps", self.eps_certified)
        return {
            "replicability": {
                "proven": self.rho,
                "certified": self._certified("rho", self.rho_certified),
                "measured": None,
                "asked": self.rho_asked,
                "rows_needed": self.rows_needed,
            },
            "coverage": {
                "proven": self.eps,
                "certified": coverage,
                "measured": uncovered,
                "asked": self.eps_asked,
                "bracket": list(self.uncovered_bracket),
                "future": self.eps_future,
                "span": self.eps_span,
                "counted": self.eps_counted,
            },
            "error": {
                "proven": None,
                "certified": coverage if errs_outside else None,
                "measured": misfits,
            },
            "outliers": {
                "kept_out": self.window.start,
                "contamination": self.contamination,
                "failure": self.containment_failure,
            },
            "margin": self.margin,
            "nothing_kept": self.nothing_kept,
            "rows": {
                "read": self.n_rows,
                "dim": self.dim,
                "shards": self.n_shards,
                "in_values": self.in_values,
                "any_time": self.any_time,
            },
            "labels": None if self.labels is None else list(self.labels),
            "confidence": self.confidence,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "withheld": self.withheld,
            "conditions": list(self.conditions),
            "text": "; ".join(promises_in_words(self, uncovered)),
        }

    def _certified(self, name: str, value: float | None) -> dict[str, Any] | None:
        if value is None:
            return None
        second = self.certificate
        first, last = (None, None) if second is None else (second.t_first, second.t_last)
        of_all = name == "eps" and value in (self.eps_future, self.eps_counted)
        rows = self.n_rows if second is None or of_all else second.n_certifying
        certified = {name: value, "confidence": self.confidence, "rows": rows}
        return certified | {"t_first": first, "t_last": last}

    @classmethod
    def from_dict(
        cls, values: Mapping[str, Any], window: Window, threshold: int | float
    ) -> Guarantee:
        """The inverse of `to_dict`."""
        replicability, coverage = values["replicability"], values["coverage"]
        outliers, rows, second = values["outliers"], values["rows"], values["certificate"]
        low, high = coverage["bracket"]
        found = cls(
            dim=int(rows["dim"]),
            n_rows=int(rows["read"]),
            n_shards=int(rows["shards"]),
            window=window,
            threshold=threshold,
            rho=replicability["proven"],
            rho_asked=replicability["asked"],
            eps=coverage["proven"],
            eps_asked=coverage["asked"],
            uncovered_bracket=(int(low), int(high)),
            margin=int(values["margin"]),
            contamination=outliers["contamination"],
            containment_failure=outliers["failure"],
            rows_needed=replicability["rows_needed"],
            labels=None if values["labels"] is None else tuple(map(str, values["labels"])),
            certificate=None if second is None else Certificate(**second),
            eps_future=coverage["future"],
            eps_span=coverage["span"],
            eps_counted=coverage["counted"],
            confidence=values["confidence"],
            in_values=bool(rows["in_values"]),
            any_time=bool(rows["any_time"]),
            nothing_kept=bool(values["nothing_kept"]),
            withheld=None if values["withheld"] is None else str(values["withheld"]),
            conditions=tuple(map(str, values["conditions"])),
        )
        if not _is_possible(found):
            raise FormatError("its promises are out of range")
        return found

    def __str__(self) -> str:
        return "; ".join(promises_in_words(self))

    def _repr_html_(self) -> str:
        rows = promise_rows(self)
        return card("Promises", table([r[:3] for r in rows], badges=[r[3] for r in rows]))


def _is_close(a: float | None, b: float | None) -> bool:
    return a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-6))


def _is_possible(g: Any) -> bool:
    """Whether the numbers of a guarantee, read from a file, can be what they are called."""
    low, high = g.uncovered_bracket
    shares = (g.rho, g.rho_asked, g.eps, g.eps_future, g.eps_span, g.eps_counted)
    known = [share for share in shares if share is not None]
    return (
        min(g.dim, g.n_rows, g.n_shards) >= 1
        and 0 <= low <= high <= g.n_rows
        and all(0 <= share < 1 for share in (*known, g.confidence, g.eps_asked, g.contamination))
        and 0 <= (0 if g.containment_failure is None else g.containment_failure) <= 1
        and (g.rows_needed is None or (isinstance(g.rows_needed, int) and g.rows_needed >= 1))
        and isinstance(g.window.t_min, int)
        and isinstance(g.window.t_max, int if g.window.rule == "index" else (int, float))
        and g.window.t_min >= 1
        and g.window.length > 0
        and (g.certificate is None or g.certificate.fits(g.window, g.n_rows, g.confidence))
    )
