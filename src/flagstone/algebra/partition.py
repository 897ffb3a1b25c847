"""Algorithm 3 of the paper, literally: the stable partition into independent sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from flagstone.algebra.fields import Array, FieldLike, as_field


def stable_partition(X: Any, field: FieldLike = 2) -> list[Array]:
    """Partition rows into linearly independent sets A_1, A_2, …, by repeated passes.

    Implements Algorithm 3 ("Stable Partition to Linearly Independent Sets") of [NST26],
    which credits it to Kaplan et al. (2025). Each pass walks over the rows that are left, in
    order, and takes every row that is independent of those it took before.

    This is the slow reference, quadratic in the number of rows. :class:`~flagstone.Flag`
    holds the spans of these sets, of any number of rows, in one pass and O(d²) memory.

    Departures: the algorithm as printed takes non-zero vectors and would never end on a zero
    one; here all-zero rows belong to no set.

    Parameters
    ----------
    X : array-like of shape (n_rows, d)
    field : Field, int or str, default=2

    Returns
    -------
    list of int arrays
        The row numbers of A_1, A_2, …, each rising.

    References
    ----------
    .. [NST26] M. Noivirt, J. Sorrell, E. Tsfadia, "Computationally Efficient Replicable
       Learning of Parities and Applications", 2026.

    Examples
    --------
    The spans of the sets are nested, and the sets share out the non-zero rows:

    >>> from flagstone import stable_partition
    >>> sets = stable_partition([[1, 0], [1, 0], [0, 0], [0, 1], [1, 1]])
    >>> [a.tolist() for a in sets]
    [[0, 3], [1, 4]]
    """
    F = as_field(field)
    rows = F.rows(X)
    vectors = F.array(rows)
    left = np.flatnonzero(F.nonzero(rows)).tolist()
    partition = []
    while left:
        independent: list[int] = []
        rest: list[int] = []
        echelon: list[tuple[int, Array]] = []
        for j in left:
            residual = vectors[j]
            for pivot, row in echelon:
                if residual[pivot] != 0:
                    residual = F.sub(residual, F.mul(residual[pivot], row))
            support = np.flatnonzero(residual != 0)
            if len(support):
                pivot = int(support[0])
                echelon.append((pivot, F.mul(residual, F.inv(residual[pivot]))))
                independent.append(j)
            else:
                rest.append(j)
        partition.append(np.array(independent, dtype=np.int64))
        left = rest
    return partition
