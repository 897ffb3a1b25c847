"""Arrays: NPY and NPZ files, never unpickled, and rows that are in memory already.

What a header announces is held against the size of the file before anything is made of it.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npformat

from flagstone.errors import FormatError, InputError
from flagstone.tables.batches import (
    Array,
    Batch,
    Reader,
    Request,
    numbered,
    reading,
    rows_per_batch,
)
from flagstone.tables.files import Location, binary_file, check_row_bytes


class _Layout(NamedTuple):
    """The header of an array: its shape and type, and where its entries begin."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def is_columnar(self) -> bool:
        """Whether a matrix is stored in the file column by column."""
        return self.fortran and len(self.shape) == 2

    @property
    def row_bytes(self) -> int:
        return math.prod(self.shape[1:]) * self.dtype.itemsize


@dataclass
class NpyReader(Reader):
    """Rows of a ``.npy`` file: a matrix, or a 1-D structured array with named columns."""

    def __post_init__(self) -> None:
        with reading(self.path, "NPY"), self.path.open("rb") as stream:
            self._layout = layout = _header(stream, self.path, self.path.stat().st_size)
        names, shape = layout.dtype.names, layout.shape
        if names:
            if len(shape) != 1:
                self.fail("", f"a structured array must have 1 dimension, not {len(shape)}")
        elif len(shape) != 2:
            self.fail("", f"must be a matrix of rows, found {len(shape)} dimension(s)")
        self.check_width(len(names) if names else shape[-1])
        _check_dtype(self, layout)
        self.columns = tuple(names or numbered(shape[-1]))
        self.n_rows = shape[0]

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield slices of the array."""
        size = min(rows_per_batch(len(asked.columns), self._layout.row_bytes), asked.most)
        with reading(self.path, "NPY"), self.path.open("rb") as stream:
            for first, n in _slices(self, asked, size):
                part = _rows(stream, self._layout, first, n)
                if part.dtype.names:
                    named = [np.ascontiguousarray(part[name]) for name in asked.columns]
                    yield _batch(self, asked, first, named)
                else:
                    yield _batch(self, asked, first, _columns_of(self, part, asked.columns))


@dataclass
class NpzReader(Reader):
    """Rows of a ``.npz`` archive: one matrix and any 1-D arrays of its length, or 1-D arrays only.

    The matrix gives columns x0, x1, …; each 1-D array is one more column with its own name,
    so that an archive of ``X`` and ``y`` is read with ``label="y"``. Without a matrix every
    1-D array is a column, and all must have the same length. Members are streamed, so
    a compressed archive larger than memory can be read; a matrix in Fortran order, whose rows are
    all over it, by way of a temporary file.
    """

    def __post_init__(self) -> None:
        matrices: dict[str, _Layout] = {}
        vectors: dict[str, _Layout] = {}
        self._members: dict[str, zipfile.ZipInfo] = {}
        with reading(self.path, "NPZ"), zipfile.ZipFile(binary_file(self.path)) as archive:
            for info in archive.infolist():
                with archive.open(info) as member:
                    layout = _header(member, self.path, info.file_size)
                key = info.filename.removesuffix(".npy")
                if key in self._members:
                    self.fail("", f"two of its arrays are called {key!r}")
                self._members[key] = info
                if len(layout.shape) in (1, 2):
                    (vectors if len(layout.shape) == 1 else matrices)[key] = layout
        lengths = {layout.shape[0] for layout in vectors.values()}
        self._matrix: str | None = None
        self._width = 0
        if not matrices and len(lengths) == 1:
            self.n_rows = lengths.pop()
        elif len(matrices) == 1:
            ((self._matrix, matrix),) = matrices.items()
            self.n_rows, self._width = matrix.shape
        else:
            self.fail(
                "",
                "must hold exactly one matrix (or 1-D arrays of one length), found "
                f"{len(matrices)} ({', '.join(sorted(matrices)) or 'none'}); save the one to read "
                "on its own",
            )
        self._vectors = [key for key, v in vectors.items() if v.shape[0] == self.n_rows]
        self.check_width(self._width + len(self._vectors))
        used = [*(vectors[key] for key in self._vectors), *matrices.values()]
        for layout in used:
            _check_dtype(self, layout)
        self._row_bytes = sum(layout.row_bytes for layout in used)
        self.columns = (*numbered(self._width), *self._vectors)

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield slices, decompressing as they come."""
        size = rows_per_batch(self._width or len(asked.columns), self._row_bytes)
        skip, total = (asked.start or (0,))[0], self.n_rows or 0
        vectors = [v for v in self._vectors if v in set(asked.columns)]
        places = {name: i for i, name in enumerate(self.columns[: self._width])}
        with (
            reading(self.path, "NPZ"),
            zipfile.ZipFile(binary_file(self.path)) as archive,
            contextlib.ExitStack() as opened,
        ):
            streams = {
                key: _Stream(archive, self._members[key], self.path, opened)
                for key in [*vectors, *([] if self._matrix is None else [self._matrix])]
            }
            for first in range(0, total, size):
                n = min(size, total - first)
                cut = min(n, max(0, skip - first))
                parts = {key: stream.rows(n)[cut:] for key, stream in streams.items()}
                matrix = np.empty((0, 0)) if self._matrix is None else parts[self._matrix]
                if cut == n:
                    continue
                values: Array | list[Array] = [
                    matrix[:, places[name]] if name in places else parts[name]
                    for name in (asked.columns if vectors else ())
                ]
                if not vectors:
                    values = _columns_of(self, matrix, asked.columns)
                yield _batch(self, asked, first + cut, values)


class _Stream:
    """One member of an archive, read row by row."""

    def __init__(
        self,
        archive: zipfile.ZipFile,
        info: zipfile.ZipInfo,
        path: Location,
        opened: contextlib.ExitStack,
    ) -> None:
        self._member: IO[bytes] = opened.enter_context(archive.open(info))
        self._layout = layout = _header(self._member, path, info.file_size)
        self._first = 0
        if layout.is_columnar:  # to be read here and there, which compressed bytes are not
            spooled: Any = tempfile.SpooledTemporaryFile(max_size=1 << 26)  # noqa: SIM115
            opened.enter_context(spooled)
            shutil.copyfileobj(self._member, spooled)
            self._member, self._layout = spooled, layout._replace(start=0)

    def rows(self, n: int) -> Array:
        """Read the next n rows."""
        if self._layout.is_columnar:
            self._first += n
            return _rows(self._member, self._layout, self._first - n, n)
        inner = self._layout.shape[1:]
        return _read(self._member, n * math.prod(inner), self._layout.dtype).reshape(n, *inner)


class MemoryReader(Reader):
    """Rows of an array or a frame, by the name that messages call them (``partition 3``).

    Examples
    --------
    >>> from flagstone.tables import Table
    >>> table = Table([MemoryReader.of(np.array([[1, 0], [2, 1]]), "partition 3")])
    >>> encoding = Table([MemoryReader.of(np.eye(2, dtype=int), "p")]).encoding(2)
    >>> list(table.rows(encoding))
    Traceback (most recent call last):
        ...
    flagstone.errors.InputError: partition 3 row 2, column 'x0': 2 is not an element of GF(2) ...
    """

    def __init__(
        self,
        path: Location,
        columns: Sequence[str],
        values: Array | list[Array],
        n_rows: int | None,
    ) -> None:
        super().__init__(path)
        self.columns, self.values, self.n_rows = tuple(columns), values, n_rows

    @classmethod
    def of(cls, rows: Any, name: str, label: Any = None) -> MemoryReader:
        """Take a matrix (columns x0, x1, …) or a pandas frame; a label beside it is called y."""
        if isinstance(rows, np.ndarray):
            if rows.ndim != 2:
                raise InputError(f"{name}: must be a matrix of rows, got {rows.ndim} dimension(s)")
            reader = cls(Path(name), numbered(rows.shape[1]), rows, len(rows))
        else:
            reader = cls(Path(name), tuple(map(str, rows.columns)), [], len(rows))
            reader.values = [
                reader._column(rows.iloc[:, i], c) for i, c in enumerate(reader.columns)
            ]
        return reader if label is None else reader._beside(label)

    def _column(self, column: Any, name: str) -> Array:
        from flagstone.tables.arrow_columns import from_pandas  # Arrow, which arrays do not need

        return from_pandas(column, self, name)

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
            values = [*(self.values if isinstance(self.values, list) else self.values.T), column]
        return MemoryReader(self.path, (*self.columns, "y"), values, self.n_rows)

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield slices of the columns."""
        places = [self.columns.index(name) for name in asked.columns]
        for first, n in _slices(self, asked, rows_per_batch(len(asked.columns))):
            part = slice(first, first + n)
            if isinstance(self.values, np.ndarray):
                values = _columns_of(self, self.values[part], asked.columns)
                yield _batch(self, asked, first, values)
            else:
                yield _batch(self, asked, first, [self.values[i][part] for i in places])


def _slices(reader: Reader, asked: Request, size: int) -> Iterator[tuple[int, int]]:
    """Yield the first row and the length of each batch."""
    total = reader.n_rows or 0
    for first in range((asked.start or (0,))[0], total, size):
        yield first, min(size, total - first)


def _batch(reader: Reader, asked: Request, first: int, values: Array | list[Array]) -> Batch:
    """Return the batch that begins at a row, counted from 0; refuse bytes that are not text."""
    for part in values if isinstance(values, list) else [values]:
        if part.dtype.kind == "U" and part.size:
            codes = np.ascontiguousarray(part).view(part.dtype.str[0] + "u4")
            bad = (codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))
            if bad.any():
                row = first + 1 + int(np.argmax(bad.reshape(len(part), -1).any(axis=1)))
                reader.fail(f"row {row}", "holds text that is no valid Unicode")
    after = first + len(values[0] if isinstance(values, list) else values)
    done = after / max(1, reader.n_rows or 0)
    return Batch(values, first + 1, None, (after,), done)


def _columns_of(reader: Reader, matrix: Array, columns: Sequence[str]) -> Array:
    """Return the chosen columns of a matrix that holds the first columns of a reader."""
    if tuple(columns) == reader.columns:
        return matrix
    places = {name: i for i, name in enumerate(reader.columns)}
    return matrix[:, [places[name] for name in columns]]


def _rows(stream: IO[bytes], layout: _Layout, first: int, n: int) -> Array:
    """Read n rows, wherever they are."""
    shape, _, dtype, start = layout
    if not layout.is_columnar:
        stream.seek(start + first * layout.row_bytes)
        return _read(stream, n * math.prod(shape[1:]), dtype).reshape(n, *shape[1:])
    part = np.empty((n, shape[1]), dtype, order="F")
    for column in range(shape[1]):
        stream.seek(start + (column * shape[0] + first) * dtype.itemsize)
        part[:, column] = _read(stream, n, dtype)
    return part


def _header(stream: IO[bytes], path: Location, size: int) -> _Layout:
    """Read the header of an array that is said to take ``size`` bytes, itself included."""
    version = npformat.read_magic(stream)
    read = npformat.read_array_header_1_0 if version == (1, 0) else npformat.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    if version > (2, 0) and dtype.names:  # the names are UTF-8, but were read as Latin-1
        dtype.names = tuple(name.encode("latin-1").decode() for name in dtype.names)
    if dtype.hasobject:
        raise FormatError(
            f"{path} holds pickled Python objects, which are never loaded; save the rows as "
            "arrays of integers"
        )
    start = stream.tell()
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > size - start:
        raise ValueError(f"its {size - start:,} bytes do not hold entries of shape {shape}")
    return _Layout(shape, fortran, dtype, start)


def _read(stream: IO[bytes], n: int, dtype: np.dtype[Any]) -> Array:
    out = np.empty(n, dtype=dtype)
    if n and stream.readinto(out.view(np.uint8)) != out.nbytes:  # type: ignore[attr-defined]
        raise EOFError("it ends before its last row")
    return out


def _check_dtype(reader: Reader, layout: _Layout) -> None:
    dtype = layout.dtype
    for part in [dtype[name] for name in dtype.names] if dtype.names else [dtype]:
        if part.kind not in "biufU" or part.shape or not part.itemsize:
            reader.fail("", f"holds entries of type {part}; they must be numbers, text, or true "
                        "and false, one per column")  # fmt: skip
    check_row_bytes(reader.path, "row 1", layout.row_bytes)
