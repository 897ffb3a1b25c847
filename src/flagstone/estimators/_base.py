"""What all replicable estimators share: rows → summary → rule + coins → answer."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from flagstone.answers._text import feature_names
from flagstone.checks import checked_total
from flagstone.coins import Coins, fresh_seed
from flagstone.errors import InputError
from flagstone.estimators._input import checked_counts, table_rows
from flagstone.estimators._measure import Measurement
from flagstone.estimators._rows import chunks
from flagstone.fields import Array, Field, Rows, as_field, width
from flagstone.flag import Flag
from flagstone.guarantees import Guarantee
from flagstone.histogram import Histogram, new_summary
from flagstone.rules import SpanResult, SpanRule, rule_named, select_span
from flagstone.subspace import Subspace

_FITTED = {
    "_coder",
    "_label_counts",
    "_settled",
    "_summary",
    "feature_names_in_",
    "n_features_in_",
    "random_state_",
}


class SpanEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """An answer read off the replicable span of lifted rows.

    A subclass says how a row is lifted (:meth:`_lift`: append the label, a one, …) and how the
    answer is read off the span (:meth:`_read`). Everything else is here. ``partial_fit`` only
    counts rows; the answer is computed when it is first asked for, and by ``fit`` at once.
    """

    field: Any
    rho: float | None
    eps: float
    rule: str
    t_max: int | float | str | None
    t_min: int | None
    contamination: float
    random_state: int | str | None
    out_of_field: str

    # -- what a subclass says -------------------------------------------------------------

    @abstractmethod
    def _lift(self, rows: Rows, labels: Array | None) -> Rows:
        """Return the rows whose span is taken."""

    @abstractmethod
    def _read(self, V: Subspace, coins: Coins) -> Any:
        """Return the answer: an object with ``text`` and ``fingerprint()``."""

    def _rule(self) -> SpanRule:
        return rule_named(
            self.rule,
            rho=self.rho,
            eps=self.eps,
            t_max=self.t_max,
            t_min=self.t_min,
            contamination=self.contamination,
        )

    # -- rows in --------------------------------------------------------------------------

    def _begin(self) -> None:
        """Check the parameters and forget what was fitted before (see `all_or_nothing`)."""
        self._check_parameters()
        for name in _FITTED & vars(self).keys():
            delattr(self, name)

    def _check_parameters(self) -> None:
        as_field(self.field)
        self._rule()
        if self.out_of_field not in ("raise", "reduce"):
            raise InputError(f"out_of_field must be 'raise' or 'reduce', got {self.out_of_field!r}")
        if self.random_state is not None:
            Coins(self.random_state)

    @property
    def _is_begun(self) -> bool:
        return "_summary" in vars(self)

    def _rows(self, X: Any, *, reset: bool = False) -> Rows:
        return table_rows(
            self, X, as_field(self.field), reset=reset, reduce=self.out_of_field == "reduce"
        )

    def _counts_of(self, sample_weight: Any, n_rows: int) -> Array | None:
        """Return how often each row counts (None for once); there must be room for them all."""
        weights, total = checked_counts(sample_weight, n_rows)
        checked_total(self._summary.n_rows if self._is_begun else 0, total)
        return weights

    def _absorb(self, rows: Rows, labels: Array | None, weights: Array | None) -> None:
        """Count checked rows in: all of them or none, whatever happens on the way."""
        begun, pieces = self._is_begun, list(chunks(len(rows)))
        if begun:
            # An update is all or nothing by itself; several of them are so on a copy only.
            summary = self._summary if len(pieces) < 2 else self._summary.copy()
        else:
            seed = fresh_seed() if self.random_state is None else Coins(self.random_state).seed
            dim = width(self._lift(rows[:1], None if labels is None else labels[:1]))
            summary = new_summary(dim, as_field(self.field))
        for piece in pieces:
            lifted = self._lift(rows[piece], None if labels is None else labels[piece])
            summary.update(lifted, None if weights is None else weights[piece])
        self._summary: Flag | Histogram = summary
        self._settled: tuple[Flag, SpanResult, Any] | None = None
        if not begun:
            self.random_state_ = seed

    def _finish(self) -> Self:
        """End a fit: there must be rows; settle the answer now."""
        if self._summary.n_rows == 0:
            raise InputError("sample_weight is zero for every row: there is nothing to fit")
        self._settle()
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_begun

    # -- the answer -----------------------------------------------------------------------

    def _settle(self) -> tuple[Flag, SpanResult, Any]:
        check_is_fitted(self)
        if self._settled is None:
            summary, coins = self._summary, Coins(self.random_state_)
            flag = summary.to_flag() if isinstance(summary, Histogram) else summary.copy()
            result = select_span(flag, coins, rule=self._rule())
            result = dataclasses.replace(
                result,
                guarantee=dataclasses.replace(result.guarantee, labels=self._numbered_labels),
                seed_is_fresh=self.random_state is None,
            )
            self._settled = flag, result, self._read(result.subspace, coins)
        return self._settled

    @property
    def flag_(self) -> Flag:
        """The flag of the rows: a copy, which may be updated and merged."""
        return self._settle()[0].copy()

    @property
    def result_(self) -> SpanResult:
        """The span behind the answer, with threshold, window and seed."""
        return self._settle()[1]

    @property
    def guarantee_(self) -> Guarantee:
        """What is proven for this fit, and what is not."""
        return self.result_.guarantee

    @property
    def margin_(self) -> int:
        """How many altered rows certainly leave the answer as it is."""
        return self.result_.margin

    @property
    def _answer(self) -> Any:
        return self._settle()[2]

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of the canonical answer: equal answers, equal digits."""
        return str(self._answer.fingerprint())

    @property
    def formula_(self) -> str:
        """The answer as text."""
        return str(self._answer.text)

    @property
    def _numbered_labels(self) -> tuple[str, ...] | None:
        """The labels, where their code depends on which of them the sample shows."""
        return None

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        if self._is_begun and self.random_state is None:
            text += f"\n# random_state_={self.random_state_!r} was drawn afresh: share it"
        return text

    # -- names and measures ---------------------------------------------------------------

    @property
    def _field(self) -> Field:
        return as_field(self.field)

    @property
    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _all_names(self) -> Array:
        return np.array(feature_names(self._names, self.n_features_in_), dtype=object)

    def _check_input_features(self, input_features: Any) -> None:
        """Refuse names other than those of the fit, in scikit-learn's words."""
        check_is_fitted(self)
        if input_features is None:
            return
        given = np.asarray(input_features, dtype=object)
        if self._names is not None and not np.array_equal(given, self._all_names()):
            raise InputError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise InputError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(given)}"
            )

    def _measure(
        self, rows: Rows, labels: Array | None, wrong: Array | None, sample_weight: Any
    ) -> Measurement:
        weights, total = checked_counts(sample_weight, len(rows))
        V = self.result_.subspace
        outside = np.empty(len(rows), dtype=bool)
        for piece in chunks(len(rows)):
            lifted = self._lift(rows[piece], None if labels is None else labels[piece])
            outside[piece] = ~V.contains(lifted)

        def count(mask: Array) -> int:
            return int(np.count_nonzero(mask) if weights is None else weights[mask].sum())

        return Measurement(total, count(outside), None if wrong is None else count(wrong))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags
