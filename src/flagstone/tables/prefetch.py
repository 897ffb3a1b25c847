"""Reading ahead: the next rows are read and packed while the last ones are counted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")

#: Seconds that a read in progress may take before the end no longer waits for it.
_PATIENCE = 10


class _Ended(Exception):
    """Nothing more comes: its cause says why, if something went wrong."""


def prefetch(items: Generator[T, None, None], most: int = 2) -> Generator[T, None, None]:
    """Pass items on in their order; up to ``most`` of them are made ahead, in a thread.

    What comes out does not depend on the thread: an error is raised after all items before it.
    Who stops early closes the generator, and the thread has then ended, too.

    >>> list(prefetch(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    made: queue.SimpleQueue[Any] = queue.SimpleQueue()
    room = threading.Semaphore(most)
    is_enough = False

    def make() -> None:
        end = _Ended()
        try:
            while room.acquire() and not is_enough:
                made.put(next(items))
        except StopIteration:
            pass
        except BaseException as error:
            end.__cause__ = error
        made.put(end)

    thread = threading.Thread(target=make, name="flagstone-prefetch", daemon=True)
    thread.start()
    try:
        while not isinstance(item := made.get(), _Ended):
            room.release()
            yield item
        if item.__cause__ is not None:
            raise item.__cause__
    finally:
        is_enough = True
        room.release()
        thread.join(_PATIENCE)
        if not thread.is_alive():
            items.close()
