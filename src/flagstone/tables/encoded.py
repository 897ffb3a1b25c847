"""Encoded batches: rows over a field, each with its place in a file.

`first_rows` and `without_repeats` say which rows of a table count; `prefetch` reads the next rows
while the last ones are counted; `RowCache` keeps those that are read twice.
"""

from __future__ import annotations

import dataclasses
import queue
import threading
from collections.abc import Generator, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np

from flagstone.algebra import BitRows
from flagstone.certificates import first_of_runs
from flagstone.shards import MemoryBatch
from flagstone.tables.batches import Array, Place

#: Memory for rows that are looked at twice.
CACHE_BYTES = 256_000_000
#: Seconds that a read in progress may take before the end no longer waits for it.
_PATIENCE = 10
#: The memory of a rational: a pointer, a fraction and its two integers.
_OBJECT = 16
T = TypeVar("T")


@dataclasses.dataclass(frozen=True, kw_only=True)
class EncodedBatch(MemoryBatch):
    """Some consecutive rows over the field, with their places in a file.

    Attributes
    ----------
    rows : Rows
        The features, in the field's internal form: packed bits over GF(2).
    labels : array or None
        The elements of the label, if there is one.
    skipped : int
        How many rows were left out on request.
    file : str
        The file that holds the rows.
    first_row : int
        The number, in its file, of the first row that was read (counted from 1).
    lines : range or array of int, or None
        The line of each row that was read, in files that have lines.
    after : tuple of int
        The position to resume from: (number of the file, position in it).
    done : float
        How many files are read so far, parts of them included.
    index : array or None
        Which of the rows that were read these are; None for all of them.
    """

    file: str
    first_row: int
    lines: range | Array | None
    after: tuple[int, ...]
    done: float
    index: Array | None = None

    def place(self, index: int) -> Place:
        """Say where a row of this batch is in its file."""
        return Place(*self.places(np.arange(len(self)) == index, 1)[0])

    def chosen(self, rows: Any) -> EncodedBatch:
        """Return some of the rows, by a mask or a slice, with their places."""
        index = np.arange(len(self)) if self.index is None else self.index
        labels = None if self.labels is None else self.labels[rows]
        return dataclasses.replace(self, rows=self.rows[rows], labels=labels, index=index[rows])

    def places(self, mask: Array, most: int) -> list[list[Any]]:
        """Return [file, row, line] of the first marked rows."""
        marked = mask.nonzero()[0][: max(0, most)]
        index = marked if self.index is None else self.index[marked]
        file, first, lines = self.file, self.first_row, self.lines
        if lines is None:
            return [[file, first + i, None] for i in index.tolist()]
        return [[file, first + i, int(lines[i])] for i in index.tolist()]


Batches: TypeAlias = Generator[EncodedBatch, None, None]


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
        rows = batch.rows.words if isinstance(batch.rows, BitRows) else batch.rows
        rows = rows if batch.labels is None else np.column_stack([rows, batch.labels])
        first = first_of_runs(rows)
        first[0] = last is None or bool((rows[0] != last).any())
        last = rows[-1].copy()
        yield batch.chosen(first)


def prefetch(items: Generator[T, None, None], most: int = 2) -> Generator[T, None, None]:
    """Pass items on in their order; up to ``most`` of them are made ahead, in a thread.

    What comes out does not depend on the thread: an error is raised after all items before it.
    Who stops early closes the generator, and the thread has then ended, too.

    >>> list(prefetch(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    made: queue.SimpleQueue[Any] = queue.SimpleQueue()  # of items, each with whether it is the end
    room = threading.Semaphore(most)
    is_enough = False

    def make() -> None:
        problem: BaseException | None = None
        try:
            while room.acquire() and not is_enough:
                made.put((next(items), False))
        except StopIteration:
            pass
        except BaseException as error:
            problem = error
        made.put((problem, True))

    thread = threading.Thread(target=make, name="flagstone-prefetch", daemon=True)
    thread.start()
    try:
        item, is_end = made.get()
        while not is_end:
            room.release()
            yield item
            item, is_end = made.get()
        if item is not None:
            raise item
    finally:
        is_enough = True
        room.release()
        thread.join(_PATIENCE)
        if not thread.is_alive():
            items.close()


class RowCache:
    """Batches of each shard, packed as they are, while all of them fit into this many bytes.

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
    parts = [rows, batch.labels, batch.index, batch.lines]
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    return sum(part.nbytes * (_OBJECT if part.dtype == object else 1) for part in arrays)
