"""A cluster of processes on this machine, for as long as one piece of work takes."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flagstone.disk.leftovers import LEFTOVERS
from flagstone.distributed.executor import ClusterError, need_dask
from flagstone.signals import deaf_children, held_signals
from flagstone.workers import safe_path

#: Workers of Dask give every freed megabyte back at once, and take it again for the next batch of
#: rows. Ours take little, and keep it.
_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}


@contextlib.contextmanager
def local_workers(n_workers: int) -> Iterator[Any]:
    """Start processes with one thread each, and yield the client that hands them work.

    No more are started than there are processors. They listen on the loopback device only, with
    keys of their own where the package ``cryptography`` is installed, import nothing from the
    current folder, and leave no file behind. Ctrl-C and SIGTERM wait until all are started, or
    stopped; Ctrl-C does not reach the processes themselves.

    Examples
    --------
    ::

        with local_workers(4) as client:
            finding = distributed.ask("frames/", question, rule, coins, client=client)
    """
    need_dask()
    import distributed  # noqa: F401 - before anything is started

    stack = contextlib.ExitStack()
    try:
        with held_signals(), deaf_children():
            client = _started(stack, n_workers)
        yield client
    finally:
        with held_signals():
            stack.close()


def _started(stack: contextlib.ExitStack, n_workers: int) -> Any:
    """Start processes, which end with the stack, and return their client."""
    dask = need_dask()
    from distributed import Client, LocalCluster

    known = "distributed.nanny.pre-spawn-environ"
    try:
        folder = stack.enter_context(_folder())
        stack.enter_context(safe_path())
        settings = {
            known: {**dask.config.get(known, {}), **_MEMORY},
            "temporary-directory": folder,  # the scheduler's, whatever the workers are told
        }
        stack.enter_context(dask.config.set(settings))
        cluster = stack.enter_context(
            LocalCluster(
                n_workers=max(1, min(n_workers, os.cpu_count() or 1)),
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                local_directory=folder,
                silence_logs=logging.CRITICAL,
                security=_security(),
            )
        )
        return stack.enter_context(Client(cluster, set_as_default=False))
    except Exception as error:  # Dask wraps what happened in errors of its own
        raise ClusterError(
            f"local workers could not be started ({_reason(error)}); without them one process does "
            "the work"
        ) from error


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    """Make a folder for the files of all workers, removed at the end, also at a sudden one."""
    with tempfile.TemporaryDirectory(prefix="flagstone-", ignore_cleanup_errors=True) as folder:
        LEFTOVERS.add(Path(folder))
        try:
            yield folder
        finally:
            LEFTOVERS.discard(Path(folder))


def _reason(error: BaseException) -> str:
    """Return what happened first, in one line."""
    while (earlier := error.__cause__ or error.__context__) is not None:
        error = earlier
    return " ".join(str(error).split())[:200] or type(error).__name__


def _security() -> Any:
    """Keys for this run alone, where they can be made: nobody else on this machine gets in."""
    from distributed.security import Security

    try:
        return Security.temporary()
    except ImportError:
        return None
