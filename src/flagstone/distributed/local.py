"""A cluster of processes on this machine, for as long as one piece of work takes."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from flagstone.distributed.dataset import need_dask
from flagstone.workers import safe_path

#: Workers of Dask give every freed megabyte back at once, and take it again for the next batch of
#: rows. Ours take little, and keep it.
_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}


@contextlib.contextmanager
def local_workers(n_workers: int) -> Iterator[Any]:
    """Start processes with one thread each, and yield the client that hands them work.

    No more are started than there are processors. They listen on the loopback device only, with
    keys of their own where the package ``cryptography`` is installed, import nothing from the
    current folder, and leave no file behind.

    Examples
    --------
    ::

        with local_workers(4) as client:
            finding = distributed.ask("frames/", question, rule, coins, client=client)
    """
    dask = need_dask()
    from distributed import Client, LocalCluster

    known = "distributed.nanny.pre-spawn-environ"
    with (
        tempfile.TemporaryDirectory(prefix="flagstone-") as folder,
        safe_path(),
        dask.config.set({known: {**dask.config.get(known, {}), **_MEMORY}}),
        LocalCluster(
            n_workers=max(1, min(n_workers, os.cpu_count() or 1)),
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            local_directory=folder,
            silence_logs=logging.CRITICAL,
            security=_security(),
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def _security() -> Any:
    """Keys for this run alone, where they can be made: nobody else on this machine gets in."""
    from distributed.security import Security

    try:
        return Security.temporary()
    except ImportError:
        return None
