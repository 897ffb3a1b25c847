"""`Window`: where a threshold is drawn from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """Where a threshold is drawn from: {t_min..t_max} (index), or (t_min - 1, t_max] (heavy).

    Examples
    --------
    >>> print(Window("index", 1, 100), Window("heavy", 4, 10.5))
    {1..100} (3, 10.5]
    """

    rule: str
    t_min: int
    t_max: int | float

    @property
    def start(self) -> int:
        """k = t_min - 1: the sets before the window, and the outliers that are kept out."""
        return self.t_min - 1

    @property
    def length(self) -> int | float:
        """T, the number of thresholds, or the length of the interval."""
        return self.t_max - self.start

    def __str__(self) -> str:
        if self.rule == "index":
            return f"{{{self.t_min}..{self.t_max}}}"
        return f"({self.start}, {self.t_max:g}]"
