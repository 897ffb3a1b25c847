"""What all replicable estimators share: rows in, a finding out, both by way of the one pipeline."""

from __future__ import annotations

import copy
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from flagstone.algebra import (
    Array,
    Field,
    Flag,
    Rows,
    Subspace,
    as_field,
    chunks,
    value_order,
    width,
)
from flagstone.answers import Answer
from flagstone.coins import Coins, fresh_seed
from flagstone.encoding import Encoding, Monomials
from flagstone.errors import InputError, Parameter, ReplicabilityWarning
from flagstone.estimators.atomic import all_or_nothing
from flagstone.estimators.contracts import check_parameters, check_shape, chosen_rule, shape_of
from flagstone.estimators.input_rows import checked_counts, feature_names, table_rows
from flagstone.estimators.labels import label_name
from flagstone.finding import Finding
from flagstone.guarantees import Guarantee
from flagstone.guarantees.promise import CONFIDENCE
from flagstone.measurement import Measurement, inside, measure
from flagstone.pipeline import ask, certify
from flagstone.question import Question
from flagstone.rules import SpanRule
from flagstone.second_pass import StreamCertification
from flagstone.shards import add_rows

_FITTED = {
    "_adopted", "_batches", "_coder", "_counts_rows", "_finding", "_label_counts", "_shape",
    "_stream", "_summary", "_target", "_weighted", "feature_names_in_", "n_features_in_",
    "random_state_",
}  # fmt: skip


class CountedRows(NamedTuple):
    """Rows with their labels (elements) and weights, as they were counted."""

    rows: Rows
    labels: Array | None
    weights: Array | None


@dataclass(kw_only=True, eq=False, repr=False)  # makes __init__ of the parameters
class SpanEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """A question of the core as a scikit-learn estimator.

    A subclass says which question it asks (``_question``). Everything else is here.
    ``partial_fit`` only counts rows; the answer is computed when it is first asked for, and by
    ``fit`` at once.
    """

    field: Any = 2
    rule: Any = "index"
    rho: float | None = None
    eps: float = 0.1
    contamination: float = 0.0
    random_state: int | str | None = None
    certify: bool | float = True

    _legend = ""  #: What the elements in the answer mean, if that is not obvious.

    @property
    @abstractmethod
    def _question(self) -> Question:
        """What is asked of the rows."""

    def _rule(self) -> SpanRule:
        return chosen_rule(self)

    @property
    def _confidence(self) -> float | None:
        """Of what is certified; None where nothing is."""
        if isinstance(self.certify, (bool, np.bool_)):
            return CONFIDENCE if self.certify else None
        return self.certify

    # Rows in

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, weights_count_rows: bool = False
    ) -> Self:
        """Fit on rows, with labels if the learner needs them.

        Parameters
        ----------
        X : array-like, frame, CSR matrix or BitRows of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels, or the right-hand sides of equations; ignored where there are none.
        sample_weight : array-like of whole numbers, shape (n_samples,), optional
            How often each row counts: weights are repeated rows.
        weights_count_rows : bool, default=False
            True asserts that a weight of n means n rows that were drawn independently.
            Rows are then sorted by value first, so that the order in which they are listed (by
            frequency, say) does not matter. They must come in one call: weights in several batches
            of `partial_fit`, and weights without this word, forfeit every promise about fresh
            samples.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._begin()
            self._finish(self._take(X, y, sample_weight, weights_count_rows))
        return self

    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, weights_count_rows: bool = False
    ) -> Self:
        """Add rows; all of them are added or none. Parameters as for :meth:`fit`."""
        with all_or_nothing(self):
            self._go_on()
            self._take(X, y, sample_weight, weights_count_rows)
        return self

    def _take(
        self, X: Any, y: Any, sample_weight: Any, counts_rows: bool, classes: Any = None
    ) -> CountedRows:
        """Check rows, labels and weights, and count them in."""
        rows = self._rows(X, reset=not self._is_begun)
        labels = self._labels(y, len(rows))
        weights = checked_counts(sample_weight, len(rows))
        # whether all are 1 depends on the sample, which the order of rows must not
        if weights is not None and not counts_rows and (weights == 1).all():
            weights = None
        taken = self._used_rows(CountedRows(rows, labels, weights))
        counted = self._count(taken, counts_rows, classes)
        if self._question.labelled and "_target" not in vars(self):
            self._target: str = label_name(y, feature_names(self))
        return counted

    def _labels(self, y: Any, n_rows: int) -> Array | None:
        """Return what belongs to each row, checked; None where nothing does."""
        return None

    def _used_rows(self, taken: CountedRows) -> CountedRows:
        """Return the first rows, as many as the coins draw, where the rule draws their number."""
        rule = self._rule()
        used = rule.n_rows(Coins(self.random_state_))
        if used is None:
            return taken
        if self._is_begun or taken.weights is not None or len(taken.rows) != rule.draw_rows:
            weighted = "" if taken.weights is None else " with weights"
            raise InputError(
                f"a rule with draw_rows={rule.draw_rows} needs one fit of exactly that number of "
                f"rows, without weights, got {len(taken.rows):,} rows{weighted}"
            )
        labels = None if taken.labels is None else taken.labels[:used]
        return CountedRows(taken.rows[:used], labels, None)

    def _count(self, taken: CountedRows, counts_rows: bool, classes: Any) -> CountedRows:
        return self._absorb(taken, counts_rows)

    def _begin(self, *, stream: bool = False) -> None:
        """Check the parameters and forget what was fitted before (see `all_or_nothing`)."""
        check_parameters(self)
        rule, confidence = self._rule(), self._confidence
        for name in _FITTED & vars(self).keys():
            delattr(self, name)
        self._shape = shape_of(self)
        self._stream: StreamCertification | None = None
        if stream and confidence is not None:
            self._stream = StreamCertification(rule, confidence)
        self.random_state_ = (
            fresh_seed() if self.random_state is None else Coins(self.random_state).seed
        )

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
        try:
            rows = table_rows(self, X, as_field(self.field), reset=reset)
        except ValueError as error:
            raise self._hint_at_encoders(error) from None
        return rows if self._degree == 1 else self._monomials.expand(rows)

    def _hint_at_encoders(self, error: ValueError) -> ValueError:
        """Say what takes the columns of the table, where an adopted finding encodes them itself."""
        finding = self._finding if self._adopted else None
        if finding is None or all(encoder.is_plain for encoder in finding.encoding.encoders):
            return error
        return InputError(
            f"{error}\nAn estimator takes encoded columns; finding.predict(X) and "
            "finding.check(X) encode the columns of the table first"
        )

    @property
    def _degree(self) -> int:
        return int(getattr(self, "degree", 1))

    @property
    def _monomials(self) -> Monomials:
        """The products of features that rows are made of: the features themselves, in degree 1."""
        if self._adopted and self._finding is not None:
            return self._finding.encoding.monomials
        named = getattr(self, "feature_names_in_", None)
        names = (f"x{i}" for i in range(self.n_features_in_)) if named is None else map(str, named)
        return Monomials(self._field, self._degree, tuple(names))

    def _absorb(self, taken: CountedRows, counts_rows: bool) -> CountedRows:
        """Count checked rows: all of them or none, even after an error."""
        if self._adopted:
            raise InputError(
                "rows cannot be added: the finding was made elsewhere, of rows that are not here"
            )
        rows, labels, weights = taken
        question, F, begun = self._question, self._field, self._is_begun
        if weights is not None and counts_rows:
            order = value_order(F, rows, labels)
            rows, weights = rows[order], weights[order]
            labels = None if labels is None else labels[order]
        weighted = weights is not None or getattr(self, "_weighted", False)
        if begun:
            # An update is all or nothing by itself; several of them are so on a copy only.
            single = self._stream is None and len(list(chunks(*rows.shape))) < 2
            summary = self._summary if single else self._summary.copy()
        else:
            summary = Flag(question.dim(width(rows)), F)
        # what weights count may not have been drawn one by one, as a stream must be
        stream = None if weighted else copy.deepcopy(self._stream)
        add_rows(summary, question, rows, labels, weights, stream)
        self._stream, self._weighted = stream, weighted
        self._counts_rows = counts_rows and getattr(self, "_counts_rows", True)
        self._summary: Flag = summary
        self._finding: Finding | None = None
        self._batches: int = getattr(self, "_batches", 0) + 1
        return CountedRows(rows, labels, weights)

    def _finish(self, counted: CountedRows) -> None:
        """End a fit: there must be rows; find the answer now, measure and certify it."""
        if self._summary.n_rows == 0:
            raise InputError("sample_weight is zero for every row: there is nothing to fit")
        finding, confidence = self._ask(), self._confidence
        if confidence is not None and counted.weights is None:
            finding = certify(
                finding, counted.rows, counted.labels, confidence=confidence, checked=True
            )
        elif confidence is not None:
            finding = finding.with_counts(measure(finding, *counted))
        self._finding = finding
        known = finding.credibility
        unfit = known.support == "none" and not known.has_few_rows
        if finding.is_empty or finding.answer.is_bottom or known.too_few or unfit:
            warnings.warn(ReplicabilityWarning(*self._emptiness), stacklevel=3)

    @property
    def _emptiness(self) -> list[str | Parameter]:
        """The warning about an answer that should not be relied on."""
        finding = self._ask()
        if finding.is_empty:
            return [f"{finding.title}; ", *KEEP_MORE]
        if finding.answer.is_bottom:
            return [f"{finding.title}: the answer is ⊥"]
        if finding.credibility.too_few:
            return [f"{finding.headline}; more rows help, another window does not"]
        told = "" if finding.caution is None else f"; {finding.caution}"
        return [f"{finding.headline}{told}; ", *KEEP_MORE]

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
                sorted_rows=self._weighted,
                seed_is_fresh=self.random_state is None,
            )
            if self._stream is not None:
                self._finding = self._stream.certified(self._finding)
        return self._finding

    @property
    def _withheld(self) -> str | None:
        """Why nothing is promised about fresh samples, if so."""
        if not self._weighted:
            return None
        if not self._counts_rows:
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

    # Rows against the answer

    def measure(self, X: Any, y: Any = None, sample_weight: Any = None) -> Measurement:
        """Count how many rows lie outside the kept span, and how many break the answer.

        Returns
        -------
        Measurement
            ``read``, ``uncovered`` and ``misfits`` (None when the answer is ⊥).
        """
        finding = self._ask()
        rows, labels = self._given(X, y)
        weights = checked_counts(sample_weight, len(rows))
        return measure(finding, rows, labels, weights)

    def contains(self, X: Any, y: Any = None) -> Array:
        """Say of each row whether it lies in the kept span, which the answer was read off.

        Where labels belong to rows, a row (x, y); without y, whether x has a label with which it
        does: elsewhere, no row supports what the answer says about x.
        """
        rows, labels = (self._rows(X), None) if y is None else self._given(X, y)
        return inside(self._ask(), rows, labels)

    def _given(self, X: Any, y: Any) -> tuple[Rows, Array | None]:
        """Return rows and labels, checked."""
        rows = self._rows(X)
        return rows, self._labels(y, len(rows))

    # What was found

    @property
    def finding_(self) -> Finding:
        """All that is known: it can be saved, reported, drawn, compared."""
        return self._ask()

    @property
    def _kept(self) -> Subspace:
        """V*, the kept span."""
        V = self._ask().subspace
        assert V is not None
        return V

    @property
    def answer_(self) -> Answer:
        """The learned thing as a value: it checks, prints and compares itself."""
        return self._ask().answer

    @property
    def flag_(self) -> Flag:
        """The flag of the rows: a copy, which may be updated and merged."""
        flag = self._ask().flag
        assert flag is not None
        return flag.copy()

    @property
    def guarantee_(self) -> Guarantee:
        """What is proven for this fit, and what is not."""
        promises = self._ask().promises
        assert promises is not None
        return promises

    @property
    def margin_(self) -> int:
        """The answer does not change if up to this many rows are altered, at this threshold."""
        return self.guarantee_.measured.margin

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of question, answer and named labels: equal answers, equal digits."""
        return self._ask().fingerprint

    @property
    def formula_(self) -> str:
        """The answer as text, with a warning if it says nothing about the rows."""
        finding = self._ask()
        text, note = finding.answer.text, finding.title if finding.is_empty else self._legend
        if sorted(finding.lines) == sorted(finding.answer.lines):  # in the order of the shell
            text = "\n".join(finding.lines) or text
        gap = "\n" if "\n" in text else "  "
        return f"{text}{gap}# {note}" if note else text

    @property
    def is_empty_(self) -> bool:
        """Whether no direction was kept: the answer then says nothing about the rows."""
        return self._ask().is_empty

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the features, or products of them, that appear in the answer."""
        feature_names(self, input_features)
        names = self._ask().encoding.names
        return np.array([names[i] for i in self.answer_.support], dtype=object)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        if self._is_begun and self.random_state is None:
            text += f"\n# random_state_={self.random_state_!r} was drawn afresh: share it"
        return text

    # Findings that were made elsewhere

    _adopted = False

    def asks(self) -> tuple[Question, SpanRule, str | None]:
        """Return what is asked of rows: the question, the rule and the published seed, checked."""
        check_parameters(self)
        self._question.check(self._field)
        seed = None if self.random_state is None else Coins(self.random_state).seed
        return self._question, self._rule(), seed

    def adopt(self, finding: Finding) -> Self:
        """Be fitted by a finding that was made elsewhere: of partitions, or loaded from a file.

        What was asked there must be what this estimator asks. Rows cannot be added or certified
        here.

        Examples
        --------
        >>> from flagstone import LinearSpan
        >>> from flagstone.pipeline import rep_linear_span
        >>> finding = rep_linear_span([[1, 1, 0], [0, 1, 1]] * 50, random_state=7)
        >>> LinearSpan().adopt(finding).predict([[1, 0, 1], [1, 0, 0]]).tolist()
        [1, -1]
        """
        question, field, degree = self.asks()[0], self._field, self._degree
        if (finding.question, finding.field) != (question, field):
            kind = finding.question.estimator
            of_field = "" if finding.field == field else f", field={finding.field.name!r}"
            raise InputError(
                f"the finding answers {finding.question!r} over {finding.field}, but this "
                f"{type(self).__name__} asks {question!r} over {field}; adopt it by "
                f"{'an' if kind[0] in 'AE' else 'a'} {kind} with its parameters{of_field}"
            )
        if finding.encoding.degree != degree:
            raise InputError(
                f"the finding is of degree {finding.encoding.degree}, but this "
                f"{type(self).__name__} has ",
                Parameter("degree", degree),
            )
        with all_or_nothing(self):
            self._begin()
            names, flag = finding.encoding.monomials.names, finding.flag
            self.n_features_in_ = len(names)
            if names != tuple(f"x{i}" for i in range(len(names))):
                self.feature_names_in_ = np.array(names, dtype=object)
            dim = question.dim(len(finding.encoding.names))
            self._summary = Flag(dim, field) if flag is None else flag
            self._finding, self._weighted, self._adopted = finding, False, True
            self.random_state_ = str(finding.seed)
            self._adopt_labels(finding)
        return self

    def _adopt_labels(self, finding: Finding) -> None:
        """Take over what is known of labels."""

    @property
    def _field(self) -> Field:
        return as_field(self.field)

    @property
    def _numbered_labels(self) -> tuple[str, ...] | None:
        """The labels, where their code depends on which of them the sample shows."""
        return None

    @property
    def _named_labels(self) -> Array | None:
        """What the elements 0, 1, … of the label mean; None if they are the labels."""
        return None

    def _encoding(self) -> Encoding:
        """Return how a table like X becomes rows: the names, and what labels mean."""
        encoding = Encoding.plain(
            self._field,
            feature_names(self).tolist(),
            label=self._target if self._question.labelled else None,
            labels=self._named_labels,
        )
        return replace(encoding, degree=self._degree)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags


#: What helps where no direction was kept.
KEEP_MORE: list[str | Parameter] = [
    "a window that starts earlier (",
    Parameter("t_min"),
    " of the rule) or ends earlier (",
    Parameter("t_max"),
    "), or less ",
    Parameter("contamination"),
    ", keeps more",
]
