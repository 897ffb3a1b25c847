"""Long runs: progress, checkpoints, and a Ctrl-C that loses nothing.

The state of a run is small (a summary, a position, a few counts) and is written atomically,
so a run killed at any moment resumes from the last state, and ends with the same bytes: the
flag does not depend on how its rows came in batches.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flagstone.cli.options import RunOptions
from flagstone.cli.output import tell
from flagstone.cli.repeating import repeat_command
from flagstone.cli.runner import AT_END, Interrupted
from flagstone.disk import check_fields, destination, locked
from flagstone.errors import FormatError, InputError
from flagstone.progress import progress_bar
from flagstone.signals import held_signals
from flagstone.wording import counted

if TYPE_CHECKING:
    from flagstone.flag import Flag
    from flagstone.histogram import Histogram
    from flagstone.tables import EncodedBatch, Table
    from flagstone.tables.encoded import Batches

_FIELDS = {
    "id": str,
    "seed": str,
    "summary": str,
    "bytes": str,
    "phase": str,
    "position": list | None,
    "rows": int,
    "skipped": int,
}


@dataclass
class State:
    """How far a run has come: everything a resumed run needs."""

    seed: str
    summary: Flag | Histogram
    phase: str = "read"
    position: list[int] | None = None
    rows: int = 0
    skipped: int = 0

    def to_content(self, identity: str) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "id": identity,
            "seed": self.seed,
            "summary": type(self.summary).__name__,
            "bytes": base64.b64encode(self.summary.to_bytes()).decode(),
            "phase": self.phase,
            "position": self.position,
            "rows": self.rows,
            "skipped": self.skipped,
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> State:
        """Read the JSON form."""
        from flagstone.flag import Flag
        from flagstone.histogram import Histogram

        check_fields(content, _FIELDS)
        if content["phase"] not in ("read", "measure"):
            raise ValueError("it is in no phase of a run")
        if min(content["rows"], content["skipped"]) < 0:
            raise ValueError("it counts fewer rows than none")
        kind: Any = {"Flag": Flag, "Histogram": Histogram}[content["summary"]]
        summary = kind.from_bytes(base64.b64decode(content["bytes"]))
        return cls(
            content["seed"],
            summary,
            content["phase"],
            content["position"],
            content["rows"],
            content["skipped"],
        )


class LongRun:
    """One run over a table: resumed if its checkpoint says so.

    Parameters
    ----------
    options : RunOptions
    identity : mapping
        Everything the result depends on (files, options, outputs); a checkpoint of another
        run is refused. A function stands for its value, which only a checkpoint needs.
    """

    def __init__(self, options: RunOptions, identity: Mapping[str, Any]) -> None:
        self.path = None if options.checkpoint is None else Path(options.checkpoint)
        self.id = "" if self.path is None else _digest(identity)
        self._every = options.checkpoint_every
        self._shown = False if options.quiet else None
        self._warned = self._finished = False
        self._saved, self._kept = time.monotonic(), 0
        AT_END.push(self._say_how_to_resume)

    def resume(self, start: Flag | Histogram) -> State | None:
        """Return the state of an earlier run of the same command, or None.

        ``start`` is the summary that such a run begins with.
        """
        if self.path is None:
            return None
        from flagstone.models import read_document

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
            state = State.from_content(content)
            kept = state.summary
            if (type(kept), kept.field, kept.dim) != (type(start), start.field, start.dim):
                raise ValueError(f"it summarizes other rows, {kept!r}")
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{self.path}: damaged ({error}); remove it") from error
        if state.rows or state.phase != "read":
            tell(f"resuming after {counted(state.rows, 'row')}")
            self._kept = state.rows
        return state

    def save(self, state: State, *, must: bool = False) -> None:
        """Write the checkpoint; a full disk keeps the last one and is reported once."""
        if self.path is None:
            return
        from flagstone.models import write_document

        try:
            write_document(self.path, "checkpoint", state.to_content(self.id), overwrite=True)
            self._kept = state.rows
        except OSError as error:
            if must:
                raise
            if not self._warned:
                tell(
                    f"warning: {self.path}: the checkpoint could not be written "
                    f"({os.strerror(error.errno or 0)}); the last one is kept and the run goes on"
                )
                self._warned = True
        self._saved = time.monotonic()

    def finish(self) -> None:
        """Remove the checkpoint: everything it stood for is written."""
        self._finished = True
        if self.path is not None:
            Path(os.path.realpath(self.path)).unlink(missing_ok=True)

    def drive(
        self,
        state: State,
        batches: Batches,
        step: Callable[[EncodedBatch], None],
        total: int | None,
        n_files: int,
    ) -> None:
        """Feed every batch to ``step``, keeping state, progress and checkpoint in time.

        Only the first reading is resumed where it was stopped; of a later one nothing is saved.
        """
        resumable = state.phase == "read"
        word = {"read": "reading", "measure": "measuring"}[state.phase]
        with (
            held_signals() as held,
            contextlib.closing(batches),
            _progress(word, total, n_files, self._shown) as progress,
        ):
            for batch in batches:
                step(batch)
                state.rows += len(batch)
                state.skipped += batch.batch.skipped
                state.position = list(batch.after)
                progress(state.rows, batch)
                if held.number is not None:
                    break
                if resumable and time.monotonic() - self._saved >= self._every:
                    self.save(state)
            if resumable:
                self.save(state)

    def _say_how_to_resume(self, kind: object, error: object, trace: object) -> None:
        """Say what is kept when the verb ends because it was stopped."""
        if self._finished or not isinstance(error, KeyboardInterrupt):
            return
        text = "interrupted. With --checkpoint FILE a run can be resumed"
        if self.path is not None:
            text = (
                f"interrupted; {self.path} holds the state after {counted(self._kept, 'row')}. To "
                f"resume, run the same command again: {repeat_command(None)}"
            )
        raise Interrupted(text) from error


def _digest(identity: Mapping[str, Any]) -> str:
    # the number changes with what a position means, so that no old one is misread
    whole = {**identity, "positions": 3}
    text = json.dumps(whole, sort_keys=True, default=lambda function: function())
    return hashlib.sha256(text.encode()).hexdigest()


def watched(table: Table, batches: Batches, word: str) -> Iterator[EncodedBatch]:
    """Read batches ahead and pass them on, with a progress bar if somebody watches."""
    from flagstone.tables.ahead import ahead

    rows = 0
    with (
        contextlib.closing(ahead(batches)) as read,
        _progress(word, table.n_rows, len(table.files), None) as progress,
    ):
        for batch in read:
            yield batch
            rows += len(batch)
            progress(rows, batch)


@contextlib.contextmanager
def _progress(
    word: str, total: int | None, n_files: int, shown: bool | None
) -> Iterator[Callable[[int, EncodedBatch], None]]:
    """Show rows, rows per second and the time left on stderr, or nothing."""
    # Arrow would end a read in the middle at a signal; ours are met between two batches
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.enable_signal_handlers(False)
    started = time.monotonic()
    with progress_bar(word, shown) as show:
        first: list[int] = []  # a resumed run starts with rows that it did not read

        def update(rows: int, batch: EncodedBatch) -> None:
            first[:] = first or [rows]
            seconds = max(1e-9, time.monotonic() - started)
            share = rows / total if total else (batch.file + batch.batch.done) / n_files
            show(share, f"{rows:,} rows, {(rows - first[0]) / seconds:,.0f} rows/s")

        yield update
