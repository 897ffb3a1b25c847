"""Which kernel builds flags over GF(2) of a given width; each is loaded when first asked for."""

from __future__ import annotations

import functools
from types import ModuleType

#: Up to this many columns a sweep of the coordinate map is the fastest way for all kinds of rows.
SWEPT = 256


@functools.cache
def flag_kernel(dim: int) -> ModuleType:
    """The kernel for flags of GF(2)^dim."""
    if dim <= SWEPT:
        from flagstone.kernels import gf2_sweep

        return gf2_sweep
    from flagstone.kernels import gf2_wide

    return gf2_wide
