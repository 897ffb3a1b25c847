"""Columns of Arrow as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from flagstone.errors import InputError
from flagstone.tables.batches import Array, Reader
from flagstone.tables.files import MOST_ROW_BYTES

#: Cells that are quicker made one by one.
_FEW = 4096
#: The types of numbers, by Arrow's numbers for them.
_SIZES = {"float": (16, 32, 64), "int": (8, 16, 32, 64), "uint": (8, 16, 32, 64)}
_NUMBERS = [f"{kind}{size}" for kind, sizes in _SIZES.items() for size in sizes]
_DTYPES = {getattr(pa, name)().id: np.dtype(name) for name in _NUMBERS}


def as_numpy(column: Any, reader: Reader, name: str) -> Array:
    """Return a valid Arrow column as NumPy; missing values are None, in an array of objects."""
    if column.type.id in _DTYPES:  # most columns: at once
        return _objects(column.to_pylist()) if column.null_count else _plain(column)
    is_dictionary = pa.types.is_dictionary(column.type)
    if pa.types.is_nested(column.type.value_type if is_dictionary else column.type):
        reader.fail(
            f"column {name!r}",
            f"holds {column.type}; a column must hold numbers, text, or true and false",
        )
    if is_dictionary:
        values = _plain(column.dictionary)
        if column.null_count or column.dictionary.null_count:
            values, gaps = values.astype(object), np.asarray(column.is_null())
            values[np.asarray(column.dictionary.is_null())] = None
            places = _plain(column.indices.fill_null(0))
            out = values[places] if len(values) else np.full(len(column), None, dtype=object)
            out[gaps] = None
            return out
        # never decoded: a long text that many rows share would be written out for each
        return values[_plain(column.indices)]
    return _plain(column)


def from_pandas(column: Any, reader: Reader, name: str) -> Array:
    """Return a column of a pandas frame as `as_numpy` does; the reader says where it stands."""
    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        reason = " ".join(str(error).split())[:160]
        raise InputError(
            f"{reader.path}, column {name!r}: a column must hold numbers, text, or true and "
            f"false ({reason})"
        ) from error
    found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    return as_numpy(found, reader, name)


def _plain(column: Any) -> Array:
    # Arrow's own to_numpy would load pandas, which takes longer than a small file.
    dtype = _DTYPES.get(column.type.id)
    if dtype is not None:
        flat = np.frombuffer(column.buffers()[1] or b"", dtype)
        return flat[column.offset : column.offset + len(column)]
    if pa.types.is_boolean(column.type) and not column.null_count:
        return _plain(column.cast(pa.uint8())).astype(bool)
    if str(column.type).endswith("_view"):  # views may show one long text over and over
        sizes = np.frombuffer(column.buffers()[1] or b"", dtype="<i4")[::4]
        total = int(sizes[column.offset : column.offset + len(column)].sum(dtype=np.int64))
        if total > 16 * MOST_ROW_BYTES:
            raise ValueError(f"its texts are {total:,} bytes long, more than a batch may hold")
    if pa.types.is_string(column.type) and len(column) > _FEW:
        # a text that many cells share is made once
        shared = column.dictionary_encode()
        if len(shared.dictionary) < len(column) // 2:
            return _plain(shared.dictionary)[_plain(shared.indices)]
    return _objects(column.to_pylist())


def _objects(values: list[Any]) -> Array:
    out = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):  # all at once, lists in them would become rows
        out[index] = value
    return out
