"""Coverage or accuracy against replicability, over t_max: choose the window on pilot data.

From one pair of flags the disagreement and the coverage are known for *every* threshold, so the
whole curve costs no more than a single point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone.algebra import Field, FieldLike, Flag, Rows, Subspace, as_field, width
from flagstone.audit.data import HALVES, Sample, Sampler, as_data
from flagstone.audit.integrate import Thresholds, average, disagreement
from flagstone.audit.intervals import standard_error
from flagstone.distributions import Distribution, LabelledParity
from flagstone.errors import InputError, Parameter
from flagstone.estimators.coders import LabelCoder
from flagstone.guarantees.exact import positive
from flagstone.markup import card, table
from flagstone.plots.style import SERIES, Axes, Display, caption
from flagstone.question import ParityQuestion, SpanQuestion

#: Means that are equal but for their last digits are equal.
_ROUNDING = 1e-9
_PARITY = ParityQuestion(choice="lexmin")


@dataclass(frozen=True)
class TradeoffPoint:
    """One window: what it keeps, and how often two samples agree.

    ``kept`` is the coverage (share of rows in the answer) or, for labelled rows, the accuracy.
    """

    rule: str
    t_min: int
    t_max: float
    kept: float
    kept_sem: float
    replicability: float
    replicability_sem: float
    pairs: int


@dataclass(repr=False)
class TradeoffCurve(Display):
    """The curve, as numbers (``points``) and as a drawing (:meth:`plot`).

    ``indicative`` is True for halves of one table, whose pairs are not fresh samples.
    """

    points: tuple[TradeoffPoint, ...]
    quantity: str
    m: int
    indicative: bool = False

    def best(self, replicability: float, rule: str = "index") -> TradeoffPoint | None:
        """Return the point that keeps most among those with the wanted replicability.

        Of several the one with the longest window, which is the most stable. Points within one
        standard error of the best are equals: the pairs do not tell them apart.
        """
        fit = [p for p in self.points if p.rule == rule and p.replicability >= replicability]
        if not fit:
            return None
        most = max(fit, key=lambda p: p.kept)
        least = most.kept - most.kept_sem - _ROUNDING
        return max((p for p in fit if p.kept >= least), key=lambda p: p.t_max)

    def rows(self) -> list[dict[str, Any]]:
        """Return the points as plain data."""
        return [vars(p) | {"quantity": self.quantity, "m": self.m} for p in self.points]

    def __str__(self) -> str:
        lines = [f"rule   t_max        {self.quantity:<10} replicability"]
        lines += [
            f"{p.rule:<6} {p.t_max:<12.6g} {p.kept:<10.4f} {p.replicability:.4f}"
            for p in self.points
        ]
        return "\n".join([*lines, *([HALVES] if self.indicative else [])])

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(p.rule for p in self.points))
        return f"TradeoffCurve({len(self.points)} windows of {kinds}; {self.quantity})"

    def _repr_html_(self) -> str:
        rows = [
            (
                p.rule,
                f"{p.t_max:.6g}",
                f"{100 * p.kept:.1f} % ± {100 * p.kept_sem:.1f}",
                f"{100 * p.replicability:.1f} % ± {100 * p.replicability_sem:.1f}",
            )
            for p in self.points
        ]
        head = ("rule", "t_max", self.quantity, "replicability")
        note = "; halves of one table: indicative only" if self.indicative else ""
        title = f"{self.quantity.capitalize()} and replicability, {self.m:,} rows per sample{note}"
        return card(title, table(rows, head=head))

    def _draw(self, axes: list[Axes]) -> None:
        axis = axes[0]
        for rule in dict.fromkeys(p.rule for p in self.points):
            points = [p for p in self.points if p.rule == rule]
            kind = SERIES[rule]
            x = [100 * p.replicability for p in points]
            y = [100 * p.kept for p in points]
            sems = [(p.replicability_sem, p.kept_sem) for p in points]
            across, up = ([200 * error for error in errors] for errors in zip(*sems, strict=True))
            axis.errorbar(x, y, up, across, elinewidth=0.6, label=kind.label, **kind.line)
            near: Any = {"textcoords": "offset points", "xytext": (3, 4), "fontsize": 6}
            for i in (0, len(points) - 1):
                said = f"$t_{{\\max}}={points[i].t_max:.3g}$"
                axis.annotate(said, (x[i], y[i]), color=kind.color, **near)
        axis.set_xlim(left=0)
        axis.set(xlabel=r"replicability (%), $\pm 2$ SEM", ylabel=f"{self.quantity} (%)")
        caption(axis, f"$m={self.m}$ rows per sample")
        axis.legend(loc="lower left")


def tradeoff(
    X: Any,
    y: Any = None,
    *,
    m: int | None = None,
    t_max: Sequence[float] | None = None,
    t_min: int = 1,
    rules: Sequence[str] = ("index", "heavy"),
    field: FieldLike = 2,
    pairs: int = 50,
    seed: int = 0,
) -> TradeoffCurve:
    """Measure coverage (or accuracy) and replicability over t_max, for both rules.

    Parameters
    ----------
    X, y : as for :func:`~flagstone.audit.audit`
        A distribution, a function ``sampler(m, rng)``, or a table. With labels the rows are (x, y)
        and the curve is about the accuracy of the lexicographically smallest linear rule (⊥ and
        wrong predictions count as errors). A distribution gives exact values; a sampler or a table
        is measured on the other sample of the pair.
    m : int
        Rows per sample, for distributions and samplers.
    t_max : sequence of numbers, optional
        Last thresholds; by default twelve windows from length 1 to m/2, evenly on a logarithmic
        scale.
    t_min : int
        The first threshold.
    pairs, seed : int

    Notes
    -----
    **Guarantees**

    The threshold is integrated out exactly for each pair. Choose ``t_max`` on *pilot* data and
    fix it before the samples it is used on: a window chosen on the data itself voids every
    promise.

    Examples
    --------
    A longer window replicates more often, and keeps less:

    >>> from flagstone.audit import tradeoff
    >>> from flagstone.distributions import geometric
    >>> curve = tradeoff(geometric(10), m=1000, t_max=[4, 64], rules=["index"], pairs=20)
    >>> short, long = curve.points
    >>> short.kept > long.kept and short.replicability < long.replicability
    True
    """
    data, F = as_data(X, y, m), as_field(field)
    law = data.law if isinstance(data, Sampler) else None
    if law is not None and law.field != F:
        raise InputError(
            f"the distribution is over {law.field.name}, but field={field!r} was given"
        )
    positive("t_min", t_min)
    if pairs < 2:
        raise InputError(f"pairs must be at least 2, got {pairs}")
    rng = np.random.RandomState(seed)
    rounds = []
    for _ in range(pairs):
        samples = [_lifted(sample, F) for sample in data.pair(rng)[:2]]
        flags = [Flag(width(rows), F).update(rows) for rows, _ in samples]
        rounds.append((flags, [_worth(law, *other) for other in reversed(samples)]))
    size, labelled = int(flags[0].n_rows), samples[0][1].y is not None
    ends = _ends(t_min, t_max, size)
    points = [_point(rule, t_min, end, rounds, labelled) for rule in rules for end in ends]
    return TradeoffCurve(
        tuple(points), "accuracy" if labelled else "coverage", size, bool(data.caution)
    )


def _ends(t_min: int, t_max: Sequence[float] | None, size: int) -> list[float]:
    if t_max is None:
        grid = np.geomspace(1, max(2, size // 2), 12)
        return [t_min - 1 + float(t) for t in np.unique(np.round(grid))]
    ends = sorted({float(t) for t in t_max})
    if not ends or ends[0] < t_min:
        raise InputError(
            Parameter("t_max"), f" must hold thresholds of at least {t_min}, got {list(t_max)}"
        )
    return ends


def _lifted(sample: Sample, field: Field) -> tuple[Rows, Sample]:
    """Return the rows (x), or (x, y) with labels, and the sample with numbered labels."""
    if sample.y is None:
        return SpanQuestion().lift(field, field.rows(sample.X), None), sample
    # Labels such as "no" and "yes" are numbered as estimators number them.
    y = LabelCoder.of(np.unique(sample.y), field).encode(np.asarray(sample.y))
    return _PARITY.lift(field, field.rows(sample.X), field.elements(y)), sample._replace(y=y)


def _worth(law: Distribution | None, rows: Rows, other: Sample) -> Callable[[Subspace], float]:
    """Return what a subspace is worth: exact for a law, measured on the other sample otherwise."""

    def coverage(V: Subspace) -> float:
        return float(np.mean(V.contains(rows)) if law is None else law.probability(V))

    def accuracy(V: Subspace) -> float:
        rule: Any = _PARITY.read(V)
        if rule.is_bottom:
            return 0.0
        if isinstance(law, LabelledParity):
            return 1.0 - float(law.error(rule))
        return float(np.mean(rule.check(other.X, other.y)))

    return coverage if other.y is None else accuracy


def _point(rule: str, t_min: int, end: float, rounds: list[Any], labelled: bool) -> TradeoffPoint:
    answer = (lambda U: _PARITY.read(U).fingerprint()) if labelled else None
    same, kept = [], []
    start, stop = t_min - 1, math.floor(end) if rule == "index" else end
    for flags, values in rounds:
        choices = [Thresholds(flag, rule) for flag in flags]
        same.append(1.0 - disagreement(choices[0], choices[1], start, stop, answer))
        kept += [average(c, start, stop, value) for c, value in zip(choices, values, strict=True)]
    means = (float(np.mean(kept)), standard_error(kept), float(np.mean(same)), standard_error(same))
    return TradeoffPoint(rule, t_min, stop, *means, len(same))
