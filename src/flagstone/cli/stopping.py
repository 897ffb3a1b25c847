"""Ctrl-C and SIGTERM: one line and exit code 130 or 143, whatever the moment.

Imports nothing heavy: it is in place before anything else is loaded.
"""

from __future__ import annotations

import contextlib
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
def caught(*, for_good: bool) -> Iterator[None]:
    """Take Ctrl-C and SIGTERM over; after the block they are ignored if it is ``for_good``.

    One that is ignored already stays so: whoever started the command (``nohup``, a script that
    runs it in the background) meant it to go on.
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
            # the work is done, and Python would greet a late signal with a traceback
            signal.signal(taken, signal.SIG_IGN if for_good else handler)


@contextlib.contextmanager
def at_work() -> Iterator[None]:
    """Mark the work of a verb, which must tidy up behind it."""
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
        if name == ("flagstone.distributed.local", "_started"):
            return True
        frame = frame.f_back
    return False


def _leave(number: int) -> None:
    disk = sys.modules.get("flagstone.disk.leftovers")  # not loaded: nothing to tidy up
    if disk is not None:
        disk.remove_leftovers()
    with contextlib.suppress(OSError):
        os.write(2, b"flagstone: interrupted\n")
    os._exit(128 + number)


def _unraisable(lost: Any) -> None:
    """Go on with a stop that struck where no exception can be raised (in a destructor)."""
    if isinstance(lost.exc_value, Stopped):
        _leave(lost.exc_value.number)
    if _seen is None:
        sys.__unraisablehook__(lost)
