"""Several processes, and signals that wait until nothing can be lost."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import FrameType
from typing import Any

from flagstone.errors import InputError


@dataclass
class Held:
    """The signal that came, if one did."""

    number: int | None = None


@contextlib.contextmanager
def held_signals() -> Iterator[Held]:
    """Hold the first Ctrl-C or SIGTERM back while the block runs.

    The block may look at ``number`` and end itself early. After it, also after an error (which
    the signal may have caused), the signal goes to its former handler; a second one goes
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
    """Start the processes that tidy up after others: starting one unblocks all signals."""
    from multiprocessing import resource_tracker

    trackers = [resource_tracker, sys.modules.get("joblib.externals.loky.backend.resource_tracker")]
    for tracker in filter(None, trackers):
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            tracker.ensure_running()


def check_jobs(n_jobs: int) -> None:
    """Refuse an invalid number of processes."""
    if n_jobs == 0:
        raise InputError("n_jobs must not be 0 (1 is serial, -1 all processors)")


def in_processes(
    function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], n_jobs: int
) -> Iterator[Any]:
    """Yield the values of a function, in order, computed by up to ``n_jobs`` processes.

    A negative number counts from all processors down (-1); more than there are of processors
    or of calls is never used.

    >>> list(in_processes(divmod, [(7, 2), (9, 5)], 1))
    [(3, 1), (1, 4)]
    """
    processors = os.cpu_count() or 1
    wanted = n_jobs if n_jobs > 0 else max(1, processors + 1 + n_jobs)
    wanted = min(wanted, processors, len(arguments))
    if wanted <= 1:
        yield from (function(*given) for given in arguments)
        return
    from joblib import Parallel, delayed

    with safe_path():
        calls = (delayed(_call)(os.getpid(), function, given) for given in arguments)
        with contextlib.ExitStack() as stack:
            with held_signals(), deaf_children():
                values = Parallel(n_jobs=wanted, return_as="generator")(calls)
                stack.callback(values.close)
                stack.callback(_quiet_pool_threads)
            yield from values


@dataclass
class _QuietPoolThreads:
    """A hook for exceptions in threads that ignores those of the manager thread of a pool."""

    before: Callable[[threading.ExceptHookArgs], Any]

    def __call__(self, args: threading.ExceptHookArgs) -> None:
        if args.thread is None or type(args.thread).__name__ != "_ExecutorManagerThread":
            self.before(args)


def _quiet_pool_threads() -> None:
    """Install the hook: a pool that is closed early may look for calls that are gone."""
    if not isinstance(threading.excepthook, _QuietPoolThreads):
        threading.excepthook = _QuietPoolThreads(threading.excepthook)


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Keep processes that start here from looking for modules in the current folder first."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _call(first: int, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """Call a function in a worker; Ctrl-C, which reaches all processes, is for the first one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with(first)
    return function(*given)


@cache
def _end_with(first: int) -> None:
    """Let this worker end when the process that started it ends, however that comes.

    A process that is killed, or that a library ends, cannot stop its workers.
    """
    if os.getppid() == first:
        with contextlib.suppress(RuntimeError):  # no room for a thread
            threading.Thread(target=_watch, args=(first,), daemon=True).start()


def _watch(first: int) -> None:
    while os.getppid() == first:
        time.sleep(1)
    os._exit(1)
