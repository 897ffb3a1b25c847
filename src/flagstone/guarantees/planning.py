"""`plan`: how many rows a promise needs, under each analysis."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from flagstone.algebra.fields import FieldLike, as_field
from flagstone.guarantees.contamination import check_contamination, outlier_start
from flagstone.guarantees.coverage import pac_rows, pac_start
from flagstone.guarantees.each import each_length, each_rows
from flagstone.guarantees.exact import check_dim, check_share
from flagstone.guarantees.learners import generalization_rows
from flagstone.guarantees.paper import paper_length, paper_rows
from flagstone.guarantees.rules import heavy_length, heavy_rows, index_length, index_rows
from flagstone.markup import card, table

#: The analysis of single equations.
EACH = "index, each equation"


@dataclass(frozen=True)
class PlanRow:
    """One analysis: rows needed, and the length T and first threshold of the window at that size.

    `rows` is None where the analysis promises nothing for what was asked.
    """

    analysis: str
    rows: int | None
    length: int | None
    t_min: int


@dataclass(frozen=True)
class Plan:
    """Rows needed for a promise, under the paper's analysis and ours. Printable; see `plan`."""

    dim: int
    rho: float
    eps: float
    delta: float | None
    field: str
    contamination: float
    entries: tuple[PlanRow, ...]
    generalization_rows: int | None

    def __getitem__(self, analysis: str) -> PlanRow:
        """The line of one analysis, by its name."""
        for entry in self.entries:
            if entry.analysis == analysis:
                return entry
        raise KeyError(f"no analysis {analysis!r}; there are {[e.analysis for e in self.entries]}")

    @property
    def rows(self) -> int | None:
        """The rows needed by the rule used by default."""
        return self["index"].rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self) | {"entries": [asdict(entry) for entry in self.entries]}

    def _title(self) -> str:
        asked = f"rho = {self.rho:g}, eps = {self.eps:g}"
        if self.delta is not None:
            asked += f", delta = {self.delta:g}"
        if self.contamination:
            asked += f", contamination = {self.contamination:g}"
        return f"Rows of dimension {self.dim} over {self.field}: {asked}"

    def _notes(self) -> list[str]:
        notes = []
        if self.delta is not None:
            notes.append(
                "ours: with probability 1 - delta at most eps of future rows lie outside the "
                "answer: the error of a parity rule, of an affine span, of a subspace"
            )
            if self.generalization_rows is None:
                notes.append(
                    "paper: counts the linear rules, which are infinitely many over "
                    f"{self.field}, so that it gives no delta"
                )
            else:
                notes.append(
                    "paper: half of eps for rows left out, half for generalization, which alone "
                    f"needs {_number(self.generalization_rows)} rows"
                )
        if self.entries[-1].analysis == EACH:
            notes.append(
                f"{EACH}: for any equation or row fixed in advance; the coins draw how many of "
                "these rows are used, more than half of them (draw_rows)"
            )
        if self.contamination and self.delta is not None:
            notes.append(
                "first t has room for more outliers than the stated share, which half of all "
                "samples have: pass it as t_min, and t_max = first t + T - 1"
            )
        if any(entry.rows is None for entry in self.entries) and self.contamination:
            heavy = "d(d+1)/2" if self.delta is None else "d²"
            notes.append(
                "–: not proven for any number of rows (the paper has no statement on outliers; "
                f"ours need contamination × d < eps, for the heavy rule × {heavy})"
            )
        notes.append(
            "paper (printed): its proof halves the true sensitivity; the theorem holds by another"
        )
        return notes

    def _cells(self) -> list[tuple[str, str, str, str]]:
        lines = [("analysis", "rows needed", "length T", "first t")]
        for entry in self.entries:
            known = entry.rows is not None
            first = _number(entry.t_min) if known else "–"
            lines.append((entry.analysis, _number(entry.rows), _number(entry.length), first))
        return lines

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(line[i]) for line in cells) for i in range(4)]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in cells
        ]
        lines.insert(1, "  ".join("─" * width for width in widths))
        return "\n".join([self._title(), "", *lines, "", *(f"· {n}" for n in self._notes())])

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        notes = table([(f"· {note}",) for note in self._notes()])
        return card(self._title(), table(body, head=head), notes)


def _number(value: int | None) -> str:
    """An integer for people: grouped digits, or two significant ones and a power of ten."""
    if value is None:
        return "–"
    if value < 10**12:
        return f"{value:,}"
    power = len(str(value)) - 1
    lead = math.ceil(Fraction(value, 10 ** (power - 1)))
    if lead == 100:
        lead, power = 10, power + 1
    return f"{lead / 10:g} × 10^{power}"


def plan(
    dim: int,
    rho: float,
    eps: float = 0.1,
    delta: float | None = None,
    field: FieldLike = 2,
    contamination: float = 0.0,
    each: bool = False,
) -> Plan:
    """How many rows prove a promise, under the paper's analysis and under ours.

    Parameters
    ----------
    dim : int
        Dimension of the rows, whatever stands in them: of (x, y) one more than the features.
    rho : float
        Allowed probability that two samples give different answers.
    eps : float, default 0.1
        Allowed share of the rows that the answer may leave out.
    delta : float, optional
        Then `eps` is about future rows: with probability 1 - delta the answer (a parity rule,
        an affine span, a subspace of the positive rows) is wrong on at most eps of them.
    field : field specification, default 2
        Only matters for the paper's analysis with `delta`, which counts the linear rules.
    contamination : float, default 0.0
        Largest share of rows that may be outliers; with `delta`, the probability that a row is one,
        and samples may have more of them.
    each : bool, default False
        Whether to plan for single equations, too: two samples agree on any equation, or row, that
        is fixed in advance, with probability 1 - rho. `rows` are then those to draw from
        (``IndexRule(draw_rows=…, t_max=t_min + length - 1)``).

    Returns
    -------
    Plan
        `print` it, read `plan["index"].rows`, or call `to_dict()`. Four analyses: "paper
        (printed)", "paper (corrected)", "heavy (sharp)", "index"; with ``each`` also "index, each
        equation".

    Examples
    --------
    >>> print(plan(20, rho=0.05, eps=0.1))
    Rows of dimension 20 over GF(2): rho = 0.05, eps = 0.1
    <BLANKLINE>
    analysis              rows needed         length T  first t
    ─────────────────  ──────────────  ───────────────  ───────
    paper (printed)       1.4 × 10^15  339,967,130,492        1
    paper (corrected)     2.5 × 10^15  604,386,009,763        1
    heavy (sharp)      53,760,000,000       25,600,000        1
    index                 205,332,000        1,026,660        1
    <BLANKLINE>
    · paper (printed): its proof halves the true sensitivity; the theorem holds by another
    """
    d, r, e = check_dim(dim), check_share("rho", rho), check_share("eps", eps)
    c, F = check_contamination(contamination), as_field(field)
    general = None if delta is None else generalization_rows(d, eps, delta, order=F.order)

    def papers(corrected: bool) -> int | None:
        if c or (delta is not None and general is None):
            return None
        rows = paper_rows(d, rho, e if delta is None else e / 2, corrected=corrected)
        return max(rows, general or 0)

    def line(analysis: str, rows: int | None) -> PlanRow:
        if rows is None:
            return PlanRow(analysis, None, None, 1)
        k = outlier_start(rows, c) if delta is None else pac_start(rows, c, delta)
        if analysis.startswith("paper"):
            T = paper_length(d, rho, rows, corrected="corrected" in analysis)
        elif analysis == EACH:
            T = each_length(rho)
        elif analysis.startswith("heavy"):
            T = heavy_length(d, rho, start=k, n_rows=rows)
        else:
            T = index_length(d, rho, start=k)
        return PlanRow(analysis, rows, math.ceil(T), k + 1)

    if delta is None:
        heavy = heavy_rows(d, rho, eps, contamination=c)
        index = index_rows(d, rho, eps, contamination=c)
    else:
        heavy = pac_rows(d, rho, eps, delta, rule="heavy", contamination=c)
        index = pac_rows(d, rho, eps, delta, contamination=c)
    entries = [
        line("paper (printed)", papers(corrected=False)),
        line("paper (corrected)", papers(corrected=True)),
        line("heavy (sharp)", heavy),
        line("index", index),
    ]
    if each:
        entries.append(line(EACH, each_rows(d, rho, eps, delta, contamination=c)))
    return Plan(
        dim=d,
        rho=float(r),
        eps=float(e),
        delta=None if delta is None else float(delta),
        field=F.name,
        contamination=c,
        entries=tuple(entries),
        generalization_rows=general,
    )
