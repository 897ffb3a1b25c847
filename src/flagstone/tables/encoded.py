"""Encoded batches: rows over a field, each of which knows where it stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from typing import Any, TypeAlias

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields import Rows
from flagstone.tables.batches import Array, Batch, Place
from flagstone.tables.remote import Location


@dataclasses.dataclass(frozen=True, slots=True)
class EncodedBatch:
    """Some consecutive rows over the field.

    Attributes
    ----------
    rows : Rows
        The features, in the field's internal form: packed bits over GF(2).
    labels : array or None
        The elements of the label, if there is one.
    file, path : int, Path or RemoteFile
        The number of the file in its table, and the file.
    batch : Batch
        Where the rows stand; its values are gone.
    index : array or None
        Which rows of the batch these are; None for all of them.
    """

    rows: Rows
    labels: Array | None
    file: int
    path: Location
    batch: Batch
    index: Array | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def skipped(self) -> int:
        """How many rows were left out on request."""
        return self.batch.skipped

    @property
    def matrix(self) -> Array:
        """The rows as a plain matrix of elements, the label (if any) last."""
        return self._labelled(self.rows.unpack() if isinstance(self.rows, BitRows) else self.rows)

    @property
    def packed(self) -> Array:
        """The rows as a matrix that is equal where they are, and as small as they are kept."""
        return self._labelled(self.rows.words if isinstance(self.rows, BitRows) else self.rows)

    def _labelled(self, features: Array) -> Array:
        return features if self.labels is None else np.column_stack([features, self.labels])

    @property
    def after(self) -> tuple[int, ...]:
        """The position to resume from: (file, position in it)."""
        return (self.file, *self.batch.after)

    def place(self, index: int) -> Place:
        """Say where a row of this batch stands."""
        at = index if self.index is None else int(self.index[index])
        return self.batch.place(self.path, at)

    def chosen(self, rows: Any) -> EncodedBatch:
        """Return some of the rows, by a mask or a slice; each still knows where it stands."""
        index = np.arange(len(self)) if self.index is None else self.index
        labels = None if self.labels is None else self.labels[rows]
        return dataclasses.replace(self, rows=self.rows[rows], labels=labels, index=index[rows])

    def places(self, mask: Array, most: int) -> list[list[Any]]:
        """Return [file, row, line] of the first marked rows."""
        marked = mask.nonzero()[0][: max(0, most)]
        index = marked if self.index is None else self.index[marked]
        file, first, lines = str(self.path), self.batch.first_row, self.batch.lines
        if lines is None:
            return [[file, first + i, None] for i in index.tolist()]
        return [[file, first + i, int(lines[i])] for i in index.tolist()]


Batches: TypeAlias = Generator[EncodedBatch, None, None]
