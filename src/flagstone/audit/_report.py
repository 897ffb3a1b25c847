"""What an audit says, in words and as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flagstone.audit.stats import AuditStats, Verdict
from flagstone.audit.task import Task
from flagstone.markup import card, table

#: What is said of a verdict.
_SAID = ("decision", "claim", "evidence", "note")

#: So many kinds of errors are listed.
_SHOWN = 5


@dataclass(frozen=True)
class AuditReport:
    """An audit for people (``str``) and for programs (:meth:`to_dict`).

    ``bottom_hint`` says what may be behind answers that are ⊥.
    """

    stats: AuditStats
    confidence: float
    task: str | None = None
    indicative: bool = False
    verdict: Verdict | None = None
    bottom_hint: str = "wrong labels need contamination, a rule with a constant needs an intercept"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        low, high = self.stats.interval(self.confidence)
        exact = self.stats.interval(self.confidence, anytime=False)
        verdict = self.verdict
        return {
            "task": self.task,
            **self.stats.to_dict(),
            "replicability": 1.0 - self.stats.disagreement_rate if self.stats.pairs else None,
            "confidence": self.confidence,
            "interval_anytime": [low, high],
            "interval_clopper_pearson": list(exact),
            "indicative": self.indicative,
            "all_bottom": self.stats.all_bottom,
            "agree_on_nothing": self.stats.agree_on_nothing,
            "plain_pairs": self.stats.plain_pairs(self.confidence),
            "verdict": verdict and {name: getattr(verdict, name) for name in _SAID},
        }

    def __str__(self) -> str:
        s = self.stats
        lines = [f"audit of {self.task}" if self.task else "audit"]
        lines.append(
            f"  {s.pairs} pairs: {s.agreements} agree ({s.both_bottom} of them both ⊥), "
            f"{s.disagreements} differ ({s.one_bottom} of them one ⊥, {s.errors} with an error)"
        )
        kinds = sorted(s.error_types, key=lambda kind: -kind[1])
        lines += [f"    {count} × {kind}" for kind, count in kinds[:_SHOWN]]
        if len(kinds) > _SHOWN:
            lines.append(f"    and {len(kinds) - _SHOWN} more kinds of errors")
        if not s.answered:
            lines.append("  no pair was answered: nothing can be said about replicability")
            return "\n".join(lines)
        lines.append(self._headline())
        if s.quality:
            name, mean = s.quality
            lines.append(f"  {name} {mean:.4f}, the mean over the runs, on the other sample")
        low, high = s.interval(self.confidence)
        lines.append(
            f"  disagreement in [{low:.4f}, {high:.4f}] at confidence {self.confidence:g}, "
            "under any stop rule"
        )
        low, high = s.interval(self.confidence, anytime=False)
        lines.append(
            f"  disagreement in [{low:.4f}, {high:.4f}] (Clopper–Pearson: only if the number of "
            "pairs was fixed beforehand)"
        )
        plain = s.plain_pairs(self.confidence)
        if plain is not None and plain > s.pairs:
            lines.append(
                f"  threshold integrated out exactly: {s.pairs} pairs give an interval as "
                f"narrow as {plain} plain ones of this rate would"
            )
        elif s.is_integrated:
            lines.append("  threshold integrated out exactly")
        if self.indicative:
            lines.append(
                "  INDICATIVE ONLY: halves of one table are not fresh samples; this describes "
                "random halves of this table"
            )
        if self.verdict is not None:
            lines.append(f"  verdict: {self.verdict}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        title, *lines = str(self).split("\n")
        return card(title[0].upper() + title[1:], table([(line.strip(),) for line in lines]))

    def _headline(self) -> str:
        """Return the rate, and in the same breath what it is not about."""
        s = self.stats
        line = f"  replicability {s.replicability:.4f} (disagreement {s.disagreement_rate:.4f})"
        counted = s.agreements / s.pairs
        if s.is_integrated and abs(s.replicability - counted) >= 0.00005:
            line += (
                ", the mean over all thresholds of the window; at the thresholds that were drawn "
                f"{s.agreements} of {s.pairs} pairs agree ({counted:.4f})"
            )
        if s.errors:
            most = "MOST PAIRS ERRED: " if s.errors > s.answered else ""
            line += f" — {most}{s.errors} of {s.pairs} pairs with an error, which is no agreement"
        if s.all_bottom:
            line += f" — EVERY ANSWER IS ⊥: no rule was learned ({self.bottom_hint})"
        elif s.agree_on_nothing:
            line += (
                " — THE RUNS AGREE ON NOTHING: no direction was kept, so that answers are drawn "
                "from the coins alone (a window that starts and ends earlier keeps more)"
            )
        return line


def report(
    stats: AuditStats,
    *,
    task: Task | None = None,
    claim: float | None = None,
    confidence: float = 0.95,
) -> AuditReport:
    """Put counts into words; with a ``claim`` also a verdict about it.

    Examples
    --------
    >>> from flagstone.audit import AuditStats, report
    >>> print(report(AuditStats("…", pairs=200, agreements=120), claim=0.05))
    audit
      200 pairs: 120 agree (0 of them both ⊥), 80 differ (0 of them one ⊥, 0 with an error)
      replicability 0.6000 (disagreement 0.4000)
      disagreement in [0.2868, 0.5209] at confidence 0.95, under any stop rule
      disagreement in [0.3315, 0.4715] (Clopper–Pearson: only if the number of pairs was ...
      verdict: the claimed rho = 0.05 is REJECTED at confidence 0.95 (rate in ...
    """
    return AuditReport(
        stats,
        confidence,
        None if task is None else f"{task.name} on {task.source!r}",
        False if task is None else task.source.indicative,
        None if claim is None else stats.verdict(claim, confidence),
        AuditReport.bottom_hint if task is None else _bottom_hint(task.estimator),
    )


def _bottom_hint(estimator: Any) -> str:
    """Say what may be behind ⊥, by what the estimator allows for already."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    known = last.get_params(deep=False) if hasattr(last, "get_params") else vars(last)
    if not known.get("fit_intercept", True):
        return AuditReport.bottom_hint
    text = "the labels of the kept rows fit no rule together: allow for "
    if "contamination" not in known:
        return f"{text}wrong ones, with ParityClassifier and its contamination"
    return f"{text}{'more ' if known['contamination'] else ''}wrong ones with contamination"
