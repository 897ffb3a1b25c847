"""How often do two fresh samples with the same coins give the same answer?

Replicability is an empirical claim as much as a theorem. An audit measures it for *any* estimator
with ``fit``: ours, scikit-learn's, yours.

- :class:`Task`: an estimator, a source of samples, a notion of "same"; it has a strong id.
- :func:`collect`: runs pairs until a stop rule is met; parallel, resumable, deterministic.
- :class:`AuditStats`: frozen counts that add up, with exact intervals and verdicts.
- :func:`report`: the result in words. :func:`audit`: all in one call.
- :func:`tradeoff`: coverage or accuracy against replicability, to choose ``t_max`` on pilot data.

For our rules the threshold is integrated out exactly (``integrate=True``,
:mod:`flagstone.audit.integrate`), which needs far fewer pairs: the interval narrows with the
variance of the integrated values (:mod:`flagstone.audit.intervals`).
"""

from flagstone.audit._audit import ESTIMATORS, audit
from flagstone.audit._collect import collect
from flagstone.audit._report import AuditReport, report
from flagstone.audit._tradeoff import TradeoffCurve, TradeoffPoint, tradeoff
from flagstone.audit.integrate import (
    Thresholds,
    average,
    disagreement,
    integrated_disagreement,
)
from flagstone.audit.intervals import anytime_interval, betting_interval, clopper_pearson
from flagstone.audit.pairs import Outcome, run_pair
from flagstone.audit.same import Same, TaskError
from flagstone.audit.sources import FromFunction, FromLaw, FromTable, Sample, Source
from flagstone.audit.stats import AuditStats, Verdict
from flagstone.audit.store import read_outcomes
from flagstone.audit.task import Task

__all__ = [
    "ESTIMATORS",
    "AuditReport",
    "AuditStats",
    "FromFunction",
    "FromLaw",
    "FromTable",
    "Outcome",
    "Same",
    "Sample",
    "Source",
    "Task",
    "TaskError",
    "Thresholds",
    "TradeoffCurve",
    "TradeoffPoint",
    "Verdict",
    "anytime_interval",
    "audit",
    "average",
    "betting_interval",
    "clopper_pearson",
    "collect",
    "disagreement",
    "integrated_disagreement",
    "read_outcomes",
    "report",
    "run_pair",
    "tradeoff",
]
