"""Who reads the rows: this process, or the workers of Dask; with a progress bar."""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flagstone.cli.checkpoint import RunCheckpoint
from flagstone.cli.console import AT_END, UsageError, size_of
from flagstone.cli.process import LEAST_MEMORY_WITH_DASK, lacks_memory
from flagstone.cli.verbs import WorkerOptions
from flagstone.pipeline import Executor, LocalExecutor, Pipeline
from flagstone.progress import progress_bar
from flagstone.shards import (
    Shard,
    ShardTask,
    check_shard,
    count_shard,
    review_shard,
    summarize_shard,
)
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


def rows_of(task: ShardTask, shard: Shard) -> Iterator[Any]:
    """Return the rows of a shard that count, batch by batch."""
    return shard.batches(task, shard.limit)


#: What the progress bar calls a pass, by the function of shards that it computes.
_PASSES: dict[Any, str] = {
    count_shard: "counting",
    summarize_shard: "reading",
    review_shard: "measuring",
    check_shard: "checking",
    rows_of: "sampling",
}


class RowReader:
    """The pipeline over the rows of a table; its executor, which shows a bar for each pass.

    If the rows are read ``twice``, those of the first pass are kept for the second one, provided
    that all of them fit into ``--cache-size``. With a ``checkpoint``, the first pass begins where
    an earlier run was stopped.
    """

    def __init__(
        self, table: Table, task: ShardTask, options: WorkerOptions, *, twice: bool = False
    ) -> None:
        self._dask = dask_executor(options)
        self._executor: Executor = self._dask or LocalExecutor()
        self._shown = False if getattr(options, "quiet", False) else None
        self.data = Dataset.of_table(table, partition_of(options))
        parts: Sequence[Partition] = self.data.partitions
        if self._dask is None:
            parts = [_LocalPartition(**vars(p), number=i, reader=self) for i, p in enumerate(parts)]
        self.pipeline = Pipeline(task, parts, self)
        self._n_files = max(len(table.files), len(parts))
        size = getattr(options, "cache_size", None)
        room = CACHE_BYTES if size is None else size_of("--cache-size", size, least=0)
        self.cache = RowCache(room if twice else 0)
        self.checkpoint: RunCheckpoint | None = None

    @property
    def is_local(self) -> bool:
        """Whether this process reads."""
        return self._dask is None

    def reduce(
        self,
        function: Callable[..., Any],
        shards: Sequence[Shard],
        merge: Callable[[Any, Any], Any],
        **more: Any,
    ) -> Any:
        """Return the results of all shards, merged: see :class:`flagstone.pipeline.Executor`."""
        with self._watched(function, shards):
            return self._executor.reduce(function, shards, merge, **more)

    def each(
        self, function: Callable[[Shard], Any], shards: Sequence[Shard]
    ) -> Generator[Any, None, None]:
        """Yield the results of the shards, in their order."""
        with self._watched(function, shards):
            yield from self._executor.each(function, shards)

    @contextlib.contextmanager
    def _watched(self, function: Any, shards: Sequence[Shard]) -> Iterator[None]:
        """Show how far a pass has come: in rows here, elsewhere in partitions."""
        # Arrow would end a read in the middle at a signal; here signals wait for the batch to end
        if self.is_local and (arrow := sys.modules.get("pyarrow")) is not None:
            arrow.enable_signal_handlers(False)
        computed = getattr(function, "func", None)
        with progress_bar(_PASSES.get(computed, "predicting"), self._shown) as show:
            if self._dask is not None:
                self._dask.on_progress = lambda done, parts: show(
                    done / parts, f"{done:,} of {parts:,} partitions"
                )
            known = [shard.n_rows if shard.limit is None else shard.limit for shard in shards]
            self._total = 0 if None in known else sum(n for n in known if n is not None)
            self._show, self.is_first = show, computed is summarize_shard  # its rows are kept
            self._started, self.rows, self.rows_before = time.monotonic(), 0, 0
            yield

    def show(self, n_rows: int, files: float) -> None:
        """Move the bar on by some rows, up to this many files where their rows are not known."""
        self.rows += n_rows
        seconds = max(1e-9, time.monotonic() - self._started)
        speed = (self.rows - self.rows_before) / seconds
        share = self.rows / self._total if self._total else files / self._n_files
        self._show(share, f"{self.rows:,} rows, {speed:,.0f} rows/s")


@dataclass(frozen=True)
class _LocalPartition(Partition):
    """A partition that is read in this process: from memory where its rows were kept."""

    number: int = 0
    reader: Any = None

    def batches(
        self, task: ShardTask, limit: int | None = None, start: Sequence[int] | None = None
    ) -> Batches:
        """Yield the rows that count, encoded."""
        reader: RowReader = self.reader
        kept = reader.cache.of(self.number)
        if kept is not None:
            batches = first_rows(iter(kept), sum(map(len, kept)) if limit is None else limit)
        elif reader.is_first and reader.checkpoint is not None:
            known = reader.checkpoint
            reader.rows = reader.rows_before = known.rows
            limit = None if limit is None else limit - known.rows
            batches = known.noting(prefetch(super().batches(task, limit, known.position)))
        else:
            batches = prefetch(super().batches(task, limit, start))
        with contextlib.closing(batches) as read:
            for batch in read:
                if reader.is_first and kept is None:
                    reader.cache.add(batch, self.number)
                yield batch
                reader.show(len(batch), self.number + batch.done)
