"""The two readings of an answering verb, by this process: one to sum up, one to measure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flagstone.cli.inputs import Source
from flagstone.cli.longrun import LongRun, State
from flagstone.cli.options import RunOptions
from flagstone.cli.words import size_of
from flagstone.errors import InputError, Parameter

if TYPE_CHECKING:
    from flagstone.captures import Capture
    from flagstone.certification import Certification
    from flagstone.digests import Survey
    from flagstone.fields import Rows
    from flagstone.finding import Finding
    from flagstone.flag import Flag
    from flagstone.histogram import Histogram
    from flagstone.measurement import Measurement
    from flagstone.question import Question
    from flagstone.tables import EncodedBatch
    from flagstone.tables.encoded import Batches


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
        again: bool = True,
    ) -> None:
        from flagstone.flag import Flag
        from flagstone.histogram import Histogram
        from flagstone.tables.keeping import KEPT_BYTES, Kept

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
        room = size_of("--keep", options.keep, least=0) if options.keep else KEPT_BYTES
        self._kept = Kept(room if again else 0)
        if self._state.position is not None or self._state.phase != "read":
            self._kept.whole = False  # rows of an earlier run are behind us

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
            field = self._source.encoding.field

            def step(batch: EncodedBatch) -> None:
                self._kept.add(batch)
                state.summary.update(self._question.lift(field, batch.rows, batch.labels))

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

    def again(
        self, finding: Finding, survey: Survey | None = None, capture: Capture | None = None
    ) -> Finding:
        """Go through the rows again: certify, count misfits, show them to who wants to see."""
        options: Any = self._options
        look, counted = self._look(finding, options.confidence, options.kept_rows, survey, capture)
        return dataclasses.replace(look.certified(), rows=counted)

    def second_look(self, finding: Finding, confidence: float) -> Certification:
        """Read the rows again, and return what they show."""
        return self._look(finding, confidence, 0)[0]

    def _look(
        self,
        finding: Finding,
        confidence: float,
        shown: int,
        survey: Survey | None = None,
        capture: Capture | None = None,
    ) -> tuple[Certification, Measurement]:
        """Go through the rows again, kept ones or read anew, and return what they show.

        A run that was stopped here begins the second reading again: pieces of rows certify, and a
        piece must not begin where somebody stopped.
        """
        from flagstone.certification import Certification
        from flagstone.measurement import Measurement
        from flagstone.road import look
        from flagstone.tables.counting import measured

        table, n_rows = self._source.table, self._state.rows
        certification = Certification(finding, confidence=confidence)
        assert table is not None
        total = Measurement(0, 0, 0)

        def step(batch: EncodedBatch) -> None:
            nonlocal total
            seen = look(finding, batch.rows, batch.labels, certification)
            total += measured(finding, batch, seen, shown - len(total.places))
            if survey is None and capture is None:
                return
            X = batch.matrix  # these have no labels
            if survey is not None:
                survey.update(X, seen.wrong)
            if capture is not None and seen.wrong is not None:
                capture.update(X, seen.wrong, batch.places)

        state = dataclasses.replace(self._state, rows=0)
        self._run.drive(state, self._once_more(), step, n_rows, len(table.files))
        return certification, total

    def sample(self, most: int) -> Rows | None:
        """Return lifted rows, so many at most, evenly spread over all."""
        field, rows = self._source.encoding.field, 0
        stride, parts = -(-self._state.rows // most), []
        for batch in self._once_more():
            some = slice(-rows % stride, None, stride)
            labels = None if batch.labels is None else batch.labels[some]
            parts.append(field.array(self._question.lift(field, batch.rows[some], labels)))
            rows += len(batch.rows)
        return field.rows(np.concatenate(parts)) if parts else None

    def show(self, survey: Survey) -> None:
        """Show the rows to a survey once more."""
        for batch in self._once_more() if self._source.table is not None else ():
            survey.update(batch.matrix)

    def _once_more(self) -> Batches:
        return (batch for batch in self._kept) if self._kept.whole else self._rows()

    def finish(self) -> None:
        """Forget the state: everything it stood for is written."""
        self._run.finish()

    def _rows(self, state: State | None = None) -> Batches:
        """Read the rows that count, from the beginning or from where a run was stopped."""
        from flagstone.tables.ahead import ahead
        from flagstone.tables.choosing import first_rows, without_repeats

        assert self._source.table is not None
        position = None if state is None else state.position
        batches = self._source.table.rows(self._source.encoding, position)
        if getattr(self._options, "deduplicate_runs", False):
            batches = without_repeats(batches)
        if (take := getattr(self._options, "take", None)) is not None:
            batches = first_rows(batches, take - (0 if state is None else state.rows))
        return ahead(batches)
