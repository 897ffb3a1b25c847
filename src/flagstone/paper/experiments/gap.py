"""gap: how far apart the multiplicities of two samples are, against three bounds.

The paper's key lemma bounds Φ = max_V |n_1(V) − n_2(V)| over all subspaces by 3√(m ln 1/δ) with
probability 1 − δ. Its proof takes the sensitivity to a *replaced* row for that of a removed one;
corrected, the bound is 2√m + 2√(m ln 1/δ). The sharp analyses need no such bound, only the mean
square: E Φ ≤ √(E‖n_1 − n_2‖²) ≤ 2√m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace
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
from flagstone.paper.experiments._figures import Figure, bars, column
from flagstone.paper.experiments._runner import Experiment, Row
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes

LAWS = ("geometric", "blocks", "planted", "two directions")


@dataclass(frozen=True)
class GapConfig:
    """Sample sizes, pairs and the δ of the quantile."""

    sizes: tuple[int, ...] = (100, 316, 1000, 3162, 10_000, 31_623, 100_000)
    pairs: int = 400
    delta: float = 0.05
    seed: str = "2026"


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
            counts.setdefault(level.subspace, [0, 0])[side] = level.multiplicity
    gaps = [abs(x - y) for x, y in counts.values()]
    return max(gaps, default=0), sum(g * g for g in gaps)


def units(config: GapConfig) -> list[dict[str, Any]]:
    """One unit per law and number of rows."""
    return [{"law": law, "m": m} for law in LAWS for m in config.sizes]


def compute(config: GapConfig, unit: dict[str, Any], rng: np.random.RandomState) -> list[Row]:
    law, m = law_named(unit["law"]), unit["m"]
    largest, squares = [], []
    for _ in range(config.pairs):
        a, b = (Flag(law.dim, law.field).update(*law.sample_weighted(m, rng)) for _ in range(2))
        top, square = multiplicity_gap(a, b)
        largest.append(top)
        squares.append(square)
    # A distribution-free 95 % interval for the quantile, from binomial order statistics.
    ordered = sorted(largest)
    n, p = config.pairs, 1 - config.delta
    low = ordered[max(0, binomial_least(n, p, 0.975) - 1)]
    high = ordered[min(n - 1, binomial_least(n, p, 0.025))]
    return [
        {
            "law": unit["law"],
            "m": m,
            "pairs": config.pairs,
            "delta": config.delta,
            "gap_mean": float(np.mean(largest)),
            "gap_mean_sem": standard_error(largest),
            "gap_quantile": float(ordered[min(n - 1, math.ceil(p * n) - 1)]),
            "gap_quantile_low": float(low),
            "gap_quantile_high": float(high),
            "rms": math.sqrt(float(np.mean(squares))),
            "bound_printed": paper_gap(m, config.delta, corrected=False),
            "bound_corrected": paper_gap(m, config.delta, corrected=True),
            "bound_sharp_rms": 2 * math.sqrt(m),
        }
    ]


class GapDisplay(Figure):
    """Quantiles of the gap below two bounds, its r.m.s. below the sharp one."""

    panels = (2, 1)
    size = (COLUMN_WIDTH, 4.2)
    _look: ClassVar = {
        "geometric": ("blue", "o"),
        "blocks": ("vermillion", "^"),
        "planted": ("purple", "D"),
        "two directions": ("orange", "s"),
    }

    def _draw(self, axes: list[Axes]) -> None:
        m = list(self.config.sizes)
        first = self.where(law=LAWS[0])
        for axis, key, look, label in (
            (axes[0], "bound_printed", "printed", "printed bound"),
            (axes[0], "bound_corrected", "corrected", "corrected bound"),
            (axes[1], "bound_sharp_rms", "sharp", r"sharp bound $2\sqrt{m}$"),
        ):
            line = SERIES[look].line | {"marker": "", "label": label}
            axis.plot(m, column(first, key), linewidth=1.6, **line)
        for law, (color, marker) in self._look.items():
            rows = self.where(law=law)
            line = {"color": OKABE_ITO[color], "marker": marker}
            y, reach = column(rows, "gap_quantile"), bars(rows, "gap_quantile")
            axes[0].errorbar(m, y, reach, label=law, linewidth=0.8, **line)
            axes[1].plot(m, column(rows, "rms"), linewidth=0.8, **line)
        axes[0].set_ylabel(rf"{100 * (1 - self.config.delta):g} % quantile of the gap (sets)")
        axes[1].set_ylabel(r"r.m.s. of $\|n_1-n_2\|_2$ (sets)")
        for axis in axes:
            axis.set_xscale("log")
            axis.set_yscale("log")
        axes[0].tick_params(labelbottom=False)
        axes[1].set_xlabel("rows per sample, $m$")
        axes[0].set_ylim(top=axes[0].get_ylim()[1] * 5)  # room for the legend
        axes[0].legend(ncols=2, loc="upper left", columnspacing=1.0)
        axes[1].legend(loc="upper left")


GAP = Experiment(
    name="gap",
    title="Multiplicities of two samples: measured gaps and the bounds on them",
    config=GapConfig(),
    quick=GapConfig(sizes=(100, 1000, 10_000), pairs=60),
    units=units,
    compute=compute,
    display=GapDisplay,
)
