"""Arrays: NPY and NPZ files, never unpickled, and rows that are in memory already.

What a header announces is held against the size of the file before anything is made of it.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

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


class StoredArray:
    """An array in a file or in a member of an archive, read a few rows at a time.

    Its header announces how many bytes it takes: more than ``size``, itself included, are refused.
    """

    def __init__(self, stream: IO[bytes], path: Location, size: int) -> None:
        version = npformat.read_magic(stream)
        read = npformat.read_array_header_2_0
        if version == (1, 0):
            read = npformat.read_array_header_1_0
        self.shape, fortran, self.dtype = read(stream)
        if version > (2, 0) and self.dtype.names:  # UTF-8, but read as Latin-1
            self.dtype.names = tuple(n.encode("latin-1").decode() for n in self.dtype.names)
        if self.dtype.hasobject:
            raise FormatError(
                f"{path} holds pickled Python objects, which are never loaded; save the rows as "
                "arrays of integers"
            )
        self._stream, self._start, self._next = stream, stream.tell(), 0
        left = size - self._start
        if min(self.shape, default=0) < 0 or math.prod(self.shape) * self.dtype.itemsize > left:
            raise ValueError(f"its {left:,} bytes do not hold entries of shape {self.shape}")
        self.is_columnar = fortran and len(self.shape) == 2
        self.row_bytes = math.prod(self.shape[1:]) * self.dtype.itemsize

    def check_entries(self, reader: Reader) -> None:
        """Refuse entries that are no numbers, text, or true and false; and rows of many bytes."""
        names = self.dtype.names
        for part in [self.dtype[name] for name in names] if names else [self.dtype]:
            if part.kind not in "biufU" or part.shape or not part.itemsize:
                problem = f"holds entries of type {part}; they must be numbers, text, or true and "
                reader.fail("", problem + "false, one per column")
        check_row_bytes(reader.path, "row 1", self.row_bytes)

    def rows(self, first: int, n: int) -> Array:
        """Read n rows; there is no need to seek if they come after those read before."""
        if not self.is_columnar:
            if first != self._next:
                self._stream.seek(self._start + first * self.row_bytes)
            self._next, inner = first + n, self.shape[1:]
            return self._entries(n * math.prod(inner)).reshape(n, *inner)
        part = np.empty((n, self.shape[1]), self.dtype, order="F")
        for column in range(self.shape[1]):
            at = (column * self.shape[0] + first) * self.dtype.itemsize
            self._stream.seek(self._start + at)
            part[:, column] = self._entries(n)
        return part

    def _entries(self, n: int) -> Array:
        out = np.empty(n, dtype=self.dtype)
        stream: Any = self._stream
        if n and stream.readinto(out.view(np.uint8)) != out.nbytes:
            raise EOFError("it ends before its last row")
        return out

    def unpack(self, opened: contextlib.ExitStack) -> None:
        """Go on with a temporary file if rows are all over a member of an archive."""
        if self.is_columnar:
            spooled: Any = tempfile.SpooledTemporaryFile(max_size=1 << 26)  # noqa: SIM115
            opened.enter_context(spooled)
            shutil.copyfileobj(self._stream, spooled)
            self._stream, self._start = spooled, 0


class ArrayReader(Reader):
    """A reader of a matrix, whose columns come first, and of 1-D arrays beside it by their names.

    ``read`` of `_slices` returns both for some rows, from a first one on.
    """

    def _slices(
        self,
        asked: Request,
        size: int,
        read: Callable[[int, int], tuple[Array | None, Mapping[str, Array]]],
    ) -> Iterator[Batch]:
        """Yield batches of up to ``size`` rows."""
        total, columns = self.n_rows or 0, tuple(asked.columns)
        places = {name: i for i, name in enumerate(self.columns)}
        for first in range((asked.start or (0,))[0], total, size):
            after = min(total, first + size)
            matrix, others = read(first, after - first)
            values: Any = matrix
            if matrix is None or any(name in others for name in columns):
                values = [others[c] if matrix is None or c in others else matrix[:, places[c]]
                          for c in columns]  # fmt: skip
            elif columns != self.columns:
                values = matrix[:, [places[name] for name in columns]]
            self._check_texts(values if isinstance(values, list) else [values], first)
            yield Batch(values, first + 1, None, (after,), after / total)

    def _check_texts(self, parts: Sequence[Array], first: int) -> None:
        """Refuse bytes that are not text, in rows after the first ones."""
        for part in parts:
            if part.dtype.kind == "U" and part.size:
                codes = np.ascontiguousarray(part).view(part.dtype.str[0] + "u4")
                bad = (codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))
                if bad.any():
                    row = first + 1 + int(np.argmax(bad.reshape(len(part), -1).any(axis=1)))
                    self.fail(f"row {row}", "holds text that is no valid Unicode")


class NpyReader(ArrayReader):
    """Rows of a ``.npy`` file: a matrix, or a 1-D structured array with named columns."""

    def __post_init__(self) -> None:
        with reading(self.path, "NPY"), self.path.open("rb") as stream:
            stored = StoredArray(stream, self.path, self.path.stat().st_size)
        names, shape = stored.dtype.names, stored.shape
        if names:
            if len(shape) != 1:
                self.fail("", f"a structured array must have 1 dimension, not {len(shape)}")
        elif len(shape) != 2:
            self.fail("", f"must be a matrix of rows, found {len(shape)} dimension(s)")
        self.check_width(len(names) if names else shape[-1])
        stored.check_entries(self)
        self.columns, self.n_rows = tuple(names or numbered(shape[-1])), shape[0]

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield slices of the array."""
        with reading(self.path, "NPY"), self.path.open("rb") as stream:
            stored = StoredArray(stream, self.path, self.path.stat().st_size)
            size = min(rows_per_batch(len(asked.columns), stored.row_bytes), asked.most)

            def read(first: int, n: int) -> tuple[Array | None, Mapping[str, Array]]:
                part = stored.rows(first, n)
                if part.dtype.names:
                    return None, {c: np.ascontiguousarray(part[c]) for c in asked.columns}
                return part, {}

            yield from self._slices(asked, size, read)


class NpzReader(ArrayReader):
    """Rows of a ``.npz`` archive: one matrix and any 1-D arrays of its length, or 1-D arrays only.

    The matrix gives columns x0, x1, …; each 1-D array is one more column with its own name,
    so that an archive of ``X`` and ``y`` is read with ``label="y"``. Without a matrix every
    1-D array is a column, and all must have the same length. Members are streamed, so
    a compressed archive larger than memory can be read; a matrix in Fortran order, whose rows are
    all over it, by way of a temporary file.
    """

    def __post_init__(self) -> None:
        found: dict[str, StoredArray] = {}
        self._members: dict[str, zipfile.ZipInfo] = {}
        with reading(self.path, "NPZ"), zipfile.ZipFile(binary_file(self.path)) as archive:
            for info in archive.infolist():
                key = info.filename.removesuffix(".npy")
                with archive.open(info) as member:
                    found[key] = StoredArray(member, self.path, info.file_size)
                if key in self._members:
                    self.fail("", f"two of its arrays are called {key!r}")
                self._members[key] = info
        vectors = {key: stored for key, stored in found.items() if len(stored.shape) == 1}
        matrices = {key: stored for key, stored in found.items() if len(stored.shape) == 2}
        lengths = {stored.shape[0] for stored in vectors.values()}
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
        for stored in used:
            stored.check_entries(self)
        self._row_bytes = sum(stored.row_bytes for stored in used)
        self.columns = (*numbered(self._width), *self._vectors)

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield slices, decompressing as they come."""
        size = rows_per_batch(self._width or len(asked.columns), self._row_bytes)
        wanted = set(asked.columns)
        keys = [
            *(v for v in self._vectors if v in wanted),
            *([self._matrix] if self._matrix else []),
        ]
        with (
            reading(self.path, "NPZ"),
            zipfile.ZipFile(binary_file(self.path)) as archive,
            contextlib.ExitStack() as opened,
        ):
            streams: dict[str, StoredArray] = {}
            for key in keys:
                info = self._members[key]
                member = opened.enter_context(archive.open(info))
                streams[key] = StoredArray(member, self.path, info.file_size)
                streams[key].unpack(opened)

            def read(first: int, n: int) -> tuple[Array | None, Mapping[str, Array]]:
                parts = {key: stored.rows(first, n) for key, stored in streams.items()}
                matrix = None if self._matrix is None else parts.pop(self._matrix)
                return matrix, parts

            skip = min((asked.start or (0,))[0], self.n_rows or 0)
            for first in range(0, skip, size):  # to seek would take as long, or go wrong
                read(first, min(size, skip - first))
            yield from self._slices(asked, size, read)


class MemoryReader(ArrayReader):
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

        def read(first: int, n: int) -> tuple[Array | None, Mapping[str, Array]]:
            part = slice(first, first + n)
            if isinstance(self.values, np.ndarray):
                return self.values[part], {}
            columns = zip(self.columns, self.values, strict=True)
            return None, {name: values[part] for name, values in columns}

        yield from self._slices(asked, rows_per_batch(len(asked.columns)), read)
