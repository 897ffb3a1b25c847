"""`Guarantee`: what is proven for one fit, what the sample shows, and what neither covers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

__all__ = ["Guarantee", "Window"]

_SHOWN = 5


@dataclass(frozen=True)
class Window:
    """The interval a threshold is drawn from: {k+1..k+T} (index) or (k, k+T] (heavy).

    Examples
    --------
    >>> print(Window("index", start=0, length=100), Window("heavy", start=3, length=7.5))
    {1..100} (3, 10.5]
    """

    rule: str
    start: int
    length: int | float

    @property
    def end(self) -> int | float:
        """k + T, the largest threshold that can be drawn."""
        return self.start + self.length

    def __str__(self) -> str:
        if self.rule == "index":
            return f"{{{self.start + 1}..{self.end}}}"
        return f"({self.start}, {self.end:g}]"


@dataclass(frozen=True)
class Guarantee:
    """The promises of one fit. `print` it for a sentence, `to_dict()` for the numbers.

    Attributes
    ----------
    rule : str
        "index" or "heavy".
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
        No margin (or fewer) altered rows change the answer, with the threshold held fixed.
    contamination, containment_failure : float, float or None
        Outlier directions stay out unless more than k = `window.start` rows are outliers; the
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
    >>> g = Guarantee(rule="index", dim=20, n_rows=1000, n_shards=1, threshold=3,
    ...     window=Window("index", 0, 6), rho=None, rho_asked=None, rho_certificate=None,
    ...     confidence=0.99, eps=0.1, eps_asked=0.1, uncovered_bracket=(2, 41), margin=2,
    ...     contamination=0.0, containment_failure=None, rows_needed=None)
    >>> print(g)
    replicability not proven; at most 4.1 % of these rows uncovered (proven); margin 2 sets
    """

    rule: str
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `from_dict` reads them back."""
        values = asdict(self) | {"uncovered_bracket": list(self.uncovered_bracket)}
        if values.pop("labels") is not None:
            values["labels"] = list(self.labels or ())
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Guarantee:
        """The inverse of `to_dict`."""
        known = {field.name: values[field.name] for field in fields(cls) if field.name != "labels"}
        if values.get("labels") is not None:
            known["labels"] = tuple(values["labels"])
        known["window"] = Window(**values["window"])
        low, high = values["uncovered_bracket"]
        known["uncovered_bracket"] = (int(low), int(high))
        return cls(**known)

    def __str__(self) -> str:
        replicability = self._replicability()
        if self.labels is not None and not (self.rho is None and self.rho_certificate is None):
            replicability += f" if both samples show the same labels{self._shown()}"
        parts = [replicability, self._coverage(), self._margin()]
        if self.window.start:
            parts.append(self._containment())
        return "; ".join(parts)

    def _replicability(self) -> str:
        if self.is_replicable_proven:
            return f"replicable with probability ≥ {_agreement(self.rho)} (proven)"
        if self.rho_asked is None:
            text = "replicability not proven"
        else:
            text = f"replicability ≥ {_agreement(self.rho_asked)} not proven"
            if self.rho is not None:
                text += f" (≥ {_agreement(self.rho)} is)"
        if self.rho_certificate is not None:
            text += (
                f" in advance (the data certify ≥ {_agreement(self.rho_certificate)} "
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
            uncovered = f"at most {_percent(self.uncovered_share)} of these rows uncovered"
        if self.is_coverage_proven:
            return f"{uncovered} (proven)"
        asked = f"{100 * (1 - self.eps_asked):.6g} %"
        return f"coverage of {asked} not proven in advance (this sample: {uncovered})"

    def _margin(self) -> str:
        unit = "set" if self.rule == "index" else "row"
        return f"margin {self.margin} {unit}{'' if self.margin == 1 else 's'}"

    def _containment(self) -> str:
        text = f"outlier directions kept out unless more than {self.window.start} rows are outliers"
        if self.containment_failure is not None:
            text += (
                f" (probability {self.containment_failure:.2g} at a rate of "
                f"{100 * self.contamination:.6g} %)"
            )
        return text


def _agreement(rho: float | None) -> str:
    """1 - rho for print, rounded down: a printed promise never exceeds the proven one."""
    agreement = 1 - (rho or 0.0)
    return f"{math.floor(agreement * 1e4 + 1e-6) / 1e4:g}"


def _percent(share: float) -> str:
    """A share in percent, rounded up to one decimal, or to two digits where that is more."""
    if share <= 0:
        return "0 %"
    decimals = max(1, 1 - math.floor(math.log10(100 * share)))
    return f"{math.ceil(share * 10 ** (2 + decimals) - 1e-6) / 10**decimals:g} %"
