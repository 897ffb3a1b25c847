"""Clusters: rows that do not fit, by the equations that they break."""

from __future__ import annotations

from dataclasses import dataclass

from flagstone.algebra.fields import Array
from flagstone.answers import Constraints


@dataclass(frozen=True)
class Cluster:
    """Rows that break the same equations.

    Attributes
    ----------
    syndrome : tuple of int
        For each equation of the answer, whether they break it.
    rows : tuple of int
        Which rows they are.
    columns : tuple of int
        Bits of which one alone, turned over, breaks just these equations.
    """

    syndrome: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]


def clusters(answer: Constraints, misfits: Array) -> list[Cluster]:
    """Sort rows by the equations that they break, the most frequent first.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone.answers import Constraints
    >>> checks = Constraints([[1, 0, 1, 1], [0, 1, 1, 0]], [0, 0])
    >>> for cluster in clusters(checks, np.array([[0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]])):
    ...     print(cluster)
    Cluster(syndrome=(1, 0), rows=(0, 1), columns=(0, 3))
    Cluster(syndrome=(1, 1), rows=(2,), columns=(2,))
    """
    members: dict[tuple[int, ...], list[int]] = {}
    for i, syndrome in enumerate(map(tuple, answer.syndrome(misfits).tolist())):
        members.setdefault(syndrome, []).append(i)
    columns: dict[tuple[int, ...], list[int]] = {}
    for j, column in enumerate(map(tuple, answer.shown[:, :-1].T.tolist())):
        columns.setdefault(column, []).append(j)
    found = [
        Cluster(syndrome, tuple(rows), tuple(columns.get(syndrome, [])))
        for syndrome, rows in members.items()
    ]
    return sorted(found, key=lambda cluster: (-len(cluster.rows), cluster.rows))
