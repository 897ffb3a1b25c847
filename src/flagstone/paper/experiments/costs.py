"""costs: what replicability and privacy cost in rows, alone and together.

Four learners of parities: plain elimination (no guarantee but accuracy), the paper's heavy rule
(replicable), the pure-DP learner (private), and the heavy rule with secret noise (replicable and
private, docs/theory/learners.md, S47). Above: rows that suffice according to theory, against the
dimension. Below: the smallest measured number of rows with which, in nine of ten pairs of samples,
both answers err by at most ε and, where that is promised, are equal. Windows are those of coverage
1 − ε, so that nothing is proven about ρ at these sizes.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace
from flagstone.answers import ParityRule
from flagstone.coins import Coins
from flagstone.distributions import Finite, LabelledParity, planted_parity
from flagstone.errors import ReplicabilityWarning
from flagstone.guarantees import (
    generalization_rows,
    heavy_rows,
    private_rows,
    private_span_rows,
    private_span_start,
)
from flagstone.paper.experiments._figures import Figure, column
from flagstone.paper.experiments._runner import Experiment, Row
from flagstone.paper.private_learner import SeededSource
from flagstone.paper.private_span import noisy_heavy
from flagstone.pipeline import ask
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, Axes, caption
from flagstone.question import ParityQuestion
from flagstone.rules import HeavyRule

LEARNERS = ("neither", "private", "replicable", "both")


@dataclass(frozen=True)
class CostConfig:
    """Promises, and how much is measured."""

    dims: tuple[int, ...] = (2, 5, 10, 20, 50)
    rho: float = 0.1
    eps: float = 0.1
    delta: float = 0.05
    alpha: float = 1.0
    private_delta: float = 1e-6
    masses: tuple[float, ...] = (0.5, 0.25, 0.13, 0.06, 0.04, 0.02)
    pairs: int = 200
    grid: int = 40
    most: int = 100_000
    seed: str = "2026"


def rows_needed(config: CostConfig, learner: str, dim: int) -> int:
    """Rows that suffice according to theory, for rules of so many coefficients."""
    D, eps, delta = dim + 1, config.eps, config.delta
    general = generalization_rows(D, eps, delta)
    assert general is not None
    if learner == "neither":
        return general
    if learner == "private":
        return private_rows(dim, eps, delta, config.alpha)
    if learner == "replicable":
        rows = heavy_rows(D, config.rho, eps / 2)
        assert rows is not None
        return max(general, rows)
    both = private_span_rows(D, config.rho, eps / 2, config.alpha, config.private_delta)
    return max(general, both)


def law_of(config: CostConfig) -> LabelledParity:
    """Return unit vectors with the given masses and the all-ones parity."""
    dim = len(config.masses)
    features = Finite(np.eye(dim, dtype=np.int64), config.masses)
    return planted_parity(np.ones(dim, dtype=np.int64), features=features)


def units(config: CostConfig) -> list[dict[str, Any]]:
    """Theory, and each learner."""
    return [{"learner": "theory"}, *({"learner": learner} for learner in LEARNERS)]


def compute(config: CostConfig, unit: dict[str, Any], rng: np.random.RandomState) -> list[Row]:
    learner = unit["learner"]
    if learner == "theory":
        return [
            {
                "part": "theory",
                "learner": name,
                "dim": dim,
                "rows": rows_needed(config, name, dim),
            }
            for name in LEARNERS
            for dim in config.dims
        ]
    sizes = np.unique(np.geomspace(10, config.most, config.grid).astype(int)).tolist()
    good = [0.0] * len(sizes)
    low, high = 0, len(sizes) - 1  # shares of good pairs rise with the rows: halve the grid
    while low < high:
        middle = (low + high) // 2
        good[middle] = _good_pairs(config, learner, sizes[middle], rng)
        low, high = (low, middle) if good[middle] >= 0.9 else (middle + 1, high)
    if not good[low]:
        good[low] = _good_pairs(config, learner, sizes[low], rng)
    known = {"part": "measured", "learner": learner, "dim": len(config.masses)}
    return [known | {"rows": sizes[low], "good": good[low], "pairs": config.pairs}]


def _good_pairs(config: CostConfig, learner: str, m: int, rng: np.random.RandomState) -> float:
    """Return in which share of pairs both rules are accurate, and equal where that is promised."""
    law, good = law_of(config), 0
    learn = partial(_RULES[learner], config)
    for _ in range(config.pairs):
        seed = int(rng.randint(0, 2**31 - 1))
        a, b = (learn(law.sample(m, rng), seed, rng) for _ in range(2))
        accurate = all(not r.is_bottom and law.error(r) <= config.eps for r in (a, b))
        good += accurate and (learner not in ("replicable", "both") or a == b)
    return good / config.pairs


def _neither(config: CostConfig, rows: Any, seed: int, rng: Any) -> ParityRule:
    return ParityRule.from_subspace(Subspace.span(rows), coins=Coins(seed))


def _replicable(config: CostConfig, rows: Any, seed: int, rng: Any) -> ParityRule:
    flag = Flag(rows.shape[1]).update(rows)
    with warnings.catch_warnings():
        # that ρ is not proven for so few rows is what the experiment is about
        warnings.simplefilter("ignore", ReplicabilityWarning)
        answer = ask(flag, ParityQuestion(), HeavyRule(eps=config.eps), Coins(seed)).answer
    assert isinstance(answer, ParityRule)
    return answer


def _private(config: CostConfig, rows: Any, seed: int, rng: np.random.RandomState) -> ParityRule:
    from flagstone.paper import PrivateParityClassifier

    secret = int(rng.randint(0, 2**31 - 1))
    model = PrivateParityClassifier(config.alpha, config.delta, classes=[0, 1], random_state=secret)
    rule: ParityRule = model.fit(rows[:, :-1], rows[:, -1]).answer_
    return rule


def _both(config: CostConfig, rows: Any, seed: int, rng: np.random.RandomState) -> ParityRule:
    D, m = rows.shape[1], len(rows)
    tau = private_span_start(config.alpha, config.private_delta)
    T = max(1, math.floor(2 * config.eps * m / (D * (D + 1))) - tau)
    source = SeededSource(np.random.default_rng(int(rng.randint(0, 2**31 - 1))))
    flag, coins = Flag(D).update(rows), Coins(seed)
    span = noisy_heavy(flag, config.alpha, config.private_delta, T, coins, source)
    return ParityRule.from_subspace(span.subspace, coins=coins)


_RULES = {"neither": _neither, "replicable": _replicable, "private": _private, "both": _both}


class CostDisplay(Figure):
    """Rows needed: theory above, measured below."""

    panels = (2, 1)
    size = (COLUMN_WIDTH, 4.6)
    _look: ClassVar = {
        "neither": ("vermillion", "^", "accurate only"),
        "private": ("purple", "D", "private (pure DP)"),
        "replicable": ("orange", "s", "replicable"),
        "both": ("blue", "o", "replicable and private"),
    }

    def _draw(self, axes: list[Axes]) -> None:
        theory, measured = axes
        for name, (color, marker, label) in self._look.items():
            rows = self.where(part="theory", learner=name)
            line: dict[str, Any] = {"color": OKABE_ITO[color], "marker": marker, "label": label}
            style = "--" if name == "replicable" else "-"
            theory.plot(column(rows, "dim"), column(rows, "rows"), linestyle=style, **line)
        theory.set_xscale("log")
        theory.set_yscale("log")
        dims = list(self.config.dims)
        theory.set_xticks(dims, [str(d) for d in dims])
        theory.minorticks_off()
        theory.set_xlabel("features, $d$")
        theory.set_ylabel("rows needed")
        c = self.config
        caption(
            theory,
            rf"theory: $\rho={c.rho:g}$, $\varepsilon={c.eps:g}$, $\delta={c.delta:g}$, "
            rf"$\alpha={c.alpha:g}$, $\delta'=10^{{{math.log10(c.private_delta):.0f}}}$",
        )
        theory.legend(loc="upper left")
        found = [(name, self.where(part="measured", learner=name)[0]["rows"]) for name in LEARNERS]
        places = range(len(found))
        colors = [OKABE_ITO[self._look[name][0]] for name, _ in found]
        bars = measured.bar(places, [rows for _, rows in found], 0.6, color=colors)
        measured.bar_label(bars, fmt="%d", padding=1, fontsize=6)
        measured.set_yscale("log")
        measured.set_ylim(top=measured.get_ylim()[1] * 2)
        measured.set_xticks(places, ["accurate\nonly", "private", "replicable", "both"])
        measured.set_xlabel("guarantee")
        measured.set_ylabel("rows needed")
        caption(measured, f"measured: $d={len(c.masses)}$, 90 % of {c.pairs} pairs good")


COSTS = Experiment(
    name="costs",
    title="What replicability and privacy cost in rows, alone and together",
    config=CostConfig(),
    quick=CostConfig(pairs=30, grid=20),
    units=units,
    compute=compute,
    display=CostDisplay,
)
