"""Rows that are in memory already, read as if they were a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from flagstone.errors import InputError
from flagstone.tables.batches import Array, Batch, Position, rows_per_batch
from flagstone.tables.columnar import as_numpy
from flagstone.tables.remote import Location


@dataclass
class MemoryReader:
    """Rows of an array or a frame, by the name that messages call them (``partition 3``).

    Examples
    --------
    >>> from flagstone.tables import Table
    >>> reader = MemoryReader.of(np.array([[1, 0], [2, 1]]), "partition 3")
    >>> table = Table([reader])
    >>> list(table.rows(Table([MemoryReader.of(np.eye(2, dtype=int), "p")]).encoding(2)))
    Traceback (most recent call last):
        ...
    flagstone.errors.InputError: partition 3 row 2, column 'x0': 2 is not an element of GF(2) ...
    """

    position_size: ClassVar[int] = 1
    path: Location
    columns: tuple[str, ...]
    values: Array | list[Array]
    n_rows: int | None

    @classmethod
    def of(cls, rows: Any, name: str, label: Any = None) -> MemoryReader:
        """Take a matrix (columns x0, x1, …) or a pandas frame; a label beside it is called y."""
        if isinstance(rows, np.ndarray):
            if rows.ndim != 2:
                raise InputError(f"{name}: must be a matrix of rows, got {rows.ndim} dimension(s)")
            reader = cls(Path(name), tuple(f"x{i}" for i in range(rows.shape[1])), rows, len(rows))
        else:
            reader = cls(Path(name), tuple(map(str, rows.columns)), [], len(rows))
            reader.values = [
                reader._column(rows.iloc[:, i], c) for i, c in enumerate(reader.columns)
            ]
        return reader if label is None else reader._beside(label)

    def _column(self, column: Any, name: str) -> Array:
        import pyarrow as pa

        try:
            found = pa.array(column, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            reason = " ".join(str(error).split())[:160]
            raise InputError(
                f"{self.path}, column {name!r}: a column must hold numbers, text, or true and "
                f"false ({reason})"
            ) from error
        found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
        return as_numpy(found, self, name)

    def _beside(self, label: Any) -> MemoryReader:
        column = label if isinstance(label, np.ndarray) else self._column(label, "y")
        if column.shape != (self.n_rows,):
            raise InputError(
                f"{self.path}: {self.n_rows:,} rows, but its labels have the shape {column.shape}; "
                "cut rows and labels at the same places"
            )
        if isinstance(self.values, np.ndarray) and self.values.dtype == column.dtype:
            values: Any = np.concatenate([self.values, column[:, np.newaxis]], axis=1)
        else:
            matrix = self.values
            known = list(matrix.T) if isinstance(matrix, np.ndarray) else matrix
            values = [*known, column]
        return MemoryReader(self.path, (*self.columns, "y"), values, self.n_rows)

    def batches(
        self,
        columns: Sequence[str],
        kinds: Mapping[str, str],
        start: Position | None,
        most: int | None = None,
    ) -> Iterator[Batch]:
        """Yield slices of the columns."""
        total = self.n_rows or 0
        size = rows_per_batch(len(columns))
        places = [self.columns.index(name) for name in columns]
        for first in range((start or (0,))[0], total, size):
            part = slice(first, min(first + size, total))
            values: Array | list[Array]
            if isinstance(self.values, np.ndarray):
                values = self.values[part]
                values = values if tuple(columns) == self.columns else values[:, places]
            else:
                values = [self.values[place][part] for place in places]
            yield Batch(
                tuple(columns), values, first + 1, None, (part.stop,), part.stop / max(1, total)
            )
