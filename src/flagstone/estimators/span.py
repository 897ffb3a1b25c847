"""LinearSpan and AffineSpan: a replicable span of rows, and the equations they obey."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin

from flagstone.algebra import AffineSubspace, Array, Subspace
from flagstone.answers import Constraints
from flagstone.estimators._base import SpanEstimator
from flagstone.estimators.contracts import documented
from flagstone.estimators.input_rows import feature_names
from flagstone.question import ConstraintsQuestion, SpanQuestion


@dataclass(kw_only=True, eq=False, repr=False)
class SpanLearner(TransformerMixin, SpanEstimator):  # type: ignore[misc]
    """A subspace of rows without labels; :meth:`transform` gives the syndrome."""

    degree: int = 1

    @property
    def constraints_(self) -> Constraints:
        """The check equations that the subspace obeys: a matrix, and text."""
        answer = self.answer_
        assert isinstance(answer, Constraints)
        return answer

    def predict(self, X: Any) -> Array:
        """Return 1 for rows that obey all equations and −1 for the others."""
        obeys = self.constraints_.check(self._rows(X))
        return np.where(obeys, 1, -1)

    def syndrome(self, X: Any) -> Array:
        """Return what each equation leaves over, shape (n_samples, n_equations)."""
        return self.constraints_.syndrome(self._rows(X))

    def transform(self, X: Any) -> Array:
        """Return the syndrome: one column per equation, zero where it holds."""
        return self.syndrome(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return a name for each column of :meth:`transform`: check0, check1, …."""
        feature_names(self, input_features)
        return np.array([f"check{i}" for i in range(len(self.constraints_))], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


@documented
class LinearSpan(SpanLearner):
    """A subspace that covers most rows and comes out the same on a fresh sample.

    ``constraints_`` says which linear equations the rows obey: parity checks of radio frames,
    check digits, columns that add up. Two people who fit on samples of the same size from the
    same source, with the same ``random_state``, get the same subspace with the probability
    that ``guarantee_`` reports. One pass, memory O(d²), time O(n d²/64) over GF(2).

    With ``rule="heavy"`` this is Algorithm 1 of [NST26]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    subspace_ : Subspace
    constraints_ : Constraints
        The check equations, as a matrix and as text.
    formula_ : str
        The equations, one per line.
    fingerprint_ : str
        SHA-256 of the subspace.
    {attributes}

    Notes
    -----
    **Guarantees**

    - The subspace lies in the span of the rows, so every equation that all rows obey is
      among (the consequences of) ``constraints_``.
    - Replicability and coverage as stated by ``guarantee_``, proven or not.
    - The answer is a function of the rows in the order in which they come (sorted by value where
      weights count them: ``weights_count_rows`` of :meth:`fit`).

    **Remarks**

    ``predict`` gives 1 for rows inside and −1 outside, as outlier detectors do, but this is no
    outlier detector: ``contamination`` is a bound on what may be wrong, not a quota.

    See Also
    --------
    AffineSpan : Equations with a constant.
    flagstone.pipeline.rep_linear_span : The same as a function.

    References
    ----------
    {references}

    Examples
    --------
    Frames with a parity bit, one in a hundred damaged:

    >>> import numpy as np
    >>> from flagstone import LinearSpan
    >>> X = np.random.RandomState(0).randint(0, 2, size=(2000, 6))
    >>> X[:, 5] = X[:, 0] ^ X[:, 2]
    >>> X[:20, 5] ^= 1
    >>> span = LinearSpan(contamination=0.01, random_state=2026).fit(X)
    >>> print(span.formula_)
    x0 ⊕ x2 ⊕ x5 = 0
    >>> span.predict(X[18:22]).tolist()
    [-1, -1, 1, 1]
    """

    @property
    def _question(self) -> SpanQuestion:
        return SpanQuestion()

    @property
    def subspace_(self) -> Subspace:
        """The subspace V*."""
        return self._kept


@documented
class AffineSpan(SpanLearner):
    """An affine subspace that covers most rows and comes out the same on a fresh sample.

    As :class:`LinearSpan`, for equations with a constant (``x0 ⊕ x3 = 1``): the span is taken
    over rows (x, 1), and the answer is {x : (x, 1) ∈ V*}. ``points_`` are the synthetic affine
    span of [NST26]_: a few points that represent the data.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    subspace_ : AffineSubspace
    points_ : array of shape (dim + 1, n_features)
        Canonical affinely spanning points; none when the subspace is empty.
    constraints_ : Constraints
        The check equations; ``0 = 1`` when the subspace is empty.
    formula_ : str
        The equations, one per line.
    fingerprint_ : str
        SHA-256 of the affine subspace.
    {attributes}

    Notes
    -----
    **Guarantees**

    - The affine subspace lies inside the affine span of the rows and covers all but the
      uncovered share that ``guarantee_`` states.
    - At most n_features + 1 points.
    - Of a flag merged from shards the affine part may be empty; it says so.

    See Also
    --------
    LinearSpan : Equations without a constant.

    References
    ----------
    {references}

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import AffineSpan
    >>> X = np.random.RandomState(0).randint(0, 2, size=(500, 4))
    >>> X[:, 3] = 1 ^ X[:, 0]
    >>> span = AffineSpan(random_state=2026).fit(X)
    >>> print(span.formula_)
    x0 ⊕ x3 = 1
    >>> span.points_.tolist()
    [[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1]]
    """

    @property
    def _question(self) -> ConstraintsQuestion:
        return ConstraintsQuestion()

    @property
    def subspace_(self) -> AffineSubspace:
        """The affine subspace; possibly empty."""
        return AffineSubspace.from_homogeneous(self._kept)

    @property
    def points_(self) -> Array:
        """Canonical affinely spanning points: at most n_features + 1."""
        return self.subspace_.points()
