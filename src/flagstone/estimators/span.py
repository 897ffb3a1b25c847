"""LinearSpan: a replicable span of rows, and the equations they obey."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin

from flagstone.algebra.fields import Array
from flagstone.algebra.subspace import Subspace
from flagstone.answers import Constraints
from flagstone.estimators._base import SpanEstimator
from flagstone.estimators.contracts import DEGREE, SPAN, Contract
from flagstone.estimators.input_rows import feature_names
from flagstone.question import SpanQuestion


@dataclass(kw_only=True, eq=False, repr=False)
class SpanLearner(TransformerMixin, SpanEstimator):  # type: ignore[misc]
    """A subspace of rows without labels; :meth:`transform` gives the syndrome."""

    degree: int = 1

    _contracts: ClassVar[Mapping[str, Contract]] = SPAN | DEGREE

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


class LinearSpan(SpanLearner):
    """A subspace that covers most rows and comes out the same on a fresh sample.

    ``constraints_`` says which linear equations the rows obey: parity checks of radio frames,
    check digits, columns that add up. Two people who fit on samples of the same size from the
    same source, with the same ``random_state``, get the same subspace with the probability
    that ``guarantee_`` reports. One pass, memory O(d²), time O(n d²/64) over GF(2).

    With ``rule="heavy"`` this is Algorithm 1 of [NST26]_.

    Parameters
    ----------
    field : Field, int or str, default=2
        The field of the entries: 2, 11, ``"2^8"``, ``"QQ"``, ….
    rho : float, optional
        Allowed probability that two samples give different subspaces; sets the window.
    eps : float, default=0.1
        Allowed share of rows outside the subspace; sets the window where ``rho`` does not.
    degree : int, default=1
        Also use products of up to so many features: equations such as ``x0·x1 ⊕ x4 = 0``. There are
        D = Σ C(d, i) products (:class:`flagstone.encoding.Monomials`), and rows are needed as for D
        features. Less than q over a field of q > 2 elements.
    rule : {"index", "heavy"}, default="index"
        Our rule, or the paper's Algorithm 1.
    t_min, t_max : int or float, optional
        The first and the last threshold by hand: integers, or fractions of the rows. t_max may be
        ``"paper"``.
    contamination : float, default=0.0
        Largest share of rows that may be damaged; no direction of theirs enters.
    random_state : int or str, optional
        The published seed. None draws a fresh one, kept as ``random_state_``: only runs that
        share it are replicable.
    out_of_field : {"raise", "reduce"}, default="raise"
        Refuse entries outside the field, or map them into it (floor, then modulo q).
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
    subspace_ : Subspace
    constraints_ : Constraints
        The check equations, as a matrix and as text.
    formula_ : str
        The equations, one per line.
    fingerprint_ : str
        SHA-256 of the subspace.
    guarantee_ : Guarantee
    margin_ : int
    is_empty_ : bool
        Whether no direction was kept: the answer then says nothing about the rows.
    finding_ : Finding
        All that is known: ``save``, ``report``, ``plot``.
    flag_ : Flag
    random_state_ : str
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X had names.

    Notes
    -----
    **Guarantees**

    - The subspace lies in the span of the rows, so every equation that all rows obey is
      among (the consequences of) ``constraints_``.
    - Replicability and coverage as stated by ``guarantee_``, proven or not.
    - The answer is a function of the rows in the order in which they come (sorted by value with
      ``weights_count_rows``).

    **Remarks**

    ``predict`` gives 1 for rows inside and −1 outside, as outlier detectors do, but this is no
    outlier detector: ``contamination`` is a bound on what may be wrong, not a quota.

    See Also
    --------
    AffineSpan : Equations with a constant.
    flagstone.linear_span.rep_linear_span : The same as a function.

    References
    ----------
    .. [NST26] M. Noivirt, J. Sorrell, E. Tsfadia, "Computationally Efficient Replicable
       Learning of Parities and Applications", 2026.

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
