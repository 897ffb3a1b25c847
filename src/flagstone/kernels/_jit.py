"""The one place where kernels meet Numba's compiler and its on-disk cache.

Kernels are module-level functions decorated with :func:`jit`; small helpers that must vanish into
their callers use :func:`inline`, and helpers that only read and write arrays use :func:`leaf`.
Nothing compiles at import: compilation happens at the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

__all__ = ["aligned", "inline", "jit", "leaf"]

F = TypeVar("F", bound=Callable[..., Any])


def _compile(function: F, **options: Any) -> F:
    # Numba looks for a writable cache directory when it decorates: beside the module, then in the
    # user's cache. A read-only install for a user without a home has neither, and Numba raises.
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        return numba.njit(nogil=True, **options)(function)


def jit(function: F) -> F:
    """Compile at the first call; keep the result on disk where that is possible."""
    return _compile(function)


def inline(function: F) -> F:
    """Like :func:`jit`, but always merged into the calling kernel by LLVM."""
    return _compile(function, forceinline=True)


def leaf(function: F) -> F:
    """Like :func:`jit`, for helpers that neither make nor return arrays.

    Numba counts references to array arguments around every call, by atomic instructions that can
    cost more than a short helper itself. A helper that keeps no array needs no counts.
    """
    return _compile(function, _nrt=False)


def aligned(array: Any) -> Any:
    """A copy of an array that begins with a cache line: vectors then lie in one line each."""
    room = np.empty(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copied = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copied[...] = array
    return copied
