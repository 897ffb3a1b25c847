"""RowCache: what was read once need not be read again, where memory allows."""

from __future__ import annotations

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.tables.encoded import EncodedBatch

#: Memory for rows that are looked at twice.
CACHE_BYTES = 256_000_000
#: What stands behind a pointer to a rational: a fraction and its two integers.
_OBJECT = 16


class RowCache:
    """Batches of each shard, packed as they are, while all of them fit into so many bytes.

    When one does not fit, all are dropped: half of a table does not save a second reading.

    >>> cache = RowCache(0)
    >>> cache.whole, len(cache)
    (True, 0)
    """

    def __init__(self, n_bytes: int = CACHE_BYTES) -> None:
        self._room = n_bytes
        self._batches: dict[int, list[EncodedBatch]] = {}
        self.whole = True

    def __len__(self) -> int:
        return sum(map(len, self._batches.values()))

    def of(self, shard: int = 0) -> list[EncodedBatch] | None:
        """Return the batches of a shard; None where they must be read."""
        return self._batches.get(shard) if self.whole else None

    def add(self, batch: EncodedBatch, shard: int = 0) -> None:
        """Keep the batch that comes after those of this shard so far."""
        if not self.whole:
            return
        self._room -= _size(batch)
        self._batches.setdefault(shard, []).append(batch)
        if self._room < 0:
            self.whole = False
            self._batches.clear()


def _size(batch: EncodedBatch) -> int:
    """Return what a batch takes in memory, near enough."""
    rows = batch.rows.words if isinstance(batch.rows, BitRows) else batch.rows
    parts = [rows, batch.labels, batch.index, batch.batch.lines]
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    return sum(part.nbytes * (_OBJECT if part.dtype == object else 1) for part in arrays)
