"""One run of the pipeline over files: summarize, ask, second pass; stopped, it can be resumed."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np

from flagstone import __version__
from flagstone.algebra import Flag, Rows
from flagstone.checkpoints import ShardCheckpoint, digest_of, open_checkpoint
from flagstone.cli.checkpoint import RunCheckpoint, interrupted
from flagstone.cli.console import ARGUMENTS, AT_END, size_of
from flagstone.cli.executors import LocalReader, dask_executor, partition_of, partition_progress
from flagstone.cli.inputs import InputSource
from flagstone.cli.verbs import RunOptions
from flagstone.coins import Coins, fresh_seed
from flagstone.finding import Finding
from flagstone.pipeline import Pipeline
from flagstone.question import Question
from flagstone.rules import SpanRule
from flagstone.shards import ShardReview, ShardTask
from flagstone.tables.encoded import CACHE_BYTES
from flagstone.tables.partitions import Dataset

#: On these the result does not depend.
_LOOSE = {f.name for f in dataclasses.fields(RunOptions)} | {"force", "json", "show_as"}


class Run:
    """One run of the pipeline over files, by this process or by Dask, with its checkpoint.

    Rows that are not cut are one shard, and a run that was stopped resumes where it was. Of rows in
    several shards it resumes with those that are not finished.

    Parameters
    ----------
    source : InputSource
        A table and its encoding.
    question : Question
    options : RunOptions
        Those of the verb.
    seed : str, optional
        Drawn afresh if left out, or that of the run that is resumed.
    again : bool
        Whether a second pass follows.
    max_rows : int, optional
        How many rows are used, the first ones.
    deduplicate : bool
        Whether equal rows that follow each other count once.
    rule : SpanRule, optional
        How the answer is read, where the result is one.

    Attributes
    ----------
    cut : str
        How the rows are cut: none, files, or a number of bytes.
    resumed : bool
        Whether an earlier run of the same command has left its state.
    seed : str
    """

    def __init__(
        self,
        source: InputSource,
        question: Question,
        options: RunOptions,
        seed: str | None,
        *,
        again: bool = True,
        max_rows: int | None = None,
        deduplicate: bool = False,
        rule: SpanRule | None = None,
    ) -> None:
        assert source.table is not None
        self._options, self._max_rows, self._table = options, max_rows, source.table
        self._dask = dask_executor(options)
        partition = partition_of(options)
        self.cut, self._finished = str(partition), False
        pilot = again and partition != "none"
        task = ShardTask(question, source.encoding, pilot=pilot, deduplicate=deduplicate)
        identity: dict[str, Any] = {}
        if options.checkpoint is not None:  # only then is a reading of all bytes worth its time
            identity = {
                "version": __version__,
                "verb": ARGUMENTS[0],
                "question": question.to_dict(),
                "options": {k: v for k, v in vars(options).items() if k not in _LOOSE},
                "rule": repr(rule),
                "cut": self.cut,
                "encoding": source.encoding.to_dict(),
            }
        self._checkpoint: RunCheckpoint | ShardCheckpoint | None = None
        if options.checkpoint is not None and partition == "none":
            identity["data"] = source.table.identity()
            self._checkpoint = RunCheckpoint(options, identity, task.empty(), seed)
        data = Dataset.of_table(source.table, partition)
        data = data if max_rows is None else data.first(max_rows)
        if self._dask is not None:
            pipeline = Pipeline(task, data.partitions, self._dask)
        else:
            room = CACHE_BYTES
            if options.cache_size:
                room = size_of("--cache-size", options.cache_size, least=0)
            room = room if again else 0
            self._reader = LocalReader(self._table, data.partitions, room, self._checkpoint)
            pipeline = Pipeline(task, self._reader.partitions)
        with self._watched("counting", None):
            self._pipeline = pipeline.first(max_rows)
        if options.checkpoint is not None and partition != "none":
            opened = open_checkpoint(
                options.checkpoint,
                digest_of(identity, data.identity(self._pipeline.shards)),
                fresh_seed() if seed is None else seed,
                task,
                len(self._pipeline.shards),
                seed_is_fresh=seed is None,
            )
            self._checkpoint = AT_END.enter_context(opened)
        AT_END.push(self._say_how_to_resume)
        if self._checkpoint is not None:
            self.resumed, self.seed = self._checkpoint.resumed, self._checkpoint.seed
        else:
            self.resumed, self.seed = False, fresh_seed() if seed is None else seed

    def read(self) -> Flag:
        """Return the summary of all rows that count."""
        n_rows = self._table.n_rows if self._max_rows is None else self._max_rows
        with self._watched("reading", n_rows):
            if isinstance(self._checkpoint, RunCheckpoint):
                self._summary = self._checkpoint.summarize(self._pipeline)
            else:
                self._summary = self._pipeline.summarize(self._checkpoint)
        return self._summary.summary

    @property
    def rows(self) -> int:
        """How many rows were summarized."""
        return sum(self._summary.sizes)

    @property
    def skipped(self) -> int:
        """How many rows were left out on request."""
        return self._summary.skipped

    def ask(self, rule: SpanRule, provenance: dict[str, Any], **more: Any) -> Finding:
        """Answer from the summary; other parameters as of :func:`flagstone.ask`."""
        notes: dict[str, Any] = {"partition": self.cut}
        if self.cut != "none":
            notes |= self._summary.notes(self._pipeline.task.encoding)
        kept = provenance | notes
        return self._pipeline.ask(self._summary, rule, Coins(self.seed), provenance=kept, **more)

    def second_pass(self, finding: Finding, confidence: float, shown: int = 0) -> ShardReview:
        """Pass over the rows again, kept ones or read anew.

        A run that was stopped here begins the second pass again: pieces of rows certify, and a
        piece must not begin where the run was stopped.
        """
        with self._watched("measuring", self.rows):
            return self._pipeline.second_pass(
                finding, self._summary, confidence=confidence, shown=shown
            )

    def certify(self, finding: Finding, confidence: float, shown: int) -> Finding:
        """Return the finding with what a second pass over the rows certifies and counts."""
        review = self.second_pass(finding, confidence, shown)
        return review.certified(finding, confidence, self._summary.sizes)

    def sample(self, most: int) -> Rows | None:
        """Return at most this many lifted rows, evenly spread; None if they are elsewhere."""
        if self._dask is not None:
            return None
        task, rows = self._pipeline.task, 0
        field = task.encoding.field
        stride, parts = -(-self.rows // most), []
        with self._watched("sampling", self.rows):
            for shard in self._pipeline.shards:
                for batch in shard.batches(task, shard.limit):
                    some = batch.chosen(slice(-rows % stride, None, stride))
                    parts.append(field.array(task.lifted(some)))
                    rows += len(batch)
        return field.rows(np.concatenate(parts)) if parts else None

    def finish(self) -> None:
        """Forget the state: everything it stood for is written."""
        self._finished = True
        if self._checkpoint is not None:
            self._checkpoint.finish()

    def _watched(self, word: str, total: int | None) -> contextlib.AbstractContextManager[None]:
        """Show how far a pass has come, in rows here, in partitions elsewhere."""
        shown = False if self._options.quiet else None
        if self._dask is not None:
            return partition_progress(self._dask, word, shown)
        return self._reader.watched(word, total, shown, first=word == "reading")

    def _say_how_to_resume(self, kind: object, error: object, trace: object) -> None:
        """Say what is kept when the verb ends because it was stopped."""
        if isinstance(error, KeyboardInterrupt) and not self._finished:
            raise interrupted(self._options.checkpoint, self._checkpoint) from error
