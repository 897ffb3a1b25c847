"""What every reader yields, where each row came from, and limits on the size of files.

What a file announces is checked before memory is spent on it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeAlias

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.errors import FlagstoneError, FormatError, InputError, Parameter
from flagstone.tables.files import Location

Array: TypeAlias = np.ndarray[Any, Any]
Position: TypeAlias = "tuple[int, ...]"
"""Where to go on reading inside one file; what the numbers mean is the reader's business."""

#: Flags take memory in proportion to the square of the columns: 2 GiB for this many over GF(2).
MOST_COLUMNS = 1 << 17
#: A cell, a value or a comment takes 100 to 250 bytes of memory once it is told from the others,
#: however short its text is.
MOST_PARTS = 1 << 20


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
    values : 2-D array, BitRows, or list of 1-D arrays
        The columns asked for: one array for files that hold a matrix, packed rows for files that
        hold bits, one array per column for tables.
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

    def place(self, path: Location, index: int) -> Place:
        """Say where a row is in its file."""
        line = None if self.lines is None else int(self.lines[index])
        return Place(str(path), self.first_row + index, line)

    def some(self, rows: Array) -> Array | BitRows | list[Array]:
        """Return the values of some rows, by a mask."""
        if isinstance(self.values, list):
            return [column[rows] for column in self.values]
        return self.values[rows]


class Request(NamedTuple):
    """What is asked of a reader.

    Attributes
    ----------
    columns : sequence of str
    kinds : mapping of str to str
        What untyped text must be read as: integer, number or text.
    start : tuple of int or None
        The position to go on from; None for the beginning.
    most : int
        How many rows are looked at: a batch need not hold more.
    gaps : bool
        Whether values may be missing.
    """

    columns: Sequence[str]
    kinds: Mapping[str, str] = {}
    start: Position | None = None
    most: int = 1 << 62
    gaps: bool = False


@dataclass
class Reader:
    """One file: its columns, its length if known, its rows in batches.

    Parameters
    ----------
    path : Path or RemoteFile
    max_columns : int
        Files with more columns are refused before memory is spent on them.
    """

    position_size: ClassVar[int] = 1  #: how many numbers say where a batch ends
    only_bits: ClassVar[bool] = False  #: whether all entries are bits, elements of every field
    path: Location
    max_columns: int = field(default=MOST_COLUMNS, kw_only=True)
    columns: tuple[str, ...] = field(default=(), init=False)
    n_rows: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Find the columns."""

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield the chosen columns of all rows, in order."""
        raise NotImplementedError

    def split(self, n_bytes: int) -> Sequence[Reader]:
        """Return readers of consecutive parts, where the file has any, of up to this many bytes."""
        return [self]

    def fail(self, where: str, *problem: object) -> NoReturn:
        """Raise InputError for something found inside the file."""
        raise InputError(f"{self.path} {where}: " if where else f"{self.path}: ", *problem)

    def check_width(self, n_columns: int) -> None:
        """Refuse a file without columns, or with too many of them."""
        if n_columns < 1:
            raise InputError(f"{self.path}: has no columns")
        if n_columns > self.max_columns:
            raise InputError(
                f"{self.path}: has {n_columns:,} columns, but up to {self.max_columns:,} are read: "
                "memory grows with their square. Keep fewer, or ask for more with ",
                Parameter("max_columns", n_columns),
            )

    def check_parts(self, where: str, n_parts: int, what: str, most: int = 0) -> None:
        """Refuse a row that would take far more memory than its text, before it is taken apart."""
        most = max(MOST_PARTS, most)
        if n_parts > most:
            self.fail(
                where,
                f"has {n_parts:,} {what}, but up to {most:,} are read: each takes memory of its "
                "own; is this a file of rows, one per line?",
            )


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


@functools.lru_cache(maxsize=4)  # JSON lines ask for every line
def numbered(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns that have none: x0, x1, …."""
    return tuple(f"x{i}" for i in range(n_columns))


@contextlib.contextmanager
def reading(path: Location, kind: str) -> Iterator[None]:
    """Turn what the parser of a format meets in a damaged file into a FormatError."""
    try:
        yield
    except FlagstoneError:
        raise
    except Exception as error:  # parsers raise anything
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise FormatError(
            f"{path} is no {kind} file, or it is cut short or damaged ({reason})"
        ) from error
