"""Batches: what every reader of this package yields, and where each row came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn, Protocol, TypeAlias

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.errors import InputError
from flagstone.tables.remote import Location

Array: TypeAlias = np.ndarray[Any, Any]
Position: TypeAlias = "tuple[int, ...]"
"""Where to go on reading inside one file; what the numbers mean is the reader's business."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands: its file, its number there (from 1) and, for text, its line.

    Examples
    --------
    >>> print(Place("frames.txt", row=2, line=5))
    frames.txt line 5
    >>> print(Place("table.parquet", row=7))
    table.parquet row 7
    """

    file: str
    row: int
    line: int | None = None

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.file} row {self.row}"
        return f"{self.file} line {self.line}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows of one file, before any encoding.

    Attributes
    ----------
    columns : tuple of str
    values : 2-D array, BitRows, or list of 1-D arrays
        One array for files that hold a matrix, packed rows for files that hold bits; one array
        per column for tables.
    first_row : int
        The number, in its file, of the first row of the batch (counted from 1).
    lines : range or array of int, or None
        The line of each row, in files that have lines.
    after : tuple of int
        The position to resume from once this batch is done.
    done : float
        The share of the file read so far, for progress bars.
    skipped : int
        Rows left out on request (frames of another length).
    """

    columns: tuple[str, ...]
    values: Array | BitRows | list[Array]
    first_row: int
    lines: range | Array | None
    after: Position
    done: float
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.values[0]) if isinstance(self.values, list) else len(self.values)

    def column(self, index: int) -> Array:
        """Return one column."""
        if isinstance(self.values, list):
            return self.values[index]
        values = self.values.unpack() if isinstance(self.values, BitRows) else self.values
        return values[:, index]

    def some(self, rows: Array) -> Array | BitRows | list[Array]:
        """Return the values of some rows, by a mask."""
        if isinstance(self.values, list):
            return [column[rows] for column in self.values]
        return self.values[rows]

    def place(self, path: Location, index: int) -> Place:
        """Say where a row stands in its file."""
        line = None if self.lines is None else int(self.lines[index])
        return Place(str(path), self.first_row + index, line)

    def leaving_out(self, n_rows: int) -> Batch:
        """Return the batch with so many rows more left out on request."""
        return replace(self, skipped=self.skipped + n_rows)


class Reader(Protocol):
    """One open file: its columns, its length if known, its rows in batches."""

    path: Location
    columns: tuple[str, ...]
    n_rows: int | None
    position_size: ClassVar[int]  #: how many numbers say where a batch ends

    def batches(
        self,
        columns: Sequence[str],
        kinds: Mapping[str, str],
        start: Position | None,
        most: int | None = None,
    ) -> Iterator[Batch]:
        """Yield the chosen columns; kinds say what untyped text must be read as.

        Who only takes a look says how many rows at ``most``: a batch need not hold more.
        """


def checked_start(start: Sequence[int], readers: Sequence[Reader]) -> tuple[int, Position]:
    """Return (file, position in it) of an earlier run, if that can be one of these files."""
    if (
        len(start) > 0
        and all(type(number) is int and 0 <= number < 1 << 63 for number in start)
        and start[0] < len(readers)
        and len(start) == 1 + readers[start[0]].position_size
    ):
        return start[0], tuple(start[1:])
    raise InputError(f"{str(list(start))[:80]} is no position in these files")


def rows_per_batch(n_columns: int, row_bytes: int = 0) -> int:
    """Return a batch length that keeps a batch near four million cells, or 256 MiB.

    >>> rows_per_batch(41) > rows_per_batch(4096) >= 256 > rows_per_batch(1, row_bytes=1 << 26)
    True
    """
    most = max(1, (1 << 28) // max(1, row_bytes))
    return int(min(131_072, max(256, 4_194_304 // max(1, n_columns)), most))


def fail(path: Location, where: str, *problem: object) -> NoReturn:
    """Raise InputError for something found inside a file."""
    raise InputError(f"{path} {where}: " if where else f"{path}: ", *problem)
