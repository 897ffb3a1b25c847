"""certified: rows that a promise needs, in advance and from the data; and whether it is kept.

Above: rows per sample with which two samples agree with probability 0.95, on rows of a subspace of
which a few are damaged, against the dimension and against the damage. The bound made in advance
covers every distribution; the certificate speaks of this one, from its rows, at 99 % confidence
(docs/theory/certificates.md); simulation shows the truth. The window is the middle half of the
thresholds between the number of damaged rows and that of full sets, as shares of m.

Below: laws with a gap, with one just missed, without one, and with heavy tails. Certificates at
90 % confidence may be false, in any statement, in at most a tenth of the trials; mistakes that were
planted into the method must be found out by the same check. A trial certifies one sample and holds
what its certificates say of every space of the pilot (rho, eps and the range of thresholds) against
the truth. Probabilities of spaces are exact; what fresh samples do is estimated from many, and a
statement counts as false only where they leave no doubt.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from flagstone.algebra import Array, Flag, Subspace
from flagstone.audit import Thresholds, anytime_interval, clopper_pearson, disagreement
from flagstone.certificates import Certifier, pilot_rows
from flagstone.distributions import (
    Distribution,
    Finite,
    UniformOn,
    blocks,
    geometric,
    planted_subspace,
    random_subspace,
    uniform,
)
from flagstone.guarantees import Certificate, Window, index_rho
from flagstone.guarantees.binomial import binomial_above
from flagstone.guarantees.exact import smallest
from flagstone.paper.experiments._runner import Experiment, Row, Unit, column, where
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, SERIES, Axes, caption

#: Sizes are tried in these steps.
_STEP = 1.2
#: What the fresh samples say is taken for true only at this confidence.
_SURE = 0.9999


@dataclass(frozen=True)
class Case:
    """A law, the rows of a sample, and a window."""

    kind: str
    law: Distribution
    m: int
    window: Window


def _first_axes(rank: int, dim: int) -> Subspace:
    return Subspace.span(np.eye(dim, dtype=int)[:rank])


def _damaged(rank: int, dim: int, share: float) -> Distribution:
    if not share:
        return UniformOn(_first_axes(rank, dim))
    return planted_subspace(_first_axes(rank, dim), contamination=share)


def _units(masses: Any) -> Finite:
    """Unit vectors, with the rest of the mass on zero."""
    weights = np.asarray(masses, dtype=float)
    axes = np.eye(len(weights), dtype=int)
    return Finite(np.concatenate([axes, 0 * axes[:1]]), [*weights, max(0.0, 1 - weights.sum())])


def _zipf(dim: int, power: float) -> Finite:
    weights = np.arange(1, dim + 1) ** -power
    return _units(weights / weights.sum())


_TRIANGLE = Finite([[1, 1], [0, 1], [1, 0]], [0.55, 0.225, 0.225])

CASES = {
    "plane, 5 % damaged": Case("gapped", _damaged(3, 6, 0.05), 1500, Window("index", 31, 330)),
    "8 of 12, 1 % damaged": Case("gapped", _damaged(8, 12, 0.01), 2000, Window("index", 31, 110)),
    "8 of 12, no damage": Case("gapped", _damaged(8, 12, 0.0), 2000, Window("index", 1, 120)),
    "plane, heavy rule": Case("gapped", _damaged(3, 6, 0.05), 1500, Window("heavy", 31, 200)),
    "early window": Case("borderline", _damaged(3, 6, 0.05), 1500, Window("index", 8, 120)),
    "late window": Case("borderline", _damaged(3, 6, 0.05), 1500, Window("index", 200, 420)),
    "rare direction": Case("borderline", _units([0.3, 0.3, 0.02]), 2000, Window("index", 10, 60)),
    "two gaps": Case("borderline", _units([0.4, 0.1, 0.1, 0.01]), 3000, Window("index", 15, 500)),
    "geometric, 4 units": Case("gapless", geometric(4), 4000, Window("index", 100, 900)),
    "geometric, 10 units": Case("gapless", geometric(10), 4000, Window("index", 1, 1500)),
    "equal units": Case("gapless", _units([0.15] * 6), 2000, Window("index", 1, 300)),
    "triangle": Case("gapless", _TRIANGLE, 3000, Window("index", 1400, 1600)),
    "uniform": Case("gapless", uniform(5), 1000, Window("index", 1, 150)),
    "blocks": Case("gapless", blocks(9), 4000, Window("index", 100, 500)),
    "Zipf(1)": Case("heavy-tailed", _zipf(12, 1.0), 3000, Window("index", 1, 500)),
    "Zipf(2)": Case("heavy-tailed", _zipf(12, 2.0), 3000, Window("index", 1, 500)),
}
#: Nothing is certified here but shares of rows outside, which a reused pilot gets wrong.
_SPARSE = Case("heavy-tailed", _zipf(60, 1.0), 400, Window("index", 1, 3))


class Truth:
    """What fresh samples of a case do.

    Examples
    --------
    >>> truth = Truth(CASES["uniform"], 20, np.random.RandomState(1))
    >>> truth.rho_at_least, truth.misses_at_least(Subspace.full(5), 20)
    (0.0, 0.0)
    """

    def __init__(self, case: Case, samples: int, rng: np.random.RandomState) -> None:
        self.case = case
        flags = [_flag(case.law.sample(case.m, rng)) for _ in range(samples)]
        self.choices = [Thresholds(flag, case.window.rule) for flag in flags]
        self._where: dict[Subspace, Array] = {}

    @cached_property
    def values(self) -> list[float]:
        """How much of the window two fresh samples disagree on, pair by pair."""
        start, stop = self.case.window.start, self.case.window.t_max
        pairs = zip(self.choices[::2], self.choices[1::2], strict=False)
        return [disagreement(a, b, start, stop) for a, b in pairs]

    @cached_property
    def rho_at_least(self) -> float:
        """A lower limit of the probability that two fresh samples disagree."""
        return anytime_interval(self.values, _SURE)[0]

    def misses_at_least(self, space: Subspace, t: float) -> float:
        """A lower limit of the probability that a fresh sample does not answer a space at t."""
        if space not in self._where:
            self._where[space] = np.array([_range_of(choice, space) for choice in self.choices])
        first, last = self._where[space].T
        missed = int(np.count_nonzero((t <= first) | (t > last)))
        return clopper_pearson(missed, len(self.choices), _SURE)[0]

    def refutes(self, said: Certificate, space: Subspace) -> bool:
        """Whether one of the statements of a certificate about a space is false."""
        if said.rho is not None and said.rho < self.rho_at_least:
            return True
        if said.eps is not None and said.eps < self.case.law.uncovered(space) - 1e-12:
            return True
        if said.t_first is None or said.t_last is None:
            return False
        worst = max(self.misses_at_least(space, t) for t in (said.t_first, said.t_last))
        return worst > 1 - said.confidence


def _range_of(choice: Thresholds, space: Subspace) -> tuple[float, float]:
    """The thresholds (first, last] at which a sample answers a space."""
    for i, found in enumerate(choice.spaces[:-1]):
        if found.dim == space.dim and found == space:
            return (choice.ends[i - 1] if i else 0), choice.ends[i]
    return 0, 0


def _flag(rows: Array) -> Flag:
    return Flag(rows.shape[1]).update(rows)


def certifier_of(case: Case, rows: Array, confidence: float) -> Certifier:
    """Certify as one should: the first tenth of the rows plans, the others certify."""
    k = pilot_rows(len(rows))
    return _planned(case, rows[:k], confidence).update(rows[k:])


def _planned(case: Case, pilot: Array, confidence: float) -> Certifier:
    return Certifier.of_pilot(_flag(pilot), case.m, case.window, confidence=confidence)


def _pilot_reused(case: Case, rows: Array, confidence: float) -> Certifier:
    """The rows that chose the spaces certify them."""
    return _planned(case, rows[:-1], confidence).update(rows)


def _delta_not_shared(case: Case, rows: Array, confidence: float) -> Certifier:
    """Every space has all of δ for its share of rows outside, which gets a quarter of its part."""
    certifier = certifier_of(case, rows, confidence)
    plan = certifier.plan
    certifier.plan = replace(plan, weights=(4.0,) * len(plan.weights))
    return certifier


class _BlocksOfAllRows(Certifier):
    """A piece ends when *all* its rows, not those inside U alone, have a span that holds U."""

    blocks: dict[Any, Counter[tuple[int, int]]]

    @classmethod
    def of(cls, case: Case, rows: Array, confidence: float) -> Certifier:
        k, longest = pilot_rows(len(rows)), 4 * rows.shape[1]
        plan = _planned(case, rows[:k], confidence).plan
        cuts = tuple(replace(cut, credit=longest, most=1) for cut in plan.inside)
        certifier = cls(replace(plan, inside=cuts), confidence)
        bits = 1 << np.arange(rows.shape[1])
        words = (rows[k:] @ bits).tolist()
        spaces = [plan.spaces.subspace(i).basis @ bits for i in range(len(cuts))]
        blocks = [_until_held(words, wanted.tolist(), longest) for wanted in spaces]
        certifier.blocks = dict(zip(cuts, blocks, strict=True))
        return certifier.update(rows[k:])

    def outcomes(self, cut: Any) -> Counter[tuple[int, int]]:
        return self.blocks[cut] if cut.inside else super().outcomes(cut)


def _until_held(words: list[int], wanted: list[int], longest: int) -> Counter[tuple[int, int]]:
    """How often a piece that begins early enough to count had value 1 or 0 and which length."""
    pieces: Counter[tuple[int, int]] = Counter()
    begin = 0
    while begin + longest <= len(words):
        span: list[int] = []
        length, held = 0, False
        while not held and length < longest:
            rest = _reduced(words[begin + length], span)
            span += [rest] if rest else []
            length, held = length + 1, not any(_reduced(vector, span) for vector in wanted)
        pieces[int(held), length] += 1
        begin += length
    return pieces


def _reduced(word: int, span: list[int]) -> int:
    for vector in span:
        word = min(word, word ^ vector)
    return word


#: Each with a case that shows it.
MISTAKES: dict[str, tuple[Case, Callable[[Case, Array, float], Certifier]]] = {
    "pilot rows reused": (_SPARSE, _pilot_reused),
    "δ not shared": (CASES["geometric, 10 units"], _delta_not_shared),
    "blocks of all rows": (CASES["triangle"], _BlocksOfAllRows.of),
}


def trial(
    truth: Truth,
    rng: np.random.RandomState,
    confidence: float,
    certify: Callable[[Case, Array, float], Certifier] = certifier_of,
) -> tuple[bool, bool]:
    """Certify a sample; say whether anything was certified, and whether any of it is false."""
    case = truth.case
    certifier = certify(case, case.law.sample(case.m, rng), confidence)
    spaces = certifier.plan.spaces
    asked = [spaces.subspace(i) for i in range(len(spaces.dims))]
    said = [certifier.certificate(space) for space in asked]
    issued = any(one.rho is not None or one.t_first is not None for one in said)
    return issued, any(truth.refutes(*pair) for pair in zip(said, asked, strict=True))


def is_too_often(failures: int, trials: int, allowed: float, level: float = 1e-6) -> bool:
    """Whether this many failures are not by chance: P[Bin(trials, allowed) ≥ failures] < level.

    Examples
    --------
    >>> is_too_often(120, 1000, 0.1), is_too_often(150, 1000, 0.1)
    (False, True)
    """
    return binomial_above(trials, allowed, failures - 1) < level


def law_of(dim: int, damage: float) -> Distribution:
    """Rows of a random subspace of dimension 3d/4, uniform in all of the space where damaged."""
    space = random_subspace(3 * dim // 4, dim, rng=1)
    return planted_subspace(space, contamination=damage) if damage else UniformOn(space)


def window_of(dim: int, damage: float, m: int) -> Window:
    """The middle half between the damaged rows and the full sets, of about 3d/4 + 2 rows each."""
    low, high = damage, (1 - damage) / (3 * dim // 4 + 2)
    first = max(1, math.ceil(m * (low + (high - low) / 4)))
    return Window("index", first, max(first, math.floor(m * (high - (high - low) / 4))))


def _size(step: int) -> int:
    return round(20 * _STEP**step)


@dataclass(frozen=True)
class CertificateStudy(Experiment):
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

    name: ClassVar = "certified"
    title: ClassVar = (
        "Rows needed in advance, by certificate and in truth; and whether certificates hold"
    )
    small: ClassVar = {
        "dims": (6, 16, 32), "damages": (0.0, 0.005, 0.02),
        "samples": 3, "pairs": 20, "trials": 20, "fresh": 100,
    }  # fmt: skip
    panels: ClassVar = (3, 1)
    size: ClassVar = (COLUMN_WIDTH, 6.8)
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

    def units(self) -> list[Unit]:
        sizes = [(dim, self.damage) for dim in self.dims]
        sizes += [(self.dim, damage) for damage in self.damages]
        return [
            *({"part": "rows", "dim": d, "damage": c} for d, c in dict.fromkeys(sizes)),
            *({"part": "validity", "law": name} for name in self.cases),
            *({"part": "mistake", "mistake": name} for name in MISTAKES),
        ]

    def compute(self, unit: Unit, rng: np.random.RandomState) -> list[Row]:
        if unit["part"] == "rows":
            return [self._rows_needed(unit["dim"], unit["damage"], rng)]
        return [self._validity(unit, rng)]

    def _rows_needed(self, dim: int, damage: float, rng: np.random.RandomState) -> Row:
        law = law_of(dim, damage)

        def in_advance(m: int) -> bool:
            window = window_of(dim, damage, m)
            return index_rho(dim, window.length, start=window.start, n_rows=m) <= self.rho

        def certified(m: int) -> bool:
            case, rhos = Case("planted", law, m, window_of(dim, damage, m)), []
            for _ in range(self.samples):
                rho = certifier_of(case, law.sample(m, rng), self.confidence).certificate().rho
                rhos.append(1.0 if rho is None else rho)
            return float(np.median(rhos)) <= self.rho

        def simulated(m: int) -> bool:
            window, differ = window_of(dim, damage, m), []
            for _ in range(self.pairs):
                a, b = (Thresholds(Flag(dim).update(law.sample(m, rng))) for _ in range(2))
                differ.append(disagreement(a, b, window.start, window.t_max))
            return float(np.mean(differ)) <= self.rho

        row = {"part": "rows", "dim": dim, "damage": damage, "rho": self.rho}
        row["in_advance"] = smallest(in_advance)
        for name, enough in (("certificate", certified), ("simulation", simulated)):
            step = smallest(lambda k, enough=enough: enough(_size(k)), start=0)  # type: ignore[misc]
            row[name] = _size(step)
        return row

    def _validity(self, unit: dict[str, Any], rng: np.random.RandomState) -> Row:
        if unit["part"] == "mistake":
            case, method = MISTAKES[unit["mistake"]]
        else:
            case, method = CASES[unit["law"]], certifier_of
        truth = Truth(case, self.fresh, rng)
        outcomes = [trial(truth, rng, 1 - self.allowed, method) for _ in range(self.trials)]
        issued, false = (sum(column) for column in zip(*outcomes, strict=True))
        low, high = clopper_pearson(false, self.trials)
        return {
            **unit,
            "kind": case.kind,
            "m": case.m,
            "trials": self.trials,
            "issued": issued,
            "false": false,
            "false_low": low,
            "false_high": high,
            "allowed": self.allowed,
            "too_often": is_too_often(false, self.trials, self.allowed),
            "disagreement": float(np.mean(truth.values)),
        }

    def draw(self, data: list[Row], axes: list[Axes]) -> None:
        by_dim = [row for row in where(data, damage=self.damage) if row["dim"] in self.dims]
        by_damage = [row for row in where(data, dim=self.dim) if row["damage"] in self.damages]
        self._draw_rows(axes[0], by_dim, "dim", 1)
        self._draw_rows(axes[1], sorted(by_damage, key=lambda r: r["damage"]), "damage", 100)
        axes[0].set_xlabel(f"dimension $d$ of the rows ({100 * self.damage:g} % damaged)")
        axes[1].set_xlabel(f"damaged rows (%), $d={self.dim}$")
        axes[0].legend(loc="center right", bbox_to_anchor=(1.0, 0.55))
        for axis in axes[:2]:
            caption(axis, rf"for $\rho \leq {self.rho:g}$")
        self._draw_validity(data, axes[2])

    def _draw_rows(self, axis: Axes, rows: list[Row], x: str, scale: float) -> None:
        for key, look, label in self._lines:
            line = SERIES[look].line
            axis.plot(scale * column(rows, x), column(rows, key), label=label, **line)
        axis.set(yscale="log", ylabel="rows needed per sample")

    def _draw_validity(self, data: list[Row], axis: Axes) -> None:
        rows = [row for row in data if row["part"] != "rows"]
        seen: set[str] = set()
        for place, row in enumerate(rows):
            wrong = row["part"] == "mistake"
            kind = "planted mistake" if wrong else row["kind"]
            share, low, high = row["false"] / row["trials"], row["false_low"], row["false_high"]
            look: Any = {"fmt": "X" if wrong else "o", "color": OKABE_ITO[self._colors[kind]]}
            reach = [[100 * (share - low)], [100 * (high - share)]]
            label = None if kind in seen else kind
            axis.errorbar(100 * share, place, xerr=reach, elinewidth=0.8, label=label, **look)
            seen.add(kind)
            # Names are placed where no point is: right of what is allowed, or left of it.
            name, side = (row["mistake"], "right") if wrong else (row["law"], "left")
            x = 9.6 if wrong else max(10.6, 100 * high + 0.6)
            axis.text(x, place, name, fontsize=6, ha=side, va="center")
        axis.axvline(100 * self.allowed, color=OKABE_ITO["black"], linewidth=0.8)
        axis.set_xscale("symlog", linthresh=10)
        axis.set_xlim(-0.3, 115)
        axis.set_xticks([0, 5, 10, 20, 50, 100], ["0", "5", "10", "20", "50", "100"])
        axis.minorticks_off()
        axis.set(yticks=[], ylim=(len(rows) - 0.4, -0.6), ylabel="law")
        axis.set_xlabel(f"false certificates (%); {100 * self.allowed:g} % are allowed")
        axis.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=3, columnspacing=1.0)
