"""Many processes instead of one: a running Dask cluster, or a local one for this command."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flagstone.cli import shortage
from flagstone.cli.options import CrewOptions
from flagstone.cli.output import tell
from flagstone.cli.runner import AT_END, UsageError
from flagstone.cli.words import size_of
from flagstone.errors import MissingDependencyError
from flagstone.progress import progress_bar

if TYPE_CHECKING:
    from flagstone.distributed import DaskExecutor

_ADDRESS = re.compile(r"(tcp|tls)://\S+:\d{1,5}")
#: The loggers that Dask gives a level of their own, and its loop's.
_TALKERS = ("distributed", "distributed.client", "distributed.gc", "tornado.application", "asyncio")


def partition_of(options: CrewOptions, *, matters: bool = True) -> str | int:
    """Return how the rows are cut, as typed: none, files, or a number of bytes.

    Rows that several processes read are cut by files if nothing is said. That is told where it
    ``matters`` to the answer.
    """
    many = options.cluster is not None or options.workers is not None
    if options.partition is None:
        if many and matters and not getattr(options, "quiet", False):
            tell("the rows are cut by files (--partition files), because several processes read")
        return "files" if many else "none"
    if options.partition == "none" and many:
        raise UsageError(
            "--partition none leaves one part, which one process reads: leave out --cluster and "
            "--workers, or cut the rows with --partition files"
        )
    if options.partition in ("none", "files"):
        return options.partition
    try:
        return size_of("--partition", options.partition)
    except UsageError as error:
        raise UsageError(
            "--partition must be none, files, or a size such as 64MB or 256MiB, got "
            f"{options.partition!r}"
        ) from error


def dask_executor(options: CrewOptions) -> DaskExecutor | None:
    """Return who works on partitions, until the verb ends; None where this process does it all."""
    if options.cluster is not None and options.workers is not None:
        raise UsageError("--cluster and --workers each say who works; leave one out")
    if options.cluster is None and options.workers is None:
        return None
    if getattr(options, "cache_size", None) is not None:
        raise UsageError(
            "--cache-size is for one process; leave it out with --cluster and --workers"
        )
    if options.cluster is not None and not _ADDRESS.fullmatch(options.cluster):
        raise UsageError(
            f"--cluster must be an address such as tcp://host:8786, got {options.cluster!r}"
        )
    if shortage.too_little(shortage.LEAST_WITH_DASK):
        raise MemoryError
    try:
        import distributed  # noqa: F401
        from flagstone.distributed import DaskExecutor
    except ImportError as error:
        raise MissingDependencyError(
            "--cluster and --workers need Dask; install it with: pip install 'flagstone[dask]'"
        ) from error
    for name in _TALKERS:  # what matters is said by us
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return DaskExecutor(AT_END.enter_context(_client(options)))


@contextlib.contextmanager
def _client(options: CrewOptions) -> Iterator[Any]:
    from flagstone.distributed import local_workers, running_cluster

    if options.cluster is not None:
        found = running_cluster(options.cluster)
    else:
        found = local_workers(options.workers or 1)
    with found as client:
        yield client


@contextlib.contextmanager
def partition_progress(
    executor: DaskExecutor, word: str, shown: bool | None = None
) -> Iterator[None]:
    """Show how many partitions are done."""
    with progress_bar(word, shown) as show:
        executor.told = lambda done, total: show(done / total, f"{done:,} of {total:,} partitions")
        yield
