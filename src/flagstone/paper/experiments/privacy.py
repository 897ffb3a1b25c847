"""privacy: what confidence costs, for a replicable learner and for a pure-DP one.

The paper's section on limits (docs/theory/certificates.md, S40): the replicable parity learner adds
O(log(1/δ)/ε) rows for confidence 1 − δ, the pure-DP one multiplies its rows by log(1/δ).

Above: the rows that suffice according to theory. The replicable learner needs more rows in all, but
its line is flat where the private one climbs; ``rows_added`` in the data are those that confidence
beyond δ = 0.1 adds. Below: the smallest measured number of rows with which each learner fails
(error above ε) in at most a share δ of the runs, for a small dimension; bars reach from the first
size that 95 % confidence cannot exclude to the first one it confirms. The replicable learner runs
with the window of its coverage promise ε/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

import numpy as np

from flagstone.audit.intervals import clopper_pearson
from flagstone.guarantees import generalization_rows, parity_rows, private_rows, private_sizes
from flagstone.paper.experiments._runner import Experiment, Row, Unit, column, where
from flagstone.paper.experiments.costs import all_ones, private_rule, replicable_rule
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes, caption
from flagstone.rules import IndexRule


def _needed(
    learner: str, delta: float, sizes: np.ndarray[Any, Any], failures: list[int], runs: int
) -> Row:
    """Return the first size whose failure rate is at most δ, with its uncertainty."""
    rates = np.array(failures) / runs
    bounds = [clopper_pearson(f, runs) for f in failures]

    def first(good: np.ndarray[Any, Any]) -> int | None:
        # From there on, all larger sizes must do as well: a lucky dip does not count.
        stays = np.logical_and.accumulate(good[::-1])[::-1]
        return int(sizes[int(np.argmax(stays))]) if stays.any() else None

    return {
        "part": "measured",
        "learner": learner,
        "delta": delta,
        "rows": first(rates <= delta),
        "rows_low": first(np.array([low for low, _ in bounds]) <= delta),
        "rows_high": first(np.array([high for _, high in bounds]) <= delta),
        "runs": runs,
    }


@dataclass(frozen=True)
class Privacy(Experiment):
    """Promises, and how much is measured."""

    dims: tuple[int, ...] = (5, 20)
    rho: float = 0.1
    eps: float = 0.1
    alpha: float = 1.0
    log10_deltas: tuple[int, ...] = (1, 2, 3, 5, 10, 15, 20, 30, 40)
    masses: tuple[float, ...] = (0.35, 0.3, 0.2, 0.15)
    deltas: tuple[float, ...] = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32)
    runs: int = 300
    grid: int = 9

    name: ClassVar = "privacy"
    title: ClassVar = "What confidence costs: replicable and pure-DP learners"
    small: ClassVar = {"deltas": (1 / 2, 1 / 8), "runs": 40, "grid": 6}
    panels: ClassVar = (2, 1)
    size: ClassVar = (COLUMN_WIDTH, 5.0)

    def units(self) -> list[Unit]:
        found: list[dict[str, Any]] = [{"part": "theory"}, {"part": "index"}]
        return found + [{"part": "private", "delta": delta} for delta in self.deltas]

    def compute(self, unit: Unit, rng: np.random.RandomState) -> list[Row]:
        if unit["part"] == "theory":
            return self._theory()
        if unit["part"] == "index":
            sizes, runs = np.unique(np.geomspace(4, 60, self.grid).astype(int)), 4 * self.runs
            failures = [self._failures(None, int(m), runs, rng) for m in sizes]
            return [_needed("index", delta, sizes, failures, runs) for delta in self.deltas]
        delta = unit["delta"]
        blocks = private_sizes(len(self.masses), self.eps, delta).blocks + 1
        sizes = blocks * np.unique(np.geomspace(10, 260, self.grid).astype(int))
        failures = [self._failures(delta, int(m), self.runs, rng) for m in sizes]
        return [_needed("private", delta, sizes, failures, self.runs)]

    def _theory(self) -> list[Row]:
        """Rows needed, and how many of them confidence beyond δ = 0.1 adds, at most."""
        rows: list[Row] = []
        first = Fraction(1, 10)
        for dim, power in product(self.dims, self.log10_deltas):
            delta = Fraction(1, 10**power)
            ours = parity_rows(dim + 1, self.rho, self.eps, delta)
            less, more = (generalization_rows(dim + 1, self.eps, x) for x in (first, delta))
            assert less is not None
            assert more is not None
            fewer, private = (
                private_rows(dim, self.eps, float(x), self.alpha) for x in (first, delta)
            )
            needed = ("index", ours, more - less), ("private", private, private - fewer)
            for learner, total, added in needed:
                row = {"part": "theory", "learner": learner, "dim": dim, "delta": float(delta)}
                rows.append(row | {"rows": total, "rows_added": added})
        return rows

    def _failures(self, delta: float | None, m: int, runs: int, rng: np.random.RandomState) -> int:
        """In how many runs the private learner (with a delta) or the replicable one fails."""
        law, window, failed = all_ones(self.masses), IndexRule(eps=self.eps / 2, t_min=1), 0
        for _ in range(runs):
            rows, seed = law.sample(m, rng), int(rng.randint(0, 2**31 - 1))
            if delta is None:
                rule = replicable_rule(rows, window, seed, "uniform")
            else:
                rule = private_rule(rows, self.alpha, delta, seed)
            failed += rule.is_bottom or law.error(rule) > self.eps
        return failed

    def draw(self, data: list[Row], axes: list[Axes]) -> None:
        theory, measured = axes
        markers = dict(zip(self.dims, ("o", "s", "^", "D"), strict=False))
        for learner in ("index", "private"):
            for dim in sorted(markers, reverse=True):  # the legend in the order of the lines
                self._draw_theory(data, theory, learner, dim, markers[dim])
        theory.set_yscale("log")
        low, high = theory.get_ylim()
        theory.set_ylim(low / 10 ** (0.75 * 2 * len(markers)), high)  # room for the legend
        ticks = [p for p in (1, 10, 20, 30, 40) if p <= max(self.log10_deltas)]
        theory.set_xticks(ticks, [f"$10^{{-{p}}}$" for p in ticks])
        theory.minorticks_off()
        caption(
            theory,
            rf"theory: $\varepsilon={self.eps:g}$, $\rho={self.rho:g}$, "
            rf"$\alpha={self.alpha:g}$; × growth from $\delta=0.1$",
        )
        theory.legend(loc="lower right")
        for learner in ("private", "index"):
            self._draw_measured(data, measured, learner)
        places = [math.log2(1 / delta) for delta in self.deltas]
        measured.set_xticks(places, [f"1/{1 / delta:.0f}" for delta in self.deltas])
        measured.set_ylim(bottom=0)
        for axis in axes:
            axis.set(xlabel=r"allowed failure probability $\delta$", ylabel="rows needed")
        caption(
            measured,
            f"measured: $d={len(self.masses)}$, {self.runs} runs per size; bars 95 %"
            "\n"
            r"(index rule: window for $\varepsilon$ alone, no $\rho$ proven)",
        )
        measured.legend(loc="upper left")

    def _draw_theory(
        self, data: list[Row], axis: Axes, learner: str, dim: int, marker: str
    ) -> None:
        kind, rows = SERIES[learner], where(data, part="theory", dim=dim, learner=learner)
        x, y = -np.log10(column(rows, "delta")), column(rows, "rows")
        line = kind.line | {"marker": marker}
        axis.plot(x, y, label=f"{kind.label}, $d={dim}$: ×{y[-1] / y[0]:.3g}", **line)

    def _draw_measured(self, data: list[Row], axis: Axes, learner: str) -> None:
        kind, rows = SERIES[learner], where(data, part="measured", learner=learner)
        rows = [row for row in rows if row["rows"] is not None]
        if not rows:
            axis.plot([], [], color=OKABE_ITO["grey"], label=f"{kind.label}: beyond the grid")
            return
        x = [math.log2(1 / r["delta"]) for r in rows]
        y = np.array([r["rows"] for r in rows], dtype=float)
        slope = float(np.polyfit(x, y, 1)[0]) if len(rows) > 1 else 0.0
        low = y - [r["rows_low"] for r in rows]
        high = [(r["rows_high"] or r["rows"]) for r in rows] - y
        label = rf"{kind.label}: $\approx$ {slope:.0f} rows per halving"
        axis.errorbar(x, y, [low, high], elinewidth=0.8, capsize=2, label=label, **kind.line)
