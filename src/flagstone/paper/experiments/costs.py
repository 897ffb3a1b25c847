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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra import Flag, Subspace
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
from flagstone.paper.experiments._runner import Experiment, Row, Unit, column, where
from flagstone.paper.private import PrivateParityClassifier
from flagstone.paper.private_learner import SeededSource
from flagstone.paper.private_span import noisy_heavy
from flagstone.pipeline import ask
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, Axes, caption
from flagstone.question import ParityQuestion
from flagstone.rules import HeavyRule, SpanRule

LEARNERS = ("neither", "private", "replicable", "both")


def all_ones(masses: Sequence[float]) -> LabelledParity:
    """Return unit vectors with the given masses and the all-ones parity."""
    dim = len(masses)
    features = Finite(np.eye(dim, dtype=np.int64), masses)
    return planted_parity(np.ones(dim, dtype=np.int64), features=features)


def replicable_rule(rows: Any, rule: SpanRule, seed: int, choice: str = "sparsest") -> ParityRule:
    """Return what a replicable learner answers."""
    flag = Flag(rows.shape[1]).update(rows)
    with warnings.catch_warnings():
        # that nothing is proven for so few rows is what these experiments are about
        warnings.simplefilter("ignore", ReplicabilityWarning)
        answer = ask(flag, ParityQuestion(choice=choice), rule, Coins(seed)).answer
    assert isinstance(answer, ParityRule)
    return answer


def private_rule(rows: Any, alpha: float, delta: float, secret: int) -> ParityRule:
    """Return what the pure-DP learner answers."""
    model = PrivateParityClassifier(alpha, delta, classes=[0, 1], random_state=secret)
    rule: ParityRule = model.fit(rows[:, :-1], rows[:, -1]).answer_
    return rule


@dataclass(frozen=True)
class Costs(Experiment):
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

    name: ClassVar = "costs"
    title: ClassVar = "What replicability and privacy cost in rows, alone and together"
    small: ClassVar = {"pairs": 30, "grid": 20}
    panels: ClassVar = (2, 1)
    size: ClassVar = (COLUMN_WIDTH, 4.6)
    _look: ClassVar = {
        "neither": ("vermillion", "^", "accurate only"),
        "private": ("purple", "D", "private (pure DP)"),
        "replicable": ("orange", "s", "replicable"),
        "both": ("blue", "o", "replicable and private"),
    }

    def units(self) -> list[Unit]:
        return [{"learner": "theory"}, *({"learner": learner} for learner in LEARNERS)]

    def compute(self, unit: Unit, rng: np.random.RandomState) -> list[Row]:
        learner = unit["learner"]
        if learner == "theory":
            cells = [(name, dim) for name in LEARNERS for dim in self.dims]
            return [
                {"part": "theory", "learner": name, "dim": d, "rows": self.rows_needed(name, d)}
                for name, d in cells
            ]
        sizes = np.unique(np.geomspace(10, self.most, self.grid).astype(int)).tolist()
        good = [0.0] * len(sizes)
        low, high = 0, len(sizes) - 1  # shares of good pairs rise with the rows: halve the grid
        while low < high:
            middle = (low + high) // 2
            good[middle] = self._good_pairs(learner, sizes[middle], rng)
            low, high = (low, middle) if good[middle] >= 0.9 else (middle + 1, high)
        if not good[low]:
            good[low] = self._good_pairs(learner, sizes[low], rng)
        known = {"part": "measured", "learner": learner, "dim": len(self.masses)}
        return [known | {"rows": sizes[low], "good": good[low], "pairs": self.pairs}]

    def rows_needed(self, learner: str, dim: int) -> int:
        """Rows that suffice according to theory, for rules of this many coefficients."""
        D, eps, delta = dim + 1, self.eps, self.delta
        general = generalization_rows(D, eps, delta)
        assert general is not None
        if learner == "neither":
            return general
        if learner == "private":
            return private_rows(dim, eps, delta, self.alpha)
        if learner == "replicable":
            rows = heavy_rows(D, self.rho, eps / 2)
            assert rows is not None
            return max(general, rows)
        both = private_span_rows(D, self.rho, eps / 2, self.alpha, self.private_delta)
        return max(general, both)

    def _good_pairs(self, learner: str, m: int, rng: np.random.RandomState) -> float:
        """Return in which share of pairs both rules are accurate, and equal if that is promised."""
        law, good = all_ones(self.masses), 0
        for _ in range(self.pairs):
            seed = int(rng.randint(0, 2**31 - 1))
            a, b = (self._learned(learner, law.sample(m, rng), seed, rng) for _ in range(2))
            accurate = all(not r.is_bottom and law.error(r) <= self.eps for r in (a, b))
            good += accurate and (learner not in ("replicable", "both") or a == b)
        return good / self.pairs

    def _learned(
        self, learner: str, rows: Any, seed: int, rng: np.random.RandomState
    ) -> ParityRule:
        coins, (m, D) = Coins(seed), rows.shape
        if learner == "neither":
            return ParityRule.from_subspace(Subspace.span(rows), coins=coins)
        if learner == "replicable":
            return replicable_rule(rows, HeavyRule(eps=self.eps), seed)
        secret = int(rng.randint(0, 2**31 - 1))
        if learner == "private":
            return private_rule(rows, self.alpha, self.delta, secret)
        tau = private_span_start(self.alpha, self.private_delta)
        T = max(1, math.floor(2 * self.eps * m / (D * (D + 1))) - tau)
        source = SeededSource(np.random.default_rng(secret))
        flag = Flag(D).update(rows)
        span = noisy_heavy(flag, self.alpha, self.private_delta, T, coins, source)
        return ParityRule.from_subspace(span.subspace, coins=coins)

    def draw(self, data: list[Row], axes: list[Axes]) -> None:
        theory, measured = axes
        for name, (color, marker, label) in self._look.items():
            rows = where(data, part="theory", learner=name)
            line: dict[str, Any] = {"color": OKABE_ITO[color], "marker": marker, "label": label}
            style = "--" if name == "replicable" else "-"
            theory.plot(column(rows, "dim"), column(rows, "rows"), linestyle=style, **line)
        theory.set(xscale="log", yscale="log")
        theory.set_xticks(self.dims, list(map(str, self.dims)))
        theory.minorticks_off()
        theory.set(xlabel="features, $d$", ylabel="rows needed")
        caption(
            theory,
            rf"theory: $\rho={self.rho:g}$, $\varepsilon={self.eps:g}$, $\delta={self.delta:g}$, "
            rf"$\alpha={self.alpha:g}$, $\delta'=10^{{{math.log10(self.private_delta):.0f}}}$",
        )
        theory.legend(loc="upper left")
        found = [(name, where(data, part="measured", learner=name)[0]["rows"]) for name in LEARNERS]
        places = range(len(found))
        colors = [OKABE_ITO[self._look[name][0]] for name, _ in found]
        bars = measured.bar(places, [rows for _, rows in found], 0.6, color=colors)
        measured.bar_label(bars, fmt="%d", padding=1, fontsize=6)
        measured.set_yscale("log")
        measured.set_ylim(top=measured.get_ylim()[1] * 2)
        measured.set_xticks(places, ["accurate\nonly", "private", "replicable", "both"])
        measured.set(xlabel="guarantee", ylabel="rows needed")
        caption(measured, f"measured: $d={len(self.masses)}$, 90 % of {self.pairs} pairs good")
