"""privacy: what confidence costs, for a replicable learner and for a pure-DP one.

The paper's section on limits: the replicable parity learner pays for confidence 1 − δ an additive
O(log(1/δ)/ε) rows, the pure-DP learner of Kasiviswanathan et al. multiplies its rows,
O(d·log(1/δ)/(εα)), and, unless RP = NP, no efficient pure-DP learner can do with
O(log(1/δ)/(εα)). So, assuming RP ≠ NP, no generic polynomial-time conversion of replicable into
pure-DP learners preserves how the rows depend on δ (docs/theory/certificates.md, S40).

Above: the rows that suffice according to theory. Replicability itself costs much, for every δ, so
the replicable learner needs more rows in all; but confidence is free for it, as far as one can see,
and its line is flat where the private one climbs. (The rows that confidence beyond δ = 0.1 adds are
in the data, as ``rows_added``.) Below: the smallest measured number of rows with which
each learner fails (error above ε) in at most a share δ of the runs, for a small dimension; bars
reach from the first size that 95 % confidence cannot exclude to the first one it confirms. The
replicable learner runs with the window of its coverage promise ε/2.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from flagstone.algebra.flag import Flag
from flagstone.answers import ParityRule
from flagstone.audit.intervals import clopper_pearson
from flagstone.coins import Coins
from flagstone.distributions import Finite, LabelledParity, planted_parity
from flagstone.errors import ReplicabilityWarning
from flagstone.guarantees import generalization_rows, parity_rows, private_rows, private_sizes
from flagstone.paper.experiments._figures import Figure, column
from flagstone.paper.experiments._runner import Experiment, Row
from flagstone.pipeline import ask
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes, caption
from flagstone.question import ParityQuestion
from flagstone.rules import IndexRule


@dataclass(frozen=True)
class PrivacyConfig:
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
    seed: str = "2026"


def law_of(config: PrivacyConfig) -> LabelledParity:
    """Return unit vectors with the given masses and the all-ones parity."""
    dim = len(config.masses)
    features = Finite(np.eye(dim, dtype=np.int64), config.masses)
    return planted_parity(np.ones(dim, dtype=np.int64), features=features)


def units(config: PrivacyConfig) -> list[dict[str, Any]]:
    """Theory; the replicable learner; the private one for each δ, which its blocks depend on."""
    found: list[dict[str, Any]] = [{"part": "theory"}, {"part": "index"}]
    return found + [{"part": "private", "delta": delta} for delta in config.deltas]


def compute(config: PrivacyConfig, unit: dict[str, Any], rng: np.random.RandomState) -> list[Row]:
    if unit["part"] == "theory":
        return _theory(config)
    if unit["part"] == "index":
        sizes = np.unique(np.geomspace(4, 60, config.grid).astype(int))
        runs, learn = 4 * config.runs, partial(_replicable_rule, config)
        failures = [_failures(config, learn, int(m), runs, rng) for m in sizes]
        return [_needed("index", delta, sizes, failures, runs) for delta in config.deltas]
    delta = unit["delta"]
    blocks = private_sizes(len(config.masses), config.eps, delta).blocks + 1
    sizes = blocks * np.unique(np.geomspace(10, 260, config.grid).astype(int))
    learn = partial(_private_rule, config, delta)
    failures = [_failures(config, learn, int(m), config.runs, rng) for m in sizes]
    return [_needed("private", delta, sizes, failures, config.runs)]


def _theory(config: PrivacyConfig) -> list[Row]:
    """Rows needed, and how many of them confidence beyond δ = 0.1 adds.

    For the replicable learner the added rows are those of its generalization bound alone: an upper
    bound, since where replicability asks for more rows anyway, confidence adds none.
    """
    rows: list[Row] = []
    first = Fraction(1, 10)
    for dim in config.dims:
        for power in config.log10_deltas:
            delta = Fraction(1, 10**power)
            ours = parity_rows(dim + 1, config.rho, config.eps, delta)
            general = [generalization_rows(dim + 1, config.eps, x) for x in (first, delta)]
            assert general[0] is not None
            assert general[1] is not None
            private = [
                private_rows(dim, config.eps, float(x), config.alpha) for x in (first, delta)
            ]
            rows += [
                {
                    "part": "theory",
                    "learner": learner,
                    "dim": dim,
                    "delta": float(delta),
                    "rows": total,
                    "rows_added": added,
                }
                for learner, total, added in (
                    ("index", ours, general[1] - general[0]),
                    ("private", private[1], private[1] - private[0]),
                )
            ]
    return rows


def _failures(
    config: PrivacyConfig,
    learn: Callable[[Any, int], ParityRule],
    m: int,
    runs: int,
    rng: np.random.RandomState,
) -> int:
    """Return in how many runs the error exceeds ε (⊥ counts as a failure)."""
    law = law_of(config)
    failed = 0
    for _ in range(runs):
        rows = law.sample(m, rng)
        rule = learn(rows, int(rng.randint(0, 2**31 - 1)))
        failed += rule.is_bottom or law.error(rule) > config.eps
    return failed


def _replicable_rule(config: PrivacyConfig, rows: Any, seed: int) -> ParityRule:
    """Return what the replicable learner answers, with the window of its coverage promise."""
    flag, chosen = Flag(rows.shape[1]).update(rows), IndexRule(eps=config.eps / 2, t_min=1)
    with warnings.catch_warnings():
        # that coverage is not proven for so few rows is what the experiment is about
        warnings.simplefilter("ignore", ReplicabilityWarning)
        answer = ask(flag, ParityQuestion(choice="uniform"), chosen, Coins(seed)).answer
    assert isinstance(answer, ParityRule)
    return answer


def _private_rule(config: PrivacyConfig, delta: float, rows: Any, seed: int) -> ParityRule:
    """Return what the pure-DP learner answers."""
    from flagstone.paper import PrivateParityClassifier

    model = PrivateParityClassifier(config.alpha, delta, classes=[0, 1], random_state=seed)
    rule: ParityRule = model.fit(rows[:, :-1], rows[:, -1]).answer_
    return rule


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


class PrivacyDisplay(Figure):
    """Rows needed as δ falls: theory above, measured below."""

    panels = (2, 1)
    size = (COLUMN_WIDTH, 5.0)

    def _draw(self, axes: list[Axes]) -> None:
        theory, measured = axes
        markers = dict(zip(self.config.dims, ("o", "s", "^", "D"), strict=False))
        for learner in ("index", "private"):
            for dim in sorted(markers, reverse=True):  # the legend in the order of the lines
                self._draw_theory(theory, learner, dim, markers[dim])
        theory.set_yscale("log")
        low, high = theory.get_ylim()
        theory.set_ylim(low / 10 ** (0.75 * 2 * len(markers)), high)  # room for the legend
        ticks = [p for p in (1, 10, 20, 30, 40) if p <= max(self.config.log10_deltas)]
        theory.set_xticks(ticks, [f"$10^{{-{p}}}$" for p in ticks])
        theory.minorticks_off()
        theory.set_xlabel(r"allowed failure probability $\delta$")
        theory.set_ylabel("rows needed")
        caption(
            theory,
            rf"theory: $\varepsilon={self.config.eps:g}$, $\rho={self.config.rho:g}$, "
            rf"$\alpha={self.config.alpha:g}$; × growth from $\delta=0.1$",
        )
        theory.legend(loc="lower right")
        for learner in ("private", "index"):
            self._draw_measured(measured, learner)
        measured.set_xticks(
            [math.log2(1 / d) for d in self.config.deltas],
            [f"1/{1 / d:.0f}" for d in self.config.deltas],
        )
        measured.set_ylim(bottom=0)
        measured.set_xlabel(r"allowed failure probability $\delta$")
        measured.set_ylabel("rows needed")
        caption(
            measured,
            f"measured: $d={len(self.config.masses)}$, {self.config.runs} runs per size; bars 95 %"
            "\n"
            r"(index rule: window for $\varepsilon$ alone, no $\rho$ proven)",
        )
        measured.legend(loc="upper left")

    def _draw_theory(self, axis: Axes, learner: str, dim: int, marker: str) -> None:
        kind, rows = SERIES[learner], self.where(part="theory", dim=dim, learner=learner)
        x, y = -np.log10(column(rows, "delta")), column(rows, "rows")
        line = kind.line | {"marker": marker}
        axis.plot(x, y, label=f"{kind.label}, $d={dim}$: ×{y[-1] / y[0]:.3g}", **line)

    def _draw_measured(self, axis: Axes, learner: str) -> None:
        kind, rows = SERIES[learner], self.where(part="measured", learner=learner)
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


PRIVACY = Experiment(
    name="privacy",
    title="What confidence costs: replicable and pure-DP learners",
    config=PrivacyConfig(),
    quick=PrivacyConfig(deltas=(1 / 2, 1 / 8), runs=40, grid=6),
    units=units,
    compute=compute,
    display=PrivacyDisplay,
)
