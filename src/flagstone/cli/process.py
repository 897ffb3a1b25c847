"""The process of the command: signals, standard streams, and too little memory.

Imports nothing heavy: it is in place before anything else is loaded.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any


class Stopped(KeyboardInterrupt):
    """The run was asked to end, by the signal with this number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_working = False
_seen: int | None = None


def signal_seen() -> int | None:
    """Return the signal that the verb at work was asked to end by, if any."""
    return _seen


@contextlib.contextmanager
def caught_signals(*, for_good: bool) -> Iterator[None]:
    """Take Ctrl-C and SIGTERM over; after the block they are ignored if it is ``for_good``.

    A signal that is ignored already stays ignored: ``nohup``, or a script that runs the command in
    the background, means it to go on.
    """
    before: dict[int, Any] = {}
    hook, sys.unraisablehook = sys.unraisablehook, _unraisable
    with contextlib.suppress(ValueError):  # not the main thread: signals are not ours
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for taken, handler in before.items():
            # the work is done, and Python would print a traceback for a late signal
            signal.signal(taken, signal.SIG_IGN if for_good else handler)


@contextlib.contextmanager
def at_work() -> Iterator[None]:
    """Mark the work of a verb, which must clean up when it is stopped."""
    global _working, _seen
    _working, _seen = True, None
    try:
        yield
    finally:
        _working = False


def _stop(number: int, frame: FrameType | None) -> None:
    """End the verb at work; without one, the second time, or where it is delicate, leave at once.

    An import might take the exception for its own failure. While processes start the first signal
    waits, and a second one would leave Dask half started, with much to print.
    """
    global _seen
    if not _working or _seen is not None or _is_delicate(frame):
        _leave(number)
    _seen = number
    raise Stopped(number)


def _is_delicate(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        name = frame.f_globals.get("__name__"), frame.f_code.co_name
        if name == ("flagstone.distributed.clusters", "_started"):
            return True
        frame = frame.f_back
    return False


def _leave(number: int) -> None:
    disk = sys.modules.get("flagstone.disk.writing")  # not loaded: nothing to tidy up
    if disk is not None:
        disk.remove_temp_files()
    with contextlib.suppress(OSError):
        os.write(2, b"flagstone: interrupted\n")
    os._exit(128 + number)


def _unraisable(lost: Any) -> None:
    """Leave after a signal that came where no exception can be raised (in a destructor)."""
    if isinstance(lost.exc_value, Stopped):
        _leave(lost.exc_value.number)
    if _seen is None:
        sys.__unraisablehook__(lost)


class ClosedOutput(io.TextIOBase):
    """Standard output that is closed: whatever is written to it is an error."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        """Refuse to write."""
        raise OSError(errno.EBADF, "standard output is closed, so nothing can be printed there")

    def fileno(self) -> int:
        """Return the number of standard output."""
        return 1


def reopen_closed_streams() -> None:
    """Open closed standard streams on the null device; to read or print there is an error.

    What is printed on standard error is lost.
    """
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        raw = io.FileIO(2, "w", closefd=False)
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "replace")


#: Address space that is taken before the first row is read.
_LEAST_MEMORY = 1 << 28
#: The same for Dask, which starts threads; where one cannot start, it waits forever or crashes.
LEAST_MEMORY_WITH_DASK = 3 << 28
#: Messages of loaders, interpreters and libraries in C about it, in lower case.
_SAID = (
    "failed to map segment",
    "cannot allocate memory",
    "can't start new thread",
    "unable to allocate",
    "bad_alloc",
    "out of memory",
    "failed to launch worker thread",  # of Arrow, in an error of no kind
)


def address_space() -> int | None:
    """Return how much address space this process may take (``ulimit -v``), None for any."""
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def prepare_memory() -> None:
    """Where address space is limited, keep libraries from taking much of it in advance.

    BLAS takes a part for each processor, and the allocator that Arrow prefers a gigabyte.
    """
    if address_space() is not None:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")


def lacks_memory(least: int = _LEAST_MEMORY) -> bool:
    """Say whether the limit leaves no room for the libraries; some end the process themselves."""
    limit = address_space()
    return limit is not None and limit < least


def is_memory_error(error: BaseException | None) -> bool:
    """Say whether an error, or what it came from, is a lack of memory.

    >>> is_memory_error(MemoryError()), is_memory_error(RuntimeError("can't start new thread"))
    (True, True)
    >>> is_memory_error(ImportError("no module named 'x'"))
    False
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        is_arrows = type(error).__name__ == "ArrowException"
        if is_arrows or isinstance(error, (ImportError, OSError, RuntimeError)):
            said = str(error).lower()
            if any(text in said for text in _SAID):
                return True
        error = error.__cause__ or error.__context__
    return False


def memory_sentence() -> str:
    """Return the message about too little memory."""
    limit = address_space()
    if limit is None:
        return "not enough memory; choose fewer columns or rows"
    return (
        f"not enough memory: the address space is limited to {limit >> 20:,} MiB; raise the limit "
        "(ulimit -v), or choose fewer columns or rows"
    )
