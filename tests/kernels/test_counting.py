"""Histogram counting against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from flagstone.kernels import counting


@pytest.mark.parametrize("number", [0, 40, 1000])
@pytest.mark.parametrize("dtype", [np.uint64, np.int64, np.uint32])
def test_count_adds_to_what_is_there(dtype, number, monkeypatch):
    """Few values go straight to the counts; many in portions that small entries can hold."""
    monkeypatch.setattr(counting, "_MOST", 300)
    values = np.random.default_rng(1).integers(0, 50, number).astype(dtype)
    counts = np.arange(64)
    counting.count(values, None, counts)
    assert np.array_equal(counts, np.arange(64) + np.bincount(values.astype(int), minlength=64))


def test_weights_count_as_repetitions():
    rng = np.random.default_rng(2)
    values, weights = rng.integers(0, 50, 1000).astype(np.uint64), rng.integers(0, 9, 1000)
    counts, repeated = np.zeros(50, np.int64), np.zeros(50, np.int64)
    counting.count(values, weights, counts)
    counting.count(np.repeat(values, weights), None, repeated)
    assert np.array_equal(counts, repeated)
