"""Rows in internal form: append a column, blank out, sort, walk in chunks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flagstone.algebra.bitrows import BitRows
from flagstone.algebra.fields import Array, Field, Rows, width

#: Entries of rows that are lifted at a time, a megabyte if packed: what a chunk costs by itself
#: then does not matter, nor does the memory.
CHUNK = 1 << 23


def chunks(n_rows: int, dim: int) -> Iterator[slice]:
    """Cut n_rows of this many columns into slices."""
    size = max(1, CHUNK // max(64, dim))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def append_column(field: Field, rows: Rows, column: Array) -> Rows:
    """Return rows with one more column of elements; packed rows are copied once."""
    matrix, dim = field.matrix(rows), width(rows)
    if not isinstance(rows, BitRows):
        return field.wrap(np.concatenate([matrix, column[:, np.newaxis]], axis=1), dim + 1)
    last = column.astype(np.uint64)[:, np.newaxis]
    last <<= np.uint64(dim % 64)
    if dim % 64 == 0:
        words = np.concatenate([matrix, last], axis=1)
    else:
        words = matrix.copy() if dim > 64 else last
        words[:, -1:] |= last if dim > 64 else matrix
    return field.wrap(words, dim + 1)


def append_ones(field: Field, rows: Rows) -> Rows:
    """Return the rows (x, 1)."""
    return append_column(field, rows, np.full(len(rows), field.one, dtype=field.dtype))


def keep_rows(field: Field, rows: Rows, keep: Array) -> Rows:
    """Return rows with those not to be kept replaced by zero rows, so that m stays the same."""
    matrix = field.matrix(rows).copy()
    matrix[~keep] = field.zero if not isinstance(rows, BitRows) else 0
    return field.wrap(matrix, width(rows))


def value_order(field: Field, rows: Rows, labels: Array | None = None) -> Array:
    """Return the places of rows in the order of their values, labels deciding first.

    Of the value Σ x_i q^i of (x, y): an order that no sample has a say in, so that removing a row
    leaves the others unchanged (docs/theory/flag.md, S7).

    >>> from flagstone import GF
    >>> value_order(GF(3), GF(3).rows([[0, 2], [1, 0], [2, 1], [1, 0]])).tolist()
    [1, 3, 2, 0]
    """
    columns = list(field.matrix(rows).T)
    return np.lexsort(columns if labels is None else [*columns, labels])
