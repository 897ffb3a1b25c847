"""The compiler's decorators: without a place for the cache, and what only kernels call."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config
from numba.core import caching

from flagstone.kernels import _jit


class Kernel:
    """What the compiler's events tell about: the kernel, and where it is kept."""

    def __init__(self, cache_path):
        self.stats = self
        self.cache_path = cache_path
        self.data = {"dispatcher": self}


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


@pytest.mark.parametrize("decorate", [_jit.helper, _jit.inline, _jit.apart])
def test_helpers_serve_kernels_and_are_kept_inside_of_them(decorate):
    total = decorate(_total)

    @_jit.leaf
    def twice(values):
        return 2 * total(values)

    assert twice(np.arange(5)) == 20
    if vars(config)["DISABLE_JIT"]:
        return
    assert not total.stats.cache_path
    (compiled,) = total.overloads.values()
    # Nothing was optimised or made machine code for it alone.
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


@pytest.mark.parametrize(("place", "said"), [("/cache", "once; they are kept in /cache"),
                                             (None, "for this run only")])  # fmt: skip
def test_compiling_for_more_than_a_second_is_said_once(monkeypatch, caplog, place, said):
    caplog.set_level("INFO", logger="flagstone.kernels")
    now = [0.0]
    monkeypatch.setattr(_jit.time, "perf_counter", lambda: now[0])
    notice, kernel, inside = _jit._Notice(), Kernel(place), Kernel(None)
    for seconds in (0.5, 0.4):  # two kernels, too quick to be worth a word
        notice.on_start(kernel)
        now[0] += seconds
        notice.on_end(kernel)
    assert not caplog.messages
    for _ in range(2):
        notice.on_start(kernel)
        notice.on_start(inside)
        now[0] += 0.2
        notice.on_end(inside)  # said while the kernel itself is still being compiled
        assert caplog.messages == [f"compiling kernels {said}"]
        notice.on_end(kernel)
