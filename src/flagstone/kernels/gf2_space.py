"""One subspace over GF(2) and its coordinates: which rows lie in it, and as which combination."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flagstone.kernels._jit import leaf
from flagstone.kernels.gf2_linalg import back_substitute
from flagstone.kernels.gf2_product import add_named, choose, pick

Words = NDArray[np.uint64]

_NONE = np.uint64(0)


class Space:
    """The span of an echelon basis whose rows have the leading bits ``columns``, rising.

    In the reduced basis the coordinates of a row are its bits in these columns, and the row lies
    in the space iff it is their combination.
    """

    def __init__(self, basis: Words, columns: NDArray[np.int64]) -> None:
        self.columns = columns
        self.basis = basis.copy()
        back_substitute(self.basis, columns)
        self._own = choose(columns, basis.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory held."""
        own = self._own.masks.nbytes + self._own.starts.nbytes
        return self.basis.nbytes + self.columns.nbytes + own

    def coordinates(self, rows: Words) -> Words:
        """The coordinates of rows that lie in the space."""
        return pick(rows, self._own)

    def split(self, rows: Words) -> tuple[Words, NDArray[np.int64]]:
        """The coordinates of the rows inside, in order, and the indices of the rows outside."""
        coordinates = pick(rows, self._own)
        outside = np.empty(len(rows), np.int64)
        inside = _split(rows, self.combine(coordinates), coordinates, outside)
        return coordinates[:inside], outside[: len(rows) - inside]

    def combine(self, coordinates: Words) -> Words:
        """The rows that have the given coordinates."""
        rows = np.zeros((len(coordinates), self.basis.shape[1]), np.uint64)
        add_named(coordinates, self.basis, rows)
        return rows


@leaf
def _split(rows: Any, combined: Any, coordinates: Any, outside: Any) -> int:
    """Move the coordinates of rows that they combine to, to the front; list the other rows."""
    inside = 0
    for i in range(len(rows)):
        apart = _NONE
        for k in range(rows.shape[1]):
            apart |= rows[i, k] ^ combined[i, k]
        if apart != _NONE:
            outside[i - inside] = i
        else:
            for k in range(coordinates.shape[1]):
                coordinates[inside, k] = coordinates[i, k]
            inside += 1
    return inside
