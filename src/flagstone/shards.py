"""One shard of the rows: how it is summarized, passed over a second time, checked and predicted.

Pure functions of a task, a shard, and what is known of it. An executor decides where and when they
run; their results merge along the fixed tree over shard numbers (`merge_tree`), so who computed
what, and when, leaves no trace.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np

from flagstone.algebra import Array, Flag, Rows, chunks
from flagstone.certificates import Certifier, pilot_rows
from flagstone.disk import check_fields
from flagstone.encoding import Encoding
from flagstone.errors import InputError, Parameter
from flagstone.finding import Finding
from flagstone.measurement import Measurement, RowStatus, classify_rows, predict
from flagstone.question import Question
from flagstone.second_pass import SecondPass, StreamCertification


class RowBatch(Protocol):
    """Some consecutive rows over the field, in its internal form."""

    @property
    def rows(self) -> Rows:
        """The features."""

    @property
    def labels(self) -> Array | None:
        """The elements of the label, if there is one."""

    @property
    def skipped(self) -> int:
        """How many rows were left out on request."""

    @property
    def matrix(self) -> Array:
        """The rows as a plain matrix of elements, the label (if any) last."""

    def __len__(self) -> int: ...

    def chosen(self, rows: Any) -> Self:
        """Return some of the rows, by a mask or a slice."""

    def places(self, mask: Array, most: int) -> list[list[Any]]:
        """Return [file, row, line] of the first marked rows."""


class Shard(Protocol):
    """Rows that belong together: a file, a part of one, a block of a collection, or everything."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, if that is known before they are read."""

    @property
    def limit(self) -> int | None:
        """How many of the rows that count are used, the first ones; None for all."""

    def batches(self, task: ShardTask, limit: int | None = None) -> Generator[Any, None, None]:
        """Yield the rows that count, encoded (each a `RowBatch`): all, or the first few."""

    def limited(self, n_rows: int, *, counted: bool = True) -> Shard:
        """Return the shard of the first rows, this many of them.

        ``counted`` says that there are as many; otherwise that shows when they are read.
        """


@dataclass(frozen=True)
class ShardTask:
    """What is asked of every shard alike.

    Attributes
    ----------
    question : Question
    encoding : Encoding
    pilot : bool
        Whether the first pass summarizes the first tenth of each shard, too: with several shards,
        the second pass needs all pilots before it begins.
    deduplicate : bool
        Whether equal rows that follow each other count once.
    """

    question: Question
    encoding: Encoding
    pilot: bool = True
    deduplicate: bool = False

    def empty(self) -> Flag:
        """The flag of no rows."""
        return Flag(self.question.dim(len(self.encoding.names)), self.encoding.field)

    def known_rows(self, n_rows: int | None) -> int | None:
        """How many rows of a shard count, of which it says that it has ``n_rows``.

        None where that shows only when they are read.
        """
        encoding = self.encoding
        drops = encoding.drop_missing or any(e.holds_frames for e in encoding.encoders)
        return None if self.deduplicate or drops else n_rows

    def lifted(self, batch: RowBatch) -> Rows:
        """The rows of a batch with what the question adds to them."""
        return self.question.lift(self.encoding.field, batch.rows, batch.labels)


@dataclass(frozen=True)
class MemoryBatch:
    """Rows in memory, without a file."""

    rows: Rows
    labels: Array | None
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def matrix(self) -> Array:
        """The rows as a plain matrix of elements, the label (if any) last."""
        rows: Any = self.rows
        features = rows.unpack() if hasattr(rows, "unpack") else rows
        return features if self.labels is None else np.column_stack([features, self.labels])

    def chosen(self, rows: Any) -> MemoryBatch:
        """Return some of the rows, by a mask or a slice."""
        labels = None if self.labels is None else self.labels[rows]
        return MemoryBatch(self.rows[rows], labels)

    def places(self, mask: Array, most: int) -> list[list[Any]]:
        """Return nothing: they have no file."""
        return []


@dataclass(frozen=True)
class MemoryShard:
    """Rows over the field that are in memory, in its internal form, and their labels."""

    rows: Rows
    labels: Array | None = None
    name: str = "these rows"
    limit: int | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def batches(
        self, task: ShardTask, limit: int | None = None
    ) -> Generator[MemoryBatch, None, None]:
        """Yield slices of the rows."""
        whole = MemoryBatch(self.rows, self.labels).chosen(slice(limit))
        for piece in chunks(*whole.rows.shape):
            yield whole.chosen(piece)

    def limited(self, n_rows: int, *, counted: bool = True) -> MemoryShard:
        """Return the shard of the first rows, this many of them."""
        return replace(self, limit=n_rows)


@dataclass(frozen=True)
class ShardSummary:
    """What the first pass keeps of one shard, or of several merged ones.

    The flags of all rows and, if it was asked for, of the first tenth of each shard (``pilot``);
    the rows of each shard in order; frames of another length; how often each element was a label.
    """

    summary: Flag
    pilot: Flag | None
    sizes: tuple[int, ...]
    skipped: int = 0
    labels: Counter[Any] | None = None

    def merge(self, other: ShardSummary) -> ShardSummary:
        """Return both together; ``other`` comes after."""
        pilot: Any = self.pilot
        return ShardSummary(
            self.summary.merge(other.summary),
            None if pilot is None else pilot.merge(other.pilot),
            self.sizes + other.sizes,
            self.skipped + other.skipped,
            None if self.labels is None else self.labels + (other.labels or Counter()),
        )

    def notes(self, encoding: Encoding) -> dict[str, Any]:
        """What a finding keeps: how many shards there are and how long, and the labels."""
        filled = [n for n in self.sizes if n]
        number, empty = len(self.sizes), len(self.sizes) - len(filled)
        lengths = {"shortest": min(filled), "longest": max(filled)}
        notes: dict[str, Any] = {"partitions": {"number": number, "empty": empty, **lengths}}
        if self.labels is not None:
            values = sorted(self.labels.items())
            notes["labels"] = [[encoding.field.format(value), n] for value, n in values]
        return notes

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
    def from_dict(cls, values: Mapping[str, Any], task: ShardTask) -> ShardSummary:
        """Read what `to_dict` wrote; ValueError if it is not a summary for this task."""
        fields = {"summary": str, "pilot": str | None, "sizes": list, "skipped": int}
        check_fields(values, {**fields, "labels": list | None})
        like = task.empty()
        texts = [values["summary"], *([] if values["pilot"] is None else [values["pilot"]])]
        found = [type(like).from_bytes(base64.b64decode(text, validate=True)) for text in texts]
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


def _text(summary: Flag) -> str:
    return base64.b64encode(summary.to_bytes()).decode()


def _tally(elements: Array) -> dict[Any, int]:
    """How often each element occurs."""
    if elements.dtype == object or not len(elements):
        return Counter(elements.tolist())
    counts = np.bincount(elements.astype(np.int64))
    return {int(value): int(counts[value]) for value in np.flatnonzero(counts)}


def too_few(asked: int, found: int) -> InputError:
    """Return the error for fewer rows than requested."""
    return InputError(
        Parameter("max_rows", asked), f" asks for more rows than there are ({found:,})"
    )


def _check_count(shard: Shard, wanted: int, found: int) -> None:
    if found != wanted:
        if shard.n_rows != wanted:  # this many were asked for, without counting first
            raise too_few(wanted, found)
        raise InputError(f"{shard.name}: it had {wanted:,} rows, and has {found:,} now")


def count_shard(task: ShardTask, shard: Shard, *, most: int) -> int:
    """Count the rows of a shard that count, up to this many."""
    with closing(shard.batches(task, most)) as batches:
        return sum(map(len, batches))


def add_rows(
    flag: Flag,
    question: Question,
    rows: Rows,
    labels: Array | None = None,
    weights: Array | None = None,
    stream: StreamCertification | None = None,
) -> None:
    """Summarize rows in memory into a flag, and certify a stream of them on the way."""
    for piece in chunks(*rows.shape):
        lifted = question.lift(flag.field, rows[piece], None if labels is None else labels[piece])
        if stream is None:
            flag.update(lifted, None if weights is None else weights[piece])
            continue
        for part in stream.parts(flag.n_rows, lifted):
            flag.update(part)
            stream.update(part, flag)


def summarize_shard(
    task: ShardTask, shard: Shard, begun: ShardSummary | None = None
) -> ShardSummary:
    """Summarize one shard.

    A summary that an earlier run has ``begun`` is gone on with, in place: the shard then yields the
    rows that come after.
    """
    summary = task.empty() if begun is None else begun.summary
    pilot = task.empty()
    labels: Counter[Any] | None = Counter() if task.question.labelled else None
    skipped, limit = 0 if begun is None else begun.skipped, shard.limit
    known = task.known_rows(shard.n_rows) if limit is None else limit
    n_pilot = 0 if known is None else pilot_rows(known)
    with closing(shard.batches(task, limit)) as batches:
        for batch in batches:
            lifted = task.lifted(batch)
            summary.update(lifted)
            skipped += batch.skipped
            if task.pilot and pilot.n_rows < n_pilot:
                pilot.update(lifted[: n_pilot - pilot.n_rows])
            if labels is not None and batch.labels is not None:
                labels.update(_tally(batch.labels))
    if limit is not None:
        _check_count(shard, limit, summary.n_rows)
    if task.pilot and known is None and summary.n_rows:
        # only now it is known how many rows are a tenth of them
        with closing(shard.batches(task, pilot_rows(summary.n_rows))) as batches:
            for batch in batches:
                pilot.update(task.lifted(batch))
    return ShardSummary(summary, pilot if task.pilot else None, (summary.n_rows,), skipped, labels)


@dataclass(frozen=True)
class ShardReview:
    """What a second pass counts in one shard, or in several merged ones.

    ``counted`` says how many rows do not fit, and where the first ``shown`` of them are. Where rows
    of the fit certify, ``second_pass`` says what; where other rows are checked, ``broken`` counts
    those that break each equation.
    """

    counted: Measurement
    shown: int
    second_pass: SecondPass | None = None
    broken: Array | None = None

    def merge(self, other: ShardReview) -> ShardReview:
        """Return both together; ``other`` comes after."""
        counted = (self.counted + other.counted).first(self.shown)
        both, broken = self.second_pass, self.broken
        if both is not None and other.second_pass is not None:
            both = both.merge(other.second_pass)
        if broken is not None and other.broken is not None:
            broken = broken + other.broken
        return ShardReview(counted, self.shown, both, broken)


def review_shard(
    task: ShardTask,
    shard: Shard,
    n_rows: int,
    n_before: int,
    *,
    finding: Finding,
    certifier: Certifier | None,
    shown: int,
    alone: float | None,
) -> ShardReview:
    """Read the rows of a shard again: certify, count rows that do not fit, say where they are.

    The first pass has read ``n_rows`` here, and ``n_before`` in the shards before. The pilots of
    all shards have planned the ``certifier``; the only shard has none yet, and plans its
    certificate on the way, at the confidence ``alone``. At most ``shown`` rows that do not fit are
    listed.
    """
    if alone is None:
        second_pass = SecondPass(finding, certifier, pilot_rows(n_rows), n_before)
    else:
        second_pass = SecondPass.of_all_rows(finding, confidence=alone)
    total = Measurement(0, 0, 0)
    with closing(shard.batches(task, shard.limit)) as batches:
        for batch in batches:
            status = classify_rows(finding, batch.rows, batch.labels, second_pass)
            total += _measure_batch(finding, batch, status, shown - len(total.places))
    if total.read != n_rows:
        raise InputError(f"{shard.name}: it had {n_rows:,} rows, and has {total.read:,} now")
    return ShardReview(total, shown, second_pass)


def check_shard(task: ShardTask, shard: Shard, *, finding: Finding, shown: int) -> ShardReview:
    """Count the rows of a shard that break a finding and, without labels, each equation."""
    answer: Any = finding.answer
    total = Measurement(0, None if finding.subspace is None else 0, 0)
    plain = not finding.question.labelled
    broken = np.zeros(len(finding.checks), dtype=np.int64) if plain else None
    with closing(shard.batches(task, shard.limit)) as batches:
        for batch in batches:
            status = classify_rows(finding, batch.rows, batch.labels)
            assert status.wrong is not None
            total += _measure_batch(finding, batch, status, shown - len(total.places))
            if broken is not None and status.wrong.any():
                rows = batch.rows[status.wrong]
                if finding.news is None:
                    broken += (answer.syndrome(rows) != 0).sum(axis=0)
                else:
                    X = finding.field.array(rows)
                    broken += finding.news.broken(finding.field, X).sum(axis=0)
    if shard.limit is not None:
        _check_count(shard, shard.limit, total.read)
    return ShardReview(total, shown, broken=broken)


def _measure_batch(finding: Finding, batch: RowBatch, status: RowStatus, most: int) -> Measurement:
    """Return the counts of one batch, and the first misfits with their places."""
    outside, wrong = status.outside, status.wrong
    places = [] if wrong is None else batch.places(wrong, most)
    shown: Array | list[int] = [] if wrong is None else wrong.nonzero()[0][: len(places)]
    return Measurement(
        len(batch),
        None if outside is None else int(outside.sum()),
        None if wrong is None else int(wrong.sum()),
        batch.skipped,
        tuple((str(file), row, line) for file, row, line in places),
        tuple(finding.field.texts(batch.chosen(shown).matrix)) if places else (),
        status.levels(finding),
    )


def predict_task(finding: Finding) -> ShardTask:
    """Return what is asked of every shard that is predicted: rows without their label."""
    return ShardTask(finding.question, finding.encoding.without_label())


def predict_shard(task: ShardTask, shard: Shard, *, finding: Finding) -> Array:
    """Predict a shard: the texts of the elements."""
    found: list[str] = []
    with closing(shard.batches(task, shard.limit)) as batches:
        for batch in batches:
            found += finding.encoding.decoded(predict(finding, batch.rows))
    if shard.limit is not None:
        _check_count(shard, shard.limit, len(found))
    return np.array(found, dtype=object)
