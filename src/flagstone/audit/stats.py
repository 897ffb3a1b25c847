"""What was counted in an audit: a frozen record that adds up."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from flagstone.audit.intervals import (
    Moments,
    anytime_interval,
    check_confidence,
    clopper_pearson,
    log_evidence,
)
from flagstone.errors import InputError

__all__ = ["AuditStats", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """What an audit says about a claimed ρ.

    Attributes
    ----------
    decision : {"rejected", "supported", "undecided"}
        Rejected: the disagreement rate is above the claim; supported: it is at or below it;
        each wrong with probability at most ``1 - confidence``, *whatever the stop rule*.
    claim, confidence : float
    interval : (float, float)
        The anytime-valid interval for the disagreement rate.
    evidence : float
        e-value against "the rate is at most the claim" (capped at 1e300): under the claim it
        ever exceeds x with probability at most 1/x.
    """

    decision: str
    claim: float
    confidence: float
    interval: tuple[float, float]
    evidence: float

    def __str__(self) -> str:
        low, high = self.interval
        said = {
            "rejected": f"the claimed rho = {self.claim:g} is REJECTED",
            "supported": f"the claimed rho = {self.claim:g} is supported",
            "undecided": f"undecided about the claimed rho = {self.claim:g}",
        }[self.decision]
        return (
            f"{said} at confidence {self.confidence:g} "
            f"(rate in [{low:.4f}, {high:.4f}], valid under any stop rule)"
        )


@dataclass(frozen=True)
class AuditStats:
    """Counts of an audit. Records of the same task add up with ``+``.

    Attributes
    ----------
    strong_id : str
        SHA-256 of the canonical task; records of different tasks refuse to add up.
    pairs : int
        Pairs of runs, including those with an error.
    agreements : int
        Pairs whose two answers are the same; two ⊥ are the same answer.
    both_bottom, one_bottom : int
        Pairs where both runs, or exactly one, answered ⊥ (of the agreements, of the
        disagreements).
    errors : int
        Pairs where an estimator raised. They are in ``pairs`` and in no other count.
    integrated_sum, integrated_squares, integrated_residuals : float or None
        Of the probability Z over the threshold that the two flags of a pair disagree: ΣZ, ΣZ², and
        Σ(Z − c)² with c the mean of the earlier pairs (None if it was not integrated out).
    error_types : tuple of (str, int)
        How often each error was seen.
    seconds : float
        Time spent fitting; no part of equality.

    Examples
    --------
    >>> from flagstone.audit import AuditStats
    >>> a = AuditStats("task", pairs=30, agreements=28)
    >>> b = AuditStats("task", pairs=70, agreements=68, one_bottom=1)
    >>> (a + b).disagreement_rate
    0.04
    >>> (a + b).verdict(0.3).decision
    'supported'
    """

    strong_id: str
    pairs: int = 0
    agreements: int = 0
    both_bottom: int = 0
    one_bottom: int = 0
    errors: int = 0
    integrated_sum: float | None = None
    integrated_squares: float | None = None
    integrated_residuals: float | None = None
    error_types: tuple[tuple[str, int], ...] = ()
    seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        counts = (self.pairs, self.agreements, self.both_bottom, self.one_bottom, self.errors)
        if any(c < 0 for c in counts):
            raise InputError(f"counts must not be negative, got {counts}")
        if self.agreements + self.one_bottom + self.errors > self.pairs:
            raise InputError("agreements, one-bottom pairs and errors exceed the pairs")
        if self.both_bottom > self.agreements:
            raise InputError("both-bottom pairs are agreements, but there are more of them")

    def __add__(self, other: AuditStats) -> AuditStats:
        if not isinstance(other, AuditStats):
            return NotImplemented
        if other.strong_id != self.strong_id:
            raise InputError(
                "only records of the same task add up: "
                f"{self.strong_id[:16]}… and {other.strong_id[:16]}…"
            )
        return AuditStats(
            self.strong_id,
            self.pairs + other.pairs,
            self.agreements + other.agreements,
            self.both_bottom + other.both_bottom,
            self.one_bottom + other.one_bottom,
            self.errors + other.errors,
            _add(self, other, "integrated_sum"),
            _add(self, other, "integrated_squares"),
            _add(self, other, "integrated_residuals"),
            _add_counts(self.error_types, other.error_types),
            self.seconds + other.seconds,
        )

    @property
    def answered(self) -> int:
        """Pairs in which both runs gave an answer (⊥ is one)."""
        return self.pairs - self.errors

    @property
    def disagreements(self) -> int:
        """Answered pairs with two different answers."""
        return self.answered - self.agreements

    @property
    def is_integrated(self) -> bool:
        """Whether the threshold was integrated out exactly."""
        return self.integrated_sum is not None

    @property
    def disagreement_rate(self) -> float:
        """Best estimate of the disagreement rate (the integrated one where there is one)."""
        n, s = self._values
        return s / n if n else math.nan

    @property
    def replicability(self) -> float:
        """One minus the disagreement rate."""
        return 1.0 - self.disagreement_rate

    @property
    def _values(self) -> tuple[int, float]:
        """Number and sum of the disagreement values."""
        total = self.integrated_sum
        return self.answered, float(self.disagreements) if total is None else total

    @property
    def _variance(self) -> float:
        """Variance of one disagreement value."""
        n, s = self._values
        squares = self.integrated_squares
        return max(0.0, (s if squares is None else squares) / n - (s / n) ** 2)

    @property
    def centre(self) -> float:
        """Running mean, kept off 0 and 1: the centre that the next residual is taken about."""
        n, s = self._values
        return (s + 0.5) / (n + 1)

    @property
    def moments(self) -> Moments:
        """What the anytime interval is computed from."""
        n, s = self._values
        return n, s, s if self.integrated_residuals is None else self.integrated_residuals

    @property
    def standard_error(self) -> float:
        """Standard error of :attr:`disagreement_rate` (nan below two pairs)."""
        n = self.answered
        return math.nan if n < 2 else math.sqrt(self._variance / (n - 1))

    @property
    def gain(self) -> float:
        """How many plain pairs one integrated pair is worth: the ratio of variances."""
        n, s = self._values
        if not self.is_integrated or n < 2 or not 0 < s < n:
            return 1.0
        p, variance = s / n, self._variance
        return p * (1 - p) / variance if variance > 1e-15 else math.inf

    def interval(self, confidence: float = 0.95, *, anytime: bool = True) -> tuple[float, float]:
        """Confidence interval for the disagreement rate.

        With ``anytime=True`` it holds under any stop rule. ``anytime=False`` gives the exact
        Clopper–Pearson interval of the plain counts, which holds if the number of pairs was fixed
        beforehand.
        """
        if anytime:
            return anytime_interval(self.moments, confidence, integrated=self.is_integrated)
        return clopper_pearson(self.disagreements, self.answered, confidence)

    def verdict(self, claim: float, confidence: float = 0.95) -> Verdict:
        """Decide about a claimed ρ; valid under any stop rule.

        See Also
        --------
        flagstone.audit.intervals : what the confidence means.
        """
        check_confidence(confidence)
        if not 0.0 <= claim <= 1.0:
            raise InputError(f"a claimed rho must lie in [0, 1], got {claim}")
        low, high = self.interval(confidence)
        n, s = self._values
        above = n > 0 and s / n > claim
        log_e = log_evidence(self.moments, claim, integrated=self.is_integrated) if above else 0.0
        decision = "rejected" if low > claim else "supported" if high <= claim else "undecided"
        evidence = math.exp(min(log_e, 690.0))
        return Verdict(decision, claim, confidence, (low, high), evidence)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "strong_id": self.strong_id,
            "pairs": self.pairs,
            "agreements": self.agreements,
            "disagreements": self.disagreements,
            "both_bottom": self.both_bottom,
            "one_bottom": self.one_bottom,
            "errors": self.errors,
            "error_types": dict(self.error_types),
            "integrated_sum": self.integrated_sum,
            "integrated_squares": self.integrated_squares,
            "integrated_residuals": self.integrated_residuals,
            "disagreement_rate": None if math.isnan(r := self.disagreement_rate) else r,
            "standard_error": None if math.isnan(e := self.standard_error) else e,
            "seconds": self.seconds,
        }


def _add(a: AuditStats, b: AuditStats, name: str) -> float | None:
    """Add two optional sums; an empty record joins either kind, anything else must match."""
    x, y = getattr(a, name), getattr(b, name)
    if x is None and y is None:
        return None
    if x is None and a.answered == 0:
        return float(y)
    if y is None and b.answered == 0:
        return float(x)
    if x is None or y is None:
        raise InputError("a record with integrated thresholds cannot be added to one without")
    return float(x + y)


def _add_counts(
    a: tuple[tuple[str, int], ...], b: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((Counter(dict(a)) + Counter(dict(b))).items()))
