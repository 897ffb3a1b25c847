"""Ctrl-C and SIGTERM, held back until a moment at which nothing is lost."""

from __future__ import annotations

import contextlib
import signal
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
