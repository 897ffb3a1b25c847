"""Ctrl-C and SIGTERM: held back until nothing is lost, and for the first process alone."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass
class Held:
    """The signal that came, if one did."""

    number: int | None = None


@contextlib.contextmanager
def held_signals() -> Iterator[Held]:
    """Hold the first Ctrl-C or SIGTERM back while the block runs.

    The block may look at ``number`` and end itself early. After it, also after an error (which
    the signal may have caused), the signal goes to whoever handled it before; a second one goes
    there at once. Signals that end the process outright are not held, and in other threads than
    the main one there are none.

    >>> try:
    ...     with held_signals() as held:
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("not yet")
    ... except KeyboardInterrupt:
    ...     print("now")
    not yet
    now
    """
    held = Held()
    before: dict[int, Any] = {}

    def hold(number: int, frame: FrameType | None) -> None:
        if held.number is None:
            held.number = number
        else:
            held.number = None
            before[number](number, frame)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(handler := signal.getsignal(number)):
                before[number] = handler
                signal.signal(number, hold)
    try:
        yield held
    finally:
        for taken, handler in before.items():
            signal.signal(taken, handler)
        if held.number is not None:
            before[held.number](held.number, None)


@contextlib.contextmanager
def deaf_children() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started in the block.

    A terminal sends it to all processes of a command, and one that is only just starting would
    print a traceback. A blocked signal stays blocked in processes and threads that are started
    meanwhile, and in those that these start later. This thread gets it after the block.

    >>> import subprocess, sys
    >>> ask = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    >>> with deaf_children():
    ...     print(subprocess.check_output([sys.executable, "-c", ask], text=True).strip())
    True
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    _start_trackers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_trackers() -> None:
    """Start the processes that tidy up after others: whoever starts one unblocks all signals."""
    from multiprocessing import resource_tracker

    trackers = [resource_tracker, sys.modules.get("joblib.externals.loky.backend.resource_tracker")]
    for tracker in filter(None, trackers):
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            tracker.ensure_running()
