"""What was counted in an audit: a frozen record that adds up."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from flagstone.audit.intervals import (
    anytime_interval,
    betting_interval,
    check_confidence,
    clopper_pearson,
    log_evidence,
    log_evidence_of_values,
)
from flagstone.errors import InputError
from flagstone.guarantees.exact import smallest

#: Below so many pairs the gain of integrating is a guess, and is not shown.
_FEW = 20


_COUNTS = (
    "pairs", "agreements", "both_bottom", "one_bottom", "both_empty", "errors", "both_failed"
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """What an audit says about a claimed ρ.

    Attributes
    ----------
    decision : {"rejected", "supported", "undecided"}
        Rejected: the disagreement rate is above the claim; supported: it is at or below it;
        each wrong with probability at most ``1 - confidence``, *whatever the stop rule*.
        Pairs in which both runs failed support no claim, and reject none.
    claim, confidence : float
    interval : (float, float)
        The anytime-valid interval for the disagreement rate.
    evidence : float
        e-value against "the rate is at most the claim" (capped at 1e300): under the claim it
        ever exceeds x with probability at most 1/x.
    note : str
        What the decision leaves out, if anything.
    """

    decision: str
    claim: float
    confidence: float
    interval: tuple[float, float]
    evidence: float
    note: str = ""

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
            + (f"; {self.note}" if self.note else "")
        )


@dataclass(frozen=True)
class AuditStats:
    """Counts of an audit. Records of different pairs of the same task add up with ``+``.

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
    both_empty : int
        Agreements in which neither run kept a direction: the answers come from the coins alone.
    errors, both_failed : int
        Pairs where a run failed, and those where both did. All of them are disagreements: an error
        is no answer, and two errors agree on nothing.
    integrated : tuple of float, or None
        For each pair the probability Z over the threshold that its two answers differ, 1 with an
        error, in increasing order (None if the threshold was not integrated out).
    error_types : tuple of (str, int)
        How often each error was seen; numbers in messages are written ``#``, so that messages
        that differ in a number only are one kind.
    numbers : tuple of (int, int)
        The numbers of the pairs, as ranges ``first <= number < end``; empty if not known (a
        record made by hand). Records that share a pair refuse to add up.
    seconds : float
        Time spent fitting; no part of equality.
    accuracies, coverages : tuple of float
        Of each pair, where it could be measured, in increasing order; see `Outcome`.

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
    integrated: tuple[float, ...] | None = None
    error_types: tuple[tuple[str, int], ...] = ()
    numbers: tuple[tuple[int, int], ...] = ()
    seconds: float = field(default=0.0, compare=False)
    both_empty: int = 0
    both_failed: int = 0
    accuracies: tuple[float, ...] = ()
    coverages: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        counts = [getattr(self, name) for name in _COUNTS]
        if any(c < 0 for c in counts):
            raise InputError(f"counts must not be negative, got {counts}")
        if self.agreements + self.one_bottom + self.errors > self.pairs:
            raise InputError("agreements, one-bottom pairs and errors exceed the pairs")
        if self.both_bottom + self.both_empty > self.agreements:
            raise InputError("both-bottom pairs are agreements, but there are more of them")
        if self.both_failed > self.errors:
            raise InputError("pairs in which both runs failed are errors, but there are more")
        if self.integrated is not None and len(self.integrated) != self.pairs:
            raise InputError(
                f"there must be one integrated value per pair: {self.pairs} pairs, "
                f"{len(self.integrated)} values"
            )

    def __add__(self, other: AuditStats) -> AuditStats:
        if not isinstance(other, AuditStats):
            return NotImplemented
        if other.strong_id != self.strong_id:
            raise InputError(
                "only records of the same task add up: "
                f"{self.strong_id[:16]}… and {other.strong_id[:16]}…"
            )
        errors = dict(self.error_types), dict(other.error_types)
        return AuditStats(
            self.strong_id,
            **{name: getattr(self, name) + getattr(other, name) for name in (*_COUNTS, "seconds")},
            integrated=_add_values(self, other),
            error_types=tuple(sorted((Counter(errors[0]) + Counter(errors[1])).items())),
            numbers=_add_numbers(self.numbers, other.numbers),
            accuracies=tuple(sorted(self.accuracies + other.accuracies)),
            coverages=tuple(sorted(self.coverages + other.coverages)),
        )

    @property
    def answered(self) -> int:
        """Pairs in which both runs gave an answer (⊥ is one)."""
        return self.pairs - self.errors

    @property
    def disagreements(self) -> int:
        """Pairs without two equal answers: those with different ones, and those with an error."""
        return self.pairs - self.agreements

    @property
    def all_bottom(self) -> bool:
        """Whether there are answers, and every one of them is ⊥."""
        return 0 < self.both_bottom == self.answered

    @property
    def agree_on_nothing(self) -> bool:
        """Whether whatever agreed had no content: ⊥, or drawn from the coins alone."""
        return 0 < self.agreements == self.both_bottom + self.both_empty

    @property
    def quality(self) -> tuple[str, float] | None:
        """("accuracy" or "coverage", its mean over the runs), None if nothing was measured."""
        for name, values in (("accuracy", self.accuracies), ("coverage", self.coverages)):
            if values:
                return name, math.fsum(values) / len(values)
        return None

    @property
    def is_integrated(self) -> bool:
        """Whether the threshold was integrated out exactly."""
        return self.integrated is not None

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
        n = self.pairs
        return n, float(self.disagreements) if self.integrated is None else sum(self.integrated)

    @property
    def _variance(self) -> float:
        """Variance of one disagreement value."""
        n, s = self._values
        squares = s if self.integrated is None else sum(z * z for z in self.integrated)
        return max(0.0, squares / n - (s / n) ** 2)

    @property
    def standard_error(self) -> float:
        """Standard error of :attr:`disagreement_rate` (nan below two pairs)."""
        n = self.pairs
        return math.nan if n < 2 else math.sqrt(self._variance / (n - 1))

    def plain_pairs(self, confidence: float = 0.95) -> int | None:
        """Return how many plain pairs would give an interval as narrow as this one.

        Plain pairs of the same rate are meant, and the anytime interval of each kind. None if
        nothing was integrated out, or for fewer than 20 pairs.
        """
        if self.integrated is None or self.pairs < _FEW:
            return None
        low, high = self.interval(confidence)
        rate = min(1.0, max(0.0, self.disagreement_rate))

        def narrow(n: int) -> bool:
            a, b = anytime_interval(rate * n, n, confidence)
            return b - a <= high - low

        return smallest(narrow)

    def interval(self, confidence: float = 0.95, *, anytime: bool = True) -> tuple[float, float]:
        """Confidence interval for the disagreement rate.

        With ``anytime=True`` it holds under any stop rule. ``anytime=False`` gives the exact
        Clopper–Pearson interval of the plain counts, which holds if the number of pairs was fixed
        beforehand.
        """
        if anytime:
            if self.integrated is not None:
                return betting_interval(self.integrated, confidence)
            return anytime_interval(self.disagreements, self.pairs, confidence)
        return clopper_pearson(self.disagreements, self.pairs, confidence)

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
        forgiving = self._forgiving()
        decision = "supported" if high <= claim else "undecided"
        if forgiving.interval(confidence)[0] > claim:
            decision = "rejected"
        evidence = math.exp(min(forgiving._log_evidence(claim), 690.0))
        return Verdict(decision, claim, confidence, (low, high), evidence, self._note())

    def _forgiving(self) -> AuditStats:
        """The record in which two runs that both failed did the same thing."""
        n, values = self.both_failed, self.integrated
        if not n:
            return self
        return replace(
            self,
            agreements=self.agreements + n,
            errors=self.errors - n,
            both_failed=0,
            integrated=None if values is None else (0.0,) * n + values[: len(values) - n],
        )

    def _log_evidence(self, claim: float) -> float:
        """Log e-value against a rate of at most the claim.

        Below the observed rate the evidence falls with the claim, so where it is large against
        the claim it is larger still against every smaller rate.
        """
        n, s = self._values
        if n == 0 or s / n <= claim:
            return 0.0
        if self.integrated is None:
            return log_evidence(self.disagreements, n, claim)
        return log_evidence_of_values(self.integrated, claim)

    def _note(self) -> str:
        """Return what a reader of the verdict must know about the pairs behind it."""
        notes = []
        if self.errors:
            notes.append(f"{self.errors} of {self.pairs} pairs count as different for an error")
        if self.all_bottom:
            notes.append("every answer is ⊥")
        if self.agree_on_nothing:
            notes.append("the runs agree on nothing")
        return ", ".join(notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        quality = dict([self.quality] if self.quality else [])
        first, second, *others = _COUNTS
        counts = ("strong_id", first, second, "disagreements", *others)
        return {
            **{name: getattr(self, name) for name in counts},
            "error_types": dict(self.error_types),
            "integrated": None if self.integrated is None else list(self.integrated),
            "disagreement_rate": None if math.isnan(r := self.disagreement_rate) else r,
            "standard_error": None if math.isnan(e := self.standard_error) else e,
            "seconds": self.seconds,
            "accuracy": quality.get("accuracy"),
            "coverage": quality.get("coverage"),
        }


def _add_values(a: AuditStats, b: AuditStats) -> tuple[float, ...] | None:
    """Join the integrated values; an empty record joins either kind, anything else must match."""
    x, y = a.integrated, b.integrated
    if x is None and y is None:
        return None
    if (x is None and a.pairs) or (y is None and b.pairs):
        raise InputError("a record with integrated thresholds cannot be added to one without")
    return tuple(sorted((x or ()) + (y or ())))


def _add_numbers(
    a: tuple[tuple[int, int], ...], b: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...]:
    """Join ranges of pair numbers; a pair in both would be counted twice."""
    joined: list[tuple[int, int]] = []
    for first, end in sorted(a + b):
        if joined and first < joined[-1][1]:
            raise InputError(
                f"both records hold pair {first}, which would be counted twice: add records of "
                "different pairs (collect with another first_pair)"
            )
        if joined and first == joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((first, end))
    return tuple(joined)
