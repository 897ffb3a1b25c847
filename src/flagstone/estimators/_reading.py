"""What a fitted estimator shows of its finding."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace
from flagstone.answers import Answer
from flagstone.estimators.input_rows import feature_names
from flagstone.finding import Finding
from flagstone.guarantees import Guarantee


class Reading:
    """Attributes that are read off the finding, when they are asked for."""

    _legend = ""  #: What the elements in the answer stand for, where it does not show.

    def _ask(self) -> Finding:
        raise NotImplementedError

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
        """No so many altered rows change the answer, with the threshold held fixed."""
        return self.guarantee_.measured.margin

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of question, answer and named labels: equal answers, equal digits."""
        return self._ask().fingerprint

    @property
    def formula_(self) -> str:
        """The answer as text, with a word of warning where it says nothing about the rows."""
        finding = self._ask()
        text, note = finding.answer.text, finding.title if finding.is_empty else self._legend
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
