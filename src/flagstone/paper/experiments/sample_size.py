"""sample-size: rows needed against the dimension, under each analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flagstone.guarantees import heavy_rows, index_rows, paper_rows
from flagstone.paper.experiments._runner import Experiment, Row, Unit, column
from flagstone.plots.style import COLUMN_WIDTH, SERIES, Axes, caption


@dataclass(frozen=True)
class SampleSize(Experiment):
    """Dimensions and the two promises."""

    dims: tuple[int, ...] = (2, 4, 6, 8, 10, 14, 20, 28, 40, 64, 100)
    rho: float = 0.05
    eps: float = 0.1

    name: ClassVar = "sample-size"
    title: ClassVar = "Rows needed for proven replicability and coverage"
    small: ClassVar = {"dims": (2, 5, 10, 20, 50)}
    size: ClassVar = (COLUMN_WIDTH, 2.7)
    _lines: ClassVar = (
        ("paper_corrected", "corrected", "paper, corrected"),
        ("paper_printed", "printed", "paper, as printed"),
        ("heavy_sharp", "heavy", "heavy rule, sharp"),
        ("index", "index", "index rule"),
    )

    def units(self) -> list[Unit]:
        return [{"dims": list(self.dims)}]

    def compute(self, unit: Unit, rng: np.random.RandomState) -> list[Row]:
        del rng  # formulas
        return [
            {
                "dim": dim,
                "rho": self.rho,
                "eps": self.eps,
                "paper_printed": paper_rows(dim, self.rho, self.eps),
                "paper_corrected": paper_rows(dim, self.rho, self.eps, corrected=True),
                "heavy_sharp": heavy_rows(dim, self.rho, self.eps),
                "index": index_rows(dim, self.rho, self.eps),
            }
            for dim in unit["dims"]
        ]

    def draw(self, data: list[Row], axes: list[Axes]) -> None:
        axis = axes[0]
        for key, look, label in self._lines:
            y = column(data, key).astype(float)
            axis.plot(column(data, "dim"), y, label=label, **SERIES[look].line)
        self._mark_gain(data, axis)
        axis.set(xscale="log", yscale="log")
        ticks = [2, 4, 10, 20, 40, 100]
        axis.set_xticks(ticks, [str(t) for t in ticks])
        axis.minorticks_off()
        axis.set(xlabel="dimension $d$ of the rows", ylabel="rows needed per sample")
        caption(axis, rf"proven $\rho={self.rho:g}$ and $\varepsilon={self.eps:g}$")
        axis.legend(loc="upper left")

    def _mark_gain(self, data: list[Row], axis: Axes) -> None:
        """Say how many times fewer rows the index rule needs, where the reader looks first."""
        row = min(data, key=lambda r: abs(r["dim"] - 20))
        high, low = float(row["paper_printed"]), float(row["index"])
        axis.annotate(
            "",
            (row["dim"], low * 1.6),
            (row["dim"], high / 1.6),
            arrowprops={"arrowstyle": "<->", "linewidth": 0.8},
        )
        power = int(np.floor(np.log10(high / low)))
        factor = high / low / 10**power
        axis.text(
            row["dim"] * 1.07,
            high / 15,
            rf"${factor:.0f}\times 10^{power}$ times fewer" + f"\nat $d={row['dim']}$",
            fontsize=7,
            va="center",
        )
