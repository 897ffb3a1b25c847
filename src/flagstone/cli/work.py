"""The two passes over files, by this process or by Dask: summarize, then measure and certify."""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flagstone.algebra import Flag, Rows
from flagstone.cli.checkpoint import RunCheckpoint, ShardsCheckpoint
from flagstone.cli.console import AT_END, UsageError, print_stderr, size_of
from flagstone.cli.inputs import InputSource
from flagstone.cli.process import LEAST_MEMORY_WITH_DASK, lacks_memory
from flagstone.cli.verbs import RunOptions, WorkerOptions
from flagstone.finding import Finding
from flagstone.measurement import Measurement
from flagstone.pipeline import LocalExecutor, Pipeline
from flagstone.processes import held_signals
from flagstone.progress import progress_bar
from flagstone.question import Question
from flagstone.second_pass import SecondPass
from flagstone.shards import Shard, ShardReview, ShardTask
from flagstone.tables import Table
from flagstone.tables.encoded import (
    CACHE_BYTES,
    Batches,
    EncodedBatch,
    RowCache,
    first_rows,
    prefetch,
)
from flagstone.tables.partitions import Dataset, Partition

if TYPE_CHECKING:
    from flagstone.distributed import DaskExecutor

_ADDRESS = re.compile(r"(tcp|tls)://\S+:\d{1,5}")
#: The loggers that Dask gives a level of their own, and its loop's.
_TALKERS = ("distributed", "distributed.client", "distributed.gc", "tornado.application", "asyncio")


def partition_of(options: WorkerOptions, *, matters: bool = True) -> str | int:
    """Return how the rows are cut, as typed: none, files, or a number of bytes.

    Rows that several processes read are cut by files if nothing is said. A line on standard error
    says so where it ``matters`` to the answer.
    """
    many = options.cluster is not None or options.workers is not None
    if options.partition is None:
        if many and matters and not getattr(options, "quiet", False):
            print_stderr(
                "the rows are cut by files (--partition files), because several processes read"
            )
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


def dask_executor(options: WorkerOptions) -> DaskExecutor | None:
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
    if lacks_memory(LEAST_MEMORY_WITH_DASK):
        raise MemoryError
    from flagstone.distributed import DaskExecutor, local_workers, running_cluster

    for name in _TALKERS:  # what matters is said by us
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if options.cluster is not None:
        client = running_cluster(options.cluster)
    else:
        client = local_workers(options.workers or 1)
    return DaskExecutor(AT_END.enter_context(client))


@contextlib.contextmanager
def partition_progress(
    executor: DaskExecutor, word: str, shown: bool | None = None
) -> Iterator[None]:
    """Show how many partitions are done."""
    with progress_bar(word, shown) as show:
        executor.on_progress = lambda done, total: show(
            done / total, f"{done:,} of {total:,} partitions"
        )
        yield


class Run:
    """One run of the pipeline over files, by this process or by Dask, with its checkpoint.

    Rows that are not cut are one shard, and a run that was stopped resumes where it was. Of rows in
    several shards it resumes with those that are not finished.

    Attributes
    ----------
    cut : str
        How the rows are cut: none, files, or a number of bytes.
    is_local : bool
        Whether this process reads the rows.
    resumed : bool
        Whether an earlier run of the same command has left its state.
    seed : str
    notes : dict
        What a finding keeps of how rows were read.
    """

    def __init__(
        self,
        source: InputSource,
        question: Question,
        options: RunOptions,
        identity: Mapping[str, Any],
        seed: str | None,
        *,
        again: bool = True,
        max_rows: int | None = None,
        deduplicate: bool = False,
    ) -> None:
        self._table, self._options, self._max_rows = source.table, options, max_rows
        dask = dask_executor(options)
        if source.table is None and (dask or options.partition not in (None, "none")):
            raise UsageError("a flag is small: ask it without --cluster, --workers and --partition")
        partition = partition_of(options)
        self.cut, self.is_local, self._dask = str(partition), dask is None, dask
        task = ShardTask(
            question,
            source.encoding,
            pilot=again and partition != "none",
            deduplicate=deduplicate,
        )
        room = CACHE_BYTES
        if options.cache_size:
            room = size_of("--cache-size", options.cache_size, least=0)
        self._cache = RowCache(room if again else 0)
        self._pipeline = Pipeline(task, [], dask or LocalExecutor(self._open))
        self._begun: set[int] = set()  # shards that were read, or are
        data = None
        if source.table is not None:
            data = Dataset.of_table(source.table, partition)
            data = data if max_rows is None else data.first(max_rows)
            self._pipeline = Pipeline(task, data.partitions, self._pipeline.executor)
            with self._watching("counting", None):
                self._pipeline = self._pipeline.first(max_rows)
        self._checkpoint: RunCheckpoint | ShardsCheckpoint
        if data is None or partition == "none":
            start = task.empty() if source.saved is None else source.saved.summary
            self._checkpoint = RunCheckpoint(options, identity, start, seed)
            self._cache.whole &= self._checkpoint.state.position is None
        else:
            known = None if options.checkpoint is None else data.identity(self._pipeline.shards)
            about = [dict(identity), known]
            self._checkpoint = ShardsCheckpoint(options, about, seed, self._pipeline)
        self.resumed, self.seed = self._checkpoint.resumed, self._checkpoint.seed
        self.notes: dict[str, Any] = {}

    def read(self) -> tuple[Flag, Measurement]:
        """Return the summary of all rows that count, and how many they are."""
        self._checkpoint.start()
        if self._table is None:
            assert isinstance(self._checkpoint, RunCheckpoint)
            summary = self._checkpoint.state.summary
            return summary, Measurement(summary.n_rows)
        n_rows = self._table.n_rows if self._max_rows is None else self._max_rows
        with self._watching("reading", n_rows):
            self._summary = self._checkpoint.summarize(self._pipeline)
        self.notes = {"partition": self.cut}
        if self.cut != "none":
            self.notes |= self._summary.notes(self._pipeline.task.encoding)
        counted = Measurement(sum(self._summary.sizes), skipped=self._summary.skipped)
        return self._summary.summary, counted

    def again(self, finding: Finding) -> Finding:
        """Pass over the rows again: certify, and count misfits."""
        options: Any = self._options
        review = self._review(finding, options.confidence, options.kept_rows)
        return review.certified(finding, options.confidence, self._summary.sizes)

    def second_pass(self, finding: Finding, confidence: float) -> SecondPass:
        """Pass over the rows again, and return what they show."""
        found = self._review(finding, confidence, 0).second_pass
        assert found is not None
        return found

    def _review(self, finding: Finding, confidence: float, shown: int) -> ShardReview:
        """Pass over the rows again, kept ones or read anew.

        A run that was stopped here begins the second pass again: pieces of rows certify, and a
        piece must not begin where the run was stopped.
        """
        with self._watching("measuring", sum(self._summary.sizes)):
            return self._pipeline.second_pass(
                finding, self._summary, confidence=confidence, shown=shown
            )

    def sample(self, most: int) -> Rows | None:
        """Return at most this many lifted rows, evenly spread; None if they are elsewhere."""
        if not self.is_local:
            return None
        task, rows = self._pipeline.task, 0
        field = task.encoding.field
        stride, parts = -(-sum(self._summary.sizes) // most), []
        for batch in self._once_more():
            some = batch.chosen(slice(-rows % stride, None, stride))
            parts.append(field.array(task.lifted(some)))
            rows += len(batch)
        return field.rows(np.concatenate(parts)) if parts else None

    def finish(self) -> None:
        """Forget the state: everything it stood for is written."""
        self._checkpoint.finish()

    def _once_more(self) -> Iterator[EncodedBatch]:
        """Yield all rows that count, kept ones or read anew."""
        self._word = ""
        for number, shard in enumerate(self._pipeline.shards):
            yield from self._open(number, shard).batches(self._pipeline.task, shard.limit)

    @contextlib.contextmanager
    def _watching(self, word: str, total: int | None) -> Iterator[None]:
        """Show how far a pass has come, in rows here, in partitions elsewhere."""
        shown = False if self._options.quiet else None
        if self._dask is not None:
            with partition_progress(self._dask, word, shown):
                yield
            return
        assert self._table is not None
        n_files = max(len(self._table.files), len(self._pipeline.shards))
        with row_progress(word, total, n_files, shown) as progress:
            self._word, self._rows_done, self._progress = word, 0, progress
            yield

    def _open(self, number: int, shard: Any) -> OpenShard:
        return OpenShard(shard, lambda task, limit: self._rows(number, shard, task, limit))

    def _rows(self, number: int, shard: Partition, task: ShardTask, limit: int | None) -> Batches:
        """Yield the rows of a shard, with progress; keep them at the first reading.

        Of a run that is resumed, the first reading leaves out what is behind it.
        """
        first = self._word == "reading" and number not in self._begun
        start, run, progress = None, None, self._progress
        if first:
            self._begun.add(number)
            if isinstance(self._checkpoint, RunCheckpoint):
                run = self._checkpoint
                start, self._rows_done = run.state.position, run.state.rows
                limit = None if limit is None else limit - run.state.rows
        kept = self._cache.of(number)
        if kept is None:
            batches = prefetch(shard.batches(task, limit, start))
        else:
            batches = first_rows(iter(kept), sum(map(len, kept)) if limit is None else limit)

        def after(batch: EncodedBatch) -> None:
            if run is not None:
                run.note(batch)
            self._rows_done += len(batch)
            progress(self._rows_done, number, batch)

        with contextlib.closing(
            interruptible(batches, after, (lambda: None) if run is None else run.save)
        ) as read:
            for batch in read:
                if first:
                    self._cache.add(batch, number)
                yield batch


def interruptible(
    batches: Batches,
    after: Callable[[EncodedBatch], None],
    end: Callable[[], None] = lambda: None,
) -> Batches:
    """Pass batches on; a signal is met between two of them.

    ``after`` is called when a batch was used, ``end`` after the last one, and when a signal came.
    """
    with held_signals() as held, contextlib.closing(batches):
        for batch in batches:
            yield batch
            after(batch)
            if held.number is not None:
                break
        end()


@dataclass
class OpenShard:
    """A shard whose rows are read by a function, which shows progress or keeps them."""

    shard: Shard
    read: Callable[[ShardTask, int | None], Batches]

    def __post_init__(self) -> None:
        self.name, self.n_rows, self.limit = self.shard.name, self.shard.n_rows, self.shard.limit

    def batches(self, task: ShardTask, limit: int | None = None) -> Batches:
        """Yield the rows that count, encoded."""
        return self.read(task, limit)

    def limited(self, n_rows: int, *, counted: bool = True) -> OpenShard:
        """Return the shard of the first rows, this many of them."""
        return OpenShard(self.shard.limited(n_rows, counted=counted), self.read)


@contextlib.contextmanager
def watched_executor(
    options: WorkerOptions, table: Table, word: str, n_shards: int
) -> Iterator[DaskExecutor | LocalExecutor]:
    """Yield who reads the shards of a table, with a progress bar."""
    dask = dask_executor(options)
    if dask is not None:
        with partition_progress(dask, word):
            yield dask
        return
    rows, n_files = 0, max(len(table.files), n_shards)
    with row_progress(word, table.n_rows, n_files) as progress:

        def opened(number: int, shard: Shard) -> OpenShard:
            def read(task: ShardTask, limit: int | None) -> Batches:
                nonlocal rows
                with contextlib.closing(prefetch(shard.batches(task, limit))) as batches:
                    for batch in batches:
                        yield batch
                        rows += len(batch)
                        progress(rows, number, batch)

            return OpenShard(shard, read)

        yield LocalExecutor(opened)


@contextlib.contextmanager
def row_progress(
    word: str, total: int | None, n_files: int, shown: bool | None = None
) -> Iterator[Callable[[int, int, EncodedBatch], None]]:
    """Show rows, rows per second and the time left on stderr, or nothing.

    The function that it yields takes the rows so far, the number of their shard, and a batch.
    """
    # Arrow would end a read in the middle at a signal; ours are met between two batches
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.enable_signal_handlers(False)
    started = time.monotonic()
    with progress_bar(word, shown) as show:
        first: list[int] = []  # a resumed run starts with rows that it did not read

        def update(rows: int, shard: int, batch: EncodedBatch) -> None:
            first[:] = first or [rows]
            seconds = max(1e-9, time.monotonic() - started)
            done = shard + batch.file + batch.batch.done
            share = rows / total if total else done / n_files
            show(share, f"{rows:,} rows, {(rows - first[0]) / seconds:,.0f} rows/s")

        yield update
