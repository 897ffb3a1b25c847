"""Staircase: how fast the spans of a flag shrink."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from flagstone.algebra.flag import Flag, Level


class Plateau(Level):
    """Thresholds ``first .. last`` that give one space of dimension ``dim``, under some rule."""

    @property
    def breadth(self) -> float:
        """Its width relative to the noise of its ends: counts vary by their square roots."""
        return math.sqrt(self.last) - math.sqrt(self.first - 1)


@dataclass(frozen=True)
class Staircase:
    """The dimension of V_j for every set j: what rules, audits, plots and reports read.

    A long flat step is a space that many sets agree on.

    Attributes
    ----------
    ambient_dim : int
        The dimension of the rows.
    levels : tuple of Level
        From the largest space (set 1) to the smallest; {0} past the last.

    Examples
    --------
    >>> from flagstone import Flag
    >>> stairs = Staircase.of(Flag(3).update([[1, 0, 0], [0, 1, 0]], weights=[7, 2]))
    >>> stairs.levels
    (Level(dim=2, first=1, last=2), Level(dim=1, first=3, last=7))
    >>> stairs.n_sets
    7
    """

    ambient_dim: int
    levels: tuple[Level, ...]

    @classmethod
    def of(cls, flag: Flag) -> Staircase:
        """Read the staircase off a flag."""
        return cls(flag.dim, tuple(flag.levels()))

    @property
    def n_sets(self) -> int:
        """The number of sets; V_j = {0} past the last."""
        return self.levels[-1].last if self.levels else 0

    @property
    def rank(self) -> int:
        """The dimension of the span of all rows."""
        return self.levels[0].dim if self.levels else 0

    def widest(self, ends: Iterable[tuple[int, Level]]) -> Plateau | None:
        """Return the plateau that stands out most, of those whose rising ends a rule gives.

        >>> stairs = Staircase(3, (Level(3, 1, 2), Level(2, 3, 40), Level(1, 41, 60)))
        >>> stairs.widest((level.last, level) for level in stairs.levels)
        Plateau(dim=2, first=3, last=40)
        """
        plateaus, start = [], 0
        for end, level in ends:
            plateaus.append(Plateau(level.dim, start + 1, end))
            start = end
        return max(plateaus, key=lambda plateau: plateau.breadth, default=None)

    def to_list(self) -> list[list[int]]:
        """Return the levels as JSON values: [dimension, sets, first set]."""
        return [[level.dim, level.multiplicity, level.first] for level in self.levels]
