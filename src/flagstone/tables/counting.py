"""What a finding makes of the rows of a table: how many break it, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from flagstone.finding import Finding
from flagstone.measurement import Measurement
from flagstone.road import look
from flagstone.tables.batches import Array
from flagstone.tables.table import EncodedBatch

__all__ = ["count_rows", "measured"]


def measured(
    batch: EncodedBatch, outside: Array | None, wrong: Array | None, most: int
) -> Measurement:
    """Return the counts of one batch, and the places of the first misfits."""
    places = [] if wrong is None else batch.places(wrong, most)
    return Measurement(
        len(batch),
        None if outside is None else int(outside.sum()),
        None if wrong is None else int(wrong.sum()),
        batch.batch.skipped,
        tuple((str(file), row, line) for file, row, line in places),
    )


def count_rows(
    finding: Finding, batches: Iterable[EncodedBatch], shown: int
) -> tuple[Measurement, Array | None]:
    """Count the rows that break a finding and, where rows have no label, each of its equations."""
    encoding, answer = finding.encoding, finding.answer
    total = Measurement(0, None if finding.subspace is None else 0, 0)
    plain = not finding.question.labelled
    broken = np.zeros(len(answer.lines), dtype=np.int64) if plain else None
    for batch in batches:
        X, y = encoding.split(batch.rows)
        outside, wrong = look(finding, encoding.field.rows(X), y)
        assert wrong is not None
        total += measured(batch, outside, wrong, shown - len(total.places))
        if broken is not None and wrong.any():
            broken += (answer.syndrome(X[wrong]) != 0).sum(axis=0)  # type: ignore[attr-defined]
    return total, broken
