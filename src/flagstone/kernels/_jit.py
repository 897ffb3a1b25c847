"""The one place where kernels meet Numba's compiler and its on-disk cache.

Kernels that Python calls are module-level functions decorated with :func:`jit`, or :func:`leaf` if
they only read and write arrays. What only other kernels call is a :func:`helper`, or :func:`inline`
where it must vanish into its callers. Nothing compiles at import, but at the first call; when that
takes more than a second, the logger ``flagstone.kernels`` says so, once.
"""

from __future__ import annotations

import contextlib
import logging
import math
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event

from flagstone.kernels import small

F = TypeVar("F", bound=Callable[..., Any])

_BLAS: Any = "scipy.linalg.cython_blas"
if small.ALONE and _BLAS not in sys.modules:
    # Numba looks for it, for products of floats, and loads SciPy, a fifth of all that it loads.
    sys.modules[_BLAS] = None  # type: ignore[assignment]
    with contextlib.suppress(ImportError):
        import numba.np.arraymath
    del sys.modules[_BLAS]

# Nobody needs a C callback, and no kernel divides by zero.
_COMMON: Any = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}


def _compile(function: F, **options: Any) -> F:
    options |= _COMMON
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


def merged(function: F) -> F:
    """A helper that keeps no array, and is always merged into the calling kernel by LLVM."""
    return _private(function, forceinline=True, _nrt=False)


def _private(function: F, **options: Any) -> F:
    """Compile without the entry for Python, often longer than the rest: calls from there crash."""
    options |= _COMMON | {"no_cpython_wrapper": True}
    return numba.njit(**options)(function)


class _Notice(event.Listener):
    """Tells who waits what they wait for, as soon as compilers have run for more than a second."""

    def __init__(self) -> None:
        self._running: list[Any] = []  # nested: a kernel, its helpers, theirs
        self._spent = self._since = 0.0

    def on_start(self, event: Any) -> None:
        """Begin to count with the outermost kernel, which is the one kept on disk."""
        if not self._running:
            self._since = time.perf_counter()
        self._running.append(event.data["dispatcher"])

    def on_end(self, event: Any) -> None:
        """Look at the clock whenever a kernel or a helper is done."""
        now = time.perf_counter()
        if self._spent <= 1 < self._spent + now - self._since:
            place = self._running[0].stats.cache_path
            kept = f"once; they are kept in {place}" if place else "for this run only"
            logging.getLogger("flagstone.kernels").info("compiling kernels %s", kept)
            self._spent = 2.0
        self._running.pop()
        if not self._running:
            self._spent += now - self._since


event.register("numba:compile", _Notice())


def aligned_zeros(shape: tuple[int, ...], dtype: Any = np.uint64) -> Any:
    """An array that begins with a cache line: vectors then lie in one line each."""
    size = np.dtype(dtype).itemsize * math.prod(shape)
    room = np.zeros(size + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size].view(dtype).reshape(shape)


def aligned(array: Any) -> Any:
    """A copy of an array that begins with a cache line."""
    copied = aligned_zeros(array.shape, array.dtype)
    copied[...] = array
    return copied


def frozen(array: Any) -> Any:
    """The same array, read-only: for others every kernel would be compiled once more."""
    array = np.ascontiguousarray(array).view()
    array.flags.writeable = False
    return array
