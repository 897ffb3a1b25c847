"""Estimators that are fitted by a finding made elsewhere: of partitions, or loaded from a file."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from flagstone.algebra.flag import Flag
from flagstone.coins import Coins
from flagstone.errors import InputError, Parameter
from flagstone.estimators.atomic import all_or_nothing
from flagstone.estimators.contracts import check_parameters
from flagstone.finding import Finding
from flagstone.question import Question
from flagstone.rules import SpanRule

Me = TypeVar("Me")


class Adopting:
    """What an estimator asks, and how it takes over an answer to it."""

    _adopted: bool = False
    _target: str  #: What the label is called.

    def asks(self: Any) -> tuple[Question, SpanRule, str | None]:
        """Return what is asked of rows: the question, the rule and the published seed, checked."""
        check_parameters(self, self._contracts)
        self._question.check(self._field)
        seed = None if self.random_state is None else Coins(self.random_state).seed
        return self._question, self._rule(), seed

    def adopt(self: Me, finding: Finding) -> Me:
        """Be fitted by a finding that was made elsewhere: of partitions, or loaded from a file.

        What was asked there must be what this estimator asks. Rows cannot be added or certified
        here.

        Examples
        --------
        >>> from flagstone import LinearSpan
        >>> from flagstone.linear_span import rep_linear_span
        >>> finding = rep_linear_span([[1, 1, 0], [0, 1, 1]] * 50, random_state=7)
        >>> LinearSpan().adopt(finding).predict([[1, 0, 1], [1, 0, 0]]).tolist()
        [1, -1]
        """
        me: Any = self
        question, field = me.asks()[0], me._field
        if (finding.question, finding.field) != (question, field):
            raise InputError(
                f"the finding answers {finding.question!r} over {finding.field}, but this "
                f"{type(me).__name__} asks {question!r} over {field}; adopt it by a "
                f"{finding.question.estimator} with its parameters"
            )
        degree = getattr(me, "degree", 1)
        if finding.encoding.degree != degree:
            raise InputError(
                f"the finding is of degree {finding.encoding.degree}, but this "
                f"{type(me).__name__} has ",
                Parameter("degree", degree),
            )
        with all_or_nothing(me):
            me._begin()
            names, flag = finding.encoding.monomials.names, finding.flag
            me.n_features_in_ = len(names)
            if names != tuple(f"x{i}" for i in range(len(names))):
                me.feature_names_in_ = np.array(names, dtype=object)
            dim = question.dim(len(finding.encoding.names))
            me._summary = Flag(dim, field) if flag is None else flag
            me._finding, me._digest, me._adopted = finding, None, True
            me.random_state_ = str(finding.seed)
            me._adopt_labels(finding)
        return self

    def _adopt_labels(self, finding: Finding) -> None:
        """Take over what is known of labels."""

    def _refuse_if_adopted(self, what: str) -> None:
        if self._adopted:
            raise InputError(
                f"rows cannot be {what}: the finding was made elsewhere, of rows that are not here"
            )
