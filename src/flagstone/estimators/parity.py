"""ParityClassifier, the paper's Algorithm 2 as an estimator; and elimination, its baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flagstone.answers import ParityRule
from flagstone.errors import Parameter
from flagstone.estimators.classifier import MAJORITY, RuleReader, SpanClassifier, after_bottom
from flagstone.estimators.contracts import documented
from flagstone.question import ParityQuestion
from flagstone.rules import IndexRule, SpanRule


class LinearRuleClassifier(RuleReader, SpanClassifier):
    """A linear rule read off the span of rows (x, y), or (x, 1, y) with an intercept."""

    fit_intercept: bool
    choice: str

    @property
    def _question(self) -> ParityQuestion:
        return ParityQuestion(intercept=bool(self.fit_intercept), choice=self.choice)

    def _begin(self, *, stream: bool = False) -> None:
        super()._begin(stream=stream)
        self._question.check(self._field)

    @property
    def _emptiness(self) -> list[str | Parameter]:
        advice = [*after_bottom(self, self._ask()), *MAJORITY] if self.is_bottom_ else []
        return [*super()._emptiness, *advice]

    @property
    def answer_(self) -> ParityRule:
        """The rule as a value that predicts, prints and compares."""
        answer = self._ask().answer
        assert isinstance(answer, ParityRule)
        return answer


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ParityClassifier(LinearRuleClassifier):
    """A linear rule y = ⟨w, x⟩ over a field that comes out the same on a fresh sample.

    Over GF(2) the rule is a parity: the XOR of some of the features. Two people who fit on
    samples of the same size from the same source, with the same ``random_state``, get the same
    w, bit for bit, with the probability that ``guarantee_`` reports. One pass, memory
    O(d²), time O(n d²/64) over GF(2).

    Implements Algorithm 2 of [NST26]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_ : array of shape (n_features,) or None
        With a ``degree`` above 1, one for each product of features.
    intercept_ : element of the field or None
    is_bottom_ : bool
    answer_ : ParityRule
        The rule as a value: predicts, prints, compares itself.
    formula_ : str
        ``y = x3 ⊕ x7 ⊕ 1``, ``y = 0``, ``⊥``; the name of a series in place of y, and which label
        is which element where they are numbered: ``fault = x3  # 'no' is 0, 'yes' is 1``.
    fingerprint_ : str
        SHA-256 of the rule, and of the labels where these are no field elements. Two people
        compare sixteen hex digits.
    classes_ : array
    {attributes}

    Notes
    -----
    **Guarantees**

    - Replicability and coverage as stated by ``guarantee_``, proven or not, for rows drawn
      independently; equal U* and seeds give equal rules.
    - The rule is right on every labelled row inside U*; so it errs on no more than the
      uncovered rows of the sample.
    - With ``contamination`` × rows or fewer arbitrary rows among otherwise consistent ones the
      answer is never ⊥, and the rule fits the consistent rows inside U*; unless a smaller
      ``t_min`` of the rule overrides that start of the window.
    - The answer is a function of the rows in the order in which they come (sorted by value where
      weights count them: ``weights_count_rows`` of :meth:`fit`).
    - Not promised: anything under noise on a constant share of labels (that problem is
      believed hard), or that ``on_bottom="majority"`` predicts the same label twice.

    **Remarks**

    Labels that are whole numbers in 0..q−1 are used as field elements unchanged, whichever of them
    occur; False and True are 0 and 1; other labels (strings, {-1, 1}) are numbered 0, 1, … in
    sorted order, which for fields other than GF(2) makes "linear" depend on the names. Without
    ``classes`` they are numbered as they occur: a sample that lacks a rare label numbers the
    others differently, so ``guarantee_`` then promises agreement only of samples that show the
    same labels. With ``classes``, or field elements, it does without this condition. A rule
    may take values that were no label in the sample: with labels that are field elements they
    are predicted as they are, otherwise they count as ⊥. ``eps`` is a share of *rows*; what a
    rule gets wrong lies outside the span, so the same ε bounds its error on fresh rows (S37):
    ``plan(…, delta=…)`` counts the rows for that.

    See Also
    --------
    EliminationClassifier : Plain elimination, not replicable.
    LinearSpan : Which equations do rows without labels obey?

    References
    ----------
    {references}

    Examples
    --------
    Two laboratories, two samples, one published seed:

    >>> import numpy as np
    >>> from flagstone import ParityClassifier
    >>> def sample(seed):
    ...     X = np.random.RandomState(seed).randint(0, 2, size=(2000, 8))
    ...     return X, X[:, 3] ^ X[:, 7]
    >>> a = ParityClassifier(random_state=2026).fit(*sample(1))
    >>> b = ParityClassifier(random_state=2026).fit(*sample(2))
    >>> a.formula_
    'y = x3 ⊕ x7'
    >>> a.fingerprint_ == b.fingerprint_
    True
    >>> print(a.measure(*sample(3)))
    2,000 rows: 0 uncovered (0 %), 0 misfits (0 %)
    """

    fit_intercept: bool = True
    choice: str = "sparsest"
    on_bottom: str = "raise"
    classes: Any = None
    degree: int = 1


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
