"""What classifiers share: labels in and out, and what to do when the answer is ⊥."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from flagstone.algebra.fields import Array, Rows, as_field
from flagstone.answers import ParityRule
from flagstone.errors import BottomError, InputError, Parameter
from flagstone.estimators._base import KEEP_MORE, CountedRows, SpanEstimator
from flagstone.estimators.atomic import all_or_nothing
from flagstone.estimators.coders import LabelCoder
from flagstone.estimators.labels import (
    distinct,
    label_vector,
    legend,
    named_classes,
)
from flagstone.finding import Finding
from flagstone.text import few_rows, products_need


def is_binary(field: Any) -> bool:
    """Say whether a ``field`` parameter means GF(2), without complaining about a bad one."""
    try:
        return as_field(field).order == 2
    except ValueError:
        return False


def indicators(labels: Array, classes: Array) -> Array:
    """Return for each label a row of zeros with a 1 in the column of its class."""
    return np.asarray(labels[:, np.newaxis] == classes, dtype=float)


def after_bottom(estimator: Any, finding: Finding | None = None) -> list[str | Parameter]:
    """Say what to try after ⊥, by what the estimator allows for already.

    With its finding, products of columns are named with what they need.
    """
    known = estimator.get_params(deep=False)
    said: list[str | Parameter]
    if "contamination" in known:
        allowed = known["contamination"] or getattr(known["rule"], "contamination", 0.0)
        few = "" if finding is None else few_rows(finding)
        more = "more " if allowed else ""
        said = [f"; {few}if labels may be wrong, allow for {more}wrong rows with "]
        said += [Parameter("contamination")]
        if finding is None or finding.credibility.products is not None:
            said += ["; if the rule may not be linear, try "]
            said += [Parameter("degree", known["degree"] + 1)]
            said += [products_need(finding)] if finding is not None else []
    else:
        said = ["; if labels may be wrong, ParityClassifier allows for that with "]
        said += [Parameter("contamination"), "; if the rule may not be linear, it has "]
        said += [Parameter("degree", 2), " (with more rows or less contamination)"]
    said += [", or add columns that the label depends on"]
    if not known["fit_intercept"]:
        said += ["; allow for a constant with ", Parameter("fit_intercept", True)]
    return said


#: The way out of ⊥ that every classifier has.
MAJORITY: list[str | Parameter] = [
    "; ",
    Parameter("on_bottom", "majority"),
    " predicts the most frequent label",
]


class RuleReader:
    """What a fitted linear rule says, and predicts."""

    @property
    def coef_(self: Any) -> Array | None:
        """The coefficients w, shape (n_features,); None when the answer is ⊥."""
        coef: Array | None = self.answer_.coef
        return coef

    @property
    def intercept_(self: Any) -> Any:
        """The constant c; None when the answer is ⊥."""
        return self.answer_.intercept

    @property
    def is_bottom_(self: Any) -> bool:
        """Whether the answer is ⊥: no linear rule fits the kept rows."""
        return bool(self.answer_.is_bottom)

    def predict(self: Any, X: Any) -> Array:
        """Predict labels.

        Raises
        ------
        BottomError
            When the answer is ⊥, or no direction was kept so that the rule says nothing about the
            rows, and ``on_bottom="raise"``.
        """
        rule: ParityRule = self.answer_
        rows, nothing = self._rows(X), getattr(self, "is_empty_", False)
        if (rule.is_bottom or nothing) and self.on_bottom == "majority":
            return np.full(len(rows), self._majority(), dtype=self.classes_.dtype)
        if nothing:
            raise BottomError(
                "no direction was kept, so that the rule says nothing about the rows; ",
                *KEEP_MORE,
                *MAJORITY,
            )
        if rule.is_bottom:
            raise BottomError(
                "the answer is ⊥: no linear rule fits the rows that were kept (their span contains "
                "0…0 with a non-zero label)",
                *after_bottom(self, getattr(self, "finding_", None)),
                *MAJORITY,
            )
        elements = rule.predict(rows)
        labels: Array
        labels, known = self._coder.decode(elements)
        if not known.all():
            row = int(np.argmin(known))
            if self.on_bottom == "raise":
                raise BottomError(
                    f"the rule takes the value {rule.field.format(elements[row])} in {rule.field} "
                    f"on row {row}, for which there is no label; use ",
                    Parameter("on_bottom", "majority"),
                    " to predict the most frequent label there",
                )
            labels[~known] = self._majority()
        return labels

    @available_if(lambda self: is_binary(self.field))  # type: ignore[untyped-decorator]
    def predict_proba(self: Any, X: Any) -> Array:
        """Return 1 for the predicted label and 0 for the other, in the order of ``classes_``.

        Over GF(2) only. A rule has no shades: this is for tools such as ROC curves and calibration.
        """
        return indicators(self.predict(X), self.classes_)


class SpanClassifier(ClassifierMixin, SpanEstimator):  # type: ignore[misc]
    """Labels become elements of a field; the span is taken over labelled rows."""

    classes: Any
    _coder: Any

    def partial_fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        weights_count_rows: bool = False,
    ) -> Self:
        """Add labelled rows; all of them are added or none.

        Parameters
        ----------
        X, y, sample_weight, weights_count_rows
            As for :meth:`fit`.
        classes : array-like, optional
            All labels that can occur, at the first call; as the parameter of the estimator.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._go_on()
            self._take(X, y, sample_weight, weights_count_rows, classes)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose label is predicted (the accuracy).

        Over QQ equal numbers are equal labels, however they are written: "12.50" and 25/2.
        """
        if as_field(self.field).order is not None or not isinstance(
            getattr(self, "_coder", None), LabelCoder
        ):
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import accuracy_score  # takes long to load

        predicted = self.predict(X)
        labels = self._coder.encode(self._labels(y, len(predicted)))
        hits = np.asarray(labels == self._coder.encode(predicted), dtype=bool)
        return float(accuracy_score(np.ones_like(hits), hits, sample_weight=sample_weight))

    def _labels(self, y: Any, n_rows: int) -> Array:
        return label_vector(y, n_rows, type(self).__name__)

    def _count(self, taken: CountedRows, counts_rows: bool, classes: Any) -> CountedRows:
        rows, labels, weights = taken
        assert labels is not None
        if weights is not None and not weights.all():
            # A row that counts zero times is no row: its label must leave no trace either.
            counted = weights > 0
            rows, labels, weights = rows[counted], labels[counted], weights[counted]
            if not len(rows) and not self._is_begun:
                raise InputError("sample_weight is zero for every row: there is nothing to fit")
        coder = self._next_coder(distinct(labels), classes)
        elements = coder.encode(labels)
        absorbed = self._absorb(CountedRows(rows, elements, weights), counts_rows)
        self._label_counts = add_counts(getattr(self, "_label_counts", {}), elements, weights)
        self._coder = coder
        return absorbed

    def _adopt_labels(self, finding: Finding) -> None:
        labels, field = finding.encoding.labels, self._field
        number: Any = int if field.order else Fraction
        counted = {number(text): n for text, n in finding.provenance.get("labels", ())}
        classes = named_classes(self.classes)
        if classes is None and labels is not None:
            classes = np.array(labels)
        elif classes is None:
            seen = sorted(counted) or range(min(field.order or 2, 2))
            classes = np.array([int(v) if v == int(v) else v for v in seen])
        self._coder = self._first_coder(classes, closed=True)
        self._label_counts = counted

    def _next_coder(self, found: Array, classes: Any) -> Any:
        named = named_classes(self.classes)
        given = named_classes(classes)
        if not self._is_begun:
            if given is None:
                given = named
            elif named is not None and not np.array_equal(given, named):
                raise InputError(
                    f"partial_fit got classes={given.tolist()!r}, but the estimator was made with "
                    f"classes={named.tolist()!r}; name them in one place"
                )
            known = found if given is None else given
            return self._first_coder(known, closed=given is not None).including(found)
        if given is not None and not np.array_equal(given, self._coder.classes):
            raise InputError(
                f"classes={given.tolist()!r} is not the same as on last call to partial_fit, was: "
                f"{self._coder.classes.tolist()!r}"
            )
        return self._coder.including(found)

    def _first_coder(self, classes: Array, *, closed: bool) -> Any:
        return LabelCoder.of(classes, self._field, closed=closed)

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        if not self._is_begun:
            raise AttributeError(f"{type(self).__name__} is not fitted: it has no classes_")
        classes: Array = self._coder.classes
        return classes

    @property
    def _numbered_labels(self) -> tuple[str, ...] | None:
        coder = self._coder
        return None if coder.is_settled else tuple(repr(v) for v in coder.classes.tolist())

    @property
    def _named_labels(self) -> Array | None:
        return None if self._coder.by_value else self._coder.classes

    @property
    def _legend(self) -> str:  # type: ignore[override]
        return legend(self._named_labels)

    def _majority(self) -> Any:
        """The most frequent label; the smallest of several."""
        counts = self._label_counts
        if not counts:
            raise BottomError(
                "the labels of this finding were not counted, so the majority is not known"
            )
        best = max(counts.values())
        element = min(e for e, n in counts.items() if n == best)
        labels, _ = self._coder.decode(np.array([element], dtype=self._field.dtype))
        return labels[0]

    def _given(self, X: Any, y: Any) -> tuple[Rows, Array]:
        rows, labels = super()._given(X, y)
        return rows, self._coder.encode(labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A linear function over a finite field is no model for clouds of points.
        tags.classifier_tags.poor_score = True
        tags.classifier_tags.multi_class = not is_binary(self.field)
        return tags


def add_counts(counts: dict[Any, int], elements: Array, weights: Array | None) -> dict[Any, int]:
    """Return label counts with more labels, repeated rows counted by their weights."""
    if not len(elements):
        return counts
    if elements.dtype == np.uint8 and elements.max() <= 1:  # by far the most common, and fast
        ones = np.count_nonzero(elements) if weights is None else weights[elements == 1].sum()
        total = len(elements) if weights is None else weights.sum()
        new = {e: n for e, n in enumerate((int(total - ones), int(ones))) if n}
    else:
        values, place = np.unique(elements, return_inverse=True)
        totals = np.zeros(len(values), dtype=np.int64)
        np.add.at(totals, place, 1 if weights is None else weights)
        new = {e: n for e, n in zip(values.tolist(), totals.tolist(), strict=True) if n}
    return {e: counts.get(e, 0) + new.get(e, 0) for e in counts.keys() | new.keys()}
