"""AffineSpan: a replicable affine span of rows, and the equations they obey."""

from __future__ import annotations

from flagstone.algebra.fields import Array
from flagstone.algebra.subspace import AffineSubspace
from flagstone.estimators.span import SpanLearner
from flagstone.question import ConstraintsQuestion


class AffineSpan(SpanLearner):
    """An affine subspace that covers most rows and comes out the same on a fresh sample.

    As :class:`LinearSpan`, for equations with a constant (``x0 ⊕ x3 = 1``): the span is taken
    over rows (x, 1), and the answer is {x : (x, 1) ∈ V*}. ``points_`` are the synthetic affine
    span of [NST26]_: a few points that stand for the data.

    Parameters
    ----------
    field, rho, eps, degree, rule, t_min, t_max, contamination, random_state, out_of_field,
    weights_count_rows, take, confidence
        As for :class:`LinearSpan`.

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
    guarantee_, margin_, is_empty_, finding_, flag_, random_state_, n_features_in_,
    feature_names_in_
        As for :class:`LinearSpan`; D = n_features + 1.

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
    .. [NST26] M. Noivirt, J. Sorrell, E. Tsfadia, "Computationally Efficient Replicable
       Learning of Parities and Applications", 2026.

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
