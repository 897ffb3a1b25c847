"""Staircase: how fast the spans of a flag shrink."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from flagstone.algebra.flag import Flag


class Step(NamedTuple):
    """Sets ``first .. last`` of the partition span one space of dimension ``dim``."""

    dim: int
    first: int
    last: int

    @property
    def sets(self) -> int:
        """How many sets span it."""
        return self.last - self.first + 1


class Plateau(Step):
    """Thresholds ``first .. last`` that give one space of dimension ``dim``, under some rule."""

    @property
    def breadth(self) -> float:
        """How wide it is beside the noise of its ends: counts vary by their roots."""
        return math.sqrt(self.last) - math.sqrt(self.first - 1)


@dataclass(frozen=True)
class Staircase:
    """The dimension of V_j for every set j: what rules, audits, plots and reports read.

    A long flat step is a space that many sets agree on.

    Attributes
    ----------
    ambient_dim : int
        The dimension of the rows.
    steps : tuple of Step
        From the largest space (set 1) to the smallest; {0} past the last.

    Examples
    --------
    >>> from flagstone import Flag
    >>> stairs = Staircase.of(Flag(3).update([[1, 0, 0], [0, 1, 0]], weights=[7, 2]))
    >>> stairs.steps
    (Step(dim=2, first=1, last=2), Step(dim=1, first=3, last=7))
    >>> stairs.n_sets
    7
    """

    ambient_dim: int
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, flag: Flag) -> Staircase:
        """Read the staircase off a flag."""
        steps = (Step(v.dim, v.first_index, v.last_index) for v in flag.levels())
        return cls(flag.dim, tuple(steps))

    @property
    def n_sets(self) -> int:
        """The number of sets; V_j = {0} past the last."""
        return self.steps[-1].last if self.steps else 0

    @property
    def rank(self) -> int:
        """The dimension of the span of all rows."""
        return self.steps[0].dim if self.steps else 0

    def widest(self, ends: Iterable[tuple[int, Step]]) -> Plateau | None:
        """Return the plateau that stands out most, of those whose rising ends a rule gives.

        >>> stairs = Staircase(3, (Step(3, 1, 2), Step(2, 3, 40), Step(1, 41, 60)))
        >>> stairs.widest((step.last, step) for step in stairs.steps)
        Plateau(dim=2, first=3, last=40)
        """
        plateaus, start = [], 0
        for end, step in ends:
            plateaus.append(Plateau(step.dim, start + 1, end))
            start = end
        return max(plateaus, key=lambda plateau: plateau.breadth, default=None)

    def to_list(self) -> list[list[int]]:
        """Return the levels as JSON values: [dimension, sets, first set]."""
        return [[step.dim, step.sets, step.first] for step in self.steps]
