"""The checkpoint of rows that are read as one shard: stopped, a run ends with the same bytes.

Its state is small (a summary, a position, a few counts) and is written atomically: a run resumes
from the last state, and the flag does not depend on how its rows came in batches. For rows in
several shards there is :mod:`flagstone.checkpoints`.
"""

from __future__ import annotations

import base64
import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagstone.algebra.flag import Flag
from flagstone.checkpoints import digest_of
from flagstone.cli.console import AT_END, print_stderr
from flagstone.cli.verbs import RunOptions
from flagstone.coins import fresh_seed
from flagstone.disk import check_fields, destination, locked
from flagstone.errors import FormatError, InputError
from flagstone.pipeline import Pipeline
from flagstone.processes import held_signals
from flagstone.shards import ShardSummary
from flagstone.store import read_document, write_document
from flagstone.tables.encoded import Batches
from flagstone.wording import counted

#: Changes with what a position means, so that no old one is misread.
_POSITIONS = 4


@dataclass
class RunState:
    """What a resumed run needs; the position is None at the start."""

    seed: str
    summary: Flag
    position: list[int] | None = None
    rows: int = 0
    skipped: int = 0

    def to_content(self, identity: str) -> dict[str, Any]:
        """Return the JSON form."""
        data = base64.b64encode(self.summary.to_bytes()).decode()
        return vars(self) | {"id": identity, "summary": data}

    @classmethod
    def from_content(cls, content: Mapping[str, Any], start: Flag) -> RunState:
        """Read the JSON form of a run that began with ``start``."""
        kinds = {"id": str, "seed": str, "summary": str, "rows": int, "skipped": int}
        check_fields(content, kinds | {"position": list | None})
        if min(content["rows"], content["skipped"]) < 0:
            raise ValueError("it counts fewer rows than none")
        kept = Flag.from_bytes(base64.b64decode(content["summary"]))
        if (kept.field, kept.dim) != (start.field, start.dim):
            raise ValueError(f"it summarizes other rows, {kept!r}")
        state = cls(**{k: v for k, v in content.items() if k != "id"})
        state.summary = kept
        return state


class RunCheckpoint:
    """The state of a run over a table as one shard, which may be resumed.

    ``identity`` is everything that the result depends on (files, options, outputs): the checkpoint
    of another run is refused. A run begins with the summary ``start``. ``kept`` counts the rows of
    the state in the file.
    """

    def __init__(
        self, options: RunOptions, identity: Mapping[str, Any], start: Flag, seed: str | None
    ) -> None:
        self.path, self.id = Path(options.checkpoint or ""), digest_of(identity, _POSITIONS)
        self._every = options.checkpoint_every
        self._warned, self._saved, self.kept = False, time.monotonic(), 0
        found = self._resume(start, seed)
        self.resumed = found is not None
        self.state = found or RunState(fresh_seed() if seed is None else seed, start)
        self.seed = self.state.seed

    def _resume(self, start: Flag, seed: str | None) -> RunState | None:
        """Return the state of an earlier run of the same command, or None."""
        if destination(self.path, overwrite=True) is None:
            raise InputError(f"{self.path}: a checkpoint is read again, which needs a regular file")
        AT_END.enter_context(locked(self.path))
        if not self.path.exists():
            return None
        kind, content = read_document(self.path)
        if kind != "checkpoint":
            raise FormatError(f"{self.path} is no checkpoint but a {kind}; choose another file")
        if content.get("id") != self.id:
            raise InputError(
                f"{self.path} belongs to another run (other files, options or outputs); run that "
                "command again, or remove the checkpoint, or choose another one"
            )
        try:
            state = RunState.from_content(content, start)
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{self.path}: damaged ({error}); remove it") from error
        if seed is not None and state.seed != seed:
            raise InputError(
                f"{self.path} was begun with seed {state.seed!r}, not with {seed!r}; give that "
                "seed, or remove the checkpoint, or choose another one"
            )
        if state.position is not None:
            print_stderr(f"resuming after {counted(state.rows, 'row')}")
            self.kept = state.rows
        return state

    def save(self, *, must: bool = False) -> None:
        """Write the checkpoint; a full disk keeps the last one and is reported once."""
        try:
            content = self.state.to_content(self.id)
            write_document(self.path, "checkpoint", content, overwrite=True)
            self.kept = self.state.rows
        except OSError as error:
            if must:
                raise
            if not self._warned:
                print_stderr(
                    f"warning: {self.path}: the checkpoint could not be written "
                    f"({os.strerror(error.errno or 0)}); the last one is kept and the run goes on"
                )
                self._warned = True
        self._saved = time.monotonic()

    def finish(self) -> None:
        """Remove the checkpoint: everything it stood for is written."""
        Path(os.path.realpath(self.path)).unlink(missing_ok=True)

    def summarize(self, pipeline: Pipeline) -> ShardSummary:
        """Return the summary of the only shard, gone on with where an earlier run was stopped."""
        if not self.resumed:
            self.save(must=True)  # before the first row: it must be possible
        state = self.state
        pipeline.summarize(begun=ShardSummary(state.summary, None, (), state.skipped))
        return ShardSummary(state.summary, None, (state.rows,), state.skipped)

    def noting(self, batches: Batches) -> Batches:
        """Pass batches on, and note that they are summarized; a signal is met between two."""
        with held_signals() as held, contextlib.closing(batches):
            for batch in batches:
                yield batch
                self.state.rows += len(batch)
                self.state.skipped += batch.skipped
                self.state.position = list(batch.after)
                if held.number is not None:
                    break
                if time.monotonic() - self._saved >= self._every:
                    self.save()
            self.save()
