"""ParityClassifier: the paper's Algorithm 2 as an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from flagstone.answers import ParityRule
from flagstone.errors import Parameter
from flagstone.estimators.classifier import RuleReader, SpanClassifier
from flagstone.estimators.contracts import CLASSIFIER, DEGREE, SPAN, Contract, optional
from flagstone.guarantees import Plan, plan
from flagstone.guarantees.exact import check_share
from flagstone.question import ParityQuestion


class LinearRuleClassifier(RuleReader, SpanClassifier):
    """A linear rule read off the span of rows (x, y), or (x, 1, y) with an intercept."""

    _contracts: ClassVar[Mapping[str, Contract]] = CLASSIFIER

    fit_intercept: bool
    choice: str

    @property
    def _question(self) -> ParityQuestion:
        return ParityQuestion(intercept=bool(self.fit_intercept), choice=self.choice)

    def _begin(self, *, stream: bool = False) -> None:
        super()._begin(stream=stream)
        self._question.check(self._field)

    @property
    def answer_(self) -> ParityRule:
        """The rule as a value of its own: it predicts, prints and compares itself."""
        answer = self._ask().answer
        assert isinstance(answer, ParityRule)
        return answer


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
    field : Field, int or str, default=2
        The field of features and labels: 2, 11, ``"2^8"``, ``"QQ"``, ….
    fit_intercept : bool, default=True
        Whether the rule may have a constant: y = ⟨w, x⟩ + c.
    choice : {"uniform", "lexmin", "sparsest"}, default="uniform"
        Which rule, where several fit: a uniform one, by the published coins; the
        lexicographically smallest; or one with as few features as a bounded search finds
        (``finding_.alternatives`` says whether fewer are impossible). There is no uniform one
        over QQ, where ``"lexmin"`` sets free coordinates to 0.
    on_bottom : {"raise", "majority"}, default="raise"
        What ``predict`` does when the answer is ⊥ (no linear rule fits the kept rows), or when
        no direction was kept and the rule is only a draw of the coins: explain it in a
        BottomError, or predict the most frequent label, about which two samples may differ.
    classes : array-like, optional
        All labels that can occur. Needed for labels that are no field elements, such as
        {"no", "yes"}, wherever a sample may lack one of them: see Notes.
    rho : float, optional
        Allowed probability that two samples give different rules; sets the window.
    eps : float, default=0.1
        Allowed share of rows outside the kept span; sets the window where ``rho`` does not.
    delta : float, optional
        Allowed probability that the rule generalizes badly: ``plan_`` then has rows enough for
        that, too.
    degree : int, default=1
        Also use products of up to so many features: with 2, rules such as ``y = x0·x1 ⊕ x4``; with
        k, decision trees of depth k and functions of k features. There are D = Σ C(d, i) products
        (:class:`flagstone.encoding.Monomials`), and rows are needed as for D features. Less than q
        over a field of q > 2 elements.
    rule : {"index", "heavy"}, default="index"
        Our rule, or the paper's Algorithm 1.
    t_min, t_max : int or float, optional
        The first and the last threshold by hand: integers, or fractions of the rows. t_max may be
        ``"paper"``.
    contamination : float, default=0.0
        Largest share of rows that may carry a wrong label or a damaged feature.
    random_state : int or str, optional
        The published seed. None draws a fresh one, kept as ``random_state_``: only runs that
        share it are replicable.
    out_of_field : {"raise", "reduce"}, default="raise"
        Refuse entries of X outside the field, or map them into it (floor, then modulo q).
    weights_count_rows : bool, default=False
        The caller's word that a sample_weight of n stands for n rows that were drawn
        independently. Rows are then sorted by value first, so that the order in which they are
        listed (by frequency, say) does not matter. They must come in one call: weights in
        several batches of `partial_fit`, and weights without this word, forfeit every promise
        about fresh samples.
    take : int, optional
        Fit on so many rows, the first ones: promises are for equal numbers of rows.
    confidence : float, optional
        Certify at once, at this confidence: `fit` on its rows (as :meth:`certify` does),
        `partial_fit` while they come.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or None
        With a ``degree`` above 1, one for each product of features.
    intercept_ : element of the field or None
    is_bottom_ : bool
    answer_ : ParityRule
        The rule as a value: predicts, prints, compares itself.
    finding_ : Finding
        All that is known about it: ``save``, ``report``, ``plot``.
    formula_ : str
        ``y = x3 ⊕ x7 ⊕ 1``, ``y = 0``, ``⊥``; the name of a series in place of y, and which label
        is which element where they are numbered: ``fault = x3  # 'no' is 0, 'yes' is 1``.
    fingerprint_ : str
        SHA-256 of the rule, and of the labels where these are no field elements. Two people
        compare sixteen hex digits.
    guarantee_ : Guarantee
    plan_ : Plan or None
        Rows that prove ``rho``, ``eps`` and, where it is given, ``delta`` together; None without
        ``rho``.
    margin_ : int
    is_empty_ : bool
        Whether no direction was kept: the answer then says nothing about the rows.
    flag_ : Flag
    random_state_ : str
    classes_ : array
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X had names.

    Notes
    -----
    **Guarantees**

    - Replicability and coverage as stated by ``guarantee_``, proven or not, for rows drawn
      independently; equal U* and seeds give equal rules.
    - The rule is right on every labelled row inside U*; so it errs on no more than the
      uncovered rows of the sample.
    - With ``contamination`` × rows or fewer arbitrary rows among otherwise consistent ones the
      answer is never ⊥, and the rule fits the consistent rows inside U*; unless a smaller
      ``t_min`` overrides that start of the window.
    - The answer is a function of the rows in the order in which they come (sorted by value with
      ``weights_count_rows``).
    - Not promised: anything under noise on a constant share of labels (that problem is
      believed hard), or that ``on_bottom="majority"`` predicts the same label twice.

    **Remarks**

    Labels that are whole numbers in 0..q−1 are field elements as they stand, whichever of them
    occur; False and True are 0 and 1; other labels (strings, {-1, 1}) are numbered 0, 1, … in
    sorted order, which for fields other than GF(2) makes "linear" depend on the names. Without
    ``classes`` they are numbered as they occur: a sample that lacks a rare label numbers the
    others differently, so ``guarantee_`` then promises agreement only of samples that show the
    same labels. With ``classes``, or field elements, it does without this condition. A rule
    may take values that were no label in the sample: with labels that are field elements they
    are predicted as they are, otherwise they count as ⊥. ``eps`` is a share of *rows*; what a
    rule gets wrong lies outside the span, so with ``delta`` the same ε bounds its error on fresh
    rows (S37): ``plan_`` counts the rows for that.

    See Also
    --------
    EliminationClassifier : Plain elimination, not replicable.
    LinearSpan : Which equations do rows without labels obey?

    References
    ----------
    .. [NST26] M. Noivirt, J. Sorrell, E. Tsfadia, "Computationally Efficient Replicable
       Learning of Parities and Applications", 2026.

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
    choice: str = "uniform"
    on_bottom: str = "raise"
    classes: Any = None
    delta: float | None = None
    degree: int = 1

    _contracts: ClassVar[Mapping[str, Contract]] = (
        SPAN | CLASSIFIER | DEGREE | {"delta": optional(check_share)}
    )

    @property
    def _emptiness(self) -> list[str | Parameter]:
        said = super()._emptiness
        if self.is_bottom_:
            more = "more " if self.contamination else ""
            said += [f"; allow for {more}wrong rows with ", Parameter("contamination")]
            if not self.fit_intercept:
                said += [" and for a constant with ", Parameter("fit_intercept", True)]
            said += ["; ", Parameter("on_bottom", "majority"), " predicts the most frequent label"]
        return said

    @property
    def plan_(self) -> Plan | None:
        """Rows that prove rho, eps and, where it is given, delta together; None without rho."""
        self._ask()
        if self.rho is None:
            return None
        dim = self._question.dim(self._monomials.count)
        return plan(dim, self.rho, self.eps, self.delta, self.field, self.contamination)
