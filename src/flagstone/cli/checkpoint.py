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
from pathlib import Path
from typing import Any

from flagstone.algebra.flag import Flag
from flagstone.checkpoints import ShardCheckpoint, check_run
from flagstone.cli.console import AT_END, print_stderr
from flagstone.coins import fresh_seed
from flagstone.disk import check_fields, destination, locked
from flagstone.errors import FormatError, InputError
from flagstone.processes import held_signals
from flagstone.shards import ShardSummary
from flagstone.store import read_document, write_document
from flagstone.tables.encoded import Batches
from flagstone.wording import counted


class RunCheckpoint(ShardCheckpoint):
    """The state of a run over a table as one shard, which may be resumed.

    The file of a run with another ``identity`` is refused. A run begins with the summary
    ``start``; the state is saved every ``every`` seconds.

    Attributes
    ----------
    position : list of int or None
        Where the next row stands; None at the start.
    rows, skipped : int
        How many rows were summarized, and how many left out.
    saved_rows : int
        The rows of the state in the file.
    """

    def __init__(
        self, path: str, identity: str, start: Flag, seed: str | None, *, every: float = 0.0
    ) -> None:
        super().__init__(fresh_seed() if seed is None else seed)
        self.path, self.id, self._every = Path(path), identity, every
        self.position: list[int] | None = None
        self.rows = self.skipped = self.saved_rows = 0
        self._warned, self._saved = False, time.monotonic()
        if destination(self.path, overwrite=True) is None:
            raise InputError(f"{self.path}: a checkpoint is read again, which needs a regular file")
        AT_END.enter_context(locked(self.path))
        if self.path.exists():
            start = self._resume(start, seed)
        self.begun = ShardSummary(start, None, (), self.skipped)

    def _resume(self, start: Flag, seed: str | None) -> Flag:
        """Take over the state of an earlier run of the same command; return its summary."""
        kind, content = read_document(self.path)
        if kind != "checkpoint":
            raise FormatError(f"{self.path} is no checkpoint but a {kind}; choose another file")
        check_run(self.path, content, self.id, seed)
        try:
            summary = _summary(content, start)
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{self.path}: damaged ({error}); remove it") from error
        self.seed, self.position = content["seed"], content["position"]
        self.rows, self.skipped, self.resumed = content["rows"], content["skipped"], True
        if self.position is not None:
            print_stderr(f"resuming after {counted(self.rows, 'row')}")
            self.saved_rows = self.rows
        return summary

    @property
    def held(self) -> str:
        """What it holds, in words."""
        return f"the state after {counted(self.saved_rows, 'row')}"

    def save(self, *, must: bool = False) -> None:
        """Write the state; a full disk keeps the last one and is reported once."""
        assert self.begun is not None
        content = {
            "id": self.id,
            "seed": self.seed,
            "summary": base64.b64encode(self.begun.summary.to_bytes()).decode(),
            "position": self.position,
            "rows": self.rows,
            "skipped": self.skipped,
        }
        try:
            write_document(self.path, "checkpoint", content, overwrite=True)
            self.saved_rows = self.rows
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

    def noting(self, batches: Batches) -> Batches:
        """Pass batches on, and note that they are summarized; a signal is met between two."""
        if not self.resumed:
            self.save(must=True)  # before the first row: it must be possible
        with held_signals() as held, contextlib.closing(batches):
            for batch in batches:
                yield batch
                self.rows += len(batch)
                self.skipped += batch.skipped
                self.position = list(batch.after)
                if held.number is not None:
                    break
                if time.monotonic() - self._saved >= self._every:
                    self.save()
            self.save()


def _summary(content: Mapping[str, Any], start: Flag) -> Flag:
    """Return the summary in a state that may belong to a run that began with ``start``."""
    counts = {"rows": int, "skipped": int, "position": list | None}
    check_fields(content, {"id": str, "seed": str, "summary": str, **counts})
    if min(content["rows"], content["skipped"]) < 0:
        raise ValueError("it counts fewer rows than none")
    kept = Flag.from_bytes(base64.b64decode(content["summary"]))
    if (kept.field, kept.dim) != (start.field, start.dim):
        raise ValueError(f"it summarizes other rows, {kept!r}")
    return kept
