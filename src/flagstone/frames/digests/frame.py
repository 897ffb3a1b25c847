"""Frame: the rows that obey equations over GF(2), column by column; relations, and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flagstone.algebra import AffineSubspace, Array, Subspace
from flagstone.answers import Constraints
from flagstone.errors import InputError

#: Frames of which more bits vary are long: their checks are looked for near both ends.
LONG = 1024


@dataclass(frozen=True)
class Relation:
    """The sum of some columns is 0 or 1.

    Examples
    --------
    >>> print(Relation((36, 37), 1).text([f"x{i}" for i in range(40)]))
    x36 ⊕ x37 = 1
    """

    columns: tuple[int, ...]
    value: int

    def text(self, names: tuple[str, ...] | list[str]) -> str:
        """Return the relation for people."""
        return f"{' ⊕ '.join(names[i] for i in self.columns)} = {self.value}"

    @classmethod
    def of_row(cls, row: Array) -> Relation:
        """Return the relation that a row (a | b) stands for."""
        return cls(tuple(np.flatnonzero(row[:-1]).tolist()), int(row[-1]))

    def broken(self, X: Array) -> Array:
        """Say of each row of bits whether it breaks the relation."""
        odd = X[:, list(self.columns)].sum(axis=1) & 1
        return np.asarray(odd != self.value)


@dataclass(frozen=True, eq=False)
class Frame:
    """The rows that obey equations over GF(2): a point and directions, seen column by column.

    Attributes
    ----------
    directions : array of shape (r, d)
        Column i says on which of r free bits the bit i depends.
    point : array of shape (d,)
        One row that obeys.
    names : tuple of str
    by_case : bool
        Whether the constants of digests depend on some bits (``--case``).

    Examples
    --------
    >>> from flagstone.answers import Constraints
    >>> frame = Frame.of(Constraints([[1, 0, 0], [0, 1, 1]], [1, 1]))
    >>> frame.pattern
    '1??'
    >>> frame.pairs
    (Relation(columns=(1, 2), value=1),)
    """

    directions: Array
    point: Array
    names: tuple[str, ...]
    by_case: bool = False

    @classmethod
    def of(cls, constraints: Constraints) -> Frame:
        """Return the rows that obey; equations over another field, or without any, are refused."""
        if constraints.field.order != 2:
            raise InputError(f"frames are bits, these equations are over {constraints.field}")
        if constraints.is_bottom:
            raise InputError("no row obeys these equations: they contradict each other")
        V = constraints.subspace
        names = constraints.names or tuple(f"x{i}" for i in range(constraints.dim))
        if isinstance(V, AffineSubspace):
            return cls(V.direction.basis, V.point, names)
        return cls(V.basis, np.zeros(constraints.dim, dtype=np.uint8), names)

    @property
    def dim(self) -> int:
        """The number of columns."""
        return len(self.point)

    @property
    def n_free(self) -> int:
        """The number of bits that nothing determines."""
        return len(self.directions)

    @cached_property
    def varies(self) -> Array:
        """Which columns are not constant."""
        return np.asarray(self.directions.any(axis=0))

    @property
    def is_long(self) -> bool:
        """Whether so many bits vary that checks are looked for near the ends alone."""
        return int(self.varies.sum()) > LONG

    @cached_property
    def padded(self) -> Array:
        """The directions and, as column −1, a bit that is always 0."""
        return np.pad(self.directions, ((0, 0), (0, 1)))

    @cached_property
    def echelons(self) -> tuple[Array, Array]:
        """The directions (padded, too), in the order of where they begin, and of where they end."""
        turned = Subspace.span(self.directions[:, ::-1]).basis[:, ::-1]
        return self.padded, np.pad(turned, ((0, 0), (0, 1)))

    @property
    def pattern(self) -> str:
        """One character per column: 0, 1 or ?."""
        bits = zip(self.point.tolist(), self.varies.tolist(), strict=True)
        return "".join("?" if free else str(bit) for bit, free in bits)

    @cached_property
    def shapes(self) -> list[bytes]:
        """One value for each column: equal for columns that are equal or opposite."""
        return [column.tobytes() for column in np.ascontiguousarray(self.directions.T)]

    @cached_property
    def pairs(self) -> tuple[Relation, ...]:
        """Columns that equal, or are opposite to, an earlier one: the first such."""
        first: dict[bytes, int] = {}
        pairs = []
        for i in np.flatnonzero(self.varies).tolist():
            j = first.setdefault(self.shapes[i], i)
            if j != i:
                pairs.append(Relation((j, i), int(self.point[i] ^ self.point[j])))
        return tuple(pairs)

    def seen(self, columns: Sequence[int]) -> Frame:
        """Return some columns alone."""
        chosen = list(columns)
        directions = Subspace.span(self.directions[:, chosen]).basis
        names = tuple(self.names[i] for i in chosen)
        return Frame(directions, self.point[chosen], names, self.by_case)

    def without(self, columns: Sequence[int]) -> Frame:
        """Return the frame with zeros in some columns, so that they explain nothing."""
        directions, point = self.directions.copy(), self.point.copy()
        directions[:, list(columns)] = 0
        point[list(columns)] = 0
        return Frame(Subspace.span(directions).basis, point, self.names, self.by_case)

    @cached_property
    def own(self) -> tuple[int, ...]:
        """The columns that vary, and not just as an earlier one does."""
        follow = {pair.columns[1] for pair in self.pairs}
        return tuple(i for i in np.flatnonzero(self.varies).tolist() if i not in follow)

    def copies(self, columns: Sequence[int]) -> set[int]:
        """The other columns that equal, or are opposite to, one of these."""
        shown = {self.shapes[i] for i in columns if self.varies[i]}
        return {i for i, c in enumerate(self.shapes) if c in shown} - set(columns)

    def needed(self, columns: Sequence[int], by: Sequence[int]) -> int | None:
        """Return how many of the others, from the first on, settle some columns; None: never."""
        if not len(by):
            return None if self.directions[:, list(columns)].any() else 0
        space = Subspace.span(self.directions[:, [*by, *columns]])
        if space.dim and space.pivots[-1] >= len(by):
            return None
        # columns are sums of the pivots before them, each of which depends on no earlier column
        used = np.flatnonzero(space.basis[:, len(by) :].any(axis=1))
        return space.pivots[used[-1]] + 1 if len(used) else 0

    def settle(self, columns: Sequence[int], by: Sequence[int]) -> bool:
        """Say whether some columns are functions of others."""
        return self.needed(columns, by) is not None

    def n_inputs(self, columns: Sequence[int], keys: Sequence[int]) -> int:
        """Count the independent inputs of a map that adds a key for each column.

        Columns that are equal, or opposite, enter together: where their keys cancel, the map does
        not read them.

        >>> from flagstone.answers import Constraints
        >>> frame = Frame.of(Constraints([[0, 1, 1]], [0]))
        >>> frame.n_inputs([0, 1, 2], [1, 1, 1]), frame.n_inputs([0, 1, 2], [1, 1, 2])
        (1, 2)
        """
        together: dict[bytes, int] = {}
        for column, key in zip(columns, keys, strict=True):
            together[self.shapes[column]] = together.get(self.shapes[column], 0) ^ key
        return rank(self.directions[:, [i for i in columns if together[self.shapes[i]]]])

    @cached_property
    def _equations(self) -> Array:
        return Subspace.span(self.directions, dim=self.dim).annihilator().basis

    def solvable(self, columns: Sequence[int]) -> bool:
        """Say whether the equations can be solved for all of these columns at once.

        >>> from flagstone.answers import Constraints
        >>> frame = Frame.of(Constraints([[1, 0, 1, 1], [0, 1, 0, 1]], [0, 0]))
        >>> frame.solvable([2, 3]), frame.solvable([0, 2])
        (True, False)
        """
        return rank(self._equations[:, list(columns)]) == len(columns)


def rank(rows: Array) -> int:
    """Return the rank over GF(2) of a 0/1 matrix."""
    return Subspace.span(rows).dim if rows.size else 0
