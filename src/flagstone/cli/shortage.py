"""Too little memory: known by what libraries make of it, and said in one sentence.

Imports nothing heavy: the libraries themselves may not find room.
"""

from __future__ import annotations

import errno
import os

#: So much address space is taken before the first row is read.
_LEAST = 1 << 28
#: The same for Dask, which starts threads; where one cannot start, it waits forever or crashes.
LEAST_WITH_DASK = 3 << 28
#: What a loader, an interpreter and libraries in C say of it, in lower case.
_SAID = (
    "failed to map segment",
    "cannot allocate memory",
    "can't start new thread",
    "unable to allocate",
    "bad_alloc",
    "out of memory",
)


def address_space() -> int | None:
    """Return how much address space this process may take (``ulimit -v``), None for any."""
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def prepare() -> None:
    """Where address space is limited, keep libraries from taking much of it in advance.

    BLAS takes a part for each processor, and the allocator that Arrow prefers a gigabyte.
    """
    if address_space() is not None:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")


def too_little(least: int = _LEAST) -> bool:
    """Say whether the limit leaves no room for the libraries; some end the process themselves."""
    limit = address_space()
    return limit is not None and limit < least


def is_shortage(error: BaseException | None) -> bool:
    """Say whether an error, or what it came from, is a lack of memory.

    >>> is_shortage(MemoryError()), is_shortage(RuntimeError("can't start new thread"))
    (True, True)
    >>> is_shortage(ImportError("no module named 'x'"))
    False
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        if isinstance(error, (ImportError, OSError, RuntimeError)):
            said = str(error).lower()
            if any(text in said for text in _SAID):
                return True
        error = error.__cause__ or error.__context__
    return False


def sentence() -> str:
    """Return what to say of it."""
    limit = address_space()
    if limit is None:
        return "not enough memory; choose fewer columns or rows"
    return (
        f"not enough memory: the address space is limited to {limit >> 20:,} MiB; raise the limit "
        "(ulimit -v), or choose fewer columns or rows"
    )
