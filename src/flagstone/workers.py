"""Work in several processes, started so that nothing but what is installed can slip in."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from flagstone.errors import InputError
from flagstone.signals import deaf_children, held_signals


def check_jobs(n_jobs: int) -> None:
    """Refuse a number of processes that says nothing."""
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
        calls = (delayed(_deaf)(function, given) for given in arguments)
        with contextlib.ExitStack() as stack:
            with held_signals(), deaf_children():
                values = Parallel(n_jobs=wanted, return_as="generator")(calls)
                stack.callback(values.close)
            yield from values


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


def _deaf(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """Call a function in a worker; Ctrl-C, which reaches all processes, is for the first one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return function(*given)
