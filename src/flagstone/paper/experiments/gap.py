"""gap: how far apart the multiplicities of two samples are, against three bounds.

The paper's key lemma bounds Φ = max_V |n_1(V) − n_2(V)| over all subspaces by 3√(m ln 1/δ) with
probability 1 − δ. Its proof takes the sensitivity to a *replaced* row for that of a removed one;
corrected, the bound is 2√m + 2√(m ln 1/δ). The sharp analyses need no such bound, only the mean
square: E Φ ≤ √(E‖n_1 − n_2‖²) ≤ 2√m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flagstone.algebra import Flag, Subspace
from flagstone.audit.intervals import standard_error
from flagstone.distributions import (
    Distribution,
    Finite,
    blocks,
    geometric,
    planted_subspace,
    random_subspace,
)
from flagstone.guarantees import paper_gap
from flagstone.guarantees.binomial import binomial_least
from flagstone.paper.experiments._runner import Experiment, Row, Unit, bars, column, where
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes

LAWS = ("geometric", "blocks", "planted", "two directions")


def law_named(name: str) -> Distribution:
    """Return one of the laws of this experiment."""
    if name == "geometric":
        return geometric(12)
    if name == "blocks":
        return blocks(16)
    if name == "planted":
        return planted_subspace(random_subspace(5, 8, rng=1), contamination=0.1)
    # Two unit vectors of equal mass: the difference of two counts has the widest spread.
    return Finite([[1, 0], [0, 1]], [0.5, 0.5])


def multiplicity_gap(a: Flag, b: Flag) -> tuple[int, int]:
    """Return max_V |n_a(V) − n_b(V)| and the sum of squares over all V."""
    counts: dict[Subspace, list[int]] = {}
    for side, flag in enumerate((a, b)):
        for level in flag.levels():
            counts.setdefault(flag.span_at(level.first), [0, 0])[side] = level.multiplicity
    gaps = [abs(x - y) for x, y in counts.values()]
    return max(gaps, default=0), sum(g * g for g in gaps)


@dataclass(frozen=True)
class Gap(Experiment):
    """Sample sizes, pairs and the δ of the quantile."""

    sizes: tuple[int, ...] = (100, 316, 1000, 3162, 10_000, 31_623, 100_000)
    pairs: int = 400
    delta: float = 0.05

    name: ClassVar = "gap"
    title: ClassVar = "Multiplicities of two samples: measured gaps and the bounds on them"
    small: ClassVar = {"sizes": (100, 1000, 10_000), "pairs": 60}
    panels: ClassVar = (2, 1)
    size: ClassVar = (COLUMN_WIDTH, 4.2)
    _look: ClassVar = {
        "geometric": ("blue", "o"),
        "blocks": ("vermillion", "^"),
        "planted": ("purple", "D"),
        "two directions": ("orange", "s"),
    }

    def units(self) -> list[Unit]:
        return [{"law": law, "m": m} for law in LAWS for m in self.sizes]

    def compute(self, unit: Unit, rng: np.random.RandomState) -> list[Row]:
        law, m = law_named(unit["law"]), unit["m"]
        largest, squares = [], []
        for _ in range(self.pairs):
            a, b = (Flag(law.dim, law.field).update(*law.sample_weighted(m, rng)) for _ in range(2))
            top, square = multiplicity_gap(a, b)
            largest.append(top)
            squares.append(square)
        # A distribution-free 95 % interval for the quantile, from binomial order statistics.
        ordered = sorted(largest)
        n, p = self.pairs, 1 - self.delta
        low = ordered[max(0, binomial_least(n, p, 0.975) - 1)]
        high = ordered[min(n - 1, binomial_least(n, p, 0.025))]
        return [
            {
                "law": unit["law"],
                "m": m,
                "pairs": self.pairs,
                "delta": self.delta,
                "gap_mean": float(np.mean(largest)),
                "gap_mean_sem": standard_error(largest),
                "gap_quantile": float(ordered[min(n - 1, math.ceil(p * n) - 1)]),
                "gap_quantile_low": float(low),
                "gap_quantile_high": float(high),
                "rms": math.sqrt(float(np.mean(squares))),
                "bound_printed": paper_gap(m, self.delta, corrected=False),
                "bound_corrected": paper_gap(m, self.delta, corrected=True),
                "bound_sharp_rms": 2 * math.sqrt(m),
            }
        ]

    def draw(self, data: list[Row], axes: list[Axes]) -> None:
        m = list(self.sizes)
        first = where(data, law=LAWS[0])
        for axis, key, look, label in (
            (axes[0], "bound_printed", "printed", "printed bound"),
            (axes[0], "bound_corrected", "corrected", "corrected bound"),
            (axes[1], "bound_sharp_rms", "sharp", r"sharp bound $2\sqrt{m}$"),
        ):
            line = SERIES[look].line | {"marker": "", "label": label}
            axis.plot(m, column(first, key), linewidth=1.6, **line)
        for law, (color, marker) in self._look.items():
            rows = where(data, law=law)
            line = {"color": OKABE_ITO[color], "marker": marker}
            y, reach = column(rows, "gap_quantile"), bars(rows, "gap_quantile")
            axes[0].errorbar(m, y, reach, label=law, linewidth=0.8, **line)
            axes[1].plot(m, column(rows, "rms"), linewidth=0.8, **line)
        axes[0].set_ylabel(rf"{100 * (1 - self.delta):g} % quantile of the gap (sets)")
        axes[1].set_ylabel(r"r.m.s. of $\|n_1-n_2\|_2$ (sets)")
        for axis in axes:
            axis.set(xscale="log", yscale="log")
        axes[0].tick_params(labelbottom=False)
        axes[1].set_xlabel("rows per sample, $m$")
        axes[0].set_ylim(top=axes[0].get_ylim()[1] * 5)  # room for the legend
        axes[0].legend(ncols=2, loc="upper left", columnspacing=1.0)
        axes[1].legend(loc="upper left")
