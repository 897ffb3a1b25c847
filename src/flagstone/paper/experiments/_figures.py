"""What the figures of experiments share: rows of numbers, error bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.algebra.fields import Array
from flagstone.paper.experiments._runner import Row
from flagstone.plots.style import Display


@dataclass(repr=False)
class Figure(Display):
    """What an experiment draws: its configuration, and all rows of numbers."""

    config: Any
    rows: list[Row]

    def where(self, **wanted: Any) -> list[Row]:
        """Return the rows that have these values."""
        return [row for row in self.rows if wanted.items() <= row.items()]


def column(rows: list[Row], key: str) -> Array:
    """Return what rows have under a key."""
    return np.array([row[key] for row in rows])


def bars(rows: list[Row], key: str) -> Array:
    """Return how far the intervals of a quantity reach below it, and above."""
    low, y, high = (column(rows, name) for name in (f"{key}_low", key, f"{key}_high"))
    return np.array([y - low, high - y])
