"""Measure how replicable a learner is: any estimator, pipeline or function.

The module is callable: ``audit(learner, X, y)`` runs a learner on pairs of samples with the same
seed, and tells how alike the two outputs are, with intervals that hold whenever you stop.
:func:`summarize` does the same for outputs that you already have, :func:`tradeoff` for all windows
of our rules at once.

>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.datasets import make_classification
>>> from flagstone import audit
>>> X, y = make_classification(400, random_state=0)
>>> found = audit(LogisticRegression(), X, y, pairs=20)
>>> found.exact.estimate, found.measures["pointwise"].estimate > 0.8
(0.0, True)
"""

import inspect
import sys
from types import ModuleType

from flagstone.audit._audit import audit, summarize
from flagstone.audit._measures import Pair
from flagstone.audit._pairs import read_pairs
from flagstone.audit._result import AuditResult, AuditStats, Measure
from flagstone.audit._tradeoff import TradeoffCurve, TradeoffPoint, tradeoff
from flagstone.audit.integrate import (
    Thresholds,
    average,
    disagreement,
    integrated_disagreement,
)
from flagstone.audit.intervals import anytime_interval, clopper_pearson, log_evidence

__all__ = [
    "AuditResult",
    "AuditStats",
    "Measure",
    "Pair",
    "Thresholds",
    "TradeoffCurve",
    "TradeoffPoint",
    "anytime_interval",
    "audit",
    "average",
    "clopper_pearson",
    "disagreement",
    "integrated_disagreement",
    "log_evidence",
    "read_pairs",
    "summarize",
    "tradeoff",
]


class CallableModule(ModuleType):
    """Lets ``from flagstone import audit`` be called; it stays the module of everything else."""

    __call__ = staticmethod(audit)


__signature__ = inspect.signature(audit)  # what help and editors show of a call
sys.modules[__name__].__class__ = CallableModule
