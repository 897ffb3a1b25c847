"""A running cluster, reached by its address within seconds, or named in one sentence."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flagstone.distributed.executor import ClusterError, need_dask, worker_version

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
    need_dask()
    from distributed import Client

    try:
        _check_listener(address, patience)
        with ThreadPoolExecutor(1) as pool:  # this thread may run a loop: a notebook does
            pool.submit(asyncio.run, _identity(address, patience)).result()
        client = Client(address, set_as_default=False, timeout=patience)
    except Exception as error:  # of a parser that met something else than its protocol
        raise ClusterError(f"{address}: no scheduler answers there ({_reason(error)})") from error
    with client:
        _check_workers(client, address, patience)
        yield client


def _check_listener(address: str, patience: float) -> None:
    """See that something listens; Dask would try again and again, and say less."""
    host, port = address.partition("://")[2].rsplit(":", 1)
    socket.create_connection((host.strip("[]"), int(port)), patience).close()


async def _identity(address: str, patience: float) -> Any:
    """Ask a scheduler what it is, over a connection of its own that can be given up."""
    from distributed.core import rpc
    from distributed.security import Security

    security = Security().get_connection_args("client")
    async with rpc(address, timeout=patience, connection_args=security) as scheduler:
        found = await asyncio.wait_for(scheduler.identity(), patience)
    if not isinstance(found, dict) or found.get("type") != "Scheduler":
        kind = found.get("type") if isinstance(found, dict) else found
        raise ValueError(f"it is no scheduler but: {str(kind)[:80]}")
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


def _reason(error: BaseException) -> str:
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)):
        return "what listens there says nothing that a scheduler would"
    if isinstance(error, MemoryError):
        return "what listens there does not speak Dask's protocol"
    return " ".join(str(error).split())[:200] or type(error).__name__
