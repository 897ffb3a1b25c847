"""certified: rows that a promise needs, in advance and from the data; and whether it is kept.

Above: rows per sample with which two samples agree with probability 0.95, on rows of a subspace of
which a few are damaged, against the dimension and against the damage. The bound made in advance
covers every distribution; the certificate speaks of this one, from its rows, at 99 % confidence
(docs/theory/certificates.md); simulation shows the truth. The window is the middle half of the
thresholds between the number of damaged rows and that of full sets, as shares of m.

Below: laws with a gap, with one just missed, without one, and with heavy tails. Certificates at
90 % confidence may be false, in any statement, in at most a tenth of the trials; mistakes that were
planted into the method must be found out by the same check.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra.flag import Flag
from flagstone.audit import Thresholds, clopper_pearson, disagreement
from flagstone.distributions import Distribution, UniformOn, planted_subspace, random_subspace
from flagstone.guarantees import index_rho
from flagstone.guarantees.exact import smallest
from flagstone.paper.experiments._figures import Figure, column
from flagstone.paper.experiments._runner import Experiment, Row
from flagstone.paper.experiments.validity import (
    CASES,
    MISTAKES,
    Case,
    Truth,
    certifier_of,
    is_too_often,
    trial,
)
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes, caption

#: Sizes are tried in these steps.
_STEP = 1.2


@dataclass(frozen=True)
class CertifiedConfig:
    """Laws and sizes, and how much is simulated."""

    dims: tuple[int, ...] = (6, 10, 16, 24, 32, 42)
    damages: tuple[float, ...] = (0.0, 0.0025, 0.005, 0.01, 0.02)
    dim: int = 24
    damage: float = 0.005
    rho: float = 0.05
    confidence: float = 0.99
    samples: int = 11
    pairs: int = 150
    cases: tuple[str, ...] = tuple(CASES)
    trials: int = 1000
    fresh: int = 600
    allowed: float = 0.1
    seed: str = "2026"


def units(config: CertifiedConfig) -> list[dict[str, Any]]:
    """One unit for each law of either part."""
    sizes = [(dim, config.damage) for dim in config.dims]
    sizes += [(config.dim, damage) for damage in config.damages]
    return [
        *({"part": "rows", "dim": d, "damage": c} for d, c in dict.fromkeys(sizes)),
        *({"part": "validity", "law": name} for name in config.cases),
        *({"part": "mistake", "mistake": name} for name in MISTAKES),
    ]


def compute(config: CertifiedConfig, unit: dict[str, Any], rng: np.random.RandomState) -> list[Row]:
    if unit["part"] == "rows":
        return [_rows_needed(config, unit["dim"], unit["damage"], rng)]
    return [_validity(config, unit, rng)]


def law_of(dim: int, damage: float) -> Distribution:
    """Rows of a random subspace of dimension 3d/4, uniform in all of the space where damaged."""
    space = random_subspace(3 * dim // 4, dim, rng=1)
    return planted_subspace(space, contamination=damage) if damage else UniformOn(space)


def window_of(dim: int, damage: float, m: int) -> tuple[int, int]:
    """The middle half between the damaged rows and the full sets, of about 3d/4 + 2 rows each."""
    low, high = damage, (1 - damage) / (3 * dim // 4 + 2)
    first = max(1, math.ceil(m * (low + (high - low) / 4)))
    return first, max(first, math.floor(m * (high - (high - low) / 4)))


def _rows_needed(
    config: CertifiedConfig, dim: int, damage: float, rng: np.random.RandomState
) -> Row:
    law = law_of(dim, damage)

    def in_advance(m: int) -> bool:
        first, last = window_of(dim, damage, m)
        return index_rho(dim, last - first + 1, start=first - 1, n_rows=m) <= config.rho

    def certified(m: int) -> bool:
        rhos = [_certified_rho(config, law, m, window_of(dim, damage, m), rng) for _ in samples]
        return float(np.median(rhos)) <= config.rho

    def simulated(m: int) -> bool:
        first, last = window_of(dim, damage, m)
        differ = []
        for _ in range(config.pairs):
            a, b = (Thresholds(Flag(dim).update(law.sample(m, rng))) for _ in range(2))
            differ.append(disagreement(a, b, first - 1, last))
        return float(np.mean(differ)) <= config.rho

    samples = range(config.samples)
    row = {"part": "rows", "dim": dim, "damage": damage, "rho": config.rho}
    row["in_advance"] = smallest(in_advance)
    for name, enough in (("certificate", certified), ("simulation", simulated)):
        step = smallest(lambda k, enough=enough: enough(_size(k)), start=0)  # type: ignore[misc]
        row[name] = _size(step)
    return row


def _size(step: int) -> int:
    return round(20 * _STEP**step)


def _certified_rho(
    config: CertifiedConfig,
    law: Distribution,
    m: int,
    window: tuple[int, int],
    rng: np.random.RandomState,
) -> float:
    case = Case("planted", law, m, *window)
    rho = certifier_of(case, law.sample(m, rng), config.confidence).certificate().rho
    return 1.0 if rho is None else rho


def _validity(config: CertifiedConfig, unit: dict[str, Any], rng: np.random.RandomState) -> Row:
    if unit["part"] == "mistake":
        case, method = MISTAKES[unit["mistake"]]
    else:
        case, method = CASES[unit["law"]], certifier_of
    truth = Truth(case, config.fresh, rng)
    outcomes = [trial(truth, rng, 1 - config.allowed, method) for _ in range(config.trials)]
    issued, false = (sum(column) for column in zip(*outcomes, strict=True))
    low, high = clopper_pearson(false, config.trials)
    return {
        **unit,
        "kind": case.kind,
        "m": case.m,
        "trials": config.trials,
        "issued": issued,
        "false": false,
        "false_low": low,
        "false_high": high,
        "allowed": config.allowed,
        "too_often": is_too_often(false, config.trials, config.allowed),
        "disagreement": float(np.mean(truth.values)),
    }


class CertifiedDisplay(Figure):
    """Rows needed, against dimension and damage; how often certificates are false."""

    panels = (3, 1)
    size = (COLUMN_WIDTH, 6.8)
    _lines: ClassVar = (
        ("in_advance", "corrected", "proven in advance"),
        ("certificate", "sharp", "certified"),
        ("simulation", "measured", "simulated"),
    )
    _colors: ClassVar = {
        "gapped": "blue",
        "borderline": "green",
        "gapless": "orange",
        "heavy-tailed": "purple",
        "planted mistake": "vermillion",
    }

    def _draw(self, axes: list[Axes]) -> None:
        c = self.config
        by_dim = [row for row in self.where(damage=c.damage) if row["dim"] in c.dims]
        by_damage = [row for row in self.where(dim=c.dim) if row["damage"] in c.damages]
        self._draw_rows(axes[0], by_dim, "dim", 1)
        self._draw_rows(axes[1], sorted(by_damage, key=lambda r: r["damage"]), "damage", 100)
        axes[0].set_xlabel(f"dimension $d$ of the rows ({100 * c.damage:g} % damaged)")
        axes[1].set_xlabel(f"damaged rows (%), $d={c.dim}$")
        axes[0].legend(loc="center right", bbox_to_anchor=(1.0, 0.55))
        for axis in axes[:2]:
            caption(axis, rf"for $\rho \leq {c.rho:g}$")
        self._draw_validity(axes[2])

    def _draw_rows(self, axis: Axes, rows: list[Row], x: str, scale: float) -> None:
        for key, look, label in self._lines:
            line = SERIES[look].line
            axis.plot(scale * column(rows, x), column(rows, key), label=label, **line)
        axis.set_yscale("log")
        axis.set_ylabel("rows needed per sample")

    def _draw_validity(self, axis: Axes) -> None:
        rows = [row for row in self.rows if row["part"] != "rows"]
        seen: set[str] = set()
        for place, row in enumerate(rows):
            wrong = row["part"] == "mistake"
            kind = "planted mistake" if wrong else row["kind"]
            share = row["false"] / row["trials"]
            axis.errorbar(
                100 * share,
                place,
                xerr=[[100 * (share - row["false_low"])], [100 * (row["false_high"] - share)]],
                fmt="X" if wrong else "o",
                color=OKABE_ITO[self._colors[kind]],
                elinewidth=0.8,
                label=None if kind in seen else kind,
            )
            seen.add(kind)
            # Names stand where no point is: right of what is allowed, or left of it.
            name, side = (row["mistake"], "right") if wrong else (row["law"], "left")
            x = 9.6 if wrong else max(10.6, 100 * row["false_high"] + 0.6)
            axis.text(x, place, name, fontsize=6, ha=side, va="center")
        axis.axvline(100 * self.config.allowed, color=OKABE_ITO["black"], linewidth=0.8)
        axis.set_xscale("symlog", linthresh=10)
        axis.set_xlim(-0.3, 115)
        axis.set_xticks([0, 5, 10, 20, 50, 100], ["0", "5", "10", "20", "50", "100"])
        axis.minorticks_off()
        axis.set_yticks([])
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.set_xlabel(f"false certificates (%); {100 * self.config.allowed:g} % are allowed")
        axis.set_ylabel("law")
        axis.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=3, columnspacing=1.0)


CERTIFIED = Experiment(
    name="certified",
    title="Rows needed in advance, by certificate and in truth; and whether certificates hold",
    config=CertifiedConfig(),
    quick=CertifiedConfig(
        dims=(6, 16, 32), damages=(0.0, 0.005, 0.02), samples=3, pairs=20, trials=20, fresh=100
    ),
    units=units,
    compute=compute,
    display=CertifiedDisplay,
)
