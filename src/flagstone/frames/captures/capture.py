"""Capture: rows kept while they are read, and what does not fit by the equations it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.answers import Constraints
from flagstone.second_pass import Places

#: So many rows that fit, and so many that do not, are kept; the others are only counted.
MOST_ROWS = 65_536


class Capture:
    """Rows of bits, whether each fits, and where those stand that do not.

    Parameters
    ----------
    all_places : bool
        Whether rows that fit shall know their places, too.

    Attributes
    ----------
    n_fits, n_misfits : int
        All rows that were seen, kept or not.
    places : dict of int to list
        File, row and line of kept rows, by their index.

    Examples
    --------
    >>> capture = Capture()
    >>> capture.update(np.eye(2, dtype=np.uint8), np.array([False, True]))
    >>> capture.rows.tolist(), capture.wrong.tolist(), capture.n_misfits
    ([[1, 0], [0, 1]], [False, True], 1)
    """

    def __init__(self, *, all_places: bool = False) -> None:
        self.n_fits = self.n_misfits = self._n_kept = 0
        self.places: dict[int, list[Any]] = {}
        self._all_places = all_places
        self._rows: list[Array] = []
        self._wrong: list[Array] = []

    def update(self, rows: Array, broken: Array | None, places: Places | None = None) -> None:
        """Take rows of bits, and which of them do not fit; none where that is not known."""
        if broken is None:
            return
        bits = np.asarray(rows, dtype=np.uint8)
        bad, good = np.flatnonzero(broken), np.flatnonzero(~broken)
        keep = np.zeros(len(bits), dtype=bool)
        keep[bad[: max(0, MOST_ROWS - self.n_misfits)]] = True
        keep[good[: max(0, MOST_ROWS - self.n_fits)]] = True
        self.n_misfits += len(bad)
        self.n_fits += len(good)
        if not keep.any():
            return
        if places is not None:
            named = keep if self._all_places else keep & broken
            index = self._n_kept + np.flatnonzero(named[keep])
            self.places |= dict(zip(index.tolist(), places(named, len(index)), strict=True))
        self._rows.append(bits[keep])
        self._wrong.append(broken[keep])
        self._n_kept += int(keep.sum())

    @property
    def n_rows(self) -> int:
        """All rows that were seen."""
        return self.n_fits + self.n_misfits

    @property
    def rows(self) -> Array:
        """The kept rows, in their order."""
        if len(self._rows) > 1:
            self._rows = [np.concatenate(self._rows)]
        return self._rows[0]

    @property
    def wrong(self) -> Array:
        """Whether each kept row does not fit."""
        return np.concatenate(self._wrong)

    @property
    def misfits(self) -> list[int]:
        """Which of the kept rows do not fit."""
        return [int(i) for i in np.flatnonzero(self.wrong)]


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
    >>> from flagstone import Constraints
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
    for j, column in enumerate(map(tuple, answer.matrix.T.tolist())):
        columns.setdefault(column, []).append(j)
    found = [
        Cluster(syndrome, tuple(rows), tuple(columns.get(syndrome, [])))
        for syndrome, rows in members.items()
    ]
    return sorted(found, key=lambda cluster: (-len(cluster.rows), cluster.rows))
