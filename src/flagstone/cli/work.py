"""One run of the pipeline over files: summarize, ask, second pass; stopped, it can be resumed."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from flagstone import __version__
from flagstone.algebra import Rows
from flagstone.checkpoints import ShardCheckpoint, digest_of, open_checkpoint
from flagstone.cli.checkpoint import RunCheckpoint
from flagstone.cli.console import ARGUMENTS, AT_END, Interrupted, how_to_resume, print_stderr
from flagstone.cli.inputs import InputSource
from flagstone.cli.reader import RowReader, partition_of, rows_of
from flagstone.cli.verbs import RunOptions
from flagstone.coins import Coins, fresh_seed
from flagstone.finding import Finding
from flagstone.question import Question
from flagstone.rules import SpanRule
from flagstone.shards import ShardSummary, ShardTask
from flagstone.tables.encoded import RowCache

#: Options that the result does not depend on.
_LOOSE = {f.name for f in fields(RunOptions)} | {"force", "json", "show_as"}
#: Changes with what a position in a checkpoint means, so that no old one is misread.
_POSITIONS = 4


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
        table = source.table
        assert table is not None
        self.cut = str(partition_of(options))
        self._options, self._finished = options, False
        pilot = again and self.cut != "none"
        task = ShardTask(question, source.encoding, pilot=pilot, deduplicate=deduplicate)
        self._reader = RowReader(table, task, options, twice=again)
        if not (self._reader.is_local or options.partition or options.quiet):
            print_stderr(
                "the rows are cut by files (--partition files), because several processes read"
            )
        self.pipeline = self._reader.pipeline.first(max_rows)
        self.seed = fresh_seed() if seed is None else seed
        self._checkpoint = ShardCheckpoint(self.seed)
        if options.checkpoint is not None:
            identity: dict[str, Any] = {
                "version": __version__,
                "verb": ARGUMENTS[0],
                "question": question.to_dict(),
                "options": {k: v for k, v in vars(options).items() if k not in _LOOSE},
                "rule": repr(rule),
                "cut": self.cut,
                "encoding": source.encoding.to_dict(),
            }
            self._checkpoint = self._opened(options.checkpoint, identity, seed)
        self.seed, self.resumed = self._checkpoint.seed, self._checkpoint.resumed
        AT_END.push(self._say_how_to_resume)

    def _opened(self, path: str, identity: dict[str, Any], seed: str | None) -> ShardCheckpoint:
        """Open the checkpoint: of an only shard by its last row, of several by those finished."""
        task, shards, data = self.pipeline.task, self.pipeline.shards, self._reader.data
        if self.cut != "none":
            known = digest_of(identity, data.identity(shards))
            found = open_checkpoint(
                path, known, self.seed, task, len(shards), seed_is_fresh=seed is None
            )
            return AT_END.enter_context(found)
        known = digest_of(identity | {"data": data.table.identity()}, _POSITIONS)  # reads all bytes
        every = self._options.checkpoint_every
        whole = RunCheckpoint(path, known, task.empty(), seed, every=every)
        self._reader.checkpoint = whole
        if whole.position is not None:  # the first rows are not read again
            self._reader.cache.whole = False
        return whole

    def read(self) -> ShardSummary:
        """Return the summary of all rows that count."""
        kept = None if self._options.checkpoint is None else self._checkpoint
        self.summary = self.pipeline.summarize(kept)
        return self.summary

    def ask(self, rule: SpanRule, provenance: dict[str, Any], **more: Any) -> Finding:
        """Answer from the summary; other parameters as of :func:`flagstone.ask`."""
        notes: dict[str, Any] = {"partition": self.cut}
        if self.cut != "none":
            notes |= self.summary.notes(self.pipeline.task.encoding)
        kept = provenance | notes
        return self.pipeline.ask(self.summary, rule, Coins(self.seed), provenance=kept, **more)

    def sample(self, most: int) -> Rows | None:
        """Return at most this many lifted rows, evenly spread; None if they are elsewhere."""
        if not self._reader.is_local:
            return None
        task, rows = self.pipeline.task, 0
        field = task.encoding.field
        stride, parts = -(-sum(self.summary.sizes) // most), []
        for batches in self._reader.each(partial(rows_of, task), self.pipeline.shards):
            for batch in batches:
                some = batch.chosen(slice(-rows % stride, None, stride))
                parts.append(field.array(task.lifted(some)))
                rows += len(batch)
        return field.rows(np.concatenate(parts)) if parts else None

    def finish(self) -> None:
        """Forget the state and the rows that were kept: all results are known, or written."""
        self._finished = True
        self._reader.cache = RowCache(0)
        self._checkpoint.finish()

    def _say_how_to_resume(self, kind: object, error: object, trace: object) -> None:
        """Print how to resume when the verb ends because it was stopped."""
        if not isinstance(error, KeyboardInterrupt) or self._finished:
            return
        path = self._options.checkpoint
        if path is not None:
            raise Interrupted(how_to_resume(path, self._checkpoint.held)) from error
        if not (self.pipeline.task.deduplicate or getattr(self._options, "each", False)):
            raise Interrupted("interrupted. With --checkpoint FILE a run can be resumed") from error
