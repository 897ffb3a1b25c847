"""SubspaceClassifier: learning a subspace from labelled examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.algebra import GF, AffineSubspace, Array, Subspace
from flagstone.answers import Constraints
from flagstone.estimators.classifier import SpanClassifier, indicators
from flagstone.estimators.coders import SignCoder
from flagstone.estimators.contracts import documented
from flagstone.question import SubspaceQuestion


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SubspaceClassifier(SpanClassifier):
    """Tell the vectors of an unknown subspace from the others, replicably.

    The positive examples span the answer; negative ones are counted as zero rows, so that the
    number of rows stays the same in both runs. PAC learning of subspaces, an application named
    in [NST26]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    subspace_ : Subspace or AffineSubspace
    constraints_ : Constraints
        The equations of the positive examples.
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    formula_ : str
        The equations, one per line, and of which class they are.
    fingerprint_ : str
        SHA-256 of the subspace, and of the labels where these are not 0 and 1.
    {attributes}

    Notes
    -----
    **Guarantees**

    - No false positive on realizable data: when the positive examples lie in a subspace that
      holds no negative one, every vector predicted positive lies in it.
    - Coverage and replicability as stated by ``guarantee_``; ``eps`` is a share of all rows,
      negative ones included.

    **Remarks**

    There must be at most two labels, and the larger is positive. Without ``classes`` a single 1
    or True is the positive class, a single 0, -1 or False the negative one, as in {0, 1} and
    {-1, 1}; other single labels are refused, because nothing says which class they are, and
    ``guarantee_`` promises agreement only of samples that show the same two labels. With one
    class ``predict`` always returns it;
    :meth:`contains` still tells vectors apart. All-negative data leave {0}, or the empty set
    when affine.

    See Also
    --------
    LinearSpan, AffineSpan : The same without labels.

    References
    ----------
    {references}

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import SubspaceClassifier
    >>> X = np.random.RandomState(0).randint(0, 2, size=(600, 4))
    >>> y = np.where(X[:, 0] == X[:, 3], "yes", "no")
    >>> model = SubspaceClassifier(random_state=2026).fit(X, y)
    >>> print(model.formula_)
    x0 ⊕ x3 = 0  # where y is 'yes'
    >>> model.predict([[1, 0, 0, 1], [1, 0, 0, 0]]).tolist()
    ['yes', 'no']
    """

    affine: bool = False
    classes: Any = None

    def _first_coder(self, classes: Array, *, closed: bool) -> SignCoder:
        return SignCoder.of(classes, GF(2), closed=closed)

    @property
    def _named_labels(self) -> Array | None:
        classes = self._coder.classes
        plain = classes.dtype.kind in "buif" and np.isin(classes, (0, 1)).all()
        return None if plain else classes

    @property
    def _question(self) -> SubspaceQuestion:
        return SubspaceQuestion(affine=bool(self.affine))

    @property
    def subspace_(self) -> Subspace | AffineSubspace:
        """The subspace of the positive examples."""
        return AffineSubspace.from_homogeneous(self._kept) if self.affine else self._kept

    @property
    def constraints_(self) -> Constraints:
        """The equations of the positive examples."""
        answer = self.answer_
        assert isinstance(answer, Constraints)
        return answer

    def contains(self, X: Any, y: Any = None) -> Array:
        """Say of each row whether it lies in the subspace; y is ignored."""
        return self.constraints_.check(self._rows(X))

    @property
    def _legend(self) -> str:  # type: ignore[override]
        labels = self._named_labels
        if labels is None:
            return ""
        return f"where {self._target} is {labels.tolist()[-1]!r}"

    def predict(self, X: Any) -> Array:
        """Return the positive label for rows in the subspace, the negative one for others."""
        inside = self.contains(X)
        labels: Array
        labels, _ = self._coder.decode(inside)  # with one class, always that one
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Return 1 for the predicted label and 0 for the other, in the order of ``classes_``."""
        return indicators(self.predict(X), self.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
