"""contamination: accuracy and replicability against the rate of corrupted rows.

A planted parity on uniform features; each label is wrong with the given rate. Elimination needs
every row to be right: one or two wrong labels and it answers ⊥ (a coin flip, counted as accuracy
1/2), though two runs may well agree on ⊥. Our rules start the window past the outliers: at a k that
the number of wrong labels exceeds with probability 0.001 at most. That works while the window
starts before the last set, roughly while rate × rank < 1; the dotted line marks that end, past
which nothing is left but the zero space. The length of the window is the default of each rule for
ε = 0.1; the threshold is integrated out exactly, for accuracy and replicability alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from flagstone.algebra.subspace import Subspace
from flagstone.answers import ParityRule
from flagstone.audit.integrate import Thresholds, average, disagreement, flag_of
from flagstone.audit.intervals import standard_error
from flagstone.distributions import LabelledParity, planted_parity
from flagstone.guarantees import outlier_start_for_failure
from flagstone.paper.experiments._figures import LEARNERS, Figure
from flagstone.paper.experiments._runner import Experiment, Row
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes, caption
from flagstone.rules import rule_named


@dataclass(frozen=True)
class ContaminationConfig:
    """The planted parity, the rates of corruption and the pairs."""

    features: int = 9
    m: int = 4000
    eps: float = 0.1
    failure: float = 0.001
    rates: tuple[float, ...] = (
        0.0, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15,
    )  # fmt: skip
    pairs: int = 100
    seed: str = "2026"


def units(config: ContaminationConfig) -> list[dict[str, Any]]:
    """One unit per rate."""
    return [{"rate": rate} for rate in config.rates]


def accuracy(clean: LabelledParity, U: Subspace) -> float:
    """Return the exact accuracy of the smallest rule on clean labels; ⊥ guesses."""
    rule = ParityRule.from_subspace(U, choice="lexmin")
    return 0.5 if rule.is_bottom else 1.0 - clean.error(rule)


def fingerprint(U: Subspace) -> str:
    """Return what is compared: the rule, ⊥ included."""
    return ParityRule.from_subspace(U, choice="lexmin").fingerprint()


def compute(
    config: ContaminationConfig, unit: dict[str, Any], rng: np.random.RandomState
) -> list[Row]:
    rate, dim = unit["rate"], config.features + 1
    k = outlier_start_for_failure(config.m, rate, config.failure) if rate else 0
    rules = {
        name: rule_named(name, eps=config.eps, t_min=k + 1).window(dim, config.m)
        for name in ("heavy", "index")
    }
    same: dict[str, list[float]] = {name: [] for name in LEARNERS}
    hits: dict[str, list[float]] = {name: [] for name in LEARNERS}
    for _ in range(config.pairs):
        coef = rng.randint(0, 2, config.features)
        law = planted_parity(coef, corruption=rate)
        clean = planted_parity(coef)
        flags = [flag_of(law.sample(config.m, rng)) for _ in range(2)]
        for name in LEARNERS:
            # Elimination is the index rule that always takes the first set.
            start, stop = (0, 1) if name == "elimination" else (k, float(rules[name].t_max))
            stairs = [Thresholds(f, "heavy" if name == "heavy" else "index") for f in flags]
            same[name].append(
                1.0 - disagreement(stairs[0], stairs[1], start, stop, answer=fingerprint)
            )
            hits[name] += [average(s, start, stop, partial(accuracy, clean)) for s in stairs]
    return [
        {
            "learner": name,
            "rate": rate,
            "m": config.m,
            "pairs": config.pairs,
            "t_min": 1 if name == "elimination" else k + 1,
            "length": 1.0 if name == "elimination" else float(rules[name].length),
            "replicability": float(np.mean(same[name])),
            "replicability_sem": standard_error(same[name]),
            "accuracy": float(np.mean(hits[name])),
            "accuracy_sem": standard_error(hits[name]),
        }
        for name in LEARNERS
    ]


class ContaminationDisplay(Figure):
    """Accuracy above, replicability below, against the rate of wrong labels."""

    panels = (2, 1)
    size = (COLUMN_WIDTH, 3.9)

    def _draw(self, axes: list[Axes]) -> None:
        smallest = min(r for r in self.config.rates if r > 0)
        self._draw_learners(axes, "rate", 100)
        for axis in axes:
            axis.set_xscale("symlog", linthresh=100 * smallest, linscale=1.0)
            axis.axvline(100 / (self.config.features + 1), color=OKABE_ITO["grey"], linestyle=":")
            axis.set_xlim(left=0)
            # The axis is linear below the smallest rate: a decade in there would touch the zero.
            ticks = [0.0] + [t for t in (0.01, 0.1, 1.0, 10.0) if t >= 100 * smallest]
            axis.set_xticks(ticks, [f"{t:g}" for t in ticks])
            axis.minorticks_off()
        axes[0].set_ylim(45, 103)
        axes[1].set_ylim(0, 103)
        axes[0].tick_params(labelbottom=False)
        axes[1].legend(loc="lower right", bbox_to_anchor=(0.9, 0.0))
        axes[1].set_xlabel("rows with a wrong label (%)")
        self._mark_bottoms(axes[1])
        caption(
            axes[0],
            f"parity of {self.config.features} features, $m={self.config.m}$; "
            r"dotted: rate $\times$ rank = 1",
        )

    def _mark_bottoms(self, axis: Axes) -> None:
        """Say why elimination is replicable again: at the first rate where all runs answer ⊥."""
        agreeing = self.where(learner="elimination", replicability=1)
        rates = [row["rate"] for row in agreeing if row["accuracy"] <= 0.5]
        if rates:
            axis.text(
                105 * min(rates),
                96,
                r"always $\bot$",
                color=SERIES["elimination"].color,
                fontsize=7,
                va="top",
                ha="left",
            )


CONTAMINATION = Experiment(
    name="contamination",
    title="Accuracy and replicability when some labels are wrong",
    config=ContaminationConfig(),
    quick=ContaminationConfig(rates=(0.0, 5e-4, 0.01, 0.05), pairs=15, m=2000),
    units=units,
    compute=compute,
    display=ContaminationDisplay,
)
