"""Which kernel builds flags over GF(2) of a given width; each is loaded when first asked for."""

from __future__ import annotations

import functools
from types import ModuleType

__all__ = ["flag_kernel"]


@functools.cache
def flag_kernel(dim: int) -> ModuleType:
    """The kernel for flags of GF(2)^dim: one word per row, two, or any number."""
    if dim <= 64:
        from flagstone.kernels import gf2_word

        return gf2_word
    if dim <= 128:
        from flagstone.kernels import gf2_pair

        return gf2_pair
    from flagstone.kernels import gf2_wide

    return gf2_wide
