"""The compiler decorator where no directory can hold a cache, as on a read-only install."""

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
@pytest.mark.parametrize("decorate", [_jit.jit, _jit.inline, _jit.leaf])
def test_kernels_work_without_a_place_for_the_cache(monkeypatch, decorate):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    kernel = decorate(_total)
    assert kernel(np.arange(5)) == 10
    assert not kernel.stats.cache_path
