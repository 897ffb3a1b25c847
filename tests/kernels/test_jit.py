"""The compiler's decorators: without a place for the cache, and what only kernels call."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config
from numba.core import caching

from flagstone.kernels import _jit


def _total(values):
    total = 0
    for value in values:
        total += value
    return total


@pytest.mark.skipif(bool(vars(config)["DISABLE_JIT"]), reason="nothing is compiled")
@pytest.mark.parametrize("decorate", [_jit.jit, _jit.leaf])
def test_kernels_work_without_a_place_for_the_cache(monkeypatch, decorate):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    kernel = decorate(_total)
    assert kernel(np.arange(5)) == 10
    assert not kernel.stats.cache_path


@pytest.mark.parametrize("decorate", [_jit.helper, _jit.inline])
def test_helpers_serve_kernels_and_are_kept_inside_of_them(decorate):
    total = decorate(_total)

    @_jit.leaf
    def twice(values):
        return 2 * total(values)

    assert twice(np.arange(5)) == 20
    assert not total.stats.cache_path if hasattr(total, "stats") else config.DISABLE_JIT
