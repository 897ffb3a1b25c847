"""instability: why plain elimination is not replicable, at any sample size.

The paper's proposition (docs/theory/certificates.md, S39): on the block distribution two samples
rarely have the same span, and their spans differ by many dimensions. And its example D_m, where the
span misses one direction with probability ≈ 0.37.

A span of unit vectors is the set of those seen, so a pair is compared through its counts. The
curves treat the unit vectors as seen independently: the product of the chances to be seen in both
samples or in neither, an approximation that reaches where no simulation can. `in_printed_range`
is m ≤ 2^(√d − 1), the paper's range; S39 proves the bound for √d ≤ m ≤ √d·2^√d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra.subspace import Subspace
from flagstone.audit.intervals import clopper_pearson, standard_error
from flagstone.distributions import blocks, rare_direction
from flagstone.paper.experiments._runner import Experiment, Row, Unit, bars, column, where
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, Axes, caption


@dataclass(frozen=True)
class Instability(Experiment):
    """Dimensions, sample sizes and pairs."""

    dims: tuple[int, ...] = (16, 64, 256, 1024)
    pairs: int = 2000
    rare_dim: int = 6
    rare_sizes: tuple[int, ...] = (10, 30, 100, 300, 1000)
    rare_pairs: int = 2000

    name: ClassVar = "instability"
    title: ClassVar = "Two spans of fresh samples rarely agree: the block distribution and D_m"
    small: ClassVar = {"dims": (16, 64), "pairs": 200, "rare_sizes": (10, 100), "rare_pairs": 200}
    panels: ClassVar = (3, 1)
    size: ClassVar = (COLUMN_WIDTH, 5.6)
    _colors: ClassVar = ("sky", "blue", "vermillion", "black")
    _markers: ClassVar = ("o", "s", "^", "D")

    def units(self) -> list[Unit]:
        found: list[dict[str, Any]] = []
        for dim in self.dims:
            side = math.isqrt(dim)
            step = max(1, side // 8)
            first = math.ceil(math.log2(side))
            powers = range(first, side + 3, step)
            found += [{"law": "blocks", "dim": dim, "log2_m": k} for k in powers]
        found += [{"law": "rare", "dim": self.rare_dim, "m": m} for m in self.rare_sizes]
        return found

    def compute(self, unit: Unit, rng: np.random.RandomState) -> list[Row]:
        if unit["law"] == "rare":
            return [self._rare(unit["m"], rng)]
        dim, m = unit["dim"], 2 ** unit["log2_m"]
        law = blocks(dim)
        equal, gaps = 0, []
        for _ in range(self.pairs):
            first, second = (rng.multinomial(m, law.probabilities)[:dim] > 0 for _ in range(2))
            gap = int(np.count_nonzero(first != second))
            gaps.append(gap)
            equal += gap == 0
        low, high = clopper_pearson(equal, self.pairs)
        missed = (1.0 - law.probabilities[:dim]) ** m
        return [
            {
                "law": "blocks",
                "dim": dim,
                "m": m,
                "in_printed_range": m <= 2.0 ** (math.isqrt(dim) - 1),
                "pairs": self.pairs,
                "same_span": equal / self.pairs,
                "same_span_low": low,
                "same_span_high": high,
                "same_span_product": float(np.prod(missed**2 + (1 - missed) ** 2)),
                "dimension_gap": float(np.mean(gaps)),
                "dimension_gap_sem": standard_error(gaps),
            }
        ]

    def _rare(self, m: int, rng: np.random.RandomState) -> Row:
        """How often the span of m rows of D_m is V, and how often two spans agree."""
        law = rare_direction(self.rare_dim, m)
        spans = [
            Subspace.span(law.sample_weighted(m, rng)[0], dim=law.dim)
            for _ in range(2 * self.rare_pairs)
        ]
        V = law.components[0].subspace  # type: ignore[attr-defined]
        missed = sum(span <= V for span in spans)
        agree = sum(a == b for a, b in zip(spans[::2], spans[1::2], strict=True))
        low, high = clopper_pearson(missed, len(spans))
        pair_low, pair_high = clopper_pearson(agree, self.rare_pairs)
        return {
            "law": "rare",
            "dim": self.rare_dim,
            "m": m,
            "pairs": self.rare_pairs,
            "missed": missed / len(spans),
            "missed_low": low,
            "missed_high": high,
            "missed_exact": (1 - 1 / m) ** m,
            "same_span": agree / self.rare_pairs,
            "same_span_low": pair_low,
            "same_span_high": pair_high,
        }

    def draw(self, data: list[Row], axes: list[Axes]) -> None:
        for i, dim in enumerate(self.dims):
            rows = where(data, law="blocks", dim=dim)
            color, marker = OKABE_ITO[self._colors[i % 4]], self._markers[i % 4]
            m, side = column(rows, "m"), math.isqrt(dim)
            axes[0].plot(m, column(rows, "same_span_product"), color=color)
            # A pair count of 0 has no place on a logarithmic axis: its upper bound has.
            seen = [r for r in rows if r["same_span"] > 0]
            self._draw_points(axes[0], seen, "same_span", color, marker)
            gap, error = column(rows, "dimension_gap"), 2 * column(rows, "dimension_gap_sem")
            look: Any = {"fmt": "-" + marker, "color": color, "elinewidth": 0.8}
            axes[1].errorbar(m, gap / side, error / side, label=f"$d={dim}$", **look)
            for axis in axes[:2]:
                axis.axvline(2.0 ** (side - 1), color=color, linewidth=0.6, linestyle=":")
        for axis in axes[:2]:
            axis.set_xscale("log", base=2)
            axis.set_xlabel("rows per sample, $m$")
        axes[0].set(yscale="log", ylabel="Pr[equal spans]")
        axes[0].set_ylim(top=10)
        note: Any = {"transform": axes[0].transAxes, "ha": "right", "fontsize": 6.5}
        axes[0].text(0.98, 0.62, "points: measured\nlines: if seen independently", **note)
        end = r"(dotted: $m=2^{\sqrt{d}-1}$, end of the printed range)"
        caption(axes[0], rf"$\sqrt{{d}}$ blocks {end}")
        axes[1].set_ylabel(r"dimension gap $/\sqrt{d}$")
        axes[1].set_ylim(bottom=0)
        axes[1].legend(ncols=4, loc="upper right", columnspacing=0.8, handlelength=1.2)
        low, high = axes[1].get_ylim()
        axes[1].set_ylim(low, high * 1.2)
        self._draw_rare(data, axes[2])

    def _draw_points(
        self, axis: Axes, rows: list[Row], key: str, color: str, marker: str, **more: str
    ) -> None:
        look: Any = {"fmt": marker, "color": color, "elinewidth": 0.8, **more}
        axis.errorbar(column(rows, "m"), column(rows, key), bars(rows, key), **look)

    def _draw_rare(self, data: list[Row], axis: Axes) -> None:
        rows = where(data, law="rare")
        m = [r["m"] for r in rows]
        for key, color, marker, label in (
            ("same_span", "orange", "s", "two spans are equal"),
            ("missed", "blue", "o", "span misses the rare direction"),
        ):
            self._draw_points(axis, rows, key, OKABE_ITO[color], marker, label=label)
        q = math.exp(-1)
        right = math.sqrt(m[-1] * m[max(0, len(m) - 2)]) * 1.2
        for y, color, said in (
            (q, "blue", r"$1/e \approx 0.37$"),
            (q * q + (1 - q) ** 2, "orange", r"$\approx 0.53$"),
        ):
            axis.axhline(y, color=OKABE_ITO[color], linewidth=0.8, linestyle="--")
            axis.text(right, y - 0.015, said, va="top", ha="right", fontsize=7)
        axis.set(xscale="log", ylim=(0.2, 0.8), ylabel="probability")
        axis.set_xlabel(r"rows per sample, $m$, of $\mathcal{D}_m$")
        axis.legend(loc="upper right")
