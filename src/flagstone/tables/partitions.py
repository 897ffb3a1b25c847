"""A data set in partitions, which depend only on the data.

Files and a stated size decide, or the blocks of a Dask collection; never how many workers there
are, nor which of them is free.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flagstone.algebra.fields import FieldLike, as_field
from flagstone.encoding import Encoding
from flagstone.errors import InputError, Parameter
from flagstone.guarantees.exact import positive
from flagstone.shards import Shard, ShardTask, too_few
from flagstone.tables.arrays import MemoryReader
from flagstone.tables.batches import Reader, numbered
from flagstone.tables.encoded import Batches, first_rows, without_repeats
from flagstone.tables.opening import open_table
from flagstone.tables.proposals import SAMPLE_ROWS
from flagstone.tables.table import Table

#: Of a Parquet file, unpacked: some ten seconds of work, and memory for a small part of it.
PARTITION_BYTES = 1 << 28
#: How much of either end of a file a checkpoint knows it by.
_ENDS = 1 << 16


@dataclass(frozen=True)
class Partition:
    """A shard of a data set: see :class:`flagstone.shards.Shard`.

    Attributes
    ----------
    name : str
        What messages call it.
    rows, label
        A table, a reader that opens its own file, or rows (and labels) that Dask computes.
    n_rows : int or None
        How many rows there are, if that is known before they are read.
    limit : int or None
        How many rows that count are used, the first ones; None for all.
    """

    name: str
    rows: Any
    label: Any = None
    n_rows: int | None = None
    limit: int | None = None

    def batches(
        self,
        task: ShardTask,
        limit: int | None = None,
        start: Sequence[int] | None = None,
    ) -> Batches:
        """Yield the rows that count, encoded: from a position on, and at most this many."""
        if isinstance(self.rows, Table):
            batches = self.rows.rows(task.encoding, start)
        else:
            reader = self.rows
            if not isinstance(reader, Reader):
                reader = MemoryReader.of(self.rows, self.name, self.label)
            batches = Table([reader]).rows(task.encoding, start, may_be_empty=True)
        if task.deduplicate:
            batches = without_repeats(batches)
        return batches if limit is None else first_rows(batches, limit)

    def limited(self, n_rows: int, *, counted: bool = True) -> Partition:
        """Return the partition of the first rows, this many."""
        return replace(self, n_rows=n_rows if counted else self.n_rows, limit=n_rows)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows in partitions.

    Make one with `of`: from files, directories and URIs, from a Dask array, or from a Dask frame.

    Attributes
    ----------
    partitions : list of Partition
    table : Table
        All files, or the first rows of a collection: what encodings are chosen from.
    cut : str
        How the rows are cut, which is part of the question: "none" (not at all), "files", a number
        of bytes, or "blocks" (of a Dask collection).
    max_rows : int or None
        How many rows are to be used, the first ones that count; None for all. Which partitions
        they are in is known once it is known which rows count: see
        :meth:`flagstone.pipeline.Pipeline.first`.
    """

    partitions: list[Partition]
    table: Table
    cut: str
    max_rows: int | None = None

    def __repr__(self) -> str:
        return f"Dataset({len(self.partitions)} partition(s) of {self.table!r})"

    @classmethod
    def of(
        cls, source: Any, label: Any = None, *, partition: str | int = "files", **reading: Any
    ) -> Dataset:
        """Cut a source into partitions.

        Parameters
        ----------
        source : path or URI, list of them, Dask array or Dask frame
            Of a Dask collection every block of rows is a partition.
        label : Dask array or series, optional
            Labels beside the rows, cut at the same places.
        partition : "none", "files" or int
            Of files: one partition of all rows; one of every file; or the same with Parquet files
            cut between row groups into parts of this many bytes, unpacked ("files" does that with
            those of more than 256 MiB).
        **reading
            As of :func:`flagstone.tables.open_table`.

        Examples
        --------
        >>> import dask.array as da
        >>> Dataset.of(da.ones((100, 4), chunks=(30, 2), dtype=int))
        Dataset(4 partition(s) of Table(1 file(s), 30 rows, 4 columns))
        """
        if hasattr(source, "__dask_graph__"):
            return _of_collection(source, label, reading)
        if label is not None:
            raise InputError("rows of files have their labels in a column: give its name")
        sources = [source] if isinstance(source, (str, Path)) else list(source)
        return cls.of_table(open_table(*sources, **reading), partition)

    @classmethod
    def of_table(cls, table: Table, partition: str | int = "files") -> Dataset:
        """Cut a table into partitions: see `of`."""
        if partition == "none":
            whole = Partition(str(table.files[0]), table, None, table.n_rows)
            return cls([whole], table, "none")
        if isinstance(partition, str) and partition != "files":
            raise InputError(
                Parameter("partition", partition), ' must be "none", "files", or a number of bytes'
            )
        from flagstone.tables.remote import from_anywhere

        size = PARTITION_BYTES if partition == "files" else positive("partition", partition)
        parts = []
        for reader in table.readers:
            found = copy.copy(reader)  # which opens the same file in any folder
            found.path = from_anywhere(found.path)
            parts += [Partition(str(p.path), p, None, p.n_rows) for p in found.split(size)]
        return cls(parts, table, str(partition))

    @property
    def n_rows(self) -> int | None:
        """All rows, if that is known before they are read."""
        known = [part.n_rows for part in self.partitions if part.n_rows is not None]
        return sum(known) if len(known) == len(self.partitions) else None

    def first(self, n_rows: int) -> Dataset:
        """Return the data set of the first rows that count, this many.

        Rows that are left out (frames of another length, equal rows that follow each other) do not
        count. InputError if there are fewer: here, or when the rows were counted.
        """
        positive("max_rows", n_rows)
        total = self.n_rows
        if total is not None and total < n_rows:
            raise too_few(n_rows, total)
        return replace(self, max_rows=n_rows)

    def encoding(
        self,
        field: FieldLike = 2,
        *,
        label: str | None = None,
        encode: Mapping[str, str] | str | None = None,
        missing: str = "refuse",
        **options: Any,
    ) -> Encoding:
        """Decide how columns become rows over a field: see :meth:`flagstone.tables.Table.encoding`.

        Of a Dask array all entries must be elements, and nothing is looked at.
        """
        if not isinstance(self.table.readers[0], _Unseen):
            return self.table.encoding(
                field, label=label, encode=encode, missing=missing, **options
            )
        if missing != "refuse":
            raise InputError(
                Parameter("missing", missing),
                ": entries of a Dask array must be elements, none of them missing; "
                "leave such rows out of the array first",
            )
        names = [name for name in self.table.columns if name != label]
        kind = encode if isinstance(encode, str) else "element"
        return Encoding.plain(as_field(field), names, label=label, kind=kind)

    def identity(self, shards: Sequence[Shard]) -> str:
        """Return an id of the files: their names, sizes and both ends, and where they are cut.

        To hash every byte would be to read everything, which a resumed run is to be spared.
        """
        digest = hashlib.sha256()
        for path in self.table.files:
            size = path.stat().st_size
            with path.open("rb") as stream:
                ends = stream.read(_ENDS)
                stream.seek(max(0, size - _ENDS))
                ends += stream.read(_ENDS)
            known = [str(path), size, hashlib.sha256(ends).hexdigest()]
            digest.update(json.dumps(known).encode())
        cuts = [[part.name, part.n_rows, part.limit] for part in shards]
        digest.update(json.dumps(cuts).encode())
        return digest.hexdigest()


class _Unseen(MemoryReader):
    """The columns of a Dask array, of which no row was looked at."""


def _of_collection(source: Any, label: Any, reading: Mapping[str, Any]) -> Dataset:
    for name in reading:
        raise InputError(f"{name} is for files, but these rows are in Dask's hands; leave it out")
    if getattr(source, "ndim", 0) != 2:
        raise InputError(f"rows are a matrix or a frame, got {type(source).__name__}")
    is_array = not hasattr(source, "columns")
    if is_array and source.numblocks[1] > 1:
        source = source.rechunk({1: -1})
    blocks = source.to_delayed()
    blocks = blocks[:, 0].tolist() if is_array else list(blocks)
    sizes = _sizes(source, len(blocks))
    labels: list[Any] = [None] * len(blocks)
    if label is not None:
        labels = _label_blocks(label, sizes)
    parts = [
        Partition(f"partition {i}", block, beside, n)
        for i, (block, beside, n) in enumerate(zip(blocks, labels, sizes, strict=True))
    ]
    if is_array:
        columns = (*numbered(source.shape[1]), *(["y"] if label is not None else []))
        reader: Any = _Unseen(Path("partition 0"), columns, [], sizes[0])
        return Dataset(parts, Table([reader]), "blocks")
    for number in range(len(blocks)):  # most often the first one has rows
        head = source.partitions[number].head(SAMPLE_ROWS)
        if len(head):
            beside = None if label is None else label.partitions[number].head(len(head))
            table = Table([MemoryReader.of(head, f"partition {number}", beside)])
            return Dataset(parts, table, "blocks")
    raise InputError("none of the partitions holds a row")


def _sizes(source: Any, n_blocks: int) -> list[int | None]:
    """How many rows each block has; None where Dask does not know."""
    chunks = getattr(source, "chunks", [[math.nan] * n_blocks])[0]
    return [None if math.isnan(n) else int(n) for n in chunks]


def _label_blocks(label: Any, sizes: Sequence[int | None]) -> list[Any]:
    if getattr(label, "ndim", 0) != 1 or not hasattr(label, "to_delayed"):
        raise InputError(
            f"labels are a Dask array or series with one value per row, got {type(label).__name__}"
        )
    blocks = list(label.to_delayed())
    if len(blocks) != len(sizes):
        raise InputError(
            f"the rows have {len(sizes)} partitions, but their labels {len(blocks)}; cut both at "
            "the same places"
        )
    for i, (mine, known) in enumerate(zip(_sizes(label, len(blocks)), sizes, strict=True)):
        if None not in (mine, known) and mine != known:
            raise InputError(
                f"partition {i}: {known:,} rows, but {mine:,} labels; cut both at the same places"
            )
    return blocks
