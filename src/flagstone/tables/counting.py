"""What a finding makes of the rows of a table: how many break it, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from flagstone.finding import Finding
from flagstone.measurement import Measurement
from flagstone.road import Seen, look
from flagstone.tables.batches import Array
from flagstone.tables.encoded import EncodedBatch


def measured(finding: Finding, batch: EncodedBatch, seen: Seen, most: int) -> Measurement:
    """Return the counts of one batch, and the first misfits with their places."""
    outside, wrong = seen.outside, seen.wrong
    places = [] if wrong is None else batch.places(wrong, most)
    shown: Array | list[int] = [] if wrong is None else wrong.nonzero()[0][: len(places)]
    return Measurement(
        len(batch),
        None if outside is None else int(outside.sum()),
        None if wrong is None else int(wrong.sum()),
        batch.batch.skipped,
        tuple((str(file), row, line) for file, row, line in places),
        tuple(finding.field.texts(batch.chosen(shown).matrix)) if places else (),
        seen.levels(finding),
    )


def count_rows(
    finding: Finding, batches: Iterable[EncodedBatch], shown: int
) -> tuple[Measurement, Array | None]:
    """Count the rows that break a finding and, where rows have no label, each of its equations."""
    answer = finding.answer
    total = Measurement(0, None if finding.subspace is None else 0, 0)
    plain = not finding.question.labelled
    broken = np.zeros(len(answer.lines), dtype=np.int64) if plain else None
    for batch in batches:
        seen = look(finding, batch.rows, batch.labels)
        assert seen.wrong is not None
        total += measured(finding, batch, seen, shown - len(total.places))
        if broken is not None and seen.wrong.any():
            broken += (answer.syndrome(batch.rows[seen.wrong]) != 0).sum(axis=0)  # type: ignore[attr-defined]
    return total, broken
