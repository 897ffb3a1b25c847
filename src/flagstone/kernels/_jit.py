"""The one place where kernels meet Numba's compiler and its on-disk cache.

Kernels that Python calls are module-level functions decorated with :func:`jit`, or :func:`leaf` if
they only read and write arrays. What only other kernels call is a :func:`helper`, :func:`inline`
where it must vanish into its callers, or :func:`apart` where it must not. Nothing compiles at
import, but at the first call; when that takes more than a second, the logger ``flagstone.kernels``
says so, once.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite.binding import Linkage, llvm_version_info
from numba.core import codegen, compiler, event

F = TypeVar("F", bound=Callable[..., Any])

LLVM: int = llvm_version_info[0]
_CHOSEN = vars(numba.config)["CPU_FEATURES"]  # by who runs Numba, if at all
#: What the processor has, as LLVM calls it.
FEATURES = set((codegen.get_host_cpu_features() if _CHOSEN is None else _CHOSEN).split(","))
# Nobody needs a C callback, and no kernel divides by zero.
_COMMON: Any = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}


class _Part(codegen.JITCodeLibrary):
    """Code that only ever becomes part of a kernel: optimised, and made machine code, there alone.

    Numba would do both for each helper, with all helpers that it calls, which took longer than the
    kernel itself. Where it should one day call these methods no more, it will take longer again.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code to point to."""
        return 0

    @property
    def codegen(self) -> Any:
        """Who is told where the function's Python objects are: it has none."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Forget them."""


class _Apart(_Part):
    """Code that stays a function of its own inside of the kernel."""

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions if LLVM >= 20 else ():
            if function.linkage == Linkage.external and not function.is_declaration:
                function.add_function_attribute("noinline")  # of the result, for older ones
        super()._finalize_final_module()


class _Whole(codegen.JITCodeLibrary):
    """A kernel with its helpers, which nobody else sees: LLVM may merge and change them at will."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


class _Compiler(compiler.Compiler):
    """Numba's compiler, with libraries of our own."""

    library: Any = _Whole

    def __init__(self, typingctx: Any, targetctx: Any, _: Any, *others: Any) -> None:
        library = self.library(targetctx.codegen(), "kernel")
        library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *others)


class _CompilerOfParts(_Compiler):
    library = _Part


class _CompilerApart(_Compiler):
    library = _Apart


#: Options of what only kernels call: no entry for Python, either, often longer than the rest.
PRIVATE: Any = _COMMON | {"no_cpython_wrapper": True, "pipeline_class": _CompilerOfParts}
MERGED: Any = PRIVATE | {"forceinline": True}
#: Of what is called from many places: merged into each, it would take longer to compile.
APART: Any = PRIVATE | {"pipeline_class": _CompilerApart}
_ALONE: Any = {"_nrt": False}


def _compile(function: F, **options: Any) -> F:
    options |= _COMMON | {"pipeline_class": _Compiler}
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
    return _compile(function, **_ALONE)


def helper(function: F) -> F:
    """Like :func:`leaf`, for what kernels alone call (from Python it crashes), and kept in them."""
    return numba.njit(**PRIVATE, **_ALONE)(function)


def inline(function: F) -> F:
    """A helper that may keep arrays, and is always merged into the calling kernel by LLVM."""
    return numba.njit(**MERGED)(function)


def merged(function: F) -> F:
    """A helper that keeps no array, and is always merged into the calling kernel by LLVM."""
    return numba.njit(**MERGED, **_ALONE)(function)


def apart(function: F) -> F:
    """A helper that is never merged: less to compile, where a call costs little beside the work."""
    return numba.njit(**APART, **_ALONE)(function)


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
