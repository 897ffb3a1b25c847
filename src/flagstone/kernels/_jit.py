"""The one place where kernels meet Numba's compiler and its on-disk cache.

Kernels that Python calls are module-level functions decorated with :func:`jit`, or :func:`leaf` if
they only read and write arrays. What only other kernels call is a :func:`helper`, or :func:`inline`
where it must vanish into its callers. Nothing compiles at import, but at the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

__all__ = ["helper", "inline", "jit", "leaf"]

F = TypeVar("F", bound=Callable[..., Any])


def _compile(function: F, **options: Any) -> F:
    options |= {"nogil": True, "no_cfunc_wrapper": True}  # nobody needs a C callback
    # Numba looks for a writable cache directory when it decorates: beside the module, then in the
    # user's cache. A read-only install for a user without a home has neither, and Numba raises.
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        return numba.njit(**options)(function)


def jit(function: F) -> F:
    """Compile at the first call; keep the result on disk where that is possible."""
    return _compile(function)


def leaf(function: F) -> F:
    """Like :func:`jit`, for kernels that neither make nor return arrays.

    Numba counts references to array arguments around every call, by atomic instructions that can
    cost more than a short helper itself. A kernel that keeps no array needs no counts.
    """
    return _compile(function, _nrt=False)


def helper(function: F) -> F:
    """Like :func:`leaf`, for what kernels alone call: it is kept inside of them on disk."""
    return _private(function, _nrt=False)


def inline(function: F) -> F:
    """A helper that may keep arrays, and is always merged into the calling kernel by LLVM."""
    return _private(function, forceinline=True)


def _private(function: F, **options: Any) -> F:
    """Compile without the entry for Python, often longer than the rest: calls from there crash."""
    options |= {"nogil": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    return numba.njit(**options)(function)
