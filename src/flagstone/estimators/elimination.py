"""EliminationClassifier: Gaussian elimination, the baseline that does not replicate."""

from __future__ import annotations

from typing import Any

from flagstone.estimators.contracts import documented
from flagstone.estimators.parity import LinearRuleClassifier
from flagstone.rules import IndexRule, SpanRule


@documented
class EliminationClassifier(LinearRuleClassifier):
    """A linear rule that fits all rows: plain Gaussian elimination, not replicable.

    The empirical risk minimizer for consistent labels and the baseline of [NST26]_: one rare
    row more or less changes its answer, and one wrong label makes it ⊥. It is the parity
    learner with the window {1}: the first set of the partition spans all rows.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_, intercept_, is_bottom_, answer_, formula_, fingerprint_, guarantee_, margin_,
    finding_, flag_, random_state_, classes_, n_features_in_, feature_names_in_
        As for :class:`ParityClassifier`.

    Notes
    -----
    **Guarantees**

    The rule is right on every row of the sample; ⊥ exactly when no rule is. Replicability is
    not promised.

    See Also
    --------
    ParityClassifier : The replicable learner.

    References
    ----------
    {references}

    Examples
    --------
    One wrong label in two hundred, and elimination has no answer; the replicable learner,
    told of the contamination, is not disturbed:

    >>> import numpy as np
    >>> from flagstone import ParityClassifier
    >>> from flagstone.estimators import EliminationClassifier
    >>> X = np.random.RandomState(0).randint(0, 2, size=(400, 6))
    >>> y = X[:, 0] ^ X[:, 5]
    >>> y[17] ^= 1
    >>> EliminationClassifier(random_state=1).fit(X, y).formula_
    '⊥'
    >>> ParityClassifier(contamination=0.01, random_state=1).fit(X, y).formula_
    'y = x0 ⊕ x5'
    """

    def __init__(
        self,
        *,
        field: Any = 2,
        fit_intercept: bool = True,
        choice: str = "sparsest",
        on_bottom: str = "raise",
        classes: Any = None,
        random_state: int | str | None = None,
        certify: bool | float = True,
    ) -> None:
        self.field = field
        self.fit_intercept = fit_intercept
        self.choice = choice
        self.on_bottom = on_bottom
        self.classes = classes
        self.random_state = random_state
        self.certify = certify

    def _rule(self) -> SpanRule:
        return IndexRule(t_max=1)
