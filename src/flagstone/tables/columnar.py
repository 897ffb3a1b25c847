"""Parquet and Arrow (Feather): typed columns, read a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flagstone.errors import FormatError
from flagstone.tables.batches import Array, Batch, Position, Reader, fail, rows_per_batch

__all__ = ["ArrowReader", "ParquetReader", "as_numpy"]

_DTYPES = {"halffloat": "float16", "float": "float32", "double": "float64"}


def as_numpy(column: Any, reader: Reader, name: str, first_row: int) -> Array:
    """Return an Arrow column as NumPy; a missing value is an error that names its row."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        row = first_row + int(np.argmax(np.asarray(column.is_null())))
        line = reader.line(row)
        where = f"row {row}" if line is None else f"line {line}"
        fail(
            reader.path,
            f"{where}, column {name!r}",
            "the value is missing; fill it in or drop the row",
        )
    # Arrow's own to_numpy would load pandas, which takes longer than a small file.
    if pa.types.is_boolean(column.type):
        return as_numpy(column.cast(pa.uint8()), reader, name, first_row).astype(bool)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        dtype = _DTYPES.get(str(column.type), str(column.type))
        flat = np.frombuffer(column.buffers()[1] or b"", dtype=dtype)
        return flat[column.offset : column.offset + len(column)]
    values = column.to_pylist()
    out = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        out[index] = value
    return out


@dataclass
class ParquetReader:
    """Rows of a Parquet file, row group by row group."""

    path: Path

    def __post_init__(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(self.path) as file:
                self.columns = tuple(file.schema_arrow.names)
                self.n_rows: int | None = file.metadata.num_rows
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.path, "Parquet", error) from error

    def batches(
        self, columns: Sequence[str], kinds: Mapping[str, str], start: Position | None
    ) -> Iterator[Batch]:
        """Yield the columns; row groups that a resumed run has behind it are not read."""
        import pyarrow as pa
        from pyarrow import parquet

        skip = (start or (0,))[0]
        try:
            # pre_buffer would hold whole row groups of every column at once.
            with parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=1 << 20) as file:
                groups: list[int] = []
                before = 0
                for group in range(file.num_row_groups):
                    size = file.metadata.row_group(group).num_rows
                    if groups or before + size > skip:
                        groups.append(group)
                    else:
                        before += size
                found = file.iter_batches(
                    batch_size=rows_per_batch(len(columns)),
                    row_groups=groups,
                    columns=list(columns),
                    use_threads=False,
                )
                yield from _batches(self, found, columns, before, skip)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.path, "Parquet", error) from error

    def line(self, row: int) -> int | None:
        """Return None: the rows of a Parquet file have numbers, not lines."""
        return None


@dataclass
class ArrowReader:
    """Rows of an Arrow IPC file or stream (Feather version 2 is the former)."""

    path: Path

    def __post_init__(self) -> None:
        import pyarrow as pa

        try:
            with pa.memory_map(str(self.path)) as source:
                self._is_file = source.read(6) == b"ARROW1"
                source.seek(0)
                self.n_rows: int | None = None
                if self._is_file:
                    file = pa.ipc.open_file(source)
                    names = file.schema.names
                else:
                    names = pa.ipc.open_stream(source).schema.names
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.path, "Arrow", error) from error
        self.columns = tuple(names)

    def batches(
        self, columns: Sequence[str], kinds: Mapping[str, str], start: Position | None
    ) -> Iterator[Batch]:
        """Yield the columns of every record batch, cut to a bounded length."""
        import pyarrow as pa

        skip = (start or (0,))[0]
        try:
            with pa.memory_map(str(self.path)) as source:
                yield from _batches(self, self._slices(source, columns), columns, 0, skip)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.path, "Arrow", error) from error

    def _slices(self, source: Any, columns: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        limit = rows_per_batch(len(columns))
        if self._is_file:
            file = pa.ipc.open_file(source)
            found: Iterator[Any] = (file.get_batch(i) for i in range(file.num_record_batches))
        else:
            found = iter(pa.ipc.open_stream(source))
        for batch in found:
            for offset in range(0, batch.num_rows, limit):
                yield batch.slice(offset, limit).select(list(columns))

    def line(self, row: int) -> int | None:
        """Return None: the rows of an Arrow file have numbers, not lines."""
        return None


def _batches(
    reader: Reader, found: Iterator[Any], columns: Sequence[str], before: int, skip: int
) -> Iterator[Batch]:
    row = before + 1
    for batch in found:
        first, row = row, row + batch.num_rows
        if row <= skip + 1 or not batch.num_rows:
            continue
        if first <= skip:
            batch, first = batch.slice(skip + 1 - first), skip + 1
        values = [as_numpy(batch.column(i), reader, c, first) for i, c in enumerate(columns)]
        done = (row - 1) / reader.n_rows if reader.n_rows else 0.0
        yield Batch(tuple(columns), values, first, None, (row - 1,), done)


def _unreadable(path: Path, kind: str, error: Exception) -> FormatError:
    reason = " ".join(str(error).split())[:160]
    return FormatError(f"{path} is no {kind} file, or it is cut short or damaged ({reason})")
