"""What all replicable estimators share: rows in, a finding out, both by way of the one pipeline."""

from __future__ import annotations

import copy
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from flagstone.algebra.fields import Array, Field, Rows, as_field, width
from flagstone.algebra.flag import Flag
from flagstone.algebra.lift import chunks, value_order
from flagstone.apply import inside, measure
from flagstone.checks import checked_total
from flagstone.coins import Coins, fresh_seed
from flagstone.encoding import Encoding, Monomials
from flagstone.errors import InputError, Parameter, ReplicabilityWarning
from flagstone.estimators._adopting import Adopting
from flagstone.estimators._digest import RowDigest, digest_of
from flagstone.estimators._reading import Reading
from flagstone.estimators.atomic import all_or_nothing
from flagstone.estimators.contracts import (
    RULE,
    SPAN,
    Contract,
    check_parameters,
    check_shape,
    shape_of,
)
from flagstone.estimators.input_rows import checked_counts, feature_names, table_rows
from flagstone.estimators.labels import label_name
from flagstone.finding import Finding
from flagstone.guarantees import Guarantee
from flagstone.guarantees.promise import CONFIDENCE
from flagstone.measurement import Measurement
from flagstone.pipeline import ask, certify
from flagstone.question import Question
from flagstone.rules import SpanRule, rule_named
from flagstone.second_pass import StreamCertification
from flagstone.shards import add_rows

_FITTED = {
    "_adopted", "_batches", "_coder", "_digest", "_finding", "_stream", "_label_counts", "_shape",
    "_summary", "_target", "feature_names_in_", "n_features_in_", "random_state_",
}  # fmt: skip


@dataclass(kw_only=True, eq=False, repr=False)  # makes __init__ of the parameters
class SpanEstimator(Adopting, Reading, BaseEstimator, ABC):  # type: ignore[misc]
    """A question of the core in scikit-learn's clothes.

    A subclass says which question it asks (``_question``). Everything else is here.
    ``partial_fit`` only counts rows; the answer is computed when it is first asked for, and by
    ``fit`` at once.
    """

    field: Any = 2
    rho: float | None = None
    eps: float = 0.1
    rule: str = "index"
    t_min: int | float | None = None
    t_max: int | float | str | None = None
    contamination: float = 0.0
    random_state: int | str | None = None
    out_of_field: str = "raise"
    weights_count_rows: bool = False
    take: int | None = None
    confidence: float | None = None

    #: What each parameter may be.
    _contracts: ClassVar[Mapping[str, Contract]] = SPAN

    @property
    @abstractmethod
    def _question(self) -> Question:
        """What is asked of the rows."""

    def _rule(self) -> SpanRule:
        return rule_named(**{name: getattr(self, name) for name in RULE})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit on rows, with their labels where the learner asks for them.

        Parameters
        ----------
        X : array-like, frame, CSR matrix or BitRows of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels, or the right-hand sides of equations; ignored where there are none.
        sample_weight : array-like of whole numbers, shape (n_samples,), optional
            How often each row counts: weights are repeated rows. With ``weights_count_rows`` the
            rows are read in the order of their values, whatever the order they are listed in.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._begin()
            self._take(X, y, sample_weight)
            return self._finish(X, y)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows; all of them are added or none. Parameters as for :meth:`fit`."""
        with all_or_nothing(self):
            self._go_on()
            self._take(X, y, sample_weight)
        return self

    def _take(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> None:
        rows = self._rows(X, reset=not self._is_begun)
        labels, weights = self._labels(y, len(rows)), self._counts_of(sample_weight, len(rows))
        rows, labels, weights = self._first(rows, labels, weights)
        self._count(rows, labels, weights, classes)
        if self._question.labelled and "_target" not in vars(self):
            self._target = label_name(y, feature_names(self))

    def _labels(self, y: Any, n_rows: int) -> Array | None:
        """Return what belongs to each row, checked; None where nothing does."""
        return None

    def _count(self, rows: Rows, labels: Any, weights: Array | None, classes: Any) -> None:
        self._absorb(rows, labels, weights)

    def _begin(self, *, stream: bool = False) -> None:
        """Check the parameters and forget what was fitted before (see `all_or_nothing`)."""
        check_parameters(self, self._contracts)
        self._rule()
        for name in _FITTED & vars(self).keys():
            delattr(self, name)
        self._shape = shape_of(self)
        self._stream: StreamCertification | None = None
        if stream and self.confidence is not None:
            self._stream = StreamCertification(self._rule(), self.confidence)

    def _go_on(self) -> None:
        """Begin with the first batch of rows; go on with the others as it was begun."""
        if self._is_begun:
            check_shape(self, self._shape, streamed=self._stream is not None)
        else:
            self._begin(stream=True)

    @property
    def _is_begun(self) -> bool:
        return "_summary" in vars(self)

    def _rows(self, X: Any, *, reset: bool = False) -> Rows:
        rows = table_rows(
            self, X, as_field(self.field), reset=reset, reduce=self.out_of_field == "reduce"
        )
        return rows if getattr(self, "degree", 1) == 1 else self._monomials.expand(rows)

    @property
    def _monomials(self) -> Monomials:
        """The products of features that rows are made of: the features themselves, in degree 1."""
        named = getattr(self, "feature_names_in_", None)
        names = (f"x{i}" for i in range(self.n_features_in_)) if named is None else map(str, named)
        return Monomials(self._field, getattr(self, "degree", 1), tuple(names))

    def _counts_of(self, sample_weight: Any, n_rows: int) -> Array | None:
        """Return how often each row counts (None for once); there must be room for them all."""
        weights, total = checked_counts(sample_weight, n_rows)
        checked_total(self._summary.n_rows if self._is_begun else 0, total)
        if weights is None or self.weights_count_rows:
            return weights  # whether they are all 1 depends on the sample, the order must not
        return None if (weights == 1).all() else weights

    def _absorb(self, rows: Rows, labels: Array | None, weights: Array | None) -> None:
        """Count checked rows in: all of them or none, whatever happens on the way."""
        self._refuse_if_adopted("added")
        if weights is not None and self.weights_count_rows:
            order = value_order(self._field, rows, labels)
            rows, weights = rows[order], weights[order]
            labels = None if labels is None else labels[order]
        begun = self._is_begun
        question, F = self._question, self._field
        digest = getattr(self, "_digest", None) if begun else RowDigest(F)
        if digest is not None:
            # None once weights came: what they count may not have been drawn one by one
            digest = None if weights is not None else digest.update(rows, labels)
        if begun:
            # An update is all or nothing by itself; several of them are so on a copy only.
            single = self._stream is None and len(list(chunks(*rows.shape))) < 2
            summary = self._summary if single else self._summary.copy()
        else:
            seed = fresh_seed() if self.random_state is None else Coins(self.random_state).seed
            summary = Flag(question.dim(width(rows)), F)
        stream = None if digest is None else copy.deepcopy(self._stream)
        add_rows(summary, question, rows, labels, weights, stream)
        self._stream = stream
        self._digest: RowDigest | None = digest
        self._summary: Flag = summary
        self._finding: Finding | None = None
        self._batches: int = getattr(self, "_batches", 0) + 1
        if not begun:
            self.random_state_ = seed

    def _finish(self, X: Any, y: Any) -> Self:
        """End a fit: there must be rows; find the answer now."""
        if self._summary.n_rows == 0:
            raise InputError("sample_weight is zero for every row: there is nothing to fit")
        if self.confidence is not None and self._digest is not None:
            self.certify(X, y, confidence=self.confidence)
        finding = self._ask()
        if finding.is_empty or finding.answer.is_bottom or finding.credibility.too_few:
            warnings.warn(ReplicabilityWarning(*self._emptiness), stacklevel=3)
        return self

    @property
    def _emptiness(self) -> list[str | Parameter]:
        """What to say at once of an answer that nobody should act on."""
        finding = self._ask()
        if finding.is_empty:
            return [
                f"{finding.title}; a smaller ",
                Parameter("t_min"),
                ", a shorter window or less ",
                Parameter("contamination"),
                " keeps more",
            ]
        if finding.answer.is_bottom:
            return [f"{finding.title}: the answer is ⊥"]
        return [f"{finding.headline}; more rows help, another window does not"]

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_begun

    def _ask(self) -> Finding:
        check_is_fitted(self)
        check_shape(self, self._shape, streamed=self._stream is not None)
        if self._finding is None:
            self._finding = ask(
                self._summary,
                self._question,
                self._rule(),
                Coins(self.random_state_),
                encoding=self._encoding(),
                labels=self._numbered_labels,
                withheld=self._withheld,
                sorted_rows=self._digest is None,
                seed_is_fresh=self.random_state is None,
            )
            if self._stream is not None:
                self._finding = self._stream.certified(self._finding)
        return self._finding

    @property
    def _withheld(self) -> str | None:
        """Why nothing is promised about fresh samples, if so."""
        if self._digest is not None:
            return None
        if not self.weights_count_rows:
            return (
                "sample_weight may count rows that were not drawn independently "
                "(weights_count_rows=True says that they were)"
            )
        if self._batches > 1:
            return (
                "rows counted by sample_weight came in several batches, and which row is in which "
                "batch may depend on the sample; pass all of them in one call"
            )
        return None

    def certify(self, X: Any, y: Any = None, *, confidence: float = CONFIDENCE) -> Guarantee:
        """Prove from the rows of the fit what fresh samples of their source will answer.

        Where data have a gap (frequent directions, and rare ones), two samples agree practically
        always, with far fewer rows than any bound made in advance asks for. A second pass over the
        rows certifies it: docs/theory/certificates.md, S30 to S37.

        Parameters
        ----------
        X, y
            The very rows and labels of the fit, in their order; others are refused. They must have
            been drawn independently, and neither window nor encoders nor their number may have
            been chosen by what they say.
        confidence : float, default 0.99
            The probability, over the rows at hand, that everything certified is true.

        Returns
        -------
        Guarantee
            Also ``guarantee_`` from now on, until more rows come.
        """
        finding = self._ask()
        rows, labels = self._given(X, y)
        rows, labels = rows[: self.take], None if labels is None else labels[: self.take]
        if self._stream is not None:
            raise InputError(
                "these rows were certified while they came, for any number of them; to certify a "
                "number that was fixed beforehand, leave ",
                Parameter("confidence"),
                " out of the estimator",
            )
        self._refuse_if_adopted("certified")
        if self._digest is None:
            raise InputError("rows that were counted by sample_weight cannot be certified")
        if self._digest != digest_of(self._field, rows, labels):
            raise InputError(
                "an answer is certified on the rows of its fit, in their order; these are others"
            )
        self._finding = certify(finding, rows, labels, confidence=confidence, checked=True)
        return self.guarantee_

    def contains(self, X: Any, y: Any = None) -> Array:
        """Say of each row whether it lies in the kept span, which the answer was read off.

        Where labels belong to rows, a row (x, y); without y, whether x has a label with which it
        does: elsewhere, what the answer says of x was drawn by the coins.
        """
        rows, labels = (self._rows(X), None) if y is None else self._given(X, y)
        return inside(self._ask(), rows, labels)

    def _given(self, X: Any, y: Any) -> tuple[Rows, Array | None]:
        """Return rows and labels, checked."""
        rows = self._rows(X)
        return rows, self._labels(y, len(rows))

    def _first(self, *parts: Any) -> list[Any]:
        """Return the first ``take`` of rows, labels and weights, or all of them."""
        if self.take is None:
            return list(parts)
        if parts[-1] is not None and self.weights_count_rows:
            raise InputError(
                Parameter("take", self.take),
                " means the first rows as they were drawn, and rows that are counted by "
                "sample_weight do not tell which these are; leave one of the two out",
            )
        if self._is_begun:
            raise InputError(Parameter("take"), " fixes the rows of one fit; leave it out here")
        if len(parts[0]) < self.take:
            raise InputError(
                Parameter("take", self.take),
                f" asks for more rows than there are ({len(parts[0]):,})",
            )
        return [None if part is None else part[: self.take] for part in parts]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        if self._is_begun and self.random_state is None:
            text += f"\n# random_state_={self.random_state_!r} was drawn afresh: share it"
        return text

    @property
    def _field(self) -> Field:
        return as_field(self.field)

    @property
    def _numbered_labels(self) -> tuple[str, ...] | None:
        """The labels, where their code depends on which of them the sample shows."""
        return None

    @property
    def _named_labels(self) -> Array | None:
        """What the elements 0, 1, … of the label stand for; None where they are the labels."""
        return None

    def _encoding(self) -> Encoding:
        """Return how a table like X becomes rows: the names, and what was done with entries."""
        modulo = self.out_of_field == "reduce" and self._field.order is not None
        encoding = Encoding.plain(
            self._field,
            feature_names(self).tolist(),
            label=self._target if self._question.labelled else None,
            labels=self._named_labels,
            kind="mod" if modulo else "element",
        )
        return replace(encoding, degree=getattr(self, "degree", 1))

    def measure(self, X: Any, y: Any = None, sample_weight: Any = None) -> Measurement:
        """Count how many rows lie outside the kept span, and how many break the answer.

        Returns
        -------
        Measurement
            ``read``, ``uncovered`` and ``misfits`` (None when the answer is ⊥).
        """
        finding = self._ask()
        rows, labels = self._given(X, y)
        weights, _ = checked_counts(sample_weight, len(rows))
        return measure(finding, rows, labels, weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags
