"""What an audit found: measures with intervals, in a table, a plot, HTML, CSV and as data."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from flagstone._version import __version__
from flagstone.audit._measures import GENERAL, SCORES, SIMILARITIES, MeasureKind, Pair
from flagstone.audit.intervals import anytime_interval, check_claim
from flagstone.disk import atomic_write
from flagstone.errors import MissingDependencyError, Parameter
from flagstone.markup import card, escape, table
from flagstone.plots.style import COLUMN_WIDTH, OKABE_ITO, Axes, Display
from flagstone.report import report_date
from flagstone.wording import counted

#: Most kinds of errors that are listed.
_SHOWN = 5
#: The plot shows intervals at about this many numbers of pairs.
_STEPS = 24
#: The measures that are drawn, each in a panel of its own, and their colours.
_DRAWN = {"exact": "blue", "pointwise": "orange", "worst": "vermillion", "approximate": "green"}


@dataclass(frozen=True)
class AuditStats:
    """Counts of pairs. They add up over different pairs.

    Of the agreements ``both_bottom`` are two answers ⊥, and ``both_empty`` come from the coins
    alone, because no direction was kept. Of the disagreements ``one_bottom`` have one answer ⊥, and
    ``errors`` a run that failed.

    Examples
    --------
    >>> from flagstone.audit import AuditStats
    >>> (AuditStats(30, 28) + AuditStats(70, 66, errors=1)).disagreements
    6
    """

    pairs: int = 0
    agreements: int = 0
    both_bottom: int = 0
    one_bottom: int = 0
    both_empty: int = 0
    errors: int = 0
    seconds: float = field(default=0.0, compare=False)

    def __add__(self, other: AuditStats) -> AuditStats:
        return AuditStats(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(AuditStats))
        )

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> AuditStats:
        """Count pairs."""
        kinds = Counter(pair.outcome for pair in pairs)
        return cls(
            len(pairs),
            kinds["agree"] + kinds["both_bottom"] + kinds["both_empty"],
            kinds["both_bottom"],
            kinds["one_bottom"],
            kinds["both_empty"],
            kinds["one_error"] + kinds["both_error"],
            math.fsum(pair.seconds for pair in pairs),
        )

    @property
    def disagreements(self) -> int:
        """Pairs without twice the same output: different ones, or an error."""
        return self.pairs - self.agreements

    @property
    def answered(self) -> int:
        """Pairs in which both runs gave an output (⊥ is one)."""
        return self.pairs - self.errors


@dataclass(frozen=True)
class Measure:
    """An estimate with its interval, which holds at every number of pairs at once.

    ``low`` and ``high`` are None for numbers without an interval (scores).
    """

    name: str
    estimate: float
    low: float | None
    high: float | None
    meaning: str


@dataclass(repr=False)
class AuditResult(Display):
    """The result of an audit: ``print`` it, :meth:`plot` it, or take its numbers.

    Attributes
    ----------
    learner, data : str
        What was audited, and on what.
    pairs : tuple of Pair
        One record for each pair.
    confidence : float
        Of all intervals.
    deterministic : bool or None
        Whether the same data and seed gave the same output twice; None if not checked.
    seed, command : str or None
        The seed of the audit, and the command that made it; the page shows them.

    Notes
    -----
    **Guarantees**

    If pairs are independent (fresh samples), then with probability at least ``confidence`` the
    intervals of *one* measure hold its true value at *all* numbers of pairs, so you may stop
    whenever you like. The worst input is the worst of the fixed ones, and its interval accounts
    for having looked at all of them. Several measures are several statements.

    Examples
    --------
    >>> from flagstone import audit
    >>> found = audit.summarize(["a", "a", "a", "b", "a", "a"])
    >>> found.exact.estimate, found.stats.pairs
    (0.6666666666666666, 3)
    """

    learner: str
    data: str
    pairs: tuple[Pair, ...]
    confidence: float = 0.95
    notion: str = ""
    kind: str = "other"
    n_inputs: int = 0
    tolerance: float = 0.0
    integrated: bool = False
    deterministic: bool | None = None
    caution: str = ""
    claim: float | None = None
    hint: Sequence[str | Parameter] = ()
    strong_id: str | None = None
    seed: str | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        check_claim(self.claim)

    @property
    def stats(self) -> AuditStats:
        """The counts."""
        return AuditStats.of(self.pairs)

    @cached_property
    def measures(self) -> dict[str, Measure]:
        """All measures that apply, by name: "exact", "pointwise", "worst", "approximate", …."""
        pairs = [dict(pair.values(self.n_inputs)) for pair in self.pairs]
        found, known = dict[str, Measure](), GENERAL | SIMILARITIES
        for name in dict.fromkeys(["exact", *(name for values in pairs for name in values)]):
            kind = known.get(name, MeasureKind(name, "your function of two outputs"))
            numbers = [values.get(name, kind.failed) for values in pairs]
            found[name] = self._measure(kind, _mean(numbers), numbers, self.confidence)
            if name == "pointwise":
                found["worst"] = self._worst()
        scores = [pair.score for pair in self.pairs if pair.score is not None]
        if scores and self.kind in SCORES:
            meaning = "of the runs, on held-out rows"
            found["score"] = Measure(SCORES[self.kind], _mean(scores), None, None, meaning)
        return found

    def _measure(
        self, kind: MeasureKind, estimate: float, values: Sequence[float], confidence: float
    ) -> Measure:
        scale = 1.0 - kind.low
        unit = [min(1.0, max(0.0, (value - kind.low) / scale)) for value in values]
        low, high = (kind.low + scale * end for end in anytime_interval(unit, confidence))
        close = f" within {self.tolerance:.3g}" if self.tolerance else ""
        meaning = kind.meaning.format(notion=self.notion, inputs=self.n_inputs, close=close)
        return Measure(kind.label, estimate, low, high, meaning)

    def _worst(self) -> Measure:
        """Return how often the worst of the fixed inputs gets the same prediction."""
        n, inputs = len(self.pairs), self.n_inputs
        least = int(np.sum([pair.agreeing(inputs) for pair in self.pairs], axis=0).min())
        # A union bound over the inputs: the interval of the least count holds the least rate.
        each = 1.0 - (1.0 - self.confidence) / inputs
        return self._measure(GENERAL["worst"], least / n, [1] * least + [0] * (n - least), each)

    @property
    def panels(self) -> tuple[int, int]:  # type: ignore[override]
        """One row of panels: exact, pointwise, its worst input, approximate."""
        return 1, len(self._drawn)

    @property
    def size(self) -> tuple[float, float]:  # type: ignore[override]
        """In inches."""
        return COLUMN_WIDTH * (0.4 + 0.4 * self.panels[1]), 2.2

    @property
    def exact(self) -> Measure:
        """The probability that two outputs are the same."""
        return self.measures["exact"]

    @property
    def score(self) -> Measure | None:
        """Accuracy, R², coverage, … on held-out rows, the mean over all runs; None without."""
        return self.measures.get("score")

    @property
    def verdict(self) -> str | None:
        """What to say about the claimed ρ: "rejected", "supported" or "undecided".

        Rejected: two runs differ more often than the claim allows; supported: they do not. Each
        is wrong with probability at most ``1 - confidence``, whatever the stop rule.
        """
        if self.claim is None:
            return None
        if not self.stats.answered:
            return "undecided"
        low, high = anytime_interval([pair.exact for pair in self.pairs], self.confidence)
        if 1.0 - low <= self.claim:
            return "supported"
        return "rejected" if 1.0 - high > self.claim else "undecided"

    def records(self) -> list[dict[str, Any]]:
        """Return one flat record for each pair."""
        found = []
        for pair in self.pairs:
            record = {"pointwise" if k == "inputs" else k: v for k, v in vars(pair).items()}
            values = record.pop("similarities")
            inputs = float(pair.agreeing(self.n_inputs).mean()) if self.n_inputs else None
            found.append({**record, "pointwise": inputs, **values})
        return found

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the pairs as CSV, one line each, and write them to a file if one is given."""
        records = self.records()
        names = list(dict.fromkeys(name for record in records for name in record))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return _written(text.getvalue(), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return table and plot as a page that needs no network, and write it to a file.

        It has the date of today, or of SOURCE_DATE_EPOCH.
        """
        day, css = report_date(), files("flagstone.audit").joinpath("page.css").read_text("utf-8")
        images = (_Panel(self, key).image(".svg").decode() for key in self._drawn)
        plots = "".join(image[image.index("<svg") :] for image in images)
        seed = f"<p>Made with the seed <code>{escape(self.seed)}</code>.</p>\n" if self.seed else ""
        words = (f"<span>{escape(word)}</span>" for word in (self.command or "").split(" "))
        command = f"<h2>Repeat it</h2>\n<pre>{' '.join(words)}</pre>\n" if self.command else ""
        page = (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>Audit of {escape(self.learner)}</title>\n<style>{css}</style>\n<main>\n"
            f'<p class="made">flagstone {__version__} · <time datetime="{day}">{day}</time></p>\n'
            f"{self._repr_html_()}\n<h2>Estimates and intervals as pairs accumulate</h2>\n"
            f'<div class="plots">{plots}</div>\n{seed}{command}'
            "</main>\n</html>\n"
        )
        return _written(page, path)

    def to_frame(self) -> Any:
        """Return the pairs as a pandas data frame, one row each."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingDependencyError("a data frame needs pandas: pip install pandas") from None
        return pd.DataFrame.from_records(self.records())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, without the single pairs."""
        stats = self.stats
        return {
            "learner": self.learner,
            "data": self.data,
            "strong_id": self.strong_id,
            **asdict(stats),
            "disagreements": stats.disagreements,
            "error_types": dict(self._errors()),
            "confidence": self.confidence,
            "measures": {
                key: {name: value for name, value in vars(m).items() if name != "name"}
                for key, m in self.measures.items()
            },
            "inputs": self.n_inputs,
            "tolerance": self.tolerance,
            "integrated": self.integrated,
            "deterministic": self.deterministic,
            "indicative": bool(self.caution),
            "verdict": self.verdict and {"decision": self.verdict, "claim": self.claim},
        }

    def _errors(self) -> list[tuple[str, int]]:
        """Return the first error of each kind and their number, the most frequent first.

        Messages that differ in numbers only are one kind.
        """
        errors = [pair.error for pair in self.pairs if pair.error]
        kinds = [re.sub(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "#", error) for error in errors]
        return [(errors[kinds.index(kind)], count) for kind, count in Counter(kinds).most_common()]

    def _head(self) -> list[str]:
        """Return the lines above the table."""
        s = self.stats
        both = f" ({s.both_bottom} of them both ⊥)" if s.both_bottom else ""
        one = [f"{s.one_bottom} of them one ⊥"] if s.one_bottom else []
        one += [f"{s.errors} with an error"] if s.errors else []
        differ = f" ({', '.join(one)})" if one else ""
        lines = [
            f"{counted(s.pairs, 'pair')}: {s.agreements:,} agree exactly{both}, "
            f"{s.disagreements:,} differ{differ}"
        ]
        errors = self._errors()
        lines += [f"  {count} × {text}" for text, count in errors[:_SHOWN]]
        if len(errors) > _SHOWN:
            lines.append(f"  and {len(errors) - _SHOWN} more kinds of errors")
        if not s.answered:
            return [*lines, "no pair was answered: nothing can be said about replicability"]
        if self.deterministic is not None:
            lines.append(
                "deterministic: the same data and seed gave the same output"
                if self.deterministic
                else "NOT DETERMINISTIC: the same data and seed gave two different outputs"
            )
        return lines

    def _table(self) -> list[tuple[str, str, str, str]]:
        """Return the table, its head first: name, estimate, interval, meaning."""
        interval = f"{100 * self.confidence:g} % interval"
        rows = [("measure", "estimate", interval, "what is measured")]
        names = dict.fromkeys((*GENERAL, *self.measures))
        for key in names:
            m = self.measures.get(key)
            if m is not None:
                ends = "" if m.low is None else f"{m.low:.4f} to {m.high:.4f}"
                rows.append((m.name, f"{m.estimate:.4f}", ends, m.meaning))
            elif key != "worst":
                rows.append((key, "–", "", "needs predictions, and these outputs have none"))
        return rows

    def _notes(self) -> list[str]:
        """Return the lines below the table."""
        s = self.stats
        lines = ["Intervals hold at every number of pairs, whenever you stop."]
        share, hint = s.agreements / s.pairs, "".join(map(str, self.hint))
        if self.integrated and abs(self.exact.estimate - share) >= 0.00005:
            lines.append(
                "exact is the mean over all thresholds of the window; at the thresholds that were "
                f"drawn, {s.agreements} of {s.pairs} pairs agree ({share:.4f})"
            )
        if s.errors > s.answered:
            lines.append(f"MOST PAIRS FAILED: {s.errors} of {s.pairs} count as different")
        if s.both_bottom == s.answered:
            lines.append(f"EVERY ANSWER IS ⊥: no rule was learned{hint}")
        elif s.agreements and s.agreements == s.both_bottom:
            lines.append(f"THE RUNS AGREE ON ⊥ ONLY: no pair learned the same rule{hint}")
        elif s.agreements and s.agreements == s.both_bottom + s.both_empty:
            lines.append(
                "THE RUNS AGREE ON NOTHING: no direction was kept, so that answers are drawn from "
                "the coins alone (a window that starts and ends earlier keeps more)"
            )
        lines += self.caution.splitlines()
        if self.claim is not None:
            said = {
                "rejected": f"the claimed rho = {self.claim:g} is REJECTED",
                "supported": f"the claimed rho = {self.claim:g} is supported",
                "undecided": f"undecided about the claimed rho = {self.claim:g}",
            }[str(self.verdict)]
            lines.append(f"verdict: {said} at confidence {self.confidence:g}")
        return lines

    def __str__(self) -> str:
        lines = [f"audit of {self.learner} on {self.data}", *self._head()]
        if not self.stats.answered:
            return "\n".join(lines)
        rows = self._table()
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        for name, estimate, ends, meaning in rows:
            cells = (name.ljust(widths[0]), estimate.rjust(widths[1]), ends.ljust(widths[2]))
            lines.append("  ".join((*cells, meaning)).rstrip())
        return "\n".join([*lines, *self._notes()])

    def __repr__(self) -> str:
        known = ", ".join(f"{m.name} {m.estimate:.3f}" for m in self.measures.values())
        return f"AuditResult({self.learner}, {counted(len(self.pairs), 'pair')}: {known})"

    def _repr_html_(self) -> str:
        parts = [table([(line.strip(),) for line in self._head()])]
        if self.stats.answered:
            head, *rows = self._table()
            parts += [table(rows, head=head), table([(line,) for line in self._notes()])]
        return card(f"Audit of {self.learner} on {self.data}", *parts)

    @property
    def _drawn(self) -> list[str]:
        return [key for key in _DRAWN if key in self.measures]

    @cached_property
    def _path(self) -> dict[int, dict[str, Measure]]:
        """The measures after some numbers of pairs."""
        ends = np.unique(np.geomspace(1, len(self.pairs), _STEPS).round().astype(int)).tolist()
        return {end: replace(self, pairs=self.pairs[:end]).measures for end in ends}

    def _draw(self, axes: list[Axes]) -> None:
        for axis, key in zip(axes, self._drawn, strict=True):
            self._draw_measure(axis, key)
            axis.label_outer(remove_inner_ticks=False)
        axes[0].set_ylabel(f"estimate, {100 * self.confidence:g} % interval")
        figure = axes[0].get_figure()
        if figure is not None and not figure.get_suptitle():
            figure.suptitle(self.learner, fontsize=8, parse_math=False)

    def _draw_measure(self, axis: Axes, key: str) -> None:
        path = [(n, found[key]) for n, found in self._path.items() if key in found]
        x, color = [n for n, _ in path], OKABE_ITO[_DRAWN[key]]
        low, high = ([getattr(m, end) for _, m in path] for end in ("low", "high"))
        axis.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
        y = [m.estimate for _, m in path]
        axis.plot(x, y, color=color, marker="o", markevery=[-1], clip_on=False)
        axis.plot(x[-1:] * 2, [low[-1], high[-1]], color=color, linewidth=0.8)
        axis.set_title(self.measures[key].name, fontsize=8)
        axis.set(xlim=(0, len(self.pairs) + 0.5), ylim=(-0.02, 1.02), xlabel="pairs")
        axis.locator_params(axis="x", integer=True)


class _Panel(Display):
    """One measure of a result, drawn alone: on narrow pages panels stand below each other."""

    size = (2.4, 2.0)

    def __init__(self, result: AuditResult, key: str) -> None:
        self._result, self._key = result, key

    def _draw(self, axes: list[Axes]) -> None:
        self._result._draw_measure(axes[0], self._key)


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        atomic_write(Path(path), text.encode(), overwrite=True)
    return text


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
