"""`Guarantee`: what is proven for one fit, what its data certify, and what neither covers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flagstone.errors import FormatError

__all__ = ["Guarantee", "Window", "agreement", "percent"]

_SHOWN = 5


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
        """k = t_min - 1: so many sets lie before the window, and so many outliers are kept out."""
        return self.t_min - 1

    @property
    def length(self) -> int | float:
        """T, the number of thresholds, or the length of the interval."""
        return self.t_max - self.start

    def __str__(self) -> str:
        if self.rule == "index":
            return f"{{{self.t_min}..{self.t_max}}}"
        return f"({self.start}, {self.t_max:g}]"


@dataclass(frozen=True)
class Guarantee:
    """The promises of one fit. `print` it for a sentence, `to_dict()` for the numbers.

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
    rho_certificate, confidence : float or None, float
        From the data: with this confidence over the sample, the disagreement probability of *this
        distribution* is at most the certificate. None when that says nothing, or for shards.
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

    Examples
    --------
    >>> g = Guarantee(dim=20, n_rows=1000, n_shards=1, window=Window("index", 1, 6), threshold=3,
    ...     rho=None, rho_asked=None, rho_certificate=None, confidence=0.99, eps=0.1, eps_asked=0.1,
    ...     uncovered_bracket=(2, 41), margin=2, contamination=0.0, containment_failure=None,
    ...     rows_needed=None)
    >>> print(g)
    replicability not proven; at most 4.1 % of these rows uncovered (proven); no 2 altered rows \
change the answer
    """

    dim: int
    n_rows: int
    n_shards: int
    window: Window
    threshold: int | float
    rho: float | None
    rho_asked: float | None
    rho_certificate: float | None
    confidence: float
    eps: float | None
    eps_asked: float
    uncovered_bracket: tuple[int, int]
    margin: int
    contamination: float
    containment_failure: float | None
    rows_needed: int | None
    labels: tuple[str, ...] | None = None

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
        labels = () if self.labels is None else (f"the same labels in both samples{self._shown()}",)
        return (
            "rows over the field, drawn independently from one distribution (outliers, if any, "
            "included)",
            f"the same number of rows in both runs (here {self.n_rows}, zero rows included)",
            f"the same window {self.window} and the same published seed",
            "the same path in both runs (flag or histogram)",
            shards,
            *labels,
        )

    def to_dict(
        self, *, uncovered: float | None = None, misfits: float | None = None
    ) -> dict[str, Any]:
        """Return the promises as JSON values, with the shares that were measured, if any.

        Each of ``replicability``, ``coverage`` and ``error`` says what is ``proven``, what is
        ``certified`` from the data and what was ``measured``; null where there is nothing to say.
        """
        certified = None
        if self.rho_certificate is not None:
            certified = {
                "rho": self.rho_certificate,
                "confidence": self.confidence,
                "rows": self.n_rows,
                "t_first": None,
                "t_last": None,
            }
        return {
            "replicability": {
                "proven": self.rho,
                "certified": certified,
                "measured": None,
                "asked": self.rho_asked,
                "rows_needed": self.rows_needed,
            },
            "coverage": {
                "proven": self.eps,
                "certified": None,
                "measured": uncovered,
                "asked": self.eps_asked,
                "bracket": list(self.uncovered_bracket),
            },
            "error": {"proven": None, "certified": None, "measured": misfits},
            "outliers": {
                "kept_out": self.window.start,
                "contamination": self.contamination,
                "failure": self.containment_failure,
            },
            "margin": self.margin,
            "rows": {"read": self.n_rows, "dim": self.dim, "shards": self.n_shards},
            "labels": None if self.labels is None else list(self.labels),
            "text": str(self),
        }

    @classmethod
    def from_dict(
        cls, values: Mapping[str, Any], window: Window, threshold: int | float
    ) -> Guarantee:
        """The inverse of `to_dict`."""
        replicability, coverage = values["replicability"], values["coverage"]
        certified, outliers, rows = replicability["certified"], values["outliers"], values["rows"]
        low, high = coverage["bracket"]
        found = cls(
            dim=int(rows["dim"]),
            n_rows=int(rows["read"]),
            n_shards=int(rows["shards"]),
            window=window,
            threshold=threshold,
            rho=replicability["proven"],
            rho_asked=replicability["asked"],
            rho_certificate=None if certified is None else certified["rho"],
            confidence=0.99 if certified is None else certified["confidence"],
            eps=coverage["proven"],
            eps_asked=coverage["asked"],
            uncovered_bracket=(int(low), int(high)),
            margin=int(values["margin"]),
            contamination=outliers["contamination"],
            containment_failure=outliers["failure"],
            rows_needed=replicability["rows_needed"],
            labels=None if values["labels"] is None else tuple(map(str, values["labels"])),
        )
        if not _is_possible(found):
            raise FormatError("its promises are out of range")
        return found

    def __str__(self) -> str:
        replicability = self._replicability()
        if self.labels is not None and not (self.rho is None and self.rho_certificate is None):
            replicability += f" if both samples show the same labels{self._shown()}"
        parts = [replicability, self._coverage(), self.margin_text]
        if self.window.start:
            parts.append(self._containment())
        return "; ".join(parts)

    @property
    def margin_text(self) -> str:
        """The margin in words."""
        if self.margin < 2:
            some = "no single altered row changes" if self.margin else "one altered row may change"
            return f"{some} the answer"
        return f"no {self.margin:,} altered rows change the answer"

    def _replicability(self) -> str:
        if self.is_replicable_proven:
            return f"replicable with probability ≥ {agreement(self.rho)} (proven)"
        if self.rho_asked is None:
            text = "replicability not proven"
        else:
            text = f"replicability ≥ {agreement(self.rho_asked)} not proven"
            if self.rho is not None:
                text += f" (≥ {agreement(self.rho)} is)"
        if self.rho_certificate is not None:
            text += (
                f" in advance (the data certify ≥ {agreement(self.rho_certificate)} "
                f"at {self.confidence:.0%} confidence)"
            )
        return text

    def _shown(self) -> str:
        labels = self.labels or ()
        more = ", …" if len(labels) > _SHOWN else ""
        return (
            f" (here {', '.join(labels[:_SHOWN])}{more}; or name all that can occur: classes=[…])"
        )

    def _coverage(self) -> str:
        uncovered = "none of these rows uncovered"
        if self.uncovered_bracket[1]:
            uncovered = f"at most {percent(self.uncovered_share)} of these rows uncovered"
        if self.is_coverage_proven:
            return f"{uncovered} (proven)"
        asked = f"{100 * (1 - self.eps_asked):.6g} %"
        return f"coverage of {asked} not proven in advance (this sample: {uncovered})"

    def _containment(self) -> str:
        text = f"outlier directions kept out unless more than {self.window.start} rows are outliers"
        if self.containment_failure is not None:
            text += (
                f" (probability {self.containment_failure:.2g} at a rate of "
                f"{100 * self.contamination:.6g} %)"
            )
        return text


def _is_possible(g: Any) -> bool:
    """Whether the numbers of a guarantee, read from a file, can be what they are called."""
    low, high = g.uncovered_bracket
    known = [s for s in (g.rho, g.rho_asked, g.rho_certificate, g.eps) if s is not None]
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
    )


def agreement(rho: float | None) -> str:
    """1 - rho for print, rounded down: a printed promise never exceeds the proven one.

    >>> agreement(0.04996)
    '0.95'
    """
    return f"{math.floor((1 - (rho or 0.0)) * 1e4 + 1e-6) / 1e4:g}"


def percent(share: float) -> str:
    """A share in percent, rounded up to one decimal, or to two digits where that is more.

    >>> percent(0.0412), percent(0.0), percent(0.000123)
    ('4.2 %', '0 %', '0.013 %')
    """
    if share <= 0:
        return "0 %"
    decimals = max(1, 1 - math.floor(math.log10(100 * share)))
    return f"{math.ceil(share * 10 ** (2 + decimals) - 1e-6) / 10**decimals:g} %"
