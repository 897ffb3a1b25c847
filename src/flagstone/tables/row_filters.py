"""Which rows of a table count: so many of the first, or one of each run of equal rows."""

from __future__ import annotations

from collections.abc import Iterator

from flagstone.certificates.serial_dependence import first_of_runs
from flagstone.tables.batches import Array
from flagstone.tables.encoded import Batches, EncodedBatch


def first_rows(batches: Iterator[EncodedBatch], n_rows: int) -> Batches:
    """Pass on the first rows; no batch after them is read."""
    left = n_rows
    while left > 0 and (batch := next(batches, None)) is not None:
        yield batch if len(batch) <= left else batch.chosen(slice(left))
        left -= len(batch)


def without_repeats(batches: Iterator[EncodedBatch]) -> Batches:
    """Pass on the first row of each run of equal rows, across the ends of batches, too."""
    last: Array | None = None
    for batch in batches:
        if not len(batch):
            continue
        rows = batch.packed
        first = first_of_runs(rows)
        first[0] = last is None or bool((rows[0] != last).any())
        last = rows[-1].copy()
        yield batch.chosen(first)
