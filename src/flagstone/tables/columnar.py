"""Parquet and Arrow (Feather): typed columns, read a batch at a time and validated before use.

Arrow trusts what a file says about its buffers, so every batch is validated in full first: an
offset beyond its buffer would be followed into foreign memory. Files are read, not mapped into
memory, where a file cut short meanwhile would end the process.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from flagstone.errors import FormatError
from flagstone.tables.arrow_columns import as_numpy
from flagstone.tables.batches import Batch, Reader, Request, reading, rows_per_batch
from flagstone.tables.files import MOST_ROW_BYTES
from flagstone.tables.remote import arrow_file


@dataclass
class ParquetReader(Reader):
    """Rows of a Parquet file, or of some of its row groups."""

    def __post_init__(self) -> None:
        with (
            reading(self.path, "Parquet"),
            arrow_file(self.path) as source,
            parquet.ParquetFile(source) as file,
        ):
            schema = file.schema_arrow
            self.check_width(len(schema.names))
            self.columns = tuple(schema.names)
            self._flat = {f.name for f in schema if not pa.types.is_nested(f.type)}
            self._groups = [
                (index, group.num_rows, group.total_byte_size)
                for index in range(file.num_row_groups)
                for group in [file.metadata.row_group(index)]
            ]
            self.n_rows = file.metadata.num_rows
        self._before = 0  # rows of the file that belong to others

    def split(self, n_bytes: int) -> list[ParquetReader]:
        """Return readers of consecutive row groups, each of up to this many bytes, or of one group.

        What a group is said to take unpacked counts, so the file alone decides.
        """
        parts: list[ParquetReader] = []
        room, before = 0, self._before
        for group in self._groups:
            if not parts or group[2] > room:
                parts.append(copy.copy(self))
                parts[-1]._groups, parts[-1]._before, parts[-1].n_rows = [], before, 0
                room = n_bytes
            parts[-1]._groups.append(group)
            parts[-1].n_rows = (parts[-1].n_rows or 0) + group[1]
            room, before = room - group[2], before + group[1]
        return parts or [self]

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield the columns; row groups that a resumed run has behind it are not read."""
        skip = (asked.start or (self._before,))[0]
        columns, groups = asked.columns, self._groups
        before = self._before
        while groups and before + groups[0][1] <= skip:
            before += groups[0][1]
            groups = groups[1:]
        try:
            with reading(self.path, "Parquet"):
                # Arrow takes room for a power of two of rows, those left of a page included, and
                # copies what fills less than half of it: three quarters are quickest.
                power = (2 * rows_per_batch(len(columns)) // 3).bit_length() - 1
                size = min(3 << min(power, 16), asked.most)
                found = self._read([group[0] for group in groups], columns, size)
                yield from _batches(self, found, columns, before, skip, size, self._before)
        except FormatError as error:
            raise self._damaged(error, columns) from error

    def _read(
        self, groups: Sequence[int], columns: Sequence[str], size: int = 1 << 16
    ) -> Iterator[Any]:
        with (
            arrow_file(self.path) as source,
            # pre_buffer would hold whole row groups of every column at once. So would no buffer;
            # but one grows to whatever a page announces, so small files go without. With
            # read_dictionary, text that is stored once is kept once.
            parquet.ParquetFile(
                source,
                pre_buffer=False,
                buffer_size=1 << 20 if self.path.stat().st_size > MOST_ROW_BYTES else 0,
                read_dictionary=[name for name in columns if name in self._flat],
            ) as file,
        ):
            yield from file.iter_batches(
                batch_size=size,
                row_groups=list(groups),
                columns=list(columns),
                use_threads=False,
            )

    def _damaged(self, error: FormatError, columns: Sequence[str]) -> FormatError:
        """Name the row group that cannot be read, if it is one."""
        for index, n_rows, _ in self._groups:
            try:
                batches = list(_validated(self._read([index], columns)))
                if sum(batch.num_rows for batch in batches) == n_rows:
                    continue
                reason = f"it announces {n_rows:,} rows, but holds others"
            except Exception as problem:  # whatever the parser meets
                reason = " ".join(str(problem).split())[:160] or type(problem).__name__
            return FormatError(f"{self.path}, row group {index} is cut short or damaged ({reason})")
        return error


class ArrowReader(Reader):
    """Rows of an Arrow IPC file or stream (Feather version 2 is the former).

    The chosen columns of one record batch are held in memory at a time.
    """

    def __post_init__(self) -> None:
        with reading(self.path, "Arrow"), arrow_file(self.path) as source:
            self._is_file = source.read(6) == b"ARROW1"
            source.seek(0)
            names = self._open(source).schema.names
            self.check_width(len(names))
            self.columns = tuple(names)

    def _open(self, source: Any, columns: Sequence[str] | None = None) -> Any:
        places = {name: i for i, name in enumerate(self.columns)} if columns else {}
        options = pa.ipc.IpcReadOptions(
            included_fields=sorted(places[name] for name in columns or ()), use_threads=False
        )
        open_it = pa.ipc.open_file if self._is_file else pa.ipc.open_stream
        return open_it(source, options=options)

    def batches(self, asked: Request) -> Iterator[Batch]:
        """Yield the columns of every record batch, cut to a bounded length."""
        skip = (asked.start or (0,))[0]
        with reading(self.path, "Arrow"), arrow_file(self.path) as source:
            found = file = self._open(source, asked.columns)
            if self._is_file:
                found = (file.get_batch(i) for i in range(file.num_record_batches))
            size = min(rows_per_batch(len(asked.columns)), asked.most)
            yield from _batches(self, found, asked.columns, 0, skip, size)


def _validated(found: Iterator[Any]) -> Iterator[Any]:
    for batch in found:
        batch.validate(full=True)
        yield batch


def _batches(
    reader: Reader,
    found: Iterator[Any],
    columns: Sequence[str],
    before: int,
    skip: int,
    limit: int,
    first_row: int = 0,
) -> Iterator[Batch]:
    """Cut batches to a bounded length; ``before`` rows of the file come before the first one."""
    row = before + 1
    total = None if reader.n_rows is None else first_row + reader.n_rows
    for whole in _validated(found):
        first = max(row, skip + 1)
        for at in range(first, row + whole.num_rows, limit):
            batch = whole if at == row and whole.num_rows <= limit else whole.slice(at - row, limit)
            parts = dict(zip(batch.schema.names, batch.columns, strict=True))
            values = [as_numpy(parts[name], reader, name) for name in columns]
            after = at + batch.num_rows - 1
            done = (after - first_row) / reader.n_rows if reader.n_rows else 0.0
            yield Batch(values, at, None, (after,), done)
        row += whole.num_rows
    if total not in (None, row - 1):
        raise ValueError(f"it announces {total:,} rows, but holds {row - 1:,}")
