"""Histogram: the order-free summary for small domains."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.checks import checked_dim, checked_total, checked_weights
from flagstone.errors import InputError
from flagstone.fields import Array, Field, FieldLike, Rows, as_field, width
from flagstone.flag import Flag

_MOST_VALUES = 1 << 26


class Histogram:
    """How often each vector of F^d was seen, for domains that fit in memory.

    Row order leaves no trace in it, and shards merge by addition without any loss; as a flag
    (:meth:`to_flag`) it stands for its rows in value order, the value of a row x being
    Σ x_i q^i (over GF(2): its packed word).

    Parameters
    ----------
    dim : int
        The number of columns d, with q^d at most 2^26.
    field : Field, int or str, default=2
        A finite field of order q.

    Attributes
    ----------
    counts : array of int64, shape (q^d,)
        How often each value was seen.

    Notes
    -----
    **Guarantees**

    :meth:`to_flag` equals the flag of the stable partition of the rows sorted by value,
    whatever the order in which they came and however they were split over shards.

    Examples
    --------
    >>> from flagstone import Histogram
    >>> a = Histogram(2).update([[1, 0], [1, 1], [1, 0]])
    >>> b = Histogram(2).update([[0, 1]])
    >>> a.merge(b) == Histogram(2).update([[0, 1], [1, 0], [1, 0], [1, 1]])
    True
    >>> a.merge(b).to_flag().counts.tolist()
    [2, 2]
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, dim: int, field: FieldLike = 2) -> None:
        self.field = as_field(field)
        self.dim = checked_dim(dim)
        q = self.field.order
        if q is None:
            raise InputError("a histogram needs a finite field; over QQ use Flag")
        if self.dim > 26 or q**self.dim > _MOST_VALUES:
            raise InputError(
                f"{self.field}^{self.dim} has more than 2^26 vectors, too many for a "
                "histogram; use Flag"
            )
        self.n_rows = 0
        self.counts: Array = np.zeros(q**self.dim, dtype=np.int64)

    def update(self, X: Any, weights: Any = None) -> Histogram:
        """Add rows, each ``weights[i]`` times, and return self; all are added or none."""
        rows = self.field.rows(X, dim=self.dim)
        counts, total = checked_weights(weights, len(rows))
        checked_total(self.n_rows, total)
        self._add(values_of(self.field, rows), counts)
        return self

    def merge(self, other: Histogram) -> Histogram:
        """Return the histogram of the rows of both."""
        if not isinstance(other, Histogram):
            raise TypeError(f"a histogram merges with a histogram, got {type(other).__name__}")
        if self.field != other.field or self.dim != other.dim:
            raise InputError(
                f"the histograms do not fit: one is over {self.field}^{self.dim}, "
                f"the other over {other.field}^{other.dim}"
            )
        n_rows = checked_total(self.n_rows, other.n_rows)
        both = self.copy()
        both.counts += other.counts
        both.n_rows = n_rows
        return both

    def copy(self) -> Histogram:
        """Return an independent copy."""
        twin = Histogram(self.dim, self.field)
        twin.counts[:] = self.counts
        twin.n_rows = self.n_rows
        return twin

    def to_flag(self) -> Flag:
        """Return the flag of the rows in value order, by weighted inserts."""
        values = np.flatnonzero(self.counts)
        rows = rows_of(self.field, values, self.dim)
        return Flag(self.dim, self.field).update(rows, self.counts[values])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        return (
            self.field == other.field
            and self.dim == other.dim
            and np.array_equal(self.counts, other.counts)
        )

    def __repr__(self) -> str:
        return f"Histogram(dim={self.dim}, field={self.field}, n_rows={self.n_rows})"

    def to_bytes(self) -> bytes:
        """Serialize; equal histograms are byte-identical."""
        from flagstone import serialize

        return serialize.histogram_to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Histogram:
        """Read what :meth:`to_bytes` wrote; anything else is refused with a reason."""
        from flagstone import serialize

        return serialize.histogram_from_bytes(data)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Histogram.from_bytes, (self.to_bytes(),)

    def _add(self, values: Array, weights: Array | None) -> None:
        from flagstone.kernels.small_finite import count

        count(values, weights, self.counts)
        self.n_rows += len(values) if weights is None else int(weights.sum())


def values_of(field: Field, rows: Rows) -> Array:
    """Return the value Σ x_i q^i of each row, by which histograms sort."""
    matrix = field.matrix(rows)
    if field.order == 2:
        return matrix[:, 0]
    assert field.order is not None
    values = np.zeros(len(rows), dtype=np.int64)
    for column in reversed(range(width(rows))):
        values = values * field.order + matrix[:, column]
    return values


def rows_of(field: Field, values: Array, dim: int) -> Rows:
    """Return the rows that have these values."""
    if field.order == 2:
        return field.wrap(values.astype(np.uint64)[:, np.newaxis], dim)
    assert field.order is not None
    digits = [values // field.order**i % field.order for i in range(dim)]
    return field.rows(np.stack(digits, axis=1), dim=dim)
