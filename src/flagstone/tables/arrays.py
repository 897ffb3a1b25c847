"""NPY and NPZ: matrices, never unpickled, read a slice at a time."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npformat

from flagstone.errors import FormatError
from flagstone.tables.batches import Array, Batch, Position, fail, rows_per_batch

__all__ = ["NpyReader", "NpzReader"]


@dataclass
class NpyReader:
    """Rows of a ``.npy`` file: a matrix, or a 1-D structured array with named columns."""

    path: Path

    def __post_init__(self) -> None:
        array = self._open()
        if array.dtype.names:
            if array.ndim != 1:
                fail(self.path, "", f"a structured array must have 1 dimension, not {array.ndim}")
            self.columns = tuple(array.dtype.names)
        else:
            if array.ndim != 2:
                fail(self.path, "", f"must be a matrix of rows, found {array.ndim} dimension(s)")
            self.columns = tuple(f"x{i}" for i in range(array.shape[1]))
        self.n_rows: int | None = len(array)

    def _open(self) -> Array:
        try:
            return np.asarray(np.lib.format.open_memmap(self.path, mode="r"))
        except Exception as error:  # NumPy's parser of headers raises whatever it meets
            if "object" in str(error) or "Python objects" in str(error):
                raise FormatError(
                    f"{self.path} holds pickled Python objects, which are never loaded; "
                    "save the rows as an array of integers"
                ) from error
            raise FormatError(f"{self.path} is no NPY file, or it is cut short: {error}") from error

    def batches(
        self, columns: Sequence[str], kinds: Mapping[str, str], start: Position | None
    ) -> Iterator[Batch]:
        """Yield slices of the memory-mapped array."""
        array = self._open()
        size = rows_per_batch(len(columns))
        chosen = _chosen(columns, self.columns)
        for first in range((start or (0,))[0], len(array), size):
            part = array[first : first + size]
            values: Array | list[Array]
            if array.dtype.names:
                values = [np.ascontiguousarray(part[name]) for name in columns]
            else:
                values = part if chosen is None else part[:, chosen]
            after = first + len(part)
            yield Batch(tuple(columns), values, first + 1, None, (after,), after / len(array))

    def line(self, row: int) -> int | None:
        """Return None: arrays have no lines."""
        return None


@dataclass
class NpzReader:
    """Rows of a ``.npz`` archive: one matrix and any 1-D arrays of its length, or 1-D arrays only.

    The matrix gives columns x0, x1, …; each 1-D array is one more column with its own name,
    so that an archive of ``X`` and ``y`` is read with ``label="y"``. Without a matrix every
    1-D array is a column, and all must have the same length. Members are streamed, so
    a compressed archive larger than memory can be read.
    """

    path: Path

    def __post_init__(self) -> None:
        matrices, vectors = {}, {}
        try:
            with zipfile.ZipFile(self.path) as archive:
                for name in archive.namelist():
                    with archive.open(name) as member:
                        shape, fortran, dtype = _header(member, self.path)
                    key = name.removesuffix(".npy")
                    if len(shape) == 2:
                        matrices[key] = (shape, fortran, dtype)
                    elif len(shape) == 1:
                        vectors[key] = (shape, fortran, dtype)
        except FormatError:
            raise
        except Exception as error:  # so do the parsers of archives and headers
            raise FormatError(f"{self.path} is no NPZ file, or it is cut short: {error}") from error
        lengths = {shape[0] for shape, _, _ in vectors.values()}
        self._matrix: str | None = None
        if not matrices and len(lengths) == 1:
            self.n_rows: int | None = lengths.pop()
            self._width = 0
            self._vectors = list(vectors)
            self.columns = tuple(vectors)
            return
        if len(matrices) != 1:
            fail(
                self.path,
                "",
                f"must hold exactly one matrix (or 1-D arrays of one length), found "
                f"{len(matrices)} ({', '.join(sorted(matrices)) or 'none'}); save the one to read "
                "on its own",
            )
        ((self._matrix, (shape, fortran, _)),) = matrices.items()
        if fortran and shape[0] > 1 and shape[1] > 1:
            fail(self.path, "", "its matrix is in Fortran order and cannot be streamed; save a "
                 "C-ordered copy (np.ascontiguousarray)")  # fmt: skip
        self.n_rows = shape[0]
        self._width = shape[1]
        self._vectors = [key for key, (s, _, _) in vectors.items() if s[0] == shape[0]]
        self.columns = tuple(f"x{i}" for i in range(shape[1])) + tuple(self._vectors)

    def batches(
        self, columns: Sequence[str], kinds: Mapping[str, str], start: Position | None
    ) -> Iterator[Batch]:
        """Yield slices, decompressing as they come."""
        size = rows_per_batch(self._width or len(columns))
        skip = (start or (0,))[0]
        total = self.n_rows or 0
        try:
            with zipfile.ZipFile(self.path) as archive:
                keys = [v for v in self._vectors if v in columns]
                keys += [] if self._matrix is None else [self._matrix]
                members = {key: _Stream(archive, key, self.path) for key in keys}
                for first in range(0, total, size):
                    parts = {k: m.rows(min(size, total - first)) for k, m in members.items()}
                    after = first + len(parts[keys[0]])
                    if after <= skip:
                        continue
                    cut = max(0, skip - first)
                    matrix = np.empty((0, 0)) if self._matrix is None else parts[self._matrix][cut:]
                    if keys == [self._matrix]:
                        chosen = _chosen(columns, self.columns)
                        values: Any = matrix if chosen is None else matrix[:, chosen]
                    else:
                        values = [
                            parts[c][cut:] if c in members else matrix[:, int(c[1:])]
                            for c in columns
                        ]
                    yield Batch(
                        tuple(columns), values, first + cut + 1, None, (after,), after / total
                    )
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError) as error:
            raise FormatError(f"{self.path} is cut short or damaged: {error}") from error

    def line(self, row: int) -> int | None:
        """Return None: arrays have no lines."""
        return None


class _Stream:
    """One member of an archive, read row by row."""

    def __init__(self, archive: zipfile.ZipFile, key: str, path: Path) -> None:
        name = key if key in archive.namelist() else f"{key}.npy"
        self._member = archive.open(name)
        self._shape, _, self._dtype = _header(self._member, path)

    def rows(self, n: int) -> Array:
        """Read the next n rows."""
        per_row = int(np.prod(self._shape[1:], dtype=np.int64))
        raw = self._member.read(n * per_row * self._dtype.itemsize)
        return np.frombuffer(raw, dtype=self._dtype).reshape((n, *self._shape[1:]))


def _header(member: IO[bytes], path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npformat.read_magic(member)
    read = npformat.read_array_header_1_0 if version == (1, 0) else npformat.read_array_header_2_0
    shape, fortran, dtype = read(member)
    if dtype.hasobject:
        raise FormatError(
            f"{path} holds pickled Python objects, which are never loaded; save the rows as "
            "arrays of integers"
        )
    return shape, fortran, dtype


def _chosen(columns: Sequence[str], all_columns: tuple[str, ...]) -> Array | None:
    if tuple(columns) == all_columns:
        return None
    places = {name: i for i, name in enumerate(all_columns)}
    return np.array([places[name] for name in columns], dtype=np.intp)
