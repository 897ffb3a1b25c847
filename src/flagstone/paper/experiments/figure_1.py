"""figure-1: the paper's empirical evaluation, as described, and the index rule.

d = 20, D(e_i) = 2^-i, experiments of two trials each, fresh samples per trial, the threshold drawn
once per experiment, lexicographically smallest parity, equal coefficients counted, accuracy on a
static holdout of 5000 rows, bands of ±2 SEM. All learners see the same samples. What the paper
leaves open (the target, the scale of the threshold) and how it was chosen: docs/theory/paper.md.

The index rule gets T twice as long. Here n(V_i) ≈ m 2^-(i+1) and V_t keeps e_i while m 2^-i ≥ t, so
both rules then keep the same spaces on average: equal accuracy, and what is left to compare is
replicability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra import Array, Flag, Staircase, Subspace
from flagstone.answers import ParityRule
from flagstone.audit.intervals import standard_error
from flagstone.coins import Coins
from flagstone.distributions import geometric, planted_parity
from flagstone.guarantees import Window, paper_length
from flagstone.paper.experiments._runner import Experiment, Row, Unit, column, where
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes, caption
from flagstone.rules import HeavyRule, IndexRule

#: The learners, in the order of the figure.
LEARNERS = ("elimination", "heavy", "index")
#: How what was computed exactly is drawn.
_EXACT: dict[str, Any] = {"color": OKABE_ITO["black"], "linestyle": "-", "linewidth": 0.8}
#: What the paper reports: accuracy, and replicability from … to, at m = 1000.
REPORTED = {"elimination": (1.0, 0.20, 0.30), "heavy": (0.88, 0.90, 0.90)}


def spans(flag: Flag, chosen: dict[str, Window], coins: Coins) -> dict[str, Subspace]:
    """Return the span each learner keeps of one sample."""
    stairs, kept = Staircase.of(flag), {"elimination": flag.span_at(1)}
    for rule in (HeavyRule(), IndexRule()):
        t = rule.draw(chosen[rule.name], coins)
        kept[rule.name] = flag.span_at(rule.index(stairs, t))
    return kept


def elimination_agreement(
    masses: Sequence[float], m: int, target: Sequence[int] | None = None
) -> float:
    """The probability that elimination gives one rule for two samples of m rows, exactly.

    Rows are e_i with probability ``masses[i]``, or else zero; the target is given, or uniform, and
    what was not seen is 0 in the smallest rule. So two rules differ in coordinate i iff its
    coefficient is 1 and just one of the samples has seen e_i. Let P(S) be the probability to see
    the vectors of S and no others, by inclusion and exclusion over all 2^d sets; then two samples
    agree with probability Σ P(S)·P(S')·2^−|S △ S'|, and for one target with Σ P(S)² over the
    vectors with coefficient 1 alone. (If vectors were seen independently, the first would be the
    product of 1 − q_i(1 − q_i), q_i = (1 − p_i)^m, which differs in the fifth digit at m = 1000.)

    Examples
    --------
    One vector with mass ½, and one row in each sample: both see it, or not, or they differ.

    >>> elimination_agreement([0.5], 1), elimination_agreement([0.5], 1, [1])
    (0.75, 0.5)
    """
    if target is not None:
        masses = [mass for mass, coefficient in zip(masses, target, strict=True) if coefficient]
    sums = np.array([1.0 - math.fsum(masses)])
    for mass in masses:
        sums = np.concatenate([sums, sums + mass])
    seen = sums**m
    for i in range(len(masses)):
        pairs = seen.reshape(-1, 2, 1 << i)
        pairs[:, 1] -= pairs[:, 0]
    blurred = seen.copy()
    if target is None:
        for i in range(len(masses)):
            pairs = blurred.reshape(-1, 2, 1 << i)
            pairs[:] += pairs[:, ::-1] / 2
    # Not seen @ blurred, whose last digits depend on how many threads compute it.
    return float((seen * blurred).sum())


def _last_heavy(counts: Array, t: Array) -> Array:
    """Return the count of the rarest unit in the largest space with t sets; infinite for none."""
    ordered = np.sort(counts, axis=2)  # rising: space i is spanned by all units from i on
    sets = np.diff(ordered, axis=2, prepend=0)
    heavy = sets >= t[np.newaxis, :, np.newaxis]
    first = np.take_along_axis(ordered, heavy.argmax(axis=2)[..., np.newaxis], axis=2)[..., 0]
    return np.where(heavy.any(axis=2), first, np.inf)


@dataclass(frozen=True)
class Figure1(Experiment):
    """The paper's numbers."""

    dim: int = 20
    rho: float = 0.05
    sizes: tuple[int, ...] = tuple(range(50, 1001, 50))
    experiments: int = 1000
    holdout: int = 5000
    scale: float = 1 / 2000
    index_factor: float = 2.0
    #: The coefficients of one target, or None: drawn for every experiment.
    target: str | None = None
    #: Pairs of samples behind the numbers that the simulated ones are compared with.
    pairs: int = 100_000

    name: ClassVar = "figure-1"
    title: ClassVar = (
        "Accuracy and replicability of elimination, the paper's rule and the index rule"
    )
    small: ClassVar = {"sizes": (50, 400, 1000), "experiments": 20}
    panels: ClassVar = (2, 1)
    size: ClassVar = (COLUMN_WIDTH, 3.9)

    def units(self) -> list[Unit]:
        return [{"m": m} for m in self.sizes]

    def compute(self, unit: Unit, rng: np.random.RandomState) -> list[Row]:
        m = unit["m"]
        features = geometric(self.dim)
        # The holdout is static: it depends on the seed alone, not on m.
        static = np.random.RandomState(int(Coins(self.seed).integers("holdout", 2**32)))
        holdout = features.sample(self.holdout, static)
        chosen = self.windows(m)
        fixed = None if self.target is None else [int(bit) for bit in self.target]
        agreement = elimination_agreement(features.probabilities[: self.dim].tolist(), m, fixed)
        own = int(Coins(f"{self.seed}/{m}").integers("pairs", 2**32))
        many = self.counted_pairs(m, np.random.RandomState(own))
        same: dict[str, list[bool]] = {name: [] for name in LEARNERS}
        accuracy: dict[str, list[float]] = {name: [] for name in LEARNERS}
        exact: dict[str, list[float]] = {name: [] for name in LEARNERS}
        for number in range(self.experiments):
            coins = Coins(f"{self.seed}/{m}/{number}")
            drawn = rng.randint(0, 2, self.dim)
            law = planted_parity(drawn if fixed is None else fixed, features=features)
            labels = law.labels(holdout)
            samples = [law.sample(m, rng) for _ in range(2)]
            trials = [spans(Flag(self.dim + 1).update(rows), chosen, coins) for rows in samples]
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
                "experiments": self.experiments,
                "replicability": float(np.mean(same[name])),
                "replicability_sem": standard_error(same[name]),
                "replicability_exact": agreement if name == "elimination" else None,
                "replicability_counted": many[name][0],
                "accuracy": float(np.mean(accuracy[name])),
                "accuracy_sem": standard_error(accuracy[name]),
                "accuracy_exact": float(np.mean(exact[name])),
                "accuracy_counted": many[name][1],
            }
            for name in LEARNERS
        ]

    def windows(self, m: int) -> dict[str, Window]:
        """Return the window of each rule for samples of m rows."""
        T = self.scale * paper_length(self.dim + 1, self.rho, m)
        length = max(1, math.floor(self.index_factor * T))
        return {"heavy": Window("heavy", 1, T), "index": Window("index", 1, length)}

    def counted_pairs(self, m: int, rng: np.random.RandomState) -> dict[str, tuple[float, float]]:
        """Return replicability and accuracy of each learner over many pairs, without a flag.

        Rows are unit vectors, so V_t is spanned by those that were seen t times: counts decide.
        """
        chosen, d = self.windows(m), self.dim
        masses = geometric(d).probabilities[:d]
        totals = {name: np.zeros(2) for name in LEARNERS}
        for start in range(0, self.pairs, 10_000):
            n = min(10_000, self.pairs - start)
            rest = max(0.0, 1 - masses.sum())
            counts = rng.multinomial(m, [*masses, rest], size=(2, n))[:, :, :-1]
            target = rng.randint(0, 2, size=(n, d))
            if self.target is not None:
                target[:] = np.array(list(self.target), dtype=int)
            u, first = 1 - rng.random_sample(n), chosen["index"]
            last = {
                "elimination": np.ones((2, n)),
                "heavy": _last_heavy(counts, chosen["heavy"].length * u),
                "index": np.broadcast_to(np.ceil(int(first.length) * u), (2, n)),
            }
            for name, least in last.items():
                lost = (counts < least[:, :, np.newaxis]) & (target == 1)
                same = (lost[0] == lost[1]).all(axis=1)
                right = 1 - (lost * masses).sum(axis=2).mean(axis=0)
                totals[name] += same.sum() / self.pairs, right.sum() / self.pairs
        return {name: (float(a), float(b)) for name, (a, b) in totals.items()}

    def draw(self, data: list[Row], axes: list[Axes]) -> None:
        for axis, key in zip(axes, ("accuracy", "replicability"), strict=True):
            axis.set_ylabel(f"{key} (%)")
            for name in LEARNERS:
                kind, rows = SERIES[name], where(data, learner=name)
                sizes, y = column(rows, "m"), 100 * column(rows, key)
                error = 200 * column(rows, f"{key}_sem")
                axis.plot(sizes, y, label=kind.label, **kind.line)
                look: Any = {"color": kind.color, "alpha": 0.18, "linewidth": 0}
                axis.fill_between(sizes, y - error, y + error, **look)
            for name in LEARNERS:
                rows = where(data, learner=name)
                known = 100 * column(rows, f"{key}_counted")
                axis.plot(column(rows, "m"), known, **_EXACT)
        for axis, bottom in zip(axes, (50, 0), strict=True):
            axis.set_ylim(bottom, 103)
            axis.set_xlim(left=0, right=1.07 * max(self.sizes))
        self._draw_reported(axes)
        scale = rf"$T_{{\max}}$ of the paper $\times$ {self.scale:g}"
        caption(axes[1], rf"heavy: {scale}; index: {self.index_factor:g} $\times$ that")
        axes[0].tick_params(labelbottom=False)
        axes[1].set_xlabel("rows per sample, $m$")
        axes[0].legend(loc="lower right", ncols=1)
        law = f"$d={self.dim}$, $D(e_i)=2^{{-i}}$"
        caption(axes[0], rf"{law}, {self.experiments} experiments; bands $\pm 2$ SEM")

    def _draw_reported(self, axes: list[Axes]) -> None:
        """Mark what the paper reports, as open stars, beside the last measured points."""
        right = 1.04 * max(self.sizes)
        star: dict[str, Any] = {"marker": "*", "markersize": 8, "markerfacecolor": "white"}
        for name, (hit, low, high) in REPORTED.items():
            color = SERIES[name].color
            axes[0].plot([right], [100 * hit], color=color, linestyle="", clip_on=False, **star)
            if low < high:
                axes[1].axhspan(100 * low, 100 * high, facecolor=color, alpha=0.10, linewidth=0)
            middle = 50 * (low + high)
            axes[1].plot([right], [middle], color=color, linestyle="", clip_on=False, **star)
        axes[1].plot([], [], label="exact, or of many pairs", **_EXACT)
        axes[1].plot(
            [], [], color=OKABE_ITO["black"], linestyle="", label="reported by the paper", **star
        )
        axes[1].legend(
            handles=axes[1].get_lines()[-2:], loc="lower right", bbox_to_anchor=(1.0, 0.42)
        )


@dataclass(frozen=True)
class Figure1Fixed(Figure1):
    """T = 250 at m = 1000, and a target that shows what the paper reports."""

    target: str | None = "00100101010111100000"
    scale: float = 1 / 1224

    name: ClassVar = "figure-1-fixed"
    title: ClassVar = (
        "The same with one target for all experiments, chosen to show the paper's numbers"
    )
