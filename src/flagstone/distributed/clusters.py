"""Clusters: processes on this machine for one piece of work, or a running one by its address."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dask
from distributed.comm.core import CommClosedError
from distributed.core import rpc
from distributed.security import Security

from distributed import Client, LocalCluster
from flagstone.disk.writing import TEMP_FILES
from flagstone.distributed.executor import ClusterError, worker_version
from flagstone.processes import deaf_children, held_signals, safe_path

#: Workers of Dask give every freed megabyte back at once, and take it again for the next batch of
#: rows. Ours take little, and keep it.
_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}

#: Open files that this process needs at least, and for each of the workers.
_OPEN_FILES, _FILES_OF_WORKER = 64, 16


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
    _check_open_files(max(1, min(n_workers, os.cpu_count() or 1)))
    stack = contextlib.ExitStack()
    try:
        with held_signals(), deaf_children():
            client = _started(stack, n_workers)
        yield client
    finally:
        with held_signals():
            stack.close()


def _check_open_files(n_workers: int) -> None:
    """Refuse a limit under which Dask may wait forever for a connection that it cannot open."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    needed = _OPEN_FILES + _FILES_OF_WORKER * n_workers
    if most != resource.RLIM_INFINITY and most < needed:
        raise ClusterError(
            f"local workers ({n_workers}) need up to {needed} open files, and the limit is {most}: "
            "raise it (ulimit -n), or leave the workers out"
        )


def _started(stack: contextlib.ExitStack, n_workers: int) -> Any:
    """Start processes, which end with the stack, and return their client."""
    known = "distributed.nanny.pre-spawn-environ"
    try:
        multiprocessing.get_context("spawn").Lock()  # Dask may wait forever where this is refused
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
            f"local workers could not be started ({_first_cause(error)}); without them one process "
            "does the work"
        ) from error


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    """Make a folder for the files of all workers, removed at the end, also at a sudden one."""
    with tempfile.TemporaryDirectory(prefix="flagstone-", ignore_cleanup_errors=True) as folder:
        TEMP_FILES.add(Path(folder))
        try:
            yield folder
        finally:
            TEMP_FILES.discard(Path(folder))


def _first_cause(error: BaseException) -> str:
    """Return what happened first, in one line."""
    while (earlier := error.__cause__ or error.__context__) is not None:
        error = earlier
    return " ".join(str(error).split())[:200] or type(error).__name__


def _security() -> Any:
    """Keys for this run alone, where they can be made: no other user of this machine gets in."""
    try:
        return Security.temporary()
    except ImportError:
        return None


#: Seconds until a scheduler must have answered, and the same again until it has a worker.
PATIENCE = 8.0


@contextlib.contextmanager
def running_cluster(address: str, patience: float = PATIENCE) -> Iterator[Any]:
    """Yield a client of the cluster whose scheduler listens at an address.

    Whatever else listens there, or nothing, is a :class:`ClusterError` after ``patience`` seconds;
    a scheduler without workers is one after as many more.

    Examples
    --------
    ::

        with running_cluster("tcp://host:8786") as client:
            finding = distributed.ask("frames/", question, rule, coins, client=client)
    """
    try:
        _check_listener(address, patience)
        with ThreadPoolExecutor(1) as pool:  # this thread may run a loop: a notebook does
            pool.submit(asyncio.run, _identity(address, patience)).result()
        client = Client(address, set_as_default=False, timeout=patience)
    except Exception as error:  # of a parser that met something else than its protocol
        raise ClusterError(
            f"{address}: no scheduler answers there ({_unreached(error)})"
        ) from error
    with client:
        _check_workers(client, address, patience)
        yield client


def _check_listener(address: str, patience: float) -> None:
    """See that something listens; Dask would try again and again, and say less."""
    host, port = address.partition("://")[2].rsplit(":", 1)
    socket.create_connection((host.strip("[]"), int(port)), patience).close()


async def _identity(address: str, patience: float) -> Any:
    """Ask a scheduler what it is, over a connection of its own that can be given up."""
    security = Security().get_connection_args("client")
    async with rpc(address, timeout=patience, connection_args=security) as scheduler:
        found = await asyncio.wait_for(scheduler.identity(), patience)
    if not isinstance(found, dict) or found.get("type") != "Scheduler":
        kind = found.get("type") if isinstance(found, dict) else found
        raise ConnectionError(f"what listens there is no scheduler but: {str(kind)[:80]}")
    return found


def _check_workers(client: Any, address: str, patience: float) -> None:
    """See that tasks are worked on: clusters that grow with their tasks are given one."""
    if client.scheduler_info()["workers"]:
        return
    future = client.submit(worker_version, pure=False)
    try:
        future.result(timeout=patience)
    except Exception as error:
        future.cancel()
        raise ClusterError(
            f"{address}: the scheduler there has no workers; start some with: dask worker {address}"
        ) from error


def _unreached(error: BaseException) -> str:
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)):
        return "what listens there does not answer as a scheduler would"
    if isinstance(error, CommClosedError):  # it names calls of Dask
        return "what listens there closes the connection"
    if not isinstance(error, OSError):  # whatever a parser makes of another protocol
        return "what listens there does not speak Dask's protocol"
    return " ".join(str(error).split())[:200] or type(error).__name__
