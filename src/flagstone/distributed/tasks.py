"""What workers do: pure functions of one partition, or of two results.

A task reads its own rows, keeps a few flags of them, and returns these: nothing else moves between
machines. Results merge along the fixed tree over partition numbers (`flagstone.flag.merge_tree`),
so who computed what, and when, leaves no trace.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from flagstone._version import __version__
from flagstone.certificates import Certifier, pilot_rows
from flagstone.certification import SecondLook
from flagstone.digests import Survey
from flagstone.disk import check_fields
from flagstone.encoding import Encoding
from flagstone.errors import InputError
from flagstone.fields import Array, Rows
from flagstone.finding import Finding
from flagstone.flag import Flag
from flagstone.histogram import Histogram
from flagstone.measurement import Measurement
from flagstone.question import Question
from flagstone.road import look
from flagstone.tables import EncodedBatch, Table
from flagstone.tables.batches import Reader
from flagstone.tables.choosing import first_rows, without_repeats
from flagstone.tables.counting import count_rows, measured
from flagstone.tables.memory import MemoryReader


@dataclass(frozen=True)
class Job:
    """What is asked of every partition alike."""

    question: Question
    encoding: Encoding
    histogram: bool = False
    pilot: bool = True
    deduplicate: bool = False
    version: str = __version__

    def empty(self) -> Flag | Histogram:
        """The summary of no rows."""
        kind = Histogram if self.histogram else Flag
        return kind(self.question.dim(len(self.encoding.names)), self.encoding.field)

    def batches(self, reader: Reader, limit: int | None) -> Iterator[EncodedBatch]:
        """The rows that count, encoded."""
        if self.version != __version__:
            raise InputError(
                f"{_here()} has flagstone {__version__}, but {self.version} asks; install one "
                "version everywhere"
            )
        batches = Table([reader]).rows(self.encoding, may_be_empty=True)
        if self.deduplicate:
            batches = without_repeats(batches)
        return batches if limit is None else first_rows(batches, limit)

    def lifted(self, batch: EncodedBatch) -> Rows:
        """The rows of a batch with what the question adds to them."""
        return self.question.lift(self.encoding.field, batch.rows, batch.labels)


def _here() -> str:
    """Return what to call the process that runs a task."""
    try:
        from distributed import get_worker

        return f"worker {get_worker().address}"
    except (ImportError, ValueError):
        return "this process"


@dataclass(frozen=True)
class Leaf:
    """The summary of one partition, or of several put together.

    Attributes
    ----------
    summary, pilot : Flag or Histogram
        Of all rows; of the first tenth of each partition (None if nobody asked for it).
    sizes : tuple of int
        The rows of each partition, in order.
    skipped : int
        Frames of another length.
    labels : Counter or None
        How often each element was a label.
    """

    summary: Flag | Histogram
    pilot: Flag | Histogram | None
    sizes: tuple[int, ...]
    skipped: int = 0
    labels: Counter[Any] | None = None

    def merge(self, other: Leaf) -> Leaf:
        """Return both together; ``other`` comes after."""
        mine: Any = self.summary
        pilot: Any = self.pilot
        return Leaf(
            mine.merge(other.summary),
            None if pilot is None else pilot.merge(other.pilot),
            self.sizes + other.sizes,
            self.skipped + other.skipped,
            None if self.labels is None else self.labels + (other.labels or Counter()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        pilot = None if self.pilot is None else _text(self.pilot)
        labels = None if self.labels is None else [[str(v), n] for v, n in self.labels.items()]
        return {
            "summary": _text(self.summary),
            "pilot": pilot,
            "sizes": list(self.sizes),
            "skipped": self.skipped,
            "labels": labels,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], job: Job) -> Leaf:
        """Read what `to_dict` wrote; ValueError for anything that is no leaf of this job."""
        fields = {"summary": str, "pilot": str | None, "sizes": list, "skipped": int}
        check_fields(values, {**fields, "labels": list | None})
        like = job.empty()
        texts = [values["summary"], *([] if values["pilot"] is None else [values["pilot"]])]
        found = [type(like).from_bytes(base64.b64decode(text)) for text in texts]
        if any((part.field, part.dim) != (like.field, like.dim) for part in found):
            raise ValueError("it summarizes other rows")
        number: Any = int if like.field.order else Fraction
        labels = values["labels"]
        return cls(
            found[0],
            found[1] if len(found) > 1 else None,
            tuple(int(n) for n in values["sizes"]),
            values["skipped"],
            None if labels is None else Counter({number(v): int(n) for v, n in labels}),
        )


def _text(summary: Flag | Histogram) -> str:
    return base64.b64encode(summary.to_bytes()).decode()


def reader_of(rows: Any, name: str, label: Any = None) -> Reader:
    """Return what reads a partition: a file's own reader, or one of rows in memory."""
    return rows if hasattr(rows, "batches") else MemoryReader.of(rows, name, label)


def read_rows(job: Job, name: str, rows: Any, label: Any = None, limit: int | None = None) -> Leaf:
    """Summarize one partition."""
    reader = reader_of(rows, name, label)
    summary, pilot = job.empty(), job.empty()
    labels: Counter[Any] | None = Counter() if job.question.labelled else None
    skipped = 0
    known = None if job.deduplicate else reader.n_rows if limit is None else limit
    n_pilot = 0 if known is None else pilot_rows(known)
    for batch in job.batches(reader, limit):
        lifted = job.lifted(batch)
        summary.update(lifted)
        skipped += batch.batch.skipped
        if job.pilot and pilot.n_rows < n_pilot:
            pilot.update(lifted[: n_pilot - pilot.n_rows])
        if labels is not None and batch.labels is not None:
            labels.update(_tally(batch.labels))
    if job.pilot and known is None and summary.n_rows:
        # only now it is known how many rows are a tenth of them
        n_pilot = pilot_rows(summary.n_rows)
        for batch in first_rows(job.batches(reader, limit), n_pilot):
            pilot.update(job.lifted(batch))
    return Leaf(summary, pilot if job.pilot else None, (summary.n_rows,), skipped, labels)


def head(job: Job, name: str, rows: Any, label: Any, n_rows: int) -> Array:
    """Return the features of the first rows of a partition."""
    batches = job.batches(reader_of(rows, name, label), n_rows)
    found = [batch.matrix for batch in batches]
    width = len(job.encoding.names)
    return np.concatenate([np.zeros((0, width), dtype=job.encoding.field.dtype), *found])


def _tally(elements: Array) -> dict[Any, int]:
    """How often each element occurs."""
    if elements.dtype == object or not len(elements):
        return Counter(elements.tolist())
    counts = np.bincount(elements.astype(np.int64))
    return {int(value): int(counts[value]) for value in np.flatnonzero(counts)}


@dataclass(frozen=True)
class Seen:
    """What the rows of one partition, or of several, showed when they were read again."""

    look: SecondLook
    counted: Measurement
    shown: int
    survey: Survey | None = None

    def merge(self, other: Seen) -> Seen:
        """Return both together; ``other`` comes after."""
        counted = (self.counted + other.counted).first(self.shown)
        survey = None
        if self.survey is not None and other.survey is not None:
            survey = self.survey.fresh()
            survey.add(self.survey)
            survey.add(other.survey)
        return Seen(self.look.merge(other.look), counted, self.shown, survey)

    def certified(self, finding: Finding, confidence: float, sizes: Sequence[int]) -> Finding:
        """Return the finding with what all partitions, of these sizes, show together."""
        piece = 0 if self.look.certifier is None else self.look.certifier.piece_rows
        short = sum(0 < n and n - pilot_rows(n) < piece for n in sizes)
        notes = {**finding.provenance.get("partitions", {}), "short": short}
        return replace(
            self.look.certify(finding, confidence),
            rows=self.counted,
            provenance={**finding.provenance, "partitions": notes},
        )


def look_again(
    job: Job,
    finding: Finding,
    certifier: Certifier | None,
    survey: Survey | None,
    name: str,
    rows: Any,
    label: Any,
    n_rows: int,
    shown: int,
) -> Seen:
    """Read the rows of a partition again: certify, count what does not fit and say where."""
    survey = None if survey is None else survey.fresh()
    again = SecondLook(finding, certifier, pilot_rows(n_rows))
    total = Measurement(0, 0, 0)
    for batch in job.batches(reader_of(rows, name, label), n_rows):
        seen = look(finding, batch.rows, batch.labels, again)
        total += measured(finding, batch, seen, shown - len(total.places))
        if survey is not None:
            survey.update(batch.matrix, seen.wrong)
    if total.read != n_rows:
        raise InputError(f"{name}: it had {n_rows:,} rows, and has {total.read:,} now")
    return Seen(again, total, shown, survey)


def check_rows(
    job: Job, finding: Finding, name: str, rows: Any, label: Any, shown: int
) -> tuple[Measurement, Array | None]:
    """Count the rows of a partition that break a finding and, if there are any, each equation."""
    return count_rows(finding, job.batches(reader_of(rows, name, label), None), shown)


def predict_rows(job: Job, finding: Finding, name: str, rows: Any) -> Array:
    """Predict a partition: the texts that stand for the elements."""
    found: list[str] = []
    for batch in job.batches(reader_of(rows, name), None):
        elements = finding.question.predict(finding.answer, batch.rows)
        found += finding.encoding.decoded(elements)
    return np.array(found, dtype=object)
