"""The two readings of an answering verb, by this process: one to sum up, one to measure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from flagstone.cli.inputs import Source
from flagstone.cli.longrun import LongRun, State
from flagstone.cli.options import RunOptions
from flagstone.errors import InputError, Parameter

if TYPE_CHECKING:
    from flagstone.certification import Certification
    from flagstone.digests import Survey
    from flagstone.finding import Finding
    from flagstone.flag import Flag
    from flagstone.histogram import Histogram
    from flagstone.measurement import Measurement
    from flagstone.question import Question
    from flagstone.tables import EncodedBatch

__all__ = ["Alone"]


class Alone:
    """Reads row after row; a run that was stopped is resumed where it was.

    `flagstone.cli.crew.Together` does the same with many processes.

    Attributes
    ----------
    resumed : bool
        Whether an earlier run of the same command has left its state.
    seed : str
    notes : dict
        What is worth keeping of how rows were read.
    """

    def __init__(
        self,
        source: Source,
        question: Question,
        options: RunOptions,
        identity: Mapping[str, Any],
        seed: str,
        *,
        histogram: bool = False,
    ) -> None:
        from flagstone.flag import Flag
        from flagstone.histogram import Histogram

        self._source, self._question, self._options = source, question, options
        kind = Histogram if histogram else Flag
        if source.saved is not None:
            summary = source.saved.summary
        else:
            summary = kind(question.dim(len(source.encoding.names)), source.encoding.field)
        self._run = LongRun(options, identity)
        found = self._run.resume(summary)
        self.resumed = found is not None
        self._state = State(seed, summary) if found is None else found
        self.seed, self.notes = self._state.seed, dict[str, Any]()

    def read(self) -> tuple[Flag | Histogram, Measurement]:
        """Return the summary of all rows that count, and how many they are."""
        from flagstone.measurement import Measurement

        state, table = self._state, self._source.table
        if not self.resumed:
            self._run.save(state, must=True)
        if table is None:
            return state.summary, Measurement(state.summary.n_rows)
        take = getattr(self._options, "take", None)
        if state.phase == "read":
            encoding, field = self._source.encoding, self._source.encoding.field

            def step(batch: EncodedBatch) -> None:
                X, y = encoding.split(batch.rows)
                state.summary.update(self._question.lift(field, field.rows(X), y))

            total = table.n_rows if take is None else take
            self._run.drive(state, self._rows(state), step, total, len(table.files))
        if take is not None and state.rows < take:
            raise InputError(
                Parameter("take", take), f" asks for more rows than there are ({state.rows:,})"
            )
        if state.phase == "read":
            state.phase, state.position = "measure", None
            self._run.save(state)
        return state.summary, Measurement(state.rows, skipped=state.skipped)

    def again(self, finding: Finding, survey: Survey | None = None) -> Finding:
        """Read the rows again: certify, count what does not fit, and show them to a survey."""
        options: Any = self._options
        look, counted = self._look(finding, options.confidence, options.show_rows, survey)
        return dataclasses.replace(look.certified(), rows=counted)

    def second_look(self, finding: Finding, confidence: float) -> Certification:
        """Read the rows again, and return what they show."""
        return self._look(finding, confidence, 0)[0]

    def _look(
        self, finding: Finding, confidence: float, shown: int, survey: Survey | None = None
    ) -> tuple[Certification, Measurement]:
        """Read the rows again, and return what they show.

        A run that was stopped here begins the second reading again: pieces of rows certify, and a
        piece must not begin where somebody stopped.
        """
        from flagstone.certification import Certification
        from flagstone.measurement import Measurement
        from flagstone.road import look
        from flagstone.tables.counting import measured

        table, encoding, n_rows = self._source.table, self._source.encoding, self._state.rows
        certification = Certification(finding, confidence=confidence)
        assert table is not None
        total = Measurement(0, 0, 0)

        def step(batch: EncodedBatch) -> None:
            nonlocal total
            X, y = encoding.split(batch.rows)
            outside, wrong = look(finding, encoding.field.rows(X), y, certification)
            total += measured(batch, outside, wrong, shown - len(total.places))
            if survey is not None:
                survey.update(encoding.field.array(X), wrong)

        state = dataclasses.replace(self._state, rows=0)
        self._run.drive(state, self._rows(), step, n_rows, len(table.files))
        return certification, total

    def finish(self) -> None:
        """Forget the state: everything it stood for is written."""
        self._run.finish()

    def _rows(self, state: State | None = None) -> Iterator[EncodedBatch]:
        """Return the rows that count, from the beginning or from where a run was stopped."""
        from flagstone.tables.choosing import first_rows, without_repeats

        assert self._source.table is not None
        position = None if state is None else state.position
        batches = self._source.table.rows(self._source.encoding, position)
        if getattr(self._options, "deduplicate_runs", False):
            batches = without_repeats(batches)
        if (take := getattr(self._options, "take", None)) is not None:
            batches = first_rows(batches, take - (0 if state is None else state.rows))
        return batches
