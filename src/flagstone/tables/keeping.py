"""Keeping rows: what was read once need not be read again, where memory allows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flagstone.bitrows import BitRows
from flagstone.tables.encoded import EncodedBatch

#: Memory for rows that are looked at twice.
KEPT_BYTES = 256_000_000
#: What stands behind a pointer to a rational: a fraction and its two integers.
_OBJECT = 16


class Kept:
    """Batches, packed as they are, while all of them fit into so many bytes.

    One that does not fit, and all those before it are let go: half of a table saves nobody a
    second reading.

    >>> kept = Kept(0)
    >>> kept.whole, len(kept)
    (True, 0)
    """

    def __init__(self, n_bytes: int = KEPT_BYTES) -> None:
        self._room = n_bytes
        self._batches: list[EncodedBatch] = []
        self.whole = True

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[EncodedBatch]:
        return iter(self._batches)

    def add(self, batch: EncodedBatch) -> None:
        """Keep the batch that comes after those so far."""
        if not self.whole:
            return
        self._room -= _size(batch)
        self._batches.append(batch)
        if self._room < 0:
            self.whole = False
            self._batches.clear()


def _size(batch: EncodedBatch) -> int:
    """Return what a batch takes in memory, near enough."""
    rows = batch.rows.words if isinstance(batch.rows, BitRows) else batch.rows
    parts = [rows, batch.labels, batch.index, batch.batch.lines]
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    return sum(part.nbytes * (_OBJECT if part.dtype == object else 1) for part in arrays)
