"""figure-1: the paper's empirical evaluation, as described, with our rule beside it.

d = 20, D(e_i) = 2^-i, experiments of two trials each, fresh samples per trial, the threshold drawn
once per experiment, lexicographically smallest parity, equal coefficients counted, accuracy on a
static holdout of 5000 rows, bands of ±2 SEM. All learners see the same samples. For elimination
the probability of agreement is computed as well, without any sampling (`elimination_agreement`).

What the paper leaves open, and what is done here:

- *The scale of the threshold* ("proportionally scaled"). Here T = T_paper(D, ρ, m)/2000 with
  D = d + 1, hence T = 153 at m = 1000: it brings the paper's rule to the accuracy it reports there.
- *The target*: drawn uniformly for every experiment (the holdout rows stay; their labels follow).
- *The number of experiments*: 1000 where the paper has 100, whose standard error of up to 5 % is
  more than the differences that are of interest.
- *The index rule* gets T twice as long. Here n(V_i) ≈ m 2^-(i+1) and V_t keeps e_i while
  m 2^-i ≥ t, so both rules then keep the same spaces on average: equal accuracy, and what is left
  to compare is replicability.
- *m*: 50, 100, …, 1000.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.algebra.flag import Flag
from flagstone.algebra.staircase import Staircase
from flagstone.algebra.subspace import Subspace
from flagstone.answers import ParityRule
from flagstone.audit.intervals import standard_error
from flagstone.coins import Coins
from flagstone.distributions import geometric, planted_parity
from flagstone.guarantees import Window, paper_length
from flagstone.paper.experiments._figures import LEARNERS, Figure
from flagstone.paper.experiments._runner import Experiment, Row
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes, caption
from flagstone.rules import HeavyRule, IndexRule

#: How what was computed exactly is drawn.
_EXACT: dict[str, Any] = {"color": OKABE_ITO["black"], "linestyle": "-", "linewidth": 0.8}
#: What the paper reports: accuracy, and replicability from … to, at m = 1000.
REPORTED = {"elimination": (1.0, 0.20, 0.30), "heavy": (0.88, 0.90, 0.90)}


@dataclass(frozen=True)
class Figure1Config:
    """The paper's numbers."""

    dim: int = 20
    rho: float = 0.05
    sizes: tuple[int, ...] = tuple(range(50, 1001, 50))
    experiments: int = 1000
    holdout: int = 5000
    scale: float = 1 / 2000
    index_factor: float = 2.0
    seed: str = "2026"


def windows(config: Figure1Config, m: int) -> dict[str, Window]:
    """Return the window of each rule for samples of m rows."""
    T = config.scale * paper_length(config.dim + 1, config.rho, m)
    length = max(1, math.floor(config.index_factor * T))
    return {"heavy": Window("heavy", 1, T), "index": Window("index", 1, length)}


def spans(flag: Flag, chosen: dict[str, Window], coins: Coins) -> dict[str, Subspace]:
    """Return the span each learner keeps of one sample."""
    stairs, kept = Staircase.of(flag), {"elimination": flag.span_at(1)}
    for rule in (HeavyRule(), IndexRule()):
        t = rule.draw(chosen[rule.name], coins)
        kept[rule.name] = flag.span_at(rule.index(stairs, t))
    return kept


def elimination_agreement(masses: Sequence[float], m: int) -> float:
    """The probability that elimination gives one rule for two samples of m rows, exactly.

    Rows are e_i with probability ``masses[i]``, or else zero; the target is uniform, and what was
    not seen is 0 in the smallest rule. So two rules differ in coordinate i iff its coefficient is 1
    and just one of the samples has seen e_i. Let P(S) be the probability to see the vectors of S
    and no others, by inclusion and exclusion over all 2^d sets; then two samples agree with
    probability Σ P(S)·P(S')·2^−|S △ S'|. (If vectors were seen independently, this would be the
    product of 1 − q_i(1 − q_i), q_i = (1 − p_i)^m, which differs in the fifth digit at m = 1000.)

    Examples
    --------
    One vector with mass ½, and one row in each sample: both see it, or not, or they differ.

    >>> elimination_agreement([0.5], 1)
    0.75
    """
    sums = np.array([1.0 - math.fsum(masses)])
    for mass in masses:
        sums = np.concatenate([sums, sums + mass])
    seen = sums**m
    for i in range(len(masses)):
        pairs = seen.reshape(-1, 2, 1 << i)
        pairs[:, 1] -= pairs[:, 0]
    blurred = seen.copy()
    for i in range(len(masses)):
        pairs = blurred.reshape(-1, 2, 1 << i)
        pairs[:] += pairs[:, ::-1] / 2
    return float(seen @ blurred)


def compute(config: Figure1Config, unit: dict[str, Any], rng: np.random.RandomState) -> list[Row]:
    m = unit["m"]
    features = geometric(config.dim)
    # The holdout is static: it depends on the seed alone, not on m.
    static = np.random.RandomState(int(Coins(config.seed).integers("holdout", 2**32)))
    holdout = features.sample(config.holdout, static)
    chosen = windows(config, m)
    agreement = elimination_agreement(features.probabilities[: config.dim].tolist(), m)
    same: dict[str, list[bool]] = {name: [] for name in LEARNERS}
    accuracy: dict[str, list[float]] = {name: [] for name in LEARNERS}
    exact: dict[str, list[float]] = {name: [] for name in LEARNERS}
    for number in range(config.experiments):
        coins = Coins(f"{config.seed}/{m}/{number}")
        law = planted_parity(rng.randint(0, 2, config.dim), features=features)
        labels = law.labels(holdout)
        trials = [
            spans(Flag(config.dim + 1).update(law.sample(m, rng)), chosen, coins) for _ in range(2)
        ]
        for name in LEARNERS:
            rules = [ParityRule.from_subspace(t[name], choice="lexmin") for t in trials]
            same[name].append(rules[0] == rules[1])
            hits = [float(np.mean(rule.predict(holdout) == labels)) for rule in rules]
            accuracy[name].append(float(np.mean(hits)))
            exact[name].append(1.0 - float(np.mean([law.error(rule) for rule in rules])))
    return [
        {
            "learner": name,
            "m": m,
            "threshold_max": None if name == "elimination" else float(chosen[name].length),
            "experiments": config.experiments,
            "replicability": float(np.mean(same[name])),
            "replicability_sem": standard_error(same[name]),
            "replicability_exact": agreement if name == "elimination" else None,
            "accuracy": float(np.mean(accuracy[name])),
            "accuracy_sem": standard_error(accuracy[name]),
            "accuracy_exact": float(np.mean(exact[name])),
        }
        for name in LEARNERS
    ]


class Figure1Display(Figure):
    """Accuracy above, replicability below, against the number of rows."""

    panels = (2, 1)
    size = (COLUMN_WIDTH, 3.9)

    def _draw(self, axes: list[Axes]) -> None:
        self._draw_learners(axes, "m")
        rows = self.where(learner="elimination")
        exact = [100 * row["replicability_exact"] for row in rows]
        axes[1].plot([row["m"] for row in rows], exact, **_EXACT)
        for axis, bottom in zip(axes, (50, 0), strict=True):
            axis.set_ylim(bottom, 103)
            axis.set_xlim(left=0, right=1.07 * max(self.config.sizes))
        self._draw_reported(axes)
        caption(
            axes[1],
            rf"heavy: $T_{{\max}}$ of the paper $\times$ {self.config.scale:g}; "
            rf"index: {self.config.index_factor:g} $\times$ that",
        )
        axes[0].tick_params(labelbottom=False)
        axes[1].set_xlabel("rows per sample, $m$")
        axes[0].legend(loc="lower right", ncols=1)
        caption(
            axes[0],
            f"$d={self.config.dim}$, $D(e_i)=2^{{-i}}$, {self.config.experiments} experiments; "
            r"bands $\pm 2$ SEM",
        )

    def _draw_reported(self, axes: list[Axes]) -> None:
        """Mark what the paper reports, as open stars, beside the last measured points."""
        right = 1.04 * max(self.config.sizes)
        star: dict[str, Any] = {"marker": "*", "markersize": 8, "markerfacecolor": "white"}
        for name, (hit, low, high) in REPORTED.items():
            color = SERIES[name].color
            axes[0].plot([right], [100 * hit], color=color, linestyle="", clip_on=False, **star)
            if low < high:
                axes[1].axhspan(100 * low, 100 * high, facecolor=color, alpha=0.10, linewidth=0)
            middle = 50 * (low + high)
            axes[1].plot([right], [middle], color=color, linestyle="", clip_on=False, **star)
        axes[1].plot([], [], label="computed exactly", **_EXACT)
        axes[1].plot(
            [], [], color=OKABE_ITO["black"], linestyle="", label="reported by the paper", **star
        )
        axes[1].legend(
            handles=axes[1].get_lines()[-2:], loc="lower right", bbox_to_anchor=(1.0, 0.42)
        )


def units(config: Figure1Config) -> list[dict[str, Any]]:
    """One unit per number of rows."""
    return [{"m": m} for m in config.sizes]


FIGURE_1 = Experiment(
    name="figure-1",
    title="Accuracy and replicability of elimination, the paper's rule and the index rule",
    config=Figure1Config(),
    quick=Figure1Config(sizes=(50, 400, 1000), experiments=20),
    units=units,
    compute=compute,
    display=Figure1Display,
)
