"""A data set in partitions: which rows belong together follows from the data alone.

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

from flagstone.encoding import Encoding
from flagstone.errors import InputError, MissingDependencyError, Parameter
from flagstone.fields import FieldLike, as_field
from flagstone.guarantees.exact import positive
from flagstone.tables import Table, open_table
from flagstone.tables.columnar import ParquetReader
from flagstone.tables.memory import MemoryReader
from flagstone.tables.proposals import SAMPLE_ROWS
from flagstone.tables.remote import from_anywhere

#: Of a Parquet file, unpacked: some ten seconds of work, and memory for a small part of it.
PARTITION_BYTES = 1 << 28
#: How much of either end of a file a checkpoint knows it by.
_ENDS = 1 << 16


def need_dask() -> Any:
    """Import Dask, or say how to install it."""
    try:
        import dask
    except ImportError as error:
        raise MissingDependencyError(
            "partitions are worked on by Dask; install it with: pip install 'flagstone[dask]'"
        ) from error
    return dask


@dataclass(frozen=True)
class Partition:
    """What one task reads.

    Attributes
    ----------
    name : str
        What messages call it.
    rows, label
        A reader that opens its own file, or rows (and labels) that Dask will have computed.
    n_rows : int or None
        How many rows there are, if that is known before they are read.
    limit : int or None
        How many of them count, the first ones; None for all.
    """

    name: str
    rows: Any
    label: Any = None
    n_rows: int | None = None
    limit: int | None = None


class Dataset:
    """Rows in partitions.

    Make one with `of`: from files, directories and URIs, from a Dask array, or from a Dask frame.

    Attributes
    ----------
    partitions : list of Partition
    table : Table
        All files, or the first rows of a collection: what encodings are chosen from.
    """

    def __init__(self, partitions: Sequence[Partition], table: Table) -> None:
        self.partitions, self.table = list(partitions), table

    def __repr__(self) -> str:
        return f"Dataset({len(self.partitions)} partition(s) of {self.table!r})"

    @classmethod
    def of(
        cls, source: Any, label: Any = None, *, size: int = PARTITION_BYTES, **reading: Any
    ) -> Dataset:
        """Cut a source into partitions.

        Parameters
        ----------
        source : path or URI, list of them, Dask array or Dask frame
            Every file is a partition; a Parquet file that takes more than ``size`` bytes unpacked
            is cut between row groups. Of a Dask collection every block of rows is one.
        label : Dask array or series, optional
            Labels beside the rows, cut at the same places.
        size : int
            Bytes of a partition of a Parquet file.
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
        return cls.of_table(open_table(*sources, **reading), size)

    @classmethod
    def of_table(cls, table: Table, size: int = PARTITION_BYTES) -> Dataset:
        """Cut the files of a table into partitions."""
        positive("partition_size", size)
        parts = []
        for reader in table.readers:
            found = copy.copy(reader)  # which opens the same file in any folder
            found.path = from_anywhere(found.path)
            cut = found.split(size) if isinstance(found, ParquetReader) else [found]
            parts += [Partition(str(part.path), part, None, part.n_rows) for part in cut]
        return cls(parts, table)

    @property
    def n_rows(self) -> int | None:
        """All rows, if that is known before they are read."""
        known = [part.n_rows for part in self.partitions if part.n_rows is not None]
        return sum(known) if len(known) == len(self.partitions) else None

    def first(self, n_rows: int) -> Dataset:
        """Return the data set of so many rows, the first ones."""
        total = self.n_rows
        if total is None:
            raise InputError(
                Parameter("take"),
                " needs partitions that say how many rows they have (Parquet, or known chunks): "
                "these do not",
            )
        if total < n_rows:
            raise InputError(
                Parameter("take", n_rows), f" asks for more rows than there are ({total:,})"
            )
        chosen, left = [], n_rows
        for part in self.partitions:
            if left > 0:
                limit = min(left, part.n_rows or 0)
                chosen.append(replace(part, n_rows=limit, limit=limit))
                left -= limit
        return Dataset(chosen, self.table)

    def encoding(
        self,
        field: FieldLike = 2,
        *,
        columns: Sequence[str] | None = None,
        label: str | None = None,
        encode: Mapping[str, str] | str | None = None,
    ) -> Encoding:
        """Decide how columns become rows over a field: see :meth:`flagstone.tables.Table.encoding`.

        Of a Dask array all entries must be elements, and nothing is looked at.
        """
        if isinstance(self.table.readers[0], _Unseen):
            names = [name for name in self.table.columns if name != label]
            kind = encode if isinstance(encode, str) else "element"
            return Encoding.plain(as_field(field), names, label=label, kind=kind)
        return self.table.encoding(field, columns=columns, label=label, encode=encode)

    def identity(self) -> str:
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
        cuts = [[part.name, part.n_rows, part.limit] for part in self.partitions]
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
        columns = [f"x{i}" for i in range(source.shape[1])] + (["y"] if label is not None else [])
        reader: Any = _Unseen(Path("partition 0"), tuple(columns), [], sizes[0])
        return Dataset(parts, Table([reader]))
    for number in range(len(blocks)):  # most often the first one has rows
        head = source.partitions[number].head(SAMPLE_ROWS)
        if len(head):
            beside = None if label is None else label.partitions[number].head(len(head))
            return Dataset(parts, Table([MemoryReader.of(head, f"partition {number}", beside)]))
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
