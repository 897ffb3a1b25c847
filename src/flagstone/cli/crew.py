"""Many processes instead of one: a running Dask cluster, or a local one for this command."""

from __future__ import annotations

import contextlib
import logging
import re
import socket
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from flagstone.cli.inputs import Source
from flagstone.cli.options import CrewOptions, RunOptions
from flagstone.cli.repeating import repeat_command
from flagstone.cli.runner import AT_END, Interrupted, UsageError
from flagstone.cli.words import size_of
from flagstone.errors import MissingDependencyError
from flagstone.progress import progress_bar

if TYPE_CHECKING:
    from flagstone.captures import Capture
    from flagstone.certification import SecondLook
    from flagstone.digests import Survey
    from flagstone.distributed import Crew
    from flagstone.distributed.tasks import Seen
    from flagstone.finding import Finding
    from flagstone.flag import Flag
    from flagstone.histogram import Histogram
    from flagstone.measurement import Measurement
    from flagstone.question import Question

_ADDRESS = re.compile(r"(tcp|tls)://\S+:\d{1,5}")
#: Seconds until a scheduler must have answered.
_PATIENCE = 20
#: The loggers that Dask gives a level of their own, and its loop's.
_TALKERS = ("distributed", "distributed.client", "distributed.gc", "tornado.application", "asyncio")


def partition_bytes(options: CrewOptions) -> int:
    """Return the size of a partition as typed: 64MB, 256MiB, or plain bytes."""
    from flagstone.distributed import PARTITION_BYTES

    if options.partition_size is None:
        return PARTITION_BYTES
    return size_of("--partition-size", options.partition_size)


def hired(options: CrewOptions) -> Crew | None:
    """Return who works on partitions, until the verb ends; None where this process does it all."""
    if options.cluster is not None and options.workers is not None:
        raise UsageError("--cluster and --workers each say who works; leave one out")
    if options.cluster is None and options.workers is None:
        if options.partition_size is not None:
            raise UsageError("--partition-size is for --cluster and --workers")
        return None
    if getattr(options, "keep", None) is not None:
        raise UsageError("--keep is for one process; leave it out with --cluster and --workers")
    if options.cluster is not None and not _ADDRESS.fullmatch(options.cluster):
        raise UsageError(
            f"--cluster must be an address such as tcp://host:8786, got {options.cluster!r}"
        )
    try:
        import distributed  # noqa: F401
        from flagstone.distributed import Crew
    except ImportError as error:
        raise MissingDependencyError(
            "--cluster and --workers need Dask; install it with: pip install 'flagstone[dask]'"
        ) from error
    for name in _TALKERS:  # what matters is said by us
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return Crew(AT_END.enter_context(_client(options)))


@contextlib.contextmanager
def _client(options: CrewOptions) -> Iterator[Any]:
    from distributed import Client
    from flagstone.distributed import ClusterError, local_workers

    if options.cluster is not None:
        host, port = options.cluster.partition("://")[2].rsplit(":", 1)
        try:
            socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
            client = Client(options.cluster, set_as_default=False, timeout=_PATIENCE)
        except OSError as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise ClusterError(
                f"{options.cluster}: no scheduler answers there ({reason})"
            ) from error
        with client:
            yield client
        return
    with local_workers(options.workers or 1) as client:
        yield client


@contextlib.contextmanager
def crew_progress(crew: Crew, word: str, shown: bool | None = None) -> Iterator[None]:
    """Show how many partitions are done."""
    with progress_bar(word, shown) as show:
        crew.told = lambda done, total: show(done / total, f"{done:,} of {total:,} partitions")
        yield


class Together:
    """Reads partitions by a crew; `flagstone.cli.work.Alone` does the same in one process."""

    def __init__(
        self,
        crew: Crew,
        source: Source,
        question: Question,
        options: RunOptions,
        identity: Mapping[str, Any],
        seed: str,
        *,
        histogram: bool = False,
        again: bool = True,
    ) -> None:
        from flagstone.distributed import Dataset
        from flagstone.distributed.road import digest_of
        from flagstone.distributed.store import open_store
        from flagstone.distributed.tasks import Job

        if source.table is None:
            raise UsageError("a flag is small: ask it without --cluster and --workers")
        self._crew, self._options = crew, options
        self._data = Dataset.of_table(source.table, partition_bytes(options))
        if (take := getattr(options, "take", None)) is not None:
            self._data = self._data.first(take)
        self._job = Job(
            question,
            source.encoding,
            histogram,
            pilot=again,
            deduplicate=getattr(options, "deduplicate_runs", False),
        )
        known = None if options.checkpoint is None else self._data.identity()
        store = open_store(options.checkpoint, digest_of(dict(identity), known), seed, self._job)
        self._store = AT_END.enter_context(store)
        self.resumed, self.seed = bool(self._store.leaves), self._store.seed
        self._shown = False if options.quiet else None
        AT_END.push(self._say_how_to_resume)

    def read(self) -> tuple[Flag | Histogram, Measurement]:
        """Return the summary of all rows that count, and how many they are."""
        from flagstone.distributed.road import notes_of
        from flagstone.measurement import Measurement

        with crew_progress(self._crew, "reading", self._shown):
            self._leaf = self._crew.summarize(self._data, self._job, self._store)
        self.notes = notes_of(self._leaf, self._job)
        return self._leaf.summary, Measurement(sum(self._leaf.sizes), skipped=self._leaf.skipped)

    def again(
        self, finding: Finding, survey: Survey | None = None, capture: Capture | None = None
    ) -> Finding:
        """Read the rows again: certify, count what does not fit, and show them to a survey.

        The rows are elsewhere, so a capture sees none of them, and says so.
        """
        options: Any = self._options
        seen = self._look(finding, options.confidence, options.kept_rows, survey)
        if survey is not None and seen.survey is not None:
            survey.add(seen.survey)
        return seen.certified(finding, options.confidence, self._leaf.sizes)

    def second_look(self, finding: Finding, confidence: float) -> SecondLook:
        """Read the rows again, and return what they show."""
        return self._look(finding, confidence, 0).look

    def sample(self, most: int) -> None:
        """Return no rows to draw from: they are elsewhere."""

    def _look(
        self, finding: Finding, confidence: float, shown: int, survey: Survey | None = None
    ) -> Seen:
        with crew_progress(self._crew, "measuring", self._shown):
            return self._crew.second_look(
                self._data, self._job, finding, self._leaf, confidence, shown, survey
            )

    def finish(self) -> None:
        """Forget finished partitions: everything they stood for is written."""
        self._store.finish()
        self._finished = True

    _finished = False

    def _say_how_to_resume(self, kind: object, error: object, trace: object) -> None:
        if self._finished or not isinstance(error, KeyboardInterrupt):
            return
        text = "interrupted. With --checkpoint FILE a run can be resumed"
        if self._options.checkpoint is not None:
            text = (
                f"interrupted; {self._options.checkpoint} holds {len(self._store.leaves):,} "
                f"finished partitions. To resume, run the same command again: "
                f"{repeat_command(None)}"
            )
        raise Interrupted(text) from error
