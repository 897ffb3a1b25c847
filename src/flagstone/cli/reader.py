"""Who reads the rows: this process, or the workers of Dask; with a progress bar."""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flagstone.cli.checkpoint import RunCheckpoint
from flagstone.cli.console import AT_END, UsageError, print_stderr, size_of
from flagstone.cli.process import LEAST_MEMORY_WITH_DASK, lacks_memory
from flagstone.cli.verbs import WorkerOptions
from flagstone.pipeline import LocalExecutor
from flagstone.progress import progress_bar
from flagstone.shards import ShardTask
from flagstone.tables import Table
from flagstone.tables.encoded import CACHE_BYTES, Batches, RowCache, first_rows, prefetch
from flagstone.tables.partitions import Dataset, Partition

if TYPE_CHECKING:
    from flagstone.distributed import DaskExecutor

_ADDRESS = re.compile(r"(tcp|tls)://\S+:\d{1,5}")
#: The loggers that Dask gives a level of their own, and its loop's.
_TALKERS = ("distributed", "distributed.client", "distributed.gc", "tornado.application", "asyncio")


def partition_of(options: WorkerOptions) -> str | int:
    """Return how the rows are cut: none, files, or a number of bytes.

    Rows that several processes read are cut by files if the options do not say it.
    """
    if options.cluster is not None and options.workers is not None:
        raise UsageError("--cluster and --workers each say who reads: leave one out")
    many = options.cluster is not None or options.workers is not None
    if options.partition is None:
        return "files" if many else "none"
    if options.partition == "none" and many:
        raise UsageError(
            "rows that are one part (--partition none) are read by one process: leave out "
            "--cluster and --workers, or cut the rows with --partition files (of a protocol: when "
            "it is written)"
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


def dask_executor(options: WorkerOptions) -> DaskExecutor | None:
    """Return who works on partitions, until the verb ends; None where this process does it all."""
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
    if lacks_memory(LEAST_MEMORY_WITH_DASK):
        raise MemoryError
    from flagstone.distributed import DaskExecutor, local_workers, running_cluster

    for name in _TALKERS:  # flagstone reports what matters
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if options.cluster is not None:
        client = running_cluster(options.cluster)
    else:
        client = local_workers(options.workers or 1)
    return DaskExecutor(AT_END.enter_context(client))


class RowReader:
    """Reads the rows of a table in partitions, with a progress bar for each pass.

    ``answers`` says that an answer depends on how the rows are cut. If they are read ``twice``, the
    rows of the first pass are kept for the second one, provided that all of them fit into
    ``--cache-size``. With the ``checkpoint`` of an only partition, the first pass begins where an
    earlier run was stopped.
    """

    def __init__(
        self,
        table: Table,
        options: WorkerOptions,
        *,
        answers: bool = False,
        twice: bool = False,
        checkpoint: RunCheckpoint | None = None,
    ) -> None:
        self._dask = dask_executor(options)
        quiet = getattr(options, "quiet", False)
        self._shown = False if quiet else None
        if self._dask is not None and answers and options.partition is None and not quiet:
            print_stderr(
                "the rows are cut by files (--partition files), because several processes read"
            )
        self.executor = self._dask or LocalExecutor()
        self.data = Dataset.of_table(table, partition_of(options))
        self.partitions: Sequence[Partition] = self.data.partitions
        if self._dask is None:
            self.partitions = [
                _LocalPartition(**vars(part), number=number, reader=self)
                for number, part in enumerate(self.partitions)
            ]
        self._n_files = max(len(table.files), len(self.partitions))
        room = _room(options)
        self._cache, self._checkpoint = RowCache(room if twice else 0), checkpoint
        if checkpoint is not None and checkpoint.resumed:  # the first rows are not read again
            self._cache.whole = checkpoint.state.position is None
        self._begun: set[int] = set()  # partitions whose first pass has begun

    @property
    def is_local(self) -> bool:
        """Whether this process reads."""
        return self._dask is None

    @contextlib.contextmanager
    def watched(
        self, word: str, total: int | None = None, *, first: bool = False
    ) -> Iterator[None]:
        """Show how far a pass has come: in rows here, elsewhere in partitions.

        Of the ``first`` pass the rows are kept.
        """
        # Arrow would end a read in the middle at a signal; here signals wait for the batch to end
        if self.is_local and (arrow := sys.modules.get("pyarrow")) is not None:
            arrow.enable_signal_handlers(False)
        with progress_bar(word, self._shown) as show:
            if self._dask is not None:
                self._dask.on_progress = lambda done, parts: show(
                    done / parts, f"{done:,} of {parts:,} partitions"
                )
            self._show, self._total, self._is_first = show, total, first
            self._started, self._rows, self._rows_before = time.monotonic(), 0, 0
            yield

    def batches(self, part: _LocalPartition, task: ShardTask, limit: int | None) -> Batches:
        """Yield the rows of a partition, kept ones or read anew."""
        first = self._is_first and part.number not in self._begun
        checkpoint = self._checkpoint if first else None
        start = None
        if checkpoint is not None:
            start = checkpoint.state.position
            self._rows = self._rows_before = checkpoint.state.rows
            limit = None if limit is None else limit - self._rows
        self._begun |= {part.number} if first else set()
        kept = self._cache.of(part.number)
        if kept is None:
            batches = prefetch(Partition.batches(part, task, limit, start))
        else:
            batches = first_rows(iter(kept), sum(map(len, kept)) if limit is None else limit)
        if checkpoint is not None:
            batches = checkpoint.noting(batches)
        with contextlib.closing(batches) as read:
            for batch in read:
                if first:
                    self._cache.add(batch, part.number)
                yield batch
                self._rows += len(batch)
                self._show_progress(part.number + batch.file + batch.batch.done)

    def forget(self) -> None:
        """Free the memory of the rows that were kept."""
        self._cache = RowCache(0)

    def _show_progress(self, files: float) -> None:
        """Move the bar to the rows so far, or to this many files where their rows are not known."""
        seconds = max(1e-9, time.monotonic() - self._started)
        speed = (self._rows - self._rows_before) / seconds
        share = self._rows / self._total if self._total else files / self._n_files
        self._show(share, f"{self._rows:,} rows, {speed:,.0f} rows/s")


def _room(options: WorkerOptions) -> int:
    """Return how many bytes the rows of the first pass may take."""
    size: str | None = getattr(options, "cache_size", None)
    return CACHE_BYTES if size is None else size_of("--cache-size", size, least=0)


@dataclass(frozen=True)
class _LocalPartition(Partition):
    """A partition that is read in this process."""

    number: int = 0
    reader: Any = None

    def batches(
        self, task: ShardTask, limit: int | None = None, start: Sequence[int] | None = None
    ) -> Batches:
        """Yield the rows that count, encoded."""
        found: Batches = self.reader.batches(self, task, limit)
        return found
