"""One run of the pipeline over files: summarize, ask, second pass; stopped, it can be resumed."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from flagstone import __version__
from flagstone.algebra import Flag, Rows
from flagstone.checkpoints import ShardCheckpoint, digest_of, open_checkpoint
from flagstone.cli.checkpoint import RunCheckpoint
from flagstone.cli.console import ARGUMENTS, AT_END, Interrupted, rerun_command
from flagstone.cli.inputs import InputSource
from flagstone.cli.reader import RowReader, partition_of
from flagstone.cli.verbs import RunOptions
from flagstone.coins import Coins, fresh_seed
from flagstone.finding import Finding
from flagstone.pipeline import Pipeline
from flagstone.question import Question
from flagstone.rules import SpanRule
from flagstone.shards import ShardReview, ShardTask
from flagstone.wording import counted

#: Options that the result does not depend on.
_LOOSE = {f.name for f in dataclasses.fields(RunOptions)} | {"force", "json", "show_as"}


class Run:
    """One run of the pipeline over the files of a table, with its checkpoint.

    Rows in one shard: a run that was stopped resumes at the row where it was. Rows in several
    shards: it resumes with the shards that are not finished. ``seed`` is None for the seed of the
    run that is resumed, or a fresh one. ``again`` says that a second pass follows.
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
        partition = partition_of(options)
        self.cut, self._finished = str(partition), False
        pilot = again and partition != "none"
        task = ShardTask(question, source.encoding, pilot=pilot, deduplicate=deduplicate)
        identity: dict[str, Any] = {}
        if options.checkpoint is not None:
            identity = {
                "version": __version__,
                "verb": ARGUMENTS[0],
                "question": question.to_dict(),
                "options": {k: v for k, v in vars(options).items() if k not in _LOOSE},
                "rule": repr(rule),
                "cut": self.cut,
                "encoding": source.encoding.to_dict(),
            }
        whole = None
        if options.checkpoint is not None and partition == "none":
            identity["data"] = source.table.identity()  # reads all bytes
            whole = RunCheckpoint(options, identity, task.empty(), seed)
        self._checkpoint: RunCheckpoint | ShardCheckpoint | None = whole
        self._reader = RowReader(source.table, options, answers=True, twice=again, checkpoint=whole)
        with self._reader.watched("counting"):
            pipeline = Pipeline(task, self._reader.partitions, self._reader.executor)
            self._pipeline = pipeline.first(max_rows)
        if options.checkpoint is not None and partition != "none":
            opened = open_checkpoint(
                options.checkpoint,
                digest_of(identity, self._reader.data.identity(self._pipeline.shards)),
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
        with self._reader.watched("reading", n_rows, first=True):
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
        with self._reader.watched("measuring", self.rows):
            return self._pipeline.second_pass(
                finding, self._summary, confidence=confidence, shown=shown
            )

    def certify(self, finding: Finding, confidence: float, shown: int) -> Finding:
        """Return the finding with what a second pass over the rows certifies and counts."""
        review = self.second_pass(finding, confidence, shown)
        return review.certified(finding, confidence, self._summary.sizes)

    def sample(self, most: int) -> Rows | None:
        """Return at most this many lifted rows, evenly spread; None if they are elsewhere."""
        if not self._reader.is_local:
            return None
        task, rows = self._pipeline.task, 0
        field = task.encoding.field
        stride, parts = -(-self.rows // most), []
        with self._reader.watched("sampling", self.rows):
            for shard in self._pipeline.shards:
                for batch in shard.batches(task, shard.limit):
                    some = batch.chosen(slice(-rows % stride, None, stride))
                    parts.append(field.array(task.lifted(some)))
                    rows += len(batch)
        return field.rows(np.concatenate(parts)) if parts else None

    def finish(self) -> None:
        """Forget the state and the rows that were kept: all results are known, or written."""
        self._finished = True
        self._reader.forget()
        if self._checkpoint is not None:
            self._checkpoint.finish()

    def _say_how_to_resume(self, kind: object, error: object, trace: object) -> None:
        """Print how to resume when the verb ends because it was stopped."""
        if not isinstance(error, KeyboardInterrupt) or self._finished:
            return
        if self._checkpoint is None:
            if self._pipeline.task.deduplicate or getattr(self._options, "each", False):
                return  # these take no checkpoint
            raise Interrupted("interrupted. With --checkpoint FILE a run can be resumed") from error
        if isinstance(self._checkpoint, RunCheckpoint):
            held = f"the state after {counted(self._checkpoint.kept, 'row')}"
        else:
            held = f"{len(self._checkpoint.finished):,} finished partitions"
        raise Interrupted(
            f"interrupted; {self._options.checkpoint} holds {held}. To resume, run the same "
            f"command again: {rerun_command(None)}"
        ) from error
