"""NPY and NPZ: matrices, never unpickled, read a slice at a time.

What a header announces is held against the size of the file before anything is made of it.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np
from numpy.lib import format as npformat

from flagstone.errors import FormatError
from flagstone.tables.batches import Array, Batch, Position, fail, rows_per_batch
from flagstone.tables.limits import MOST_COLUMNS, check_row_bytes, check_width, reading
from flagstone.tables.remote import Location, binary_file


class _Layout(NamedTuple):
    """The header of an array: its shape and type, and where its entries begin."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def is_columnar(self) -> bool:
        """Whether a matrix stands in the file column by column."""
        return self.fortran and len(self.shape) == 2

    @property
    def row_bytes(self) -> int:
        return math.prod(self.shape[1:]) * self.dtype.itemsize


@dataclass
class NpyReader:
    """Rows of a ``.npy`` file: a matrix, or a 1-D structured array with named columns."""

    position_size: ClassVar[int] = 1
    path: Location
    max_columns: int = MOST_COLUMNS

    def __post_init__(self) -> None:
        with reading(self.path, "NPY"), self.path.open("rb") as stream:
            self._layout = layout = _header(stream, self.path, self.path.stat().st_size)
        names, shape = layout.dtype.names, layout.shape
        if names:
            if len(shape) != 1:
                fail(self.path, "", f"a structured array must have 1 dimension, not {len(shape)}")
        elif len(shape) != 2:
            fail(self.path, "", f"must be a matrix of rows, found {len(shape)} dimension(s)")
        check_width(self.path, len(names) if names else shape[-1], self.max_columns)
        _check_dtype(self.path, layout)
        self.columns = tuple(names or (f"x{i}" for i in range(shape[-1])))
        self.n_rows: int | None = shape[0]

    def batches(
        self,
        columns: Sequence[str],
        kinds: Mapping[str, str],
        start: Position | None,
        most: int | None = None,
    ) -> Iterator[Batch]:
        """Yield slices of the array."""
        total = self._layout.shape[0]
        size = min(rows_per_batch(len(columns), self._layout.row_bytes), most or 1 << 62)
        chosen = _chosen(columns, self.columns)
        with reading(self.path, "NPY"), self.path.open("rb") as stream:
            for first in range((start or (0,))[0], total, size):
                part = _rows(stream, self._layout, first, min(size, total - first))
                values: Array | list[Array]
                if part.dtype.names:
                    values = [np.ascontiguousarray(part[name]) for name in columns]
                else:
                    values = part if chosen is None else part[:, chosen]
                _check_text(self.path, values, first + 1)
                after = first + len(part)
                yield Batch(tuple(columns), values, first + 1, None, (after,), after / total)


@dataclass
class NpzReader:
    """Rows of a ``.npz`` archive: one matrix and any 1-D arrays of its length, or 1-D arrays only.

    The matrix gives columns x0, x1, …; each 1-D array is one more column with its own name,
    so that an archive of ``X`` and ``y`` is read with ``label="y"``. Without a matrix every
    1-D array is a column, and all must have the same length. Members are streamed, so
    a compressed archive larger than memory can be read; a matrix in Fortran order, whose rows are
    all over it, by way of a temporary file.
    """

    position_size: ClassVar[int] = 1
    path: Location
    max_columns: int = MOST_COLUMNS

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
                    fail(self.path, "", f"two of its arrays are called {key!r}")
                self._members[key] = info
                if len(layout.shape) in (1, 2):
                    (vectors if len(layout.shape) == 1 else matrices)[key] = layout
        lengths = {layout.shape[0] for layout in vectors.values()}
        self._matrix: str | None = None
        self._width = 0
        if not matrices and len(lengths) == 1:
            self.n_rows: int | None = lengths.pop()
        else:
            if len(matrices) != 1:
                fail(
                    self.path,
                    "",
                    f"must hold exactly one matrix (or 1-D arrays of one length), found "
                    f"{len(matrices)} ({', '.join(sorted(matrices)) or 'none'}); save the one to "
                    "read on its own",
                )
            ((self._matrix, matrix),) = matrices.items()
            self.n_rows, self._width = matrix.shape
        self._vectors = [key for key, v in vectors.items() if v.shape[0] == self.n_rows]
        check_width(self.path, self._width + len(self._vectors), self.max_columns)
        used = [*(vectors[key] for key in self._vectors), *matrices.values()]
        for layout in used:
            _check_dtype(self.path, layout)
        self._row_bytes = sum(layout.row_bytes for layout in used)
        self.columns = (*(f"x{i}" for i in range(self._width)), *self._vectors)

    def batches(
        self,
        columns: Sequence[str],
        kinds: Mapping[str, str],
        start: Position | None,
        most: int | None = None,
    ) -> Iterator[Batch]:
        """Yield slices, decompressing as they come."""
        size = rows_per_batch(self._width or len(columns), self._row_bytes)
        skip = (start or (0,))[0]
        total = self.n_rows or 0
        asked = set(columns)
        vectors = [v for v in self._vectors if v in asked]
        keys = [*vectors, *([] if self._matrix is None else [self._matrix])]
        places = {name: i for i, name in enumerate(self.columns[: self._width])}
        with (
            reading(self.path, "NPZ"),
            zipfile.ZipFile(binary_file(self.path)) as archive,
            contextlib.ExitStack() as opened,
        ):
            members = {key: _Stream(archive, self._members[key], self.path, opened) for key in keys}
            for first in range(0, total, size):
                parts = {k: m.rows(min(size, total - first)) for k, m in members.items()}
                after = first + len(parts[keys[0]])
                if after <= skip:
                    continue
                cut = max(0, skip - first)
                matrix = np.empty((0, 0)) if self._matrix is None else parts[self._matrix][cut:]
                if not vectors:
                    chosen = _chosen(columns, self.columns)
                    values: Any = matrix if chosen is None else matrix[:, chosen]
                else:
                    values = [
                        matrix[:, places[c]] if c in places else parts[c][cut:] for c in columns
                    ]
                _check_text(self.path, values, first + cut + 1)
                yield Batch(tuple(columns), values, first + cut + 1, None, (after,), after / total)


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


def _check_dtype(path: Location, layout: _Layout) -> None:
    dtype = layout.dtype
    for part in [dtype[name] for name in dtype.names] if dtype.names else [dtype]:
        if part.kind not in "biufU" or part.shape or not part.itemsize:
            fail(path, "", f"holds entries of type {part}; they must be numbers, text, or true "
                 "and false, one per column")  # fmt: skip
    check_row_bytes(path, "row 1", layout.row_bytes)


def _check_text(path: Location, values: Array | list[Array], first_row: int) -> None:
    """Refuse code points that are no characters: Python would choke on them later, or sooner."""
    for part in values if isinstance(values, list) else [values]:
        if part.dtype.kind == "U" and part.size:
            codes = np.ascontiguousarray(part).view(part.dtype.str[0] + "u4")
            bad = (codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))
            if bad.any():
                row = first_row + int(np.argmax(bad.reshape(len(part), -1).any(axis=1)))
                fail(path, f"row {row}", "holds text that is no valid Unicode")


def _chosen(columns: Sequence[str], all_columns: tuple[str, ...]) -> Array | None:
    if tuple(columns) == all_columns:
        return None
    places = {name: i for i, name in enumerate(all_columns)}
    return np.array([places[name] for name in columns], dtype=np.intp)
