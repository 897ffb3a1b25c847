"""Measurement: what a fitted answer does on given rows, counted exactly."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """Exact counts on given rows; unlike a guarantee, a fact about these rows alone.

    Attributes
    ----------
    n_rows : int
        Rows looked at, repeated rows counted as often as their weight says.
    n_uncovered : int
        Rows outside the kept subspace.
    n_wrong : int or None
        Rows on which the answer is wrong; None where the answer is ⊥ or makes no prediction.

    Examples
    --------
    >>> from flagstone.estimators import Measurement
    >>> print(Measurement(200, 3, 2))
    200 rows: 3 uncovered (1.5 %), 2 wrong (1 %)
    """

    n_rows: int
    n_uncovered: int
    n_wrong: int | None = None

    @property
    def uncovered(self) -> float:
        """The share of rows outside the kept subspace."""
        return self.n_uncovered / self.n_rows if self.n_rows else 0.0

    @property
    def wrong(self) -> float | None:
        """The share of rows on which the answer is wrong."""
        if self.n_wrong is None:
            return None
        return self.n_wrong / self.n_rows if self.n_rows else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        text = (
            f"{self.n_rows:,} rows: {self.n_uncovered:,} uncovered ({100 * self.uncovered:.3g} %)"
        )
        if self.n_wrong is not None and self.wrong is not None:
            text += f", {self.n_wrong:,} wrong ({100 * self.wrong:.3g} %)"
        return text
