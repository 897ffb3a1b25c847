"""A fit that fails leaves what was fitted before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Put all attributes back if the block raises, be it an interrupt.

    Attributes are put back, not copied: what the block changes in place is its own affair.
    """
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
