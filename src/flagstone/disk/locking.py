"""One run at a time: locks of the operating system, which vanish with their process."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from flagstone.disk.writing import TEMP_FILES
from flagstone.errors import InputError
from flagstone.processes import held_signals

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:  # the only reason that Windows gives
            raise BlockingIOError from error
else:
    import fcntl

    def _lock(handle: int) -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:  # a file system without locks: runs cannot be told apart there
            pass


@contextlib.contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Keep other runs from a file while the block runs; InputError if one uses it already.

    The lock is on a file ``.NAME.lock`` beside it. What a killed run leaves of it locks nothing.
    """
    real = Path(os.path.realpath(path))
    beside = real.with_name(f".{real.name}.lock")
    with held_signals():  # between the two, it would be left behind
        handle = _acquire(beside, path)
        TEMP_FILES.add(beside)
    try:
        yield
    finally:
        with held_signals():
            _release(beside, handle)


def _release(beside: Path, handle: int) -> None:
    TEMP_FILES.discard(beside)
    # ours until it is closed, so no other run can have begun to use the name;
    # Windows wants it closed first, and keeps what another run has opened by then
    with contextlib.suppress(PermissionError):
        beside.unlink(missing_ok=True)
    os.close(handle)
    if sys.platform == "win32":
        with contextlib.suppress(OSError):
            beside.unlink()


def _acquire(beside: Path, path: str | Path) -> int:
    while True:
        try:
            handle = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            reason = f"nothing can be written beside it: {error.strerror}"
            raise OSError(error.errno, reason, os.fspath(path)) from error
        try:
            _lock(handle)
            if os.path.samestat(os.fstat(handle), os.stat(beside)):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise InputError(
                f"{path} is in use by another run; wait for it to end, or choose another file"
            ) from None
        except FileNotFoundError:
            pass
        os.close(handle)  # the run that had it removed it between our two steps: once more
