"""Histogram counting for small domains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import jit

#: So many rows cannot overflow an entry of 32 bits.
_MOST = 2**32 - 1


def count(
    values: NDArray[Any], weights: NDArray[np.int64] | None, counts: NDArray[np.int64]
) -> None:
    """Add one, or its weight, to ``counts[value]`` for each value, in place."""
    if weights is not None:
        _count_weighted(values, weights, counts)
    elif len(values) < len(counts):
        _count(values, counts)
    else:
        # More of a table of small entries stays in the cache.
        for start in range(0, len(values), _MOST):
            small = np.zeros(len(counts), np.uint32)
            _count(values[start : start + _MOST], small)
            counts += small


@jit
def _count(values: Any, counts: Any) -> None:
    for value in values:
        counts[value] += 1


@jit
def _count_weighted(values: Any, weights: Any, counts: Any) -> None:
    for i in range(len(values)):
        if weights[i] > 0:
            counts[values[i]] += weights[i]
