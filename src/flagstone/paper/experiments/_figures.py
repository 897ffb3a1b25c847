"""What the figures of experiments share: rows of numbers, bars, bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.paper.experiments._runner import Row
from flagstone.plots.style import SERIES, Axes, Display

#: The learners that several experiments compare, in the order of their figures.
LEARNERS = ("elimination", "heavy", "index")


@dataclass(repr=False)
class Figure(Display):
    """What an experiment draws: its configuration, and all rows of numbers."""

    config: Any
    rows: list[Row]

    def where(self, **wanted: Any) -> list[Row]:
        """Return the rows that have these values."""
        return [row for row in self.rows if wanted.items() <= row.items()]

    def _draw_learners(self, axes: list[Axes], x: str, scale: float = 1) -> None:
        """Draw accuracy above and replicability below, of each learner, ± 2 SEM."""
        for axis, quantity in zip(axes, ("accuracy", "replicability"), strict=True):
            axis.set_ylabel(f"{quantity} (%)")
            for name in LEARNERS:
                kind, rows = SERIES[name], self.where(learner=name)
                places = [scale * row[x] for row in rows]
                y = 100 * np.array([row[quantity] for row in rows])
                error = 200 * np.array([row[f"{quantity}_sem"] for row in rows])
                axis.plot(places, y, label=kind.label, **kind.line)
                look: Any = {"color": kind.color, "alpha": 0.18, "linewidth": 0}
                axis.fill_between(places, y - error, y + error, **look)


def column(rows: list[Row], key: str) -> Array:
    """Return what rows have under a key."""
    return np.array([row[key] for row in rows])


def bars(rows: list[Row], key: str) -> Array:
    """Return how far the intervals of a quantity reach below it, and above."""
    low, y, high = (column(rows, name) for name in (f"{key}_low", key, f"{key}_high"))
    return np.array([y - low, high - y])
