"""PrivateParityClassifier: the pure-DP parity learner, for comparison."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from flagstone.algebra.fields import Array, Field, Rows, as_field
from flagstone.answers import ParityRule
from flagstone.errors import BottomError, InputError, Parameter
from flagstone.estimators.atomic import all_or_nothing
from flagstone.estimators.classifier import RuleReader, is_binary
from flagstone.estimators.coders import LabelCoder
from flagstone.estimators.contracts import check_parameters, finite_field
from flagstone.estimators.input_rows import table_rows
from flagstone.estimators.labels import (
    distinct,
    label_name,
    label_vector,
    legend,
    named_classes,
)
from flagstone.guarantees.exact import check_share
from flagstone.paper.private_learner import (
    RandomSource,
    SeededSource,
    boosted_learner,
    noisy_argmin,
)
from flagstone.question import ParityQuestion

#: The randomness is secret here, so that random_state is no published seed; see `_source`.
_CONTRACTS = {
    "alpha": lambda name, value: None,  # in `_checked`
    "delta": check_share,
    "field": finite_field,
    "random_state": lambda name, value: None,
}


@dataclass(eq=False, repr=False)
class PrivateParityClassifier(RuleReader, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A parity learner with pure differential privacy, for comparison only.

    The learner of [KLNRS11]_, which the paper sets beside replicable learning: it protects
    every single row, but two runs on fresh samples need not agree. Confidence 1 − δ multiplies
    its rows, about d·ln(1/δ)/(εα), where it adds ln(1/δ)/ε to those of
    :class:`ParityClassifier`. Meant for experiments on this difference, not for protecting
    anybody's data.

    The base learner answers ⊥ with probability ½; otherwise it keeps each row with probability
    p = (e^α − 1)/(q + e^α − 1), the largest that is private, and returns a uniform solution of the
    kept equations, ⊥ if there is none. It runs on disjoint blocks of rows; the best rule is chosen
    by noisy error counts on a held-out block.

    Parameters
    ----------
    alpha : float, default=1.0
        The privacy loss, above 0.
    delta : float, default=0.05
        Allowed probability of failure; sets the number of blocks.
    field : int or str, default=2
        A finite field.
    fit_intercept : bool, default=False
    on_bottom : {"raise", "majority"}, default="raise"
        With ``"majority"`` half of α on the held-out block pays for a noisy majority label.
    classes : array-like, optional
        The labels, as public knowledge. If left out they are taken from y, and are the one
        thing besides the shape of X that the fitted model then reveals exactly.
    random_state : None, int or numpy Generator, default=None
        None draws from the system's entropy: the randomness must stay secret. A seed or a
        generator is for tests and voids privacy.
    out_of_field : {"raise", "reduce"}, default="raise"

    Attributes
    ----------
    coef_ : array of shape (n_features,) or None
    intercept_ : element of the field or None
    is_bottom_ : bool
    answer_ : ParityRule
    formula_ : str
    classes_ : array
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X had names.

    Notes
    -----
    **Guarantees**

    With ``random_state=None``, ``classes`` given and rows inside the field, the fitted
    attributes and all predictions are α-differentially private with respect to exchanging one
    row; the number of rows is public. No flag, margin, count or other function of the data is
    kept. Running time is not kept secret.

    Privacy needs no number of rows; accuracy does. On realizable data the rule errs on at most ε
    of future rows with probability 1 − δ from ``(K + 1)·max(s, h)`` rows on, by
    :func:`~flagstone.guarantees.private_sizes` (docs/theory/learners.md, S29). With fewer rows
    nothing is said of errors. The learner is not told ε, so it cannot warn.

    See Also
    --------
    ParityClassifier : The replicable learner.

    References
    ----------
    .. [KLNRS11] S. Kasiviswanathan, H. Lee, K. Nissim, S. Raskhodnikova, A. Smith, "What Can
       We Learn Privately?", SIAM Journal on Computing 40(3), 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone.paper import PrivateParityClassifier
    >>> X = np.random.RandomState(0).randint(0, 2, size=(4000, 5))
    >>> y = X[:, 1] ^ X[:, 4]
    >>> model = PrivateParityClassifier(alpha=1.0, classes=[0, 1], random_state=3).fit(X, y)
    >>> model.formula_
    'y = x1 ⊕ x4'
    """

    alpha: float = 1.0
    delta: float = 0.05
    _: KW_ONLY
    field: Any = 2
    fit_intercept: bool = False
    on_bottom: str = "raise"
    classes: Any = None
    random_state: Any = None
    out_of_field: str = "raise"

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array-like, frame, CSR matrix or BitRows of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._learn(X, y)
        return self

    def _learn(self, X: Any, y: Any) -> None:
        field, alpha, delta = self._checked()
        source = _source(self.random_state)
        rows = self._rows(X, reset=True)
        labels = label_vector(y, len(rows), type(self).__name__)
        named, found = named_classes(self.classes), distinct(labels)
        known = found if named is None else named
        coder = LabelCoder.of(known, field, closed=named is not None).including(found)
        elements = coder.encode(labels)
        rows = ParityQuestion(bool(self.fit_intercept)).lift(field, rows, elements)
        with_majority = self.on_bottom == "majority"
        rule, held_out = boosted_learner(
            rows,
            field,
            alpha,
            delta,
            source,
            # The held-out block is looked at twice for a majority, so each look gets half.
            choice_alpha=alpha / 2 if with_majority else alpha,
            fit_intercept=self.fit_intercept,
        )
        names = getattr(self, "feature_names_in_", None)
        named_so = None if names is None else tuple(names)
        target = label_name(y, np.array(named_so or ()))
        self._answer = ParityRule(rule.coef, rule.intercept, field, named_so, target, rule.dim)
        self._coder, self._fallback = coder, None
        if with_majority:
            counts = [-int(np.count_nonzero(labels[held_out] == c)) for c in coder.classes]
            self._fallback = coder.classes[noisy_argmin(counts, alpha / 2, source)]

    def _checked(self) -> tuple[Field, Fraction, Fraction]:
        check_parameters(self, _CONTRACTS)
        field = as_field(self.field)
        assert field.order is not None
        alpha, delta = _number("alpha", self.alpha), _number("delta", self.delta)
        if alpha <= 0:
            raise InputError(Parameter("alpha"), f" must be positive, got {self.alpha!r}")
        return field, alpha, delta

    @property
    def answer_(self) -> ParityRule:
        """The rule as a value."""
        check_is_fitted(self)
        return self._answer

    @property
    def formula_(self) -> str:
        """The rule as text, with labels that are not field elements."""
        text = self.answer_.text
        note = legend(None if self._coder.by_value else self._coder.classes)
        return f"{text}  # {note}" if note else text

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        check_is_fitted(self)
        classes: Array = self._coder.classes
        return classes

    def predict(self, X: Any) -> Array:
        """Predict labels; with a single class always that one.

        Raises
        ------
        BottomError
            When the answer is ⊥ and ``on_bottom="raise"``.
        """
        if len(self.classes_) == 1:
            return np.full(len(self._rows(X)), self.classes_[0], dtype=self.classes_.dtype)
        return super().predict(X)

    def _rows(self, X: Any, *, reset: bool = False) -> Rows:
        reduce = self.out_of_field == "reduce"
        return table_rows(self, X, as_field(self.field), reset=reset, reduce=reduce)

    def _majority(self) -> Any:
        """The most frequent label of the held-out block, but for the noise."""
        if self._fallback is None:
            raise BottomError("no label was counted: fit with ", Parameter("on_bottom", "majority"))
        return self._fallback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        tags.classifier_tags.poor_score = True
        tags.classifier_tags.multi_class = not is_binary(self.field)
        return tags


def _source(random_state: Any) -> RandomSource:
    if random_state is None:
        return RandomSource()
    if isinstance(random_state, np.random.Generator):
        return SeededSource(random_state)
    try:
        return SeededSource(np.random.default_rng(random_state))
    except (TypeError, ValueError):
        raise InputError(
            "random_state must be None (secret, from the system), or for tests a seed or a numpy "
            f"Generator, got {random_state!r}"
        ) from None


def _number(name: str, value: Any) -> Fraction:
    if not isinstance(value, bool):
        if isinstance(value, Rational):
            return Fraction(value)
        if isinstance(value, Real) and math.isfinite(value):
            return Fraction(float(value))
    raise InputError(Parameter(name), f" must be a finite number, got {value!r}")
