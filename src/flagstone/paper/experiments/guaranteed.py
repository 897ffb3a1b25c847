"""guaranteed: the theorem at work, at its own windows and sample sizes.

For each dimension the rows and the window are those that *prove* ρ and ε. Samples of up to 10^10
rows come as one multinomial draw each; the threshold is integrated out exactly, and uncovered rows
are counted for the worst threshold of the window, so "never above ε" is checked for all of them.

The laws: the paper's geometric law, a ladder of unit vectors whose masses lie several standard
deviations apart just below T/m (the worst case known for the index rule), and a planted subspace
with outliers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra.flag import Flag
from flagstone.audit.integrate import Thresholds, disagreement
from flagstone.audit.intervals import standard_error
from flagstone.distributions import (
    Distribution,
    Finite,
    geometric,
    planted_subspace,
    random_subspace,
)
from flagstone.guarantees import heavy_length, heavy_rows, index_length, index_rows
from flagstone.paper.experiments._figures import Figure, column
from flagstone.paper.experiments._runner import Experiment, Row
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes, caption

LAWS = ("geometric", "ladder", "planted")
RULES = ("index", "heavy")


@dataclass(frozen=True)
class GuaranteedConfig:
    """Dimensions, promises and pairs."""

    dims: tuple[int, ...] = (4, 6, 8, 10, 12, 16, 20)
    rho: float = 0.1
    eps: float = 0.1
    pairs: int = 200
    seed: str = "2026"


def ladder(dim: int, m: int, length: float, spacing: float = 4.0) -> Finite:
    """Return unit vectors with counts ``spacing``·√T apart just below T.

    Each count then fluctuates inside the window without mixing with its neighbours, so every step
    of the thresholds costs replicability: the worst case known for the index rule.
    """
    step = spacing * math.sqrt(length)
    counts = np.maximum(length - step * np.arange(1, dim + 1), 0.25 * length)
    # The first vector carries the rest of the mass, so that nothing is lost to zero rows.
    masses = counts / m
    masses[0] = 1.0 - masses[1:].sum()
    return Finite(np.eye(dim, dtype=np.int64), masses)


def law_named(name: str, dim: int, m: int, length: float) -> Distribution:
    """Return one of the laws of this experiment."""
    if name == "geometric":
        return geometric(dim)
    if name == "ladder":
        return ladder(dim, m, length)
    plane = random_subspace(max(2, dim // 3), dim, rng=dim)
    outliers = Finite(np.eye(dim, dtype=np.int64), np.full(dim, 1.0 / dim))
    return planted_subspace(plane, 0.02, outliers)


def sizes(rule: str, dim: int, rho: float, eps: float) -> tuple[int, float]:
    """Return the rows and the length of the window that prove ρ and ε for a rule."""
    if rule == "index":
        m = index_rows(dim, rho, eps)
        assert m is not None  # None stands for hopeless contamination, and there is none here
        return m, index_length(dim, rho)
    m = heavy_rows(dim, rho, eps)
    assert m is not None
    return m, heavy_length(dim, rho, n_rows=m)


def units(config: GuaranteedConfig) -> list[dict[str, Any]]:
    """One unit per rule, dimension and law."""
    return [
        {"rule": rule, "dim": dim, "law": law}
        for rule in RULES
        for dim in config.dims
        for law in LAWS
    ]


def compute(
    config: GuaranteedConfig, unit: dict[str, Any], rng: np.random.RandomState
) -> list[Row]:
    rule, dim = unit["rule"], unit["dim"]
    m, T = sizes(rule, dim, config.rho, config.eps)
    law = law_named(unit["law"], dim, m, T)
    rates, uncovered = [], []
    for _ in range(config.pairs):
        pair = []
        for _ in range(2):
            rows, weights = law.sample_weighted(m, rng)
            thresholds = Thresholds(Flag(dim, law.field).update(rows, weights), rule)
            # Spaces shrink along the window, so its last one leaves the most rows uncovered.
            _, last = thresholds.parts(0, T)[-1]
            inside = np.asarray(thresholds.spaces[last].contains(rows))
            uncovered.append(1.0 - float(weights[inside].sum()) / m)
            pair.append(thresholds)
        rates.append(disagreement(pair[0], pair[1], 0, T))
    return [
        {
            "rule": rule,
            "dim": dim,
            "law": unit["law"],
            "rows": m,
            "length": float(T),
            "rho_promised": config.rho,
            "eps_promised": config.eps,
            "pairs": config.pairs,
            "rho_measured": float(np.mean(rates)),
            "rho_sem": standard_error(rates),
            "uncovered_max": max(uncovered),
        }
    ]


class GuaranteedDisplay(Figure):
    """Measured ρ and the worst uncovered share, below the promises, for both rules."""

    panels = (2, 1)
    size = (COLUMN_WIDTH, 4.2)
    _look: ClassVar = {"geometric": "o", "ladder": "^", "planted": "D"}

    def _draw(self, axes: list[Axes]) -> None:
        for rule in RULES:
            for law in LAWS:
                rows, line = self.where(rule=rule, law=law), SERIES[rule].line
                line["marker"] = self._look[law]
                dims, error = column(rows, "dim"), 2 * column(rows, "rho_sem")
                axes[0].errorbar(dims, column(rows, "rho_measured"), error, elinewidth=0.8, **line)
                axes[1].plot(dims, column(rows, "uncovered_max"), **line)
        self._draw_promises(axes)
        for rule in RULES:
            kind = SERIES[rule]
            axes[0].plot([], [], kind.dashes, color=kind.color, label=kind.label)
        for law, marker in self._look.items():
            axes[0].plot([], [], marker, color=OKABE_ITO["grey"], label=law)
        axes[0].legend(loc="upper left", bbox_to_anchor=(0, 0.8), ncols=2, columnspacing=1.0)
        for axis in axes:
            axis.set_xticks(self.config.dims)
        axes[0].tick_params(labelbottom=False)
        axes[1].set_xlabel("dimension $d$ of the rows")
        axes[0].set_ylabel(r"disagreement rate $\rho$ ($\pm 2$ SEM)")
        axes[1].set_ylabel("largest uncovered share of rows")
        for axis, promise in zip(axes, (self.config.rho, self.config.eps), strict=True):
            axis.set_ylim(0, 1.15 * promise)
        caption(
            axes[0],
            f"{self.config.pairs} pairs per point, rows and windows as proven",
        )

    def _draw_promises(self, axes: list[Axes]) -> None:
        for axis, value, letter in (
            (axes[0], self.config.rho, r"\rho"),
            (axes[1], self.config.eps, r"\varepsilon"),
        ):
            axis.axhline(value, color=OKABE_ITO["black"], linewidth=1.0)
            axis.text(
                max(self.config.dims),
                value * 1.01,
                f"promised ${letter}={value:g}$",
                ha="right",
                va="bottom",
                fontsize=7,
            )


GUARANTEED = Experiment(
    name="guaranteed",
    title="Proven windows and sample sizes: measured disagreement and coverage",
    config=GuaranteedConfig(),
    quick=GuaranteedConfig(dims=(4, 8), pairs=20),
    units=units,
    compute=compute,
    display=GuaranteedDisplay,
)
