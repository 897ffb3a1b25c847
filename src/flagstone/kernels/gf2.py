"""Which kernel builds flags over GF(2) of a given width; each is loaded when first asked for."""

from __future__ import annotations

import functools
from types import ModuleType


@functools.cache
def flag_kernel(dim: int) -> ModuleType:
    """The kernel for flags of GF(2)^dim."""
    if kernel := narrow_kernel(dim):
        return kernel
    from flagstone.kernels import gf2_wide

    return gf2_wide


def narrow_kernel(dim: int) -> ModuleType | None:
    """The kernel that goes through all of the coordinate map, where that is the fastest way."""
    from flagstone.kernels import _eights, gf2_eights, gf2_sweep

    kernel = gf2_eights if _eights.AVAILABLE else gf2_sweep
    return kernel if dim <= kernel.WIDEST else None
